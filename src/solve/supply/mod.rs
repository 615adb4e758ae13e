//! Supply: the pools, sizes and offerings that may be bought under the policy.
//!
//! Unavailable offerings are excluded, and so are burstable and HPC sizes that no requirement names. Never compares
//! prices or chooses.

pub(super) mod blame;
mod conflict;
pub mod emptied;
pub mod excluded;
pub mod named;
pub mod reach;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Offered;
use crate::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, MinValuesPolicy, Offering, Pool, PoolName,
    Requirement, Requirements, SkuName, Zone, label,
};
use crate::policy::Policy;

use super::caution::{Caution, Weighed};
use super::daemons::{Daemons, Overhead};
use super::demand::Ask;
use super::fit::mounts::Free;
use super::fit::slots::Slots;
use super::fit::variety::{self, Asked};
use super::fit::{Miss, Rule, Site, Undefined, labels, taints};
use super::intern::{Bits, Interner};
use super::ledger::Vm;
use super::market::Market;
use super::price::{PriceBook, Quote};
use super::solution::Warning;
use reach::{Reach, Tables};

/// Everything that may be bought.
#[derive(Clone, Debug)]
pub struct Supply<'a> {
    /// The pools that nodes may be created from: the heaviest first, equal ones by name in reverse, as Karpenter tries
    /// them.
    pub pools: Vec<PoolSupply<'a>>,
    /// The static pools (`replicas`), which create no node for a pod, each with its number of nodes.
    pub fixed: BTreeMap<PoolName, u64>,
    /// Warnings, such as about pools that create no nodes.
    pub warnings: Vec<Warning>,
}

/// What one pool may buy.
#[derive(Clone, Debug)]
pub struct PoolSupply<'a> {
    /// The pool.
    pub pool: &'a Pool,
    /// Its index among the distinct weights: 0 is the heaviest.
    pub tier: usize,
    /// The requirements of its nodes before a size is chosen.
    pub base: Requirements,
    /// The sizes that it may use, by name.
    pub kinds: Vec<Kind<'a>>,
    /// The sizes that it may not use, by name, with the reason.
    pub left_out: Vec<(SkuName, Miss)>,
    /// How many distinct values of labels `minValues` requires for its nodes.
    pub variety: Vec<Asked>,
    /// What happens if fewer values are available.
    pub min_values_policy: MinValuesPolicy,
    /// The offer to its class, regardless of the pool's requirements.
    pub offered: &'a Offered,
    /// Why it may use no size at all, if so.
    pub emptied: Option<Miss>,
    /// The distinct overheads of DaemonSets, by number.
    pub overheads: Vec<Overhead>,
    well_known: &'a BTreeSet<LabelKey>,
    tables: Tables,
}

/// A size that a pool may use.
#[derive(Clone, Debug)]
pub struct Kind<'a> {
    /// The instance type.
    pub kind: &'a InstanceType,
    /// Its available offerings that the pool allows.
    pub offerings: Vec<Usable<'a>>,
    /// Whether it serves only pods that name it: burstable and HPC sizes of a pool that does not name them.
    pub needs_name: bool,
    /// Maximum number of volumes per driver on its nodes, if limited.
    pub slots: Slots,
    /// Whether the maximum number of Azure disks is an estimate.
    pub is_slots_estimate: bool,
}

/// An offering of a size.
#[derive(Clone, Debug)]
pub struct Usable<'a> {
    /// The offering.
    pub offering: &'a Offering,
    /// The number of its set of labels.
    pub placement: usize,
    /// The price of its nodes.
    pub quote: Quote,
    /// The premium that is added to the price when choosing.
    pub premium: MicroUsdPerHour,
    /// The number of its overhead of DaemonSets.
    pub overhead: usize,
}

impl Usable<'_> {
    /// Returns a VM of a size in this offering, as limits count it.
    #[must_use]
    pub fn vm<'k>(&self, kind: &Kind<'k>) -> Vm<'k> {
        let price = self.quote.effective.known();
        Vm { kind: kind.kind, capacity_type: self.offering.capacity_type, price }
    }

    /// Returns the price including the premium, by which new nodes are chosen; `None` if the price is unknown.
    #[must_use]
    pub fn choice_price(&self) -> Option<MicroUsdPerHour> {
        self.weighed().1
    }

    /// Returns the price without and with the premium.
    #[must_use]
    pub fn weighed(&self) -> Weighed {
        let price = self.quote.effective.known();
        (price, price.map(|price| price + self.premium))
    }
}

