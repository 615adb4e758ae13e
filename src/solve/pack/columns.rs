//! Builds the columns of a packing problem from offerings, without dominated ones.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::model::{CapacityType, LabelKey, Requirements, ResourceName};

use crate::solve::fit::limits::{Charges, Ledger};
use crate::solve::intern::{Bits, Interner};
use crate::solve::ledger::{self, Vm};
use crate::solve::price::PriceBook;
use crate::solve::supply::{Kind, PoolSupply, Supply, Usable, reach::Reach};

use super::dimension::{self, Dimension};
use super::problem::Column;
use super::stock::PoolReaches;
use super::variety;

/// Base cost of a node of unknown price: more than any fleet costs, so it is tried only if nothing with a price fits.
const UNKNOWN_COST: i64 = 1_000_000_000_000;

/// Returns whether a column's price is known.
pub(super) const fn is_priced(column: &Column) -> bool {
    column.cost < UNKNOWN_COST
}

/// Cost of a thousandth of a core if the price is unknown: more than any size that has a price, so such a node is no
/// larger than necessary.
const UNKNOWN_COST_PER_MILLI_CPU: i64 = 10_000;

/// Returns whether a column's nodes satisfy an alternative.
pub(super) fn serves(column: &Column, reach: &Reach, supply: &Supply<'_>) -> bool {
    let kinds = &supply.pools[column.pool].kinds;
    let has = |(kind, usable): (usize, usize)| {
        reach.kinds.has(kind) && reach.placements.has(kinds[kind].offerings[usable].placement)
    };
    let others = column.choice.iter().flat_map(|choice| choice.among.values().flatten());
    has((column.kind, column.usables[0])) && others.copied().all(has)
}

