//! Explanations of the outcome for a pod, a node or a size, as lines for people: the answer first, then the chain of
//! rules.

pub mod learned;
pub mod plan;
pub mod pool;

use std::collections::BTreeMap;

use super::line::{Line, Style};
use super::money::{Sureness, per_month};
use super::words::{count, some};
use crate::catalog::NO_ZONE;
use crate::model::{
    DisruptionReason, MicroUsdPerHour, NodeName, Price, ResourceName, Resources, SchedulingRule, Zone,
};
use crate::snapshot::Daemon;
use crate::solve::explain::node::NodeFate;
use crate::solve::explain::{
    NodeExplanation, NotChosen, PodExplanation, PodOutcome, PoolUse, SizeExplanation,
};
use crate::solve::report::chain::{PoolChain, Step};
use crate::solve::shrink::alone::{Alone, InTheWay};
use crate::solve::{Held, NewNode, NodeRef, Target};

/// Maximum number of names in a line; the rest is counted.
const NAMES_IN_LINE: usize = 5;
/// Maximum number of substitutes listed.
const SUBSTITUTES_MAX: usize = 8;

/// Formats an hourly amount: `$0.1920/h`, `~` before an estimate, `?` if unknown.
pub(super) fn by_hour(price: Price) -> String {
    let mark = if price.is_estimate() { "~" } else { "" };
    match price.known() {
        Some(amount) => format!("{mark}${}.{:04}/h", amount.0 / 1_000_000, (amount.0 % 1_000_000) / 100),
        None => "? $/h".to_owned(),
    }
}

