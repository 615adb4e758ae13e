//! Pod values from prices: at first a pod's share of the node that holds it at the lowest price per pod, then the price
//! that a packing paid for it.
//!
//! Each class is considered alone; [`super::worth`] computes the values of all classes together.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::packing::Packing;
use super::room::{Bench, PAIRS_AT_ONCE, Room, SCALE, fits};

/// Columns with the same cost and capacity.
struct Alike {
    cost: i128,
    rooms: Vec<Room>,
}

/// Returns the initial value of one pod of each class: its share of the node that holds it at the lowest price per pod.
/// Zero if none of these columns holds it.
pub(super) fn values(bench: &Bench<'_>, columns: &[usize]) -> Vec<i128> {
    let problem = bench.problem;
    let mut alike: BTreeMap<(i64, &[i64]), Vec<Room>> = BTreeMap::new();
    for column in columns {
        let there = &problem.columns[*column];
        alike.entry((there.cost, &there.room)).or_default().push(bench.room(*column));
    }
    let alike = alike.into_iter().map(|((cost, _), rooms)| Alike { cost: i128::from(cost), rooms });
    let alike: Vec<Alike> = alike.collect();
    let need = |family: &Range<usize>| &problem.classes[family.start].need;
    let needs: Vec<&[Range<usize>]> =
        problem.families.chunk_by(|one, other| need(one) == need(other)).collect();
    let of_need = |families: &&[Range<usize>]| {
        let fits = |alike: &Alike| fits(need(&families[0]), &alike.rooms[0].free);
        let held = alike.iter().map(|alike| (fits(alike), alike)).filter(|(most, _)| *most > 0);
        let mut held: Vec<(usize, &Alike)> = held.collect();
        held.sort_by_key(|(most, alike)| share(alike.cost, *most));
        let classes = families.iter().flat_map(Clone::clone);
        classes.map(|class| least_share(bench, class, &held)).collect::<Vec<i128>>()
    };
    let least = (PAIRS_AT_ONCE / alike.len().max(1)).max(1);
    needs.par_iter().with_min_len(least).flat_map_iter(of_need).collect()
}

/// Returns the lowest share of a pod of this class in nodes that hold this many, sorted by the lowest possible share.
fn least_share(bench: &Bench<'_>, class: usize, held: &[(usize, &Alike)]) -> i128 {
    let pods = bench.problem.classes[class].pods.len();
    let mut least: Option<i128> = None;
    for (most, Alike { cost, rooms }) in held {
        if least.is_some_and(|least| least <= share(*cost, *most)) {
            break;
        }
        if least.is_some_and(|least| least <= share(*cost, pods.min(*most))) {
            continue;
        }
        for room in rooms.iter().filter(|room| bench.reaches(room, class)) {
            let count = bench.most_of(room, class, *most).min(pods);
            let own = (count > 0).then(|| share(*cost, count));
            least = least.into_iter().chain(own).min();
        }
    }
    least.unwrap_or(0)
}

/// Returns the share of one of this many pods in a node's price.
const fn share(cost: i128, pods: usize) -> i128 {
    cost * SCALE / pods as i128
}

/// Returns the values corrected by the price that this packing paid for each class.
pub(super) fn corrected(bench: &Bench<'_>, values: &[i128], packing: &Packing) -> Vec<i128> {
    let mut paid = vec![0_i128; values.len()];
    let mut placed = vec![0_i128; values.len()];
    for node in &packing.nodes {
        let worth: i128 = node.load.iter().map(|(class, count)| values[*class] * *count as i128).sum();
        let cost = i128::from(bench.problem.columns[node.column].cost);
        for (class, count) in &node.load {
            let share = values[*class] * *count as i128;
            paid[*class] += cost * SCALE * (share >> 10).max(1) / (worth >> 10).max(1);
            placed[*class] += *count as i128;
        }
    }
    let correct = |class: usize| match placed[class] {
        0 => values[class],
        placed => ((values[class] + paid[class] / placed) / 2).max(1),
    };
    (0..values.len()).map(correct).collect()
}
