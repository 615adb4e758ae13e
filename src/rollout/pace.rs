//! Decides which changes may start: checks brakes, disruption budgets, the limit of concurrent drains, and the circuit
//! breaker before each start.
//!
//! The circuit breaker: within ten minutes a pool, and likewise the whole cluster, may lose at most the larger of 10
//! nodes and 20 % of its nodes with workload pods, or the limit in NodeFleet's `safety`. Empty nodes do not count.
//!
//! A replacement node is only created once the node that it replaces may be removed, so there are never more of them
//! than budgets, drains and the circuit breaker allow.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::INITIALIZED;
use super::counted;
use super::ground::Ground;
use super::journal::Removing;
use super::losses::{Broken, Losses};
use super::memory::Memory;
use super::outcome::{Outcome, Standing, Wait, WaitsOn};
use super::remove;
use crate::model::PoolName;
use crate::model::allowance::PoolNodes;
use crate::plan::{Change, ChangeId, Create, Delete};
use crate::review::{ApprovedPlan, Braked, Leaving, LeftOut, Room};
use crate::world::seen::Seen;

/// Whether a change may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// It may start, or has started.
    Now,
    /// Not yet.
    Later(Wait),
    /// Never.
    Ends(Outcome),
}

impl Begin {
    /// Creates a wait for other changes.
    fn behind(what: impl Into<String>) -> Self {
        Self::Later(Wait { what: what.into(), until: None, on: WaitsOn::Change })
    }
}

impl From<Braked> for Wait {
    fn from(Braked { because, until, is_passing }: Braked) -> Self {
        let on = if is_passing { WaitsOn::Turn } else { WaitsOn::Brake };
        Self { what: because, until, on }
    }
}

impl From<Broken> for Wait {
    fn from(Broken { because, until }: Broken) -> Self {
        Self { what: because, until, on: WaitsOn::Turn }
    }
}

/// What changes wait for while no new ones are started.
const STOPPING: &str = "the next apply: this one is stopping";

/// The changes in progress, and the capacity for further ones.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    ground: Ground<'a>,
    /// Number of nodes being removed, by any plan.
    draining: usize,
    /// The nodes of each pool, as its budgets count them.
    nodes: BTreeMap<PoolName, PoolNodes<'a>>,
    losses: Losses<'a>,
    /// Number of new nodes whose pods come from nodes none of which is being removed yet, by pool of the node to
    /// remove.
    coming: BTreeMap<PoolName, usize>,
    /// Removals whose replacement nodes start in this look.
    admitted: BTreeSet<&'a ChangeId>,
    /// Remaining limits, computed on first use.
    room: Option<Room<'a>>,
}

impl<'a> Pace<'a> {
    pub(super) fn of(ground: Ground<'a>) -> Self {
        let claims = ground.world.claims.values();
        let mut pace = Self {
            ground,
            draining: claims.filter(|claim| Removing::of(claim).is_some()).count(),
            nodes: nodes(ground),
            losses: Losses::of(ground),
            coming: BTreeMap::new(),
            admitted: BTreeSet::new(),
            room: None,
        };
        pace.coming = coming_of(ground);
        for (pool, many) in &ground.memory.coming_elsewhere {
            *pace.coming.entry(pool.clone()).or_default() += many;
        }
        pace
    }

    /// Returns what blocks every change of this plan that has not started.
    fn stop(&self) -> Option<Begin> {
        if let Some(because) = self.ground.brakes().stop() {
            return Some(Begin::Later(Wait::held(because)));
        }
        self.ground.memory.is_stopping.then(|| Begin::behind(STOPPING))
    }

    /// Returns the outcome of a change whose NodePool or class has changed since.
    fn changed(&self, id: &ChangeId) -> Option<Begin> {
        let Ground { plan, .. } = self.ground;
        let planned = plan.spec().changes.get(id)?;
        let because = self.ground.brakes().changed(planned, plan.brakes())?;
        Some(Begin::Ends(Outcome::no_longer_holds(because)))
    }

    /// Returns whether a node that does not exist yet may be created.
    pub(super) fn may_create(&mut self, id: &'a ChangeId, create: &Create, is_open: bool) -> Begin {
        if !is_open {
            return Begin::behind("the wave before to end");
        }
        if let Some(kept) = self.stop().or_else(|| self.changed(id)) {
            return kept;
        }
        let Ground { plan, .. } = self.ground;
        let Some(claim) = plan.spec().claims.get(&create.spec) else { return Begin::Now };
        if let Some(braked) = self.ground.brakes().on_create(&claim.pool) {
            return Begin::Later(braked.into());
        }
        match self.needed(id) {
            Begin::Now => {}
            other @ (Begin::Later(_) | Begin::Ends(_)) => return other,
        }
        let Some(capacity) = counted::planned(plan, id) else { return Begin::Now };
        let ground = self.ground;
        let room = self.room.get_or_insert_with(|| counted::room(ground));
        match room.take(&claim.pool, capacity) {
            Ok(()) => Begin::Now,
            Err(because) => Begin::Later(Wait::held(because)),
        }
    }

