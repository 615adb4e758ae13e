//! Cautions that a reviewer checks first: what of a plan can hurt. Absent if there are none.
//!
//! Must never be shortened: each workload and node is listed.

use std::collections::{BTreeMap, BTreeSet};

use super::beside;
use super::fleet::Fleet;
use super::head::escaped;
use crate::model::eviction::Evictions;
use crate::model::{CapacityType, MicroUsdPerHour, NodeName, Pod, PodKey, label};
use crate::plan::at_most;
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::money::{Sureness, per_month};
use crate::render::page::moved::{Moved, To};
use crate::render::view::PlanView;
use crate::render::words::{count, verb};

/// From this multiple of the most expensive node's current price on, a new node is worth a second look.
const DEAR_TIMES: i64 = 2;

/// Kinds whose pods start their work over when restarted.
const STARTS_OVER: [&str; 2] = ["Job", "CronJob"];

/// Returns what to check first, the most severe first.
pub(super) fn cautions(view: &PlanView<'_>, fleet: &Fleet<'_>, moved: &[Moved<'_>]) -> Vec<String> {
    let starts_over =
        |pod: &&Moved<'_>| pod.workload().is_some_and(|workload| STARTS_OVER.contains(&&*workload.kind));
    let pods =
        |is: &dyn Fn(&&Moved<'_>) -> bool| -> Vec<Moved<'_>> { moved.iter().filter(is).copied().collect() };
    let nowhere = pods(&|pod| pod.to.is_none() && !pod.is_lost());
    let single = pods(&|pod| pod.is_single() && !starts_over(pod));
    let bare = pods(&|pod| pod.is_lost());
    let jobs = pods(&starts_over);
    let protected = pods(&|pod| pod.group.is_do_not_disrupt);
    let spot = pods(&|pod| becomes_spot(view, pod));
    let mut cautions = Vec::new();
    cautions.extend(named(&bare, "Lost", "no controller creates the pod again"));
    cautions.extend(named(&nowhere, "No capacity elsewhere", "stays Pending once it is evicted"));
    cautions.extend(beside::cautions(view));
    cautions.extend(named(&single, "One replica", "down until its pod is Ready again"));
    cautions.extend(named(&jobs, "Job", "its pod starts over"));
    cautions.extend(all_at_once(moved));
    cautions.extend(budgets(view, moved));
    cautions.extend(named(&protected, "Do not disrupt", "requested by `karpenter.sh/do-not-disrupt`"));
    cautions.extend(named(&spot, "From on-demand to spot", "Azure can evict it"));
    cautions.extend(fleet.cautions());
    cautions.extend(prices(view));
    cautions
}

/// With more workloads than this their nodes are left out: each node to delete lists its pods.
const SHORT_FROM: usize = 20;

/// With more nodes per workload than this they are counted.
const NODES_MAX: usize = 3;

/// Returns a caution that starts with what to check, so that it stands out in the list.
pub(super) fn caution(lead: &str, text: &str) -> String {
    format!("**{lead}**: {}", sentence_whole(text))
}

/// Returns a caution about pods, with each workload and the nodes that its pods leave.
fn named(moved: &[Moved<'_>], lead: &str, what: &str) -> Option<String> {
    let mut owners: BTreeMap<String, BTreeSet<&NodeName>> = BTreeMap::new();
    for pod in moved {
        owners.entry(pod.owner()).or_default().insert(pod.node);
    }
    let is_short = owners.len() > SHORT_FROM;
    let owners: Vec<String> = owners
        .into_iter()
        .map(|(owner, nodes)| if is_short { owner } else { format!("{owner} on {}", names(&nodes)) })
        .collect();
    (!owners.is_empty()).then(|| {
        format!(
            "**{lead}** ({}): {}",
            sentence_whole(what),
            sentence_whole(&format!("{}.", owners.join("; ")))
        )
    })
}

fn names(nodes: &BTreeSet<&NodeName>) -> String {
    if nodes.len() > NODES_MAX {
        return count(nodes.len(), "node");
    }
    nodes.iter().map(|node| format!("`{node}`")).collect::<Vec<_>>().join(", ")
}

/// Reports workloads with several pods, all of which move.
fn all_at_once(moved: &[Moved<'_>]) -> Option<String> {
    let mut owners: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for pod in moved.iter().filter(|pod| pod.replicas > 1) {
        let (evicted, _) =
            *owners.entry(pod.owner()).and_modify(|(evicted, _)| *evicted += 1).or_insert((1, pod.replicas));
        debug_assert!(evicted <= pod.replicas, "no pod is evicted twice");
    }
    let all = owners.into_iter().filter(|(_, (evicted, replicas))| evicted == replicas);
    let all: Vec<String> = all.map(|(owner, (_, replicas))| format!("{owner} ({replicas})")).collect();
    (!all.is_empty()).then(|| caution("All replicas restart", &format!("{}.", all.join("; "))))
}

/// Reports budgets that currently allow no eviction, each with the number of pods.
fn budgets(view: &PlanView<'_>, moved: &[Moved<'_>]) -> Vec<String> {
    let world = &view.plan.evidence.world;
    if world.budgets.is_empty() || moved.is_empty() {
        return Vec::new();
    }
    let seen = view.plan.snapshot();
    let evictions = Evictions::of(&world.budgets, &seen.pods);
    let keys: BTreeMap<PodKey, &NodeName> = moved
        .iter()
        .map(|pod| (PodKey { namespace: pod.group.namespace.clone(), name: pod.pod.into() }, pod.node))
        .collect();
    let mut kept: BTreeMap<Vec<usize>, (usize, BTreeSet<&NodeName>)> = BTreeMap::new();
    let here = seen.pods.iter().filter_map(|pod: &Pod| Some((pod, *keys.get(&pod.key)?)));
    for (pod, node) in here.filter(|(pod, _)| !evictions.may_leave(pod)) {
        let (pods, nodes) = kept.entry(evictions.about(pod).collect()).or_default();
        *pods += 1;
        nodes.insert(node);
    }
    let said = |(places, (pods, nodes)): (Vec<usize>, (usize, BTreeSet<&NodeName>))| {
        let guards = places.iter().filter_map(|place| evictions.guard(*place));
        let guards: Vec<String> =
            guards.map(|guard| format!("`{}/{}`", guard.budget.namespace, guard.budget.name)).collect();
        let (pods, nodes) = (count(pods, "pod"), names(&nodes));
        let (lead, text) = match guards.as_slice() {
            [] => return None,
            [one] => (
                "PodDisruptionBudget at its limit",
                format!("{one} allows no eviction now: {pods} on {nodes} wait until it does."),
            ),
            several => (
                "Several PodDisruptionBudgets",
                format!(
                    "{} select the same pods, which the eviction API refuses: {pods} on {nodes}.",
                    several.join(", ")
                ),
            ),
        };
        Some(caution(lead, &text))
    };
    kept.into_iter().filter_map(said).collect()
}

/// Returns whether a pod moves from an on-demand node to a spot node.
fn becomes_spot(view: &PlanView<'_>, pod: &Moved<'_>) -> bool {
    let spot = CapacityType::Spot.as_str();
    let is_spot = |node: &NodeName| {
        let bought = view.node(node).and_then(|node| node.labels.get(label::CAPACITY_TYPE));
        bought.map(|bought| &**bought == spot)
    };
    let goes_to_spot = match pod.to {
        Some(To::Existing(node)) => is_spot(node) == Some(true),
        Some(To::New(vm)) => view
            .new_nodes()
            .any(|new| &*new.create.vm == vm && new.claim.primary.capacity_type == CapacityType::Spot),
        None => false,
    };
    goes_to_spot && is_spot(pod.node) == Some(false)
}

/// Reports new nodes that are expensive, or may become so.
fn prices(view: &PlanView<'_>) -> Vec<String> {
    let nodes = &view.plan.evidence.world.nodes;
    let dearest = nodes.iter().filter_map(|node| view.price(&node.name).known()).max();
    let mut dear: BTreeMap<(&str, MicroUsdPerHour), usize> = BTreeMap::new();
    let mut unknown = 0;
    for new in view.new_nodes() {
        match (new.placement.effective_price.known(), dearest) {
            (None, _) => unknown += 1,
            (Some(price), Some(dearest))
                if dearest.0 > 0 && price.0 >= dearest.0.saturating_mul(DEAR_TIMES) =>
            {
                *dear.entry((new.claim.primary.size.as_str(), price)).or_default() += 1;
            }
            (Some(_), _) => {}
        }
    }
    let month = |price: MicroUsdPerHour| escaped(&per_month(price, Sureness::Listed));
    let mut said: Vec<String> = dear
        .into_iter()
        .map(|((size, price), nodes)| {
            let today = dearest.map_or(String::new(), &month);
            let each = if nodes == 1 { "" } else { " each" };
            format!(
                "**High price**: {} of size {} {} {}{each}; the most expensive node today costs {today}.",
                count(nodes, "new node"),
                code_whole(size),
                verb(nodes, "costs", "cost"),
                month(price)
            )
        })
        .collect();
    if unknown > 0 {
        said.push(format!("**Unknown price**: of {}.", count(unknown, "new node")));
    }
    let after = view.plan.evidence.report.cost_after.effective;
    let most = at_most(view.plan).map(|cost| cost.effective);
    // A substitute that costs somewhat more is reported next to the sum.
    if let Some(most) = most.filter(|most| most.0 - after.0 > after.0 / 4) {
        said.push(format!(
            "**Up to {}**: what the nodes cost if Azure substitutes, instead of {}.",
            month(most),
            month(after)
        ));
    }
    said
}
