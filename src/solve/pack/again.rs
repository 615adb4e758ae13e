//! Large-neighbourhood search: repacks a few nodes together if that is cheaper, first those that cost most beyond the
//! value of their pods.
//!
//! Greedy covering fills one node after the other, so the last nodes get the leftovers. Never unplaces a pod or uses a
//! limit that was not used before, and only changes nodes of the given columns. Work is counted.

use std::collections::BTreeSet;

use super::packing::{Opened, Packing};
use super::room::{Bench, SCALE};
use super::{exact, improve, patterns, shares};

/// Numbers of nodes that are repacked together.
const SIZES: [usize; 4] = [2, 3, 4, 6];

/// Distances between the nodes of a group in the order of waste.
const STRIDES: [usize; 6] = [1, 2, 3, 5, 8, 13];

/// Maximum number of nodes that start a group.
const SEEDS_MAX: usize = 400;

/// If the first repacking costs more than the group by over one part of this many, no second one is tried: it is hardly
/// ever cheaper by as much.
const HOPELESS_PARTS: i64 = 10;

/// Maximum number of classes on a node: nodes with more are as full as small pods make them.
const CLASSES_MAX: usize = 64;

/// Maximum number of pairs of a class and a column for one group.
const LOOKED_AT_ONCE_MAX: usize = 2_000;

/// Maximum number of pairs for all groups together: this many at first, and more for each ten-thousandth of the cost
/// that was saved, because savings in one group make savings in others likely; a million pairs take about a second.
const LOOKED_AT_FIRST: usize = 80_000;
const LOOKED_FOR_MORE: usize = 10_000;
const LOOKED_MAX: usize = 1_000_000;

/// Repacks groups of nodes of these columns until that saves nothing more. `values` returns the pod values, and is
/// called only if there is something to repack.
pub(super) fn pack_again<'v>(
    bench: &Bench<'_>,
    columns: &[usize],
    values: impl FnOnce() -> &'v [i128],
    packing: &mut Packing,
) {
    let is_ours: BTreeSet<usize> = columns.iter().copied().collect();
    let may_change = |node: &Opened| is_ours.contains(&node.column) && node.load.len() <= CLASSES_MAX;
    if packing.nodes.iter().filter(|node| may_change(node)).count() < 2 {
        return;
    }
    let values = values();
    let before = packing.cost(bench.problem);
    let mut credit = LOOKED_AT_FIRST;
    let mut looked = 0;
    let mut tried: BTreeSet<Vec<Opened>> = BTreeSet::new();
    let mut order = by_waste(bench, values, packing, may_change);
    let mut is_better = true;
    while is_better {
        is_better = false;
        let mut turns = turns();
        loop {
            let mut next =
                || turns.find_map(|turn| Part::of(bench, (columns, packing, &order), (turn, &mut tried)));
            // Two groups are repacked concurrently and their results taken in order, whatever the number of threads.
            let Some(one) = next() else { break };
            let other = next();
            looked += one.pairs() + other.as_ref().map_or(0, Part::pairs);
            if looked > credit {
                return;
            }
            let anew = |part: &Part| Some((part.group.clone(), part.anew(bench, values)?));
            let (first, second) = rayon::join(|| anew(&one), || other.as_ref().and_then(anew));
            // The second result refers to indices of nodes that have changed, so that group is tried again.
            if let (Some(_), Some(other)) = (&first, &other) {
                tried.remove(&other.nodes);
            }
            if let Some((group, best)) = first.or(second) {
                let rest = packing.nodes.iter().enumerate().filter(|(place, _)| !group.contains(place));
                packing.nodes = rest.map(|(_, node)| node.clone()).chain(best.nodes).collect();
                packing.ledger = best.ledger;
                order = by_waste(bench, values, packing, may_change);
                credit = allowed(before, packing.cost(bench.problem));
                is_better = true;
            }
        }
    }
}

/// Returns how many pairs may be examined after the cost of all nodes fell from `before` to `now`.
fn allowed(before: i64, now: i64) -> usize {
    let saved = i128::from(before.saturating_sub(now)) * 10_000 / i128::from(before.max(1));
    let more = usize::try_from(saved).unwrap_or(0).saturating_mul(LOOKED_FOR_MORE);
    LOOKED_MAX.min(LOOKED_AT_FIRST + more)
}

/// Selection of a group: this many nodes from the `seed`-th on in the order of waste, this far apart.
#[derive(Clone, Copy)]
struct Turn {
    seed: usize,
    size: usize,
    stride: usize,
}

fn turns() -> impl Iterator<Item = Turn> {
    let sizes = STRIDES.into_iter().flat_map(|stride| SIZES.map(|size| (stride, size)));
    sizes.flat_map(|(stride, size)| (0..SEEDS_MAX).map(move |seed| Turn { seed, size, stride }))
}

