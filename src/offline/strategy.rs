//! Karpenter's strategy and the judge: what Kubernetes would not bind is not planned.
//!
//! A pod whose place the judge objects to is left out, with the objection as the reason, and the rest is planned
//! anew. The judge still has the last word on what comes out.

use std::collections::BTreeMap;

use super::{World, plan_of};
use crate::check::{Finding, check};
use crate::model::PodKey;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::Solution;
use crate::solve::karpenter::{self, OverlayGate, Settings, UnnamedFamilies};

/// How often what the judge objects to is left out: each time brings fewer pods, and most worlds need one.
const ROUNDS_MAX: usize = 20;

/// Plans as Karpenter does, without the pods that the judge objects to.
pub(super) fn as_karpenter(world: &World) -> (Solution, Plan) {
    let World { snapshot, policy, .. } = world;
    let settings = settings(policy);
    let mut refused = BTreeMap::new();
    let mut round = 0;
    loop {
        let solution = karpenter::solve(snapshot, policy, settings, &refused);
        let plan = plan_of(world, &solution);
        let more = blamed(&plan, &check(snapshot, policy, &plan));
        round += 1;
        if more.is_empty() || round == ROUNDS_MAX {
            return (solution, plan);
        }
        refused.extend(more);
    }
}

/// Plans as Karpenter does, whatever the judge objects to.
pub(super) fn solve(snapshot: &Snapshot, policy: &Policy) -> Solution {
    karpenter::solve(snapshot, policy, settings(policy), &BTreeMap::new())
}

fn settings(policy: &Policy) -> Settings {
    Settings {
        unnamed: UnnamedFamilies::LeaveOut,
        min_values: policy.fleet.min_values_policy,
        // Whoever has NodeOverlays has opened Karpenter's gate for them.
        overlays: OverlayGate::Open,
        ..Settings::default()
    }
}

/// Returns the pods that findings are about, each with the first of them: those that a finding names, and those of
/// the nodes that one names.
fn blamed(plan: &Plan, findings: &[Finding]) -> BTreeMap<PodKey, String> {
    if findings.is_empty() {
        return BTreeMap::new();
    }
    let mut places: BTreeMap<String, Vec<&PodKey>> = BTreeMap::new();
    for (id, create, _) in plan.spec.creates() {
        let pods = plan.evidence.placements.get(id).map_or(&[][..], |placement| &placement.pods);
        places.insert(format!("new node `{}`", create.claim), pods.iter().collect());
    }
    for (node, pods) in &plan.evidence.kept {
        places.insert(format!("node `{node}`"), pods.iter().collect());
    }
    let pods: Vec<&PodKey> = places.values().flatten().copied().collect();
    places.extend(pods.into_iter().map(|pod| (format!("pod `{pod}`"), vec![pod])));
    let mut blamed = BTreeMap::new();
    for finding in findings {
        for pod in places.get(&finding.object).into_iter().flatten() {
            let message = finding.message.clone();
            blamed.entry((*pod).clone()).or_insert(message);
        }
    }
    blamed
}
