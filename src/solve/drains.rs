//! Drains blocked by topology spread over hosts: a node that is drained counts as a domain until it is gone.
//!
//! A node being drained becomes the emptiest node that counts, so its pods may not join others on fuller nodes: they
//! stay Pending until it is gone. If a PodDisruptionBudget allows fewer evictions than pods that would be Pending, the
//! drain never ends, and the node is kept. Never places pods, and never checks nodes that are already being deleted.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::eviction::Evictions;
use crate::model::{
    Effect, LabelKey, Node, NodeName, Pod, PodKey, PodPlace, Requirements, SpreadConstraint, Strength, Taint,
    label,
};
use crate::snapshot::Snapshot;

use super::solution::{NodeRef, Solution, Target, Warning};
use super::topology::eligible::{self, Seen};
use super::topology::group::{self, Group, GroupKind};

/// Maximum number of nodes that a warning names; the others are counted.
const NAMED_MAX: usize = 3;

/// Maximum number of replans without nodes whose drain would never end.
const AGAIN_MAX: usize = 8;

/// Plans, keeps the nodes whose drain would never end, and warns of pods that wait for nodes to be gone.
pub(super) fn solve(snapshot: &Snapshot, solved: impl Fn(&Snapshot) -> Solution) -> Solution {
    let mut solution = solved(snapshot);
    let mut staying: BTreeMap<NodeName, String> = BTreeMap::new();
    for _ in 0..AGAIN_MAX {
        let endless = endless(snapshot, &solution.target);
        if endless.is_empty() {
            break;
        }
        staying.extend(endless);
        let mut world = snapshot.clone();
        for node in &mut world.nodes {
            if let Some(because) = staying.get(&node.name) {
                node.keep(&**because);
            }
        }
        solution = solved(&world);
    }
    if !staying.is_empty() {
        let report = &mut solution.report;
        report.staying.retain(|(node, _)| !staying.contains_key(node));
        report.staying.extend(staying);
        report.staying.sort();
    }
    let late = waiting(snapshot, &solution.target);
    if !late.is_empty() {
        solution.report.warnings.extend(warnings(&late));
        solution.report.warnings.sort();
    }
    solution
}

/// Returns the nodes whose drain would never end, with the reason.
fn endless(snapshot: &Snapshot, target: &Target) -> BTreeMap<NodeName, String> {
    let evictions = Evictions::of(&snapshot.budgets, &snapshot.pods);
    let late = waiting(snapshot, target);
    late.iter().filter_map(|late| Some((late.node.clone(), late.blocked_by(&evictions)?))).collect()
}

/// Pods of one spread that stay Pending until the node they come from is gone.
struct Late<'s> {
    node: &'s NodeName,
    /// Pods of that spread on the node.
    pods: Vec<&'s Pod>,
    /// Number of them that stay Pending.
    count: usize,
}

impl Late<'_> {
    /// Explains which budget prevents the drain from ending.
    fn blocked_by(&self, evictions: &Evictions<'_>) -> Option<String> {
        let about: BTreeSet<usize> = self.pods.iter().flat_map(|pod| evictions.about(pod)).collect();
        let guards = about.into_iter().filter_map(|place| evictions.guard(place));
        let least = guards.min_by_key(|guard| guard.allowed)?;
        let (budget, allowed) = (least.budget, least.allowed);
        let is_over = usize::try_from(allowed).is_ok_and(|allowed| allowed < self.count);
        is_over.then(|| {
            format!(
                "PodDisruptionBudget `{}/{}` allows {allowed} at a time, and {} of its pods such as `{}` would stay Pending \
                 until the node is gone: it counts in their spread over hosts (`maxSkew`)",
                budget.namespace, budget.name, self.count, self.pods[0].key,
            )
        })
    }
}

