//! Due nodes: those to be removed for other reasons than cost, and which of them can be.
//!
//! Cost, quiet time and the pool's consolidation policy do not matter here. A due node is kept if its pods would not
//! certainly be placed, or if other pods would lose their place. Never considers waves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::allowance::{Allowance, PoolNodes};
use crate::model::eviction::Evictions;
use crate::model::{DisruptionReason, Node, NodeName, Pod, PodPlace, Pool, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::demand::Roster;
use crate::solve::existing;
use crate::solve::solution::Removal;

use super::trial::{Scene, Stage, is_worse};
use super::{drift, empty, excess, expiry, repair};

/// Maximum number of attempts without nodes whose pods were not placed.
const MENDS_MAX: usize = 8;

/// Maximum number of nodes that are tried one after the other if removing all would leave other pods unplaced.
const SINGLES_MAX: usize = 16;

/// The nodes that are due.
#[derive(Clone, Debug, Default)]
pub(in crate::solve) struct Due {
    /// Nodes that may be removed, by name.
    going: BTreeMap<NodeName, Cause>,
    /// Nodes that are kept, with the reason why they are due and the reason why they are kept.
    staying: Vec<(NodeName, DisruptionReason, String)>,
    /// Nodes by pool that could also be removed if the pool's `replicas` allowed it.
    without_room: BTreeMap<PoolName, BTreeSet<NodeName>>,
}

/// Why a node is due.
#[derive(Clone, Debug)]
struct Cause {
    reason: DisruptionReason,
    what: Arc<str>,
    /// That it also exceeds `replicas` of its pool, if it is due for another reason.
    beside: Option<Arc<str>>,
}

impl Due {
    /// Finds the due nodes, and those among them that budgets and protection keep. A static pool loses only nodes
    /// beyond its `replicas`.
    pub(in crate::solve) fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let mut due = Self::default();
        let mut rooms = excess::rooms(snapshot, policy);
        let mut found: Vec<(&Node, &Pool, Vec<Cause>)> = Vec::new();
        for node in snapshot.nodes.iter().filter(|node| !node.is_deleting) {
            let pool = node.pool.as_ref().and_then(|name| policy.pools.get(name));
            let Some(pool) = pool.filter(|pool| !pool.is_deleting) else { continue };
            let room = rooms.get(&pool.name).copied().unwrap_or(0);
            let of_node = causes_of(snapshot, policy, (node, pool), room);
            if !of_node.is_empty() {
                found.push((node, pool, of_node));
            }
        }
        if found.is_empty() {
            return due;
        }
        let mut bound: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
        for pod in &snapshot.pods {
            if let PodPlace::Bound(node) = &pod.place {
                bound.entry(node).or_default().push(pod);
            }
        }
        let pods_of = |node: &Node| bound.get(&node.name).map_or(&[][..], Vec::as_slice);
        found.sort_by_cached_key(|(node, _, causes)| {
            (is_excess(causes.first()), excess::turn(node, pods_of(node), snapshot.at))
        });
        let evictions = snapshot.evictions();
        for (node, pool, causes) in &found {
            let given = (snapshot, policy, &evictions);
            let kept = |cause: &Cause| kept(given, (node, pool), pods_of(node), cause.reason);
            let going = causes.iter().find(|cause| kept(cause).is_none());
            let first = causes.first().and_then(|cause| Some((cause, kept(cause)?)));
            due.decide((node, rooms.get_mut(&pool.name)), going, first);
        }
        let is_filled = |node: &NodeName| {
            let own = found.iter().find(|(there, _, _)| there.name == *node);
            own.is_some_and(|(_, pool, causes)| {
                is_excess(causes.first()) && rooms.get(&pool.name) == Some(&0)
            })
        };
        // Another node is removed instead.
        due.staying.retain(|(node, _, _)| !is_filled(node));
        due
    }

    /// Removes a node for the `going` cause, as far as its pool has more nodes than it requests, or keeps it for the
    /// `first` one.
    fn decide(
        &mut self,
        (node, room): (&Node, Option<&mut usize>),
        going: Option<&Cause>,
        first: Option<(&Cause, String)>,
    ) {
        match (going, room) {
            (Some(cause), Some(0)) => {
                if !is_excess(Some(cause)) {
                    let pool = node.pool.iter().cloned();
                    pool.for_each(|pool| {
                        self.without_room.entry(pool).or_default().insert(node.name.clone());
                    });
                    // Another node is removed instead as surplus.
                    self.stay(node.name.clone(), &Cause { beside: None, ..cause.clone() }, NO_ROOM);
                }
            }
            (Some(cause), room) => {
                room.into_iter().for_each(|room| *room -= 1);
                self.going.insert(node.name.clone(), cause.clone());
            }
            (None, _) => {
                if let Some((cause, why)) = first {
                    self.stay(node.name.clone(), cause, &why);
                }
            }
        }
    }

    /// Returns, per pool, how many more nodes could be removed if `replicas` allowed it, that is, if replacements
    /// existed.
    pub(in crate::solve) fn without_room(self) -> BTreeMap<PoolName, usize> {
        self.without_room.into_iter().map(|(pool, nodes)| (pool, nodes.len())).collect()
    }

    /// Returns the nodes that could also be removed if `replicas` of their pools allowed it.
    pub(in crate::solve) fn kept_by_number(&self) -> impl Iterator<Item = &NodeName> {
        self.without_room.values().flatten()
    }

    /// Keeps only the entries for nodes of static pools.
    pub(in crate::solve) fn of_fixed(mut self, snapshot: &Snapshot, policy: &Policy) -> Self {
        let is_fixed = |node: &&Node| {
            let pool = node.pool.as_ref().and_then(|name| policy.pools.get(name));
            pool.is_some_and(|pool| pool.replicas.is_some())
        };
        let fixed: BTreeSet<&NodeName> =
            snapshot.nodes.iter().filter(is_fixed).map(|node| &node.name).collect();
        self.going.retain(|node, _| fixed.contains(node));
        self.staying.retain(|(node, _, _)| fixed.contains(node));
        self
    }

    /// Returns the names of the nodes that may be removed.
    pub(in crate::solve) fn names(&self) -> BTreeSet<NodeName> {
        self.going.keys().cloned().collect()
    }

    /// Keeps nodes whose removal would leave pods unplaced.
    pub(in crate::solve) fn settled(mut self, scene: &Scene<'_>, snapshot: &Snapshot) -> Self {
        if self.going.is_empty() {
            return self;
        }
        let standing = existing::standing(snapshot, scene.daemons, scene.topology);
        let roster = Arc::new(Roster::of(snapshot, scene.topology));
        let mut stage = Stage::of(snapshot, (&standing, &roster));
        let base = stage.trial(scene, &BTreeSet::new());
        let mut set = self.names();
        for _ in 0..MENDS_MAX {
            let trial = stage.trial(scene, &set);
            if trial.stranded.is_empty() && !is_worse(&trial.unplaced, &base.unplaced) {
                return self.without_others(&set, LOSES);
            }
            if trial.stranded.is_empty() {
                break;
            }
            let limited = stage.limited(scene, &set);
            self = self.without(&trial.stranded, |node| match limited.get(node) {
                Some(limits) => format!("{STRANDED}: {limits}"),
                None => STRANDED.to_owned(),
            });
            set = set.difference(&trial.stranded).cloned().collect();
        }
        let mut good = BTreeSet::new();
        for node in set.into_iter().take(SINGLES_MAX) {
            let mut more = good.clone();
            more.insert(node);
            let trial = stage.trial(scene, &more);
            if trial.stranded.is_empty() && !is_worse(&trial.unplaced, &base.unplaced) {
                good = more;
            }
        }
        self.without_others(&good, LOSES)
    }

    /// Returns the removals, and why other nodes are kept.
    pub(in crate::solve) fn listed(self) -> (Vec<Removal>, Vec<(NodeName, String)>) {
        let removal = |(node, Cause { reason, what, .. }): (NodeName, Cause)| Removal {
            node,
            reason,
            what: Some(what),
        };
        let staying = self.staying.into_iter().map(|(node, _, why)| (node, why));
        (self.going.into_iter().map(removal).collect(), staying.collect())
    }

    /// Returns the drifted nodes, each with the reason why it is kept: the one found here, or else the one that
    /// `otherwise` gives.
    pub(in crate::solve) fn drifted(
        mut self,
        otherwise: impl Fn(&NodeName) -> &'static str,
    ) -> Vec<(NodeName, String)> {
        for (node, cause) in std::mem::take(&mut self.going) {
            let why = otherwise(&node);
            self.stay(node, &cause, why);
        }
        let drifted = self.staying.into_iter().filter(|(_, reason, _)| *reason == DisruptionReason::Drifted);
        drifted.map(|(node, _, why)| (node, why)).collect()
    }

    /// Keeps these nodes because their pods are not certain to be placed.
    pub(in crate::solve) fn kept_for_want_of_places(self, nodes: &BTreeSet<NodeName>) -> Self {
        self.without(nodes, |_| STRANDED.to_owned())
    }

    fn without_others(self, set: &BTreeSet<NodeName>, why: &str) -> Self {
        let others = self.going.keys().filter(|node| !set.contains(*node)).cloned().collect();
        self.without(&others, |_| why.to_owned())
    }

    fn without(mut self, nodes: &BTreeSet<NodeName>, why: impl Fn(&NodeName) -> String) -> Self {
        for node in nodes {
            if let Some(cause) = self.going.remove(node) {
                self.stay(node.clone(), &cause, &why(node));
            }
        }
        self
    }

    fn stay(&mut self, node: NodeName, cause: &Cause, why: &str) {
        let is_due = match cause.reason {
            DisruptionReason::Unhealthy => "it is unhealthy",
            DisruptionReason::Expired => "it has expired",
            DisruptionReason::Excess => "it is one too many",
            DisruptionReason::Drifted
            | DisruptionReason::Empty
            | DisruptionReason::Underutilized
            | DisruptionReason::Destroyed
            | DisruptionReason::Deleted => "it has drifted",
        };
        let beside = cause.beside.as_ref().map(|what| format!(", and it is one too many: {what}"));
        let due = format!("{is_due}: {}{}", cause.what, beside.unwrap_or_default());
        self.staying.push((node, cause.reason, format!("{due}; but {why}")));
    }
}

