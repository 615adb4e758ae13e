//! Rows of nodes by pool and zone, the same on both sides, changes first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::fleet::{Fate, Fleet, Node, Side};

/// From this number of boxes on, identical kept nodes share one: more cannot be distinguished by eye.
const BOXES_MAX: usize = 400;

/// A row: the nodes of a pool in a zone.
#[derive(Debug, Default)]
pub(super) struct Row<'a> {
    pub(super) pool: Option<&'a str>,
    pub(super) zone: &'a str,
    /// Boxes of each side.
    pub(super) sides: [Vec<Drawn>; 2],
    /// Number of nodes on each side.
    pub(super) counts: [usize; 2],
    pub(super) changes: bool,
}

/// Content of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    /// A node, by its index in the fleet.
    One(usize),
    /// Unchanged kept nodes of one size.
    Many(Vec<usize>),
}

/// Returns the rows, those with changes first.
pub(super) fn rows<'a>(fleet: &Fleet<'a>) -> Vec<Row<'a>> {
    let boxes = fleet
        .nodes
        .iter()
        .map(|node| usize::from(node.before != Side::Absent) + usize::from(node.after != Side::Absent));
    let shares_boxes = boxes.sum::<usize>() >= BOXES_MAX;
    let mut order: Vec<usize> = (0..fleet.nodes.len()).collect();
    order.sort_by_cached_key(|place| {
        let node = &fleet.nodes[*place];
        (node.fate, Reverse(node.is_busy(&fleet.pods)), Reverse(node.vcpus), node.size, node.name)
    });
    let mut rows: BTreeMap<(Option<&'a str>, &'a str), Row<'a>> = BTreeMap::new();
    for place in order {
        let node = &fleet.nodes[place];
        let key = (node.pool, node.zone);
        let row = rows.entry(key).or_insert_with(|| Row { pool: key.0, zone: key.1, ..Row::default() });
        row.changes |= node.fate != Fate::Kept;
        for (side, held) in [&node.before, &node.after].into_iter().enumerate() {
            if *held != Side::Absent {
                row.counts[side] += 1;
                let shares = shares_boxes && is_quiet(node, fleet);
                add(&mut row.sides[side], place, |other| shares && is_alike(&fleet.nodes[other], node));
            }
        }
    }
    let mut rows: Vec<Row<'a>> = rows.into_values().collect();
    rows.sort_by_key(|row| (!row.changes, row.pool, row.zone));
    rows
}

/// Returns whether a node and its pods are unchanged.
pub(super) fn is_quiet(node: &Node<'_>, fleet: &Fleet<'_>) -> bool {
    node.fate == Fate::Kept && !node.is_busy(&fleet.pods)
}

fn is_alike(one: &Node<'_>, other: &Node<'_>) -> bool {
    one.fate == Fate::Kept && (one.size, one.capacity_type) == (other.size, other.capacity_type)
}

/// Adds a node, to the last box if that has identical nodes.
fn add(boxes: &mut Vec<Drawn>, place: usize, joins: impl Fn(usize) -> bool) {
    match boxes.last_mut() {
        Some(Drawn::Many(nodes)) if joins(nodes[0]) => nodes.push(place),
        Some(last @ Drawn::One(_)) => {
            let Drawn::One(other) = *last else { return };
            match joins(other) {
                true => *last = Drawn::Many(vec![other, place]),
                false => boxes.push(Drawn::One(place)),
            }
        }
        Some(Drawn::Many(_)) | None => boxes.push(Drawn::One(place)),
    }
}