/// Reports for each workload how many of its pods wait for which nodes.
fn warnings(late: &[Late<'_>]) -> Vec<Warning> {
    let mut workloads: BTreeMap<String, (usize, Vec<&NodeName>)> = BTreeMap::new();
    for Late { node, pods, count } in late {
        let workload = pods[0].workload.as_ref().map(|of| format!("{}/{}", of.namespace, of.name));
        let (pods, nodes) = workloads.entry(workload.unwrap_or_else(|| pods[0].key.to_string())).or_default();
        *pods += count;
        nodes.push(node);
    }
    workloads.into_iter().map(|(workload, (pods, nodes))| warning(&workload, pods, &nodes)).collect()
}

fn warning(workload: &str, pods: usize, nodes: &[&NodeName]) -> Warning {
    let mut names: Vec<String> = nodes.iter().take(NAMED_MAX).map(|node| format!("`{node}`")).collect();
    if nodes.len() > NAMED_MAX {
        names.push(format!("{} more", nodes.len() - NAMED_MAX));
    }
    let names = names.join(", ");
    let (pods, stay) =
        if pods == 1 { ("1 pod".to_owned(), "stays") } else { (format!("{pods} pods"), "stay") };
    let (gone, counts) = match nodes.len() {
        1 => (format!("node {names} is gone"), "it counts"),
        _ => (format!("nodes {names} are gone"), "they count"),
    };
    Warning {
        object: format!("workload `{workload}`"),
        what: format!(
            "{pods} {stay} Pending until {gone}: until then {counts} in the spread over hosts (`maxSkew`)"
        ),
        hint: None,
    }
}

/// Returns the pods that wait for a node to be gone, node by node.
fn waiting<'s>(snapshot: &'s Snapshot, target: &'s Target) -> Vec<Late<'s>> {
    let going: BTreeSet<&NodeName> = target.removed.iter().map(|removal| &removal.node).collect();
    if going.is_empty() || !snapshot.pods.iter().any(|pod| of_hosts(pod).next().is_some()) {
        return Vec::new();
    }
    let fleet = Fleet::of(snapshot, target);
    let nodes = snapshot.nodes.iter().filter(|node| going.contains(&node.name));
    nodes.flat_map(|node| fleet.late(node)).collect()
}

fn of_hosts(pod: &Pod) -> impl Iterator<Item = &SpreadConstraint> {
    let required = |spread: &&SpreadConstraint| {
        spread.strength == Strength::Required && spread.topology_key.as_str() == label::HOSTNAME
    };
    pod.spec.spread.iter().filter(required)
}

/// Current nodes of pods, and planned ones.
struct Fleet<'s> {
    on: BTreeMap<&'s NodeName, Vec<&'s Pod>>,
    goes_to: BTreeMap<&'s PodKey, NodeRef>,
    /// Pods on each node before any pod moves: running there, or pending and placed there.
    there: BTreeMap<NodeRef, Vec<&'s Pod>>,
}

impl<'s> Fleet<'s> {
    fn of(snapshot: &'s Snapshot, target: &'s Target) -> Self {
        let mut fleet = Self { on: BTreeMap::new(), goes_to: target.places(), there: BTreeMap::new() };
        for pod in snapshot.pods.iter().filter(|pod| !pod.is_terminating) {
            match &pod.place {
                PodPlace::Bound(node) => {
                    fleet.on.entry(node).or_default().push(pod);
                    fleet.there.entry(NodeRef::Existing(node.clone())).or_default().push(pod);
                }
                PodPlace::Waiting => {
                    let place = fleet.goes_to.get(&pod.key).cloned();
                    place.into_iter().for_each(|place| fleet.there.entry(place).or_default().push(pod));
                }
            }
        }
        fleet
    }

    /// Returns the pods that wait for this node to be gone, spread by spread.
    fn late(&self, node: &'s Node) -> Vec<Late<'s>> {
        let mut spreads: BTreeMap<Group, Vec<&Pod>> = BTreeMap::new();
        for pod in self.on.get(&node.name).into_iter().flatten().filter(|pod| !pod.is_daemon) {
            let keys = required_keys(pod);
            for constraint in of_hosts(pod) {
                let group = group::spread(constraint, (&pod.spec, &pod.key.namespace), &keys);
                spreads.entry(group).or_default().push(pod);
            }
        }
        let late = spreads.into_iter().filter_map(|(group, pods)| {
            let count = self.count(node, &group, &pods);
            (count > 0).then_some(Late { node: &node.name, pods, count })
        });
        late.collect()
    }

    /// Returns how many of these pods exceed the skew at their planned nodes while the drained node counts with none.
    fn count(&self, node: &Node, group: &Group, pods: &[&Pod]) -> usize {
        let GroupKind::Spread(spread) = &group.kind else { return 0 };
        if !is_counted(node, spread) {
            return 0;
        }
        let mut coming: BTreeMap<&NodeRef, usize> = BTreeMap::new();
        pods.iter()
            .filter_map(|pod| self.goes_to.get(&pod.key))
            .for_each(|place| *coming.entry(place).or_default() += 1);
        let late = coming.into_iter().map(|(place, coming)| {
            let there = self.there.get(place).into_iter().flatten();
            let there = there.filter(|pod| group.means(&pod.spec, &pod.key.namespace)).count();
            coming.saturating_sub(spread.max_skew.saturating_sub(there))
        });
        late.sum()
    }
}

fn required_keys(pod: &Pod) -> BTreeSet<LabelKey> {
    let required = pod.spec.spread.iter().filter(|spread| spread.strength == Strength::Required);
    required.map(|spread| spread.topology_key.clone()).collect()
}

/// Returns whether a node counts while it is drained, with the taint of a disrupted node.
fn is_counted(node: &Node, spread: &group::Spread) -> bool {
    let labels = node.labels.iter().map(|(key, value)| (key.as_str(), &**value));
    let site = Requirements::of_labels(labels);
    let mut taints = node.taints.clone();
    taints.push(Taint::new(label::DISRUPTED, "", Effect::NoSchedule));
    eligible::counts(&Seen { labels: &node.labels, site: &site, taints: &taints }, spread)
}
