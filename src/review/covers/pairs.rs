//! Maximum bipartite matching.

use std::collections::BTreeSet;

/// Returns the match on the right for each index on the left. `admits` says whether two may be matched. First only
/// `prefers` is used; these pairs are kept unless changing them allows more pairs.
pub(super) fn paired(
    (left, right): (usize, usize),
    prefers: impl Fn(usize, usize) -> bool,
    admits: impl Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let mut taken: Vec<Option<usize>> = vec![None; right];
    for one in 0..left {
        find(one, &mut taken, &prefers, &mut BTreeSet::new());
    }
    for one in 0..left {
        if !taken.contains(&Some(one)) {
            find(one, &mut taken, &admits, &mut BTreeSet::new());
        }
    }
    let mut pairs = vec![None; left];
    for (other, one) in taken.into_iter().enumerate() {
        if let Some(pair) = one.and_then(|one| pairs.get_mut(one)) {
            *pair = Some(other);
        }
    }
    pairs
}

/// Matches one on the left, rematching others if needed (augmenting path).
fn find(
    one: usize,
    taken: &mut Vec<Option<usize>>,
    may: &impl Fn(usize, usize) -> bool,
    tried: &mut BTreeSet<usize>,
) -> bool {
    for other in 0..taken.len() {
        if !may(one, other) || !tried.insert(other) {
            continue;
        }
        let holder = taken.get(other).copied().flatten();
        if holder.is_none_or(|holder| find(holder, taken, may, tried)) {
            if let Some(place) = taken.get_mut(other) {
                *place = Some(one);
            }
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::paired;

    #[test]
    fn who_may_be_paired_with_fewer_comes_first_whatever_the_order() {
        let may = [vec![0, 1], vec![0], vec![1, 2]];
        let admits = |one: usize, other: usize| may[one].contains(&other);
        assert_eq!(paired((3, 3), |_, _| false, admits), [Some(1), Some(0), Some(2)]);
        assert_eq!(paired((3, 2), |_, _| false, admits), [Some(1), Some(0), None]);
        assert_eq!(paired((3, 3), |one, other| one + other == 2, admits), [Some(2), Some(1), Some(0)]);
        assert_eq!(paired((0, 2), |_, _| true, admits), []);
    }
}
