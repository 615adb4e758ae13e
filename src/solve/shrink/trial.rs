//! Plans the fleet without a set of nodes: as usual, with these nodes treated as being deleted.
//!
//! Never chooses nodes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::eviction::Evictions;
use crate::model::{MicroUsdPerHour, Node, NodeName, NodeStage, Pod, PodKey, PodPlace, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::attempt::{self, Approach, Attempt, Ground};
use crate::solve::capped::Capped;
use crate::solve::daemons::Daemons;
use crate::solve::demand::{Demand, Roster};
use crate::solve::existing::Standing;
use crate::solve::headroom;
use crate::solve::impossible::Impossible;
use crate::solve::ledger;
use crate::solve::market::Market;
use crate::solve::memo::{Memo, Memos};
use crate::solve::overruled;
use crate::solve::pack::{Appraisal, Effort};
use crate::solve::price::PriceBook;
use crate::solve::report::nearest::{self, World};
use crate::solve::rival;
use crate::solve::solution::NewNode;
use crate::solve::supply::Supply;
use crate::solve::topology::Topology;
use crate::solve::topology::assign::Assigned;

use super::candidate::Rules;
use super::needed::{self, Needs};
use super::{balanced, whole};

/// Maximum number of pods with which Karpenter's placement is tried for every set: with few pods, each one matters.
const RIVAL_PODS_MAX: usize = 40;

/// Inputs that are the same for every set of nodes.
pub(in crate::solve) struct Scene<'a> {
    pub(in crate::solve) policy: &'a Policy,
    pub(in crate::solve) market: &'a Market,
    pub(in crate::solve) book: &'a PriceBook<'a>,
    pub(in crate::solve) topology: &'a Topology,
    pub(in crate::solve) supply: &'a Supply<'a>,
    pub(in crate::solve) memo: &'a Memo,
    /// Caches for other supplies.
    pub(in crate::solve) memos: &'a Memos,
    pub(in crate::solve) daemons: &'a Daemons<'a>,
    /// The pools whose budgets allow an underutilized node to be removed now.
    pub(in crate::solve) lets_go: &'a BTreeSet<PoolName>,
    /// The nodes that are empty in the real world and are kept for that, whatever an imagined world places on them.
    pub(in crate::solve) stuck: &'a BTreeSet<NodeName>,
    /// The nodes that are to be removed for other reasons than cost.
    pub(in crate::solve) asked: &'a BTreeSet<NodeName>,
    /// The evictions that are allowed in the real world, whatever an imagined world changes.
    pub(in crate::solve) evictions: &'a Evictions<'a>,
    /// The headroom for future pods.
    pub(in crate::solve) room: &'a Demand,
    /// The extra capacity for a scheduler that spreads pods in its own way.
    pub(in crate::solve) slack: &'a Demand,
    /// The pods that nothing could hold; no planned world contains them.
    pub(in crate::solve) impossible: &'a Impossible<'a>,
    /// The pods beyond the number that limits could allow; no planned world contains them.
    pub(in crate::solve) capped: &'a Capped,
    /// Required affinity between pods.
    pub(in crate::solve) needs: &'a Needs,
    /// Whether approaches other than the plain one are tried.
    pub(in crate::solve) looks_further: bool,
}

impl<'a> Scene<'a> {
    /// Returns the inputs that decide which nodes may be removed.
    pub(super) fn rules(&self) -> Rules<'a> {
        let Self { policy, market, book, lets_go, stuck, evictions, room, .. } = *self;
        Rules { policy, market, book, lets_go, stuck, evictions, room }
    }

    /// Returns the inputs for planning a world with this demand and these nodes.
    pub(in crate::solve) fn ground<'g>(
        &self,
        snapshot: &'g Snapshot,
        (demand, nodes): (&'g Demand, &'g [Standing<'g>]),
        effort: Effort<'g>,
    ) -> Ground<'g>
    where
        'a: 'g,
    {
        let Self { policy, market, book, topology, supply, memo, slack, looks_further, .. } = *self;
        let looks_further = looks_further && effort.is_plan();
        Ground {
            snapshot,
            policy,
            market,
            book,
            topology,
            demand,
            supply,
            memo,
            slack,
            nodes,
            effort,
            approach: Approach::PLAIN,
            looks_further,
        }
    }
}

