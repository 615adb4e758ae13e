//! What may begin: brakes, disruption budgets, drains in total, and the breaker, asked before each start.
//!
//! The breaker: a pool, and the whole cluster once more, may lose at most the larger of 10 and 20 % of the nodes that carry
//! pods of workloads within ten minutes, or what NodeFleet's `safety` says. Empty nodes do not count.
//!
//! A node that takes the pods of one that goes is made when that one may go: there are never more of them than budgets,
//! drains and breaker let go.

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

/// Whether a change may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// It may, or has begun.
    Now,
    /// Not yet.
    Later(Wait),
    /// Never.
    Ends(Outcome),
}

impl Begin {
    /// It waits for other changes.
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

/// What is said of changes that nothing new is begun of.
const STOPPING: &str = "the next apply: this one is stopping";

/// What is under way, and what may begin beside it.
#[derive(Debug)]
pub(super) struct Pace<'a> {
    ground: Ground<'a>,
    /// How many nodes are on their way out, by whatever plan.
    draining: usize,
    /// The nodes of each pool, as its budgets count them.
    nodes: BTreeMap<PoolName, PoolNodes<'a>>,
    losses: Losses<'a>,
    /// How many nodes come that take the pods of others, none of which goes yet: by pool of the one that is to go.
    coming: BTreeMap<PoolName, usize>,
    /// The removals whose pods' new nodes begin at this look.
    admitted: BTreeSet<&'a ChangeId>,
    /// What limits leave, counted when it is first asked for.
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

    /// What keeps every change of this plan that has not begun.
    fn stop(&self) -> Option<Begin> {
        if let Some(because) = self.ground.brakes().stop() {
            return Some(Begin::Later(Wait::held(because)));
        }
        self.ground.memory.is_stopping.then(|| Begin::behind(STOPPING))
    }

    /// How a change ends whose NodePool or class says something else by now.
    fn changed(&self, id: &ChangeId) -> Option<Begin> {
        let Ground { plan, .. } = self.ground;
        let planned = plan.spec().changes.get(id)?;
        let because = self.ground.brakes().changed(planned, plan.brakes())?;
        Some(Begin::Ends(Outcome::no_longer_holds(because)))
    }

    /// Whether a node may be made that is not yet.
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

    /// Whether a node may be changed in place.
    pub(super) fn may_update(&self, id: &ChangeId, pool: Option<&PoolName>, is_open: bool) -> Begin {
        if !is_open {
            return Begin::behind("the wave before to end");
        }
        let hold = |pool| self.ground.brakes().on_update(pool, self.ground.world.at);
        let braked = || Some(Begin::Later(hold(pool?)?.into()));
        self.stop().or_else(|| self.changed(id)).or_else(braked).unwrap_or(Begin::Now)
    }

    /// Whether one of the nodes goes, or may go, whose pods a new node takes. One that serves none is for pods that wait.
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

    /// Whether a removal may have the nodes made that take its pods.
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
        // What does not hold any more needs no other node.
        if let Standing::Settled(outcome) = remove::remove(ground, id, delete, &Ok(self.is_empty(delete))) {
            return Begin::Ends(outcome);
        }
        self.admitted.insert(id);
        if let Some(pool) = delete.target.pool.as_ref().filter(|_| come.is_empty()) {
            *self.coming.entry(pool.clone()).or_default() += missing.len();
        }
        Begin::Now
    }

    /// What keeps a node from going, with so many others made for its pods beside those that are made already; 0 where it
    /// is about to go itself.
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
            // Where nothing else is out, one node goes, however many take its pods.
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

    /// Whether a removal may begin, given where the changes before it stand.
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

    /// Whether the node of a removal carries no pods of workloads.
    pub(super) fn is_empty(&self, delete: &Delete) -> bool {
        !self.losses.is_full(&delete.target.node)
    }

    /// Counts a removal that begins, so that the next one sees it.
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

/// Returns how many nodes of a plan come, or have come, that take the pods of others, none of which goes yet: by the pool of
/// the one that is to go.
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

/// Whether the node of a create comes, or has come.
fn comes(ground: Ground<'_>, id: &ChangeId, create: &Create) -> bool {
    match ground.memory.recorded.get(id) {
        Some(outcome) => outcome.is_so(),
        None => ground.world.claims.contains_key(&create.claim),
    }
}

fn removal<'a>(ground: Ground<'a>, id: &ChangeId) -> Option<&'a Delete> {
    ground.spec().changes.get(id)?.change.delete()
}

/// Whether a removal has begun.
fn goes(ground: Ground<'_>, id: &ChangeId) -> bool {
    removal(ground, id).is_some_and(|delete| remove::begun(ground, id, delete).is_some())
}

/// How a removal that has not begun is known to end without being looked at.
fn ending(ground: Ground<'_>, id: &ChangeId) -> Option<Outcome> {
    let known = ground.memory.recorded.get(id).cloned();
    known.or_else(|| ground.plan.left_out().get(id).and_then(Outcome::of_left_out))
}

/// The nodes of each pool, as budgets count them: of all that have joined, those that go among them.
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
