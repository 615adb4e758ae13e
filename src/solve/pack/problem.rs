//! The packing problem in numbers: columns (ways to get a node) and classes (identical pods).
//!
//! Indistinguishable offerings share one column, and dominated columns are dropped. Names return only when the packing
//! is done.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::model::{HostPort, PodKey, Requirements};
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::fit::company::HostRole;
use crate::solve::fit::limits::{Charges, Ledger};
use crate::solve::intern::{Bits, Interner};
use crate::solve::memo::Memo;
use crate::solve::price::PriceBook;
use crate::solve::supply::Supply;

use super::dimension::{self, Dimension, Shared};
use super::stock::{Access, PoolReaches, Stock, Terms};
use super::{columns, variety};

/// A way to get a node: a size of a pool in one of several zones at the same price.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Column {
    /// Index of the pool in the supply.
    pub(in crate::solve) pool: usize,
    /// Index of the pool's weight among the weights.
    pub(in crate::solve) tier: usize,
    /// Index of the size in the pool.
    pub(in crate::solve) kind: usize,
    /// Indices of the offerings in the size; all cost the same and serve the same pods.
    pub(in crate::solve) usables: Vec<usize>,
    /// Cost of one more node, in millionths of a dollar per hour: its price and the premium of the offering; above
    /// every price if unknown.
    pub(in crate::solve) cost: i64,
    /// Index of the commitment that pays for its VM.
    pub(in crate::solve) commitment: Option<usize>,
    /// Capacity for pods, one amount per dimension.
    pub(in crate::solve) room: Vec<i64>,
    /// Index of the DaemonSet overhead.
    pub(in crate::solve) overhead: usize,
    /// Charges against limits.
    pub(in crate::solve) charges: Charges,
    /// Values that its labels may still get, if pods ask for different ones.
    pub(in crate::solve) open: Requirements,
    /// Its alternatives, if the pool has `minValues`: its capacity is the lowest of theirs.
    pub(in crate::solve) choice: Option<variety::Choice>,
}

/// Pods that are identical for packing.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Class {
    /// Needs of each pod, one amount per dimension, without volumes that may be attached already.
    pub(in crate::solve) need: Vec<i64>,
    /// Those volumes.
    pub(in crate::solve) shared: Shared,
    /// Index of their access.
    pub(in crate::solve) access: usize,
    /// Indices of their node terms and tolerations; these may differ if no column distinguishes them.
    pub(in crate::solve) terms: BTreeSet<usize>,
    /// Their host ports.
    pub(in crate::solve) ports: BTreeSet<HostPort>,
    /// Their roles in rules between pods on one node.
    pub(in crate::solve) company: Vec<HostRole>,
    /// The pods by priority, the highest first, then by name, each with the index of its shape.
    pub(in crate::solve) pods: Vec<(Reverse<i32>, PodKey, usize)>,
}

/// Inputs of packing.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Problem {
    pub(in crate::solve) dimensions: Vec<Dimension>,
    pub(in crate::solve) columns: Vec<Column>,
    pub(in crate::solve) classes: Vec<Class>,
    pub(in crate::solve) accesses: Arc<Vec<Access>>,
    /// Adjacent classes with the same needs and the same access.
    pub(in crate::solve) families: Vec<Range<usize>>,
    /// Lowest needs of any pod, one amount per dimension.
    pub(in crate::solve) least: Vec<i64>,
    /// Columns of each weight, the heaviest first.
    pub(in crate::solve) tiers: Vec<Vec<usize>>,
    /// Reach of each set of node terms, by pool; needed for offerings that are not in the columns.
    pub(in crate::solve) reaches: Arc<Vec<PoolReaches>>,
}