    /// Returns whether a node may be updated in place.
    pub(super) fn may_update(&self, id: &ChangeId, pool: Option<&PoolName>, is_open: bool) -> Begin {
        if !is_open {
            return Begin::behind("the wave before to end");
        }
        let hold = |pool| self.ground.brakes().on_update(pool, self.ground.world.at);
        let braked = || Some(Begin::Later(hold(pool?)?.into()));
        self.stop().or_else(|| self.changed(id)).or_else(braked).unwrap_or(Begin::Now)
    }

    /// Returns whether a new node is needed because a node whose pods it takes is being removed or may be. A node that
    /// replaces none is for pending pods.
    fn needed(&mut self, create: &ChangeId) -> Begin {
        let served = self.ground.plan.serves(create);
        let (mut waits, mut stays) = (None, None);
        for removal in served {
            if goes(self.ground, removal) || self.admitted.contains(removal) {
                return Begin::Now;
            }
            match self.admit(removal) {
                Begin::Now => return Begin::Now,
                Begin::Later(wait) => waits = waits.or(Some(wait)),
                Begin::Ends(Outcome::Done | Outcome::AlreadySo) => return Begin::Now,
                Begin::Ends(outcome) => stays = stays.or(Some(outcome)),
            }
        }
        match (waits, stays) {
            (Some(wait), _) => Begin::Later(wait),
            (None, Some(outcome)) => {
                let because = format!("its pods stay where they are: {outcome}");
                Begin::Ends(Outcome::NoLongerNeeded { because: because.into() })
            }
            (None, None) => Begin::Now,
        }
    }

    /// Returns whether the replacement nodes of a removal may be created.
    fn admit(&mut self, id: &'a ChangeId) -> Begin {
        let ground = self.ground;
        if let Some(outcome) = ending(ground, id) {
            return Begin::Ends(outcome);
        }
        if let Some(LeftOut::Waits(because)) = ground.plan.left_out().get(id) {
            return Begin::Later(Wait::held(&**because));
        }
        let Some(delete) = removal(ground, id) else { return Begin::Now };
        let after = ground.execution().removals.get(id).map_or(&[][..], |removal| &removal.after);
        let creates =
            after.iter().filter_map(|id| Some((id, ground.spec().changes.get(id)?.change.create()?)));
        let (come, missing): (Vec<_>, Vec<_>) =
            creates.partition(|(id, create)| comes(self.ground, id, create));
        if come.is_empty()
            && let Some(wait) = self.kept(delete, missing.len())
        {
            return Begin::Later(wait);
        }
        if let Some(changed) = self.changed(id) {
            return changed;
        }
        // An outdated removal needs no replacement.
        if let Standing::Settled(outcome) = remove::remove(ground, id, delete, &Ok(self.is_empty(delete))) {
            return Begin::Ends(outcome);
        }
        self.admitted.insert(id);
        if let Some(pool) = delete.target.pool.as_ref().filter(|_| come.is_empty()) {
            *self.coming.entry(pool.clone()).or_default() += missing.len();
        }
        Begin::Now
    }

    /// Returns what blocks a node's removal if `more` replacement nodes are created in addition to existing ones;
    /// `more` is 0 if the removal itself is about to start.
    fn kept(&self, delete: &Delete, more: usize) -> Option<Wait> {
        let target = &delete.target;
        let (of_pool, all) = match (more, &target.pool) {
            (0, _) | (_, None) => (0, 0),
            (_, Some(pool)) => {
                (self.coming.get(pool).copied().unwrap_or(0), self.coming.values().sum::<usize>())
            }
        };
        if let Some(pool) = &target.pool {
            let nodes = self.nodes.get(pool).cloned();
            let nodes = nodes.unwrap_or(PoolNodes { joined: 0, leaving: 0, not_ready: BTreeSet::new() });
            let out = nodes.leaving + of_pool;
            // If no other node is unavailable, one node may be removed, however many replace it.
            let leaving = if out == 0 { 0 } else { out + more.saturating_sub(1) };
            let asked = Leaving { pool, node: &target.node, reason: delete.reason };
            let nodes = PoolNodes { leaving, ..nodes };
            let (brakes, at) = (self.ground.brakes(), self.ground.world.at);
            if let Some(braked) = brakes.on_removal(asked, &nodes, at) {
                return Some(braked.into());
            }
        }
        if self.draining + all >= self.ground.plan.parallelism() {
            let what = format!("{} nodes to drain", self.draining + all);
            return Some(Wait { what, until: None, on: WaitsOn::Turn });
        }
        self.losses.broken((target.pool.as_ref(), &target.node), (of_pool, all)).map(Wait::from)
    }

