//! Knapsack: the most valuable pods that one node holds, by branch and bound over whole pods with a limited number of
//! steps.
//!
//! If the limit ends the search, the unexplored part counts with its upper bound, so the result is never too small.
//! Only that upper bound allows fractions of pods.

/// Parts into which a node's capacity is divided, so that all its dimensions combine into one number.
const SCALE: i128 = 1 << 30;

/// Parts into which the weight of a dimension is divided while weights are optimised.
const WEIGHT: i128 = 64;

/// Number of rounds in which the weights of dimensions are improved.
const WEIGHT_ROUNDS: usize = 6;

/// Pods of one class, as one node sees them.
#[derive(Clone, Debug)]
pub(super) struct Item<'p> {
    /// The class.
    pub(super) class: usize,
    /// Needs of one pod, one amount per dimension.
    pub(super) need: &'p [i64],
    /// Maximum number of pods.
    pub(super) most: i64,
    /// Value of one pod.
    pub(super) value: i128,
}

/// Best load of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Best {
    /// Best pods found, by class.
    pub(super) load: Vec<(usize, i64)>,
    /// Value of those pods.
    pub(super) value: i128,
    /// Upper bound on the value of any pods.
    pub(super) bound: i128,
}

/// Limits of one search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Loads worth no more than this need not be distinguished.
    pub(super) limit: i128,
    /// Maximum number of steps.
    pub(super) steps: usize,
}

/// Returns the most valuable pods for this capacity, and how many steps are left.
pub(super) fn best(items: &[Item<'_>], room: &[i64], effort: Effort) -> (Best, usize) {
    let fitting = |item: &&Item<'_>| item.value > 0 && item.most > 0 && fits(item.need, room) > 0;
    let items: Vec<Item<'_>> = items.iter().filter(fitting).cloned().collect();
    let (weights, root) = weights(&items, room, effort.limit);
    if root <= effort.limit {
        return (Best { bound: root, ..Best::default() }, effort.steps);
    }
    let mut sized = sized(items, &weights, room);
    by_density(&mut sized);
    let capacity = weights.iter().sum::<i128>() * SCALE;
    let mut search = Search { items: &sized, effort, load: vec![0; sized.len()], best: Best::default() };
    let mut room = room.to_vec();
    search.branch(0, &mut room, (capacity, 0));
    let Search { mut best, effort: Effort { limit, steps }, .. } = search;
    best.bound = best.bound.max(best.value).max(limit).min(root);
    (best, steps)
}

/// Returns how many such pods fit.
fn fits(need: &[i64], room: &[i64]) -> i64 {
    let counts =
        need.iter().zip(room).filter(|(need, _)| **need > 0).map(|(need, room)| (*room).max(0) / need);
    counts.min().unwrap_or(i64::MAX)
}

/// An item with its share of the capacity, all dimensions combined.
#[derive(Clone, Debug)]
struct Sized<'p> {
    item: Item<'p>,
    size: i128,
}

/// Computes the size of each item. Sizes are rounded down, so the capacity is never underestimated.
fn sized<'p>(items: Vec<Item<'p>>, weights: &[i128], room: &[i64]) -> Vec<Sized<'p>> {
    let size = |item: &Item<'_>| {
        let parts = item.need.iter().zip(room).zip(weights);
        let parts = parts.filter(|((need, room), _)| **need > 0 && **room > 0);
        parts.map(|((need, room), weight)| i128::from(*need) * weight * SCALE / i128::from(*room)).sum()
    };
    items.into_iter().map(|item| Sized { size: size(&item), item }).collect()
}

