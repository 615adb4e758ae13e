//! Explains unplaced pods: by shape, with the nearest miss among existing nodes and pools.

use std::collections::BTreeMap;

use crate::model::{ClassName, LabelKey, PodKey, Requirement, ResourceName, Resources};
use crate::snapshot::Snapshot;
use crate::solve::demand::{Ask, Barred, Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::fit::company::{HostRole, HostRule};
use crate::solve::fit::limits::Ledger;
use crate::solve::fit::{Miss, Rule};
use crate::solve::solution::Unplaced;
use crate::solve::supply::Supply;
use crate::solve::topology::assign::Refused;

use super::chain::{self, PoolChain};
use super::together::{self, titled};
use super::{claims, devices, fixed, tied};

/// Maximum number of existing nodes that are checked per shape: enough to find a near miss, few enough for fleets of
/// thousands of nodes.
const NODES_ASKED_MAX: usize = 200;
/// Maximum number of existing nodes that are named per shape.
const NODES_NAMED_MAX: usize = 5;

/// Inputs for explaining unplaced pods.
pub struct World<'w> {
    /// The observed cluster.
    pub snapshot: &'w Snapshot,
    /// The pending pods.
    pub demand: &'w Demand,
    /// What may be bought.
    pub supply: &'w Supply<'w>,
    /// The existing nodes, with the pods placed there.
    pub nodes: &'w [Standing<'w>],
    /// The remaining limits.
    pub ledger: &'w Ledger,
}

/// Groups unplaced pods by shape and explains them.
#[must_use]
pub fn unplaced(
    world: &World<'_>,
    pods: &[(usize, PodKey)],
    (refused, barred): (&[Refused], &[Barred]),
) -> Vec<Unplaced> {
    let mut by_shape: BTreeMap<usize, Vec<&PodKey>> = BTreeMap::new();
    for (shape, pod) in pods {
        by_shape.entry(*shape).or_default().push(pod);
    }
    // Shapes with equal requests differ only in where their pods should be placed.
    let mut by_ask: BTreeMap<(&Ask, i32), (usize, Vec<&PodKey>)> = BTreeMap::new();
    for (place, pods) in by_shape {
        let Shape { ask, priority, .. } = &world.demand.shapes[place];
        by_ask.entry((ask, *priority)).or_insert_with(|| (place, Vec::new())).1.extend(pods);
    }
    let mut unplaced: Vec<Unplaced> = by_ask
        .into_values()
        .map(|(shape, mut pods)| {
            pods.sort();
            explained(world, &world.demand.shapes[shape], pods.into_iter().cloned().collect())
        })
        .collect();
    let refused = refused.iter().map(|refused| (&refused.pods, &refused.miss));
    let barred = barred.iter().map(|barred| (&barred.pods, &barred.miss));
    unplaced.extend(refused.chain(barred).map(|(pods, miss)| {
        let Miss { rule, because, .. } = claims::told(world.snapshot, pods, miss.clone());
        let details = vec![format!("{rule}: {because}")];
        Unplaced { pods: pods.clone(), rule: rule.to_string(), because, nearest: None, details }
    }));
    grouped(unplaced)
}

/// Explains every pending pod as unplaced. Shapes for which `fail_by_terms` holds share one explanation per set of node
/// terms and tolerations.
#[must_use]
pub fn all_of(world: &World<'_>, fail_by_terms: impl Fn(&Ask) -> bool) -> Vec<Unplaced> {
    let mut known: BTreeMap<_, Unplaced> = BTreeMap::new();
    let of_shape = |shape: &Shape| {
        let Ask { alternatives, stance, .. } = &shape.ask;
        if !fail_by_terms(&shape.ask) {
            return explained(world, shape, shape.pods.clone());
        }
        let said = known
            .entry((alternatives.clone(), stance.clone()))
            .or_insert_with(|| explained(world, shape, Vec::new()));
        Unplaced { pods: shape.pods.clone(), ..said.clone() }
    };
    grouped(world.demand.shapes.iter().map(of_shape).collect())
}

/// Merges groups with the same explanation, regardless of their shapes.
pub(in crate::solve) fn grouped(mut unplaced: Vec<Unplaced>) -> Vec<Unplaced> {
    unplaced.sort_by(|a, b| said(a).cmp(&said(b)));
    unplaced.dedup_by(|next, kept| {
        let is_same = said(next) == said(kept);
        if is_same {
            kept.pods.append(&mut next.pods);
        }
        is_same
    });
    unplaced.iter_mut().for_each(|group| group.pods.sort());
    unplaced.sort_by(|a, b| a.pods.cmp(&b.pods));
    unplaced
}

/// Returns the explanation of a group, without its pods.
fn said(group: &Unplaced) -> (&str, &str, Option<&str>, &[String]) {
    (&group.rule, &group.because, group.nearest.as_deref(), &group.details)
}

