//! Local search: makes a packing cheaper by a limited number of moves. A node gets a cheaper size, a node is dissolved
//! into the free capacity of others, or two nodes are merged.
//!
//! No move unplaces a pod or opens a node of a pool that a heavier pool made unnecessary: a node's pods move together,
//! and a node that takes them keeps its own.

use std::collections::{BTreeMap, BTreeSet};

use super::packing::{Opened, Packing, add};
use super::room::{Bench, Room};

/// Maximum number of pairs of nodes that are considered for merging.
const MERGES_MAX: usize = 20_000;
/// Maximum number of pairs of a node and a class for dissolving nodes; a larger packing is not changed. Among many
/// nodes, few are badly filled.
const DISSOLVED_MAX: usize = 2_000_000;

/// Improves the nodes of these columns.
pub(super) fn improve(bench: &Bench<'_>, columns: &[usize], packing: &mut Packing) {
    resize(bench, columns, packing);
    let is_ours = own(bench, columns);
    dissolve(bench, packing, |node| is_ours[node.column]);
    merge(bench, columns, packing);
    resize(bench, columns, packing);
}

/// Gives every node the cheapest column of its pool that holds its pods and that limits allow.
fn resize(bench: &Bench<'_>, columns: &[usize], packing: &mut Packing) {
    let mut by_cost: Vec<usize> = columns.to_vec();
    by_cost.sort_by_key(|column| (bench.problem.columns[*column].cost, *column));
    let is_ours = own(bench, columns);
    for node in &mut packing.nodes {
        let there = &bench.problem.columns[node.column];
        if !is_ours[node.column] {
            continue;
        }
        let need = bench.problem.need(&node.load);
        packing.ledger.give_back(&there.charges);
        let does = |column: &usize| {
            let other = &bench.problem.columns[*column];
            other.pool == there.pool
                && need.iter().zip(&other.room).all(|(need, room)| need <= room)
                && packing.ledger.uses(&other.charges) > 0
                && bench.filled(*column, &node.load).is_some()
        };
        let cheaper = by_cost.iter().take_while(|column| bench.problem.columns[**column].cost < there.cost);
        if let Some(cheapest) = cheaper.copied().find(does) {
            node.column = cheapest;
        }
        packing.ledger.take(&bench.problem.columns[node.column].charges, 1);
    }
}

/// Returns for every column whether it is one of these.
fn own(bench: &Bench<'_>, columns: &[usize]) -> Vec<bool> {
    let mut own = vec![false; bench.problem.columns.len()];
    columns.iter().for_each(|column| own[*column] = true);
    own
}

/// Moves all pods of a node to other nodes if they all fit. Nodes with the fewest pods come first, then those with the
/// highest cost.
pub(super) fn dissolve(bench: &Bench<'_>, packing: &mut Packing, may_go: impl Fn(&Opened) -> bool) {
    if packing.nodes.len().saturating_mul(bench.problem.classes.len()) > DISSOLVED_MAX {
        return;
    }
    let mut rooms: Vec<Option<Room>> =
        packing.nodes.iter().map(|node| bench.filled(node.column, &node.load)).collect();
    let pods = |node: &Opened| node.load.iter().map(|(_, count)| count).sum::<usize>();
    let mut order: Vec<usize> =
        (0..packing.nodes.len()).filter(|place| may_go(&packing.nodes[*place])).collect();
    order.sort_by_key(|place| {
        let node = &packing.nodes[*place];
        (pods(node), std::cmp::Reverse(bench.problem.columns[node.column].cost), *place)
    });
    let mut gone = vec![false; packing.nodes.len()];
    let mut targets: Targets = vec![None; bench.problem.classes.len()];
    for place in order {
        let load = packing.nodes[place].load.clone();
        let Some(moves) = moved(bench, (&rooms, &mut targets), &load, place) else { continue };
        for (target, class, count) in moves {
            add(&mut packing.nodes[target].load, class, count);
            if let Some(room) = &mut rooms[target] {
                bench.put(room, class, count);
            }
        }
        rooms[place] = None;
        gone[place] = true;
        packing.ledger.give_back(&bench.problem.columns[packing.nodes[place].column].charges);
    }
    let mut gone = gone.into_iter();
    packing.nodes.retain(|_| gone.next() != Some(true));
}

/// Nodes that may still take a pod of each class. Free capacity only shrinks, so a full node is never checked again.
type Targets = Vec<Option<Vec<usize>>>;

