//! Substitutes of a node: other offerings that hold the same pods, in case Azure refuses.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{CapacityType, LabelKey, MicroUsdPerHour, Requirement, SkuName, Zone};
use crate::solve::caution::{self, Weighed};
use crate::solve::daemons::Overhead;
use crate::solve::fit::{Site, ports};
use crate::solve::intern::{Bits, Interner};
use crate::solve::solution::Substitute;
use crate::solve::supply::{Kind, PoolSupply, Usable};

use super::dimension::{self, Dimension};
use super::finish::Desk;
use super::packing::Opened;

/// Maximum number of substitutes of a node: as many sizes as Karpenter once sent to a cloud in one request, and more
/// than Azure refuses in a row.
pub(in crate::solve) const MAX: usize = 60;

/// Maximum number of offerings that are examined for substitutes: if this many cannot be listed together, more of them
/// add little.
const LOOKED_MAX: usize = 1000;

/// Offerings of a node's pool, by whether they hold its pods.
pub(super) struct Sorted {
    /// Those that do, the cheapest first, by their index on the shelf.
    holding: Vec<usize>,
    /// The others, by the number of size, zone and capacity type.
    others: Bits,
}

/// Size, zone and capacity type.
type Choice = (SkuName, Zone, CapacityType);

/// Offerings of a pool, the cheapest first, with numbers for their names.
struct Shelf {
    offers: Vec<Offer>,
    /// Index of each offering, by the number of its size, zone and capacity type.
    places: Vec<Option<usize>>,
    /// Indices of the sizes in the pool.
    sizes: BTreeMap<SkuName, usize>,
    zones: Vec<Zone>,
    types: Vec<CapacityType>,
    /// Capacity of nodes of each size beside each set of DaemonSets, one amount per dimension.
    rooms: Vec<Vec<Vec<i64>>>,
}

struct Offer {
    /// Indices of the size and the offering in the pool.
    kind: usize,
    usable: usize,
    /// Index of its DaemonSets in the pool.
    overhead: usize,
    /// The numbers of the zone and of the capacity type.
    zone: usize,
    bought: usize,
    /// Its price, without and with the premium.
    weighed: Weighed,
    substitute: Substitute,
}

impl Offer {
    /// Returns the sort key of an offering: price, then names; within a size, offerings without a zone come last.
    fn rank(&self) -> (MicroUsdPerHour, &SkuName, bool, &Zone, CapacityType) {
        let Substitute { effective_price, size, zone, capacity_type } = &self.substitute;
        let price = effective_price.known().unwrap_or(MicroUsdPerHour(i64::MAX));
        (price, size, zone.as_str() == "0", zone, *capacity_type)
    }
}

impl Shelf {
    fn of(pool: &PoolSupply<'_>, dimensions: &[Dimension]) -> Self {
        let (mut zones, mut types) = (Interner::<Zone>::new(), Interner::<CapacityType>::new());
        let mut offers = Vec::new();
        for (kind, there) in pool.kinds.iter().enumerate() {
            for (usable, way) in there.offerings.iter().enumerate() {
                let Usable { offering, quote, .. } = way;
                let (zone, bought) = (zones.number(&offering.zone), types.number(&offering.capacity_type));
                let substitute = Substitute {
                    effective_price: quote.effective,
                    size: there.kind.name.clone(),
                    zone: offering.zone.clone(),
                    capacity_type: offering.capacity_type,
                };
                let (overhead, weighed) = (way.overhead, way.weighed());
                offers.push(Offer { kind, usable, overhead, zone, bought, weighed, substitute });
            }
        }
        offers.sort_by(|a, b| a.rank().cmp(&b.rank()));
        let of_kind = |kind: &Kind<'_>| {
            let beside = |overhead| dimension::offered(kind, overhead, dimensions);
            pool.overheads.iter().map(beside).collect()
        };
        let rooms = pool.kinds.iter().map(of_kind).collect();
        let mut shelf = Self {
            offers,
            places: Vec::new(),
            sizes: pool
                .kinds
                .iter()
                .enumerate()
                .map(|(place, kind)| (kind.kind.name.clone(), place))
                .collect(),
            zones: zones.values().to_vec(),
            types: types.values().to_vec(),
            rooms,
        };
        shelf.places = vec![None; shelf.number(pool.kinds.len(), 0, 0)];
        for (place, Offer { kind, zone, bought, .. }) in shelf.offers.iter().enumerate() {
            let number = shelf.number(*kind, *zone, *bought);
            shelf.places[number] = Some(place);
        }
        shelf
    }

    /// Returns the index of an offering.
    fn place(&self, (size, zone, bought): (&SkuName, &Zone, CapacityType)) -> Option<usize> {
        let zone = self.zones.iter().position(|other| other == zone)?;
        let bought = self.types.iter().position(|other| *other == bought)?;
        self.places[self.number(*self.sizes.get(size)?, zone, bought)]
    }

    /// Returns the number of a size, zone and capacity type, whether or not it is offered.
    const fn number(&self, kind: usize, zone: usize, bought: usize) -> usize {
        (kind * self.zones.len() + zone) * self.types.len() + bought
    }

    /// Returns whether nodes of each size, beside each set of DaemonSets, hold this much.
    fn hold(&self, need: &[i64]) -> Vec<bool> {
        let holds = |room: &Vec<i64>| need.iter().zip(room).all(|(need, room)| need <= room);
        self.rooms.iter().flatten().map(holds).collect()
    }
}

