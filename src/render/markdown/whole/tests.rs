//! `PLAN.md` of several plans, as a reviewer reads it; the pages next to this file are read before they are accepted.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::tests::faults;
use super::plan_markdown_whole;
use crate::launch::tests::world::{OBJECTS, moving, planned};
use crate::model::label::CAPACITY_TYPE;
use crate::model::{CapacityType, LabelKey, Namespace, NodeName, PodPlace, Workload};
use crate::plan::beside::{Beside, OtherEffect};
use crate::plan::tests::world::{example_plan, web_budget};
use crate::plan::{Change, ChangeId, Plan, PodGroup, Reason};
use crate::render::proposal::derived;
use crate::review::proposal::Template;

fn page(plan: &Plan) -> String {
    plan_markdown_whole(plan, Template::NEWEST)
}

/// Returns a page without the parts that follow from the digests, which are not wording.
fn worded(plan: &Plan) -> String {
    page(plan).lines().filter(|line| !line.starts_with("- Digest")).map(|line| format!("{line}\n")).collect()
}

fn workload(kind: &str, name: &str) -> Option<Workload> {
    Some(Workload { kind: kind.into(), namespace: "shop".into(), name: name.into() })
}

/// Returns a plan that restarts a service with one replica, a bare pod and all pods of a workload, some on spot nodes.
fn dangerous() -> Plan {
    let mut plan = example_plan();
    let gone = NodeName::new("empty-1");
    let world = &mut plan.evidence.world;
    let group = world.pods[0].clone();
    let on_node = |workload: Option<Workload>, names: &[&str]| PodGroup {
        workload,
        place: PodPlace::Bound(gone.clone()),
        names: names.iter().map(|name| Arc::from(*name)).collect(),
        ..group.clone()
    };
    let web = on_node(workload("Deployment", "web"), &["web-1", "web-2"]);
    let pay = PodGroup { is_do_not_disrupt: true, ..on_node(workload("StatefulSet", "paydb"), &["web-3"]) };
    world.pods = vec![web, pay, on_node(None, &["web-4", "lost"])];
    world.budgets = vec![web_budget(0)];
    for claim in plan.spec.claims.values_mut() {
        claim.primary.capacity_type = CapacityType::Spot;
        claim.labels.insert(LabelKey::new(CAPACITY_TYPE), CapacityType::Spot.as_str().into());
    }
    for reason in plan.evidence.reasons.values_mut().filter(|reason| **reason == Reason::Empty) {
        *reason = Reason::Underutilized;
    }
    plan.spec.expires_at = "2026-11-29T08:00:00Z".parse().ok();
    plan
}

/// Returns a plan that deletes this many nodes with three pods each, and as many empty ones.
fn many(nodes: usize) -> Plan {
    let mut plan = dangerous();
    let (id, planned) =
        plan.spec.changes.iter().find(|(_, it)| it.change.delete().is_some()).expect("one goes");
    let (id, planned) = (id.clone(), planned.clone());
    let seen =
        plan.evidence.world.nodes.iter().find(|node| node.name.as_str() == "empty-1").expect("seen").clone();
    for number in 0..2 * nodes {
        let name = NodeName::new(format!("aks-general-{number:04}"));
        let mut planned = planned.clone();
        if let Change::Delete(delete) = &mut planned.change {
            delete.target.node = name.clone();
        }
        let change = ChangeId(format!("{}-{number}", id.0).into());
        plan.evidence.reasons.insert(change.clone(), Reason::Underutilized);
        plan.spec.changes.insert(change, planned);
        plan.evidence.world.nodes.push(crate::model::Node { name: name.clone(), ..seen.clone() });
        if number < nodes {
            let groups = plan.evidence.world.pods[..2].to_vec();
            plan.evidence.world.pods.extend(groups.into_iter().map(|group| PodGroup {
                place: PodPlace::Bound(name.clone()),
                names: group.names.iter().map(|pod| format!("{pod}-{number}").into()).collect(),
                ..group
            }));
        }
    }
    plan
}

#[test]
fn every_node_that_goes_or_comes_is_named_and_the_plan_held_fast() {
    let plan = example_plan();
    let page = page(&plan);
    assert!(
        page.starts_with("# Plan: create nodes (`create`)\n\n**1 of 3 nodes is deleted, 2 are created"),
        "{page}"
    );
    assert!(page.contains(&plan.digest().to_string()) && page.contains("## Delete 1 node\n"), "{page}");
    let gone = plan.spec.deletes().map(|(_, delete)| delete.target.node.to_string());
    let come = plan.spec.creates().map(|(_, create, _)| create.vm.to_string());
    for name in gone.chain(come) {
        assert!(page.contains(&format!("`{name}`")), "{name}: {page}");
    }
    let lines = derived(&plan).destroys;
    assert_eq!(lines.len(), 1);
    let is_whole = |text: &str| text.starts_with("- node/") && text.contains("  # ");
    assert!(lines.iter().all(|line| is_whole(&line.text)), "{lines:?}");
}

#[test]
fn what_can_hurt_is_said_without_markdown_too() {
    let plan = dangerous();
    let first = super::plan_check_first(&plan);
    assert!(first.len() > 5 && first[0].starts_with("Lost ("), "{first:#?}");
    let bare = page(&plan).replace("**", "").replace('\\', "");
    for line in &first {
        assert!(
            !line.contains("**") && !line.contains('\\') && bare.contains(&format!("- {line}\n")),
            "{line}: {bare}"
        );
    }
}

