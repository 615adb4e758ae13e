//! The fleet before and after, side by side: rows of boxes.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::draw::{Load, VCPUS_UNKNOWN};
use super::fleet::{Fate, Fleet, Node, Side};
use super::pods::Place;
use super::rows::{Drawn, Row, is_quiet, rows};
use super::text::sentence;
use crate::model::ResourceName;
use crate::plan::fleet::FleetSum;
use crate::render::page::shape::zone_name;
use crate::render::view::PlanView;
use crate::render::words::count;

/// Lower bound of the maximum width of a box of Pending pods, in vCPUs, for fleets of small nodes.
const PENDING_VCPUS_MIN: u32 = 32;

/// Names of the two sides, and a note next to each.
#[derive(Debug)]
pub(super) struct Titles {
    pub(super) names: [String; 2],
    pub(super) facts: [String; 2],
}

impl Titles {
    /// Returns the titles for a plan: the number of nodes and their requests.
    pub(super) fn of(view: &PlanView<'_>, fleet: &Fleet<'_>) -> Self {
        let names = ["Before".to_owned(), "After".to_owned()];
        let planned = facts(&FleetSum::planned(view.plan));
        let facts = match &view.plan.evidence.comparison {
            None => [facts(&FleetSum::today(view.plan)), planned],
            Some(comparison) => {
                let nodes = fleet.nodes.iter().filter(|node| node.before != Side::Absent).count();
                let [before, after] = [&comparison.before, &comparison.after]
                    .map(|side| format!("`{}`, when its plan is done: ", side.name));
                [before + &count(nodes, "node"), after + &planned]
            }
        };
        Self { names, facts }
    }
}

fn facts(sum: &FleetSum) -> String {
    let used = |(name, word): &(ResourceName, &str)| sum.used(name).map(|part| format!("{part} % of {word}"));
    let used: Vec<String> =
        [(ResourceName::Cpu, "CPU"), (ResourceName::Memory, "memory")].iter().filter_map(used).collect();
    let requested =
        if used.is_empty() { String::new() } else { format!(", {} requested", used.join(" and ")) };
    format!("{}{requested}", count(sum.nodes, "node"))
}

/// The picture and the widths of its boxes.
pub(super) struct Picture {
    pub(super) markup: Markup,
    /// The distinct vCPUs of its boxes.
    pub(super) widths: BTreeSet<u32>,
}

/// Draws a fleet.
pub(super) fn picture(fleet: &Fleet<'_>, titles: &Titles) -> Picture {
    let rows = rows(fleet);
    let pending = [false, true].map(|is_after| pending(fleet, is_after));
    let vcpus_max = fleet.vcpus_max();
    let pending_max = vcpus_max.max(PENDING_VCPUS_MIN);
    let has_pending = pending.iter().any(|pods| !pods.is_empty());
    let markup = html! {
        div class="fleet" {
            div class="row titles" {
                @for (name, facts) in titles.names.iter().zip(&titles.facts) {
                    h3 { (sentence(name)) " " span class="dim" { (sentence(facts)) } }
                }
            }
            @if has_pending {
                section class="row" aria-label="Pending pods" {
                    @for (side, pods) in pending.iter().enumerate() {
                        div class="cell" { (waiting(fleet, (side, pods), pending_max, titles)) }
                    }
                }
            }
            @for row in &rows {
                section class="row" aria-label=(title(row)) data-pool=(row.pool.unwrap_or_default()) {
                    @for side in 0..2 { div class="cell" { (cell(fleet, row, side, titles)) } }
                }
            }
        }
    };
    let own = fleet.nodes.iter().map(|node| node.vcpus.unwrap_or(VCPUS_UNKNOWN));
    let waiting = pending.iter().map(|pods| Load::of_pending(fleet, pods, pending_max).vcpus);
    Picture { markup, widths: own.chain(waiting).collect() }
}

/// Returns the pods that are Pending before or after.
pub(super) fn pending(fleet: &Fleet<'_>, is_after: bool) -> Vec<usize> {
    // For the first of two fleets they are unknown.
    if fleet.is_compared && !is_after {
        return Vec::new();
    }
    let pods = fleet.pods.iter().enumerate();
    pods.filter(|(_, pod)| {
        (if is_after { pod.after } else { pod.before }) == Place::Pending && !pod.is_headroom
    })
    .map(|(place, _)| place)
    .collect()
}