/// Formats resources in one line: `cpu 2, memory 4Gi`, without those that are 0.
fn amounts(resources: &Resources) -> String {
    let parts: Vec<String> = resources
        .iter()
        .filter(|(_, amount)| *amount != 0)
        .map(|(name, amount)| format!("{name} {}", name.show(amount)))
        .collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn described(node: &NewNode) -> String {
    format!("`{}`{}, {}, of pool `{}`", node.size, in_zone(&node.zone), node.capacity_type, node.pool)
}

/// Formats a zone; `0` is Azure's notation for no zone.
pub(super) fn in_zone(zone: &Zone) -> String {
    if zone.as_str() == NO_ZONE { ", regional (no zone)".to_owned() } else { format!(" in zone `{zone}`") }
}

/// Describes the outcome of several pods, grouped by outcome, the worst first.
#[must_use]
pub fn pods(title: &str, outcomes: &BTreeMap<PodOutcome, usize>, target: &Target) -> Vec<Line> {
    let all: usize = outcomes.values().sum();
    let mut lines = vec![Line::new(Style::Bold, format!("{title}: {}", count(all, "pod")))];
    // New nodes that look alike are one outcome.
    let mut alike: Vec<(String, usize)> = Vec::new();
    for (outcome, number) in outcomes {
        let text = said(outcome, target);
        match alike.iter_mut().find(|(known, _)| *known == text) {
            Some((_, there)) => *there += number,
            None => alike.push((text, *number)),
        }
    }
    let width = all.to_string().len();
    let line =
        |(text, number): (String, usize)| Line::new(Style::Plain, format!("  {number:>width$} × {text}"));
    lines.extend(alike.into_iter().map(line));
    lines
}

/// Describes a DaemonSet: where its pods run and what they request.
#[must_use]
pub fn daemon(daemon: &Daemon) -> Vec<Line> {
    let Daemon { namespace, name, spec, is_assumed } = daemon;
    let assumed = if *is_assumed { " (assumed: AKS runs it)" } else { "" };
    let title = format!("daemonset `{namespace}/{name}`{assumed}: a pod on every node that it may run on");
    // The pod count is always 1.
    let requests = spec.requests.iter().filter(|(name, _)| **name != ResourceName::Pods);
    let requests = requests.map(|(name, amount)| (name.clone(), amount)).collect();
    let takes = format!("  takes {} of each such node, before any other pod", amounts(&requests));
    vec![Line::new(Style::Bold, title), Line::new(Style::Plain, takes)]
}

/// Explains why a pod is placed on its node, or on none.
#[must_use]
pub fn pod(explanation: &PodExplanation, target: &Target) -> Vec<Line> {
    let PodExplanation { pod, outcome, without, pools, nodes, preferences } = explanation;
    let mut lines = vec![Line::new(Style::Bold, format!("pod `{pod}` {}", said(outcome, target)))];
    if matches!(outcome, PodOutcome::Unknown | PodOutcome::Runs(_) | PodOutcome::NotPlanned) {
        return lines;
    }
    lines.extend(why_there(outcome, nodes, target));
    let given_up = preferences.iter().flat_map(super::page::preferences::of_pod);
    lines.extend(given_up.map(|text| Line::new(Style::Plain, format!("  {text}"))));
    if !nodes.is_empty() {
        lines.push(Line::blank());
        let without = without.as_ref().map_or(String::new(), |rules| format!(" (without `{rules}`)"));
        lines.push(Line::new(Style::Bold, format!("Nodes that exist{without}:")));
        let verdict = |because: &Option<String>| because.clone().unwrap_or_else(|| "has room".to_owned());
        lines.extend(
            nodes
                .iter()
                .map(|(name, because)| Line::new(Style::Plain, format!("  `{name}`: {}", verdict(because)))),
        );
    }
    let is_unplaced = matches!(outcome, PodOutcome::Unplaced { .. });
    for chain in pools {
        lines.push(Line::blank());
        lines.extend(pool_chain(chain, without.as_deref(), is_unplaced));
    }
    lines
}

/// Explains why a placed pod is on its node and not on another.
fn why_there(outcome: &PodOutcome, nodes: &[(NodeName, Option<String>)], target: &Target) -> Vec<Line> {
    let plain = |text: String| Line::new(Style::Plain, text);
    match outcome {
        PodOutcome::Placed(NodeRef::Existing(_)) => {
            vec![plain("  existing nodes are filled before new ones are created".to_owned())]
        }
        PodOutcome::Placed(NodeRef::New(place)) => {
            let Some(node) = target.new.get(*place) else { return Vec::new() };
            let (price, pods) = (by_hour(node.effective_price), count(node.pods.len(), "pod"));
            let first = match nodes {
                [] => "no existing node fits; ",
                // A preference or headroom may keep it off an existing node with free capacity.
                nodes if nodes.iter().any(|(_, because)| because.is_none()) => "",
                _ => "no node that is kept fits; ",
            };
            let mut lines = vec![plain(match &node.opened_for {
                Some(pod) => {
                    format!(
                        "  {first}the new node costs {price}, is shared by {pods}, and is created for pod `{pod}`"
                    )
                }
                None => format!(
                    "  the new node costs {price}, is shared by {pods}, and is created because its pool has `replicas`"
                ),
            })];
            let other = node.substitutes.iter().find(|next| next.size != node.size);
            lines.extend(other.map(|next| plain(format!("  {}", next_best(node, next)))));
            lines
        }
        PodOutcome::Unplaced { .. }
        | PodOutcome::Held { .. }
        | PodOutcome::Runs(_)
        | PodOutcome::NotPlanned
        | PodOutcome::Unknown => Vec::new(),
    }
}

/// Describes the extra cost of the next best choice for a node.
fn next_best(node: &NewNode, next: &crate::solve::Substitute) -> String {
    let what = format!("`{}`{}, {}", next.size, in_zone(&next.zone), next.capacity_type);
    match (node.effective_price.known(), next.effective_price.known()) {
        (Some(own), Some(_)) => {
            let more = next.effective_price.map(|price| price - own);
            match more.known() {
                Some(amount) if amount.0 == 0 => format!("{what} would hold the same pods at the same price"),
                Some(_) | None => format!("next best for the same pods: {what}, {} more", by_hour(more)),
            }
        }
        (None, _) | (_, None) => {
            format!("{what} would hold the same pods; how the prices compare is not known")
        }
    }
}

fn said(outcome: &PodOutcome, target: &Target) -> String {
    match outcome {
        PodOutcome::Runs(node) => format!("runs on node `{node}` and stays there"),
        PodOutcome::Placed(NodeRef::Existing(node)) => format!("is placed on existing node `{node}`"),
        PodOutcome::Placed(NodeRef::New(place)) => match target.new.get(*place) {
            Some(node) => format!("is placed on a new node: {}", described(node)),
            None => "is placed on a new node".to_owned(),
        },
        PodOutcome::Unplaced { rule, because, nearest } => {
            let nearest = nearest.as_ref().map_or(String::new(), |nearest| format!("; nearest: {nearest}"));
            format!("fits nowhere: {rule}: {because}{nearest}")
        }
        PodOutcome::Held { waits_for, because } if waits_for == Held::TRIED => format!("waits: {because}"),
        PodOutcome::Held { waits_for, because } => format!("is held back by {waits_for}: {because}"),
        PodOutcome::NotPlanned => "is not planned: it leaves with its node, or is being deleted".to_owned(),
        PodOutcome::Unknown => "is not in the input".to_owned(),
    }
}

fn pool_chain(chain: &PoolChain, without: Option<&str>, is_unplaced: bool) -> Vec<Line> {
    let verdict = match (&chain.miss, without) {
        (None, None) if is_unplaced => {
            (Style::Plain, "a new node could hold it, were it not for the other pods".to_owned())
        }
        (None, None) => (Style::Add, "a new node could hold it".to_owned()),
        (None, Some(rules)) => (Style::Plain, format!("a new node could hold it if `{rules}` allows it")),
        (Some(miss), _) => (Style::Remove, format!("no: {}: {}", miss.rule, miss.because)),
    };
    let mut lines =
        vec![Line::new(Style::Bold, format!("Pool `{}`: ", chain.pool)).with(verdict.0, verdict.1)];
    if let Some(rules) = without {
        let why = match rules == SchedulingRule::Volumes.as_str() {
            true => "since it is not known where they are",
            false => "which is not planned with yet",
        };
        let what = format!("  without `{rules}`, {why}");
        lines.push(Line::new(Style::Plain, what));
    }
    lines.extend(excluding_steps(chain));
    if let Some(nearest) = &chain.nearest {
        let what = match (&chain.miss, without) {
            (Some(_), _) => "came closest",
            (None, None) if is_unplaced => "is the cheapest that could",
            (None, None) => "is the cheapest that would do",
            (None, Some(_)) => "is the cheapest that the other rules allow",
        };
        lines.push(Line::new(Style::Plain, format!("  `{nearest}` {what}")));
    }
    lines
}

/// Returns a line for each rule that excludes sizes, with how many are left.
fn excluding_steps(chain: &PoolChain) -> Vec<Line> {
    // The first rule checks the pool and not its sizes: if it passes, all sizes are left.
    let every = chain.steps.first().filter(|step| step.because.is_none()).map(|step| step.sizes_left);
    let mut left = every;
    let mut excluding: Vec<&Step> = Vec::new();
    for step in &chain.steps {
        if step.because.is_some() || left != Some(step.sizes_left) {
            excluding.push(step);
        }
        left = Some(step.sizes_left);
    }
    if let (true, Some(every)) = (excluding.is_empty(), every) {
        return vec![Line::new(
            Style::Plain,
            format!("  no rule excludes any of its {}", count(every, "size")),
        )];
    }
    let width = excluding.iter().map(|step| step.rule.to_string().chars().count()).max().unwrap_or(0);
    let line = |(place, step): (usize, &&Step)| {
        let left = match every.filter(|_| place == 0) {
            Some(every) => format!("{} of {}", step.sizes_left, count(every, "size")),
            None => count(step.sizes_left, "size"),
        };
        let because = step.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
        Line::new(Style::Plain, format!("  {:<width$}  {left} left{because}", step.rule.to_string()))
    };
    excluding.iter().enumerate().map(line).collect()
}

/// Explains why a node exists, has its size, or is deleted. `name` is what the user called it; `held` is what keeps a
/// node for now that would be deleted.
#[must_use]
pub fn node(explanation: &NodeExplanation, name: &str, held: Option<&str>) -> Vec<Line> {
    match explanation {
        NodeExplanation::Unknown => {
            vec![Line::new(Style::Bold, format!("node `{name}` is not in the input and not in the plan"))]
        }
        NodeExplanation::Existing { node, fate, runs, placed, room } => {
            let fate = match fate {
                NodeFate::StaysInUse(alone) => {
                    format!("is kept: it runs {}, and {}", count(runs.len(), "pod"), kept_by(alone))
                }
                NodeFate::Stays(None) if !runs.is_empty() => {
                    format!("is kept: it runs {}", count(runs.len(), "pod"))
                }
                NodeFate::Stays(None) if !placed.is_empty() => {
                    "is kept: Pending pods are placed on it".to_owned()
                }
                NodeFate::Stays(None) => "is kept".to_owned(),
                NodeFate::Stays(Some(because)) => format!("is kept: {because}"),
                NodeFate::Leaves => "is being deleted already".to_owned(),
                NodeFate::Removed(reason) => match held {
                    Some(because) => format!("is kept for now: {}, but {because}", in_words(*reason)),
                    None => format!("is deleted: {}", in_words(*reason)),
                },
            };
            let pods = |pods: &[crate::model::PodKey]| match pods {
                [] => "none".to_owned(),
                pods => format!("{}: {}", count(pods.len(), "pod"), some(pods, NAMES_IN_LINE)),
            };
            vec![
                Line::new(Style::Bold, format!("node `{node}` {fate}")),
                Line::new(Style::Plain, format!("  runs      {}", pods(runs))),
                Line::new(Style::Plain, format!("  receives  {}", pods(placed))),
                Line::new(Style::Plain, format!("  has left, after these pods: {}", amounts(room))),
            ]
        }
        NodeExplanation::New { node, room, dearer_by } => new_node(node, room, dearer_by, name),
    }
}

/// Describes why a node with pods is kept.
fn kept_by(alone: &Alone) -> String {
    let monthly = |rate: MicroUsdPerHour| per_month(rate, Sureness::Estimated);
    let (by, but) = match alone {
        Alone::Kept(because) => return because.clone(),
        Alone::PodsLeftOver => return "without it not all of its pods are certain to fit".to_owned(),
        Alone::Needed => {
            return "without it remaining pods would lose the pods that their `podAffinity` requires"
                .to_owned();
        }
        Alone::Unpriced => return "the fleet's cost without it is unknown".to_owned(),
        Alone::Dearer(MicroUsdPerHour(0)) => return "without it the fleet would cost as much".to_owned(),
        Alone::Dearer(more) => return format!("without it the fleet would cost {} more", monthly(*more)),
        Alone::Cheaper { by, but } => (by, but),
    };
    let but = match but {
        InTheWay::TooLittle(least) => {
            format!("for less than {} its pods are not moved", monthly(*least))
        }
        InTheWay::Unbalanced => {
            "that is too little for the disruption (`consolidationPolicy: Balanced`)".to_owned()
        }
        InTheWay::LighterPool => "a pod would go to a lighter pool than it could have".to_owned(),
        InTheWay::Headroom => "headroom (CapacityBuffers) would be lost".to_owned(),
        InTheWay::Scheduler(least) => {
            let least = monthly(*least);
            format!(
                "the scheduler alone might then find no place for all pods: for less than {least} that is not risked"
            )
        }
        InTheWay::Other => "that is given up for preferences, or no step to there was found".to_owned(),
    };
    format!("without it the fleet would cost {} less, but {but}", monthly(*by))
}

/// Returns the reason for deleting a node, as a sentence about it.
const fn in_words(reason: DisruptionReason) -> &'static str {
    match reason {
        DisruptionReason::Empty => "it is empty",
        DisruptionReason::Expired => "it is older than its pool's `expireAfter`",
        DisruptionReason::Unhealthy => "it has been unhealthy for too long",
        DisruptionReason::Drifted => "it differs from its pool's template (drift)",
        DisruptionReason::Excess => "its pool has fewer `replicas`",
        DisruptionReason::Underutilized => "its pods fit on other or cheaper nodes",
        DisruptionReason::Destroyed => "it is destroyed with all others",
        DisruptionReason::Deleted => "it was deleted by hand",
    }
}

