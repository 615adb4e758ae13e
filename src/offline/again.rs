//! Replans an approved plan: only its new nodes may be created, and only its nodes may be deleted.
//!
//! Uses the regular planner on a restricted input. Never decides whether the result is covered by the approval: that is
//! [`crate::review::covers`]' job, which shares no code with it.

use std::collections::{BTreeMap, BTreeSet};

use super::{World, judge, propose};
use crate::catalog::Way;
use crate::model::{Holds, LabelKey, MicroUsdPerHour, NodeName, PodPlace, PoolName, Wishes, label};
use crate::plan::execution::LaunchChoice;
use crate::plan::{ChangeId, ClaimSpec, Execution, Plan};
use crate::review::RefusedPlan;
use crate::snapshot::Snapshot;

/// Temporary limits on disruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brakes {
    /// Respects freezes, classes on hold, budgets and PodDisruptionBudgets.
    On,
    /// Ignores them: changes that are possible then only wait for them.
    Off,
}

/// Whether pending pods are planned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// All pending pods are included.
    Seen,
    /// Pending pods are left out: the plan is not for them and depends on none.
    Unseen,
}

/// Replans a world for the rest of an approved plan, and checks the plan.
///
/// # Errors
/// The plan, if the checker rejects it: a bug in nodeform.
pub fn again(world: &World, approved: &Plan, waiting: Waiting, brakes: Brakes) -> Result<Plan, RefusedPlan> {
    let mut world = narrowed(world, approved);
    if waiting == Waiting::Unseen {
        forget_waiting(&mut world.snapshot);
    }
    if brakes == Brakes::Off {
        release(&mut world);
    }
    let proposed = propose(&world);
    let planned = judge(&world, proposed)?;
    Ok(as_approved(planned.plan.plan().clone(), approved))
}

/// Removes pending pods, except for placeholder pods of reserved capacity.
pub fn forget_waiting(snapshot: &mut Snapshot) {
    let is_kept = |place: &PodPlace| matches!(place, PodPlace::Bound(_));
    snapshot.pods.retain(|pod| is_kept(&pod.place) || pod.key.is_placeholder());
}

/// Restricts the world: only nodes that can replace an approved create may be created, and only approved nodes deleted.
fn narrowed(world: &World, approved: &Plan) -> World {
    let mut world = world.clone();
    let goes: BTreeSet<&NodeName> = approved.spec.deletes().map(|(_, delete)| &delete.target.node).collect();
    for node in world.snapshot.nodes.iter_mut().filter(|node| !goes.contains(&node.name)) {
        node.keep("its removal was not approved");
    }
    let ways = approved.spec.execution.as_ref().map(|execution| ways(approved, execution));
    world.snapshot.catalog = world.snapshot.catalog.with_only(ways.unwrap_or_default());
    let mut comes: BTreeMap<&PoolName, u64> = BTreeMap::new();
    approved.spec.creates().for_each(|(_, _, claim)| *comes.entry(&claim.pool).or_default() += 1);
    for pool in world.policy.pools.values_mut() {
        let there = world.snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(&pool.name));
        let there = u64::try_from(there.count()).unwrap_or(u64::MAX);
        let most = there.saturating_add(comes.get(&pool.name).copied().unwrap_or(0));
        pool.nodes_max = Some(pool.nodes_max.map_or(most, |limit| limit.min(most)));
    }
    world.targets = approved.spec.targets.iter().cloned().collect();
    let is_there = |node: &NodeName| world.snapshot.nodes.iter().any(|there| there.name == *node);
    let of = |asked: &BTreeSet<NodeName>| {
        asked.iter().filter(|node| goes.contains(node) && is_there(node)).cloned().collect()
    };
    let asked = &approved.spec.wishes;
    let (replace, deleted) = (of(&asked.replace), of(&asked.deleted));
    let wishes = Wishes { replace, deleted, forget: BTreeSet::new(), destroy: asked.destroy };
    // If the requests no longer apply to a node, they are dropped and the node is kept.
    if let Ok(snapshot) = crate::snapshot::wish(world.snapshot.clone(), &wishes) {
        world.snapshot = snapshot;
    }
    world
}

/// Returns all offerings that a plan's creates may use.
fn ways(plan: &Plan, execution: &Execution) -> BTreeSet<Way> {
    let choices = plan.spec.creates().flat_map(|(_, create, _)| execution.choices(&create.spec));
    choices
        .map(|LaunchChoice { choice, .. }| (choice.size.clone(), choice.zone.clone(), choice.capacity_type))
        .collect()
}

