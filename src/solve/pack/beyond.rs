//! Detects pods that exceed limits however they are packed: a node counts for no less than its pods may use.
//!
//! The check runs before anything is packed, and `false` proves nothing. Limits on nodes and cost are ignored.

use std::collections::BTreeSet;

use super::dimension::Dimension;
use super::problem::{Class, Problem};
use crate::solve::fit::limits::{Charges, Counter, Ledger};

/// Returns whether placing all pods on nodes of these columns, with these charges, exceeds a limit.
pub(super) fn is_beyond(problem: &Problem, charges: &[Charges], ledger: &Ledger) -> bool {
    let dimensions = problem.dimensions.iter().enumerate();
    let mut resources = dimensions.filter_map(|(place, dimension)| match dimension {
        Dimension::Resource(name) => Some((place, name)),
        Dimension::Volumes(_) => None,
    });
    resources.any(|(place, name)| {
        let of_pool = |counter: &Counter| matches!(counter, Counter::PoolResource(_, own) if own == name);
        let of_fleet = |counter: &Counter| matches!(counter, Counter::FleetResource(own) if own == name);
        let counters = |is_it: &dyn Fn(&Counter) -> bool| -> Vec<Option<i64>> {
            ledger.iter().map(|(_, counter, left)| is_it(counter).then_some(left)).collect()
        };
        [counters(&of_pool), counters(&of_fleet)].iter().any(|left| exceeds((problem, place), charges, left))
    })
}

/// Returns whether pods that only fit nodes counted by these counters need more of a dimension than the counters have
/// left in total.
fn exceeds((problem, place): (&Problem, usize), charges: &[Charges], left: &[Option<i64>]) -> bool {
    let counter = |column: usize| {
        let room = problem.columns[column].room[place];
        let counts = |(counter, amount): &&(usize, i64)| left[*counter].is_some() && *amount >= room;
        charges[column].iter().find(counts).map(|(counter, _)| *counter)
    };
    let mut counters: BTreeSet<usize> = BTreeSet::new();
    let mut needed: i128 = 0;
    for class in problem.classes.iter().filter(|class| class.need[place] > 0) {
        let columns: Vec<usize> = columns(problem, class);
        let Some(counting) = columns.iter().map(|column| counter(*column)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        if !counting.is_empty() {
            counters.extend(counting);
            needed += i128::from(class.need[place]) * class.pods.len() as i128;
        }
    }
    let left: i128 =
        counters.iter().filter_map(|counter| left[*counter]).map(|left| i128::from(left.max(0))).sum();
    needed > left
}

/// Returns the columns whose empty nodes hold a pod of the class.
fn columns(problem: &Problem, class: &Class) -> Vec<usize> {
    let reached = &problem.accesses[class.access].columns;
    let holds = |column: &usize| {
        let room = &problem.columns[*column].room;
        reached.has(*column) && class.need.iter().zip(room).all(|(need, room)| need <= room)
    };
    (0..problem.columns.len()).filter(holds).collect()
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::sync::Arc;

    use super::{Charges, Class, Counter, Dimension, Ledger, Problem, is_beyond};
    use crate::model::{PodKey, PoolName, Requirements, ResourceName};
    use crate::solve::intern::Bits;
    use crate::solve::pack::problem::Column;
    use crate::solve::pack::stock::Access;

    const CORES: i64 = 1_000;

    /// A column of a pool whose nodes have this many cores for pods.
    fn column(pool: usize, cores: i64) -> Column {
        Column {
            pool,
            tier: 0,
            kind: 0,
            usables: vec![0],
            cost: 1,
            commitment: None,
            room: vec![cores * CORES],
            overhead: 0,
            charges: Charges::new(),
            open: Requirements::default(),
            choice: None,
        }
    }

    /// A class of this many pods with this many cores each that may use the columns of this access.
    fn class(access: usize, cores: i64, pods: usize) -> Class {
        let pod = |number| (Reverse(0), PodKey::new("default", format!("{access}-{number}")), 0);
        Class {
            need: vec![cores * CORES],
            shared: Default::default(),
            access,
            terms: Default::default(),
            ports: Default::default(),
            company: Vec::new(),
            pods: (0..pods).map(pod).collect(),
        }
    }

    fn problem(columns: Vec<Column>, classes: Vec<Class>, accesses: &[&[usize]]) -> Problem {
        let access = |open: &&[usize]| {
            let mut of = Bits::none(columns.len());
            open.iter().for_each(|column| of.insert(*column));
            Access { columns: of, open: Default::default() }
        };
        Problem {
            dimensions: vec![Dimension::Resource(ResourceName::Cpu)],
            accesses: Arc::new(accesses.iter().map(access).collect()),
            columns,
            classes,
            families: Vec::new(),
            least: Vec::new(),
            tiers: Vec::new(),
            reaches: Arc::default(),
        }
    }

    /// Pools `a` and `b`, each with this many cores left of its limit.
    fn pools(left: [i64; 2]) -> Ledger {
        let mut ledger = Ledger::default();
        for (name, left) in ["a", "b"].into_iter().zip(left) {
            ledger.add(Counter::PoolResource(PoolName::new(name), ResourceName::Cpu), left * CORES);
        }
        ledger
    }

    #[test]
    fn pods_that_need_more_than_the_limits_of_all_pools_leave_are_beyond_them() {
        let charges = [vec![(0, 4 * CORES)], vec![(1, 4 * CORES)]];
        let of = |pods| problem(vec![column(0, 4), column(1, 4)], vec![class(0, 2, pods)], &[&[0, 1]]);
        assert!(is_beyond(&of(9), &charges, &pools([8, 8])));
        assert!(!is_beyond(&of(8), &charges, &pools([8, 8])));
        assert!(
            is_beyond(&of(5), &charges, &pools([8, -4])),
            "a limit that is exceeded takes nothing of others"
        );
    }

    #[test]
    fn pods_with_a_place_where_no_limit_counts_are_not_beyond_any() {
        let columns = || vec![column(0, 4), column(1, 4)];
        let charges = [vec![(0, 4 * CORES)], Charges::new()];
        let anywhere = problem(columns(), vec![class(0, 2, 9)], &[&[0, 1]]);
        assert!(!is_beyond(&anywhere, &charges, &pools([8, 0])));
        let bound = problem(columns(), vec![class(0, 2, 9), class(1, 2, 5)], &[&[0, 1], &[0]]);
        assert!(is_beyond(&bound, &charges, &pools([8, 0])), "five may only stand on the first");
    }

    #[test]
    fn pods_that_no_node_holds_take_nothing_of_limits() {
        let charges = [vec![(0, 4 * CORES)]];
        let of = |pods| problem(vec![column(0, 4)], vec![class(0, 5, 9), class(0, 2, pods)], &[&[0]]);
        assert!(!is_beyond(&of(4), &charges, &pools([8, 0])));
        assert!(is_beyond(&of(5), &charges, &pools([8, 0])));
    }

    #[test]
    fn the_limit_of_the_fleet_counts_beside_those_of_pools() {
        let mut ledger = pools([100, 100]);
        ledger.add(Counter::FleetResource(ResourceName::Cpu), 6 * CORES);
        let charges = [vec![(0, 4 * CORES), (2, 4 * CORES)]];
        let of = |pods| problem(vec![column(0, 4)], vec![class(0, 2, pods)], &[&[0]]);
        assert!(is_beyond(&of(4), &charges, &ledger));
        assert!(!is_beyond(&of(3), &charges, &ledger));
    }
}
