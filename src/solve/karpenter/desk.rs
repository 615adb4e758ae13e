//! Converts claims into the nodes that they become, with their cost to the user and their substitutes.
//!
//! Never exceeds limits. Costs use the user's prices; Karpenter chooses by list prices.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::storage::Storage;
use crate::model::{CapacityType, LabelKey, Pod, PodKey, PodSpec, Requirements, Resources, SkuName, Zone};
use crate::solve::fit::limits::Ledger;
use crate::solve::fit::mounts::{Free, Mounts, Shared};
use crate::solve::fit::variety::Asked;
use crate::solve::fit::{Site, labels, limits, variety, volumes};
use crate::solve::ledger::{self, Vm};
use crate::solve::market::Market;
use crate::solve::pack::finish::chosen_labels;
use crate::solve::pack::substitutes;
use crate::solve::price::{PriceBook, Quote};
use crate::solve::solution::{NewNode, Substitute, Variety};
use crate::solve::supply::{Kind, PoolSupply, Supply, Usable};

use super::settle::Bought;

/// Inputs for converting claims into nodes.
pub(super) struct Desk<'d> {
    pub(super) supply: &'d Supply<'d>,
    pub(super) market: &'d Market,
    pub(super) book: &'d PriceBook<'d>,
    pub(super) pods: &'d BTreeMap<&'d PodKey, &'d Pod>,
    pub(super) storage: &'d Storage,
    /// Volume claims that several pods use.
    pub(super) shared: &'d Shared,
    /// Whether the placement of some pod depends on other pods.
    pub(super) is_tied: bool,
}

/// Pods of claims that exceed limits, each with the reason.
pub(super) type Beyond = Vec<(PodKey, String)>;

