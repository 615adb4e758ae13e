//! The second plan: immediately before it is applied, the rest of a merged plan is planned again, and only changes in
//! both plans are applied.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{ClaimName, Node, NodeStage, PodKey, PodPlace};
use crate::offline::World;
use crate::offline::again::{Brakes, Waiting, again};
use crate::plan::{ChangeId, Plan, summary};
use crate::render::words::count;
use crate::review::covers::{Covered, Fate, covers};
use crate::review::{ApprovedPlan, LeftOut, RefusedPlan};

/// Maximum number of needed but not approved changes that are listed individually.
const TOLD_MAX: usize = 5;

/// Next step for changes that were not approved.
const NEXT: &str = "Left to the next proposal";

/// The part of an approved plan that a second plan confirms.
#[derive(Debug)]
pub struct Narrowed {
    /// The changes to apply.
    pub plan: ApprovedPlan,
    /// Remarks on the others, one line each.
    pub said: Vec<String>,
}

/// Narrows an approved plan to the changes that a second plan of the same world covers. `closed` are the started or
/// ended changes.
///
/// # Errors
/// The checker rejects the second plan: a bug in nodeform.
pub fn narrowed(
    world: &World,
    approved: ApprovedPlan,
    closed: &BTreeSet<ChangeId>,
) -> Result<Narrowed, RefusedPlan> {
    let left = left(&approved, closed);
    if left.spec.changes.is_empty() {
        return Ok(Narrowed { plan: approved, said: Vec::new() });
    }
    let world = &with_own(world, approved.plan(), closed);
    // Pods that are pending because of started changes must keep their capacity, as must pods that the plan has
    // nominated.
    let is_for_waiting =
        left.spec.execution.as_ref().is_some_and(|execution| !execution.nominations.is_empty());
    let waiting = if is_for_waiting || !closed.is_empty() { Waiting::Seen } else { Waiting::Unseen };
    let fresh = again(world, &left, waiting, Brakes::On)?;
    let mut covered = covers(&left, &fresh);
    let waits = match covered.approved.values().all(is_settled) {
        true => BTreeMap::new(),
        false => waits(&mut covered, &covers(&left, &again(world, &left, waiting, Brakes::Off)?)),
    };
    let mut said: Vec<String> = Vec::new();
    if let Some(because) = covered.drop_if_too_many_are_lost(approved.plan()) {
        said.push(format!(
            "{because}: the others are not started; propose them again: `nodeform propose --live`."
        ));
    }
    said.extend(strange(&covered));
    said.extend(match waiting {
        Waiting::Seen => pending(summary::pending(&fresh)),
        Waiting::Unseen => pending(waiting_pods(world)),
    });
    Ok(Narrowed { plan: approved.narrowed(&covered).leaving_out(waits), said })
}

/// Treats nodes that the plan itself has started to create as joined: its removals wait for them, and do not start if
/// one of them never joins.
fn with_own(world: &World, plan: &Plan, closed: &BTreeSet<ChangeId>) -> World {
    let creates = plan.spec.creates().filter(|(id, _, _)| closed.contains(*id));
    let own: BTreeSet<&ClaimName> = creates.map(|(_, create, _)| &create.claim).collect();
    let mut world = world.clone();
    let is_own = |node: &&mut Node| node.claim.as_ref().is_some_and(|claim| own.contains(claim));
    for node in world.snapshot.nodes.iter_mut().filter(is_own) {
        node.stage = NodeStage::Initialized;
    }
    world
}

/// Returns the plan without started, ended and left-out changes.
fn left(approved: &ApprovedPlan, closed: &BTreeSet<ChangeId>) -> Plan {
    let mut plan = approved.plan().clone();
    plan.spec.changes.retain(|id, _| !closed.contains(id) && !approved.left_out().contains_key(id));
    plan
}

const fn is_settled(fate: &Fate) -> bool {
    matches!(fate, Fate::Kept(_) | Fate::Gone | Fate::Waits(_))
}

