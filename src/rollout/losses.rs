//! Recently removed nodes with pods, by time: the input of the circuit breaker.
//!
//! Losses are read from removal marks, and from records of those whose NodeClaims are gone. So a deleted node still
//! counts, and neither another plan nor a restart forgets it. Nodes without workload pods do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::ground::Ground;
use super::journal::Removing;
use super::memory::Memory;
use crate::model::{ClaimName, NodeName, PoolName, Safety};
use crate::world::seen::SeenClaim;

/// Window in which losses are counted together, in the cloud's clock.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// Maximum delay of a removal after the time in its mark, which is that of the preceding look.
const LATE: SignedDuration = SignedDuration::from_secs(5);

/// Returns how long a loss counts, in local time.
pub(super) fn window(memory: &Memory) -> SignedDuration {
    memory.wait(WINDOW).saturating_add(LATE)
}

/// A node with pods that was or is being removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// Start of its removal.
    pub at: Timestamp,
    /// Its NodeClaim.
    pub claim: ClaimName,
    /// Its NodePool.
    pub pool: Option<PoolName>,
    /// Id of the plan that removed it.
    pub plan: Arc<str>,
}

impl Loss {
    /// Returns the losses from the removal marks of NodeClaims.
    pub(super) fn of(claims: &BTreeMap<ClaimName, SeenClaim>) -> impl Iterator<Item = Self> + '_ {
        claims.iter().filter_map(|(name, claim)| {
            let Removing { plan, since, is_empty, .. } = Removing::of(claim)?;
            let loss = Self { at: since, claim: name.clone(), pool: claim.pool.clone(), plan };
            (!is_empty).then_some(loss)
        })
    }

    /// Returns whether the NodeClaim exists and its removal was cancelled. A newer claim of the same name does not
    /// count.
    pub(super) fn is_taken_back(&self, claims: &BTreeMap<ClaimName, SeenClaim>) -> bool {
        let claim = claims.get(&self.claim).filter(|claim| Removing::of(claim).is_none());
        claim.and_then(|claim| claim.created).is_some_and(|created| created <= self.at)
    }
}

/// The losses of a pool or of the cluster.
#[derive(Debug, Default)]
struct Tally {
    /// Times of the losses, oldest first.
    lost: Vec<Timestamp>,
    /// Number of nodes with pods, lost ones included.
    full: usize,
}

/// Why no more nodes may be lost now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// The reason, for users.
    pub(super) because: String,
    /// Time when the next node may be removed.
    pub(super) until: Option<Timestamp>,
}

/// The losses of the last ten minutes.
#[derive(Debug)]
pub(super) struct Losses<'a> {
    pools: BTreeMap<PoolName, Tally>,
    fleet: Tally,
    full_nodes: BTreeSet<&'a NodeName>,
    window: SignedDuration,
    safety: Safety,
}

impl<'a> Losses<'a> {
    /// Counts the losses.
    pub(super) fn of(ground: Ground<'a>) -> Self {
        let of_workloads = ground.world.pods.iter().filter(|pod| pod.is_of_workload());
        let mut losses = Self {
            pools: BTreeMap::new(),
            fleet: Tally::default(),
            full_nodes: of_workloads.map(|pod| &pod.node).collect(),
            window: window(ground.memory),
            safety: ground.brakes().safety(),
        };
        let known = ground.memory.losses.iter().cloned().chain(Loss::of(ground.world.claims));
        let is_recent = |loss: &Loss| ground.world.at.duration_since(loss.at) < losses.window;
        let recent: BTreeSet<Loss> = known.filter(is_recent).collect();
        let going: BTreeSet<&ClaimName> = recent.iter().map(|loss| &loss.claim).collect();
        for (name, claim) in ground.world.claims {
            let is_full = claim.node.as_ref().is_some_and(|node| losses.full_nodes.contains(node));
            if is_full && !going.contains(name) {
                losses.tallies(claim.pool.as_ref(), |tally| tally.full += 1);
            }
        }
        for loss in &recent {
            losses.tallies(loss.pool.as_ref(), |tally| {
                tally.full += 1;
                tally.lost.push(loss.at);
            });
        }
        losses
    }

    fn tallies(&mut self, pool: Option<&PoolName>, mut change: impl FnMut(&mut Tally)) {
        change(&mut self.fleet);
        pool.into_iter().for_each(|pool| change(self.pools.entry(pool.clone()).or_default()));
    }

    /// Returns whether a node has workload pods.
    pub(super) fn is_full(&self, node: &NodeName) -> bool {
        self.full_nodes.contains(node)
    }

    /// Returns why a node may not be removed now, in addition to the nodes of its pool and of the cluster that are
    /// about to be.
    pub(super) fn broken(
        &self,
        (pool, node): (Option<&PoolName>, &NodeName),
        (of_pool, of_all): (usize, usize),
    ) -> Option<Broken> {
        if !self.is_full(node) {
            return None;
        }
        let pool = pool.and_then(|pool| Some((format!("pool `{pool}`"), self.pools.get(pool)?, of_pool)));
        let mut all = pool.into_iter().chain([("the cluster".to_owned(), &self.fleet, of_all)]);
        all.find_map(|(who, Tally { lost, full }, coming)| {
            let most = self.safety.max_loss(*full);
            let over = (lost.len() + coming).checked_sub(most)?;
            let until = lost.get(over).and_then(|first| first.checked_add(self.window).ok());
            let lost = lost.len();
            let because =
                format!("{who}, which has lost {lost} nodes with pods in ten minutes and may lose {most}");
            Some(Broken { because, until })
        })
    }

    /// Counts a node whose removal starts.
    pub(super) fn begins(&mut self, (pool, node): (Option<&PoolName>, &NodeName), at: Timestamp) {
        if self.is_full(node) {
            self.tallies(pool, |tally| tally.lost.push(at));
        }
    }
}