/// Returns the limit miss of a shape, if limits are its nearest miss.
#[must_use]
pub fn limited(world: &World<'_>, shape: &Shape) -> Option<String> {
    let Nearest { miss, .. } = nearest(world, shape);
    (miss.rule == Rule::Limits).then_some(miss.because)
}

fn explained(world: &World<'_>, shape: &Shape, pods: Vec<PodKey>) -> Unplaced {
    if let Some(Miss { rule, because, .. }) = tied::to_gone(world.snapshot, &shape.ask) {
        let details = vec![format!("{rule}: {because}")];
        return Unplaced { pods, rule: rule.to_string(), because, nearest: None, details };
    }
    let Nearest { miss, place, details } = nearest(world, shape);
    let miss = claims::told(world.snapshot, &pods, miss);
    Unplaced { pods, rule: miss.rule.to_string(), because: miss.because, nearest: place, details }
}

/// The pool or node that came closest to holding a pod.
struct Nearest {
    miss: Miss,
    /// The pool and size, or the node.
    place: Option<String>,
    /// All misses found on the way, by pool or node.
    details: Vec<String>,
}

fn nearest(world: &World<'_>, shape: &Shape) -> Nearest {
    // Places with none of a requested extended resource are the farthest, then those that taints or labels rule out;
    // among the others, a later failing rule is a nearer miss.
    let mut misses: Vec<((bool, bool, Miss), Option<String>)> = Vec::new();
    let mut details = Vec::new();
    for pool in &world.supply.pools {
        let chain = chain::at_pool(pool, &shape.ask, (world.ledger, world.nodes));
        let size = chain.nearest.as_ref().map(|size| format!(", size `{size}`"));
        let place = format!("pool `{}`{}", chain.pool, size.unwrap_or_default());
        let may_join = chain.may_join;
        let lacks = lacks(&shape.ask, pool.kinds.iter().map(|kind| &kind.kind.allocatable));
        let miss = about_disk(missed(world, shape, chain), &pool.pool.class);
        details.push(format!("{place}: {}: {}", miss.rule, miss.because));
        misses.push(((lacks, !may_join, miss), Some(place)));
    }
    let mut of_static = None;
    for NodeMiss { lacks, miss, node } in nodes_missed(world, shape) {
        let place = titled(node);
        details.push(format!("{place}: {}: {}", miss.rule, miss.because));
        let pool = node.node.pool.as_ref().filter(|pool| world.supply.fixed.contains_key(*pool));
        of_static = of_static.or_else(|| Some((pool?, place.clone())));
        misses.push(((lacks, miss.rule.depth() < Rule::HostPorts.depth(), miss), Some(place)));
    }
    // The first of equals: pools come before nodes because a pool can grow.
    let nearest = misses
        .into_iter()
        .min_by_key(|((lacks, is_outside, miss), _)| (*lacks, *is_outside, miss.distance()));
    let nearest = nearest.map(|((_, _, miss), place)| (miss, place));
    let no_pools = || without_pools(world);
    let (mut miss, mut place) = nearest.unwrap_or_else(|| (no_pools(), None));
    let fixed = match &of_static {
        Some((pool, of_node)) if place.as_ref() == Some(of_node) => {
            fixed::of_pool(world.supply, world.nodes, (*pool, shape))
        }
        Some(_) | None if world.supply.pools.is_empty() => fixed::why(world.supply, world.nodes, shape),
        Some(_) | None => None,
    };
    if let Some(fixed) = fixed {
        (miss, place) = (fixed, None);
    } else if world.supply.pools.is_empty() && place.is_some() {
        miss.because = format!("{}; {}", miss.because, no_pools().because);
    }
    let there = world.nodes.iter().map(|standing| &standing.node.allocatable);
    if matches!(miss.rule, Rule::Resource(_))
        && let Some(unknown) = devices::missed(&shape.ask, world.supply, there)
    {
        (miss, place) = (unknown, None);
    }
    if miss.rule == Rule::PodAffinity {
        // Changing a pool does not help a pod that must be placed where others are.
        place = together::nearest_host(&shape.ask, world.nodes).or(place);
        miss.because = not_led(world, shape).unwrap_or(miss.because);
    }
    Nearest { miss, place, details }
}

/// Explains what keeps a pod from the pods that it must share a node with, if rules between pods led it to another
/// domain, which it did not request itself.
fn not_led(world: &World<'_>, shape: &Shape) -> Option<String> {
    let first = shape.pods.first()?;
    let at = world.snapshot.pods.binary_search_by(|pod| pod.key.cmp(first)).ok()?;
    let own = Ask::of(&world.snapshot.pods[at].spec);
    let (Some(led), [asked]) = (shape.ask.alternatives.first(), own.alternatives.as_slice()) else {
        return None;
    };
    let is_of_rules = |(key, requirement): &(&LabelKey, &Requirement)| {
        requirement.single().is_some() && asked.get(key.as_str()) != Some(*requirement)
    };
    // The location of volumes also requires a zone.
    let (key, _) = led.iter().find(is_of_rules).filter(|_| shape.ask.volumes.is_empty())?;
    let own = Ask { alternatives: own.alternatives, ..shape.ask.clone() };
    together::kept_from_others(&own, world.nodes, key)
}

