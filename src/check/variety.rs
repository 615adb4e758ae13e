//! `minValues`: a claim lists at least as many distinct values of a label among its launch options as required.
//!
//! If the fleet tolerates fewer, a claim may require fewer only if the pod for which its node was opened could not have
//! more by itself.

use std::collections::BTreeSet;

use super::case::Case;
use super::crowd::topology_keys;
use super::daemons;
use super::finding::{Finding, Rule};
use super::labels::Labels;
use super::made::Made;
use super::offering::{may_be_chosen, suits};
use super::price::effective_price;
use super::substitutes::buyable;
use crate::model::{InstanceType, LabelKey, MinValuesPolicy, Offering, Pod, Pool, Resources, label};

/// A size and one of its offerings.
pub(super) type Way<'c> = (&'c InstanceType, &'c Offering);

/// Returns the claims that list fewer values than their pool requires.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for made in &case.made {
        let Some((pool, size, offering)) = case.bought(made) else { continue };
        if asked(pool).next().is_none() {
            continue;
        }
        let mut ways: Vec<Way<'_>> = buyable(case, made, pool);
        ways.push((size, offering));
        for (key, least) in asked(pool) {
            let said = made.claim.requirements.get(key.as_str()).and_then(|wanted| wanted.min_values());
            let count = distinct(key, &ways);
            let because = match said.unwrap_or(0) {
                said if said > count => Some(format!(
                    "`minValues` of `{key}` asks for {said} values, and its claim lists {count}"
                )),
                // Pods do not choose nodes of a fixed pool, so its claims need no variety.
                said if said >= least || pool.replicas.is_some() => None,
                said => lowered(case, (made, pool), (key, least, said)),
            };
            found.extend(because.map(|because| Finding::new(Rule::MinValues, made.title(), because)));
        }
    }
    found
}

/// Returns the pool's `minValues`, by label.
pub(super) fn asked(pool: &Pool) -> impl Iterator<Item = (&LabelKey, u32)> {
    pool.requirements.iter().filter_map(|(key, wanted)| Some((key, wanted.min_values()?)))
}

/// Returns how many distinct values of a label these have.
pub(super) fn distinct(key: &LabelKey, ways: &[Way<'_>]) -> u32 {
    let mut values: BTreeSet<&str> = BTreeSet::new();
    for (size, offering) in ways {
        match key.as_str() {
            label::INSTANCE_TYPE => values.extend([size.name.as_str()]),
            label::ZONE => values.extend([offering.zone.as_str()]),
            label::CAPACITY_TYPE => values.extend([offering.capacity_type.as_str()]),
            key => {
                let there = offering.requirements.get(key).or_else(|| size.requirements.get(key));
                let listed = there.and_then(|there| there.listed()).into_iter().flatten();
                values.extend(listed.map(|value| &**value));
            }
        }
    }
    u32::try_from(values.len()).unwrap_or(u32::MAX)
}

/// Returns the fault of a claim that requires fewer values than its pool.
fn lowered(
    case: &Case<'_>,
    (made, pool): (&Made<'_>, &Pool),
    (key, least, said): (&LabelKey, u32, u32),
) -> Option<String> {
    if case.policy.fleet.min_values_policy == MinValuesPolicy::Strict {
        return Some(format!("its pool asks for {least} values of `{key}`, and its claim for {said}"));
    }
    // A pod that other pods' rules count may have to be in one domain because of them.
    if case.snapshot.pods.iter().any(|pod| topology_keys(&pod.spec).any(|other| other == key)) {
        return None;
    }
    let pod = case.pods.get(made.opened_for?)?;
    // Pods that must be together are checked as one.
    let needs_company = |pod: &&Pod| !pod.spec.affinity.is_empty();
    let own = made.pods.iter().filter_map(|key| case.pods.get(key).copied());
    let pods: Vec<&Pod> = if own.clone().any(|pod| needs_company(&pod)) { own.collect() } else { vec![*pod] };
    let there = distinct(key, &holding(case, (made, pool), &pods));
    (there.min(least) > said).then(|| {
        format!(
            "its claim asks for {said} values of `{key}`, and pod `{}` alone could have {}",
            pod.key,
            there.min(least)
        )
    })
}

/// Returns the options that would fit these pods by themselves, in the domains that they are tied to.
fn holding<'c>(case: &'c Case<'_>, (made, pool): (&Made<'_>, &Pool), pods: &[&Pod]) -> Vec<Way<'c>> {
    let Some(offered) = case.offered_to(pool) else { return Vec::new() };
    let own = case.bought(made).map(|bought| case.labels_of(made, bought));
    let fixed =
        pods.iter().filter_map(|pod| case.ties.of(pod)).flat_map(|tie| tie.fixed.iter().chain(&tie.apart));
    let counted = pods.iter().flat_map(|pod| case.ties.counted(pod));
    let fixed: BTreeSet<&LabelKey> = fixed.chain(counted).collect();
    let mut requests = Resources::none();
    pods.iter().for_each(|pod| requests.add(&pod.spec.requests));
    let holds = |(size, offering): &Way<'_>| {
        let labels = Labels::of_offering(pool, size, offering);
        let is_there =
            own.as_ref().is_none_or(|own| fixed.iter().all(|key| labels.domain(key) == own.domain(key)));
        let daemons = daemons::on_new(case.snapshot, pool, &labels);
        let all = daemons.iter().fold(requests.clone(), |sum, daemon| sum.plus(&daemon.spec.requests));
        let takes_port = |pod: &&&Pod| {
            let theirs = daemons.iter().flat_map(|daemon| &daemon.spec.host_ports);
            theirs.clone().any(|theirs| pod.spec.host_ports.iter().any(|own| own.conflicts_with(theirs)))
        };
        offering.is_available
            && is_there
            && effective_price(case, size, offering).known().is_some()
            && suits(pool, size, offering).is_ok()
            && may_be_chosen(pool, size, pods.iter().copied())
            && pods.iter().all(|pod| super::labels::pod_meets(&pod.spec, &labels).is_ok())
            && !pods.iter().any(|pod| takes_port(&pod))
            && requests
                .iter()
                .all(|(name, amount)| amount <= 0 || all.get(name) <= size.allocatable.get(name))
    };
    let ways =
        offered.types.iter().flat_map(|size| size.offerings.iter().map(move |offering| (size, offering)));
    ways.filter(holds).collect()
}