/// Returns the target nodes of a node's pods, or `None` if some pods do not fit.
fn moved(
    bench: &Bench<'_>,
    (rooms, targets): (&[Option<Room>], &mut Targets),
    load: &[(usize, usize)],
    from: usize,
) -> Option<Vec<(usize, usize, usize)>> {
    let mut changed: BTreeMap<usize, Room> = BTreeMap::new();
    let mut moves = Vec::new();
    for (class, count) in load {
        let mut left = *count;
        let has_room =
            |target: &usize| rooms[*target].as_ref().is_some_and(|room| bench.most(room, *class) > 0);
        let open = targets[*class].get_or_insert_with(|| (0..rooms.len()).collect());
        open.retain(has_room);
        for target in open.iter().copied().filter(|target| *target != from) {
            let Some(room) = changed.get(&target).or(rooms[target].as_ref()) else { continue };
            let fits = bench.most(room, *class).min(left);
            if fits > 0 {
                let mut room = room.clone();
                bench.put(&mut room, *class, fits);
                changed.insert(target, room);
                moves.push((target, *class, fits));
                left -= fits;
            }
            if left == 0 {
                break;
            }
        }
        if left > 0 {
            return None;
        }
    }
    Some(moves)
}

/// Replaces two nodes by one that costs no more than both together. Equal nodes are examined once.
fn merge(bench: &Bench<'_>, columns: &[usize], packing: &mut Packing) {
    let mut counts: BTreeMap<Opened, usize> = BTreeMap::new();
    for node in &packing.nodes {
        *counts.entry(node.clone()).or_default() += 1;
    }
    let mut kinds: Vec<(Opened, usize)> = counts.into_iter().collect();
    let is_ours = own(bench, columns);
    let largest = largest(bench, columns);
    let mut looked = 0;
    let mut second = 0;
    while second < kinds.len() && looked < MERGES_MAX {
        for first in 0..=second {
            let (one, two) = (&kinds[first].0, &kinds[second].0);
            if kinds[second].1 == 0 || !is_ours[one.column] || !is_ours[two.column] {
                continue;
            }
            looked += 1;
            let need = bench.problem.need(&one.load).into_iter().zip(bench.problem.need(&two.load));
            if need.zip(&largest).any(|((one, two), largest)| one.saturating_add(two) > *largest) {
                continue;
            }
            let pair = (one.clone(), two.clone());
            let enough = |kinds: &[(Opened, usize)]| {
                kinds[first].1 > usize::from(first == second) && kinds[second].1 > 0
            };
            while enough(&kinds) {
                let Some(node) = merged(bench, &is_ours, packing, &pair) else { break };
                for old in [&pair.0, &pair.1] {
                    packing.ledger.give_back(&bench.problem.columns[old.column].charges);
                }
                packing.ledger.take(&bench.problem.columns[node.column].charges, 1);
                kinds[first].1 -= 1;
                kinds[second].1 -= 1;
                match kinds.iter_mut().find(|(there, count)| *there == node && *count > 0) {
                    Some((_, count)) => *count += 1,
                    None => kinds.push((node, 1)),
                }
            }
        }
        second += 1;
    }
    let repeated = kinds.into_iter().flat_map(|(node, count)| std::iter::repeat_n(node, count));
    packing.nodes = repeated.collect();
}

/// Returns the largest capacity of these columns in each dimension.
fn largest(bench: &Bench<'_>, columns: &[usize]) -> Vec<i64> {
    let rooms = |place: usize| columns.iter().map(move |column| bench.problem.columns[*column].room[place]);
    (0..bench.problem.dimensions.len()).map(|place| rooms(place).max().unwrap_or(0)).collect()
}

fn merged(bench: &Bench<'_>, is_ours: &[bool], packing: &Packing, pair: &(Opened, Opened)) -> Option<Opened> {
    let of = |node: &Opened| &bench.problem.columns[node.column];
    let (one, two) = (of(&pair.0), of(&pair.1));
    let most = one.cost.saturating_add(two.cost);
    let mut load = pair.0.load.clone();
    for (class, count) in &pair.1.load {
        add(&mut load, *class, *count);
    }
    let need = bench.problem.need(&load);
    let accesses: BTreeSet<usize> =
        load.iter().map(|(class, _)| bench.problem.classes[*class].access).collect();
    let reached = |access: &usize| &bench.problem.accesses[*access].columns;
    let mut open = accesses.first().map(reached)?.clone();
    accesses.iter().skip(1).for_each(|access| open.keep(reached(access)));
    let does = |column: &usize| {
        let there = &bench.problem.columns[*column];
        is_ours[*column]
            && there.cost <= most
            && need.iter().zip(&there.room).all(|(need, room)| need <= room)
    };
    let mut candidates: Vec<usize> = open.iter().filter(does).collect();
    candidates.sort_by_key(|column| (bench.problem.columns[*column].cost, *column));
    let uses = |column: &usize| {
        let mut ledger = packing.ledger.clone();
        ledger.give_back(&one.charges);
        ledger.give_back(&two.charges);
        ledger.uses(&bench.problem.columns[*column].charges) > 0
    };
    let holds = |column: &usize| bench.filled(*column, &load).is_some() && uses(column);
    let column = candidates.into_iter().find(holds)?;
    Some(Opened { column, load, opened_for: pair.0.opened_for })
}
