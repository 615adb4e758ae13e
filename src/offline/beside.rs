//! Plans next to other plans that are proposed, or merged and not applied yet, without touching their changes.
//!
//! Uses the regular planner on a restricted input. Never reserves anything for a plan that can no longer start.

use std::collections::{BTreeMap, BTreeSet};

use super::World;
use crate::model::{NodeName, PodKey, PodPlace};
use crate::plan::Plan;
use crate::plan::beside::{Beside, OtherEffect};

/// Another plan that may still start.
#[derive(Clone, Debug)]
pub struct Other {
    /// Its folder: `2026-11/remove-empty-k3v9q2m7xa`.
    pub name: String,
    /// Whether it is merged but not applied yet; otherwise it is proposed.
    pub is_merged: bool,
    /// The plan itself.
    pub plan: Plan,
}

impl Other {
    /// Describes it: ``plan `2026-11/remove-empty-k3v9q2m7xa`, which is proposed``.
    #[must_use]
    pub fn described(&self) -> String {
        let Self { name, is_merged, .. } = self;
        match is_merged {
            true => format!("plan `{name}`, which is merged and not applied yet"),
            false => format!("plan `{name}`, which is proposed"),
        }
    }

    /// Returns the nodes that it deletes.
    pub fn deletes(&self) -> impl Iterator<Item = &NodeName> {
        self.plan.spec.deletes().map(|(_, delete)| &delete.target.node)
    }
}

/// Excludes the nodes that other plans delete, and the pending pods that their new nodes are for.
pub fn leave(world: &mut World, others: &[Other]) {
    let snapshot = &mut world.snapshot;
    for other in others {
        let theirs: BTreeSet<&NodeName> = other.deletes().collect();
        for node in snapshot.nodes.iter_mut().filter(|node| theirs.contains(&node.name)) {
            node.keep(format!("it is deleted by {}", other.described()));
        }
        let placements = other.plan.evidence.placements.values();
        let awaited: BTreeSet<&PodKey> = placements.flat_map(|placement| &placement.pods).collect();
        snapshot.pods.retain(|pod| matches!(pod.place, PodPlace::Bound(_)) || !awaited.contains(&pod.key));
    }
}

/// Lists what other plans do to the nodes on which a plan places pods.
pub fn name(plan: &mut Plan, others: &[Other]) {
    let used: BTreeMap<&NodeName, usize> =
        plan.evidence.kept.iter().map(|(node, pods)| (node, pods.len())).collect();
    let mut beside: Vec<Beside> = Vec::new();
    for other in others {
        let said = |(node, does): (&NodeName, OtherEffect)| Beside {
            node: node.clone(),
            plan: other.name.clone(),
            is_merged: other.is_merged,
            does,
        };
        let deleted = other.deletes().map(|node| (node, OtherEffect::Deletes));
        let filled = other.plan.evidence.kept.iter();
        let filled = filled.map(|(node, pods)| (node, OtherEffect::Fills { pods: pods.len() }));
        beside.extend(deleted.chain(filled).filter(|(node, _)| used.contains_key(node)).map(said));
    }
    beside.sort();
    plan.evidence.beside = beside;
}

#[cfg(test)]
mod tests {
    use super::{Other, leave, name};
    use crate::launch::tests::world::{FACTS, OBJECTS, moving, planned, world_of};
    use crate::offline::{World, judge, propose};
    use crate::plan::Plan;
    use crate::plan::beside::OtherEffect;

    fn other(plan: &Plan, is_merged: bool) -> Other {
        Other { name: "2026-11/move-pods-aaaaaaaaaa".to_owned(), is_merged, plan: plan.clone() }
    }

    fn beside(world: &World, others: &[Other]) -> Plan {
        let mut world = world.clone();
        leave(&mut world, others);
        let proposed = propose(&world);
        judge(&world, proposed).expect("the judge accepts it").plan.plan().clone()
    }

    #[test]
    fn what_another_plan_does_is_not_proposed_again() {
        for (objects, changes) in [(OBJECTS.to_owned(), 1), (moving(), 2)] {
            let (world, first) = (world_of(&objects, FACTS), planned(&objects));
            assert_eq!(first.spec.creates().count() + first.spec.deletes().count(), changes);
            for is_merged in [true, false] {
                let second = beside(&world, &[other(&first, is_merged)]);
                assert_eq!((second.spec.creates().count(), second.spec.deletes().count()), (0, 0));
            }
            assert_eq!(beside(&world, &[]).spec, first.spec);
        }
    }

    #[test]
    fn a_node_that_is_left_to_another_plan_says_to_which() {
        let (world, first) = (world_of(&moving(), FACTS), planned(&moving()));
        let second = beside(&world, &[other(&first, true)]);
        let node = &first.spec.deletes().next().expect("a removal").1.target.node;
        let kept = second.evidence.world.nodes.iter().find(|known| known.name == *node).expect("it is there");
        let why = "it is deleted by plan `2026-11/move-pods-aaaaaaaaaa`, which is merged and not applied yet";
        assert_eq!(kept.why_kept(), Some(why));
    }

    #[test]
    fn what_others_do_to_nodes_that_a_plan_sends_pods_to_is_named_and_nothing_else() {
        let first = planned(&moving());
        let gone = first.spec.deletes().next().expect("a removal").1.target.node.clone();
        let pods = first.evidence.placements.values().next().expect("a create").pods.clone();
        let mut plan = planned(OBJECTS);
        name(&mut plan, &[other(&first, false)]);
        assert_eq!(plan.evidence.beside, []);
        plan.evidence.kept.insert(gone.clone(), pods.clone());
        name(&mut plan, &[other(&first, false)]);
        let found: Vec<_> = plan.evidence.beside.iter().map(|beside| (&beside.node, beside.does)).collect();
        assert_eq!(found, [(&gone, OtherEffect::Deletes)]);
        let mut fills = first.clone();
        fills.spec.changes.clear();
        fills.evidence.kept.insert(gone.clone(), pods.clone());
        name(&mut plan, &[other(&fills, true)]);
        let found: Vec<_> = plan.evidence.beside.iter().map(|beside| beside.does).collect();
        assert_eq!(found, [OtherEffect::Fills { pods: pods.len() }]);
    }
}
