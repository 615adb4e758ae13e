//! Rows of plans with handwritten solutions.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Figures, NodeAction, negated};
use crate::model::{Commitment, MicroUsdPerHour, Node, NodeName, PodKey, PodPlace, Preemption, SkuName};
use crate::plan::tests::world::{self, example, example_plan, new_node, node, planned, pod, policy, pool};
use crate::plan::{Plan, PodGroup, Summary, write};
use crate::snapshot::Snapshot;

fn rows(plan: &Plan) -> Value {
    let text = write(plan);
    serde_json::from_str(&text).expect("a plan is JSON")
}

#[test]
fn every_node_has_its_pool_size_zone_and_dollars_as_plain_fields() {
    let rows = rows(&example_plan());
    let row = |name: &str| {
        let mut nodes = rows["nodes"].as_array().expect("a list").iter();
        nodes.find(|row| row["name"] == name).cloned().unwrap_or_default()
    };
    let (pool, size) = ("general", "Standard_D4s_v5");
    let what = json!({"pool": pool, "size": size, "zone": "eastus-1", "capacityType": "on-demand", "monthly": "146.00"});
    let with = |more: Value| {
        let fields = what.as_object().expect("fields").iter().chain(more.as_object().expect("fields"));
        Value::Object(fields.map(|(key, value)| (key.clone(), value.clone())).collect())
    };
    assert_eq!(row("kept-1"), with(json!({"name": "kept-1", "claim": "kept-1", "action": "no-op"})));
    assert_eq!(row("aks-general-zzz")["claim"], Value::Null);
    let gone = json!({
        "name": "empty-1", "claim": "empty-1", "action": "delete", "reason": "Empty", "monthlySaving": "146.00",
    });
    assert_eq!(row("empty-1"), with(gone));
    let new = rows["nodes"].as_array().expect("a list").iter().filter(|row| row["action"] == "create");
    let new: Vec<&Value> = new.collect();
    assert_eq!(new.len(), 2);
    for new in new {
        let claim = new["claim"].as_str().expect("a new node has a claim");
        assert_eq!(new["name"], format!("aks-{claim}"));
        let (name, worst) = (&new["name"], "292.00");
        let more = json!({"name": name, "claim": claim, "action": "create", "monthlyWorstCase": worst});
        assert_eq!(*new, with(more));
    }
}

#[test]
fn rows_stand_on_a_line_each_before_the_evidence() {
    let text = write(&example_plan());
    let line = |start: &str| text.lines().position(|line| line.starts_with(start)).expect("is in the file");
    let (nodes, pools) = (line("  \"nodes\": ["), line("  \"pools\": ["));
    assert_eq!(pools - nodes, 1 + 5 + 1, "five nodes and two brackets");
    assert!(pools < line("  \"evictions\": []") && line("  \"evictions\": []") < line("  \"evidence\": {"));
}

/// Sums the cents of a field over all rows.
fn cents(rows: &Value, field: &str) -> i64 {
    let amount = |row: &Value| row[field].as_str().expect("dollars").replace('.', "").parse::<i64>();
    rows.as_array().expect("rows").iter().map(|row| amount(row).expect("a decimal")).sum()
}

/// Returns this many commitments for the size of all nodes.
fn committed(count: u32) -> Vec<Commitment> {
    let size = SkuName::new("Standard_D4s_v5");
    if count == 0 { Vec::new() } else { vec![Commitment { size, count, price: MicroUsdPerHour(120_000) }] }
}

#[test]
fn pools_and_unused_commitments_add_up_to_the_summary() {
    let (mut snapshot, mut policy, solution) = example();
    snapshot.nodes.push(Node { pool: None, claim: None, ..node("agents-1", "general") });
    let idle = Snapshot { pods: Vec::new(), ..snapshot.clone() };
    let only_delete = world::solution(Vec::new(), &["empty-1"]);
    for (count, snapshot, solution) in
        [(0, &snapshot, &solution), (2, &snapshot, &solution), (9, &idle, &only_delete)]
    {
        policy.fleet.prices.commitments = committed(count);
        let plan = planned(snapshot, &policy, solution);
        let (rows, summary) = (rows(&plan), Summary::of(&plan));
        let in_cents = |dollars: &str| dollars.replace('.', "").parse::<i64>().expect("a decimal");
        let unused = |side: &str| {
            let field = format!("monthlyUnusedCommitments{side}");
            in_cents(rows["cost"][field].as_str().expect("dollars"))
        };
        let names: Vec<&Value> =
            rows["pools"].as_array().expect("rows").iter().map(|row| &row["pool"]).collect();
        assert_eq!(names, [&Value::Null, &json!("general")]);
        let before = cents(&rows["pools"], "monthlyBefore") + unused("Before");
        let after = cents(&rows["pools"], "monthlyAfter") + unused("After");
        assert_eq!(before, in_cents(&summary.monthly_before), "{count} commitments");
        assert_eq!(after, in_cents(&summary.monthly_after), "{count} commitments");
        assert_eq!(rows["cost"]["monthlySaving"], negated(&summary.monthly_delta));
        assert_eq!(unused("Before") > 0, count == 9, "nine are more than there are nodes");
    }
}

