//! What the fleet comes to when a set of nodes goes: planned as always, with those nodes as if they were being deleted.
//!
//! Nothing is chosen here.

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

/// The most pods beside which what Karpenter comes to is looked at for every set: of few pods each counts.
const RIVAL_PODS_MAX: usize = 40;

/// What is the same for every set of nodes.
pub(in crate::solve) struct Scene<'a> {
    pub(in crate::solve) policy: &'a Policy,
    pub(in crate::solve) market: &'a Market,
    pub(in crate::solve) book: &'a PriceBook<'a>,
    pub(in crate::solve) topology: &'a Topology,
    pub(in crate::solve) supply: &'a Supply<'a>,
    pub(in crate::solve) memo: &'a Memo,
    /// What is remembered beside other supplies.
    pub(in crate::solve) memos: &'a Memos,
    pub(in crate::solve) daemons: &'a Daemons<'a>,
    /// The pools whose budgets let an underutilized node go now.
    pub(in crate::solve) lets_go: &'a BTreeSet<PoolName>,
    /// The nodes that are empty as the world is and stay for that, whatever is imagined to come to them.
    pub(in crate::solve) stuck: &'a BTreeSet<NodeName>,
    /// The nodes that are to go for other reasons than cost.
    pub(in crate::solve) asked: &'a BTreeSet<NodeName>,
    /// Which pods may be evicted as the world is, whatever is imagined of it.
    pub(in crate::solve) evictions: &'a Evictions<'a>,
    /// The room that is kept for pods to come.
    pub(in crate::solve) room: &'a Demand,
    /// The room that is left for a scheduler that spreads pods as it likes.
    pub(in crate::solve) slack: &'a Demand,
    /// The pods that nothing could hold, which no world has that is planned.
    pub(in crate::solve) impossible: &'a Impossible<'a>,
    /// The pods beyond those for which limits could leave a place, which no world has that is planned.
    pub(in crate::solve) capped: &'a Capped,
    /// Who has to stand beside whom.
    pub(in crate::solve) needs: &'a Needs,
    /// Whether other ways than the plain one are looked at.
    pub(in crate::solve) looks_further: bool,
}

impl<'a> Scene<'a> {
    /// Returns what decides which nodes may go.
    pub(super) fn rules(&self) -> Rules<'a> {
        let Self { policy, market, book, lets_go, stuck, evictions, room, .. } = *self;
        Rules { policy, market, book, lets_go, stuck, evictions, room }
    }

    /// Returns what planning of a world starts from, of which this waits and these nodes are there.
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

/// What the fleet would come to.
pub(super) struct Trial {
    /// How many pods are on nothing, by priority.
    pub(super) unplaced: BTreeMap<i32, usize>,
    /// For how many pods to come of each shape there is no room.
    pub(super) without_room: Vec<usize>,
    /// The nodes that are there and keep room for pods to come.
    pub(super) keeping: BTreeSet<NodeName>,
    /// Whether the cost is known.
    pub(super) is_priced: bool,
    /// What the fleet counts as by the hour when the nodes are gone: what it costs, and what choosing counts beside that
    /// for the nodes to make.
    pub(super) cost: MicroUsdPerHour,
    /// What the VMs cost by the list, where a pool measures by that.
    pub(super) vms: i64,
    /// The nodes to make.
    pub(super) new: Vec<NewNode>,
    /// How many new nodes are of lighter pools than their pods could have when the set is gone.
    pub(super) overruled: usize,
    /// Nodes of the set, and due ones that go, some of whose pods have no place, or one on a node that has not come
    /// up yet.
    pub(super) stranded: BTreeSet<NodeName>,
    /// Nodes of the set whose pods others that stay have to stand beside.
    pub(super) needed: BTreeSet<NodeName>,
    /// Where waiting and moved pods go on nodes that stay.
    pub(super) placed: BTreeMap<NodeName, Vec<PodKey>>,
}

/// Marks the nodes of the set, and no others of those that stay, as if they were being deleted.
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

/// A world of which other nodes go with every trial.
pub(super) struct Stage<'s> {
    shadow: Snapshot,
    /// The nodes that are being deleted whatever is tried.
    gone: BTreeSet<NodeName>,
    /// Who may need a place.
    roster: Arc<Roster<'s>>,
    /// What stands on each node, whatever is tried, with the node's place.
    standing: Vec<(usize, Standing<'s>)>,
    /// What pods are worth, where it is known from before.
    appraisal: Option<Arc<Appraisal>>,
}

impl<'s> Stage<'s> {
    /// `standing` and `roster` are what was read of the snapshot.
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

    /// Takes pods to be worth what is known from before.
    pub(super) fn with(self, appraisal: &Arc<Appraisal>) -> Self {
        Self { appraisal: Some(appraisal.clone()), ..self }
    }

    /// Returns what pods are worth where all these nodes go.
    pub(super) fn appraised(&mut self, scene: &Scene<'_>, leaving: &BTreeSet<NodeName>) -> Appraisal {
        self.mark(leaving);
        let demand = self.roster.demand(|node| self.shadow.nodes[node].is_deleting);
        scene.ground(&self.shadow, (&demand, &[]), Effort::Comparison(None)).appraised()
    }

    /// Marks the nodes of the set, and no others of those that stay, as if they were being deleted.
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

    /// Returns what limits say of these nodes, when they go: of each the first of its pods that has no place for them.
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

    /// Returns who needs a place when the marked nodes go.
    fn demand(&self) -> Demand {
        self.roster.demand(|node| self.shadow.nodes[node].is_deleting)
    }

    /// Returns the nodes with what stands on them, as they are marked.
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

/// Counts the nodes of lighter pools whose pod a heavier one has room for as soon as what goes is gone: the plan after
/// this one would make no such node.
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

/// Returns the nodes of the set, and due ones, that may not go: what runs there has no sure place elsewhere.
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
    // Of many pods that fit nowhere none may run on what goes.
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

/// Returns whether one leaves more pods without a place than the other, the highest priority first.
pub(in crate::solve) fn is_worse(one: &BTreeMap<i32, usize>, other: &BTreeMap<i32, usize>) -> bool {
    let priorities: BTreeSet<&i32> = one.keys().chain(other.keys()).collect();
    let counts = priorities.into_iter().rev().map(|priority| {
        let count = |unplaced: &BTreeMap<i32, usize>| unplaced.get(priority).copied().unwrap_or(0);
        (count(one), count(other))
    });
    let mut differing = counts.filter(|(one, other)| one != other);
    differing.next().is_some_and(|(one, other)| one > other)
}