/// The fleet without a set of nodes.
pub(super) struct Trial {
    /// Number of unplaced pods by priority.
    pub(super) unplaced: BTreeMap<i32, usize>,
    /// Number of placeholders of each shape for which there is no headroom.
    pub(super) without_room: Vec<usize>,
    /// The existing nodes that hold headroom.
    pub(super) keeping: BTreeSet<NodeName>,
    /// Whether the cost is known.
    pub(super) is_priced: bool,
    /// Hourly cost of the fleet once the nodes are removed, including the premiums of new nodes.
    pub(super) cost: MicroUsdPerHour,
    /// List price of the VMs, if a pool measures by it.
    pub(super) vms: i64,
    /// The nodes to create.
    pub(super) new: Vec<NewNode>,
    /// Number of new nodes of lighter pools than their pods could have once the set is removed.
    pub(super) overruled: usize,
    /// Nodes of the set, and due nodes, with a pod that is not placed or is placed on a node that is not initialized
    /// yet.
    pub(super) stranded: BTreeSet<NodeName>,
    /// Nodes of the set with pods that kept pods require beside them.
    pub(super) needed: BTreeSet<NodeName>,
    /// Pending and moved pods that are placed on kept nodes.
    pub(super) placed: BTreeMap<NodeName, Vec<PodKey>>,
}

/// Marks the nodes of the set as being deleted, and none of the others.
pub(in crate::solve) fn marked<'s>(
    snapshot: &'s Snapshot,
    leaving: &BTreeSet<NodeName>,
) -> Cow<'s, Snapshot> {
    if leaving.is_empty() {
        return Cow::Borrowed(snapshot);
    }
    let mut shadow = snapshot.clone();
    for node in &mut shadow.nodes {
        node.is_deleting |= leaving.contains(&node.name);
    }
    Cow::Owned(shadow)
}

/// A world that can be planned repeatedly without different sets of nodes.
pub(super) struct Stage<'s> {
    shadow: Snapshot,
    /// The nodes that are being deleted regardless of the set.
    gone: BTreeSet<NodeName>,
    /// The pods that may need a node.
    roster: Arc<Roster<'s>>,
    /// The state of each node before a trial, with the node's index.
    standing: Vec<(usize, Standing<'s>)>,
    /// Dual prices of pods from an earlier run, if known.
    appraisal: Option<Arc<Appraisal>>,
}