fn by_density(items: &mut [Sized<'_>]) {
    items.sort_by(|one, other| {
        let (ours, theirs) = (one.item.value * (other.size + 1), other.item.value * (one.size + 1));
        theirs.cmp(&ours).then(other.size.cmp(&one.size)).then(one.item.class.cmp(&other.item.class))
    });
}

/// Returns an upper bound on the value of these items in the remaining capacity, with a fraction of the last one. The
/// items are sorted by value density.
fn most_worth(items: &[Sized<'_>], room: &[i64], mut left: i128) -> i128 {
    let mut worth = 0;
    for Sized { item, size } in items {
        let most = i128::from(item.most.min(fits(item.need, room)));
        if size * most <= left {
            worth += item.value * most;
            left -= size * most;
        } else {
            return worth + (item.value * left).div_euclid(*size) + 1;
        }
    }
    worth
}

/// Finds the weights of dimensions that give the lowest upper bound on the items' value, and that bound. Stops once it
/// is no more than `limit`.
fn weights(items: &[Item<'_>], room: &[i64], limit: i128) -> (Vec<i128>, i128) {
    let worth = |weights: &[i128]| {
        let mut sized = sized(items.to_vec(), weights, room);
        by_density(&mut sized);
        most_worth(&sized, room, weights.iter().sum::<i128>() * SCALE)
    };
    let used: Vec<usize> = (0..room.len())
        .filter(|place| room[*place] > 0 && items.iter().any(|item| item.need[*place] > 0))
        .collect();
    let mut best = vec![0; room.len()];
    used.iter().for_each(|place| best[*place] = WEIGHT);
    let mut least = worth(&best);
    for place in &used {
        let mut alone = vec![0; room.len()];
        alone[*place] = WEIGHT;
        let found = worth(&alone);
        if found < least {
            (best, least) = (alone, found);
        }
    }
    let mut step = WEIGHT / 2;
    for _ in 0..WEIGHT_ROUNDS {
        for place in &used {
            if least <= limit {
                return (best, least);
            }
            for change in [step, -step] {
                let mut other = best.clone();
                other[*place] = (other[*place] + change).max(0);
                let found = worth(&other);
                if found < least {
                    (best, least) = (other, found);
                }
            }
        }
        step = (step / 2).max(1);
    }
    (best, least)
}

struct Search<'s, 'p> {
    items: &'s [Sized<'p>],
    effort: Effort,
    load: Vec<i64>,
    best: Best,
}

impl Search<'_, '_> {
    /// Tries every count of the item at this index, the largest first.
    fn branch(&mut self, place: usize, room: &mut [i64], (left, value): (i128, i128)) {
        if value > self.best.value {
            self.best.value = value;
            let load = self.items.iter().zip(&self.load).filter(|(_, count)| **count > 0);
            self.best.load = load.map(|(sized, count)| (sized.item.class, *count)).collect();
        }
        let Some(Sized { item, size }) = self.items.get(place) else { return };
        let worth = value + most_worth(&self.items[place..], room, left);
        if worth <= self.best.value.max(self.effort.limit) {
            return;
        }
        if self.effort.steps == 0 {
            self.best.bound = self.best.bound.max(worth);
            return;
        }
        self.effort.steps -= 1;
        let (need, most) = (item.need, item.most.min(fits(item.need, room)));
        let (value_each, size) = (item.value, *size);
        for count in (0..=most).rev() {
            self.load[place] = count;
            take(room, need, count);
            let times = i128::from(count);
            self.branch(place + 1, room, (left - size * times, value + value_each * times));
            take(room, need, -count);
        }
        self.load[place] = 0;
    }
}

fn take(room: &mut [i64], need: &[i64], count: i64) {
    for (room, need) in room.iter_mut().zip(need) {
        *room -= need * count;
    }
}

#[cfg(test)]
mod tests {
    use super::{Best, Effort, Item, best};

    const THOROUGH: Effort = Effort { limit: 0, steps: 100_000 };

    fn items<'p>(needs: &'p [[i64; 2]], values: &[i128], most: i64) -> Vec<Item<'p>> {
        let item = |(class, (need, value)): (usize, (&'p [i64; 2], &i128))| Item {
            class,
            need,
            most,
            value: *value,
        };
        needs.iter().zip(values).enumerate().map(item).collect()
    }

    #[test]
    fn whole_pods_are_counted_and_not_parts_of_them() {
        let items = items(&[[6, 1], [4, 4]], &[60, 30], 10);
        let (found, _) = best(&items, &[10, 10], THOROUGH);
        assert_eq!(found, Best { load: vec![(0, 1), (1, 1)], value: 90, bound: 90 });
        let (found, _) = best(&items, &[11, 3], THOROUGH);
        assert_eq!(found, Best { load: vec![(0, 1)], value: 60, bound: 60 });
    }

    #[test]
    fn a_search_that_is_stopped_says_no_less_than_the_truth() {
        let needs: Vec<[i64; 2]> = (0..12).map(|n| [7 + n * 5 % 11, 3 + n * 7 % 13]).collect();
        let values: Vec<i128> = (0..12).map(|n| 100 + i128::from(n * 37 % 41)).collect();
        let items = items(&needs, &values, 3);
        let (truth, _) = best(&items, &[50, 60], THOROUGH);
        assert_eq!(truth.value, truth.bound);
        for steps in [0, 1, 5, 20, 100] {
            let (stopped, _) = best(&items, &[50, 60], Effort { limit: 0, steps });
            assert!(stopped.bound >= truth.value && stopped.value <= truth.value, "{steps}: {stopped:?}");
        }
    }

    #[test]
    fn what_is_below_the_limit_is_not_searched() {
        let items = items(&[[6, 1], [4, 4]], &[60, 30], 10);
        let (found, _) = best(&items, &[10, 10], Effort { limit: 1000, steps: 10 });
        assert!(found.load.is_empty() && found.bound <= 1000);
    }
}
