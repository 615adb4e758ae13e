//! Nodes that come, by group, with their names, what may be had instead, and for what at most.

use std::collections::BTreeMap;

use super::full;
use crate::plan::ClaimSpecId;
use crate::plan::execution::LaunchChoice;
use crate::render::escape::sentence_whole;
use crate::render::money::{Sureness, per_hour};
use crate::render::page::additions::purpose;
use crate::render::page::shape::{group_price, size_of_group, zone_name};
use crate::render::view::{Group, GroupKey, NewNodeView, PlanView};
use crate::render::words::count;

/// Returns an item for each group of nodes, with items inside it.
pub(super) fn items(view: &PlanView<'_>) -> Vec<String> {
    let groups = view.groups();
    groups.iter().flat_map(|(key, group)| of_group(view, key, group)).collect()
}

fn of_group(view: &PlanView<'_>, key: &GroupKey<'_>, group: &Group<'_>) -> Vec<String> {
    let GroupKey { pool, size, zone, capacity_type } = key;
    let said = format!(
        "{} of pool `{pool}`: `{size}`, {}, {capacity_type}: {}, {}, for {}",
        count(group.nodes.len(), "node"),
        zone_name(zone.as_str()),
        size_of_group(view, group),
        group_price(group),
        purpose(view, group),
    );
    let mut items = vec![sentence_whole(&said)];
    let mut by_claim: BTreeMap<&ClaimSpecId, Vec<&NewNodeView<'_>>> = BTreeMap::new();
    for node in &group.nodes {
        by_claim.entry(&node.create.spec).or_default().push(node);
    }
    let execution = view.plan.spec.execution.as_ref();
    for (claim, nodes) in by_claim {
        items.extend(nodes.iter().map(|node| format!("  {}", full::node(node.id, node.create, execution))));
        let asked = view.plan.spec.claims.get(claim);
        let asked = asked.map(|asked| full::claim(asked, claim, execution)).unwrap_or_default();
        items.extend(asked.into_iter().map(|item| format!("    {item}")));
        let choices = execution.map_or(&[][..], |execution| execution.choices(claim));
        items.extend(
            choices.iter().enumerate().map(|(place, choice)| format!("    {}", tried(place, choice))),
        );
    }
    items
}

/// Says what is tried, and what it costs at most.
fn tried(place: usize, launch: &LaunchChoice) -> String {
    let when = if place == 0 { "first" } else { "else" };
    let LaunchChoice { choice, price_max, machine: _ } = launch;
    let most = price_max.map_or("at a price that is not known".to_owned(), |price| {
        format!("at most {} an hour", per_hour(price, Sureness::Listed))
    });
    let zone = zone_name(choice.zone.as_str());
    sentence_whole(&format!("{when} `{}`, {zone}, {}, {most}", choice.size, choice.capacity_type))
}