impl<'s> Stage<'s> {
    /// Creates a stage; `standing` and `roster` were read from the snapshot.
    pub(super) fn of(
        snapshot: &'s Snapshot,
        (standing, roster): (&[Standing<'s>], &Arc<Roster<'s>>),
    ) -> Self {
        let gone = snapshot.nodes.iter().filter(|node| node.is_deleting).map(|node| node.name.clone());
        let places: BTreeMap<&NodeName, usize> =
            snapshot.nodes.iter().enumerate().map(|(place, node)| (&node.name, place)).collect();
        let placed = |standing: &Standing<'s>| (places[&standing.node.name], standing.clone());
        Self {
            gone: gone.collect(),
            roster: roster.clone(),
            shadow: snapshot.clone(),
            standing: standing.iter().map(placed).collect(),
            appraisal: None,
        }
    }

    /// Uses known dual prices of pods.
    pub(super) fn with(self, appraisal: &Arc<Appraisal>) -> Self {
        Self { appraisal: Some(appraisal.clone()), ..self }
    }

    /// Returns the dual prices of pods if all these nodes are removed.
    pub(super) fn appraised(&mut self, scene: &Scene<'_>, leaving: &BTreeSet<NodeName>) -> Appraisal {
        self.mark(leaving);
        let demand = self.roster.demand(|node| self.shadow.nodes[node].is_deleting);
        scene.ground(&self.shadow, (&demand, &[]), Effort::Comparison(None)).appraised()
    }

    /// Marks the nodes of the set as being deleted, and none of the others.
    fn mark(&mut self, leaving: &BTreeSet<NodeName>) {
        for node in &mut self.shadow.nodes {
            node.is_deleting = leaving.contains(&node.name) || self.gone.contains(&node.name);
        }
    }

    /// Plans without these nodes.
    pub(super) fn trial(&mut self, scene: &Scene<'_>, leaving: &BTreeSet<NodeName>) -> Trial {
        self.mark(leaving);
        let (demand, nodes) = (self.demand(), self.nodes());
        let effort = Effort::Comparison(self.appraisal.as_deref());
        trial((scene, effort), &self.shadow, (&demand, &nodes), leaving)
    }

    /// Returns, for each removed node, the limit that keeps the first of its pods from being placed, if a limit does.
    pub(super) fn limited(
        &mut self,
        scene: &Scene<'_>,
        leaving: &BTreeSet<NodeName>,
    ) -> BTreeMap<NodeName, String> {
        let mut limited = BTreeMap::new();
        if !ledger::has_limits(scene.market.limiting(scene.policy)) {
            return limited;
        }
        self.mark(leaving);
        let (demand, nodes) = (self.demand(), self.nodes());
        let effort = Effort::Comparison(self.appraisal.as_deref());
        let Attempt { assigned, nodes, finished, .. } =
            attempt::best(&scene.ground(&self.shadow, (&demand, &nodes), effort));
        let Assigned { demand, .. } = &assigned;
        let (supply, ledger) = (scene.supply, &finished.ledger);
        let world = World { snapshot: &self.shadow, demand, supply, nodes: &nodes, ledger };
        let on = |pod: &'_ Pod| match &pod.place {
            PodPlace::Bound(node) => leaving.get(node).cloned(),
            PodPlace::Waiting => None,
        };
        let there: BTreeMap<&PodKey, NodeName> =
            self.shadow.pods.iter().filter_map(|pod| Some((&pod.key, on(pod)?))).collect();
        for (shape, pod) in &finished.unplaced {
            if let Some(node) = there.get(pod).filter(|node| !limited.contains_key(*node)) {
                let because = nearest::limited(&world, &demand.shapes[*shape]);
                limited.extend(because.map(|because| (node.clone(), because)));
            }
        }
        limited
    }

    /// Returns the pods that need a node when the marked nodes are removed.
    fn demand(&self) -> Demand {
        self.roster.demand(|node| self.shadow.nodes[node].is_deleting)
    }

    /// Returns the state of the nodes, with their current marks.
    fn nodes(&self) -> Vec<Standing<'_>> {
        let marked = |(place, standing): &(usize, Standing<'s>)| Standing {
            node: &self.shadow.nodes[*place],
            ..standing.clone()
        };
        self.standing.iter().map(marked).collect()
    }
}

