//! Substitutes: whatever a claim lists may be launched in place of the first choice, so it must hold the
//! same pods, and cost no more than the claim says.

use std::collections::BTreeMap;

use super::case::Case;
use super::daemons;
use super::finding::{Finding, Rule};
use super::labels::{Labels, pod_meets};
use super::made::Made;
use super::offering::suits;
use super::price::effective_price;
use crate::model::{InstanceType, Offering, Pod, PodSpec, Pool, Requirement, Resources, label};
use crate::plan::ClaimSpecId;

/// A size, where and how, that a claim lets be launched.
struct Listed<'c> {
    size: &'c InstanceType,
    offering: &'c Offering,
    labels: Labels,
    /// What daemonsets ask for there.
    daemons: Resources,
    /// What was found out about pods of this content.
    met: BTreeMap<&'c PodSpec, bool>,
}

/// Returns the claims that list what does not hold the pods of their node, or do not list the first choice.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut by_claim: BTreeMap<&ClaimSpecId, Vec<Listed<'_>>> = BTreeMap::new();
    let mut found = Vec::new();
    for made in &case.made {
        let Some((pool, size, offering)) = case.bought(made) else { continue };
        let mut object = |why: String| found.push(Finding::new(Rule::Offering, made.title(), why));
        if !lists(made, size, offering) {
            object("does not list its first choice among what it asks for".to_owned());
        }
        let (said, most) = (made.placement.effective_price.known(), made.claim.price_max);
        if said.zip(most).is_some_and(|(price, most)| price > most) {
            object("says that it costs less than its first choice does".to_owned());
        }
        let listed = by_claim.entry(&made.create.spec).or_insert_with(|| listed(case, made, pool));
        let pods: Vec<&Pod> = made.pods.iter().filter_map(|key| case.pods.get(key).copied()).collect();
        let mut asked = Resources::none();
        pods.iter().for_each(|pod| asked.add(&pod.spec.requests));
        let wrong = listed.iter_mut().find_map(|other| other.refuses(&pods, &asked));
        if let Some(why) = wrong {
            object(why);
        }
    }
    found
}

fn lists(made: &Made<'_>, size: &InstanceType, offering: &Offering) -> bool {
    let names = |key: &str, value: &str| accepts(made.claim.requirements.get(key), value);
    names(label::INSTANCE_TYPE, size.name.as_str())
        && names(label::ZONE, offering.zone.as_str())
        && names(label::CAPACITY_TYPE, offering.capacity_type.as_str())
}

fn accepts(requirement: Option<&Requirement>, value: &str) -> bool {
    requirement.is_none_or(|requirement| requirement.accepts(value))
}

/// Returns all combinations that the claim's lists let be launched now at no more than its price.
fn listed<'c>(case: &'c Case<'_>, made: &Made<'_>, pool: &Pool) -> Vec<Listed<'c>> {
    let Some(offered) = case.offered.get(&pool.class) else { return Vec::new() };
    let all =
        offered.types.iter().flat_map(|size| size.offerings.iter().map(move |offering| (size, offering)));
    let is_affordable =
        |size, offering| match (made.claim.price_max, effective_price(case, size, offering).known()) {
            (Some(most), Some(price)) => price <= most,
            (Some(_), None) => false,
            (None, _) => true,
        };
    // The first choice is judged by every other rule.
    let is_first = |size: &InstanceType, offering: &Offering| {
        size.name == *made.size && offering.zone == *made.zone && offering.capacity_type == made.capacity_type
    };
    all.filter(|(size, offering)| lists(made, size, offering) && !is_first(size, offering))
        .filter(|(size, offering)| offering.is_available && suits(pool, size, offering).is_ok())
        .filter(|(size, offering)| is_affordable(size, offering))
        .map(|(size, offering)| {
            let labels = case.labels_of(made, (pool, size, offering));
            let mut daemons = Resources::none();
            for daemon in daemons::on_new(case.snapshot, pool, &labels) {
                daemons.add(&daemon.spec.requests);
            }
            Listed { size, offering, labels, daemons, met: BTreeMap::new() }
        })
        .collect()
}

impl<'c> Listed<'c> {
    fn refuses<'p: 'c>(&mut self, pods: &[&'p Pod], asked: &Resources) -> Option<String> {
        let Self { size, offering, labels, daemons, met } = self;
        let title =
            format!("lists `{}` in zone `{}` as {}", size.name, offering.zone, offering.capacity_type);
        let all = asked.plus(daemons);
        let short =
            asked.iter().find(|(name, amount)| *amount > 0 && all.get(name) > size.allocatable.get(name));
        if let Some((name, _)) = short {
            return Some(format!("{title}, which has too little `{name}` for its pods"));
        }
        let stranger = pods
            .iter()
            .find(|pod| !*met.entry(&pod.spec).or_insert_with(|| pod_meets(&pod.spec, labels).is_ok()))?;
        Some(format!("{title}, where pod `{}` may not be", stranger.key))
    }
}