const STRANDED: &str = "its pods have no sure place elsewhere";
const NO_ROOM: &str = "nothing can be created in its place, and its pool asks for all its nodes (`replicas`)";
const LOSES: &str = "other pods would have no place then";

fn is_excess(cause: Option<&Cause>) -> bool {
    cause.is_some_and(|cause| cause.reason == DisruptionReason::Excess)
}

/// Returns why a node is due, the most urgent reason first.
fn causes_of(
    snapshot: &Snapshot,
    policy: &Policy,
    (node, pool): (&Node, &Pool),
    beyond: usize,
) -> Vec<Cause> {
    let causes = [
        (DisruptionReason::Unhealthy, repair::what(node, snapshot.at)),
        (DisruptionReason::Drifted, drift::what(node, pool, policy)),
        (DisruptionReason::Expired, expiry::what(node, pool, snapshot.at)),
        (DisruptionReason::Excess, excess::what(node, pool, beyond)),
    ];
    let excess = causes[3].1.as_deref().map(Arc::from);
    let cause = |(reason, what): (_, Option<String>)| {
        let beside = excess.clone().filter(|_| reason != DisruptionReason::Excess);
        Some(Cause { reason, what: Arc::from(what?), beside })
    };
    causes.into_iter().filter_map(cause).collect()
}