#[test]
fn what_can_hurt_stands_first_with_its_workloads_and_nodes() {
    let page = page(&dangerous());
    let first = page.split("## Check first\n\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let first: Vec<&str> = first.expect("there is something").lines().collect();
    let starts: Vec<&str> = first.iter().map(|line| line.split("**").nth(1).unwrap_or_default()).collect();
    assert_eq!(
        starts,
        [
            "Lost",
            "One replica",
            "All replicas restart",
            "PodDisruptionBudget at its limit",
            "Do not disrupt",
            "From on-demand to spot",
            "Up to \\$876/month"
        ],
        "{page}"
    );
    assert!(first[1].contains("StatefulSet `shop/paydb` on `empty-1`"), "{page}");
    let head = page.lines().nth(2).unwrap_or_default();
    assert!(
        head.contains(" 3 pods restart, 1 of them has one replica. 2 pods have no controller and are lost."),
        "{head}"
    );
    assert!(head.ends_with(" Valid until 29 Nov 08:00 UTC.**"), "{head}");
}

#[test]
fn what_other_plans_do_to_nodes_that_pods_go_to_is_said_first() {
    let beside = |node: &str, plan: &str, is_merged, does| Beside {
        node: NodeName::new(node),
        plan: plan.to_owned(),
        is_merged,
        does,
    };
    let mut plan = dangerous();
    plan.evidence.beside = vec![
        beside("a", "2026-11/remove-empty-aaaaaaaaaa", false, OtherEffect::Deletes),
        beside("b", "2026-11/remove-empty-aaaaaaaaaa", false, OtherEffect::Deletes),
        beside("a", "2026-11/move-pods-bbbbbbbbbb", true, OtherEffect::Fills { pods: 3 }),
    ];
    let page = page(&plan);
    for line in [
        "- **Other plan**: `2026-11/remove-empty-aaaaaaaaaa` (open) deletes `a`, `b`, where pods of this plan go.\n",
        "- **Other plan**: `2026-11/move-pods-bbbbbbbbbb` (merged, not yet applied) sends 3 pods to `a`, where pods of this plan go: they may not all fit.\n",
    ] {
        let first = page.split("## Delete").next().unwrap_or_default();
        assert!(first.contains(line), "{line}\n{page}");
    }
}

#[test]
fn a_plan_without_risk_has_nothing_to_check_first() {
    let mut plan = example_plan();
    for claim in plan.spec.claims.values_mut() {
        claim.price_max = None;
    }
    assert!(!page(&plan).contains("Check first"), "{}", page(&plan));
}

#[test]
fn three_hundred_removals_are_each_named_on_a_page_that_can_be_read() {
    let plan = many(300);
    let page = page(&plan);
    for (_, delete) in plan.spec.deletes() {
        assert!(page.contains(&format!("`{}`", delete.target.node)), "{}", delete.target.node);
    }
    let first: usize = page.lines().take_while(|line| !line.starts_with("## Delete")).map(str::len).sum();
    assert!(first < 2_500, "the head decides, however many nodes go: {first}");
    let lines = page.lines().count();
    assert!((600..800).contains(&lines), "two lines a node with pods, and one for all empty ones: {lines}");
    assert!(page.contains("- 300 equal nodes: `aks-general-0300`, "), "empty nodes share an item");
}

#[test]
fn names_of_pods_are_whole_and_harmless() {
    let mut plan = example_plan();
    let long = format!("{}`@all <b> #1", "x".repeat(200));
    let gone = plan.spec.deletes().map(|(_, delete)| delete.target.node.clone()).next().expect("one goes");
    for group in &mut plan.evidence.world.pods {
        group.place = PodPlace::Bound(gone.clone());
        for name in &mut group.names {
            *name = long.as_str().into();
        }
    }
    let page = page(&plan);
    assert!(!page.contains("@all") && !page.contains("<b>") && !page.contains("#1"), "{page}");
    assert!(page.contains(&"x".repeat(200)), "{page}");
}

#[test]
fn no_name_on_the_page_is_anything_but_text() {
    let hostile = "a|b`c` <img src=x> @all #1 [x](http://evil.example) \u{202e}$1$ ~~x~~\n## Head\n- item";
    let mut plan = dangerous();
    for group in &mut plan.evidence.world.pods {
        group.namespace = Namespace::new(hostile);
        if let Some(workload) = &mut group.workload {
            (workload.kind, workload.name) = (hostile.into(), hostile.into());
        }
    }
    for node in &mut plan.evidence.world.nodes {
        for key in [crate::model::label::INSTANCE_TYPE, crate::model::label::ZONE] {
            node.labels.insert(LabelKey::new(key), hostile.into());
        }
    }
    for claim in plan.spec.claims.values_mut() {
        claim.labels = BTreeMap::from([(LabelKey::new("team"), hostile.into())]);
        claim.taints.iter_mut().for_each(|taint| taint.value = hostile.into());
    }
    let page = page(&plan);
    assert_eq!(faults(&page), Vec::<String>::new(), "{page}");
    assert!(!page.contains("\n## Head"), "{page}");
}

#[test]
fn pages_read_as_they_were_accepted() {
    let pages = [
        ("template-1", example_plan(), include_str!("template-1.md")),
        ("dangerous", dangerous(), include_str!("dangerous.md")),
        ("expired", planned(&moving()), include_str!("expired.md")),
        ("pending", planned(OBJECTS), include_str!("pending.md")),
    ];
    let differing: Vec<String> = pages
        .into_iter()
        .map(|(name, plan, accepted)| (name, worded(&plan), accepted))
        .filter(|(_, found, accepted)| found != accepted)
        .map(|(name, found, _)| format!("=====> {name}\n{found}"))
        .collect();
    assert!(
        differing.is_empty(),
        "pages that are open were written by this template: after a release add another for another wording, and \
         keep this one\n\n{}",
        differing.join("\n")
    );
}
