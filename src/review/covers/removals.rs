//! Removals of two plans: the same node by its unique ids, and never harder on its pods than approved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::creates::Creates;
use super::newcomers::Newcomers;
use super::{Fate, Kept, Pair};
use crate::model::{ChangeClass, DisruptionReason, NodeName};
use crate::plan::execution::NodeIdentity;
use crate::plan::{ChangeId, Delete, Difference, Plan, Precondition};

/// Unique ids of a node: the VM, the Node, its NodeClaim.
type Identity<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>);

fn no_longer_empty(pod: &str) -> String {
    format!("pod `{pod}` is on it now; it was approved as empty")
}

/// Removals of the fresh plan, matched with the approved ones.
#[derive(Debug)]
pub(super) struct Removals<'a> {
    pair: Pair<'a>,
    newcomers: Newcomers<'a>,
    /// The approved removal of the same node, by fresh change.
    of: BTreeMap<&'a ChangeId, &'a ChangeId>,
    /// Fresh removals that were not approved, each with the reason.
    refused: BTreeMap<&'a ChangeId, Arc<str>>,
}

impl<'a> Removals<'a> {
    pub(super) fn of(pair: Pair<'a>) -> Self {
        let mut approved: BTreeMap<Identity<'_>, (&ChangeId, &Delete)> = BTreeMap::new();
        for (id, delete) in pair.approved.spec.deletes() {
            let identity = pair.ours.nodes.get(id).and_then(identity);
            if let Some(identity) = identity {
                approved.insert(identity, (id, delete));
            }
        }
        let newcomers = Newcomers::of(pair.fresh);
        let mut removals = Self { pair, newcomers, of: BTreeMap::new(), refused: BTreeMap::new() };
        for (id, delete) in pair.fresh.spec.deletes() {
            // The remains of a deleted VM are cleaned up by the next plan and disrupt nothing.
            let known = pair.theirs.nodes.get(id);
            if delete.reason == DisruptionReason::Deleted && known.is_some_and(|node| node.vm_id.is_none()) {
                continue;
            }
            let identity = known.and_then(identity);
            match identity.and_then(|identity| approved.remove(&identity)) {
                None => {
                    removals.refused.insert(id, "deleting this node was not approved".into());
                }
                Some((ours, of)) => {
                    removals.of.insert(id, ours);
                    let because = removals
                        .other_node((ours, of), (id, delete))
                        .or_else(|| removals.harder((ours, of), (id, delete)));
                    removals.refused.extend(because.map(|because| (id, because.into())));
                }
            }
        }
        removals
    }

    /// Returns how the node of a removal differs from the approved one: all its ids are compared.
    fn other_node(
        &self,
        (ours, approved): (&ChangeId, &Delete),
        (theirs, fresh): (&ChangeId, &Delete),
    ) -> Option<String> {
        let Pair { ours: one, theirs: other, .. } = self.pair;
        let differs = Difference::of(&approved.target, &fresh.target)
            .or_else(|| Difference::of(&one.nodes.get(ours), &other.nodes.get(theirs)));
        differs.map(|found| {
            format!("node `{}` is another than the one that was approved: {found}", fresh.target.node)
        })
    }

    /// Returns why a removal is harder on pods than approved.
    fn harder(
        &self,
        (ours, approved): (&ChangeId, &Delete),
        (theirs, fresh): (&ChangeId, &Delete),
    ) -> Option<String> {
        let node = &fresh.target.node;
        // A node without pods counts as empty, whatever other reason it has by now, such as a changed label of its
        // pool.
        let pod = self.newcomers.any(node).filter(|_| fresh.reason != DisruptionReason::Empty);
        let (was, is) = (ChangeClass::of(approved.reason), ChangeClass::of(fresh.reason));
        if let Some(pod) = pod
            && was != is
        {
            if approved.reason == DisruptionReason::Empty {
                return Some(no_longer_empty(&pod));
            }
            return Some(format!("removal of node `{node}` was approved as `{was}`, but is now `{is}`"));
        }
        if let Some(missing) = self.unasked(ours, theirs) {
            return Some(format!("the approved removal of node `{node}` does not check that {missing}"));
        }
        let (Some(approved), Some(fresh)) =
            (self.pair.ours.removals.get(ours), self.pair.theirs.removals.get(theirs))
        else {
            return Some("its drain settings are missing".to_owned());
        };
        // `None` means no limit.
        let is_shorter = fresh.grace.is_some_and(|grace| approved.grace.is_none_or(|least| grace < least));
        is_shorter.then(|| "its pods would have less time to leave than was approved".to_owned())
    }