/// Capacities of nodes of every offering of every pool.
pub(in crate::solve) struct Rooms(Vec<Shelf>);

impl Rooms {
    pub(super) fn of(desk: &Desk<'_>) -> Self {
        Self(desk.supply.pools.iter().map(|pool| Shelf::of(pool, &desk.problem.dimensions)).collect())
    }
}

/// Sorts the offerings of the node's pool, including its own.
pub(super) fn sorted(desk: &Desk<'_>, rooms: &Rooms, opened: &Opened, chosen: &Chosen) -> Sorted {
    let column = &desk.problem.columns[opened.column];
    let pool = &desk.supply.pools[column.pool];
    let shelf = &rooms.0[column.pool];
    let need = desk.problem.need_together(&opened.load);
    let terms: BTreeSet<usize> =
        opened.load.iter().flat_map(|(class, _)| &desk.problem.classes[*class].terms).copied().collect();
    // Many offerings have the same size.
    let holds = shelf.hold(&need);
    let mut sorted = Sorted { holding: Vec::new(), others: Bits::none(shelf.number(pool.kinds.len(), 0, 0)) };
    for (place, offer) in shelf.offers.iter().enumerate() {
        let does = || {
            let kind = &pool.kinds[offer.kind];
            let usable = &kind.offerings[offer.usable];
            reached(desk, (column.pool, &terms), (offer.kind, usable))
                && has_ports(desk, opened, &pool.overheads[usable.overhead])
                && (column.open.is_empty() || agrees(desk, opened, pool.site(kind, usable), chosen))
        };
        if holds[offer.kind * pool.overheads.len() + offer.overhead] && does() {
            sorted.holding.push(place);
        } else {
            sorted.others.insert(shelf.number(offer.kind, offer.zone, offer.bought));
        }
    }
    sorted
}