    /// Returns whether a removal may start, given the standings of earlier changes.
    pub(super) fn may_delete(
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
                    let because = format!("{name}, planned for its pods: {outcome}");
                    return Begin::Ends(Outcome::Withheld { because: because.into() });
                }
                Some(None) | None => {
                    waits = waits.or(Some(format!("{name}, which takes its pods")));
                }
            }
        }
        if let Some(waits) = waits {
            return Begin::behind(waits);
        }
        if !is_open {
            return Begin::behind("the wave before to end");
        }
        let is_half_done = ground.memory.finishing.contains(id) && ground.brakes().stop().is_none();
        let stop = self.stop().filter(|_| !is_half_done);
        let kept = || self.kept(delete, 0).map(Begin::Later);
        stop.or_else(|| self.changed(id)).or_else(kept).unwrap_or(Begin::Now)
    }

    /// Returns whether the node of a removal has no workload pods.
    pub(super) fn is_empty(&self, delete: &Delete) -> bool {
        !self.losses.is_full(&delete.target.node)
    }

    /// Counts a removal that starts, so that it affects the next one.
    pub(super) fn begins(&mut self, delete: &Delete) {
        let claim = delete.target.claim.as_ref().and_then(|claim| self.ground.world.claims.get(claim));
        if claim.and_then(Removing::of).is_some() {
            return;
        }
        self.draining += 1;
        let (pool, node) = (delete.target.pool.as_ref(), &delete.target.node);
        if let Some(nodes) = pool.and_then(|pool| self.nodes.get_mut(pool)) {
            nodes.leaving += 1;
            nodes.not_ready.remove(node);
        }
        self.losses.begins((pool, node), self.ground.world.at);
    }

    fn name(&self, create: &ChangeId) -> String {
        match self.ground.spec().changes.get(create).map(|planned| &planned.change) {
            Some(Change::Create(create)) => format!("node `{}`", create.vm),
            Some(_) | None => format!("change `{create}`"),
        }
    }
}

/// Returns the number of a plan's nodes that exist or are being created and whose pods come from nodes none of which is
/// being removed yet, by pool of the node to remove.
#[must_use]
pub fn coming(plan: &ApprovedPlan, seen: &Seen, memory: &Memory) -> BTreeMap<PoolName, usize> {
    seen.whole().map(|world| coming_of(Ground { plan, world, memory })).unwrap_or_default()
}

fn coming_of(ground: Ground<'_>) -> BTreeMap<PoolName, usize> {
    let mut coming = BTreeMap::new();
    for (id, create, _) in ground.spec().creates() {
        let served = ground.plan.serves(id);
        if !comes(ground, id, create) || served.iter().any(|id| goes(ground, id)) {
            continue;
        }
        let mut open = served.iter().filter(|id| ending(ground, id).is_none());
        let pool = open.next().and_then(|id| removal(ground, id)?.target.pool.clone());
        pool.into_iter().for_each(|pool| *coming.entry(pool).or_default() += 1);
    }
    coming
}

/// Returns whether the node of a create exists or is being created.
fn comes(ground: Ground<'_>, id: &ChangeId, create: &Create) -> bool {
    match ground.memory.recorded.get(id) {
        Some(outcome) => outcome.is_so(),
        None => ground.world.claims.contains_key(&create.claim),
    }
}

fn removal<'a>(ground: Ground<'a>, id: &ChangeId) -> Option<&'a Delete> {
    ground.spec().changes.get(id)?.change.delete()
}

/// Returns whether a removal has started.
fn goes(ground: Ground<'_>, id: &ChangeId) -> bool {
    removal(ground, id).is_some_and(|delete| remove::begun(ground, id, delete).is_some())
}

/// Returns the outcome of a removal that has not started, if it is known without evaluating it.
fn ending(ground: Ground<'_>, id: &ChangeId) -> Option<Outcome> {
    let known = ground.memory.recorded.get(id).cloned();
    known.or_else(|| ground.plan.left_out().get(id).and_then(Outcome::of_left_out))
}

/// Returns the nodes of each pool, as budgets count them: all joined nodes, including those being removed.
fn nodes(ground: Ground<'_>) -> BTreeMap<PoolName, PoolNodes<'_>> {
    let mut pools: BTreeMap<PoolName, PoolNodes<'_>> = BTreeMap::new();
    for claim in ground.world.claims.values() {
        let Some(pool) = &claim.pool else { continue };
        let empty = || PoolNodes { joined: 0, leaving: 0, not_ready: BTreeSet::new() };
        let nodes = pools.entry(pool.clone()).or_insert_with(empty);
        let is_leaving = claim.deleting_since.is_some() || Removing::of(claim).is_some();
        nodes.leaving += usize::from(is_leaving);
        if !claim.is(INITIALIZED) {
            continue;
        }
        nodes.joined += 1;
        let node = claim.node.as_ref().filter(|_| !is_leaving);
        let is_ready = |name| ground.world.nodes.get(name).is_some_and(|node| node.is_ready);
        nodes.not_ready.extend(node.filter(|name| !is_ready(*name)));
    }
    pools
}