impl Problem {
    /// Builds the problem of placing the pods left of each shape.
    pub(in crate::solve) fn of(
        (demand, left): (&Demand, &[usize]),
        (supply, memo): (&Supply<'_>, &Memo),
        ledger: &Ledger,
        book: &PriceBook<'_>,
    ) -> Self {
        let shapes: Vec<(usize, &Shape, usize)> = demand
            .shapes
            .iter()
            .enumerate()
            .filter(|(place, _)| left[*place] > 0)
            .map(|(place, shape)| (place, shape, left[place]))
            .collect();
        let dimensions = dimension::all(&shapes, supply);
        // Sorted, so that cached columns for the same terms are found in any order of pods.
        let terms: BTreeSet<Terms<'_>> = shapes.iter().map(|(_, shape, _)| terms_of(shape)).collect();
        let terms: Vec<Terms<'_>> = terms.into_iter().collect();
        let number = |shape| terms.binary_search(&terms_of(shape)).unwrap_or_default();
        let mut numbers: Vec<usize> = shapes.iter().map(|(_, shape, _)| number(shape)).collect();
        let make =
            |pools, count, ways: &[_]| Stock::of(pools, count, (supply, &dimensions, ways), (ledger, book));
        let stock = if supply.pools.iter().all(|pool| pool.variety.is_empty()) {
            let owned = terms.iter().map(|(terms, stance)| ((*terms).clone(), (*stance).clone()));
            let made = (owned.collect(), dimensions.clone(), ledger.clone());
            let no_ways: Vec<_> = supply.pools.iter().map(|_| None).collect();
            memo.stock(made, || make(PoolReaches::all(supply, &terms), terms.len(), &no_ways))
        } else {
            let mut pools = PoolReaches::all(supply, &terms);
            let ways = varied(&shapes, &mut numbers, &mut pools, (supply, memo), &dimensions);
            let count = numbers.iter().map(|number| number + 1).max().unwrap_or(0);
            make(pools, count, &ways)
        };
        let Stock { columns, accesses, reaches } = stock;
        let classes = classes(&shapes, &numbers, &accesses, &dimensions);
        let families = families(&classes);
        let mut tiers = vec![Vec::new(); supply.tiers()];
        for (place, column) in columns.iter().enumerate() {
            tiers[column.tier].push(place);
        }
        let least = |place: usize| classes.iter().map(|class| class.need[place]).min().unwrap_or(0);
        let least = (0..dimensions.len()).map(least).collect();
        Self { dimensions, columns, classes, accesses, families, least, tiers, reaches }
    }

    /// Returns the charges of every column against the limits of another ledger.
    pub(super) fn charges(&self, supply: &Supply<'_>, ledger: &Ledger, book: &PriceBook<'_>) -> Vec<Charges> {
        self.columns.iter().map(|column| columns::charges(column, supply, ledger, book)).collect()
    }

    /// Replaces the charges of the columns.
    pub(super) fn charge(&mut self, charges: Vec<Charges>) {
        for (column, charges) in self.columns.iter_mut().zip(charges) {
            column.charges = charges;
        }
    }

    /// Returns the indices of the accesses that include a column.
    pub(super) fn reaching(&self, column: usize) -> Bits {
        let mut reaching = Bits::none(self.accesses.len());
        let numbers = self.accesses.iter().enumerate().filter(|(_, access)| access.columns.has(column));
        numbers.for_each(|(number, _)| reaching.insert(number));
        reaching
    }

    /// Returns the needs of all these pods on one node, one amount per dimension.
    pub(super) fn need_together(&self, load: &[(usize, usize)]) -> Vec<i64> {
        let mut need = self.need(load);
        let shared = load.iter().flat_map(|(class, _)| &self.classes[*class].shared);
        dimension::add(&mut need, shared.collect::<BTreeSet<_>>());
        need
    }

    /// Returns the minimum needs of all these pods, one amount per dimension: volumes that they may share are not
    /// counted.
    pub(in crate::solve) fn need(&self, load: &[(usize, usize)]) -> Vec<i64> {
        let mut need = vec![0_i64; self.dimensions.len()];
        for (class, count) in load {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            for (sum, amount) in need.iter_mut().zip(&self.classes[*class].need) {
                *sum = sum.saturating_add(amount.saturating_mul(count));
            }
        }
        need
    }

    /// Returns the number of pods of each class.
    pub(in crate::solve) fn counts(&self) -> Vec<usize> {
        self.classes.iter().map(|class| class.pods.len()).collect()
    }
}

/// Returns the node terms and tolerations of a shape.
const fn terms_of(shape: &Shape) -> Terms<'_> {
    (&shape.ask.alternatives, &shape.ask.stance)
}