/// Removes the temporary limits on disruption. Pods' own requests against disruption remain.
fn release(world: &mut World) {
    world.policy.fleet.holds = Holds::default();
    for pool in world.policy.pools.values_mut() {
        pool.disruption.budgets.clear();
    }
    world.snapshot.budgets.clear();
}

/// Restricts each create to the choices of an approved one, and makes each removal wait for every node that matches one
/// it was approved to wait for. The result does at most what was planned, and no sooner.
fn as_approved(mut fresh: Plan, approved: &Plan) -> Plan {
    let Some(ours) = &approved.spec.execution else { return fresh };
    let Some(mut theirs) = fresh.spec.execution.take() else { return fresh };
    for (id, claim) in &mut fresh.spec.claims {
        let Some(launch) = theirs.launches.get_mut(id) else { continue };
        let Some(Alike { claim: approved, choices }) = like(approved, ours, claim) else { continue };
        let most = approved.price_max;
        let is_cheap = |price: Option<MicroUsdPerHour>| match (price, most) {
            (Some(price), Some(most)) => price <= most,
            (None, Some(_)) => false,
            (Some(_) | None, None) => true,
        };
        let is_approved = |launched: &&LaunchChoice| {
            let is_listed = choices.iter().any(|choice| choice.choice == launched.choice);
            is_listed && is_cheap(launched.price_max)
        };
        let left: Vec<LaunchChoice> = launch.choices.iter().filter(is_approved).cloned().collect();
        // Without its first choice it is a different node, and the comparison of the plans reports it.
        if left.first().is_none_or(|first| first.choice != claim.primary) {
            continue;
        }
        let prices: Option<Vec<MicroUsdPerHour>> = left.iter().map(|launched| launched.price_max).collect();
        claim.price_max = prices.and_then(|prices| prices.into_iter().max());
        launch.choices = left;
        // A choice may be listed only for another approved create, whose choices were also available to the planner.
        for key in [label::INSTANCE_TYPE, label::ZONE, label::CAPACITY_TYPE] {
            if let Some((one, other)) = claim.requirements.get(key).zip(approved.requirements.get(key)) {
                let both = one.intersection(other);
                claim.requirements.set(LabelKey::new(key), both);
            }
        }
    }
    let waits = waits(approved, ours, &fresh);
    for (id, delete) in fresh.spec.deletes() {
        let Some(removal) = theirs.removals.get_mut(id) else { continue };
        removal.after.extend(waits.get(&delete.target.node).into_iter().flatten().cloned());
        removal.after.sort();
        removal.after.dedup();
    }
    fresh.spec.execution = Some(theirs);
    fresh
}

/// An approved claim that matches a fresh one.
struct Alike<'a> {
    claim: &'a ClaimSpec,
    choices: &'a [LaunchChoice],
}

/// Returns the approved claim that a fresh one replaces: one of the same pool with the fresh first choice among its
/// choices, preferably as its first.
fn like<'a>(approved: &'a Plan, ours: &'a Execution, fresh: &ClaimSpec) -> Option<Alike<'a>> {
    let of_pool = approved.spec.creates().filter(|(_, _, claim)| claim.pool == fresh.pool);
    let choices = of_pool.map(|(_, create, claim)| (claim, ours.choices(&create.spec)));
    let place =
        |choices: &[LaunchChoice]| choices.iter().position(|launched| launched.choice == fresh.primary);
    let alike = choices.filter_map(|(claim, choices)| Some((place(choices)?, Alike { claim, choices })));
    alike.min_by_key(|(place, _)| *place).map(|(_, alike)| alike)
}

