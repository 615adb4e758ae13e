//! The other ways to have a node that holds the same pods: what to fall back on when Azure refuses.

use std::collections::BTreeSet;

use crate::model::{CapacityType, MicroUsdPerHour, SkuName, Zone};
use crate::solve::solution::Substitute;
use crate::solve::supply::{Kind, PoolSupply, Usable};

use super::finish::Desk;
use super::packing::Opened;

/// The most substitutes that a node keeps: as many sizes as Karpenter once sent to a cloud in one request,
/// and more than Azure refuses in a row.
pub(super) const MAX: usize = 60;

/// The offerings of a node's pool by whether they hold its pods.
pub(super) struct Sorted {
    /// Those that do, cheapest first.
    holding: Vec<Substitute>,
    /// The others, by size, zone and capacity type.
    others: BTreeSet<Choice>,
}

/// Size, zone and capacity type.
type Choice = (SkuName, Zone, CapacityType);

/// Sorts the offerings of the node's pool, its own one included.
pub(super) fn sorted(desk: &Desk<'_>, opened: &Opened) -> Sorted {
    let column = &desk.problem.columns[opened.column];
    let pool = &desk.supply.pools[column.pool];
    let mut found: Vec<(MicroUsdPerHour, Substitute)> = Vec::new();
    let mut others = BTreeSet::new();
    let need = need(desk, opened);
    for (place, kind) in pool.kinds.iter().enumerate() {
        for usable in &kind.offerings {
            let substitute = Substitute {
                effective_price: usable.quote.effective,
                size: kind.kind.name.clone(),
                zone: usable.offering.zone.clone(),
                capacity_type: usable.offering.capacity_type,
            };
            let does = reached(desk, opened, (place, usable))
                && holds(desk, &need, pool, (kind, usable))
                && (column.open.is_empty() || agrees(desk, opened, &substitute));
            if does {
                let price = usable.quote.effective.known().unwrap_or(MicroUsdPerHour(i64::MAX));
                found.push((price, substitute));
            } else {
                others.insert((substitute.size, substitute.zone, substitute.capacity_type));
            }
        }
    }
    found.sort_by(|a, b| {
        let key = |(price, other): &(MicroUsdPerHour, Substitute)| {
            (*price, other.size.clone(), other.zone.as_str() == "0", other.zone.clone(), other.capacity_type)
        };
        key(a).cmp(&key(b))
    });
    Sorted { holding: found.into_iter().map(|(_, substitute)| substitute).collect(), others }
}

/// Returns the cheapest substitutes of a node of this size, zone and capacity type. A claim lists sizes,
/// zones and capacity types each for itself, so that any of them may come together: what would bring
/// together an offering that does not hold the pods is left out.
pub(super) fn of(sorted: &Sorted, own: &Choice) -> Vec<Substitute> {
    let Sorted { holding, others } = sorted;
    let (mut sizes, mut zones, mut kinds) =
        (BTreeSet::from([&own.0]), BTreeSet::from([&own.1]), BTreeSet::from([own.2]));
    let mut kept = Vec::new();
    for substitute in holding {
        let Substitute { size, zone, capacity_type, effective_price: _ } = substitute;
        if kept.len() == MAX {
            break;
        }
        if (size, zone, *capacity_type) == (&own.0, &own.1, own.2) {
            continue;
        }
        let mut wider = (sizes.clone(), zones.clone(), kinds.clone());
        wider.0.insert(size);
        wider.1.insert(zone);
        wider.2.insert(*capacity_type);
        let mut together = wider.0.iter().flat_map(|size| {
            let kinds = &wider.2;
            wider.1.iter().flat_map(move |zone| kinds.iter().map(move |kind| (*size, *zone, *kind)))
        });
        let is_old = |(size, zone, kind): &(&SkuName, &Zone, CapacityType)| {
            sizes.contains(size) && zones.contains(zone) && kinds.contains(kind)
        };
        let brings_another = together.any(|choice| {
            !is_old(&choice) && others.contains(&(choice.0.clone(), choice.1.clone(), choice.2))
        });
        if !brings_another {
            (sizes, zones, kinds) = wider;
            kept.push(substitute.clone());
        }
    }
    kept
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
    let all_stand = classes.into_iter().all(|class| site.put(&shape(class).ask).is_ok());
    // A label that is settled on the node itself is not chosen for it; it must be settled here as well.
    let own = &desk.problem.columns[opened.column].open;
    all_stand
        && own.iter().filter(|(_, own)| own.single().is_some()).all(|(key, _)| {
            site.labels.get(key.as_str()).is_none_or(|there| there.single().is_some() || there.is_none())
        })
}