impl Desk<'_> {
    /// Builds the nodes that claims become, in the order in which they were opened; those that limits of the pool or
    /// the fleet do not allow are left out.
    pub(super) fn nodes<'b>(
        &self,
        claims: impl Iterator<Item = &'b Bought>,
        ledger: &mut Ledger,
    ) -> (Vec<NewNode>, Beyond) {
        let (mut nodes, mut beyond) = (Vec::new(), Vec::new());
        let mut memory = BTreeMap::new();
        for claim in claims {
            let made = self.node(claim, ledger, &mut memory);
            match made {
                Ok(node) => nodes.push(node),
                Err(because) => {
                    beyond.extend(claim.pods.iter().map(|pod| (pod.clone(), because.clone())));
                }
            }
        }
        let pools = self.supply.pools.iter().enumerate();
        let order: BTreeMap<_, _> = pools.map(|(place, pool)| (pool.pool.name.clone(), place)).collect();
        nodes.sort_by_cached_key(|node| {
            let NewNode { pool, size, zone, capacity_type, pods, .. } = node;
            (order.get(pool).copied(), size.clone(), zone.clone(), *capacity_type, pods.clone())
        });
        (nodes, beyond)
    }

    fn node(
        &self,
        claim: &Bought,
        ledger: &mut Ledger,
        memory: &mut BTreeMap<Requirements, BTreeSet<usize>>,
    ) -> Result<NewNode, String> {
        let bought = self.supply.bought(&claim.pool, &claim.size, (&claim.zone, claim.capacity_type));
        let Some((pool, kind, usable)) = bought else {
            return Err(format!("`{}` cannot be had as Karpenter would", claim.size));
        };
        let quote = self.quote(pool, (kind, usable), ledger)?;
        let daemon_requests = pool.overheads[usable.overhead].requests.clone();
        let pods = claim.pods.iter().filter_map(|key| self.pods.get(key).copied());
        let requests =
            pods.clone().fold(daemon_requests.clone(), |sum: Resources, pod| sum.plus(&pod.spec.requests));
        let empty = pool.site(kind, usable);
        let after = narrowed(&empty, &claim.asked);
        let asked = pods.flat_map(asked_keys).collect();
        let (substitutes, variety) = self.substitutes(claim, pool, memory);
        let mut names = claim.pods.clone();
        names.sort();
        Ok(NewNode {
            pool: claim.pool.clone(),
            size: claim.size.clone(),
            zone: claim.zone.clone(),
            capacity_type: claim.capacity_type,
            list_price: quote.list,
            effective_price: quote.effective,
            premium: usable.premium,
            requests,
            daemon_requests,
            allocatable: kind.kind.allocatable.clone(),
            capacity: kind.kind.capacity.clone(),
            labels: chosen_labels(pool, (&empty, &after), &asked),
            opened_for: Some(claim.opened_for.clone()),
            pods: names,
            substitutes,
            variety,
            is_estimate: kind.kind.is_estimate,
        })
    }

    /// Returns the price of a node, and takes the node off limits and commitments.
    ///
    /// # Errors
    /// The limits that do not allow it.
    fn quote(
        &self,
        pool: &PoolSupply<'_>,
        (kind, usable): (&Kind<'_>, &Usable<'_>),
        ledger: &mut Ledger,
    ) -> Result<Quote, String> {
        let numbers = ledger::commitments(ledger, kind.kind, usable.offering, self.book);
        let commitment = numbers.first().map(|number| (*number, self.book.commitments()[*number]));
        let quote = match commitment {
            Some((_, commitment)) => self.book.committed(kind.kind, usable.offering, commitment),
            None => usable.quote,
        };
        let charges =
            ledger::charges(ledger, pool.pool, Vm { price: quote.effective.known(), ..usable.vm(kind) });
        limits::why(ledger, &charges).map_err(|miss| miss.because)?;
        ledger.take(&charges, 1);
        if let Some(place) = commitment.and_then(|(number, _)| ledger::commitment(ledger, number)) {
            ledger.take(&[(place, 1)], 1);
        }
        Ok(quote)
    }

    /// Returns the substitutes of a claim, the cheapest first. A claim that later passes filled up further has none,
    /// because they assumed this choice.
    fn substitutes(
        &self,
        claim: &Bought,
        pool: &PoolSupply<'_>,
        memory: &mut BTreeMap<Requirements, BTreeSet<usize>>,
    ) -> (Vec<Substitute>, Variety) {
        let wanted = claim.asked.iter();
        let wanted: Vec<Asked> =
            wanted.filter_map(|(key, wanted)| Some((key.clone(), wanted.min_values()?))).collect();
        let asked: BTreeMap<LabelKey, u32> = wanted.iter().cloned().collect();
        if claim.has_more {
            return (Vec::new(), Variety { asked, among: Vec::new() });
        }
        let most = if wanted.is_empty() { substitutes::MAX } else { usize::MAX };
        let sizes: BTreeSet<_> = claim.sizes.iter().take(most).collect();
        let open = memory.entry(claim.asked.clone()).or_insert_with(|| self.placements(pool, &claim.asked));
        let mut found = Vec::new();
        let mounts = self.mounts(claim);
        // Karpenter ignores how many volumes a new node attaches; a size that attaches too few is no substitute.
        let attaches =
            |kind: &&Kind<'_>| mounts.is_empty() || Free::empty(kind.slots.clone()).why(&mounts).is_ok();
        for kind in pool.kinds.iter().filter(|kind| sizes.contains(&kind.kind.name)).filter(attaches) {
            for usable in kind.offerings.iter().filter(|usable| open.contains(&usable.placement)) {
                let substitute = Substitute {
                    effective_price: usable.quote.effective,
                    size: kind.kind.name.clone(),
                    zone: usable.offering.zone.clone(),
                    capacity_type: usable.offering.capacity_type,
                };
                let Substitute { size, zone, capacity_type, .. } = &substitute;
                let is_own = (size, zone, *capacity_type) == (&claim.size, &claim.zone, claim.capacity_type);
                // Other pods were placed on the assumption of this domain.
                let is_elsewhere = (zone, *capacity_type) != (&claim.zone, claim.capacity_type);
                if !is_own && (!self.is_tied || !is_elsewhere) {
                    found.push(substitute);
                }
            }
        }
        found.sort_by_cached_key(|substitute| {
            let Substitute { effective_price, size, zone, capacity_type } = substitute;
            let price = effective_price.known().map_or(i64::MAX, |price| price.0);
            (price, size.clone(), zone.as_str() == crate::catalog::NO_ZONE, zone.clone(), *capacity_type)
        });
        let (mut first, rest): (Vec<_>, Vec<_>) = match among(&wanted, claim, pool, &found) {
            needed if needed.is_empty() => (Vec::new(), found),
            needed => found.into_iter().partition(|substitute| needed.contains(substitute)),
        };
        let among = first.clone();
        first.extend(rest);
        first.truncate(substitutes::MAX.max(among.len()));
        (first, Variety { asked, among })
    }

    /// Returns the volumes that the pods of a claim attach.
    fn mounts(&self, claim: &Bought) -> Mounts {
        let mut all = Mounts::default();
        for pod in claim.pods.iter().filter_map(|key| self.pods.get(key)) {
            if let Ok(ask) = volumes::asked(pod, self.storage, self.shared) {
                all.add(&ask.mounts);
            }
        }
        all
    }

    /// Returns the numbers of the placements of a pool in which a claim may be launched.
    fn placements(&self, pool: &PoolSupply<'_>, asked: &Requirements) -> BTreeSet<usize> {
        let usables = pool.kinds.iter().flat_map(|kind| &kind.offerings);
        let known: BTreeMap<usize, &Requirements> =
            usables.map(|usable| (usable.placement, &usable.offering.requirements)).collect();
        let may_be = |labels: &Requirements| {
            labels.satisfied_by(asked, |key| self.market.well_known.contains(key) || asks_nothing(asked, key))
        };
        known.into_iter().filter(|(_, labels)| may_be(labels).is_ok()).map(|(number, _)| number).collect()
    }
}