impl<'a> Supply<'a> {
    /// Collects what the policy's pools may buy on this market.
    #[must_use]
    pub fn of(policy: &'a Policy, market: &'a Market, book: &PriceBook<'_>, daemons: &Daemons<'_>) -> Self {
        let pools = policy.pools.values().filter(|pool| pool.replicas.is_none());
        Self::gathered((policy, pools), (market, book, daemons), |pool| refusal(policy, pool, market))
    }

    /// Collects what static pools may buy.
    #[must_use]
    pub(super) fn of_fixed(
        policy: &'a Policy,
        market: &'a Market,
        book: &PriceBook<'_>,
        daemons: &Daemons<'_>,
    ) -> Self {
        let pools = policy.pools.values().filter(|pool| pool.replicas.is_some() && !pool.is_deleting);
        let stock = |pool: &Pool| held(policy, pool).map_or_else(|| stock(pool, market), Err);
        Self::gathered((policy, pools), (market, book, daemons), stock)
    }

    fn gathered(
        (policy, pools): (&'a Policy, impl DoubleEndedIterator<Item = &'a Pool>),
        (market, book, daemons): (&'a Market, &PriceBook<'_>, &Daemons<'_>),
        stock: impl Fn(&Pool) -> Result<&'a Offered, Warning>,
    ) -> Self {
        let fixed = |pool: &Pool| Some((pool.name.clone(), pool.replicas.filter(|_| !pool.is_deleting)?));
        let fixed = policy.pools.values().filter_map(fixed).collect();
        let mut supply = Self { pools: Vec::new(), fixed, warnings: Vec::new() };
        let weights: BTreeSet<_> = policy.pools.values().map(|pool| std::cmp::Reverse(pool.weight)).collect();
        let tiers: BTreeMap<u32, usize> =
            weights.into_iter().enumerate().map(|(tier, weight)| (weight.0, tier)).collect();
        for pool in pools.rev() {
            match stock(pool) {
                Err(warning) => supply.warnings.push(warning),
                Ok(offered) => {
                    let tier = tiers[&pool.weight];
                    let mut pool = PoolSupply::of(pool, tier, offered, market);
                    pool.min_values_policy = policy.fleet.min_values_policy;
                    supply.pools.push(pool.priced(book, &market.caution).with_daemons(daemons));
                }
            }
        }
        supply.pools.sort_by_key(|pool| pool.tier);
        supply.warnings.sort();
        supply
    }

    /// Returns a size of a pool with its offering in a zone; `None` if there is none.
    #[must_use]
    pub fn bought(
        &self,
        pool: &PoolName,
        size: &SkuName,
        (zone, capacity_type): (&Zone, CapacityType),
    ) -> Option<(&PoolSupply<'a>, &Kind<'a>, &Usable<'a>)> {
        let pool = self.pools.iter().find(|there| there.pool.name == *pool)?;
        let (kind, usable) = pool.bought(size, (zone, capacity_type))?;
        Some((pool, kind, usable))
    }

    /// Returns the number of distinct weights.
    #[must_use]
    pub fn tiers(&self) -> usize {
        self.pools.iter().map(|pool| pool.tier + 1).max().unwrap_or(0)
    }
}

/// Returns why the NodeFleet holds back new nodes of a pool, if it does.
fn held(policy: &Policy, pool: &Pool) -> Option<Warning> {
    let hold = policy.fleet.holds.on_create(&pool.name)?;
    Some(Warning {
        object: format!("pool `{}`", pool.name),
        what: format!("{}: it creates no nodes", hold.because),
        hint: Some("take `create: hold` out of the NodeFleet, and waiting pods get their nodes".to_owned()),
    })
}

/// Returns the offer to a pool's class, or why the pool creates no nodes.
pub(super) fn refusal<'a>(policy: &Policy, pool: &Pool, market: &'a Market) -> Result<&'a Offered, Warning> {
    let warning = |what: String, hint: &str| {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Err(Warning { object: format!("pool `{}`", pool.name), what, hint })
    };
    if pool.is_deleting {
        return warning("is being deleted: it creates no nodes".to_owned(), "");
    }
    if let Some(replicas) = pool.replicas {
        let what = format!("is static (`replicas: {replicas}`): it does not grow for pods");
        return warning(what, "");
    }
    if let Some(held) = held(policy, pool) {
        return Err(held);
    }
    stock(pool, market)
}

