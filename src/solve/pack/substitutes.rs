//! The other ways to have a node that holds the same pods: what to fall back on when Azure refuses.

use crate::model::MicroUsdPerHour;
use crate::solve::solution::Substitute;
use crate::solve::supply::{Kind, PoolSupply, Usable};

use super::finish::Desk;
use super::packing::Opened;

/// The most substitutes that a node keeps: as many sizes as Karpenter once sent to a cloud in one request,
/// and more than Azure refuses in a row.
pub(super) const MAX: usize = 60;

/// Returns the cheapest offerings of the node's pool that hold its pods, its own one included.
pub(super) fn of(desk: &Desk<'_>, opened: &Opened) -> Vec<Substitute> {
    let column = &desk.problem.columns[opened.column];
    let pool = &desk.supply.pools[column.pool];
    let mut found: Vec<(MicroUsdPerHour, Substitute)> = Vec::new();
    let need = need(desk, opened);
    for (place, kind) in pool.kinds.iter().enumerate() {
        for usable in &kind.offerings {
            if reached(desk, opened, (place, usable)) && holds(desk, &need, pool, (kind, usable)) {
                let substitute = Substitute {
                    effective_price: usable.quote.effective,
                    size: kind.kind.name.clone(),
                    zone: usable.offering.zone.clone(),
                    capacity_type: usable.offering.capacity_type,
                };
                let price = usable.quote.effective.known().unwrap_or(MicroUsdPerHour(i64::MAX));
                found.push((price, substitute));
            }
        }
    }
    if !column.open.is_empty() {
        found.retain(|(_, other)| agrees(desk, opened, other));
    }
    found.sort_by(|a, b| {
        let key = |(price, other): &(MicroUsdPerHour, Substitute)| {
            (*price, other.size.clone(), other.zone.as_str() == "0", other.zone.clone(), other.capacity_type)
        };
        key(a).cmp(&key(b))
    });
    // One more than are kept: the node's own offering is taken out later.
    found.truncate(MAX + 1);
    found.into_iter().map(|(_, substitute)| substitute).collect()
}

/// Returns what all pods of a node need, one amount a dimension.
fn need(desk: &Desk<'_>, opened: &Opened) -> Vec<i64> {
    let mut need = vec![0_i64; desk.problem.dimensions.len()];
    for (class, count) in &opened.load {
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        for (sum, amount) in need.iter_mut().zip(&desk.problem.classes[*class].need) {
            *sum = sum.saturating_add(amount.saturating_mul(count));
        }
    }
    need
}

/// Returns whether an offering can be what every pod of the node asks for.
fn reached(desk: &Desk<'_>, opened: &Opened, (kind, usable): (usize, &Usable<'_>)) -> bool {
    let pool = desk.problem.columns[opened.column].pool;
    let mut terms = opened.load.iter().flat_map(|(class, _)| &desk.problem.classes[*class].terms);
    terms.all(|terms| {
        let alternatives = &desk.problem.reaches[pool].by_terms[*terms];
        alternatives.iter().any(|(reach, _)| reach.kinds.has(kind) && reach.placements.has(usable.placement))
    })
}

fn holds(
    desk: &Desk<'_>,
    need: &[i64],
    pool: &PoolSupply<'_>,
    (kind, usable): (&Kind<'_>, &Usable<'_>),
) -> bool {
    let overhead = &pool.overheads[usable.overhead];
    desk.problem.dimensions.iter().zip(need).all(|(name, need)| {
        let free = kind.kind.allocatable.get(name).saturating_sub(overhead.requests.get(name));
        *need <= 0 && free >= 0 || *need <= free
    })
}

/// Returns whether all pods agree on the labels that an offering leaves open, by the exact rules.
fn agrees(desk: &Desk<'_>, opened: &Opened, other: &Substitute) -> bool {
    let pool = &desk.supply.pools[desk.problem.columns[opened.column].pool];
    let found = pool.kinds.iter().find(|kind| kind.kind.name == other.size).and_then(|kind| {
        let same = |usable: &&Usable<'_>| {
            usable.offering.zone == other.zone && usable.offering.capacity_type == other.capacity_type
        };
        Some(pool.site(kind, kind.offerings.iter().find(same)?))
    });
    let Some(mut site) = found else { return false };
    let mut classes: Vec<usize> = opened.load.iter().map(|(class, _)| *class).collect();
    let shape = |class: usize| &desk.demand.shapes[desk.problem.classes[class].pods[0].2];
    classes.sort_by_key(|class| (shape(*class).ask.alternatives.len(), *class));
    classes.into_iter().all(|class| site.put(&shape(class).ask).is_ok())
}
