//! Tables of the nodes, deletions first: the content of the picture, each node with its price, reason, and pods by
//! destination.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::fleet::{Fate, Fleet, Node, Side};
use super::picture::{pending, zone};
use super::pods::{Place, Pod};
use super::text::{paragraphs, sentence};
use crate::model::Price;
use crate::render::money::{Sureness, per_month};
use crate::render::words::{count, verb};

/// From this number of kept nodes on their table is collapsed: changes matter more.
const KEPT_MAX: usize = 20;

/// Returns a table for each fate of nodes.
pub(super) fn tables(fleet: &Fleet<'_>) -> Markup {
    let mut by_fate: BTreeMap<Fate, Vec<usize>> = BTreeMap::new();
    for (place, node) in fleet.nodes.iter().enumerate() {
        by_fate.entry(node.fate).or_default().push(place);
    }
    html! {
        @for (fate, places) in &by_fate {
            @let title = format!("{}: {}", title(*fate), count(places.len(), "node"));
            @if *fate == Fate::Kept && places.len() > KEPT_MAX {
                details class="kept-nodes" { summary { h3 { (title) } } (table(fleet, places, &title)) }
            } @else {
                h3 { (title) }
                (table(fleet, places, &title))
            }
        }
    }
}

const fn title(fate: Fate) -> &'static str {
    match fate {
        Fate::Deleted => "Deleted",
        Fate::Leaving => "Leaving already",
        Fate::Ignored => "Ignored",
        Fate::Created => "Created",
        Fate::Updated => "Updated",
        Fate::Adopted => "Adopted",
        Fate::Forgotten => "No longer managed",
        Fate::Kept => "Kept",
    }
}

fn table(fleet: &Fleet<'_>, places: &[usize], title: &str) -> Markup {
    html! {
        table aria-label=(title) {
            thead { tr {
                @for head in ["Node", "Pool", "Size", "Price", "Why", "Pods"] { th scope="col" { (head) } }
            } }
            tbody { @for place in places { (row(fleet, *place)) } }
        }
    }
}

fn row(fleet: &Fleet<'_>, place: usize) -> Markup {
    let node = &fleet.nodes[place];
    let parts = pods_of(fleet, place);
    let counted = parts.iter().filter(|(part, _)| !matches!(part, Part::Daemons | Part::Headroom));
    let pods: usize = counted.map(|(_, pods)| pods.len()).sum();
    let is_unknown = pods == 0 && (node.before == Side::Unknown || node.after == Side::Unknown);
    let pods = if is_unknown { "pods not known".to_owned() } else { count(pods, "pod") };
    html! {
        tr {
            th scope="row" { (node.name) }
            td { (node.pool.unwrap_or("(no NodePool)")) }
            td { (size(node)) }
            td { (price(node.price)) }
            td { @if let Some(because) = &node.because { (sentence(because)) } }
            td { details {
                summary { (pods) }
                div id=(format!("n{place}")) {
                    (paragraphs(&node.said))
                    @if node.before == Side::Unknown || node.after == Side::Unknown {
                        p class="dim" { "The plan does not say which pods are on it." }
                    }
                    (listed(fleet, parts.iter().map(|(part, pods)| (part.words(pods.len()), *part == Part::Move, pods))))
                }
            } }
        }
    }
}

/// Describes a node: size, zone and capacity type.
fn size(node: &Node<'_>) -> String {
    let size = if node.size.is_empty() { "size not known" } else { node.size };
    let zone = zone(node.zone);
    let parts = [size, &zone, node.capacity_type].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// Formats a price like the terminal.
pub(super) fn price(price: Price) -> String {
    price
        .known()
        .map_or("price not known".to_owned(), |rate| per_month(rate, Sureness::of(price.is_estimate())))
}

/// A part of the pods of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Move,
    BecomePending,
    End,
    Come,
    Start,
    Stay,
    Headroom,
    Daemons,
}

impl Part {
    /// Returns the part that a pod belongs to, seen from a node.
    fn of(pod: &Pod<'_>, node: usize) -> Self {
        let own = Place::Node(node);
        match (pod.is_daemon, pod.is_headroom) {
            (true, _) => Self::Daemons,
            (false, true) => Self::Headroom,
            (false, false) if pod.before == own => match pod.after {
                Place::Node(to) if to == node => Self::Stay,
                Place::Node(_) => Self::Move,
                Place::Pending => Self::BecomePending,
                Place::None => Self::End,
            },
            (false, false) if matches!(pod.before, Place::Node(_)) => Self::Come,
            (false, false) => Self::Start,
        }
    }