/// Returns, by deleted node, the fresh creates that match those its removal was approved to wait for.
fn waits(approved: &Plan, ours: &Execution, fresh: &Plan) -> BTreeMap<NodeName, BTreeSet<ChangeId>> {
    let mut waits: BTreeMap<NodeName, BTreeSet<ChangeId>> = BTreeMap::new();
    for (id, delete) in approved.spec.deletes() {
        let after = ours.removals.get(id).map_or(&[][..], |removal| &removal.after);
        let claims = after.iter().filter_map(|create| {
            let create = approved.spec.changes.get(create)?.change.create()?;
            Some((approved.spec.claims.get(&create.spec)?, ours.choices(&create.spec)))
        });
        for (claim, choices) in claims {
            let alike = fresh.spec.creates().filter(|(_, _, theirs)| {
                theirs.pool == claim.pool && choices.iter().any(|ours| ours.choice == theirs.primary)
            });
            waits.entry(delete.target.node.clone()).or_default().extend(alike.map(|(id, _, _)| id.clone()));
        }
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::{Brakes, Waiting, again};
    use crate::launch::tests::world::{FACTS, OBJECTS, moving, planned, world_of};
    use crate::plan::Plan;
    use crate::review::covers::covers;

    fn counts(plan: &Plan) -> (usize, usize) {
        (plan.spec.creates().count(), plan.spec.deletes().count())
    }

    #[test]
    fn in_the_same_world_the_second_plan_is_covered_whole() {
        for objects in [OBJECTS.to_owned(), moving()] {
            let approved = planned(&objects);
            let fresh = again(&world_of(&objects, FACTS), &approved, Waiting::Seen, Brakes::On);
            let fresh = fresh.expect("the judge accepts it");
            assert_eq!(counts(&fresh), counts(&approved));
            let covered = covers(&approved, &fresh);
            assert!(covered.is_whole(), "{covered:#?}");
            assert!(covered.approved.values().all(|fate| fate.kept().is_some()), "{covered:#?}");
        }
    }

    /// Returns two applications that are cheapest on nodes of two sizes, in a pool of nodes with four vCPUs.
    fn two_shapes() -> String {
        let pod = |name: &str, number: usize, cpu: u8, memory: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}-{number}}}\nspec: {{containers: [{{name: c, image: i, resources: {{requests: {{cpu: \"{cpu}\", memory: {memory}}}}}}}]}}\n"
            )
        };
        let web = (0..6).map(|number| pod("web", number, 1, "2Gi"));
        let report = (0..3).map(|number| pod("report", number, 3, "16Gi"));
        let four = "        - {key: karpenter.azure.com/sku-cpu, operator: In, values: [\"4\"]}\n      nodeClassRef:";
        let any = "values: [D, E]";
        let objects = OBJECTS.replace("      nodeClassRef:", four).replace("values: [D]", any);
        format!("{objects}{}", web.chain(report).collect::<String>())
    }

    #[test]
    fn of_two_shapes_in_one_pool_each_is_compared_with_its_own() {
        let objects = two_shapes();
        let approved = planned(&objects);
        assert!(approved.spec.claims.len() > 1, "{:#?}", approved.spec.claims);
        let fresh = again(&world_of(&objects, FACTS), &approved, Waiting::Seen, Brakes::On);
        let fresh = fresh.expect("the judge accepts it");
        assert_eq!(counts(&fresh), counts(&approved));
        let covered = covers(&approved, &fresh);
        assert!(covered.is_whole(), "{covered:#?}");
        assert!(covered.approved.values().all(|fate| fate.kept().is_some()), "{covered:#?}");
    }

    #[test]
    fn nothing_comes_but_what_was_approved_however_much_is_asked_for() {
        let approved = planned(OBJECTS);
        let pods = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: large}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: \"40\"}}}]}\n";
        let world = world_of(&format!("{OBJECTS}{pods}"), FACTS);
        let fresh = again(&world, &approved, Waiting::Seen, Brakes::On).expect("the judge accepts it");
        assert_eq!(counts(&fresh), (1, 0));
        assert!(covers(&approved, &fresh).is_whole());
        let unseen = again(&world, &approved, Waiting::Unseen, Brakes::On).expect("the judge accepts it");
        assert_eq!(counts(&unseen), (0, 0));
    }

    #[test]
    fn nothing_goes_but_what_was_approved() {
        let world = world_of(&moving(), FACTS);
        let mut approved = planned(&moving());
        approved.spec.changes.retain(|_, planned| planned.change.delete().is_none());
        let fresh = again(&world, &approved, Waiting::Seen, Brakes::On).expect("the judge accepts it");
        assert_eq!(counts(&fresh), (0, 0));
    }

    #[test]
    fn what_the_fleet_holds_is_heeded_or_not_as_it_is_asked() {
        let fleet = "---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {name: f}\nspec: {approve: {replace: hold, move-pods: hold}}\n";
        let approved = planned(&moving());
        let world = world_of(&format!("{}{fleet}", moving()), FACTS);
        let planned = |brakes| again(&world, &approved, Waiting::Seen, brakes).expect("the judge accepts it");
        let held = planned(Brakes::On);
        assert_eq!(counts(&held), (0, 0));
        assert!(held.evidence.held[0].because.contains("hold"), "{:#?}", held.evidence.held);
        assert_eq!(counts(&planned(Brakes::Off)), (1, 1));
    }
}
