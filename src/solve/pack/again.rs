//! A few nodes packed anew together, where that is cheaper: those first that cost most beside what their pods are worth.
//!
//! What all nodes came to one after the other leaves the last ones to make do with what was left. Nothing is left over
//! that was placed, no limit is taken that was not, and only nodes of the same columns' pools change. Work is counted.

use std::collections::BTreeSet;

use super::packing::{Opened, Packing, add};
use super::patterns::SCALE;
use super::room::Bench;
use super::{exact, improve, patterns};

/// How many nodes are packed anew at once.
const SIZES: [usize; 4] = [2, 3, 4, 6];

/// How many nodes others are looked for to go with.
const SEEDS_MAX: usize = 48;

/// How many pairs of a class and a column are looked at, for all groups together and for one: where nodes carry hundreds
/// of classes, they are full as it is.
const LOOKED_MAX: usize = 400_000;
const LOOKED_AT_ONCE_MAX: usize = 8_000;

/// Packs groups of nodes of these columns anew as long as that saves anything. `values` says what pods are worth.
pub(super) fn pack_again(bench: &Bench<'_>, columns: &[usize], values: &[i128], packing: &mut Packing) {
    let mut looked = 0;
    let mut tried: BTreeSet<Vec<Opened>> = BTreeSet::new();
    loop {
        let mut is_better = false;
        for size in SIZES {
            for seed in 0..SEEDS_MAX.min(packing.nodes.len()) {
                let order = by_waste(bench, columns, values, packing);
                let Some(group) = group(bench, packing, &order, (seed, size)) else { continue };
                let nodes: Vec<Opened> = group.iter().map(|place| packing.nodes[*place].clone()).collect();
                if !tried.insert(nodes) {
                    continue;
                }
                let part = Part::of(bench, columns, packing, &group);
                let pairs = part.classes.len() * part.columns.len();
                if pairs > LOOKED_AT_ONCE_MAX {
                    continue;
                }
                looked += pairs;
                if looked > LOOKED_MAX {
                    return;
                }
                if let Some(best) = part.anew(bench, values) {
                    let rest = packing.nodes.iter().enumerate().filter(|(place, _)| !group.contains(place));
                    packing.nodes = rest.map(|(_, node)| node.clone()).chain(best.nodes).collect();
                    packing.ledger = best.ledger;
                    is_better = true;
                }
            }
        }
        if !is_better {
            return;
        }
    }
}

/// Returns the nodes of these columns, the one first that costs most beside what its pods are worth.
fn by_waste(bench: &Bench<'_>, columns: &[usize], values: &[i128], packing: &Packing) -> Vec<usize> {
    let is_ours: BTreeSet<usize> = columns.iter().copied().collect();
    let waste = |place: &usize| {
        let node = &packing.nodes[*place];
        let worth: i128 = node.load.iter().map(|(class, count)| values[*class] * *count as i128).sum();
        worth - i128::from(bench.problem.columns[node.column].cost) * SCALE
    };
    let mut order: Vec<usize> =
        (0..packing.nodes.len()).filter(|place| is_ours.contains(&packing.nodes[*place].column)).collect();
    order.sort_by_cached_key(|place| (waste(place), *place));
    order
}

/// Returns a node and those after it whose pods and its own may share columns.
fn group(
    bench: &Bench<'_>,
    packing: &Packing,
    order: &[usize],
    (seed, size): (usize, usize),
) -> Option<Vec<usize>> {
    let first = *order.get(seed)?;
    let reaches = |from: usize, to: usize| {
        let column = packing.nodes[to].column;
        packing.nodes[from].load.iter().any(|(class, _)| {
            bench.problem.accesses[bench.problem.classes[*class].access].columns.has(column)
        })
    };
    let others = order[seed + 1..].iter().copied();
    let near = others.filter(|other| reaches(first, *other) || reaches(*other, first));
    let mut group: Vec<usize> = [first].into_iter().chain(near.take(size - 1)).collect();
    group.sort_unstable();
    (group.len() == size).then_some(group)
}

/// The pods of a few nodes, to be packed anew.
struct Part {
    /// Their nodes taken away, and nothing else to place.
    empty: Packing,
    classes: Vec<usize>,
    /// The columns that some of them may stand on and that cost less than all their nodes.
    columns: Vec<usize>,
    /// What their nodes cost.
    cost: i64,
}

impl Part {
    fn of(bench: &Bench<'_>, columns: &[usize], packing: &Packing, group: &[usize]) -> Self {
        let problem = bench.problem;
        let (mut load, mut cost) = (Vec::new(), 0_i64);
        let mut empty = Packing::new(vec![0; problem.classes.len()], packing.ledger.clone());
        for place in group {
            let node = &packing.nodes[*place];
            let there = &problem.columns[node.column];
            cost = cost.saturating_add(there.cost);
            empty.ledger.give_back(&there.charges);
            node.load.iter().for_each(|(class, count)| add(&mut load, *class, *count));
        }
        load.iter().for_each(|(class, count)| empty.left[*class] = *count);
        let classes: Vec<usize> = load.iter().map(|(class, _)| *class).collect();
        let open: BTreeSet<usize> = classes.iter().map(|class| problem.classes[*class].access).collect();
        let holds = |column: &usize| {
            let is_open = |access: &usize| problem.accesses[*access].columns.has(*column);
            problem.columns[*column].cost < cost && open.iter().any(is_open)
        };
        Self { empty, columns: columns.iter().copied().filter(holds).collect(), classes, cost }
    }

    /// Returns the cheapest way that was found, where it is cheaper than before and leaves nothing.
    fn anew(&self, bench: &Bench<'_>, values: &[i128]) -> Option<Packing> {
        let Self { empty, classes, columns, cost } = self;
        let problem = bench.problem;
        let mut found = Vec::new();
        // What looks at every division knows neither limits nor commitments.
        let exact = exact::place_few(bench, columns, classes, empty);
        found.extend(exact.filter(|packing| packing.ledger.is_kept(&empty.ledger)));
        if found.is_empty() {
            let covered = |values: &[i128]| {
                let mut packing = empty.clone();
                patterns::cover(bench, columns, values, &mut packing);
                improve::improve(bench, columns, &mut packing);
                packing
            };
            let first = covered(values);
            let again = covered(&patterns::corrected(bench, values, &first));
            found.extend([first, again]);
        }
        let whole = found.into_iter().filter(|next| next.left.iter().all(|left| *left == 0));
        let best = whole.min_by_key(|next| next.cost(problem))?;
        (best.cost(problem) < *cost).then_some(best)
    }
}
