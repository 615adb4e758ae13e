//! New nodes, by their NodeClaim specs: names, settings, substitutes and maximum prices.

use std::collections::BTreeMap;

use super::full;
use crate::plan::ClaimSpecId;
use crate::plan::execution::LaunchChoice;
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::money::{Sureness, per_hour};
use crate::render::page::additions::purpose;
use crate::render::page::shape::{group_price, size_of, zone_name};
use crate::render::view::{Group, NewNodeView, PlanView};
use crate::render::words::count;

fn by_claim<'a>(view: &PlanView<'a>) -> BTreeMap<&'a ClaimSpecId, Vec<NewNodeView<'a>>> {
    let mut by_claim: BTreeMap<&ClaimSpecId, Vec<NewNodeView<'a>>> = BTreeMap::new();
    for node in view.new_nodes() {
        by_claim.entry(&node.create.spec).or_default().push(node);
    }
    by_claim
}

/// Returns an item for the nodes of each claim, with nested items.
pub(super) fn items(view: &PlanView<'_>) -> Vec<String> {
    let claims = by_claim(view);
    let mut claims: Vec<_> = claims.into_iter().collect();
    claims
        .sort_by_key(|(id, nodes)| (nodes.first().map(|node| (&node.claim.pool, &node.claim.primary)), *id));
    claims.into_iter().flat_map(|(id, nodes)| of_claim(view, id, &nodes)).collect()
}

/// Returns an item with the other settings of each claim's nodes.
pub(super) fn settings(view: &PlanView<'_>) -> Vec<String> {
    let execution = view.plan.spec.execution.as_ref();
    let claims = by_claim(view).into_iter().filter_map(|(id, nodes)| Some((id, nodes.first()?.claim)));
    claims.map(|(id, claim)| full::settings(claim, id, execution)).collect()
}

fn of_claim<'a>(view: &PlanView<'a>, id: &ClaimSpecId, nodes: &[NewNodeView<'a>]) -> Vec<String> {
    let Some(first) = nodes.first() else { return Vec::new() };
    let claim = first.claim;
    let mut group = Group::default();
    nodes.iter().for_each(|node| group.add(*node));
    let size = size_of(view, first);
    let each = if nodes.len() == 1 { "" } else { " each" };
    let said = format!(
        "{} in pool `{}` (class `{}`): `{}`, {}, {}, {size}{each}, {}. For {}",
        count(nodes.len(), "node"),
        claim.pool,
        claim.class,
        claim.primary.size,
        zone_name(claim.primary.zone.as_str()),
        claim.primary.capacity_type,
        group_price(&group),
        purpose(view, &group),
    );
    let mut items = vec![sentence_whole(&said)];
    let execution = view.plan.spec.execution.as_ref();
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in nodes {
        let of_its_own = full::node(node.id, node.create, execution);
        alike.entry(of_its_own).or_default().push(code_whole(&node.create.vm));
    }
    let mut alike: Vec<(String, Vec<String>)> = alike.into_iter().collect();
    alike.sort_by(|(_, one), (_, other)| one.cmp(other));
    items.extend(alike.into_iter().map(|(of_its_own, names)| {
        let requests = if names.len() == 1 { "" } else { " each" };
        format!("  {}:{requests} {of_its_own}", names.join(", "))
    }));
    items.extend(full::claim(claim, id, execution).into_iter().map(|item| format!("  {item}")));
    items.extend(alternatives(execution.map_or(&[][..], |execution| execution.choices(id))));
    items
}

/// Describes the choices in order with their maximum prices, on one line; consecutive zones of the same choice are
/// grouped.
fn alternatives(choices: &[LaunchChoice]) -> Option<String> {
    let (first, others) = choices.split_first()?;
    let is_alike = |one: &LaunchChoice, other: &LaunchChoice| {
        one.choice.size == other.choice.size
            && one.choice.capacity_type == other.choice.capacity_type
            && one.price_max == other.price_max
    };
    let said: Vec<String> = others.chunk_by(is_alike).map(tried).collect();
    let others = match said.as_slice() {
        [] => "no alternative if Azure refuses it".to_owned(),
        said => format!("if Azure refuses it, in this order: {}", said.join("; ")),
    };
    Some(format!("  First choice: {}; {others}", tried(std::slice::from_ref(first))))
}

/// Describes choices that differ only in their zone.
fn tried(launches: &[LaunchChoice]) -> String {
    let Some(LaunchChoice { choice, price_max, machine: _ }) = launches.first() else { return String::new() };
    let most = price_max.map_or("price not known".to_owned(), |price| {
        format!("at most {} an hour", per_hour(price, Sureness::Listed))
    });
    let zones: Vec<String> = launches.iter().map(|launch| zone_name(launch.choice.zone.as_str())).collect();
    sentence_whole(&format!("`{}`, {}, {}, {most}", choice.size, zones.join(", "), choice.capacity_type))
}