    /// Describes the fate of this many pods.
    fn words(self, pods: usize) -> String {
        let number = |noun: &str| count(pods, noun);
        match self {
            Self::Move => format!("{} {}", number("pod"), verb(pods, "moves", "move")),
            Self::BecomePending => format!("{} {} Pending", number("pod"), verb(pods, "becomes", "become")),
            Self::End => format!("{} {} being deleted", number("pod"), verb(pods, "is", "are")),
            Self::Come => format!("{} {} from other nodes", number("pod"), verb(pods, "comes", "come")),
            Self::Start => number("Pending pod"),
            Self::Stay => format!("{} {}", number("pod"), verb(pods, "stays", "stay")),
            Self::Headroom => format!("headroom for {} (CapacityBuffers)", number("pod")),
            Self::Daemons => number("DaemonSet pod"),
        }
    }
}

fn pods_of(fleet: &Fleet<'_>, place: usize) -> BTreeMap<Part, Vec<usize>> {
    let node = &fleet.nodes[place];
    let mut parts: BTreeMap<Part, Vec<usize>> = BTreeMap::new();
    let is_known = matches!(node.before, Side::Holds(..));
    let mut add = |side: &Side, is_here: bool| {
        let Side::Holds(pods, _) = side else { return };
        for pod in pods {
            let known = &fleet.pods[*pod];
            // A pod that is there before and after is listed once; a comparison only knows the pods of one side.
            if is_here || !is_known || known.before != Place::Node(place) {
                parts.entry(Part::of(known, place)).or_default().push(*pod);
            }
        }
    };
    add(&node.before, true);
    add(&node.after, false);
    parts
}

/// Returns pods under the description of their part, with their destination if the part has one. Each full name is a
/// separate element, which costs a few bytes for each of 30,000 pods.
fn listed<'p>(fleet: &Fleet<'_>, parts: impl Iterator<Item = (String, bool, &'p Vec<usize>)>) -> Markup {
    html! {
        dl { @for (words, says_where, pods) in parts {
            dt { (sentence(&words)) }
            dd { @for pod in pods.iter().map(|pod| &fleet.pods[*pod]) {
                // Nobody searches for the names of placeholders.
                @if !pod.is_headroom {
                    i { (pod.namespace) "/" (pod.name) }
                    @if let (true, Place::Node(to)) = (says_where, pod.after) { " → " (fleet.nodes[to].name) }
                    " "
                }
            } }
        } }
    }
}

/// Returns the Pending pods before and after, each by its destination or origin; empty if there are none.
pub(super) fn pending_pods(fleet: &Fleet<'_>) -> Markup {
    let parts = |is_after: bool| {
        let mut parts: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for place in pending(fleet, is_after) {
            let pod = &fleet.pods[place];
            parts.entry(if is_after { pod.before } else { pod.after }).or_default().push(place);
        }
        parts
    };
    let said = |place: &Place, pods: usize, is_after: bool| {
        let pods = (count(pods, "pod"), pods);
        match (place, is_after) {
            (Place::Node(node), false) => {
                format!("{} {} placed on `{}`", pods.0, verb(pods.1, "is", "are"), fleet.nodes[*node].name)
            }
            (Place::Node(node), true) => {
                format!("{} {} from `{}`", pods.0, verb(pods.1, "comes", "come"), fleet.nodes[*node].name)
            }
            (Place::Pending, _) => format!("{} {} Pending", pods.0, verb(pods.1, "stays", "stay")),
            (Place::None, _) => format!("{} {} not planned", pods.0, verb(pods.1, "is", "are")),
        }
    };
    html! {
        @for (is_after, id, title) in [(false, "pending-before", "Pending before"), (true, "pending-after", "Pending after")] {
            @let parts = parts(is_after);
            @if !parts.is_empty() {
                @let pods: usize = parts.values().map(Vec::len).sum();
                details class="pending-pods" {
                    summary { h3 { (title) ": " (count(pods, "pod")) } }
                    div id=(id) { (listed(fleet, parts.iter().map(|(place, pods)| (said(place, pods.len(), is_after), false, pods)))) }
                }
            }
        }
    }
}
