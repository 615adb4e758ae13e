//! A small live world: a pool with a class, two pending pods, and Azure's facts.

use crate::manifests::Source;
use crate::manifests::listed::SNAPSHOT_KINDS;
use crate::offline::{self, Laid, Request, World};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::snapshot::{Gap, file};

/// The Kubernetes objects.
pub(crate) const OBJECTS: &str = include_str!("objects.yaml");
/// The Azure facts.
pub(crate) const FACTS: &str = include_str!("facts.json");
/// A node with two pods that expires.
const NODE: &str = include_str!("node.yaml");

/// Returns the world in which the pods run on an expired node.
pub(crate) fn moving() -> String {
    let run = |text: &str, pod: &str| {
        text.replace(
            &format!("metadata: {{name: {pod}}}\nspec: {{"),
            &format!("metadata: {{name: {pod}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: r, controller: true}}]}}\nstatus: {{phase: Running}}\nspec: {{nodeName: aks-apps-old, "),
        )
    };
    run(&run(OBJECTS, "a"), "b") + "---\n" + NODE
}

pub(crate) fn world_of(objects: &str, facts: &str) -> World {
    world_without(&[], objects, facts)
}

/// Returns the world with these kinds unlisted, in kubectl's words.
pub(crate) fn world_without(unlisted: &[&str], objects: &str, facts: &str) -> World {
    let azure = serde_json::from_str(facts).expect("facts");
    let sources = vec![Source::new("live.yaml", objects.to_owned())];
    let at = Some("2026-11-26T02:00:00Z".parse().expect("a time"));
    let words = SNAPSHOT_KINDS.iter().map(|kind| kind.word.to_owned());
    let listed = words.filter(|word| !unlisted.contains(&word.as_str())).collect();
    let gaps = Gap::of_kinds(unlisted).into_iter().collect();
    let azure = Some(azure);
    let seen = offline::snapshot(Request { sources, listed, gaps, azure, at, ..Request::default() });
    let snapshot = Source::new("<live>", file::write(&seen.expect("it can be read")));
    let laid = Some(Laid { snapshot, ..Laid::default() });
    offline::world(Request { laid, ..Request::default() }).expect("it can be planned")
}

pub(crate) fn planned_with(objects: &str, facts: &str) -> Plan {
    let world = world_of(objects, facts);
    offline::plan(&world).expect("the judge accepts it").plan.plan().clone()
}

pub(crate) fn planned(objects: &str) -> Plan {
    planned_with(objects, FACTS)
}

pub(crate) fn policy_of(objects: &str) -> Policy {
    world_of(objects, FACTS).policy
}