fn new_node(
    node: &NewNode,
    room: &Resources,
    dearer_by: &[(crate::solve::Substitute, Price)],
    name: &str,
) -> Vec<Line> {
    let sureness = Sureness::of(node.effective_price.is_estimate());
    let month = node
        .effective_price
        .known()
        .map_or(String::new(), |price| format!(", {}", per_month(price, sureness)));
    let mut lines = vec![
        Line::new(Style::Bold, format!("node `{name}` is new: {}", described(node))),
        Line::new(Style::Plain, format!("  costs      {}{month}", by_hour(node.effective_price))),
        Line::new(
            Style::Plain,
            match &node.opened_for {
                Some(pod) => format!("  created for pod `{pod}`, which fits no pool of higher weight"),
                None => "  created because its pool has `replicas`".to_owned(),
            },
        ),
        Line::new(
            Style::Plain,
            format!("  holds      {}: {}", count(node.pods.len(), "pod"), some(&node.pods, NAMES_IN_LINE)),
        ),
        Line::new(Style::Plain, format!("  asked for  {}", amounts(&node.requests))),
        Line::new(Style::Plain, format!("  has left, after these pods: {}", amounts(room))),
    ];
    if dearer_by.is_empty() {
        lines.push(Line::new(Style::Plain, "  nothing else that is offered holds these pods"));
        return lines;
    }
    lines.push(Line::blank());
    lines.push(Line::new(Style::Bold, "The same pods would also fit on:"));
    for (other, more) in dearer_by.iter().take(SUBSTITUTES_MAX) {
        let more = match more.known() {
            Some(amount) if amount.0 == 0 => "the same price".to_owned(),
            Some(_) => format!("{} more", by_hour(*more)),
            None => "price not known".to_owned(),
        };
        let what = format!("  `{}`{}, {}: {more}", other.size, in_zone(&other.zone), other.capacity_type);
        lines.push(Line::new(Style::Plain, what));
    }
    if let Some(more) = dearer_by.len().checked_sub(SUBSTITUTES_MAX).filter(|more| *more > 0) {
        lines.push(Line::new(Style::Dim, format!("  and {more} more")));
    }
    lines
}