/// Returns the substitutes that provide the values for a claim's `minValues`: those with its own zone and capacity type
/// first, because listed zones and capacity types combine with every size, then the cheapest. If the claim has a price,
/// substitutes without one are ignored: a claim with a maximum price does not list them.
fn among(
    wanted: &[Asked],
    claim: &Bought,
    pool: &PoolSupply<'_>,
    found: &[Substitute],
) -> BTreeSet<Substitute> {
    let values = |size: &SkuName, zone: &Zone, capacity_type: CapacityType| -> Vec<Vec<Arc<str>>> {
        let bought = pool.bought(size, (zone, capacity_type));
        let of_key = |(key, _): &Asked| {
            bought.map(|(kind, usable)| variety::values(key, kind.kind, usable.offering)).unwrap_or_default()
        };
        wanted.iter().map(of_key).collect()
    };
    let own = values(&claim.size, &claim.zone, claim.capacity_type);
    let mut has: Vec<BTreeSet<Arc<str>>> = own.into_iter().map(|own| own.into_iter().collect()).collect();
    let is_priced = pool
        .bought(&claim.size, (&claim.zone, claim.capacity_type))
        .is_some_and(|(_, usable)| usable.quote.effective.known().is_some());
    let is_listed = |other: &&Substitute| !is_priced || other.effective_price.known().is_some();
    let mut found: Vec<&Substitute> = found.iter().filter(is_listed).collect();
    found.sort_by_key(|other| (&other.zone, other.capacity_type) != (&claim.zone, claim.capacity_type));
    let mut among = BTreeSet::new();
    for substitute in found {
        let brings = values(&substitute.size, &substitute.zone, substitute.capacity_type);
        let is_short = has.iter().zip(wanted).zip(&brings).any(|((has, (_, least)), brings)| {
            has.len() < *least as usize && brings.iter().any(|value| !has.contains(value))
        });
        if is_short {
            has.iter_mut().zip(brings).for_each(|(has, brings)| has.extend(brings));
            among.insert(substitute.clone());
        }
    }
    among
}

fn asks_nothing(asked: &Requirements, key: &LabelKey) -> bool {
    asked.get(key.as_str()).is_none()
}

/// Returns a node whose labels are narrowed to these requirements.
fn narrowed<'s>(empty: &Site<'s>, asked: &Requirements) -> Site<'s> {
    let mut site = empty.clone();
    for (key, wanted) in asked.iter() {
        if site.labels.get(key.as_str()).is_some() || site.undefined.allows(key) {
            let both = labels::narrowed(site.labels.get(key.as_str()), wanted);
            site.labels.set(key.clone(), both);
        }
    }
    site
}

/// Returns the labels that a pod requires to exist.
fn asked_keys(pod: &Pod) -> impl Iterator<Item = &LabelKey> {
    let terms = pod.spec.node_affinity.required.iter().flatten();
    let wanted = std::iter::once(&pod.spec.node_selector).chain(terms).flat_map(Requirements::iter);
    wanted.filter(|(_, requirement)| !requirement.accepts_absence()).map(|(key, _)| key)
}

/// Returns whether the placement of a pod depends on other pods.
pub(super) fn is_tied(pod: &Pod) -> bool {
    let PodSpec { spread, affinity, anti_affinity, .. } = &*pod.spec;
    !spread.is_empty() || !affinity.is_empty() || !anti_affinity.is_empty()
}
