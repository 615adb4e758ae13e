//! The fallback if the checker rejects the cheapest fleet: a bug in nodeform must not leave its user without a plan.
//!
//! Takes the next best fleet that the checker accepts: the same without the rejected pods ([`held_back`]), then one
//! that moves nothing to save money, then that of Karpenter's algorithm. The plan reports it. Never relaxes a rule: if
//! no fleet passes, the plan stays rejected.

use crate::model::{ConsolidationPolicy, Strategy};
use crate::plan::strategies::StrategyFleet;
use crate::review::{CheckedPlan, RefusedPlan};
use crate::solve::{Solution, Solver, Warning};

use super::{Planned, Proposed, World, bounded, held_back, plan_of, strategy, waiting};

/// A method that computes a fleet.
type Solve = fn(&World) -> Solution;

/// Returns the next best plan that the checker accepts; `None` if there is none, or if the user requested the fleet.
pub(super) fn instead(world: &World, refused: &RefusedPlan) -> Option<Planned> {
    if world.strategy != Strategy::Cheapest || world.snapshot.supposed.wishes.only_removes() {
        return None;
    }
    if let Some(planned) = held_back::without_refused(world, refused) {
        return Some(planned);
    }
    let others: [(&str, Solve); 2] = [
        ("nothing that runs is moved to save money", calm),
        ("this is the fleet of Karpenter's algorithm", |world| strategy::as_karpenter(world).0),
    ];
    others.into_iter().find_map(|(what, solve)| {
        let solution = solve(world);
        let plan = waiting::listed((world, &Solver::default()), plan_of(world, &solution));
        let Proposed { solution, mut plan } = bounded(world, solution, plan);
        plan.evidence.report.warnings.insert(0, warning(what, refused));
        let mut strategies = refused.plan.evidence.strategies.clone();
        for fleet in strategies.iter_mut().filter(|fleet| fleet.strategy == world.strategy) {
            *fleet = StrategyFleet::of(world.strategy, &plan);
        }
        plan.evidence.strategies = strategies;
        let plan = CheckedPlan::judged(&world.snapshot, &world.policy, plan).ok()?;
        Some(Planned { solution, plan })
    })
}

/// Returns the cheapest fleet if only empty nodes may be deleted to save money.
fn calm(world: &World) -> Solution {
    let mut policy = world.policy.clone();
    for pool in policy.pools.values_mut() {
        pool.disruption.policy = ConsolidationPolicy::WhenEmpty;
    }
    crate::solve::solve(&world.snapshot, &policy)
}

fn warning(what: &str, refused: &RefusedPlan) -> Warning {
    let finding = refused.findings.first().map(ToString::to_string).unwrap_or_default();
    Warning {
        object: Warning::PLAN.to_owned(),
        what: format!(
            "is the next best: {what}, since the plan's own check objects to the cheapest fleet ({finding})"
        ),
        hint: Some("nothing is wrong with the input; to report it, send the output of `nodeform snapshot … --names hash`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::manifests::Source;
    use crate::model::Region;
    use crate::offline::{self, Request};

    #[test]
    fn where_the_judge_refuses_the_cheapest_fleet_the_next_best_is_planned_and_said() {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n\
            spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1', memory: 1Gi}}}]}\n";
        let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: \
            {requirements: [], nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}}}}\n";
        let sources = vec![Source::new("all.yaml", format!("{pod}---\n{pool}"))];
        let request = Request { sources, location: Some(Region::new("westeurope")), ..Request::default() };
        let world = offline::world(request).expect("it can be read");
        let mut proposed = offline::propose(&world);
        let accepted = offline::judge(&world, proposed.clone()).expect("it is right");
        proposed.plan.evidence.placements.values_mut().for_each(|node| node.pods.clear());
        let planned = offline::judge(&world, proposed).expect("another fleet is right");
        let warnings = &planned.plan.plan().evidence.report.warnings;
        let said =
            "is the next best: nothing that runs is moved to save money, since the plan's own check objects";
        assert!(warnings[0].what.starts_with(said), "{warnings:?}");
        assert_eq!(warnings[1..], accepted.plan.plan().evidence.report.warnings);
        assert_eq!(planned.plan.plan().spec, accepted.plan.plan().spec);
    }
}