fn waiting(fleet: &Fleet<'_>, (side, pods): (usize, &[usize]), vcpus_max: u32, titles: &Titles) -> Markup {
    let load = Load::of_pending(fleet, pods, vcpus_max);
    html! {
        h4 { span class="side" { (sentence(&titles.names[side])) " · " } (count(pods.len(), "Pending pod")) }
        @if !pods.is_empty() {
            ul { li { a class="n pending" href=(if side == 0 { "#pending-before" } else { "#pending-after" }) {
                (load.draw())
                span { "on no node" }
            } } }
        }
    }
}

/// Returns the title of a row.
fn title(row: &Row<'_>) -> String {
    let pool = row.pool.map_or("no NodePool".to_owned(), |pool| format!("pool {pool}"));
    format!("{pool}, {}", zone(row.zone))
}

/// Returns the display name of a zone.
pub(super) fn zone(zone: &str) -> String {
    if zone.is_empty() { "zone not known".to_owned() } else { zone_name(zone) }
}

fn cell(fleet: &Fleet<'_>, row: &Row<'_>, side: usize, titles: &Titles) -> Markup {
    html! {
        h4 {
            span class="side" { (sentence(&titles.names[side])) " · " }
            (title(row)) " · " (count(row.counts[side], "node"))
        }
        @if !row.sides[side].is_empty() {
            ul {
                @for drawn in &row.sides[side] {
                    @match drawn {
                        Drawn::One(place) => { li { (one(fleet, *place, side)) } },
                        Drawn::Many(places) => { li { (many(fleet, places, side)) } },
                    }
                }
            }
        }
    }
}

fn side_of<'n>(node: &'n Node<'_>, side: usize) -> &'n Side {
    if side == 0 { &node.before } else { &node.after }
}

fn one(fleet: &Fleet<'_>, place: usize, side: usize) -> Markup {
    let node = &fleet.nodes[place];
    let load = Load::of(fleet, node, side_of(node, side));
    let (href, state) = (format!("#n{place}"), word(node.fate));
    if is_quiet(node, fleet) {
        let full = load.percent().map_or(String::new(), |percent| format!(", {percent} % full"));
        let label = format!("{}, {}, kept{full}", node.name, short(node.size));
        return html! { a class="n s" href=(href) aria-label=(label) { (load.draw()) } };
    }
    html! {
        a class=(format!("n {}", class(node.fate, load.is_unknown))) href=(href) {
            (load.draw())
            span { (short(node.size)) }
            b { (state) }
            small { (node.name) }
        }
    }
}

/// Draws identical nodes as one box, which lists them when opened.
fn many(fleet: &Fleet<'_>, places: &[usize], side: usize) -> Markup {
    let nodes = || places.iter().map(|place| &fleet.nodes[*place]);
    let loads = nodes().map(|node| Load::of(fleet, node, side_of(node, side))).collect();
    let load = Load::of_several(loads);
    let full = load.percent().map_or(String::new(), |percent| format!(", {percent} % full"));
    let size = places.first().map_or("", |place| fleet.nodes[*place].size);
    html! {
        details class="g" {
            summary class="n" { (load.draw()) span { (places.len()) " × " (short(size)) } small { "kept" (full) } }
            p { @for place in places { a class="l" href=(format!("#n{place}")) { (fleet.nodes[*place].name) } " " } }
        }
    }
}

/// Returns a size without its common prefix.
pub(super) fn short(size: &str) -> &str {
    if size.is_empty() { "size not known" } else { size.strip_prefix("Standard_").unwrap_or(size) }
}

/// Returns the word for a node's fate, after the terminal's symbol.
pub(super) const fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Deleted => "- deleted",
        Fate::Leaving => "- leaving already",
        Fate::Ignored => "ignored",
        Fate::Created => "+ created",
        Fate::Updated => "~ updated",
        Fate::Adopted => "i adopted",
        Fate::Forgotten => ". no longer managed",
        Fate::Kept => "kept",
    }
}

const fn class(fate: Fate, is_unknown: bool) -> &'static str {
    match (fate, is_unknown) {
        (Fate::Deleted | Fate::Leaving, _) => "remove",
        (Fate::Ignored, _) => "ignored",
        (Fate::Created, _) => "add",
        (Fate::Updated | Fate::Adopted | Fate::Forgotten, _) => "change",
        (Fate::Kept, true) => "kept unknown",
        (Fate::Kept, false) => "kept",
    }
}
