//! Removals of two plans: the same node by what no other has, and nothing that is harder on its pods than what was approved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::creates::Creates;
use super::{Kept, Pair};
use crate::model::DisruptionReason;
use crate::plan::execution::NodeIdentity;
use crate::plan::{ChangeId, Delete};

/// What no other node has: the VM, the Node, its NodeClaim.
type Identity<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>);

/// The removals of the fresh plan beside those that were approved.
#[derive(Debug)]
pub(super) struct Removals<'a> {
    pair: Pair<'a>,
    /// By the fresh change, the approved one of the same node.
    of: BTreeMap<&'a ChangeId, &'a ChangeId>,
    /// The fresh ones that were not approved, with why.
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
        let mut removals = Self { pair, of: BTreeMap::new(), refused: BTreeMap::new() };
        for (id, delete) in pair.fresh.spec.deletes() {
            // What a VM that is gone left behind is tidied up by the next plan, and disturbs nobody.
            let known = pair.theirs.nodes.get(id);
            if delete.reason == DisruptionReason::Deleted && known.is_some_and(|node| node.vm_id.is_none()) {
                continue;
            }
            let identity = known.and_then(identity);
            match identity.and_then(|identity| approved.remove(&identity)) {
                None => {
                    removals.refused.insert(id, "nobody approved that this very node goes".into());
                }
                Some((ours, of)) => {
                    removals.of.insert(id, ours);
                    let because = removals.harder((ours, of), (id, delete));
                    removals.refused.extend(because.map(|because| (id, because.into())));
                }
            }
        }
        removals
    }

    /// Why a removal is harder on pods than what was approved.
    fn harder(
        &self,
        (ours, approved): (&ChangeId, &Delete),
        (theirs, fresh): (&ChangeId, &Delete),
    ) -> Option<String> {
        let is_empty = |delete: &Delete| delete.reason == DisruptionReason::Empty;
        if is_empty(approved) && !is_empty(fresh) {
            return Some("it was approved to go without pods, and has some now".to_owned());
        }
        let (Some(approved), Some(fresh)) =
            (self.pair.ours.removals.get(ours), self.pair.theirs.removals.get(theirs))
        else {
            return Some("nothing says how it is drained".to_owned());
        };
        // None is without end.
        let is_shorter = fresh.grace.is_some_and(|grace| approved.grace.is_none_or(|least| grace < least));
        is_shorter.then(|| "its pods would have less time to leave than was approved".to_owned())
    }

    /// Returns whether every removal that waits for an approved create waits for a fresh one.
    pub(super) fn wait_alike(&self, approved: &ChangeId, fresh: &ChangeId) -> bool {
        self.of.iter().all(|(theirs, ours)| {
            !self.after(ours, true).contains(approved) || self.after(theirs, false).contains(fresh)
        })
    }

    /// The creates that a removal waits for.
    fn after(&self, removal: &ChangeId, is_approved: bool) -> &[ChangeId] {
        let execution = if is_approved { self.pair.ours } else { self.pair.theirs };
        execution.removals.get(removal).map_or(&[], |removal| &removal.after)
    }

    /// Returns the approved removals that are kept, and the fresh ones that are not covered, with why.
    pub(super) fn covered(
        &self,
        creates: &Creates<'_>,
    ) -> (BTreeMap<ChangeId, Kept>, BTreeMap<ChangeId, Arc<str>>) {
        let mut kept = BTreeMap::new();
        let mut refused: BTreeMap<ChangeId, Arc<str>> =
            self.refused.iter().map(|(id, because)| ((*id).clone(), because.clone())).collect();
        for (theirs, ours) in &self.of {
            if refused.contains_key(*theirs) {
                continue;
            }
            match self.waits(ours, theirs, creates) {
                Ok(after) => {
                    let grace = self.pair.theirs.removals.get(*theirs).and_then(|removal| removal.grace);
                    let fresh = (*theirs).clone();
                    let removal = Kept { fresh, choices: BTreeSet::new(), after, grace };
                    kept.insert((*ours).clone(), removal);
                }
                Err(because) => {
                    refused.insert((*theirs).clone(), because.into());
                }
            }
        }
        (kept, refused)
    }

    /// Returns the approved creates that a removal waits for by the fresh plan; or why it would not wait for all.
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
                    "its pods would go to a new node that nobody approved or that costs more".to_owned()
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

    /// Returns why the fresh removal of an approved one's node is not covered, where it is not.
    pub(super) fn why(
        &self,
        approved: &ChangeId,
        strange: &BTreeMap<ChangeId, Arc<str>>,
    ) -> Option<Arc<str>> {
        let (theirs, _) = self.of.iter().find(|(_, ours)| **ours == approved)?;
        strange.get(*theirs).cloned()
    }
}

/// Returns what no other node has; nothing where nothing of it is known.
fn identity(node: &NodeIdentity) -> Option<Identity<'_>> {
    let identity = (node.vm_id.as_deref(), node.node_uid.as_deref(), node.claim_uid.as_deref());
    (identity != (None, None, None)).then_some(identity)
}
