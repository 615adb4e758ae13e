//! Rows of the LP for dual prices: similar classes share one row.
//!
//! A row represents its classes with their average needs. Never packs anything.

use std::collections::BTreeMap;

use super::room::{Bench, SCALE};

/// Maximum number of rows: the cost of the LP grows with their square.
const ROWS_MAX: usize = 72;

/// Similar classes.
pub(super) struct Row {
    /// Average needs of a pod.
    pub(super) need: Vec<i64>,
    /// Access of its pods.
    pub(super) access: usize,
    /// Number of pods.
    pub(super) count: i64,
    /// Maximum number of them on one node, for reasons other than capacity.
    pub(super) most: i64,
    /// The classes, each with the size of its pods relative to the average, in [`SCALE`] parts.
    pub(super) classes: Vec<(usize, i128)>,
}

/// Classes while they are divided into rows.
struct Group {
    access: usize,
    most: i64,
    classes: Vec<usize>,
}

/// Returns the rows of all classes that have a value; `None` if there are none, or more kinds than rows.
pub(super) fn rows(bench: &Bench<'_>, columns: &[usize], first: &[i128], left: &[usize]) -> Option<Vec<Row>> {
    let problem = bench.problem;
    let mut kinds: BTreeMap<(usize, i64), Vec<usize>> = BTreeMap::new();
    let empty: Vec<_> = columns.iter().take(1).map(|column| bench.room(*column)).collect();
    for class in (0..first.len()).filter(|class| first[*class] > 0 && left[*class] > 0) {
        let pods = &problem.classes[class];
        let most = empty.first().map_or(usize::MAX, |room| bench.most_of(room, class, usize::MAX));
        let most = i64::try_from(most.max(1)).unwrap_or(i64::MAX);
        kinds.entry((pods.access, most)).or_default().push(class);
    }
    if kinds.is_empty() || kinds.len() > ROWS_MAX {
        return None;
    }
    let largest: Vec<i64> = (0..problem.dimensions.len())
        .map(|place| {
            columns.iter().map(|column| problem.columns[*column].room[place]).max().unwrap_or(1).max(1)
        })
        .collect();
    let groups = kinds.into_iter().map(|((access, most), classes)| Group { access, most, classes });
    let mut groups: Vec<(i128, usize, Group)> = groups
        .map(|group| {
            let (loss, place) = loss(bench, &group, left, &largest);
            (loss, place, group)
        })
        .collect();
    while groups.len() < ROWS_MAX {
        let worst = (0..groups.len()).max_by_key(|place| (groups[*place].0, std::cmp::Reverse(*place)))?;
        if groups[worst].0 == 0 {
            break;
        }
        let (_, dimension, group) = groups.swap_remove(worst);
        for half in divided(bench, group, dimension) {
            let (loss, place) = loss(bench, &half, left, &largest);
            groups.push((loss, place, half));
        }
    }
    groups.sort_by(|(_, _, one), (_, _, other)| one.classes.cmp(&other.classes));
    Some(groups.into_iter().map(|(_, _, group)| row(bench, group, left, &largest)).collect())
}

/// Returns how much the pods of a group differ, and the dimension in which they differ most.
fn loss(bench: &Bench<'_>, group: &Group, left: &[usize], largest: &[i64]) -> (i128, usize) {
    let need = |class: usize, place: usize| bench.problem.classes[class].need[place];
    let pods: i128 = group.classes.iter().map(|class| left[*class] as i128).sum();
    let of = |place: usize| {
        let amounts = || group.classes.iter().map(|class| need(*class, place));
        let wide = amounts().max().unwrap_or(0) - amounts().min().unwrap_or(0);
        (i128::from(wide) * pods * SCALE / i128::from(largest[place]), place)
    };
    (0..largest.len())
        .map(of)
        .max_by_key(|(loss, place)| (*loss, std::cmp::Reverse(*place)))
        .unwrap_or((0, 0))
}

/// Divides a group in the middle of its pods' needs in a dimension.
fn divided(bench: &Bench<'_>, group: Group, place: usize) -> [Group; 2] {
    let need = |class: &usize| bench.problem.classes[*class].need[place];
    let most = group.classes.iter().map(need).max().unwrap_or(0);
    let least = group.classes.iter().map(need).min().unwrap_or(0);
    let middle = i64::midpoint(least, most);
    let (small, large) = group.classes.iter().partition(|class| need(class) <= middle);
    [small, large].map(|classes| Group { access: group.access, most: group.most, classes })
}

fn row(bench: &Bench<'_>, group: Group, left: &[usize], largest: &[i64]) -> Row {
    let Group { access, most, classes } = group;
    let of = |class: usize| &bench.problem.classes[class].need;
    let pods: i128 = classes.iter().map(|class| left[*class] as i128).sum();
    let average = |place: usize| {
        let sum: i128 =
            classes.iter().map(|class| i128::from(of(*class)[place]) * left[*class] as i128).sum();
        i64::try_from(sum / pods.max(1)).unwrap_or(i64::MAX)
    };
    let need: Vec<i64> = (0..largest.len()).map(average).collect();
    let size = |need: &[i64]| -> i128 {
        let parts = need.iter().zip(largest);
        parts.map(|(need, most)| i128::from(*need) * SCALE * 16 / i128::from(*most)).sum()
    };
    let whole = size(&need).max(1);
    let classes = classes.iter().map(|class| (*class, size(of(*class)) * SCALE / whole)).collect();
    Row { need, access, count: i64::try_from(pods).unwrap_or(i64::MAX), most, classes }
}
