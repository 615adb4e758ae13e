use serde_json::json;

use super::*;
use crate::ledger::{Changes, Entry, PLANS, Written, objects};

/// Returns a plan with this content, as an API server lists plans.
fn listed(content: &Value, parent: Option<Digest>, created: &str) -> Vec<Value> {
    written(content, parent, created).into_iter().filter(|it| it.at == PLANS).map(|it| it.object).collect()
}

/// Returns the chunks of its text.
fn chunks(content: &Value) -> Vec<Value> {
    let written = written(content, None, "").into_iter();
    written.filter(|written| written.at != PLANS).map(|written| written.object).collect()
}

fn written(content: &Value, parent: Option<Digest>, created: &str) -> Vec<Written> {
    let entry = Entry {
        digest: Digest::of_json(content).unwrap(),
        parent,
        cluster: None,
        class: Some("create".to_owned()),
        monthly_delta: Some("-1.00".to_owned()),
        expires_at: None,
        folder: None,
        needs_approval: false,
        is_automatic: false,
        changes: Changes::default(),
        text: content.to_string(),
    };
    let mut objects = objects(&entry).unwrap();
    for Written { object, .. } in &mut objects {
        object["metadata"]["creationTimestamp"] = json!(created);
    }
    objects
}

fn digest(content: &Value) -> Digest {
    Digest::of_json(content).unwrap()
}

#[test]
fn a_plan_is_read_back_from_its_chunks_in_any_order() {
    let content = json!({"a": "é".repeat(400_000), "b": [1, 2]});
    let mut objects = listed(&content, None, "2026-01-01T00:00:00Z");
    objects.extend(listed(&json!({"other": 1}), None, "2026-01-01T00:00:00Z"));
    let ledger = read(&objects);
    assert_eq!((ledger.plans.len(), &ledger.faults), (2, &vec![]));
    let plan = ledger.of_digest(&digest(&content)).unwrap();
    assert_eq!(plan.chunks, 4);
    assert_eq!(plan.summary.nodes.as_deref(), Some("+0 ~0 -0"));
    let mut parts = chunks(&content);
    parts.extend(chunks(&json!({"other": 1})));
    parts.reverse();
    assert_eq!(text(plan, &parts).unwrap(), content.to_string());
}

#[test]
fn a_plan_without_all_its_chunks_or_with_other_text_is_not_whole() {
    let content = json!("x".repeat(600_000));
    let plan = read(&listed(&content, None, "2026-01-01T00:00:00Z")).plans.remove(0);
    let mut parts = chunks(&content);
    let missing = text(&plan, &parts[1..]).unwrap_err();
    assert_eq!(missing.to_string(), format!("NodePlan `{}` has 2 of its 3 chunks", plan.name));
    parts[0]["spec"]["text"] = json!("y");
    assert_eq!(text(&plan, &parts), Err(LedgerFault::OtherText { name: plan.name.clone() }));
}

#[test]
fn the_parent_of_the_next_plan_is_the_one_that_is_no_parent_yet() {
    let (one, two, three) = (json!(1), json!(2), json!(3));
    // All in the same second, because creation times have no fractions.
    let mut objects = listed(&two, Some(digest(&one)), "2026-01-01T00:00:00Z");
    objects.extend(listed(&three, Some(digest(&two)), "2026-01-01T00:00:00Z"));
    objects.extend(listed(&one, None, "2026-01-01T00:00:00Z"));
    assert_eq!(read(&objects).last().map(|plan| plan.digest), Some(digest(&three)));
    let later = listed(&json!(4), Some(digest(&one)), "2026-01-01T00:00:01Z");
    objects.extend(later);
    assert_eq!(read(&objects).last().map(|plan| plan.digest), Some(digest(&json!(4))));
    assert_eq!(read(&[]).last(), None);
}

#[test]
fn refusals_count_until_they_end_and_strange_ones_do_not() {
    let mut objects = listed(&json!(1), None, "2026-01-01T00:00:00Z");
    let of = |size: &str, until: &str| {
        json!({"size": size, "place": "Zone", "zone": "westeurope-1", "capacityType": "spot",
               "reason": "ZonalAllocationFailure", "until": until})
    };
    let mut strange = of("Standard_D8s_v5", "2026-01-01T02:00:00Z");
    strange["reason"] = json!("SomethingNew");
    let last = objects.last_mut().unwrap();
    last["status"] = json!({"phase": "Partial", "refusals": [
        of("Standard_D4s_v5", "2026-01-01T02:00:00Z"), of("Standard_D4s_v5", "2026-01-01T03:00:00Z"),
        of("Standard_D2s_v5", "2026-01-01T01:00:00Z"), strange,
    ]});
    let ledger = read(&objects);
    assert_eq!(ledger.plans[0].phase(), Phase::Partial);
    let found = ledger.refusals_at("2026-01-01T01:00:00Z".parse().unwrap());
    assert_eq!(
        found,
        [Refusal {
            size: Some(SkuName::new("Standard_D4s_v5")),
            place: RefusedPlace::Zone(Zone::new("westeurope-1")),
            capacity_type: Some(CapacityType::Spot),
            because: RefusedBecause::ZonalAllocationFailure,
            said: None,
            until: "2026-01-01T03:00:00Z".parse().unwrap(),
        }]
    );
}

#[test]
fn what_is_wrong_is_told_and_the_rest_is_read() {
    let mut objects = listed(&json!(1), None, "2026-01-01T00:00:00Z");
    objects.last_mut().unwrap()["status"] = json!({"phase": "Dreaming"});
    let mut renamed = listed(&json!(2), None, "2026-01-01T00:00:00Z").pop().unwrap();
    renamed["metadata"]["name"] = json!("other");
    objects.extend([
        renamed,
        json!({"metadata": {"name": "empty"}}),
        json!({"metadata": {"name": "huge"}, "spec": {"digest": digest(&json!(3)), "chunks": 2_000_000}}),
        json!([]),
    ]);
    let ledger = read(&objects);
    assert_eq!(ledger.plans.len(), 1);
    assert_eq!(ledger.unfinished().count(), 1, "without a status that can be read it may have had effects");
    let told: Vec<String> = ledger.faults.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(told[0].contains("status: unknown variant `Dreaming`"), "{told:?}");
    assert!(told[1].starts_with("NodePlan `other` has digest sha256:"), "{told:?}");
    assert!(ledger.faults.iter().all(|fault| !fault.hint().is_empty()));
}
