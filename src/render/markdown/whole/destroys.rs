//! Nodes to delete, by name: properties, requests, price, age, reason, and where their pods move. Equal nodes without
//! pods share an item that lists them all.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::fleet::percent;
use super::load::{Loaded, before};
use crate::model::NodeName;
use crate::model::{Price, label};
use crate::plan::owner::PodOwner;
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::money::{Sureness, per_month};
use crate::render::page::moved::{Moved, To, tally};
use crate::render::page::removals::{Removed, removed, why_removed};
use crate::render::page::shape::zone_name;
use crate::render::view::PlanView;
use crate::render::words::{count, verb};

/// From this number of removals on, the pods of a node are on one line.
const SHORT_FROM: usize = 30;

/// Maximum number of nodes listed as destinations of one owner's pods.
const DESTINATIONS_MAX: usize = 4;

/// Returns an item for each node to delete, by name, with nested items; nodes without pods come last.
pub(super) fn items(view: &PlanView<'_>, moved: &[Moved<'_>]) -> Vec<String> {
    let removed = removed(view);
    let loaded: BTreeMap<&str, Loaded<'_>> = before(view).into_iter().map(|node| (node.name, node)).collect();
    let mut pods: BTreeMap<&NodeName, Vec<Moved<'_>>> = BTreeMap::new();
    for pod in moved {
        pods.entry(pod.node).or_default().push(*pod);
    }
    let is_short = removed.len() >= SHORT_FROM;
    let mut items = Vec::new();
    let mut equal: BTreeMap<Equal, Vec<&NodeName>> = BTreeMap::new();
    for gone in removed {
        let loaded = loaded.get(gone.node.as_str());
        let own = pods.get(gone.node).map_or(&[][..], Vec::as_slice);
        let inside = inside(view, &gone, own);
        let facts =
            Equal { what: what(view, &gone), requested: requested(loaded), why: why(view, gone), inside };
        if own.is_empty() {
            equal.entry(facts).or_default().push(gone.node);
            continue;
        }
        items.extend(facts.item(&[gone.node], view, is_short));
    }
    items.extend(equal.into_iter().flat_map(|(facts, nodes)| facts.item(&nodes, view, is_short)));
    items
}

/// Text about a node, without its name and age.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Equal {
    /// Pool, size, zone, capacity type, price.
    what: String,
    requested: String,
    why: String,
    /// Nested items: its pods and other details.
    inside: Vec<String>,
}

impl Equal {
    fn item(self, nodes: &[&NodeName], view: &PlanView<'_>, is_short: bool) -> Vec<String> {
        let Self { what, requested, why, inside } = self;
        let names: Vec<String> = nodes.iter().map(|node| code_whole(node.as_str())).collect();
        let names = names.join(", ");
        let head = match nodes.len() {
            1 => names,
            several => format!("{}: {names}; each", count(several, "equal node")),
        };
        let age = ages(view, nodes).map_or(String::new(), |age| format!(", {age}"));
        let mut items = vec![format!("{head} ({what}){age}, {requested}{why}")];
        match is_short && inside.len() > 1 {
            true => items.push(format!("  {}", inside.join("; "))),
            false => items.extend(inside.into_iter().map(|item| format!("  {item}"))),
        }
        items
    }
}