/// Returns why there are no new nodes for pods if no pool can create any.
fn without_pools(world: &World<'_>) -> Miss {
    let supply = world.supply;
    if let Some(unread) = unread_pools(world.snapshot) {
        return Miss::new(Rule::Offerings, unread);
    }
    let because = match (supply.warnings.is_empty(), supply.fixed.is_empty()) {
        (true, true) => "the input has no NodePool. Create one: `nodeform init .`",
        (true, false) => "all NodePools of the input are static (`replicas`): none grows",
        (false, _) => "no NodePool of the input can create nodes, see the warnings",
    };
    Miss::new(Rule::Offerings, because.to_owned())
}

/// Returns that the NodePools are unknown, if they could not be listed.
fn unread_pools(snapshot: &Snapshot) -> Option<String> {
    let is_unread = snapshot.gaps.iter().any(|gap| gap.is_of_kind("nodepools"));
    is_unread.then(|| {
        "the NodePools of the cluster could not be listed: a role that may `list` `nodepools` of `karpenter.sh` is needed"
            .to_owned()
    })
}

/// A node that does not take a pod.
struct NodeMiss<'w> {
    /// Whether it has none of an extended resource that the pod requests.
    lacks: bool,
    /// The rule that excludes the pod.
    miss: Miss,
    /// The node.
    node: &'w Standing<'w>,
}

/// Returns the nodes that come closest to taking a pod of the shape.
fn nodes_missed<'w>(world: &World<'w>, shape: &Shape) -> Vec<NodeMiss<'w>> {
    let missed = |node: &'w Standing<'w>| {
        let miss = existing::why(node, shape).err()?;
        Some(NodeMiss { lacks: lacks(&shape.ask, [&node.node.allocatable]), miss, node })
    };
    let stays = |standing: &&Standing<'_>| !standing.node.is_deleting;
    let nodes = world.nodes.iter().filter(stays).take(NODES_ASKED_MAX);
    let mut nodes: Vec<NodeMiss<'_>> = nodes.filter_map(missed).collect();
    nodes.sort_by_cached_key(|missed| (missed.miss.distance(), titled(missed.node)));
    nodes.dedup_by(|one, other| one.miss == other.miss && titled(one.node) == titled(other.node));
    nodes.truncate(NODES_NAMED_MAX);
    nodes
}

/// Returns whether none of these capacities, even when unused, has all the requested extended resources.
fn lacks<'r>(ask: &Ask, rooms: impl IntoIterator<Item = &'r Resources>) -> bool {
    let is_extended =
        |(name, amount): &(&ResourceName, i64)| matches!(name, ResourceName::Other(_)) && *amount > 0;
    let asked: Vec<&ResourceName> = ask.requests.iter().filter(is_extended).map(|(name, _)| name).collect();
    let has_all = |room: &Resources| asked.iter().all(|name| room.get(name) > 0);
    !asked.is_empty() && !rooms.into_iter().any(has_all)
}

/// Returns why pods of a shape get no new node of a pool; if one could hold such a pod alone, other pods are the
/// reason.
fn missed(world: &World<'_>, shape: &Shape, chain: PoolChain) -> Miss {
    let PoolChain { pool, miss, .. } = chain;
    miss.unwrap_or_else(|| match (world.ledger.limits(&pool), shape.is_tied()) {
        (true, true) => {
            let because = format!(
                "NodePool {pool} allows one more node, but none was found that satisfies every spread, affinity and anti-affinity"
            );
            Miss::new(Rule::Limits, because)
        }
        (true, false) => {
            let because = format!("NodePool {pool} allows one more node, and another pod got it");
            Miss::new(Rule::Limits, because)
        }
        (false, true) => {
            let because =
                "a new node would hold it alone, but not beside or apart from the pods that its rules mean";
            Miss::new(tie(shape), because.to_owned())
        }
        (false, false) => {
            let because = "a new node would hold it alone, but none was found with all that it has to hold";
            Miss::new(Rule::Offerings, because.to_owned())
        }
    })
}

/// Extends an ephemeral storage miss with the field that gives new nodes more of it.
fn about_disk(miss: Miss, class: &ClassName) -> Miss {
    if miss.rule != Rule::Resource(ResourceName::EphemeralStorage) {
        return miss;
    }
    let because = format!("{} (`spec.osDiskSizeGB` of AKSNodeClass `{class}` decides)", miss.because);
    Miss { because, ..miss }
}

/// Returns the rule that ties pods of a shape to others.
fn tie(shape: &Shape) -> Rule {
    let is_led = |role: &HostRole| role.is_bound && role.rule == HostRule::Beside;
    if shape.ask.company.iter().any(is_led) { Rule::PodAffinity } else { Rule::TopologySpread }
}
