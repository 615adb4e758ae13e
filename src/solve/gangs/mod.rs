//! Gangs: pods of which at least so many are placed, or none.
//!
//! The fleet is planned as if each pod were alone. Where fewer of a gang come to stand than must, its waiting pods are taken
//! out as a whole, the least important gang first, and the fleet is planned again, until no gang is in part. Then those that
//! were taken out are tried once more, since there may be room for them without the others. Nodes of which too many would
//! go for a gang stay. Nothing is bought for pods that are taken out; why they are is said here. Tries are counted.

mod said;
mod spares;
mod tally;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Gang, Gangs, NodeName, PodKey};
use crate::snapshot::Snapshot;

use super::caution;
use super::shrink::trial;
use super::solution::Solution;
pub(super) use spares::Spares;
use tally::{Part, Tally};

/// How often it is planned again with single gangs taken out, before all that are in part go at once.
const ROUNDS_MAX: usize = 32;

/// How many gangs that were taken out are tried again.
const AGAIN_MAX: usize = 8;

/// Plans with whole gangs alone.
pub(super) fn solve(snapshot: &Snapshot, solved: impl Fn(&Snapshot) -> Solution) -> Solution {
    let gangs = snapshot.gangs();
    if gangs.all().is_empty() {
        return solved(snapshot);
    }
    let mut search = Search { snapshot, gangs: &gangs, solved, out: BTreeMap::new(), kept: BTreeMap::new() };
    search.out = search.hopeless();
    let solution = search.whole();
    let mut solution = search.with_others(solution);
    said::say(snapshot, (gangs.all(), &search.out), &mut solution);
    keep(&mut solution, search.kept);
    solution
}

/// Why a gang is taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Out {
    /// The object that declares it is not there.
    Undeclared,
    /// It has too few pods.
    TooFew,
    /// It came to stand in part.
    InPart(Part),
}

struct Search<'s, F> {
    snapshot: &'s Snapshot,
    gangs: &'s Gangs<'s>,
    solved: F,
    /// The gangs, by their places, whose waiting pods are out of the world.
    out: BTreeMap<usize, Out>,
    /// The nodes that stay for a gang, with why.
    kept: BTreeMap<NodeName, String>,
}

impl<F: Fn(&Snapshot) -> Solution> Search<'_, F> {
    /// Returns the gangs that cannot be complete, wherever their pods go.
    fn hopeless(&self) -> BTreeMap<usize, Out> {
        let out = |gang: &Gang<'_>| match gang.least {
            None => Some(Out::Undeclared),
            Some(least) => (gang.pods.len() < least).then_some(Out::TooFew),
        };
        self.gangs.all().iter().enumerate().filter_map(|(place, gang)| Some((place, out(gang)?))).collect()
    }

    /// Plans until no gang is in part, and none loses too many.
    fn whole(&mut self) -> Solution {
        let mut round = 0;
        loop {
            let solution = (self.solved)(&self.world());
            let tally = Tally::of(self.snapshot, self.gangs.all(), &solution);
            let (in_part, torn) = (tally.in_part(), self.torn(&solution));
            if in_part.is_empty() && torn.is_empty() {
                return solution;
            }
            let known = (self.kept.len(), self.out.len());
            self.kept.extend(torn);
            round += 1;
            let all = in_part.len();
            let worst = in_part.into_iter().filter(|(place, _)| !self.out.contains_key(place));
            let worst: Vec<(usize, Part)> = worst.collect();
            let count = if round < ROUNDS_MAX { tally::surplus(&worst) } else { all };
            self.out.extend(worst.into_iter().take(count).map(|(place, part)| (place, Out::InPart(part))));
            // Nothing more can be done about it: the judge has the last word.
            if known == (self.kept.len(), self.out.len()) {
                return solution;
            }
        }
    }

    /// Tries gangs again that were taken out before others were: the most important first.
    fn with_others(&mut self, mut solution: Solution) -> Solution {
        let in_part = |(place, out): (&usize, &Out)| match out {
            Out::InPart(part) => Some((*place, part.clone())),
            Out::Undeclared | Out::TooFew => None,
        };
        let mut tried: Vec<(usize, Part)> = self.out.iter().filter_map(in_part).collect();
        // The only one was in part with everything else as it is.
        if tried.len() < 2 {
            return solution;
        }
        tried.sort_by_key(|(_, part)| std::cmp::Reverse(part.badness()));
        for (place, _) in tried.into_iter().take(AGAIN_MAX) {
            let Some(out) = self.out.remove(&place) else { continue };
            let other = (self.solved)(&self.world());
            let tally = Tally::of(self.snapshot, self.gangs.all(), &other);
            let is_whole =
                tally.in_part().is_empty() && self.torn(&other).is_empty() && tally.is_placed(place);
            let [left, left_before] =
                [&other, &solution].map(|solution| caution::unplaced(self.snapshot, solution));
            if is_whole && !trial::is_worse(&left, &left_before) {
                solution = other;
            } else {
                self.out.insert(place, out);
            }
        }
        solution
    }

    fn torn(&self, solution: &Solution) -> BTreeMap<NodeName, String> {
        spares::torn(self.snapshot, self.gangs, &solution.target.removed)
    }

    /// Returns the world without the waiting pods of gangs that are taken out, in which nodes stay that must.
    fn world(&self) -> Snapshot {
        let leaving: BTreeSet<&NodeName> =
            self.snapshot.nodes.iter().filter(|node| node.is_deleting).map(|node| &node.name).collect();
        let out = self.out.keys().flat_map(|place| tally::unbound(&self.gangs.all()[*place], &leaving));
        let out: BTreeSet<&PodKey> = out.filter(|pod| !tally::is_held(pod)).map(|pod| &pod.key).collect();
        let pods = self.snapshot.pods.iter().filter(|pod| !out.contains(&pod.key));
        let mut world = self.snapshot.with_pods(pods.cloned().collect());
        for node in &mut world.nodes {
            if let Some(because) = self.kept.get(&node.name) {
                node.keep(&**because);
            }
        }
        world
    }
}

/// Says which nodes stay for a gang.
fn keep(solution: &mut Solution, kept: BTreeMap<NodeName, String>) {
    if kept.is_empty() {
        return;
    }
    let staying = &mut solution.report.staying;
    staying.retain(|(node, _)| !kept.contains_key(node));
    staying.extend(kept);
    staying.sort();
}