/// Returns the offer to a pool's class, or why there is none.
fn stock<'a>(pool: &Pool, market: &'a Market) -> Result<&'a Offered, Warning> {
    let warning = |what: String, hint: &str| {
        Err(Warning { object: format!("pool `{}`", pool.name), what, hint: Some(hint.to_owned()) })
    };
    match market.offered_to(pool) {
        None => {
            let what = format!("its AKSNodeClass `{}` is not in the input: it creates no nodes", pool.class);
            warning(what, "add the AKSNodeClass to the files that are planned")
        }
        Some(offered) if offered.types.is_empty() => {
            let what = format!("nothing is offered to its AKSNodeClass `{}`", pool.class);
            warning(what, "`nodeform catalog` lists what the region has")
        }
        Some(offered) => Ok(offered),
    }
}

impl<'a> PoolSupply<'a> {
    fn of(pool: &'a Pool, tier: usize, offered: &'a Offered, market: &'a Market) -> Self {
        let base = base(pool);
        let (mut kinds, mut left_out) = (Vec::new(), Vec::new());
        let mut placements = Interner::new();
        for kind in &offered.types {
            match usable(kind, &base, &mut placements) {
                Ok(offerings) => {
                    let needs_name = named::needs_name(kind) && !named::names(&base, kind);
                    let slots = market.slots.of_size(&kind.name);
                    let is_slots_estimate = market.slots.is_estimate(&kind.name);
                    kinds.push(Kind { kind, offerings, needs_name, slots, is_slots_estimate });
                }
                Err(miss) => left_out.push((kind.name.clone(), miss)),
            }
        }
        for refused in &offered.refused {
            let miss = Miss::new(Rule::Offerings, refused.because.clone());
            left_out.push((refused.size.clone(), miss));
        }
        left_out.sort();
        let tables = Tables::of(&kinds, placements.values(), &market.spoken_of);
        let well_known = &market.well_known;
        let emptied = kinds.is_empty().then(|| emptied::why(pool, &base, offered));
        Self {
            pool,
            tier,
            base,
            kinds,
            left_out,
            variety: variety::asked(pool),
            min_values_policy: MinValuesPolicy::default(),
            offered,
            emptied,
            overheads: Vec::new(),
            well_known,
            tables,
        }
    }

    fn priced(mut self, book: &PriceBook<'_>, caution: &Caution) -> Self {
        for kind in &mut self.kinds {
            for usable in &mut kind.offerings {
                usable.quote = book.quote(kind.kind, usable.offering);
                let price = usable.quote.effective.known();
                usable.premium = caution.premium(kind.kind, usable.offering, price);
            }
        }
        self
    }

    fn with_daemons(mut self, daemons: &Daemons<'_>) -> Self {
        let standing = daemons.standing(&self.pool.taints).into_iter();
        let standing: Vec<(&Ask, Vec<Reach>)> = standing.map(|ask| (ask, self.reaches(ask))).collect();
        let mut groups: Interner<Vec<usize>> = Interner::new();
        for (place, kind) in self.kinds.iter_mut().enumerate() {
            for usable in &mut kind.offerings {
                let comes = |(_, (_, reaches)): &(usize, &(&Ask, Vec<Reach>))| {
                    reaches
                        .iter()
                        .any(|reach| reach.kinds.has(place) && reach.placements.has(usable.placement))
                };
                let group: Vec<usize> =
                    standing.iter().enumerate().filter(comes).map(|(number, _)| number).collect();
                usable.overhead = groups.number(&group);
            }
        }
        let together = |group: &Vec<usize>| {
            let mut overhead = Overhead::default();
            for number in group {
                overhead.add(standing[*number].0);
            }
            overhead
        };
        self.overheads = groups.values().iter().map(together).collect();
        self
    }