/// Describes pool, size, zone, capacity type and price.
fn what(view: &PlanView<'_>, gone: &Removed<'_>) -> String {
    let node = view.node(gone.node);
    let value = |key: &str| node.and_then(|node| node.labels.get(key)).map(ToString::to_string);
    let pool = node.and_then(|node| node.pool.as_ref()).map(|pool| format!("pool `{pool}`"));
    let size = value(label::INSTANCE_TYPE).map(|size| format!("`{size}`"));
    let zone = value(label::ZONE).map(|zone| zone_name(&zone));
    let price = view.price(gone.node);
    let price = price.known().map_or("price not known".to_owned(), |known| {
        per_month(known, Sureness::of(matches!(price, Price::Estimated(_))))
    });
    let known = [pool, size, zone, value(label::CAPACITY_TYPE), Some(price)];
    sentence_whole(&known.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn requested(loaded: Option<&Loaded<'_>>) -> String {
    let Some(Loaded { used, allocatable, .. }) = loaded else { return "requests not known".to_owned() };
    let (cpu, memory) = (percent(used.cpu, allocatable.cpu), percent(used.memory, allocatable.memory));
    format!("{cpu} of CPU and {memory} of memory requested")
}

fn why(view: &PlanView<'_>, gone: Removed<'_>) -> String {
    let why = why_removed(view, gone);
    let replaced = if gone.is_replaced { ". It is replaced" } else { "" };
    format!("{replaced}{}", why.map_or(String::new(), |why| format!(". Why: {}", sentence_whole(&why))))
}

/// Describes the age of nodes in whole days; `None` if unknown.
fn ages(view: &PlanView<'_>, nodes: &[&NodeName]) -> Option<String> {
    let seen = view.plan.evidence.seen_at?;
    let ages = nodes.iter().map(|node| view.node(node)?.created.map(|created| days(seen, created)));
    let ages: Vec<i64> = ages.collect::<Option<Vec<i64>>>()?;
    let (least, most) = (ages.iter().min()?, ages.iter().max()?);
    let days = |days: i64| count(usize::try_from(days).unwrap_or(0), "day");
    Some(if least == most {
        format!("{} old", days(*most))
    } else {
        format!("{least} to {} old", days(*most))
    })
}

fn days(seen: Timestamp, created: Timestamp) -> i64 {
    seen.duration_since(created).as_hours().max(0) / 24
}

/// Lists the pods of a node by owner, and how it drains. The approval covers the owners that `spec` lists.
fn inside(view: &PlanView<'_>, gone: &Removed<'_>, pods: &[Moved<'_>]) -> Vec<String> {
    let removal = view.plan.spec.execution.as_ref().and_then(|execution| execution.removals.get(gone.id));
    let mut approved: Vec<&PodOwner> = removal.iter().flat_map(|removal| &removal.owners).collect();
    let mut by_owner: BTreeMap<String, Vec<Moved<'_>>> = BTreeMap::new();
    for pod in pods {
        by_owner.entry(pod.owner()).or_default().push(*pod);
    }
    let mut items = Vec::new();
    for (owner, pods) in &by_owner {
        let place = approved.iter().position(|approved| is_of(approved, &pods[0]));
        let of = place.map(|place| approved.remove(place));
        let uid = of
            .and_then(|owner| owner.uid.as_ref())
            .map_or(String::new(), |uid| format!(" (UID {})", code_whole(uid)));
        let not = if removal.is_some() && of.is_none() { "; not among the approved owners" } else { "" };
        let single = if pods.iter().any(Moved::is_single) { ", its only replica" } else { "" };
        let number = match pods[0].workload() {
            Some(_) => format!("{} of ", count(pods.len(), "pod")),
            None => String::new(),
        };
        let to = if pods[0].is_lost() {
            "→ lost: no controller creates it again".to_owned()
        } else {
            destinations(pods)
        };
        items.push(format!("{number}{}{uid}{single} {to}{not}", sentence_whole(owner)));
    }
    if !approved.is_empty() {
        let others: Vec<String> = approved.into_iter().map(named).collect();
        items.push(format!("approved for pods of {} as well, of which none is there", others.join(", ")));
    }
    items.extend(removal.and_then(|removal| removal.grace).map(grace));
    items
}

/// Returns whether an approved owner is the owner of this pod.
fn is_of(owner: &PodOwner, pod: &Moved<'_>) -> bool {
    let is_alike = owner.namespace == pod.group.namespace;
    match pod.workload() {
        Some(workload) => {
            owner.namespace == workload.namespace
                && owner.kind == workload.kind
                && owner.name == workload.name
                && owner.uid.is_none()
        }
        None => is_alike && owner.is_bare() && &*owner.name == pod.pod,
    }
}

fn named(owner: &PodOwner) -> String {
    let PodOwner { namespace, kind, name, uid } = owner;
    let uid = uid.as_ref().map_or(String::new(), |uid| format!(" (UID {})", code_whole(uid)));
    format!("{} {}{uid}", code_whole(kind), code_whole(&format!("{namespace}/{name}")))
}

fn destinations(pods: &[Moved<'_>]) -> String {
    let mut to = tally(pods.iter().map(|pod| pod.to));
    let rest = to.split_off(to.len().min(DESTINATIONS_MAX));
    let is_one = to.len() == 1 && rest.is_empty();
    let said = to.into_iter().map(|(to, number)| {
        let place = match to {
            Some(To::Existing(node)) => code_whole(node.as_str()),
            Some(To::New(vm)) => format!("new node {}", code_whole(vm)),
            None => "no node (stays Pending)".to_owned(),
        };
        if is_one { place } else { format!("{place} ({number})") }
    });
    let mut said: Vec<String> = said.collect();
    if !rest.is_empty() {
        said.push(format!("{} {}", rest.len(), verb(rest.len(), "other node", "other nodes")));
    }
    format!("→ {}", said.join(", "))
}

fn grace(grace: SignedDuration) -> String {
    format!("drains for at most {}; pods that are left then are killed", code_whole(&format!("{grace:#}")))
}