/// Returns all columns: the cheapest offerings of a size that serve the same pods.
pub(super) fn all(
    supply: &Supply<'_>,
    reaches: &[PoolReaches],
    dimensions: &[Dimension],
    (ledger, book): (&Ledger, &PriceBook<'_>),
    ways: &[Option<variety::Ways<'_>>],
) -> Vec<Column> {
    let of_pool = |(place, pool): (usize, &PoolSupply<'_>)| {
        let mut columns = Vec::new();
        let alike = alike(pool, &reaches[place]);
        for (number, kind) in pool.kinds.iter().enumerate() {
            for usables in groups(kind, &alike, ledger.quotas().is_some()) {
                let usable = &kind.offerings[usables[0]];
                let overhead = &pool.overheads[usable.overhead];
                let mut column = Column {
                    pool: place,
                    tier: pool.tier,
                    kind: number,
                    cost: cost(kind, usable),
                    commitment: None,
                    room: dimension::offered(kind, overhead, dimensions),
                    overhead: usable.overhead,
                    charges: Charges::new(),
                    open: open(pool, (kind, usable), &reaches[place].open_keys),
                    usables,
                    choice: None,
                };
                column.charges = charges(&column, supply, ledger, book);
                // Many subscriptions have a quota of zero for most families.
                if ledger.lacks_quota(&column.charges) {
                    continue;
                }
                let made = match &ways[place] {
                    Some(ways) => ways.columns(&column),
                    None => vec![column],
                };
                for column in made {
                    if column.room.iter().all(|amount| *amount >= 0) {
                        columns.extend(committed(&column, supply, ledger, book));
                        columns.push(column);
                    }
                }
            }
        }
        columns
    };
    supply.pools.par_iter().enumerate().flat_map_iter(of_pool).collect()
}

/// Returns the column again for every commitment to its size. Only the cost beside the VM is new, with the price
/// premium of the VM.
fn committed(column: &Column, supply: &Supply<'_>, ledger: &Ledger, book: &PriceBook<'_>) -> Vec<Column> {
    let kind = &supply.pools[column.pool].kinds[column.kind];
    let usable = &kind.offerings[column.usables[0]];
    let left = ledger::commitments(ledger, kind.kind, usable.offering, book);
    let beside = book.beside_vm(kind.kind).known();
    let Some(beside) = beside else { return Vec::new() };
    let of = |number: usize| {
        let cost = (beside + usable.premium).0.max(1);
        let mut of = Column { cost, commitment: Some(number), ..column.clone() };
        of.charges = charges(&of, supply, ledger, book);
        of
    };
    left.into_iter().map(of).collect()
}

/// Returns a node's charges against limits and against the commitment that pays for its VM.
pub(super) fn charges(
    column: &Column,
    supply: &Supply<'_>,
    ledger: &Ledger,
    book: &PriceBook<'_>,
) -> Charges {
    let pool = &supply.pools[column.pool];
    let kind = &pool.kinds[column.kind];
    let usable = &kind.offerings[column.usables[0]];
    let price = match column.commitment {
        None => usable.quote.effective,
        Some(_) => book.beside_vm(kind.kind),
    };
    let mut charges = ledger::charges(ledger, pool.pool, Vm { price: price.known(), ..usable.vm(kind) });
    let counter = column.commitment.and_then(|number| ledger::commitment(ledger, number));
    charges.extend(counter.map(|place| (place, 1)));
    charges
}

fn cost(kind: &Kind<'_>, usable: &Usable<'_>) -> i64 {
    match usable.choice_price() {
        Some(price) => price.0.max(1),
        None => {
            let cpu = kind.kind.capacity.get(&ResourceName::Cpu);
            UNKNOWN_COST.saturating_add(cpu.saturating_mul(UNKNOWN_COST_PER_MILLI_CPU))
        }
    }
}

/// Numbers the placements of a pool: those with equal numbers serve the same pods.
fn alike(pool: &PoolSupply<'_>, reaches: &PoolReaches) -> BTreeMap<usize, usize> {
    let mut signatures: Interner<Vec<bool>> = Interner::new();
    let mut distinct: Vec<&Bits> = Vec::new();
    for (reach, _) in reaches.by_terms.iter().flatten() {
        if !distinct.contains(&&reach.placements) {
            distinct.push(&reach.placements);
        }
    }
    let used = pool.kinds.iter().flat_map(|kind| kind.offerings.iter().map(|usable| usable.placement));
    let mut alike = BTreeMap::new();
    for placement in used {
        alike.entry(placement).or_insert_with(|| {
            let signature = distinct.iter().map(|placements| placements.has(placement)).collect();
            signatures.number(&signature)
        });
    }
    alike
}

/// Returns the offerings of a size in groups that serve the same pods, each without the more expensive ones. A zone
/// costs nothing, so zone `0` is in a group only if its premium is lower than that of all zonal offerings. If there are
/// quotas, spot and on-demand have groups of their own because they count against different quotas.
fn groups(kind: &Kind<'_>, alike: &BTreeMap<usize, usize>, has_quotas: bool) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(usize, usize, Option<CapacityType>), Vec<usize>> = BTreeMap::new();
    for (place, usable) in kind.offerings.iter().enumerate() {
        let bought = has_quotas.then_some(usable.offering.capacity_type);
        groups.entry((alike[&usable.placement], usable.overhead, bought)).or_default().push(place);
    }
    for group in groups.values_mut() {
        let is_zonal = |place: &usize| kind.offerings[*place].offering.zone.as_str() != "0";
        let least = |is_wanted: bool| {
            let wanted = group.iter().filter(|place| is_zonal(place) == is_wanted);
            wanted.map(|place| kind.offerings[*place].premium).min()
        };
        let (zonal, regional) = (least(true), least(false));
        if zonal.is_some_and(|zonal| regional.is_none_or(|regional| zonal <= regional)) {
            group.retain(is_zonal);
        }
        let cheapest = group.iter().map(|place| cost(kind, &kind.offerings[*place])).min();
        group.retain(|place| Some(cost(kind, &kind.offerings[*place])) == cheapest);
        // One capacity type per column: at equal prices, capacity that is not evicted is better.
        let first = group.iter().map(|place| kind.offerings[*place].offering.capacity_type).min();
        group.retain(|place| Some(kind.offerings[*place].offering.capacity_type) == first);
    }
    groups.into_values().collect()
}

/// Returns the values that labels may still get, for the labels of which pods ask for different values.
pub(super) fn open(
    pool: &PoolSupply<'_>,
    (kind, usable): (&Kind<'_>, &Usable<'_>),
    keys: &BTreeSet<LabelKey>,
) -> Requirements {
    let mut open = Requirements::none();
    if keys.is_empty() {
        return open;
    }
    let site = pool.site(kind, usable);
    for key in keys {
        if let Some(requirement) = site.labels.get(key.as_str()) {
            open.add(key.clone(), requirement.clone());
        }
    }
    open
}

/// Drops every column that another one of its pool dominates or equals in price, capacity, limits and the pods that it
/// serves; sorts the rest by price, zonal ones first, then by size.
pub(super) fn undominated(
    columns: Vec<Column>,
    reaches: &[PoolReaches],
    supply: &Supply<'_>,
    terms: usize,
) -> Vec<Column> {
    let mut served: Vec<(Column, Bits)> = columns
        .into_iter()
        .map(|column| {
            let mut bits = Bits::none(terms);
            for (number, reached) in reaches[column.pool].by_terms.iter().enumerate() {
                if variety::suffices(&column, reaches[column.pool].least(number))
                    && reached.iter().any(|(reach, _)| serves(&column, reach, supply))
                {
                    bits.insert(number);
                }
            }
            (column, bits)
        })
        .filter(|(_, bits)| !bits.is_empty())
        .collect();
    served.sort_by_cached_key(|(column, _)| {
        let kind = &supply.pools[column.pool].kinds[column.kind];
        let offering = kind.offerings[column.usables[0]].offering;
        let is_regional = offering.zone.as_str() == "0";
        (column.pool, column.cost, is_regional, kind.kind.name.clone(), offering.zone.clone())
    });
    let of_pools: Vec<&[(Column, Bits)]> =
        served.chunk_by(|(one, _), (other, _)| one.pool == other.pool).collect();
    let is_kept: Vec<bool> = of_pools.par_iter().flat_map_iter(|of_pool| unbeaten(of_pool, supply)).collect();
    let kept = served.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    kept.map(|((column, _), _)| column).collect()
}

/// Returns for each column of a pool, the cheapest first, whether no earlier one dominates it.
fn unbeaten(columns: &[(Column, Bits)], supply: &Supply<'_>) -> Vec<bool> {
    let mut kept: Vec<&(Column, Bits)> = Vec::new();
    let kept_of = columns.iter().map(|served| {
        let (column, bits) = served;
        let is_beaten = kept.iter().any(|(better, theirs)| {
            better.commitment.is_none() && theirs.holds(bits) && beats(better, column, supply)
        });
        if !is_beaten {
            kept.push(served);
        }
        !is_beaten
    });
    kept_of.collect()
}

/// Returns whether `better`, which costs no more, holds all that `column` holds and takes no more of limits.
fn beats(better: &Column, column: &Column, supply: &Supply<'_>) -> bool {
    let overheads = &supply.pools[column.pool].overheads;
    let (ours, theirs) = (&overheads[better.overhead].ports, &overheads[column.overhead].ports);
    better.room.iter().zip(&column.room).all(|(ours, theirs)| ours >= theirs)
        && better.open == column.open
        && ours.is_subset(theirs)
        && better.charges.len() == column.charges.len()
        && better
            .charges
            .iter()
            .zip(&column.charges)
            .all(|(ours, theirs)| ours.0 == theirs.0 && ours.1 <= theirs.1)
}
