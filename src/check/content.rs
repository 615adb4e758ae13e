//! Content: the plan's statements about itself and its nodes follow from its input, and all its references resolve.

use std::collections::BTreeSet;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::made::Made;
use crate::model::{Digest, ResourceName, Resources};
use crate::plan::Change;

/// Length of a claim spec's id, in characters.
const ID_LENGTH: usize = 10;

/// Returns wrong statements of a plan about itself.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = dangling(case);
    found.extend(head(case).into_iter().map(|why| Finding::new(Rule::Content, "plan", why)));
    found.extend(claims(case));
    for made in &case.made {
        let faults = promises(case, made).into_iter().chain(of_pool(case, made));
        found.extend(faults.map(|why| Finding::new(Rule::Content, made.title(), why)));
    }
    found
}

/// Reports unresolved references, and entries that nothing refers to.
fn dangling(case: &Case<'_>) -> Vec<Finding> {
    let (spec, evidence) = (&case.plan.spec, &case.plan.evidence);
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    for (id, planned) in &spec.changes {
        let mut object = |why: String| {
            found.push(Finding::new(Rule::Content, format!("change `{id}`"), why));
        };
        if !evidence.reasons.contains_key(id) {
            object("has no reason".to_owned());
        }
        let Change::Create(create) = &planned.change else {
            continue;
        };
        used.insert(&create.spec);
        if !spec.claims.contains_key(&create.spec) {
            object(format!("asks for claim spec `{}`, which is not in the plan", create.spec.0));
        }
        match evidence.placements.get(id) {
            None => object("says nothing of what its node is expected to be".to_owned()),
            Some(placement) if evidence.shapes.get(placement.shape).is_none() => {
                object("speaks of a shape that is not in the plan".to_owned());
            }
            Some(placement) if !placement.pods.is_sorted() => object("its pods are not sorted".to_owned()),
            Some(_) => {}
        }
    }
    for id in evidence.placements.keys().filter(|id| !spec.changes.contains_key(*id)) {
        let why = "pods are placed on its node, but there is no such change";
        found.push(Finding::new(Rule::Content, format!("change `{id}`"), why));
    }
    for id in spec.claims.keys().filter(|id| !used.contains(id)) {
        found.push(Finding::new(Rule::Content, format!("claim spec `{}`", id.0), "nothing asks for it"));
    }
    found
}

/// Checks the plan's head: its provenance.
fn head(case: &Case<'_>) -> Vec<String> {
    let (spec, snapshot) = (&case.plan.spec, case.snapshot);
    let mut faults = Vec::new();
    if spec.cluster != snapshot.cluster {
        faults.push("is for another cluster than the one that was seen".to_owned());
    }
    if case.plan.evidence.seen_at != snapshot.at {
        faults.push("says another time of seeing than the snapshot".to_owned());
    }
    if snapshot.at.is_none() && spec.expires_at.is_some() {
        faults.push("expires, but was made without a time".to_owned());
    }
    for made in &case.made {
        if !spec.scope.contains(made.pool) {
            faults.push(format!("makes nodes of pool `{}`, which is not in its scope", made.pool));
        }
    }
    for name in &spec.scope {
        if !case.policy.pools.contains_key(name) {
            faults.push(format!("has pool `{name}` in its scope, which does not exist"));
        }
    }
    faults.extend(inputs(case));
    faults
}

/// Checks that the plan is bound to the content of pools, classes and fleet.
fn inputs(case: &Case<'_>) -> Vec<String> {
    let (inputs, policy) = (&case.plan.spec.inputs, case.policy);
    let mut faults = Vec::new();
    for name in &case.plan.spec.scope {
        let pool = policy.pools.get(name).and_then(digest);
        if inputs.pools.get(name).copied() != pool {
            faults.push(format!("is not bound to what pool `{name}` says: its digest is another"));
        }
    }
    for (name, digest) in &inputs.classes {
        if policy.classes.get(name).map(|class| class.spec_digest) != Some(*digest) {
            faults.push(format!("is not bound to what class `{name}` says: its digest is another"));
        }
    }
    let unbound = case.made.iter().filter(|made| !inputs.classes.contains_key(&made.claim.class));
    faults.extend(unbound.map(|made| format!("has no digest of class `{}`", made.claim.class)));
    if inputs.fleet != digest(&policy.fleet) {
        faults.push("is not bound to what the fleet says: its digest is another".to_owned());
    }
    faults
}

fn digest(value: &impl serde::Serialize) -> Option<Digest> {
    let value = serde_json::to_value(value).ok()?;
    Digest::of_json(&value).ok()
}

/// Checks that the id of a claim spec is its digest, so it cannot be exchanged for another.
fn claims(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, claim) in &case.plan.spec.claims {
        if digest(claim).is_none_or(|digest| digest.base32(ID_LENGTH) != *id.0) {
            let why = "its id is not the digest of what it asks for";
            found.push(Finding::new(Rule::Content, format!("claim spec `{}`", id.0), why));
        }
    }
    found
}

/// Checks the promised shape of a node against the catalogue and the requests of its pods.
fn promises(case: &Case<'_>, made: &Made<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(bought @ (_, size, _)) = case.bought(made) else { return faults };
    if let Some(shape) = made.shape {
        if shape.capacity != size.capacity || shape.allocatable != size.allocatable {
            faults.push(format!("is said to have what size `{}` has not", size.name));
        }
        let labels = case.labels_of(made, bought);
        let wrong = shape.labels.iter().find(|(key, value)| !labels.may_be(key, value));
        if let Some((key, value)) = wrong {
            faults.push(format!("is said to have label `{key}` with `{value}`, which it will not have"));
        }
        let mut asked = shape.daemon_requests.clone();
        for pod in made.pods.iter().filter_map(|key| case.pods.get(key)) {
            asked.add(&pod.spec.requests);
        }
        if !same(&made.create.requests, &asked) {
            faults.push("asks for other resources than its pods and daemonsets do".to_owned());
        }
    }
    faults
}

/// Returns whether both have the same amounts; zero equals absent.
fn same(one: &Resources, two: &Resources) -> bool {
    let names: BTreeSet<&ResourceName> = one.iter().chain(two.iter()).map(|(name, _)| name).collect();
    names.into_iter().all(|name| one.get(name) == two.get(name))
}

/// Checks the fields that a claim takes from its pool.
fn of_pool(case: &Case<'_>, made: &Made<'_>) -> Option<String> {
    let pool = case.pool(made.pool)?;
    let claim = made.claim;
    let is_same = claim.class == pool.class
        && claim.taints == pool.taints
        && claim.startup_taints == pool.startup_taints
        && claim.annotations == pool.annotations
        && claim.expire_after == pool.expire_after
        && claim.termination_grace_period == pool.termination_grace_period
        && pool.labels.iter().all(|(key, value)| claim.labels.get(key) == Some(value));
    (!is_same).then(|| {
        format!("differs from its pool `{}` in class, taints, labels, annotations or ages", pool.name)
    })
}
