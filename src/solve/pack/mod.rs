//! Packs pending pods onto new nodes: several candidates are scored the same way, and the best is taken.
//!
//! Heavier pools come first, as a rule and not as a preference: a node of a pool is opened only for pods that no
//! heavier pool could take at that moment. Never touches running pods. All work is counted.

mod again;
mod appraisal;
mod beyond;
pub(super) mod choosing;
pub(super) mod columns;
pub(super) mod dimension;
mod exact;
pub(super) mod finish;
mod first_fit;
mod guess;
mod improve;
mod packing;
mod pattern;
mod patterns;
pub(super) mod problem;
mod promise;
mod room;
mod rows;
mod scarce;
mod shares;
pub(super) mod stock;
pub(super) mod substitutes;
mod thinned;
mod variety;
mod worth;

use super::demand::Demand;
use super::fit::limits::Ledger;
use super::memo::Memo;
use super::price::PriceBook;
use super::supply::Supply;

pub(super) use appraisal::{Appraisal, appraised};
use guess::Guess;
pub(super) use packing::Packing;
pub(super) use problem::Problem;
use room::Bench;
use scarce::{Chances, Scarcity, Short};

/// Number of rounds in which pod values are corrected by the prices paid; more rounds rarely find more.
const ROUNDS: usize = 3;

/// Maximum number of pairs of a column and a class for candidates that are good only for small problems.
const LITTLE_MAX: usize = 20_000;

/// Maximum number of pods for first fit: for more pods, patterns are better.
const FITTED_FIRST_MAX: usize = 1_000;

/// Maximum number of pairs for correcting values and for repacking a few nodes: beyond it, both cost more than they
/// save.
const CORRECTED_MAX: usize = 500_000;

/// Number of candidates that are improved: the best ones before improvement.
const IMPROVED_MAX: usize = 2;

/// Maximum number of pairs of a column and a class for which all candidates are tried in a mere comparison.
const COMPARED_MAX: usize = 2_000;

/// Purpose of a packing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effort<'a> {
    /// A plan.
    Plan,
    /// A candidate for a plan that is compared to others, with known pod values. Groups of nodes are not repacked, and
    /// nodes get no substitutes.
    Draft(&'a Appraisal),
    /// One of many alternatives that are compared, with pod values if they are known: in large problems, one candidate
    /// is enough.
    Comparison(Option<&'a Appraisal>),
}

impl Effort<'_> {
    /// Returns whether it is for a plan or a draft.
    pub(super) const fn is_plan(self) -> bool {
        matches!(self, Self::Plan | Self::Draft(_))
    }
}

