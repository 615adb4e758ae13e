//! Replacement of nodes by one new node: whether it is cheaper than they are, and which sizes it may have.
//!
//! A size counts with the highest price of its first capacity type: reserved, then spot, then on-demand. Spot nodes are
//! replaced by spot nodes only if the gate is open, and a single one only if there are enough cheaper sizes, so that
//! the next pass does not replace it again.

use crate::model::{CapacityType, LabelKey, MicroUsdPerHour, Pool, Requirement, label};
use crate::solve::intern::Bits;
use crate::solve::karpenter::shelf::{Cheapest, Shelf, Ways};
use crate::solve::karpenter::{Chosen, Claim, SpotToSpot, variety};

use super::candidate::Candidate;
use super::probe::Without;
use super::scene::Scene;
use super::{Command, Method, names};

/// Minimum number of cheaper sizes for replacing one spot node by another.
const SPOT_SIZES_MIN: usize = 15;

/// Returns the command that removes these nodes, if that pays: at most one cheaper node is created.
pub(super) fn command(
    scene: &Scene<'_, '_>,
    method: Method,
    candidates: &[&Candidate<'_>],
    without: Without,
) -> Option<Command> {
    let Without { mut claims, moved } = without;
    if claims.len() > 1 {
        return None;
    }
    let total: i64 = candidates.iter().map(|one| one.amount()).sum();
    let mut savings = total;
    if let Some(claim) = claims.first_mut() {
        let pool = scene.policy.pools.get(&claim.pool)?;
        let narrowing = Narrowing { scene, pool };
        if !narrowing.cheaper(claim, candidates, total) {
            return None;
        }
        savings -= narrowing.first_price(claim);
    }
    Some(Command {
        method,
        nodes: names(candidates),
        replacements: claims,
        moved,
        savings: MicroUsdPerHour(savings),
    })
}

/// Sorts the sizes of the replacements by price under all their requirements.
pub(super) fn ranked(scene: &Scene<'_, '_>, mut command: Command) -> Command {
    for claim in &mut command.replacements {
        if let Some(pool) = scene.policy.pools.get(&claim.pool) {
            Narrowing { scene, pool }.rank(claim);
        }
    }
    command
}

/// Narrowing of the sizes of a pool's claim.
pub(super) struct Narrowing<'s, 'a, 'm> {
    pub(super) scene: &'s Scene<'a, 'm>,
    pub(super) pool: &'s Pool,
}

