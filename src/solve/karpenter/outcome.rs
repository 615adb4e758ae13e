//! Results of a pass: claims with their sizes in the order of price.
//!
//! Of equally cheap offerings, the first by name is reported. Never places a pod.

use crate::model::{
    CapacityType, LabelKey, MicroUsdPerHour, NodeName, Operator, PodKey, Requirement, Requirements, SkuName,
    label,
};

use super::claims::{Bench, Open};
use super::pass::Pass;
use super::settle::{self, Bought, Settled};
use super::shelf::Cheapest;
use super::{Chosen, Claim, Outcome};

/// Maximum number of sizes that a claim lists (`MaxInstanceTypes` of Karpenter).
const SIZES_MAX: usize = 600;

/// A claim with sorted sizes.
struct Ranked<'k> {
    asked: Requirements,
    /// Names of the sizes, the cheapest first.
    sizes: Vec<SkuName>,
    cheapest: Option<Cheapest<'k>>,
}

fn ranked<'m>(bench: &Bench<'_, 'm>, open: &Open) -> Ranked<'m> {
    let mut asked = bench.memory.meetings.get(open.asked).clone();
    if !open.held.is_empty() {
        let reserved = CapacityType::Reserved.as_str();
        asked.set(LabelKey::new(label::CAPACITY_TYPE), Requirement::one(reserved));
        let ids = Requirement::new(Operator::In, &open.held);
        asked.set(LabelKey::new(label::RESERVATION_ID), ids);
    }
    let template = &bench.templates[open.template];
    let shelf = bench.shelf(template);
    let ways = shelf.ways(&asked, &bench.store.snapshot.catalog);
    let mut sizes: Vec<(MicroUsdPerHour, &SkuName, Option<Cheapest<'_>>)> = Vec::new();
    for place in open.kinds.iter() {
        let kind = shelf.kinds[place];
        let cheapest = ways.cheapest(place);
        let amount = cheapest.map_or(MicroUsdPerHour(i64::MAX), |cheapest| cheapest.amount());
        sizes.push((amount, &kind.name, cheapest));
    }
    sizes.sort_by_key(|(amount, name, cheapest)| (*amount, cheapest.is_none(), *name));
    sizes.truncate(SIZES_MAX);
    let cheapest = sizes.first().and_then(|(_, _, cheapest)| *cheapest);
    let sizes = sizes.into_iter().map(|(_, name, _)| name.clone()).collect();
    Ranked { asked, sizes, cheapest }
}

impl Pass<'_, '_> {
    fn key(&self, waiting: usize) -> &PodKey {
        &self.roll.waiting[waiting].pod.key
    }

    /// Returns the result of the pass.
    pub(super) fn outcome(&self) -> Outcome {
        let claims = self.claims.iter().map(|open| self.claim(open));
        let existing = self.joined().into_iter().map(|(name, _, mut pods)| {
            pods.sort();
            (name, pods)
        });
        Outcome {
            claims: claims.collect(),
            existing: existing.collect(),
            errors: self.errors.clone(),
            ignored: self.roll.ignored.clone(),
        }
    }

    fn claim(&self, open: &Open) -> Claim {
        let Ranked { asked, sizes, cheapest } = ranked(&self.bench, open);
        let template = &self.bench.templates[open.template];
        let least = template.least_overhead(&open.kinds);
        let mut pods: Vec<PodKey> = open.pods.iter().map(|waiting| self.key(*waiting).clone()).collect();
        pods.sort();
        Claim {
            pool: template.pool.name.clone(),
            requirements: without_own(&asked),
            cheapest: cheapest.map(|Cheapest { kind, offering }| Chosen {
                size: kind.name.clone(),
                zone: offering.zone.clone(),
                capacity_type: offering.capacity_type,
                price: offering.price,
            }),
            sizes,
            pods,
            requests: self.columns.resources(&super::amounts::plus(&open.used, &least)),
            is_min_values_relaxed: open.is_relaxed,
        }
    }

    /// Returns the nodes that pods joined, with the index of the claim that each was in an earlier pass, and the pods.
    pub(super) fn joined(&self) -> Vec<(NodeName, Option<usize>, Vec<PodKey>)> {
        let joined = self.spots.iter().filter(|spot| !spot.pods.is_empty());
        let named = joined.map(|spot| {
            let pods = spot.pods.iter().map(|waiting| self.key(*waiting).clone());
            (spot.name.clone(), spot.settled, pods.collect())
        });
        named.collect()
    }

    /// Returns the claims as the nodes that they become; `before` is the number of those that exist already.
    pub(super) fn settled(&self, before: usize) -> Vec<Settled> {
        let settled = self.claims.iter().filter_map(|open| {
            let Ranked { asked, sizes, cheapest } = ranked(&self.bench, open);
            let Cheapest { kind, offering } = cheapest?;
            Some((open, asked, sizes, kind, offering))
        });
        let settled = settled.enumerate().map(|(number, (open, asked, sizes, kind, offering))| {
            let template = &self.bench.templates[open.template];
            let pool = template.pool;
            let place = self.bench.shelf(template).place(kind.name.as_str());
            let group = &template.groups[place.map_or(0, |place| template.group_of[place])];
            let name = format!("claim-{:06}", before + number).as_str().into();
            let labels = settle::labels(&asked, &name, [&kind.requirements, &offering.requirements]);
            let bought = Bought {
                pool: pool.name.clone(),
                size: kind.name.clone(),
                zone: offering.zone.clone(),
                capacity_type: offering.capacity_type,
                asked,
                sizes,
                opened_for: self.key(open.pods[0]).clone(),
                pods: open.pods.iter().map(|waiting| self.key(*waiting).clone()).collect(),
                has_more: false,
            };
            Settled {
                bought,
                labels,
                taints: pool.taints.clone(),
                room: kind.allocatable.minus(&self.columns.resources(&group.requests)),
                ports: group.ports.clone(),
                capacity: kind.capacity.clone(),
                name,
            }
        });
        settled.collect()
    }
}

/// Returns requirements without the labels for the pool, the class and the stages of a node.
fn without_own(requirements: &Requirements) -> Requirements {
    use crate::model::label::{INITIALIZED, NODE_CLASS, NODE_POOL, REGISTERED};
    let own = [INITIALIZED, NODE_CLASS, NODE_POOL, REGISTERED];
    let mut rest = Requirements::none();
    for (key, requirement) in requirements.iter().filter(|(key, _)| !own.contains(&key.as_str())) {
        rest.add(key.clone(), requirement.clone());
    }
    rest
}