/// Explains why a size is used or not, by pool; `refused` is why the region's list excludes it.
#[must_use]
pub fn size(explanation: &SizeExplanation, refused: Option<&str>) -> Vec<Line> {
    let SizeExplanation { size, pools } = explanation;
    let mut lines = vec![Line::new(Style::Bold, format!("size `{size}`"))];
    if let Some(refused) = refused {
        lines.push(Line::new(Style::Plain, format!("  serves no node: {refused}")));
    }
    if pools.is_empty() {
        lines.push(Line::new(Style::Plain, "  there is no NodePool in the input"));
    }
    for (pool, how) in pools {
        let how = match how {
            PoolUse::Used(nodes) => format!("used: {} in this plan", count(*nodes, "node")),
            PoolUse::NotCheapest { effective_price, because, needs_name } => {
                let named = if *needs_name {
                    "; it serves only where a requirement names it or its family"
                } else {
                    ""
                };
                format!(
                    "allowed, from {}, and not chosen: {}{named}",
                    by_hour(*effective_price),
                    not_chosen(because)
                )
            }
            PoolUse::Refused { rule, because } => format!("not allowed: {rule}: {because}"),
            PoolUse::PoolUnused(because) => format!("this pool creates no node: {because}"),
            PoolUse::NotThere => "the region does not offer it".to_owned(),
        };
        lines.push(Line::new(Style::Plain, format!("  pool `{pool}`: {how}")));
    }
    lines
}

fn not_chosen(because: &NotChosen) -> String {
    match because {
        NotChosen::NothingWaits => "nothing waits that needs a new node".to_owned(),
        NotChosen::OtherPools => "no Pending pod is placed on a new node of this pool".to_owned(),
        NotChosen::HoldsNone => {
            "it does not hold the pods of any new node, or cannot be had where they go".to_owned()
        }
        NotChosen::NoQuota(because) => because.clone(),
        NotChosen::CountsDearer { chosen } => format!(
            "it costs no more than `{chosen}` and counts as dearer, being scarce or refused (`prefer: availability`)"
        ),
        NotChosen::Dearer { nodes, chosen, by } => {
            let more = match by.known() {
                Some(amount) if amount.0 == 0 => "costs the same as".to_owned(),
                Some(_) => format!("costs {} more than", by_hour(*by)),
                None => "has no known price to compare with".to_owned(),
            };
            let nodes = count(*nodes, "new node");
            format!("it would serve for {nodes} in this plan, and {more} `{chosen}`")
        }
    }
}
