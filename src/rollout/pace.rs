//! How many removals may be under way: the parallelism that was asked for, what each waits for, and the one breaker.
//!
//! The breaker: a pool may lose at most the larger of 10 and 20 % of its nodes that carry pods of workloads within ten
//! minutes, or what NodeFleet's `safety` says. Empty nodes do not count.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use super::ground::Ground;
use super::journal::Removing;
use super::outcome::{Standing, WaitsOn};
use super::remove;
use crate::model::{NodeName, PoolName};
use crate::plan::{Change, ChangeId, Delete};

/// The time in which losses are counted together.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// Whether a removal may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// It may, or has begun.
    Now,
    /// Not yet.
    Later(Later),
    /// Never: what it waits for failed.
    Withheld(String),
}

/// Why a removal may not begin yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Later {
    /// Why, for people.
    pub(super) because: String,
    /// On what it waits.
    pub(super) on: WaitsOn,
}

impl Later {
    /// It waits for other changes.
    fn behind(because: impl Into<String>) -> Begin {
        Begin::Later(Self { because: because.into(), on: WaitsOn::Change })
    }
}

/// The removals under way.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    ground: Ground<'a>,
    /// How many are under way.
    draining: usize,
    /// How many nodes with pods each pool has lost, or is losing, of late.
    lost: BTreeMap<PoolName, usize>,
    /// How many nodes with pods each pool has.
    full: BTreeMap<PoolName, usize>,
    /// The nodes with pods of workloads.
    full_nodes: BTreeSet<&'a NodeName>,
}

impl<'a> Pace<'a> {
    pub(super) fn of(ground: Ground<'a>) -> Self {
        let of_workloads = ground.world.pods.iter().filter(|pod| pod.is_of_workload());
        let full_nodes = of_workloads.map(|pod| &pod.node).collect();
        let mut pace = Self { ground, draining: 0, lost: BTreeMap::new(), full: BTreeMap::new(), full_nodes };
        for claim in ground.world.claims.values() {
            let Some(pool) = &claim.pool else { continue };
            let is_full = claim.node.as_ref().is_some_and(|node| pace.is_full(node));
            let since = Removing::of(claim).map(|begun| begun.since);
            let window = ground.memory.wait(WINDOW);
            let is_recent = since.is_some_and(|since| ground.world.at.duration_since(since) < window);
            if is_full || is_recent {
                *pace.full.entry(pool.clone()).or_default() += 1;
            }
            if is_recent {
                *pace.lost.entry(pool.clone()).or_default() += 1;
            }
        }
        let deletes = ground.spec().deletes();
        pace.draining = deletes.filter(|(id, delete)| remove::begun(ground, id, delete).is_some()).count();
        pace
    }

    fn is_full(&self, node: &NodeName) -> bool {
        self.full_nodes.contains(node)
    }

    /// Whether a removal may begin, given where the changes before it stand.
    pub(super) fn may_begin(
        &self,
        id: &ChangeId,
        delete: &Delete,
        is_open: bool,
        so_far: &BTreeMap<ChangeId, Standing>,
    ) -> Begin {
        let ground = self.ground;
        if remove::begun(ground, id, delete).is_some() || ground.memory.recorded.contains_key(id) {
            return Begin::Now;
        }
        let after = ground.execution().removals.get(id).map_or(&[][..], |removal| &removal.after);
        let mut waits = None;
        for create in after {
            let name = self.name(create);
            match so_far.get(create).map(Standing::outcome) {
                Some(Some(outcome)) if outcome.is_so() => {}
                Some(Some(outcome)) => {
                    return Begin::Withheld(format!("{name}, which was to take its pods: {outcome}"));
                }
                Some(None) | None => {
                    waits = waits.or(Some(format!("{name}, which takes its pods")));
                }
            }
        }
        if let Some(waits) = waits {
            return Later::behind(waits);
        }
        if !is_open {
            return Later::behind("the wave before to end");
        }
        if ground.memory.is_stopping {
            return Later::behind("the next apply: this one is stopping");
        }
        if self.draining >= ground.plan.parallelism() {
            return Later::behind(format!("{} nodes to drain", self.draining));
        }
        match self.breaks(delete) {
            Some(because) => Begin::Later(Later { because, on: WaitsOn::World }),
            None => Begin::Now,
        }
    }

    /// Why the breaker holds a removal.
    fn breaks(&self, delete: &Delete) -> Option<String> {
        let pool = delete.target.pool.as_ref()?;
        if !self.is_full(&delete.target.node) {
            return None;
        }
        let (lost, full) =
            (self.lost.get(pool).copied().unwrap_or(0), self.full.get(pool).copied().unwrap_or(0));
        let most = self.ground.plan.safety().max_loss(full);
        (lost >= most).then(|| {
            format!("pool `{pool}`, which has lost {lost} nodes with pods in ten minutes, as many as it may")
        })
    }

    /// Counts a removal that begins, so that the next one sees it.
    pub(super) fn begins(&mut self, delete: &Delete) {
        let claim = delete.target.claim.as_ref().and_then(|claim| self.ground.world.claims.get(claim));
        if claim.and_then(Removing::of).is_some() {
            return;
        }
        self.draining += 1;
        if let Some(pool) = delete.target.pool.as_ref().filter(|_| self.is_full(&delete.target.node)) {
            *self.lost.entry(pool.clone()).or_default() += 1;
        }
    }

    fn name(&self, create: &ChangeId) -> String {
        match self.ground.spec().changes.get(create).map(|planned| &planned.change) {
            Some(Change::Create(create)) => format!("node `{}`", create.vm),
            Some(_) | None => format!("change `{create}`"),
        }
    }
}
