//! A few nodes packed anew together, where that is cheaper: those first that cost most beside what their pods are worth.
//!
//! What all nodes came to one after the other leaves the last ones to make do with what was left. Nothing is left over
//! that was placed, no limit is taken that was not, and only nodes of the same columns' pools change. Work is counted.

use std::collections::BTreeSet;

use super::packing::{Opened, Packing};
use super::room::{Bench, SCALE};
use super::{exact, improve, patterns, shares};

/// How many nodes are packed anew at once.
const SIZES: [usize; 4] = [2, 3, 4, 6];

/// How far apart in the order of waste the nodes of a group stand.
const STRIDES: [usize; 6] = [1, 2, 3, 5, 8, 13];

/// How many nodes others are looked for to go with.
const SEEDS_MAX: usize = 400;

/// Where the first way costs more by one of so many parts, no other is looked for: it is hardly ever cheaper by as much.
const HOPELESS_PARTS: i64 = 10;

/// How many classes a node may carry: those with more are as full as small pods make them.
const CLASSES_MAX: usize = 64;

/// How many pairs of a class and a column are looked at for one group.
const LOOKED_AT_ONCE_MAX: usize = 2_000;

/// How many are looked at for all groups together: so many at first, and more for each ten-thousandth of the cost that
/// was saved, since where one group saved something others will; a million take about a second.
const LOOKED_AT_FIRST: usize = 80_000;
const LOOKED_FOR_MORE: usize = 10_000;
const LOOKED_MAX: usize = 1_000_000;

/// Packs groups of nodes of these columns anew as long as that saves anything. `values` says what pods are worth, and is
/// asked only where there is something to pack.
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
            // Two are looked at together, and what comes of them is taken in their order, whatever the number of threads.
            let Some(one) = next() else { break };
            let other = next();
            looked += one.pairs() + other.as_ref().map_or(0, Part::pairs);
            if looked > credit {
                return;
            }
            let anew = |part: &Part| Some((part.group.clone(), part.anew(bench, values)?));
            let (first, second) = rayon::join(|| anew(&one), || other.as_ref().and_then(anew));
            // What was found for the other is of nodes that have changed their places: it has another turn.
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

/// Returns how many pairs may be looked at where what all nodes cost fell from `before` to `now`.
fn allowed(before: i64, now: i64) -> usize {
    let saved = i128::from(before.saturating_sub(now)) * 10_000 / i128::from(before.max(1));
    let more = usize::try_from(saved).unwrap_or(0).saturating_mul(LOOKED_FOR_MORE);
    LOOKED_MAX.min(LOOKED_AT_FIRST + more)
}

/// Which nodes go together: those from the `seed`-th on in the order of waste, so many, and so far apart.
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

/// Returns the nodes that may change, the one first that costs most beside what its pods are worth.
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

/// Returns a node and some after it whose pods and its own may share columns.
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

/// The pods of a few nodes, to be packed anew.
struct Part {
    /// The places of the nodes, and the nodes.
    group: Vec<usize>,
    nodes: Vec<Opened>,
    /// Their nodes taken away, and nothing else to place.
    empty: Packing,
    classes: Vec<usize>,
    /// The columns that some of them may stand on and that cost less than all their nodes.
    columns: Vec<usize>,
    /// What their nodes cost.
    cost: i64,
}

impl Part {
    /// Takes the nodes whose turn it is; `None` where there are none, they were tried before, or that is too much to look at.
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

    /// Returns the cheapest way that was found, where it is cheaper than before and leaves nothing.
    fn anew(&self, bench: &Bench<'_>, values: &[i128]) -> Option<Packing> {
        let Self { empty, classes, columns, cost, .. } = self;
        let problem = bench.problem;
        let mut found = Vec::new();
        // What looks at every division knows neither limits nor commitments.
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
