//! The packing problem in numbers: columns (ways to have a node) and classes (pods that are alike).
//!
//! Offerings that nobody can tell apart are one column, and columns that another one beats in everything are
//! left out. Names come back only when the packing is done.

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

/// A way to have a node: a size of a pool in one of several zones that cost the same.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Column {
    /// The pool, by its place in the supply.
    pub(in crate::solve) pool: usize,
    /// The weight of the pool, by its place among the weights.
    pub(in crate::solve) tier: usize,
    /// The size, by its place in the pool.
    pub(in crate::solve) kind: usize,
    /// The offerings, by their place in the size; all cost the same and serve the same pods.
    pub(in crate::solve) usables: Vec<usize>,
    /// What one more such node counts as, in millionths of a dollar an hour: what it costs, and what choosing counts
    /// beside that; beyond every price where unknown.
    pub(in crate::solve) cost: i64,
    /// The commitment that pays for its VM.
    pub(in crate::solve) commitment: Option<usize>,
    /// What pods may use, one amount a dimension.
    pub(in crate::solve) room: Vec<i64>,
    /// The number of what daemonsets take.
    pub(in crate::solve) overhead: usize,
    /// What it takes of limits.
    pub(in crate::solve) charges: Charges,
    /// What its labels may still become, as far as pods ask for different values.
    pub(in crate::solve) open: Requirements,
    /// What it is a choice among, where the pool asks for a variety (`minValues`): its room is the least of theirs.
    pub(in crate::solve) choice: Option<variety::Choice>,
}

/// Pods that are alike for packing.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Class {
    /// What each needs, one amount a dimension, beside the volumes that it may find on its node.
    pub(in crate::solve) need: Vec<i64>,
    /// Those volumes.
    pub(in crate::solve) shared: Shared,
    /// The number of where they may stand.
    pub(in crate::solve) access: usize,
    /// The numbers of their node terms and tolerations: they may differ where no column tells them apart.
    pub(in crate::solve) terms: BTreeSet<usize>,
    /// Their host ports.
    pub(in crate::solve) ports: BTreeSet<HostPort>,
    /// The parts that they play in rules between pods on one node.
    pub(in crate::solve) company: Vec<HostRole>,
    /// The pods, higher priorities first, then by name, each with the place of its shape.
    pub(in crate::solve) pods: Vec<(Reverse<i32>, PodKey, usize)>,
}

/// Everything that packing looks at.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Problem {
    pub(in crate::solve) dimensions: Vec<Dimension>,
    pub(in crate::solve) columns: Vec<Column>,
    pub(in crate::solve) classes: Vec<Class>,
    pub(in crate::solve) accesses: Arc<Vec<Access>>,
    /// Classes beside each other that need the same and may stand in the same places.
    pub(in crate::solve) families: Vec<Range<usize>>,
    /// The least that any pod needs, one amount a dimension.
    pub(in crate::solve) least: Vec<i64>,
    /// The columns of each weight, the heaviest first.
    pub(in crate::solve) tiers: Vec<Vec<usize>>,
    /// What each set of node terms reaches, by pool: for whoever looks at what was left out of the columns.
    pub(in crate::solve) reaches: Arc<Vec<PoolReaches>>,
}

impl Problem {
    /// Makes the problem of placing what is left of each shape.
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
        // In an order of their own, so that what was made for the same is found again whoever asks first.
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

    /// Returns what every column takes of other limits than it was made with.
    pub(super) fn charges(&self, supply: &Supply<'_>, ledger: &Ledger, book: &PriceBook<'_>) -> Vec<Charges> {
        self.columns.iter().map(|column| columns::charges(column, supply, ledger, book)).collect()
    }

    /// Counts those from now on.
    pub(super) fn charge(&mut self, charges: Vec<Charges>) {
        for (column, charges) in self.columns.iter_mut().zip(charges) {
            column.charges = charges;
        }
    }

    /// Returns the numbers of the accesses that may stand on nodes of a column.
    pub(super) fn reaching(&self, column: usize) -> Bits {
        let mut reaching = Bits::none(self.accesses.len());
        let numbers = self.accesses.iter().enumerate().filter(|(_, access)| access.columns.has(column));
        numbers.for_each(|(number, _)| reaching.insert(number));
        reaching
    }

    /// Returns what all these pods need on one node, one amount a dimension.
    pub(super) fn need_together(&self, load: &[(usize, usize)]) -> Vec<i64> {
        let mut need = self.need(load);
        let shared = load.iter().flat_map(|(class, _)| &self.classes[*class].shared);
        dimension::add(&mut need, shared.collect::<BTreeSet<_>>());
        need
    }

    /// Returns what all these pods need at least, one amount a dimension: volumes that they may share are not counted.
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

    /// Returns how many pods of each class there are.
    pub(in crate::solve) fn counts(&self) -> Vec<usize> {
        self.classes.iter().map(|class| class.pods.len()).collect()
    }
}

/// Returns what pods of a shape ask of nodes' labels and taints.
const fn terms_of(shape: &Shape) -> Terms<'_> {
    (&shape.ask.alternatives, &shape.ask.stance)
}

/// Looks at what may be had of pools that ask for a variety. Where a fleet puts up with less, node terms of pods that
/// can have more of it are told apart from equal ones of pods that cannot.
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
    // Node terms that come to the same columns, and leave no label open, are one access.
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
