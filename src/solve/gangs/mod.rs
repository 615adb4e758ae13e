//! Gang scheduling: places at least the minimum number of a gang's pods, or none of them.
//!
//! The fleet is first planned as if all pods were independent. If fewer pods of a gang are placed than required, all
//! its pending pods are withheld, the least important gang first, and the fleet is planned again until no gang is
//! partly placed. Withheld gangs are then retried, because they may fit without the others. Nodes are kept if deleting
//! them would leave a gang with too few running pods. Never buys nodes for withheld pods; reports why they are
//! withheld. The number of attempts is limited.

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

/// Number of planning rounds that withhold gangs a few at a time; the last round withholds all partly placed gangs
/// together.
const ROUNDS_MAX: usize = 32;

/// Maximum number of withheld gangs that are retried.
const AGAIN_MAX: usize = 8;

/// Plans so that gangs are placed as a whole or not at all.
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

/// Why a gang is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Out {
    /// The object that declares it is not in the input.
    Undeclared,
    /// It has too few pods.
    TooFew,
    /// It was only partly placed.
    InPart(Part),
}

struct Search<'s, F> {
    snapshot: &'s Snapshot,
    gangs: &'s Gangs<'s>,
    solved: F,
    /// The withheld gangs, by index: their pending pods are left out of the world.
    out: BTreeMap<usize, Out>,
    /// The nodes that are kept for a gang, with the reason.
    kept: BTreeMap<NodeName, String>,
}

impl<F: Fn(&Snapshot) -> Solution> Search<'_, F> {
    /// Returns the gangs that cannot be complete wherever their pods are placed.
    fn hopeless(&self) -> BTreeMap<usize, Out> {
        let out = |gang: &Gang<'_>| match gang.least {
            None => Some(Out::Undeclared),
            Some(least) => (gang.pods.len() < least).then_some(Out::TooFew),
        };
        self.gangs.all().iter().enumerate().filter_map(|(place, gang)| Some((place, out(gang)?))).collect()
    }

    /// Plans until no gang is partly placed and none loses too many pods.
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
            // Nothing changed, so another round cannot help: the checker decides.
            if known == (self.kept.len(), self.out.len()) {
                return solution;
            }
        }
    }

    /// Retries gangs that were withheld before others were, the most important first.
    fn with_others(&mut self, mut solution: Solution) -> Solution {
        let in_part = |(place, out): (&usize, &Out)| match out {
            Out::InPart(part) => Some((*place, part.clone())),
            Out::Undeclared | Out::TooFew => None,
        };
        let mut tried: Vec<(usize, Part)> = self.out.iter().filter_map(in_part).collect();
        // A single gang was partly placed with everything else unchanged, so a retry gives the same result.
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

    /// Returns the world without the pending pods of withheld gangs, with the nodes marked that must be kept.
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

/// Reports which nodes are kept for a gang.
fn keep(solution: &mut Solution, kept: BTreeMap<NodeName, String>) {
    if kept.is_empty() {
        return;
    }
    let staying = &mut solution.report.staying;
    staying.retain(|(node, _)| !kept.contains_key(node));
    staying.extend(kept);
    staying.sort();
}