    /// Returns a size with its offering in a zone; `None` if there is none.
    #[must_use]
    pub fn bought(
        &self,
        size: &SkuName,
        (zone, capacity_type): (&Zone, CapacityType),
    ) -> Option<(&Kind<'a>, &Usable<'a>)> {
        let kind = self.kinds.iter().find(|kind| kind.kind.name == *size)?;
        let is_it = |usable: &&Usable<'_>| {
            usable.offering.zone == *zone && usable.offering.capacity_type == capacity_type
        };
        Some((kind, kind.offerings.iter().find(is_it)?))
    }

    fn reaches(&self, ask: &Ask) -> Vec<Reach> {
        ask.alternatives.iter().filter_map(|alternative| self.reach(alternative)).collect()
    }

    /// Returns the sizes and placements whose nodes can satisfy an alternative; `None` if the pool itself cannot.
    /// Ignores whether a size must be named.
    #[must_use]
    pub(super) fn reach(&self, alternative: &Requirements) -> Option<Reach> {
        labels::holds(alternative, &self.base, &self.undefined()).ok()?;
        Some(self.tables.reach(alternative, &self.base))
    }

    /// Returns the sizes that serve only pods that name them, and that this alternative does not name.
    #[must_use]
    pub(super) fn unnamed(&self, alternative: &Requirements) -> Bits {
        let mut unnamed = Bits::none(self.kinds.len());
        for (place, kind) in self.kinds.iter().enumerate() {
            if kind.needs_name && !named::names(alternative, kind.kind) {
                unnamed.insert(place);
            }
        }
        unnamed
    }

    /// Returns the part of an alternative about labels whose value is still open on this pool's nodes: pods that share
    /// a node must agree on those.
    #[must_use]
    pub(super) fn open_part(&self, alternative: &Requirements) -> Requirements {
        let mut part = Requirements::none();
        for (key, requirement) in alternative.iter().filter(|(key, _)| self.is_open(key)) {
            part.add(key.clone(), requirement.clone());
        }
        part
    }

    /// Returns whether a label may differ between nodes of the same offering.
    #[must_use]
    pub(super) fn is_open(&self, key: &LabelKey) -> bool {
        if self.tables.is_settled(key) {
            return false;
        }
        match self.base.get(key.as_str()) {
            Some(requirement) => requirement.single().is_none() && !requirement.is_none(),
            None => self.tables.names(key) || self.well_known.contains(key),
        }
    }

    /// Returns how to treat labels that a node of this pool does not define.
    #[must_use]
    pub const fn undefined(&self) -> Undefined<'a> {
        Undefined::Open(self.well_known)
    }

    /// Returns the requirement of a label on a node of this offering, consistent with [`Self::site`]; `None` if it has
    /// no such label.
    #[must_use]
    pub fn label(&self, kind: &Kind<'a>, usable: &Usable<'a>, key: &LabelKey) -> Option<Requirement> {
        let of_offering = match key.as_str() {
            label::ZONE => Some(Requirement::one(usable.offering.zone.as_str())),
            label::CAPACITY_TYPE => Some(Requirement::one(usable.offering.capacity_type.as_str())),
            _ => None,
        };
        let asked = [
            self.base.get(key.as_str()),
            kind.kind.requirements.get(key.as_str()),
            usable.offering.requirements.get(key.as_str()),
            of_offering.as_ref(),
        ];
        asked.into_iter().flatten().cloned().reduce(|one, other| one.intersection(&other))
    }

    /// Returns a new node of this offering with these labels, carrying only its DaemonSets.
    #[must_use]
    pub fn site_with(
        &self,
        kind: &Kind<'a>,
        usable: &Usable<'a>,
        chosen: &BTreeMap<LabelKey, std::sync::Arc<str>>,
    ) -> Site<'a> {
        let mut site = self.site(kind, usable);
        let chosen = chosen.iter().map(|(key, value)| (key.as_str(), &**value));
        site.labels.add_all(&Requirements::of_labels(chosen));
        site
    }

    /// Like `site_with`, but only with the labels of these keys, for pods that require no others.
    #[must_use]
    pub fn site_for<'k>(
        &self,
        (kind, usable): (&Kind<'a>, &Usable<'a>),
        chosen: &BTreeMap<LabelKey, std::sync::Arc<str>>,
        keys: impl IntoIterator<Item = &'k LabelKey>,
    ) -> Site<'a> {
        let mut labels = Requirements::none();
        for key in keys {
            let own = self.label(kind, usable, key).into_iter();
            for requirement in own.chain(chosen.get(key).map(|value| Requirement::one(value))) {
                labels.add(key.clone(), requirement);
            }
        }
        self.labelled((kind, usable), labels)
    }

    /// Returns whether a new node of this offering, carrying only its DaemonSets, takes such a pod.
    #[must_use]
    pub fn takes(&self, way: (&Kind<'a>, &Usable<'a>), ask: &Ask) -> bool {
        let asked = || ask.alternatives.iter().flat_map(|terms| terms.iter().map(|(key, _)| key));
        taints::why(&self.pool.taints, &ask.stance).is_ok()
            && self.site_for(way, &BTreeMap::new(), asked()).why(ask).is_ok()
    }

    /// Returns a new node of this offering, carrying only its DaemonSets.
    #[must_use]
    pub fn site(&self, kind: &Kind<'a>, usable: &Usable<'a>) -> Site<'a> {
        let mut labels = self.base.clone();
        labels.add_all(&kind.kind.requirements);
        labels.add_all(&placement(usable.offering));
        self.labelled((kind, usable), labels)
    }

    fn labelled(&self, (kind, usable): (&Kind<'a>, &Usable<'a>), labels: Requirements) -> Site<'a> {
        let overhead = &self.overheads[usable.overhead];
        Site {
            labels,
            undefined: self.undefined(),
            taints: std::borrow::Cow::Borrowed(&self.pool.taints),
            room: kind.kind.allocatable.minus(&overhead.requests),
            ports: overhead.ports.clone(),
            company: overhead.company.clone(),
            volumes: Free::empty(kind.slots.clone()).estimated(kind.is_slots_estimate),
        }
    }
}

