//! Substitutes: anything that a claim lists may be launched instead of the first choice, so it must fit the same pods,
//! be in the domains that they are tied to, and cost no more than the claim says.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::attached;
use super::case::Case;
use super::daemons;
use super::finding::{Finding, Rule};
use super::labels::{Labels, pod_meets};
use super::made::Made;
use super::offering::suits;
use super::price::effective_price;
use super::volumes;
use crate::model::{InstanceType, LabelKey, Offering, Pod, Pool, Requirement, Resources, label};
use crate::plan::ClaimSpecId;

/// A size and offering that a claim allows to be launched.
struct Listed<'c> {
    size: &'c InstanceType,
    offering: &'c Offering,
    labels: Labels,
    /// Requests of daemonsets there.
    daemons: Resources,
    /// Whether pods of a spec may run there, by the spec's address.
    met: BTreeMap<usize, bool>,
}

/// Substitutes of new nodes besides their first choice, by claim.
#[derive(Default)]
pub(super) struct Substitutes<'a>(BTreeMap<&'a ClaimSpecId, Rc<[Labels]>>);

impl<'a> Substitutes<'a> {
    /// Returns the labels of each substitute. They are computed once per claim spec, and only if running or pending
    /// pods have anti-affinity: nothing else reads them.
    pub(super) fn of(&mut self, case: &Case<'_>, made: &Made<'a>) -> Rc<[Labels]> {
        let has_repulsion = || case.snapshot.pods.iter().any(|pod| !pod.spec.anti_affinity.is_empty());
        let others = self.0.entry(&made.create.spec).or_insert_with(|| match case.pool(made.pool) {
            Some(pool) if has_repulsion() => {
                listed(case, made, pool).into_iter().map(|other| other.labels).collect()
            }
            Some(_) | None => Rc::from([]),
        });
        Rc::clone(others)
    }
}

/// Returns the claims with a substitute that does not fit the node's pods, or without their first choice.
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
        // Headroom may be smaller on a substitute: the next plan places it again.
        let pods = made.pods.iter().filter(|key| !key.is_placeholder());
        let pods: Vec<&Pod> = pods.filter_map(|key| case.pods.get(key).copied()).collect();
        let mut asked = Resources::none();
        pods.iter().for_each(|pod| asked.add(&pod.spec.requests));
        let mut seen = BTreeSet::new();
        let distinct: Vec<&Pod> = pods.iter().copied().filter(|pod| seen.insert(content(pod))).collect();
        let tied = tied(case, &pods);
        let own = (!tied.is_empty()).then(|| case.labels_of(made, (pool, size, offering)));
        let wrong = listed.iter_mut().find_map(|other| {
            let refuses = other.refuses(&distinct, &asked);
            refuses
                .or_else(|| other.is_elsewhere(own.as_ref(), &tied))
                .or_else(|| other.is_without(case, &pods))
        });
        if let Some(why) = wrong {
            object(why);
        }
    }
    found
}

/// Returns the labels that tie pods to their node's domains. The rule about anti-affinity checks the pods that they
/// repel, in every domain that a claim lists.
fn tied<'c, 'a: 'c>(case: &'c Case<'a>, pods: &[&'a Pod]) -> BTreeSet<&'c LabelKey> {
    pods.iter().filter_map(|pod| case.ties.of(pod)).flat_map(|tie| &tie.fixed).collect()
}

/// Returns the address of a pod's spec: pods of one allocation share it.
fn content(pod: &Pod) -> usize {
    Arc::as_ptr(&pod.spec).addr()
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

/// Returns all combinations, besides the first choice, that the claim allows, that are available now, and that cost no
/// more than its price.
pub(super) fn buyable<'c>(
    case: &'c Case<'_>,
    made: &Made<'_>,
    pool: &Pool,
) -> Vec<(&'c InstanceType, &'c Offering)> {
    let Some(offered) = case.offered_to(pool) else { return Vec::new() };
    let all =
        offered.types.iter().flat_map(|size| size.offerings.iter().map(move |offering| (size, offering)));
    let is_affordable =
        |size, offering| match (made.claim.price_max, effective_price(case, size, offering).known()) {
            (Some(most), Some(price)) => price <= most,
            (Some(_), None) => false,
            (None, _) => true,
        };
    // All other rules check the first choice.
    let is_first = |size: &InstanceType, offering: &Offering| {
        size.name == *made.size && offering.zone == *made.zone && offering.capacity_type == made.capacity_type
    };
    all.filter(|(size, offering)| lists(made, size, offering) && !is_first(size, offering))
        .filter(|(size, offering)| offering.is_available && suits(pool, size, offering).is_ok())
        .filter(|(size, offering)| is_affordable(size, offering))
        .collect()
}

fn listed<'c>(case: &'c Case<'_>, made: &Made<'_>, pool: &Pool) -> Vec<Listed<'c>> {
    buyable(case, made, pool)
        .into_iter()
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
    fn refuses(&mut self, pods: &[&Pod], asked: &Resources) -> Option<String> {
        let Self { size, offering: _, labels, daemons, met } = self;
        let all = asked.plus(daemons);
        let short =
            asked.iter().find(|(name, amount)| *amount > 0 && all.get(name) > size.allocatable.get(name));
        if let Some((name, _)) = short {
            return Some(format!("{}, which has too little `{name}` for its pods", self.title()));
        }
        let stranger = pods
            .iter()
            .find(|pod| !*met.entry(content(pod)).or_insert_with(|| pod_meets(&pod.spec, labels).is_ok()))?;
        Some(format!("{}, where pod `{}` may not be", self.title(), stranger.key))
    }

    fn is_elsewhere(&self, own: Option<&Labels>, tied: &BTreeSet<&LabelKey>) -> Option<String> {
        let own = own?;
        let key = tied.iter().find(|key| self.labels.domain(key) != own.domain(key))?;
        Some(format!("{}, where `{key}` is not what pods of the node are tied to", self.title()))
    }

    fn is_without(&self, case: &Case<'_>, pods: &[&Pod]) -> Option<String> {
        let storage = &case.snapshot.storage;
        let with_volumes = pods.iter().filter(|pod| !pod.spec.volumes.is_empty());
        if let Some(driver) = attached::short_on_new(case, &self.size.name, pods) {
            return Some(format!(
                "{}, which takes fewer volumes of `{driver}` than its pods have",
                self.title()
            ));
        }
        let mut faults = with_volumes
            .filter_map(|pod| volumes::faults(storage, pod, &self.labels).pop().map(|why| (&pod.key, why)));
        let (pod, why) = faults.next()?;
        Some(format!("{}, where pod `{pod}` does not find its volumes: {why}", self.title()))
    }

    fn title(&self) -> String {
        let Self { size, offering, .. } = self;
        format!("lists `{}` in zone `{}` as {}", size.name, offering.zone, offering.capacity_type)
    }
}
