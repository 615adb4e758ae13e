//! The other ways to have a node that holds the same pods: what to fall back on when Azure refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{CapacityType, LabelKey, MicroUsdPerHour, Requirement, SkuName, Zone};
use crate::solve::daemons::Overhead;
use crate::solve::fit::{Site, ports};
use crate::solve::solution::Substitute;
use crate::solve::supply::{PoolSupply, Usable};

use super::finish::Desk;
use super::packing::Opened;
use super::problem::vector;

/// The most substitutes that a node keeps: as many sizes as Karpenter once sent to a cloud in one request,
/// and more than Azure refuses in a row.
pub(super) const MAX: usize = 60;

/// The most offerings that are looked at for substitutes: with so many that cannot be listed together, more
/// of them bring little.
const LOOKED_MAX: usize = 1000;

/// The offerings of a node's pool by whether they hold its pods.
pub(super) struct Sorted {
    /// Those that do, cheapest first.
    holding: Vec<Substitute>,
    /// The others, by size, zone and capacity type.
    others: BTreeSet<Choice>,
}

/// Size, zone and capacity type.
type Choice = (SkuName, Zone, CapacityType);

/// Amounts of one thing each, one amount a dimension.
type Vectors = Vec<Vec<i64>>;

/// What nodes of every size of every pool offer, and what daemonsets take of them.
pub(super) struct Rooms {
    pools: Vec<(Vectors, Vectors)>,
}

impl Rooms {
    pub(super) fn of(desk: &Desk<'_>) -> Self {
        let dimensions = &desk.problem.dimensions;
        let of_pool = |pool: &PoolSupply<'_>| {
            let kinds = pool.kinds.iter().map(|kind| vector(&kind.kind.allocatable, dimensions));
            let overheads = pool.overheads.iter().map(|overhead| vector(&overhead.requests, dimensions));
            (kinds.collect(), overheads.collect())
        };
        Self { pools: desk.supply.pools.iter().map(of_pool).collect() }
    }

    /// Returns whether a node of this offering holds so much beside its daemonsets.
    fn hold(&self, need: &[i64], pool: usize, (kind, usable): (usize, &Usable<'_>)) -> bool {
        let (kinds, overheads) = &self.pools[pool];
        let overhead = &overheads[usable.overhead];
        let mut sums = need.iter().zip(overhead).zip(&kinds[kind]);
        sums.all(|((need, overhead), there)| need.saturating_add(*overhead) <= *there)
    }
}

/// Sorts the offerings of the node's pool, its own one included.
pub(super) fn sorted(desk: &Desk<'_>, rooms: &Rooms, opened: &Opened, chosen: &Chosen) -> Sorted {
    let column = &desk.problem.columns[opened.column];
    let pool = &desk.supply.pools[column.pool];
    let mut found: Vec<(MicroUsdPerHour, Substitute)> = Vec::new();
    let mut others = BTreeSet::new();
    let need = desk.problem.need(&opened.load);
    for (place, kind) in pool.kinds.iter().enumerate() {
        for usable in &kind.offerings {
            let substitute = Substitute {
                effective_price: usable.quote.effective,
                size: kind.kind.name.clone(),
                zone: usable.offering.zone.clone(),
                capacity_type: usable.offering.capacity_type,
            };
            let does = rooms.hold(&need, column.pool, (place, usable))
                && reached(desk, opened, (place, usable))
                && has_ports(desk, opened, &pool.overheads[usable.overhead])
                && (column.open.is_empty() || agrees(desk, opened, pool.site(kind, usable), chosen));
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
/// together an offering that does not hold the pods is left out. Those that `minValues` needs come before all others.
pub(super) fn of(sorted: &Sorted, own: &Choice, needed: &[Substitute]) -> Vec<Substitute> {
    let Sorted { holding, others: strangers } = sorted;
    let mut listed = Listed {
        sizes: BTreeSet::from([&own.0]),
        zones: BTreeSet::from([&own.1]),
        kinds: BTreeSet::from([own.2]),
    };
    let mut kept = Vec::new();
    let is_needed = |substitute: &&Substitute| needed.contains(substitute);
    let needed_first = holding.iter().filter(is_needed);
    let others = holding.iter().take(LOOKED_MAX).filter(|substitute| !is_needed(substitute));
    for substitute in needed_first.chain(others) {
        let Substitute { size, zone, capacity_type, effective_price: _ } = substitute;
        if kept.len() == MAX.max(needed.len()) {
            break;
        }
        let is_own = (size, zone, *capacity_type) == (&own.0, &own.1, own.2);
        if !is_own && !listed.brings_another((size, zone, *capacity_type), strangers) {
            listed.sizes.insert(size);
            listed.zones.insert(zone);
            listed.kinds.insert(*capacity_type);
            kept.push(substitute.clone());
        }
    }
    kept
}

/// What a claim lists.
struct Listed<'s> {
    sizes: BTreeSet<&'s SkuName>,
    zones: BTreeSet<&'s Zone>,
    kinds: BTreeSet<CapacityType>,
}

impl Listed<'_> {
    /// Returns whether one more choice would let something be launched that does not hold the pods. Only
    /// combinations with what is new of it are looked at.
    fn brings_another(
        &self,
        (size, zone, kind): (&SkuName, &Zone, CapacityType),
        others: &BTreeSet<Choice>,
    ) -> bool {
        let sizes = || self.sizes.iter().copied().chain([size]);
        let zones = || self.zones.iter().copied().chain([zone]);
        let kinds = || self.kinds.iter().copied().chain([kind]);
        let fails = |size: &SkuName, zone: &Zone, kind| others.contains(&(size.clone(), zone.clone(), kind));
        let new_size =
            !self.sizes.contains(size) && zones().any(|zone| kinds().any(|kind| fails(size, zone, kind)));
        let new_zone =
            !self.zones.contains(zone) && sizes().any(|size| kinds().any(|kind| fails(size, zone, kind)));
        let new_kind =
            !self.kinds.contains(&kind) && sizes().any(|size| zones().any(|zone| fails(size, zone, kind)));
        new_size || new_zone || new_kind
    }
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

/// Returns whether daemonsets leave the ports that the pods take.
fn has_ports(desk: &Desk<'_>, opened: &Opened, overhead: &Overhead) -> bool {
    let classes = opened.load.iter().map(|(class, _)| &desk.problem.classes[*class]);
    overhead.ports.is_empty()
        || classes.into_iter().all(|class| ports::why(&class.ports, &overhead.ports).is_ok())
}

/// The labels that were chosen for a node.
pub(super) type Chosen = BTreeMap<LabelKey, Arc<str>>;

/// Returns whether all pods agree on the labels that an offering leaves open, by the exact rules, with those
/// that were chosen for the node.
fn agrees(desk: &Desk<'_>, opened: &Opened, mut site: Site<'_>, chosen: &Chosen) -> bool {
    for (key, value) in chosen {
        if site.labels.get(key.as_str()).is_some_and(|there| !there.accepts(value)) {
            return false;
        }
        site.labels.set(key.clone(), Requirement::one(value));
    }
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