/// Returns the requirements of the pool's nodes before a size is chosen. A label that the pool sets takes precedence
/// over its requirements.
fn base(pool: &Pool) -> Requirements {
    let mut base = pool.node_requirements();
    for (key, value) in &pool.labels {
        base.set(key.clone(), Requirement::one(value));
    }
    base
}

/// Returns the labels of a node of this offering.
fn placement(offering: &Offering) -> Requirements {
    let mut labels = offering.requirements.clone();
    labels.add(LabelKey::new(label::ZONE), Requirement::one(offering.zone.as_str()));
    labels.add(LabelKey::new(label::CAPACITY_TYPE), Requirement::one(offering.capacity_type.as_str()));
    labels
}

/// Returns the requirements of a pool's nodes, label by label, with how many of these sizes are left after each and
/// those before.
pub(super) fn narrowed(pool: &Pool, types: &[InstanceType]) -> Vec<((LabelKey, Requirement), usize)> {
    let mut so_far = Requirements::none();
    let steps = base(pool);
    let steps = steps.iter().map(|(key, wanted)| {
        so_far.set(key.clone(), wanted.clone());
        let left = types.iter().filter(|kind| usable(kind, &so_far, &mut Interner::new()).is_ok()).count();
        ((key.clone(), wanted.clone()), left)
    });
    // Labels that every node of a pool has exclude nothing.
    let own = [label::NODE_POOL, label::NODE_CLASS, label::REGISTERED, label::INITIALIZED];
    steps.filter(|((key, _), _)| !own.contains(&key.as_str())).collect()
}

/// Returns the available offerings of a size that a pool may use.
///
/// # Errors
/// Why there are none.
fn usable<'a>(
    kind: &'a InstanceType,
    base: &Requirements,
    placements: &mut Interner<Requirements>,
) -> Result<Vec<Usable<'a>>, Miss> {
    base.intersects(&kind.requirements).map_err(|conflict| labels::to_miss(&conflict))?;
    let mut conflict = None;
    let mut offerings = Vec::new();
    for offering in kind.offerings.iter().filter(|offering| offering.is_available) {
        let labels = placement(offering);
        match base.intersects(&labels) {
            Err(found) => conflict = Some(found),
            Ok(()) => {
                let unknown = Quote { list: offering.price, effective: offering.price };
                let placement = placements.number(&labels);
                let premium = MicroUsdPerHour::default();
                offerings.push(Usable { offering, placement, quote: unknown, premium, overhead: 0 });
            }
        }
    }
    match (offerings.is_empty(), conflict) {
        (false, _) => Ok(offerings),
        (true, Some(conflict)) => Err(labels::to_miss(&conflict)),
        (true, None) => Err(Miss::new(Rule::Offerings, "it cannot be had now in any zone".to_owned())),
    }
}