/// Packs the demand that is left: first without limits, and the result is taken if it is within them, so a limit that
/// does not bind never raises the cost. With `fills`, candidates whose nodes hold as many pods as possible at any cost
/// are tried as well if limits are too small.
pub(super) fn pack(
    (demand, left): (&Demand, &[usize]),
    (supply, memo): (&Supply<'_>, &Memo),
    (ledger, book): (&Ledger, &PriceBook<'_>),
    (effort, fills): (Effort<'_>, bool),
) -> (Problem, Packing) {
    let unlimited = ledger.without_limits();
    let mut problem = Problem::of((demand, left), (supply, memo), &unlimited, book);
    let packing = |problem: &Problem| {
        packed(&Bench { problem, supply, effort, fills }, &unlimited, Short::AsFewAsMayBe)
    };
    if !ledger.has_limits() {
        let packing = packing(&problem);
        return (problem, packing);
    }
    let charges = problem.charges(supply, ledger, book);
    let is_little = problem.columns.len() * problem.classes.len() <= LITTLE_MAX;
    if !(is_little && beyond::is_beyond(&problem, &charges, ledger)) {
        let packing = packing(&problem);
        problem.charge(charges);
        if let Some(ledger) = packing.charged(&problem, ledger) {
            return (problem, Packing { ledger, ..packing });
        }
    }
    let problem = Problem::of((demand, left), (supply, memo), ledger, book);
    let bench = Bench { problem: &problem, supply, effort, fills };
    let mut packing = packed(&bench, ledger, Short::AsFewAsMayBe);
    // How many pods lighter pools take is only known once those are packed, so both variants are packed completely.
    if packing.left.iter().any(|left| *left > 0) && problem.tiers.len() > 1 {
        let other = packed(&bench, ledger, Short::WhomOthersTake);
        if other.score(&problem) < packing.score(&problem) {
            packing = other;
        }
    }
    (problem, packing)
}

/// Packs all pods of the problem. Sizes of unknown price come last, after all lighter pools.
fn packed(bench: &Bench<'_>, ledger: &Ledger, short: Short) -> Packing {
    let problem = bench.problem;
    let mut packing = Packing::new(problem.counts(), ledger.clone());
    let every: Vec<usize> = by_size(problem);
    let mut overflowed = false;
    let turns = turns(problem);
    for (turn, columns) in turns.iter().enumerate() {
        packing.fill_open(bench, &every);
        let guess = Guess::of(bench, columns);
        let later = turns[turn + 1..].concat();
        packing = tier(bench, (&guess, &later), short, packing);
        overflowed |= packing.left.iter().zip(&guess.first).any(|(left, value)| *left > 0 && *value > 0);
    }
    // A dissolved node gives its charges back to the limits. Pods that went to a lighter pool because of those limits
    // would then be in the wrong pool.
    if !overflowed {
        improve::dissolve(bench, &mut packing, |_| true);
    }
    packing
}

/// Returns the columns in the order in which pods try them: heavier pools first, and columns of unknown price last.
fn turns(problem: &Problem) -> Vec<Vec<usize>> {
    let is_of =
        |is_priced: bool| move |column: &usize| columns::is_priced(&problem.columns[*column]) == is_priced;
    let of_tier =
        |is_priced| move |tier: &Vec<usize>| tier.iter().copied().filter(is_of(is_priced)).collect();
    let turns = [true, false].into_iter().flat_map(|is_priced| problem.tiers.iter().map(of_tier(is_priced)));
    turns.filter(|columns: &Vec<usize>| !columns.is_empty()).collect()
}

/// Places the pods that pools of one weight can take: builds all candidates and returns the best by score.
fn tier(bench: &Bench<'_>, (guess, later): (&Guess<'_>, &[usize]), short: Short, start: Packing) -> Packing {
    let problem = bench.problem;
    let Guess { columns, first: values, .. } = guess;
    let classes: Vec<usize> =
        (0..values.len()).filter(|class| values[*class] > 0 && start.left[*class] > 0).collect();
    if classes.is_empty() {
        return start;
    }
    let is_short = |packing: &Packing| classes.iter().any(|class| packing.left[*class] > 0);
    let is_limited = start.ledger.has_limits();
    let mut candidates = candidates(bench, guess, &classes, &start);
    let pairs = columns.len() * problem.classes.len();
    let (mut chances, mut full) = (None, Vec::new());
    if is_limited && candidates.iter().all(is_short) {
        let by_size = by_size(problem);
        let scarcity = Scarcity { columns, values, start: &start, by_size: &by_size };
        candidates.push(scarcity.covered(bench, None));
        if pairs <= CORRECTED_MAX {
            let found = Chances::of(bench, (columns, later), &start, short);
            candidates.push(scarcity.covered(bench, Some(&found)));
            let pods: usize = classes.iter().map(|class| start.left[*class]).sum();
            if bench.fills && pairs <= LITTLE_MAX && pods <= FITTED_FIRST_MAX {
                full.extend(scarcity.fullest(bench, None));
                full.extend(scarcity.fullest(bench, Some(&found)));
            }
            chances = Some(found);
        }
    }
    let score = |candidate: &Packing| match &chances {
        Some(chances) => chances.score(bench, candidate),
        None => (Vec::new(), candidate.score(problem)),
    };
    // Candidates that place the most pods at first are expensive, and others may catch up, so both kinds are kept.
    for ways in [&mut candidates, &mut full] {
        ways.sort_by_cached_key(&score);
        ways.truncate(IMPROVED_MAX);
    }
    candidates.append(&mut full);
    for candidate in &mut candidates {
        improve::improve(bench, columns, candidate);
        for _ in 0..ROUNDS {
            // Smaller sizes and fewer nodes may have freed some of the limits.
            let before = candidate.left.clone();
            if is_limited && is_short(candidate) {
                patterns::cover(bench, columns, values, candidate);
            }
            if candidate.left == before {
                break;
            }
            improve::improve(bench, columns, candidate);
        }
        patterns::cover(bench, columns, values, candidate);
    }
    let best = candidates.into_iter().min_by_key(score);
    let mut best = best.unwrap_or_else(|| start.clone());
    if matches!(bench.effort, Effort::Plan) && pairs <= CORRECTED_MAX {
        again::pack_again(bench, columns, || guess.worth(bench, &start.left), &mut best);
    }
    best
}

/// Returns candidates that place the pods left of these classes. Commitments are used by value, not at all, or before
/// everything else: a commitment that is already paid may still cost more beside its VM than a larger node does.
fn candidates(bench: &Bench<'_>, guess: &Guess<'_>, classes: &[usize], start: &Packing) -> Vec<Packing> {
    let Guess { columns, first: values, .. } = guess;
    let is_committed = |column: &usize| bench.problem.columns[*column].commitment.is_some();
    let (committed, plain): (Vec<usize>, Vec<usize>) = columns.iter().copied().partition(is_committed);
    if committed.is_empty() {
        return uncommitted(bench, guess, classes, start);
    }
    let mut first = start.clone();
    patterns::cover(bench, &committed, values, &mut first);
    let mut candidates = covered(bench, columns, (values, ROUNDS), start);
    let plain = Guess::of(bench, &plain);
    candidates.extend(uncommitted(bench, &plain, classes, start));
    candidates.extend(uncommitted(bench, &plain.anew(), classes, &first));
    candidates
}

/// Returns the optimum for a small problem, else several candidates. Candidates that ignore limits count only if they
/// keep them.
fn uncommitted(bench: &Bench<'_>, guess: &Guess<'_>, classes: &[usize], start: &Packing) -> Vec<Packing> {
    let Guess { columns, first, .. } = guess;
    let keeps_limits = |packing: &Packing| packing.ledger.is_kept(&start.ledger);
    let exact = exact::place(bench, columns, (classes, exact::STATES_MAX), start).filter(keeps_limits);
    if let Some(exact) = exact {
        return vec![exact];
    }
    let (few, values) = (guess.few(bench), guess.worth(bench, &start.left));
    let pairs = columns.len() * bench.problem.classes.len();
    if !bench.effort.is_plan() && pairs > COMPARED_MAX {
        return covered(bench, few, (values, 1), start);
    }
    let rounds = if pairs <= CORRECTED_MAX { ROUNDS } else { 1 };
    let mut candidates = covered(bench, few, (values, rounds), start);
    if pairs <= LITTLE_MAX {
        candidates.extend(covered(bench, columns, (first, ROUNDS), start));
        // First fit opens one node after the other, each with every size that is left.
        let pods: usize = classes.iter().map(|class| start.left[*class]).sum();
        if pods <= FITTED_FIRST_MAX {
            let mut first_fit = start.clone();
            first_fit::place(bench, columns, &mut first_fit);
            candidates.extend(Some(first_fit).filter(keeps_limits));
        }
    }
    candidates
}

/// Covers the pods by patterns, and corrects the values after each round.
fn covered(
    bench: &Bench<'_>,
    columns: &[usize],
    (values, rounds): (&[i128], usize),
    start: &Packing,
) -> Vec<Packing> {
    let mut values = values.to_vec();
    let mut candidates = Vec::new();
    for _ in 0..rounds {
        let mut packing = start.clone();
        patterns::cover(bench, columns, &values, &mut packing);
        values = shares::corrected(bench, &values, &packing);
        candidates.push(packing);
    }
    candidates
}

/// Returns the classes by their needs relative to the largest capacity of the columns, the largest first.
fn by_size(problem: &Problem) -> Vec<usize> {
    let most =
        |place: usize| problem.columns.iter().map(|column| column.room[place]).max().unwrap_or(1).max(1);
    let largest: Vec<i64> = (0..problem.dimensions.len()).map(most).collect();
    let mut order: Vec<usize> = (0..problem.classes.len()).collect();
    order.sort_by_key(|class| {
        let need = problem.classes[*class].need.iter().zip(&largest);
        let size = need.map(|(need, most)| i128::from(*need) * 1_000_000 / i128::from(*most)).max();
        (std::cmp::Reverse(size), *class)
    });
    order
}