    /// Returns a precondition of the fresh removal that the approved one does not check.
    fn unasked(&self, ours: &ChangeId, theirs: &ChangeId) -> Option<&'static str> {
        let conditions = |plan: &'a Plan, id: &ChangeId| {
            plan.spec.changes.get(id).map_or(&[][..], |planned| &planned.preconditions)
        };
        let asked = conditions(self.pair.approved, ours);
        let missing =
            conditions(self.pair.fresh, theirs).iter().filter(|condition| !asked.contains(condition));
        missing.filter_map(asks).next()
    }

    /// Returns why a removal that the fresh plan contains too must wait: pods that would be harmed came after the
    /// review.
    fn came(&self, ours: &ChangeId, node: &NodeName) -> Option<String> {
        self.newcomers.harmed(&self.pair.ours.removals.get(ours)?.owners, node)
    }

    /// Returns the fate of an approved removal that is not covered, unless planning again already explains it.
    pub(super) fn lost(&self, approved: &ChangeId, delete: &Delete) -> Option<Fate> {
        let node = &delete.target.node;
        let fresh = self.pair.fresh.spec.deletes().find(|(_, fresh)| fresh.target.node == *node);
        if let Some((theirs, fresh)) = fresh.filter(|(theirs, _)| !self.of.contains_key(theirs)) {
            let because = self.other_node((approved, delete), (theirs, fresh));
            return because.map(|because| Fate::NoLongerHolds(because.into()));
        }
        if delete.reason == DisruptionReason::Empty {
            let pod = self.newcomers.any(node)?;
            return Some(Fate::NoLongerHolds(no_longer_empty(&pod).into()));
        }
        self.came(approved, node).map(|because| Fate::Waits(because.into()))
    }

    /// Returns whether every removal that waits for an approved create waits for the fresh one.
    pub(super) fn wait_alike(&self, approved: &ChangeId, fresh: &ChangeId) -> bool {
        self.of.iter().all(|(theirs, ours)| {
            !self.after(ours, true).contains(approved) || self.after(theirs, false).contains(fresh)
        })
    }

    /// Returns the creates that a removal waits for.
    fn after(&self, removal: &ChangeId, is_approved: bool) -> &[ChangeId] {
        let execution = if is_approved { self.pair.ours } else { self.pair.theirs };
        execution.removals.get(removal).map_or(&[], |removal| &removal.after)
    }

    /// Returns the fates of the approved removals that the fresh plan contains too, and why the other fresh ones are
    /// not covered.
    pub(super) fn covered(
        &self,
        creates: &Creates<'_>,
    ) -> (BTreeMap<ChangeId, Fate>, BTreeMap<ChangeId, Arc<str>>) {
        let mut fates = BTreeMap::new();
        let mut refused: BTreeMap<ChangeId, Arc<str>> =
            self.refused.iter().map(|(id, because)| ((*id).clone(), because.clone())).collect();
        for (theirs, delete) in self.pair.fresh.spec.deletes() {
            let Some(ours) = self.of.get(theirs).filter(|_| !refused.contains_key(theirs)) else { continue };
            if let Some(because) = self.came(ours, &delete.target.node) {
                fates.insert((*ours).clone(), Fate::Waits(because.into()));
                continue;
            }
            match self.waits(ours, theirs, creates) {
                Ok(after) => {
                    let grace = self.pair.theirs.removals.get(theirs).and_then(|removal| removal.grace);
                    let removal = Kept { fresh: theirs.clone(), choices: BTreeSet::new(), after, grace };
                    fates.insert((*ours).clone(), Fate::Kept(removal));
                }
                Err(because) => {
                    refused.insert(theirs.clone(), because.into());
                }
            }
        }
        (fates, refused)
    }

    /// Returns the approved creates that a removal waits for in the fresh plan, or why it would not wait for all of
    /// them.
    fn waits(
        &self,
        ours: &ChangeId,
        theirs: &ChangeId,
        creates: &Creates<'_>,
    ) -> Result<BTreeSet<ChangeId>, String> {
        let mut after = BTreeSet::new();
        for fresh in self.after(theirs, false) {
            let Some(approved) = creates.approved(fresh) else {
                return Err(
                    "its pods would move to a new node that was not approved or that costs more".to_owned()
                );
            };
            after.insert(approved.clone());
        }
        let forgotten = self
            .after(ours, true)
            .iter()
            .find(|approved| creates.fresh(approved).is_some() && !after.contains(*approved));
        match forgotten {
            Some(create) => Err(format!("it would not wait for node `{}`", creates.vm(create))),
            None => Ok(after),
        }
    }

    /// Returns why the fresh removal of an approved removal's node is not covered, if so.
    pub(super) fn why(
        &self,
        approved: &ChangeId,
        strange: &BTreeMap<ChangeId, Arc<str>>,
    ) -> Option<Arc<str>> {
        let (theirs, _) = self.of.iter().find(|(_, ours)| **ours == approved)?;
        strange.get(*theirs).cloned()
    }
}

/// Returns the unique ids of a node; `None` if none is known.
fn identity(node: &NodeIdentity) -> Option<Identity<'_>> {
    let identity = (node.vm_id.as_deref(), node.node_uid.as_deref(), node.claim_uid.as_deref());
    (identity != (None, None, None)).then_some(identity)
}

/// Returns what a precondition of a removal checks at its start; `None` if planning again already checks it.
const fn asks(condition: &Precondition) -> Option<&'static str> {
    match condition {
        Precondition::NotProtected { .. } => {
            Some("neither it nor a pod on it has `karpenter.sh/do-not-disrupt`")
        }
        Precondition::SameNode { .. } => Some("it is the node that was reviewed"),
        // A removal that was approved with pods is fine without them.
        Precondition::NodeEmpty { .. }
        | Precondition::NameFree { .. }
        | Precondition::PoolUnchanged { .. }
        | Precondition::ClassUnchanged { .. }
        | Precondition::WithinLimits { .. }
        | Precondition::WithoutClaim { .. } => None,
    }
}
