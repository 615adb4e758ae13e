//! Creates of two plans: a node of the same pool with the same settings, an approved choice, and at most the approved
//! price.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::removals::Removals;
use super::{Fate, Kept, Pair, made, pairs};
use crate::model::{MicroUsdPerHour, PodKey};
use crate::plan::summary::pending;
use crate::plan::{ChangeId, ClaimSpec, Create};

/// Creates of the fresh plan, matched with the approved ones.
#[derive(Debug)]
pub(super) struct Creates<'a> {
    pair: Pair<'a>,
    approved: Vec<Made<'a>>,
    fresh: Vec<Made<'a>>,
    /// The approved create that each fresh one replaces.
    of: BTreeMap<&'a ChangeId, &'a ChangeId>,
}

/// A new node.
#[derive(Clone, Copy, Debug)]
struct Made<'a> {
    id: &'a ChangeId,
    create: &'a Create,
    claim: &'a ClaimSpec,
}

impl<'a> Creates<'a> {
    pub(super) fn of(pair: Pair<'a>, removals: &Removals<'a>) -> Self {
        let made = |(id, create, claim)| Made { id, create, claim };
        let approved: Vec<Made<'a>> = pair.approved.spec.creates().map(made).collect();
        let fresh: Vec<Made<'a>> = pair.fresh.spec.creates().map(made).collect();
        let mut creates = Self { pair, approved, fresh, of: BTreeMap::new() };
        let admits = |one: usize, other: usize| match (creates.fresh.get(one), creates.approved.get(other)) {
            (Some(fresh), Some(approved)) => creates.differs(approved, fresh).is_none(),
            _ => false,
        };
        let waits = |one: usize, other: usize| match (creates.fresh.get(one), creates.approved.get(other)) {
            (Some(fresh), Some(approved)) => removals.wait_alike(approved.id, fresh.id),
            _ => false,
        };
        // Among equal creates, each is matched with one that the same removals wait for.
        let prefers = |one: usize, other: usize| admits(one, other) && waits(one, other);
        let pairs = pairs::paired((creates.fresh.len(), creates.approved.len()), prefers, admits);
        let of = pairs.into_iter().zip(&creates.fresh).filter_map(|(pair, fresh)| {
            let approved = creates.approved.get(pair?)?;
            Some((fresh.id, approved.id))
        });
        creates.of = of.collect();
        creates
    }