impl<'a, 'm> Narrowing<'_, 'a, 'm> {
    /// Returns the sizes that the pool may buy, and their offerings that satisfy a claim.
    fn ways(&self, claim: &Claim) -> Option<(&'a Shelf<'m>, Ways<'a, 'm>)> {
        let shelf = self.scene.shelf(self.pool)?;
        Some((shelf, shelf.ways(&claim.requirements, &self.scene.snapshot.catalog)))
    }

    /// Keeps the sizes that cost less than the candidates; returns whether an available one is left.
    fn cheaper(&self, claim: &mut Claim, candidates: &[&Candidate<'_>], total: i64) -> bool {
        let bought = claim.requirements.get(label::CAPACITY_TYPE).cloned();
        let may_be = |bought: &Option<Requirement>, how: CapacityType| {
            bought.as_ref().is_none_or(|requirement| requirement.accepts(how.as_str()))
        };
        let is_spot = |candidate: &&Candidate<'_>| {
            let how = candidate.node.labels.get(label::CAPACITY_TYPE);
            how.is_some_and(|how| &**how == CapacityType::Spot.as_str())
        };
        if candidates.iter().all(is_spot) && may_be(&bought, CapacityType::Spot) {
            return self.spot_for_spot(claim, candidates.len(), total);
        }
        if !self.keep_cheaper(claim, total) || claim.sizes.is_empty() {
            return false;
        }
        // If spot capacity is short, a launch must fail rather than cost more than the existing nodes.
        if may_be(&bought, CapacityType::Spot) && may_be(&bought, CapacityType::OnDemand) {
            pin_to_spot(claim);
        }
        true
    }

    fn spot_for_spot(&self, claim: &mut Claim, candidates: usize, total: i64) -> bool {
        match self.scene.settings.spot_to_spot {
            SpotToSpot::Closed => return false,
            SpotToSpot::Open => pin_to_spot(claim),
        }
        let Some((shelf, ways)) = self.ways(claim) else { return false };
        claim.sizes.retain(|size| {
            shelf.place(size.as_str()).is_some_and(|place| ways.offerings(place).next().is_some())
        });
        if !self.keep_cheaper(claim, total) || claim.sizes.is_empty() {
            return false;
        }
        if candidates > 1 {
            return true;
        }
        if claim.sizes.len() < SPOT_SIZES_MIN {
            return false;
        }
        let wanted = (1..=claim.sizes.len()).find(|count| self.has_variety(claim, *count));
        claim.sizes.truncate(wanted.unwrap_or(0).max(SPOT_SIZES_MIN));
        true
    }

    /// Keeps the sizes that cost less than this; returns whether the remaining ones offer enough distinct values.
    pub(super) fn keep_cheaper(&self, claim: &mut Claim, than: i64) -> bool {
        let Some((shelf, ways)) = self.ways(claim) else { return false };
        claim
            .sizes
            .retain(|size| shelf.place(size.as_str()).is_some_and(|place| dearest(&ways, place) < than));
        self.has_variety(claim, claim.sizes.len())
    }

    /// Returns whether the first `count` sizes offer enough distinct values (`minValues`).
    fn has_variety(&self, claim: &Claim, count: usize) -> bool {
        let Some(shelf) = self.scene.shelf(self.pool) else { return false };
        let mut kinds = Bits::none(shelf.kinds.len());
        for size in claim.sizes.iter().take(count) {
            shelf.place(size.as_str()).into_iter().for_each(|place| kinds.insert(place));
        }
        variety::lacking(&claim.requirements, shelf, &kinds).is_empty()
    }

    /// Returns the minimum price of the first size of a claim; zero if it is unavailable or unknown.
    pub(super) fn first_price(&self, claim: &Claim) -> i64 {
        let cheapest = self.ways(claim).and_then(|(shelf, ways)| {
            let first = shelf.place(claim.sizes.first()?.as_str())?;
            ways.cheapest(first)
        });
        cheapest.and_then(|cheapest| cheapest.offering.price.known()).map_or(0, |price| price.0)
    }

    /// Sorts the sizes of a claim by current price, and sets the cheapest.
    fn rank(&self, claim: &mut Claim) {
        let Some((shelf, ways)) = self.ways(claim) else { return };
        let sizes = claim.sizes.iter().map(|size| {
            let way = shelf.place(size.as_str()).and_then(|place| ways.cheapest(place));
            (way.map_or(i64::MAX, |way| way.amount().0), size.clone(), way)
        });
        let mut ranked: Vec<_> = sizes.collect();
        ranked.sort_by(|(one, size, _), (other, name, _)| (one, size).cmp(&(other, name)));
        let cheapest = ranked.first().and_then(|(_, _, way)| *way);
        claim.cheapest = cheapest.map(|Cheapest { kind, offering }| Chosen {
            size: kind.name.clone(),
            zone: offering.zone.clone(),
            capacity_type: offering.capacity_type,
            price: offering.price,
        });
        claim.sizes = ranked.into_iter().map(|(_, size, _)| size).collect();
    }
}

fn pin_to_spot(claim: &mut Claim) {
    let spot = Requirement::one(CapacityType::Spot.as_str());
    claim.requirements.add(LabelKey::new(label::CAPACITY_TYPE), spot);
}

/// Returns the maximum price of a size in the capacity type that would be bought; a size that is unavailable or has no
/// price is the most expensive.
fn dearest(ways: &Ways<'_, '_>, place: usize) -> i64 {
    let most = |how: CapacityType| {
        let ways = ways.offerings(place).filter(|way| way.capacity_type == how);
        ways.map(|way| way.price.known().map_or(i64::MAX, |price| price.0)).max()
    };
    let order = [CapacityType::Reserved, CapacityType::Spot, CapacityType::OnDemand];
    order.into_iter().find_map(most).unwrap_or(i64::MAX)
}