/// Returns the nodes that may change, those that cost most beyond the value of their pods first.
fn by_waste(
    bench: &Bench<'_>,
    values: &[i128],
    packing: &Packing,
    may_change: impl Fn(&Opened) -> bool,
) -> Vec<usize> {
    let waste = |place: &usize| {
        let node = &packing.nodes[*place];
        let worth: i128 = node.load.iter().map(|(class, count)| values[*class] * *count as i128).sum();
        worth - i128::from(bench.problem.columns[node.column].cost) * SCALE
    };
    let mut order: Vec<usize> =
        (0..packing.nodes.len()).filter(|place| may_change(&packing.nodes[*place])).collect();
    order.sort_by_cached_key(|place| (waste(place), *place));
    order
}

/// Returns a group: a node and later ones whose pods may use its column, or whose columns its pods may use.
fn group(bench: &Bench<'_>, packing: &Packing, order: &[usize], turn: Turn) -> Option<Vec<usize>> {
    let first = *order.get(turn.seed)?;
    let reaches = |from: usize, to: usize| {
        let column = packing.nodes[to].column;
        packing.nodes[from].load.iter().any(|(class, _)| {
            bench.problem.accesses[bench.problem.classes[*class].access].columns.has(column)
        })
    };
    let others = order[turn.seed + 1..].iter().copied();
    let near = others.filter(|other| reaches(first, *other) || reaches(*other, first));
    let apart = near.skip(turn.stride - 1).step_by(turn.stride);
    let mut group: Vec<usize> = [first].into_iter().chain(apart.take(turn.size - 1)).collect();
    group.sort_unstable();
    (group.len() == turn.size).then_some(group)
}

/// The pods of a few nodes, to be repacked.
struct Part {
    /// Indices of the nodes, and the nodes.
    group: Vec<usize>,
    nodes: Vec<Opened>,
    /// A packing without nodes, in which only their pods are left to place.
    empty: Packing,
    classes: Vec<usize>,
    /// Columns that some of the pods may use and that cost less than all the nodes together.
    columns: Vec<usize>,
    /// Cost of the nodes.
    cost: i64,
}

impl Part {
    /// Takes the nodes of a turn; `None` if there are none, they were tried before, or there are too many pairs.
    fn of(
        bench: &Bench<'_>,
        (columns, packing, order): (&[usize], &Packing, &[usize]),
        (turn, tried): (Turn, &mut BTreeSet<Vec<Opened>>),
    ) -> Option<Self> {
        let problem = bench.problem;
        let group = group(bench, packing, order, turn)?;
        let nodes: Vec<Opened> = group.iter().map(|place| packing.nodes[*place].clone()).collect();
        if !tried.insert(nodes.clone()) {
            return None;
        }
        let cost =
            nodes.iter().fold(0_i64, |sum, node| sum.saturating_add(problem.columns[node.column].cost));
        let classes: BTreeSet<usize> =
            nodes.iter().flat_map(|node| node.load.iter().map(|(class, _)| *class)).collect();
        let open: BTreeSet<usize> = classes.iter().map(|class| problem.classes[*class].access).collect();
        let holds = |column: &usize| {
            let is_open = |access: &usize| problem.accesses[*access].columns.has(*column);
            problem.columns[*column].cost < cost && open.iter().any(is_open)
        };
        let columns: Vec<usize> = columns.iter().copied().filter(holds).collect();
        if classes.len() * columns.len() > LOOKED_AT_ONCE_MAX {
            return None;
        }
        let mut empty = Packing::new(vec![0; problem.classes.len()], packing.ledger.clone());
        for node in &nodes {
            empty.ledger.give_back(&problem.columns[node.column].charges);
            node.load.iter().for_each(|(class, count)| empty.left[*class] += count);
        }
        Some(Self { group, nodes, empty, columns, classes: classes.into_iter().collect(), cost })
    }

    fn pairs(&self) -> usize {
        self.classes.len() * self.columns.len()
    }

    /// Returns the cheapest repacking found, if it is cheaper than before and places every pod.
    fn anew(&self, bench: &Bench<'_>, values: &[i128]) -> Option<Packing> {
        let Self { empty, classes, columns, cost, .. } = self;
        let problem = bench.problem;
        let mut found = Vec::new();
        // The exact search ignores limits and commitments.
        let exact = exact::place(bench, columns, (classes, exact::FEW_STATES_MAX), empty);
        found.extend(exact.filter(|packing| packing.ledger.is_kept(&empty.ledger)));
        if found.is_empty() {
            let covered = |values: &[i128]| {
                let mut packing = empty.clone();
                patterns::cover(bench, columns, values, &mut packing);
                improve::improve(bench, columns, &mut packing);
                packing
            };
            let first = covered(values);
            let is_hopeless = first.cost(problem) > cost.saturating_add(cost / HOPELESS_PARTS);
            if !is_hopeless {
                found.push(covered(&shares::corrected(bench, values, &first)));
            }
            found.push(first);
        }
        let whole = found.into_iter().filter(|next| next.left.iter().all(|left| *left == 0));
        let best = whole.min_by_key(|next| next.cost(problem))?;
        (best.cost(problem) < *cost).then_some(best)
    }
}