/// Finds the alternatives in pools with `minValues`. If the fleet accepts fewer values, node terms of pods that can
/// have more values are distinguished from equal terms of pods that cannot.
fn varied<'a>(
    shapes: &[(usize, &Shape, usize)],
    numbers: &mut [usize],
    pools: &mut [PoolReaches],
    (supply, memo): (&'a Supply<'a>, &Memo),
    dimensions: &[Dimension],
) -> Vec<Option<variety::Ways<'a>>> {
    let mut ways = variety::Ways::of_all((supply, memo), pools, dimensions);
    if ways.iter().all(Option::is_none) {
        return ways;
    }
    let shapes = shapes.iter().zip(numbers.iter());
    let asking: Vec<variety::Asking<'_>> = shapes
        .map(|((_, shape, _), number)| (*number, *shape, dimension::needed_alone(&shape.ask, dimensions)))
        .collect();
    let mut least: Vec<Vec<Vec<u32>>> = vec![Vec::new(); asking.len()];
    for (ways, pool) in ways.iter_mut().zip(pools.iter()) {
        let of_pool = ways.as_mut().map(|ways| ways.note(&asking, pool));
        for (place, least) in least.iter_mut().enumerate() {
            least.push(of_pool.as_ref().map(|of_pool| of_pool[place].clone()).unwrap_or_default());
        }
    }
    let mut apart: Interner<(usize, Vec<Vec<u32>>)> = Interner::new();
    for (number, least) in numbers.iter_mut().zip(least) {
        *number = apart.number(&(*number, least));
    }
    for (place, pool) in pools.iter_mut().enumerate() {
        let (before, all) = (std::mem::take(&mut pool.by_terms), apart.values());
        pool.by_terms = all.iter().map(|(number, _)| before[*number].clone()).collect();
        pool.least = all.iter().map(|(_, least)| least[place].clone()).collect();
    }
    ways
}

type ClassKey<'a> = (Vec<i64>, usize, Shared, &'a BTreeSet<HostPort>, &'a [HostRole]);

fn classes(
    shapes: &[(usize, &Shape, usize)],
    numbers: &[usize],
    accesses: &[Access],
    dimensions: &[Dimension],
) -> Vec<Class> {
    // Node terms that reach the same columns and leave no label open share one access.
    let mut same: BTreeMap<(&Bits, Option<usize>), usize> = BTreeMap::new();
    let mut groups: BTreeMap<ClassKey<'_>, (BTreeSet<usize>, Vec<_>)> = BTreeMap::new();
    for ((place, shape, left), number) in shapes.iter().zip(numbers) {
        let access = &accesses[*number];
        let own = (!access.open.is_empty()).then_some(*number);
        let first = *same.entry((&access.columns, own)).or_insert(*number);
        let Ask { host_ports, company, .. } = &shape.ask;
        let shared = dimension::shared(&shape.ask, dimensions);
        let key = (dimension::needed(&shape.ask, dimensions), first, shared, host_ports, &**company);
        let waiting = shape.pods.iter().skip(shape.pods.len() - left);
        let (terms, pods) = groups.entry(key).or_default();
        terms.insert(*number);
        pods.extend(waiting.map(|pod| (Reverse(shape.priority), pod.clone(), *place)));
    }
    let to_class =
        |((need, access, shared, ports, company), (terms, mut pods)): (ClassKey<'_>, (_, Vec<_>))| {
            pods.sort();
            Class { need, shared, access, terms, ports: ports.clone(), company: company.to_vec(), pods }
        };
    groups.into_iter().map(to_class).collect()
}

fn families(classes: &[Class]) -> Vec<Range<usize>> {
    let mut families: Vec<Range<usize>> = Vec::new();
    for (place, class) in classes.iter().enumerate() {
        let is_like = |family: &&mut Range<usize>| {
            let first = &classes[family.start];
            first.access == class.access && first.need == class.need && first.shared == class.shared
        };
        match families.last_mut().filter(is_like) {
            Some(family) => family.end += 1,
            None => families.push(place..place + 1),
        }
    }
    families
}