fn trial(
    (scene, effort): (&Scene<'_>, Effort<'_>),
    shadow: &Snapshot,
    (demand, nodes): (&Demand, &[Standing<'_>]),
    leaving: &BTreeSet<NodeName>,
) -> Trial {
    let ground = scene.ground(shadow, (demand, nodes), effort);
    let mut attempt = attempt::best(&ground);
    if scene.looks_further && demand.pods() <= RIVAL_PODS_MAX {
        attempt = rival::or_in_zones(&Ground { looks_further: true, ..ground }, attempt);
    }
    let unplaced = attempt::unplaced(demand, &attempt);
    let lost = stranded(shadow, (leaving, scene.asked), &attempt, demand);
    let overruled = overruled(scene, shadow, &attempt);
    let placed = &needed::placed(&attempt.nodes);
    let needed = scene.needs.nodes((shadow, leaving), scene.supply, (placed, &attempt.finished.nodes));
    let layout = headroom::layout::lay(scene, (shadow, ground.effort), &mut attempt);
    let Attempt { nodes, shrunk, costs, finished, .. } = attempt;
    let empty: BTreeSet<&NodeName> = shrunk.removed.iter().map(|removal| &removal.node).collect();
    let stays = |standing: &&Standing<'_>| !standing.node.is_deleting && !empty.contains(&standing.node.name);
    let prices = (scene.policy, scene.market, scene.supply);
    let vms = balanced::vms(prices, nodes.iter().filter(stays), &finished.nodes);
    let cost = costs.with_new(&finished.nodes, &finished.ledger, scene.book).1.effective;
    let premiums: MicroUsdPerHour = finished.nodes.iter().map(|node| node.premium).sum();
    let placed = nodes.into_iter().filter(|standing| !standing.placed.is_empty());
    Trial {
        unplaced,
        without_room: layout.left,
        keeping: layout.kept.into_keys().collect(),
        is_priced: finished.nodes.iter().all(|node| node.effective_price.known().is_some()),
        cost: cost + premiums,
        vms,
        new: finished.nodes,
        overruled,
        stranded: lost,
        needed,
        placed: placed.map(|standing| (standing.node.name.clone(), standing.placed)).collect(),
    }
}

/// Counts new nodes of lighter pools whose pod a heavier pool can take once the removed nodes are gone: the next plan
/// would not create them.
fn overruled(scene: &Scene<'_>, shadow: &Snapshot, attempt: &Attempt<'_>) -> usize {
    let Attempt { finished, assigned, .. } = attempt;
    if scene.supply.tiers() < 2 || !finished.ledger.has_limits() {
        return 0;
    }
    let staying = shadow.nodes.iter().filter(|node| !node.is_deleting);
    let left = whole::left(scene, staying, &finished.nodes);
    let shapes = finished.shapes.iter().map(|shapes| &assigned.demand.shapes[shapes.opened_for]);
    overruled::count((scene.supply, scene.topology), &left, finished.nodes.iter().zip(shapes))
}

/// Returns the nodes of the set, and due nodes, that may not be removed because a pod there is not certain to be placed
/// elsewhere.
fn stranded(
    shadow: &Snapshot,
    (leaving, asked): (&BTreeSet<NodeName>, &BTreeSet<NodeName>),
    attempt: &Attempt<'_>,
    demand: &Demand,
) -> BTreeSet<NodeName> {
    let barred = attempt.assigned.demand.barred.iter().flat_map(|barred| &barred.pods);
    let refused = attempt.assigned.refused.iter().flat_map(|refused| &refused.pods);
    let held = demand.held.iter().flat_map(|held| &held.pods);
    let left = attempt.finished.unplaced.iter().map(|(_, pod)| pod);
    let early = attempt.nodes.iter().filter(|standing| standing.node.stage != NodeStage::Initialized);
    let early = early.flat_map(|standing| &standing.placed);
    let lost = barred.chain(refused).chain(held).chain(left).chain(early);
    // Many pods may fit nowhere without any of them running on a removed node.
    let on = |pod: &'_ Pod| match &pod.place {
        PodPlace::Bound(node) => leaving.contains(node) || asked.contains(node),
        PodPlace::Waiting => false,
    };
    let there: BTreeMap<&PodKey, &PodPlace> =
        shadow.pods.iter().filter(|pod| on(pod)).map(|pod| (&pod.key, &pod.place)).collect();
    if there.is_empty() {
        return BTreeSet::new();
    }
    let node = |pod: &PodKey| match there.get(pod)? {
        PodPlace::Bound(node) => Some(node.clone()),
        PodPlace::Waiting => None,
    };
    lost.filter_map(node).collect()
}

/// Returns the nodes of a snapshot by name.
pub(super) fn by_name(snapshot: &Snapshot) -> BTreeMap<&NodeName, &Node> {
    snapshot.nodes.iter().map(|node| (&node.name, node)).collect()
}

/// Returns whether one leaves more pods unplaced than the other, comparing the highest priority first.
pub(in crate::solve) fn is_worse(one: &BTreeMap<i32, usize>, other: &BTreeMap<i32, usize>) -> bool {
    let priorities: BTreeSet<&i32> = one.keys().chain(other.keys()).collect();
    let counts = priorities.into_iter().rev().map(|priority| {
        let count = |unplaced: &BTreeMap<i32, usize>| unplaced.get(priority).copied().unwrap_or(0);
        (count(one), count(other))
    });
    let mut differing = counts.filter(|(one, other)| one != other);
    differing.next().is_some_and(|(one, other)| one > other)
}