/// Returns the cheapest substitutes of a node of this column with this size, zone and capacity type. A claim lists
/// sizes, zones and capacity types independently, so all their combinations are possible. An offering that would add a
/// combination which does not hold the pods, or is avoided, is left out. Those that `minValues` needs come first.
pub(super) fn of(
    (desk, rooms): (&Desk<'_>, &Rooms),
    opened: &Opened,
    sorted: &Sorted,
    own: &Choice,
    needed: &[Substitute],
) -> Vec<Substitute> {
    let shelf = &rooms.0[desk.problem.columns[opened.column].pool];
    let Some(own) = shelf.place((&own.0, &own.1, own.2)) else { return Vec::new() };
    let offer = &shelf.offers[own];
    let mut listed =
        Listed { shelf, sizes: vec![offer.kind], zones: vec![offer.zone], types: vec![offer.bought] };
    let mut kept = Vec::new();
    let needed: BTreeSet<usize> = needed
        .iter()
        .filter_map(|other| shelf.place((&other.size, &other.zone, other.capacity_type)))
        .collect();
    let is_avoided = |place: &usize| {
        !needed.contains(place) && caution::is_avoided_for(shelf.offers[*place].weighed, offer.weighed)
    };
    let mut foreign = Cow::Borrowed(&sorted.others);
    for place in sorted.holding.iter().filter(|place| is_avoided(place)) {
        let Offer { kind, zone, bought, .. } = shelf.offers[*place];
        foreign.to_mut().insert(shelf.number(kind, zone, bought));
    }
    let needed_first = sorted.holding.iter().filter(|place| needed.contains(place));
    let others = sorted.holding.iter().take(LOOKED_MAX).filter(|place| !needed.contains(place));
    for place in needed_first.chain(others).filter(|place| !is_avoided(place)) {
        if kept.len() == MAX.max(needed.len()) {
            break;
        }
        let offer = &shelf.offers[*place];
        if *place != own && !listed.brings_another(offer, &foreign) {
            listed.add(offer);
            kept.push(offer.substitute.clone());
        }
    }
    kept
}

/// Contents of a claim, by numbers.
struct Listed<'s> {
    shelf: &'s Shelf,
    sizes: Vec<usize>,
    zones: Vec<usize>,
    types: Vec<usize>,
}

impl Listed<'_> {
    fn add(&mut self, Offer { kind, zone, bought, .. }: &Offer) {
        let lists = [(&mut self.sizes, kind), (&mut self.zones, zone), (&mut self.types, bought)];
        for (list, number) in lists {
            if !list.contains(number) {
                list.push(*number);
            }
        }
    }

    /// Returns whether one more offering would allow a launch that does not hold the pods. Only its new combinations
    /// are checked.
    fn brings_another(&self, Offer { kind, zone, bought, .. }: &Offer, others: &Bits) -> bool {
        let sizes = || self.sizes.iter().chain([kind]);
        let zones = || self.zones.iter().chain([zone]);
        let types = || self.types.iter().chain([bought]);
        let fails =
            |size: &usize, zone: &usize, bought: &usize| others.has(self.shelf.number(*size, *zone, *bought));
        let new_size =
            !self.sizes.contains(kind) && zones().any(|zone| types().any(|bought| fails(kind, zone, bought)));
        let new_zone =
            !self.zones.contains(zone) && sizes().any(|size| types().any(|bought| fails(size, zone, bought)));
        let new_type =
            !self.types.contains(bought) && sizes().any(|size| zones().any(|zone| fails(size, zone, bought)));
        new_size || new_zone || new_type
    }
}

/// Returns whether an offering satisfies the node terms of every pod of the node.
fn reached(
    desk: &Desk<'_>,
    (pool, terms): (usize, &BTreeSet<usize>),
    (kind, usable): (usize, &Usable<'_>),
) -> bool {
    terms.iter().all(|terms| {
        let alternatives = &desk.problem.reaches[pool].by_terms[*terms];
        alternatives.iter().any(|(reach, _)| reach.kinds.has(kind) && reach.placements.has(usable.placement))
    })
}

/// Returns whether DaemonSets leave the ports of the pods free.
fn has_ports(desk: &Desk<'_>, opened: &Opened, overhead: &Overhead) -> bool {
    let classes = opened.load.iter().map(|(class, _)| &desk.problem.classes[*class]);
    overhead.ports.is_empty()
        || classes.into_iter().all(|class| ports::why(&class.ports, &overhead.ports).is_ok())
}

/// Labels that were chosen for a node.
pub(super) type Chosen = BTreeMap<LabelKey, Arc<str>>;

/// Returns whether all pods agree, by the exact rules, on the labels that an offering leaves open and on those that
/// were chosen for the node.
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
    let all_stand = classes.into_iter().all(|class| site.put(&shape(class).ask, 1).is_ok());
    // A label that the node's column sets is not chosen for the node; it must be set here as well.
    let own = &desk.problem.columns[opened.column].open;
    all_stand
        && own.iter().filter(|(_, own)| own.single().is_some()).all(|(key, _)| {
            site.labels.get(key.as_str()).is_none_or(|there| there.single().is_some() || there.is_none())
        })
}
