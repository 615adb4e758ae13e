//! Substitutes: whatever a claim lists may be launched in place of the first choice, so it must hold the
//! same pods, be in the domains that they are tied to, and cost no more than the claim says.

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

/// A size, where and how, that a claim lets be launched.
struct Listed<'c> {
    size: &'c InstanceType,
    offering: &'c Offering,
    labels: Labels,
    /// What daemonsets ask for there.
    daemons: Resources,
    /// Whether pods of a content may be there, by where that content is kept.
    met: BTreeMap<usize, bool>,
}

/// What may come up in the place of new nodes beside their first choice, by claim.
#[derive(Default)]
pub(super) struct Substitutes<'a>(BTreeMap<&'a ClaimSpecId, Rc<[Labels]>>);

impl<'a> Substitutes<'a> {
    /// Returns the labels of each; of equal claims they are worked out once, and only where pods that run or wait
    /// keep others away: nothing else reads them.
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
        // Room that is kept may be smaller on what comes in a node's place: the next plan lays it out anew.
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

/// Returns the labels by which pods are tied to the domains of their node. Whom they keep away, in every domain
/// that a claim lists, is judged by the rule about that.
fn tied<'c, 'a: 'c>(case: &'c Case<'a>, pods: &[&'a Pod]) -> BTreeSet<&'c LabelKey> {
    pods.iter().filter_map(|pod| case.ties.of(pod)).flat_map(|tie| &tie.fixed).collect()
}

/// Returns where what a pod asks for is kept: pods of one place ask for the same.
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

/// Returns all combinations that the claim's lists let be launched now at no more than its price, beside the first
/// choice.
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
    // The first choice is judged by every other rule.
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