/// Returns what keeps a due node: its own annotation, its pods, or its pool's budgets. Pods do not keep a node that is
/// unhealthy or has a drain limit (`terminationGracePeriod`).
fn kept(
    (snapshot, policy, evictions): (&Snapshot, &Policy, &Evictions<'_>),
    (node, pool): (&Node, &Pool),
    pods: &[&Pod],
    reason: DisruptionReason,
) -> Option<String> {
    if let Some(why) = node.why_kept() {
        return Some(why.to_owned());
    }
    let has_claims = snapshot.nodes.iter().any(|node| node.claim.is_some());
    let has_pods = snapshot.knows_running_pods();
    if let Some(unknown) = empty::unknown(node, has_claims, has_pods) {
        return Some(unknown);
    }
    if let Some(refusal) = refusal(snapshot, policy, (node, pool), reason) {
        return Some(refusal);
    }
    if reason == DisruptionReason::Unhealthy {
        return repair::is_no_fault_of_nodes(snapshot, pool);
    }
    // A drain with a time limit still breaks up a gang.
    if let Some(why) = pods.iter().find_map(|pod| evictions.why_bound_together(pod)) {
        return Some(why);
    }
    if node.claimed.termination_grace_period.is_some() {
        return None;
    }
    kept_by_pods((snapshot, evictions), pods).map(|why| match reason {
        DisruptionReason::Expired => format!("{why}; {WAITS}"),
        DisruptionReason::Unhealthy
        | DisruptionReason::Empty
        | DisruptionReason::Drifted
        | DisruptionReason::Excess
        | DisruptionReason::Underutilized
        | DisruptionReason::Destroyed
        | DisruptionReason::Deleted => why,
    })
}

/// What happens to an expired node whose pods may not be evicted.
const WAITS: &str = "its drain begins once that ends (Karpenter begins it now, and waits)";

/// Returns why a pod keeps its node.
fn kept_by_pods((snapshot, evictions): (&Snapshot, &Evictions<'_>), pods: &[&Pod]) -> Option<String> {
    if let Some(pod) = pods.iter().find(|pod| pod.is_protected(snapshot.at)) {
        return Some(format!("its pod `{}` has `karpenter.sh/do-not-disrupt`", pod.key));
    }
    if let Some(pod) = pods.iter().find(|pod| pod.promised().is_some()) {
        return Some(empty::promised_to(snapshot, pod));
    }
    pods.iter().find_map(|pod| evictions.why_stays(pod))
}

/// Returns why the budgets of a pool do not allow a node to be removed now.
fn refusal(
    snapshot: &Snapshot,
    policy: &Policy,
    (node, pool): (&Node, &Pool),
    reason: DisruptionReason,
) -> Option<String> {
    let nodes = PoolNodes::of(&snapshot.nodes, &pool.name);
    Allowance::of(pool, &policy.fleet.holds, snapshot.at).kept(reason, &node.name, &nodes)
}
