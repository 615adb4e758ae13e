//! Holds back pods whose placement the checker rejects, and plans the rest of the fleet: one rule that solver and
//! checker interpret differently must not cost all other pods the cheapest fleet.
//!
//! The world is replanned a few times at most, with those pods pending and those nodes kept, each with the checker's
//! finding as the reason. The checker decides on the real world. Never handles findings about neither a pod nor a node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::check::Finding;
use crate::model::{NodeName, PodKey, PodPlace, SchedulingRule, Strength};
use crate::plan::Plan;
use crate::plan::strategies::StrategyFleet;
use crate::review::{CheckedPlan, RefusedPlan};
use crate::snapshot::Snapshot;
use crate::solve::{Held, Solution, Solver};

use super::strategy::places;
use super::{Planned, Proposed, World, bounded, plan_of, waiting};

/// Maximum number of rounds that hold back rejected pods; usually one is enough.
const ROUNDS_MAX: usize = 4;

/// Pods and nodes held back, each with the checker's first finding.
#[derive(Default)]
struct Refused {
    pods: BTreeMap<PodKey, String>,
    /// Nodes that are kept.
    nodes: BTreeMap<NodeName, String>,
}

/// Returns the cheapest fleet without the rejected pods; `None` if holding pods back does not help.
pub(super) fn without_refused(world: &World, first: &RefusedPlan) -> Option<Planned> {
    let mut refused = Refused::default();
    let mut last = first.clone();
    let solver = Solver::default();
    for _ in 0..ROUNDS_MAX {
        if !refused.add(world, &last.plan, &last.findings) {
            return None;
        }
        let mut solution = solver.solve(&refused.held_in(&world.snapshot), &world.policy);
        refused.say(&mut solution);
        let plan = waiting::listed((world, &solver), plan_of(world, &solution));
        let Proposed { solution, mut plan } = bounded(world, solution, plan);
        let mut strategies = first.plan.evidence.strategies.clone();
        for fleet in strategies.iter_mut().filter(|fleet| fleet.strategy == world.strategy) {
            *fleet = StrategyFleet::of(world.strategy, &plan);
        }
        plan.evidence.strategies = strategies;
        match CheckedPlan::judged(&world.snapshot, &world.policy, plan) {
            Ok(plan) => return Some(Planned { solution, plan }),
            Err(refused) => last = refused,
        }
    }
    None
}

impl Refused {
    /// Adds the pods and nodes of findings; returns whether there are more than before.
    fn add(&mut self, world: &World, plan: &Plan, findings: &[Finding]) -> bool {
        let before = (self.pods.len(), self.nodes.len());
        let places = places(plan);
        let leaving: BTreeSet<&NodeName> =
            world.snapshot.nodes.iter().filter(|node| node.is_deleting).map(|node| &node.name).collect();
        let running = world.snapshot.pods.iter().filter_map(|pod| match &pod.place {
            PodPlace::Bound(node) if !leaving.contains(node) => Some((&pod.key, node)),
            PodPlace::Bound(_) | PodPlace::Waiting => None,
        });
        let running: BTreeMap<&PodKey, &NodeName> = running.collect();
        let removed = plan.spec.deletes().map(|(_, delete)| &delete.target.node);
        let removed: BTreeMap<String, &NodeName> =
            removed.map(|node| (format!("node `{node}`"), node)).collect();
        for finding @ Finding { object, .. } in findings {
            let said = finding.to_string();
            let mut stay = |node: &NodeName| {
                self.nodes.entry(node.clone()).or_insert_with(|| said.clone());
            };
            if let Some(node) = removed.get(object) {
                stay(node);
            }
            for pod in places.get(object).into_iter().flatten().filter(|pod| !pod.is_placeholder()) {
                match running.get(*pod) {
                    // A running pod stays on its node.
                    Some(node) => stay(node),
                    None => {
                        self.pods.entry((*pod).clone()).or_insert_with(|| said.clone());
                    }
                }
            }
        }
        (self.pods.len(), self.nodes.len()) != before
    }