    /// Returns the approved create that a fresh one replaces.
    pub(super) fn approved(&self, fresh: &ChangeId) -> Option<&'a ChangeId> {
        self.of.get(fresh).copied()
    }

    /// Returns the fresh create that replaces an approved one.
    pub(super) fn fresh(&self, approved: &ChangeId) -> Option<&'a ChangeId> {
        self.of.iter().find(|(_, ours)| **ours == approved).map(|(theirs, _)| *theirs)
    }

    /// Returns the VM name of an approved create.
    pub(super) fn vm(&self, approved: &ChangeId) -> &'a str {
        self.approved.iter().find(|made| made.id == approved).map_or("?", |made| &made.create.vm)
    }

    /// Returns the fresh creates that were not approved, each with the reason.
    pub(super) fn strange(&self) -> BTreeMap<ChangeId, Arc<str>> {
        let strange = self.fresh.iter().filter(|fresh| !self.of.contains_key(fresh.id));
        strange.map(|fresh| (fresh.id.clone(), self.why_strange(fresh).into())).collect()
    }

    fn why_strange(&self, fresh: &Made<'_>) -> String {
        let pool = &fresh.claim.pool;
        let of_pool: Vec<&Made<'_>> = self.approved.iter().filter(|made| made.claim.pool == *pool).collect();
        let faults: Vec<Option<String>> = of_pool.iter().map(|made| self.differs(made, fresh)).collect();
        match faults.iter().min_by_key(|fault| fault.is_some()) {
            None => format!("no new node of pool `{pool}` was approved"),
            Some(None) => format!("more new nodes of pool `{pool}` are needed than were approved"),
            Some(Some(because)) => because.clone(),
        }
    }

    /// Returns the fate of an approved create.
    pub(super) fn fate(&self, id: &ChangeId) -> Fate {
        let approved = self.approved.iter().find(|made| made.id == id);
        let Some(approved) = approved else {
            return Fate::NoLongerHolds("the plan does not describe it".into());
        };
        if let Some(theirs) = self.fresh(id) {
            let choices = self.choices_left(approved, theirs);
            let kept = Kept { fresh: theirs.clone(), choices, after: BTreeSet::new(), grace: None };
            return Fate::Kept(kept);
        }
        let pool = &approved.claim.pool;
        let other =
            self.fresh.iter().find(|fresh| fresh.claim.pool == *pool && !self.of.contains_key(fresh.id));
        match other.and_then(|other| self.differs(approved, other)) {
            Some(because) => {
                Fate::NoLongerHolds(format!("another node would be needed in its place: {because}").into())
            }
            None => match self.left_waiting(id) {
                Some(pod) => Fate::NoLongerHolds(
                    format!("in the fresh plan, pod `{pod}` fits no node and stays Pending").into(),
                ),
                None => Fate::NoLongerNeeded("in the fresh plan, its pods fit elsewhere or are gone".into()),
            },
        }
    }

    /// Returns a pod that an approved create is for and that stays Pending in the fresh plan.
    fn left_waiting(&self, id: &ChangeId) -> Option<&'a PodKey> {
        let pending = pending(self.pair.fresh);
        self.pair.ours.nominations.get(id)?.iter().find(|pod| pending.contains(pod))
    }

    /// Returns the indices of the approved choices that the fresh create still lists.
    fn choices_left(&self, approved: &Made<'_>, fresh: &ChangeId) -> BTreeSet<usize> {
        let fresh = self.fresh.iter().find(|made| made.id == fresh);
        let listed = fresh.map_or(&[][..], |made| self.pair.theirs.choices(&made.create.spec));
        let ours = self.pair.ours.choices(&approved.create.spec).iter().enumerate();
        let is_left = ours.filter(|(_, ours)| listed.iter().any(|theirs| theirs.choice == ours.choice));
        is_left.map(|(place, _)| place).collect()
    }

    /// Returns why a fresh create cannot replace an approved one.
    fn differs(&self, approved: &Made<'_>, fresh: &Made<'_>) -> Option<String> {
        let ours = self.pair.ours.choices(&approved.create.spec);
        let theirs = self.pair.theirs.choices(&fresh.create.spec);
        if theirs.is_empty() {
            return Some("its offering is missing".to_owned());
        }
        let strange = theirs.iter().find(|theirs| !ours.iter().any(|ours| ours.choice == theirs.choice));
        if let Some(strange) = strange {
            let choice = &strange.choice;
            return Some(format!(
                "size `{}` in zone `{}`, {}, was not approved for it",
                choice.size, choice.zone, choice.capacity_type
            ));
        }
        let most = approved.claim.price_max;
        let is_dear = |price: Option<MicroUsdPerHour>| match (price, most) {
            (Some(price), Some(most)) => price > most,
            (None, Some(_)) => true,
            (Some(_) | None, None) => false,
        };
        let is_dear = is_dear(fresh.claim.price_max) || theirs.iter().any(|theirs| is_dear(theirs.price_max));
        if is_dear {
            return Some("it would cost more than was approved".to_owned());
        }
        made::claim(approved.claim, fresh.claim).or_else(|| self.made_otherwise(approved, fresh))
    }

    /// Returns the difference between the VMs of two creates.
    fn made_otherwise(&self, approved: &Made<'_>, fresh: &Made<'_>) -> Option<String> {
        let Pair { ours, theirs, .. } = self.pair;
        let launches = (ours.launches.get(&approved.create.spec), theirs.launches.get(&fresh.create.spec));
        let (Some(one), Some(other)) = launches else {
            return Some("its launch settings are missing".to_owned());
        };
        let has_same_first = approved.claim.primary == fresh.claim.primary;
        if let Some(because) = made::launch(one, other, has_same_first) {
            return Some(because);
        }
        other.choices.iter().find_map(|launched| {
            let approved = one.choices.iter().find(|approved| approved.choice == launched.choice)?;
            match (ours.machines.get(&approved.machine), theirs.machines.get(&launched.machine)) {
                (Some(one), Some(other)) => made::machine(one, other),
                _ => Some("its VM is not described".to_owned()),
            }
        })
    }
}