/// Removes changes from `covered` that only freezes, budgets or PodDisruptionBudgets prevent: they wait for those.
fn waits(covered: &mut Covered, without_brakes: &Covered) -> BTreeMap<ChangeId, LeftOut> {
    let mut waits = BTreeMap::new();
    for (id, fate) in &covered.approved {
        let because: Arc<str> = match fate {
            Fate::NoLongerHolds(because) => because.clone(),
            Fate::NoLongerNeeded(_) => "the nodes whose pods it takes wait".into(),
            Fate::Kept(_) | Fate::Gone | Fate::Waits(_) => continue,
        };
        if without_brakes.approved.get(id).is_some_and(|fate| fate.kept().is_some()) {
            waits.insert(id.clone(), LeftOut::Waits(because));
        }
    }
    covered.approved.retain(|id, _| !waits.contains_key(id));
    waits
}

/// Lists needed changes that were not approved; those that explain an outdated approved change are left out.
fn strange(covered: &Covered) -> Vec<String> {
    let of_approved = |because: &Arc<str>| {
        let is_it = |fate: &Fate| matches!(fate, Fate::NoLongerHolds(known) if known == because);
        covered.approved.values().any(is_it)
    };
    let strange: Vec<&Arc<str>> = covered.strange.values().filter(|because| !of_approved(because)).collect();
    let mut lines: Vec<String> =
        strange.iter().take(TOLD_MAX).map(|because| format!("{NEXT}: {because}.")).collect();
    if let Some(more) = strange.len().checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        lines.push(format!("{NEXT}: {} more.", count(more, "change")));
    }
    lines
}

/// Returns the pending pods, if the plan ignores them.
fn waiting_pods(world: &World) -> Vec<&PodKey> {
    let waiting = world.snapshot.pods.iter().filter(|pod| matches!(pod.place, PodPlace::Waiting));
    waiting.map(|pod| &pod.key).collect()
}

/// Lists pending pods for which no approved node is planned.
fn pending<'a>(pods: impl IntoIterator<Item = &'a PodKey>) -> Option<String> {
    let mut pods = pods.into_iter().filter(|pod| !pod.is_placeholder());
    let first = pods.next()?;
    let pods = pods.count() + 1;
    let (stay, them, such) = match pods {
        1 => ("stays", "it", String::new()),
        _ => ("stay", "them", format!(", such as `{first}`")),
    };
    let which = if pods == 1 { format!("pod `{first}`") } else { count(pods, "pod") };
    Some(format!(
        "{NEXT}: {which} {stay} Pending, and no approved node is for {them}{such}: `nodeform propose --live --class create`."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::world::{FACTS, moving, world_of};
    use crate::offline;
    use crate::review::{Now, Terms, approve};
    use crate::sim::after;

    /// Returns how many changes of a merged plan are left out once its new nodes are at this stage.
    fn left_out(stage: NodeStage) -> usize {
        let mut world = world_of(&moving(), FACTS);
        let checked = offline::plan(&world).expect("the judge accepts it").plan;
        let plan = checked.plan().clone();
        let begun: BTreeSet<ChangeId> = plan.spec.creates().map(|(id, _, _)| id.clone()).collect();
        let claims: BTreeSet<ClaimName> =
            plan.spec.creates().map(|(_, create, _)| create.claim.clone()).collect();
        assert!(!claims.is_empty() && plan.spec.deletes().count() > 0);
        let mut made = after(&world.snapshot, &plan).nodes;
        made.retain(|node| node.claim.as_ref().is_some_and(|claim| claims.contains(claim)));
        made.iter_mut().for_each(|node| node.stage = stage);
        assert_eq!(made.len(), claims.len());
        world.snapshot.nodes.extend(made);
        let now = Now { snapshot: &world.snapshot, policy: &world.policy, begun: &begun };
        let approved = approve(checked, now, Terms::default()).expect("it may be carried out");
        narrowed(&world, approved, &begun).expect("the judge accepts it").plan.left_out().len()
    }

    #[test]
    fn removals_wait_for_the_new_nodes_of_their_plan_however_far_these_have_come() {
        let stages = [NodeStage::Launching, NodeStage::Registered, NodeStage::Initialized];
        assert_eq!(stages.map(left_out), [0, 0, 0]);
    }
}
