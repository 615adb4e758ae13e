//! From objects of a cluster to rows: with nodeform, with Karpenter, with the cluster autoscaler.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::said::PlanSaid;
use super::*;
use crate::api::node_plan::Phase;
use crate::manifests::Source;
use crate::offline::Catalogs;
use crate::offline::standing::standing;
use crate::plan::tests::world::example_plan;
use crate::render::plain_text;

fn node(name: &str, size: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "creationTimestamp": "2026-11-30T08:00:00Z", "labels": {
            "node.kubernetes.io/instance-type": size, "topology.kubernetes.io/region": "westeurope",
            "topology.kubernetes.io/zone": "westeurope-1", "kubernetes.azure.com/agentpool": "apps"}},
        "spec": {"providerID": format!("azure:///{name}")},
        "status": {"allocatable": {"cpu": "3860m", "memory": "12Gi", "pods": "110"},
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn pod(name: &str, node: Option<&str>) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "3Gi"}}}]},
        "status": {"phase": if node.is_some() { "Running" } else { "Pending" }}})
}

fn claim(name: &str, node: &str, conditions: Value) -> Value {
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "gp"}},
        "spec": {"requirements": [], "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
        "status": {"nodeName": node, "providerID": format!("azure:///{node}"), "conditions": conditions}})
}

fn seen(objects: &[Value], said: Said, unread: &[&str]) -> Fleet {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let at = "2026-11-30T09:00:00Z".parse().expect("a time");
    let standing =
        standing(vec![Source::new("<all>", list)], &Catalogs::default(), at).expect("objects of Kubernetes");
    let unread: BTreeSet<String> = unread.iter().map(|kind| (*kind).to_owned()).collect();
    let (snapshot, prices, notes) = (&standing.snapshot, &standing.prices, standing.notes.clone());
    fleet(Seen { snapshot, prices, unread, said, notes })
}

fn row<'f>(fleet: &'f Fleet, name: &str) -> &'f Row {
    fleet.rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}: {fleet:#?}"))
}

#[test]
fn agent_pools_are_told_with_requests_prices_and_what_the_autoscaler_does() {
    let (mut gone, mut kept) = (node("b", "Standard_D4s_v5"), node("c", "Standard_Unknown_v1"));
    gone["spec"]["taints"] = json!([{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]);
    kept["metadata"]["annotations"] = json!({"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"});
    let objects = [
        node("a", "Standard_D4s_v5"),
        gone,
        kept.clone(),
        pod("web-0", Some("a")),
        pod("web-1", Some("a")),
        pod("web-2", None),
    ];
    let mut said = Said::default();
    said.of_nodes(&[kept]);
    let fleet = seen(&objects, said, &[]);
    assert_eq!(fleet.pending, Some(1));
    let a = row(&fleet, "a");
    assert_eq!((a.cpu, a.stage), (Use { requested: Some(2_000), of: Some(3_860) }, Stage::Ready));
    assert_eq!(a.pool.as_deref(), Some("apps"));
    assert!(a.price.known().is_some());
    assert_eq!(row(&fleet, "b").planned, ["- delete: by the cluster autoscaler"]);
    let c = row(&fleet, "c");
    assert!(c.held[0].contains("scale-down-disabled") && c.price.known().is_none(), "{c:?}");
    let text = plain_text(&fleet_text(&fleet, 400));
    assert!(
        text.contains(" + 1 node of unknown price") && text.contains("nodes of agent pools alone"),
        "{text}"
    );
    // Without pods their requests are unknown.
    let blind = seen(&objects[..3], Said::default(), &["pods"]);
    assert_eq!((blind.pending, row(&blind, "a").cpu.requested), (None, None));
}

#[test]
fn karpenters_conditions_say_what_it_does_and_what_that_waits_for() {
    let condition = |kind: &str, reason: &str| json!({"type": kind, "status": "True", "reason": reason});
    let claims = [
        claim("gp-1", "a", json!([condition("Initialized", "x"), condition("Drifted", "ImageDrift")])),
        claim(
            "gp-2",
            "b",
            json!([condition("Initialized", "x"), condition("DisruptionReason", "Underutilized")]),
        ),
        claim(
            "gp-3",
            "",
            json!([{"type": "Launched", "status": "False", "message": "no capacity in zone 1"}]),
        ),
    ];
    let mut said = Said::default();
    said.of_claims(&claims);
    let mut objects = vec![node("a", "Standard_D4s_v5"), node("b", "Standard_D4s_v5")];
    objects.extend(claims);
    let fleet = seen(&objects, said.clone(), &[]);
    assert_eq!(fleet.provisioners, ["No NodeFleet; 3 NodeClaims of Karpenter (node auto provisioning)"]);
    assert_eq!(row(&fleet, "a").planned, ["drifted: ImageDrift"]);
    assert_eq!(row(&fleet, "b").planned, ["- delete: Underutilized"]);
    let coming = row(&fleet, "gp-3");
    assert_eq!(coming.stage, Stage::Launching);
    assert_eq!(coming.held, ["not launched: no capacity in zone 1"]);
    let blind = seen(&objects[..2], said, &["nodeclaims.karpenter.sh"]);
    assert!(blind.provisioners[0].starts_with("Provisioner unknown"), "{blind:?}");
}

#[test]
fn plans_of_nodeform_say_what_they_do_with_each_node_and_the_fleet_what_holds_it() {
    let plan = example_plan();
    let (_, delete) = plan.spec.deletes().next().expect("a node goes");
    let target = delete.target.node.to_string();
    let fleet_object = json!({"metadata": {"name": "prod"}, "spec": {}, "status": {"mode": "auto",
        "holds": [{"node": target, "class": "remove-empty", "because": "freeze `week`", "until": "2026-12-02T00:00:00Z"}],
        "stops": ["the judge refuses the plan"]}});
    let mut said = Said::default();
    said.of_fleets(&[fleet_object]);
    said.of_plan(PlanSaid { name: "k7x2p9", phase: Phase::Proposed, status: None, plan: Some(&plan) });
    said.of_plan(PlanSaid { name: "other", phase: Phase::Applying, status: None, plan: None });
    let fleet = seen(&[node(&target, "Standard_D4s_v5")], said, &[]);
    let going = row(&fleet, &target);
    assert!(
        going.planned[0].starts_with("- delete: ") && going.planned[0].contains("`k7x2p9` waits"),
        "{going:?}"
    );
    assert_eq!(going.held[0], "remove-empty: freeze `week`, until 2026-12-02T00:00:00Z");
    let new: Vec<&Row> = fleet.rows.iter().filter(|row| row.stage == Stage::Planned).collect();
    assert_eq!(new.len(), plan.spec.creates().count());
    assert!(new[0].planned[0].starts_with("+ create: ") && new[0].size.is_some(), "{new:?}");
    assert!(fleet.notes.iter().any(|note| note.contains("plan `other` cannot be read")), "{:?}", fleet.notes);
    assert!(fleet.notes.contains(&"stopped: the judge refuses the plan".to_owned()), "{:?}", fleet.notes);
    let text = plain_text(&fleet_text(&fleet, 300));
    // Planned nodes do not exist yet, and cost nothing.
    assert!(text.starts_with("1 node  CPU "), "{text}");
}