#[test]
fn the_worst_case_is_unknown_where_a_new_node_has_no_price() {
    let mut plan = example_plan();
    let figures = Figures::of(&plan);
    // Two nodes at $146 more each, besides three existing or new ones.
    assert_eq!(figures.cost.monthly_worst_case.as_deref(), Some("876.00"));
    assert_eq!(figures.pools[0].monthly_worst_case.as_deref(), Some("876.00"));
    for claim in plan.spec.claims.values_mut() {
        claim.price_max = None;
    }
    let figures = Figures::of(&plan);
    assert_eq!((figures.cost.monthly_worst_case, figures.pools[0].monthly_worst_case.clone()), (None, None));
    assert!(figures.nodes.iter().all(|node| node.monthly_worst_case.is_none() && node.monthly.is_some()));
}

#[test]
fn evictions_name_the_node_that_a_running_pod_leaves_and_where_it_goes() {
    let mut plan = example_plan();
    assert_eq!(Figures::of(&plan).evictions, []);

    // Sets the node of the pods that move: the rest of the plan does not matter here.
    let groups = &mut plan.evidence.world.pods;
    let running = |name: &str, node: &str, like: &PodGroup| PodGroup {
        place: PodPlace::Bound(NodeName::new(node)),
        names: vec![Arc::from(name)],
        ..like.clone()
    };
    let like = groups[0].clone();
    groups[0].place = PodPlace::Bound(NodeName::new("empty-1"));
    groups.push(PodGroup { is_terminating: true, ..running("leaving-1", "empty-1", &like) });
    groups.push(PodGroup { is_daemon: true, ..running("agent-1", "empty-1", &like) });
    groups.push(running("stays-1", "kept-1", &like));
    let preempting =
        Preemption { pod: PodKey::new("default", "web-4"), node: "empty-1".into(), victims: vec![] };
    plan.evidence.world.preemptions.push(preempting);
    let rows = Figures::of(&plan).evictions;
    let pods: Vec<&str> = rows.iter().map(|row| &*row.pod.name).collect();
    assert_eq!(pods, ["web-1", "web-2", "web-3"]);
    let new: Vec<&str> = plan.spec.creates().map(|(_, create, _)| &*create.vm).collect();
    for row in rows {
        assert_eq!(row.node.as_str(), "empty-1");
        assert!(row.to.is_some_and(|to| new.contains(&to.as_str())), "the plan places them on new nodes");
    }
}

#[test]
fn a_node_is_never_left_out_and_what_is_unknown_is_null() {
    let nameless = Node { labels: std::collections::BTreeMap::new(), ..node("bare-1", "general") };
    let deleting = Node { is_deleting: true, ..node("going-1", "general") };
    let snapshot = world::snapshot(vec![nameless, deleting], vec![pod("web-1")]);
    let solution = world::solution(vec![new_node("general", &["web-1"])], &[]);
    let mut plan = planned(&snapshot, &policy([pool("general")]), &solution);
    let figures = Figures::of(&plan);
    let of = |name: &str| figures.nodes.iter().find(|row| &*row.name == name).expect("is there");
    let bare = of("bare-1");
    assert_eq!((&bare.size, &bare.zone, &bare.capacity_type, &bare.monthly), (&None, &None, &None, &None));
    assert_eq!(of("going-1").action, NodeAction::Deleting);
    let pool = &figures.pools[0];
    assert_eq!((pool.nodes_before, pool.nodes_after, pool.unpriced_nodes), (2, 2, 1));
    assert_eq!(figures.cost.unpriced_nodes, 1);
    let gone = plan.evidence.world.nodes.pop().expect("two nodes");
    plan.evidence.world.absent.push(crate::model::AbsentNode {
        requested: crate::model::Resources::none(),
        node: Node { labels: gone.labels, ..node("supposed-1", "general") },
    });
    let figures = Figures::of(&plan);
    let absent = figures.nodes.iter().find(|row| row.action == NodeAction::Absent).expect("is there");
    assert_eq!((&*absent.name, absent.monthly.as_deref()), ("supposed-1", Some("146.00")));
}

#[test]
fn a_decimal_changes_its_sign_and_nothing_has_none() {
    assert_eq!(["146.00", "-0.05", "0.00"].map(negated), ["-146.00", "0.05", "0.00"]);
}