    /// Returns a copy of the world in which these pods need a rule that no plan supports, and these nodes may not be
    /// deleted.
    fn held_in(&self, snapshot: &Snapshot) -> Snapshot {
        let mut copy = snapshot.clone();
        for pod in copy.pods.iter_mut().filter(|pod| self.pods.contains_key(&pod.key)) {
            let rules = &mut Arc::make_mut(&mut pod.spec).other_rules;
            rules.insert(SchedulingRule::ResourceClaims, Strength::Required);
        }
        for node in &mut copy.nodes {
            if let Some(because) = self.nodes.get(&node.name) {
                node.keep(&**because);
            }
        }
        copy
    }

    /// Reports the actual reasons.
    fn say(&self, solution: &mut Solution) {
        let report = &mut solution.report;
        for held in &mut report.held {
            held.pods.retain(|pod| !self.pods.contains_key(pod));
        }
        report.held.retain(|held| !held.pods.is_empty());
        let mut by_reason: BTreeMap<&str, Vec<PodKey>> = BTreeMap::new();
        for (pod, because) in &self.pods {
            by_reason.entry(because).or_default().push(pod.clone());
        }
        report.held.extend(by_reason.into_iter().map(|(because, pods)| Held {
            pods,
            waits_for: Held::CHECK.to_owned(),
            because: because.to_owned(),
        }));
        for (node, because) in &self.nodes {
            report.staying.retain(|(staying, _)| staying != node);
            report.staying.push((node.clone(), format!("{}: {because}", Held::CHECK)));
        }
        report.staying.sort();
    }
}

#[cfg(test)]
mod tests {
    use crate::manifests::Source;
    use crate::model::{Price, Region};
    use crate::offline::{self, Request, World};
    use crate::solve::Warning;

    fn world() -> World {
        let pod = |name: &str| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  nodeSelector: {{team: {name}}}\n  \
                 containers: [{{name: c, image: i, resources: {{requests: {{cpu: '3', memory: 1Gi}}}}}}]\n---\n"
            )
        };
        let pool = |name: &str| {
            format!(
                "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec: {{template: {{metadata: \
                 {{labels: {{team: {name}}}}}, spec: {{requirements: [], nodeClassRef: {{group: \
                 karpenter.azure.com, kind: AKSNodeClass, name: default}}}}}}}}\n---\n"
            )
        };
        let text = ["web", "etl"].map(|name| pod(name) + &pool(name)).concat();
        let sources = vec![Source::new("all.yaml", text)];
        let location = Some(Region::new("westeurope"));
        offline::world(Request { sources, location, ..Request::default() }).expect("it can be read")
    }

    #[test]
    fn pods_whose_place_the_judge_refuses_are_held_back_and_the_rest_stays_as_it_is() {
        let world = world();
        let whole = offline::plan(&world).expect("it is right");
        let mut proposed = offline::propose(&world);
        for placement in proposed.plan.evidence.placements.values_mut() {
            if placement.pods.iter().any(|pod| &*pod.name == "etl") {
                placement.list_price = Price::Unknown;
            }
        }
        let planned = offline::judge(&world, proposed).expect("the rest is right");
        let (plan, whole) = (planned.plan.plan(), whole.plan.plan());
        let held = &plan.evidence.report.held;
        assert_eq!(held.len(), 1, "{held:?}");
        assert!(held[0].is_by_check() && held[0].because.starts_with("price: new node `etl-"), "{held:?}");
        assert_eq!(held[0].pods.iter().map(|pod| &*pod.name).collect::<Vec<_>>(), ["etl"]);
        assert!(!plan.evidence.report.warnings.iter().any(|warning| warning.object == Warning::PLAN));
        let others = whole.spec.claims.iter().filter(|(_, claim)| claim.pool.as_str() == "web");
        assert!(plan.spec.claims.iter().eq(others), "the other node is the same");
    }
}
