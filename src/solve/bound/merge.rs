//! Merges classes: neighbours become one class with the smaller request, the larger cap and the bins of both.
//!
//! A pod of the merged class is never harder to place than the pods that it represents.

use super::problem::{Class, Problem};

/// Maximum number of classes for which values are computed.
const CLASSES_MAX: usize = 200;

/// Parts into which the largest capacity is divided.
const PARTS: i128 = 1 << 20;

/// Merges classes until there are few enough, those with the smallest loss first.
pub(super) fn merged(problem: Problem) -> Problem {
    merged_to(problem, CLASSES_MAX)
}

fn merged_to(mut problem: Problem, most: usize) -> Problem {
    let largest: Vec<i64> = (0..problem.classes.first().map_or(0, |class| class.need.len()))
        .map(|place| problem.bins.iter().map(|bin| bin.room[place]).max().unwrap_or(1).max(1))
        .collect();
    let classes = &mut problem.classes;
    let mut nearest: Vec<Option<(i128, usize)>> = Vec::new();
    if classes.len() > most {
        nearest = (0..classes.len()).map(|place| neighbour(classes, place, &largest)).collect();
    }
    while classes.len() > most {
        let closest = nearest.iter().enumerate().filter_map(|(place, found)| Some((found.as_ref()?, place)));
        let Some(((_, other), place)) = closest.min() else { break };
        let other = *other;
        // The later class is removed, and the last one takes its index.
        let gone = classes.swap_remove(other);
        join(&mut classes[place], &gone);
        nearest.swap_remove(other);
        let last = classes.len();
        for index in 0..classes.len() {
            let is_stale = nearest[index].is_none_or(|(_, to)| to == place || to == other || to == last);
            if is_stale || index == place || index == other {
                nearest[index] = neighbour(classes, index, &largest);
            } else if index < place {
                let cost = loss(&classes[index], &classes[place], &largest);
                nearest[index] = nearest[index].min(Some((cost, place)));
            }
        }
    }
    problem
        .classes
        .sort_by(|one, other| (&one.need, one.most, &one.bins).cmp(&(&other.need, other.most, &other.bins)));
    problem
}

/// Returns the nearest later class, with the loss of merging.
fn neighbour(classes: &[Class], place: usize, largest: &[i64]) -> Option<(i128, usize)> {
    let later =
        (place + 1..classes.len()).map(|other| (loss(&classes[place], &classes[other], largest), other));
    later.min()
}

/// Returns how much less capacity the pods need once they are merged; a lot if they may use different bins.
fn loss(one: &Class, other: &Class, largest: &[i64]) -> i128 {
    let mut loss = 0;
    for ((ours, theirs), most) in one.need.iter().zip(&other.need).zip(largest) {
        let least = ours.min(theirs);
        let lost = i128::from(ours - least) * i128::from(one.count)
            + i128::from(theirs - least) * i128::from(other.count);
        loss += lost * PARTS / i128::from(*most);
    }
    let differ = one.bins != other.bins || one.most != other.most;
    loss + if differ { PARTS * i128::from(one.count.min(other.count)) } else { 0 }
}

fn join(class: &mut Class, gone: &Class) {
    for (need, other) in class.need.iter_mut().zip(&gone.need) {
        *need = (*need).min(*other);
    }
    class.count += gone.count;
    class.most = class.most.max(gone.most);
    class.bins.add(&gone.bins);
}

#[cfg(test)]
mod tests {
    use super::merged_to;
    use crate::solve::bound::problem::{Bin, Class, Problem, Source};
    use crate::solve::intern::Bits;

    #[test]
    fn neighbours_become_one_and_no_pod_is_lost() {
        let class = |cpu: i64| Class { need: vec![cpu, 1], count: cpu, most: 10, bins: Bits::all(1) };
        let bins = vec![Bin { room: vec![100, 100], price: 1, source: Source::Offered }];
        let classes = [10, 50, 11, 51, 90].map(class).to_vec();
        let merged = merged_to(Problem { classes, bins, ..Problem::default() }, 3);
        let left: Vec<(i64, i64)> = merged.classes.iter().map(|class| (class.need[0], class.count)).collect();
        assert_eq!(left, [(10, 21), (50, 101), (90, 90)]);
    }
}
