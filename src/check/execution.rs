//! Execution of a live plan: the claim admits each choice at no more than the stated price, existing nodes are the
//! observed ones, and no removal starts before the new nodes that take its pods.
//!
//! The VM's configuration is not checked: it follows from the class, and the launch builds it again.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use super::made::Made;
use super::price::effective_price;
use super::substitutes::buyable;
use crate::model::purpose::Purposes;
use crate::model::{MicroUsdPerHour, Node, NodeName, Offering, Pod, PodKey, PodPlace, Purpose};
use crate::plan::execution::{CHOICES_MAX, Execution, NodeIdentity};
use crate::plan::{ChangeId, Choice};
use crate::snapshot::Snapshot;
use crate::snapshot::azure::{VmFacts, is_of_claim};

/// Returns what is wrong with a plan's execution section.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let spec = &case.plan.spec;
    let Some(execution) = &spec.execution else {
        let why = "expires, and does not say how it is applied";
        let expires = spec.expires_at.is_some();
        return expires.then(|| Finding::new(Rule::Execution, "plan", why)).into_iter().collect();
    };
    let mut found: Vec<Finding> =
        head(case, execution).into_iter().map(|why| Finding::new(Rule::Execution, "plan", why)).collect();
    for made in &case.made {
        let faults = launch(case, execution, made).into_iter().chain(nominated(case, execution, made));
        found.extend(faults.map(|why| Finding::new(Rule::Execution, made.title(), why)));
    }
    let comes = takers(case);
    for (id, planned) in &spec.changes {
        let Some(target) = planned.change.target() else { continue };
        let mut faults = identity(case, execution.nodes.get(id), &target.node);
        if planned.change.delete().is_some() {
            faults.extend(removal(case, execution, (id, &target.node), &comes));
        }
        let object = format!("node `{}`", target.node);
        found.extend(faults.into_iter().map(|why| Finding::new(Rule::Execution, object.as_str(), why)));
    }
    found
}

fn head(case: &Case<'_>, execution: &Execution) -> Vec<String> {
    let spec = &case.plan.spec;
    let mut faults = Vec::new();
    if spec.expires_at.is_none() {
        faults.push("says how it is applied, and never expires".to_owned());
    }
    if case.snapshot.at.zip(spec.expires_at).is_some_and(|(at, end)| end <= at) {
        faults.push("has expired before it was made".to_owned());
    }
    if !spec.what_if.is_nothing() {
        faults.push("has assumptions (what-if), and says how it is applied".to_owned());
    }
    if spec.cluster.as_ref() != Some(&execution.cluster.uid) {
        faults.push("is applied to another cluster than it was created for".to_owned());
    }
    let used: BTreeSet<_> = execution
        .launches
        .values()
        .flat_map(|launch| &launch.choices)
        .map(|choice| &choice.machine)
        .collect();
    if execution.machines.keys().any(|machine| !used.contains(machine)) {
        faults.push("has a machine that nothing is made of".to_owned());
    }
    let unknown = |id: &ChangeId| !spec.changes.contains_key(id);
    let named = execution.nodes.keys().chain(execution.removals.keys()).chain(execution.nominations.keys());
    let named = named.chain(execution.made_for.keys());
    faults.extend(
        named.filter(|id| unknown(id)).map(|id| format!("carries out `{id}`, which it does not hold")),
    );
    faults
}

/// Checks the launch choices of a node: first choice first, no duplicates, and only what the claim admits.
fn launch(case: &Case<'_>, execution: &Execution, made: &Made<'_>) -> Vec<String> {
    let choices = execution.choices(&made.create.spec);
    let mut faults = Vec::new();
    if choices.is_empty() || choices.len() > CHOICES_MAX {
        faults.push(format!("has {} choices, not one to {CHOICES_MAX}", choices.len()));
    }
    if choices.first().is_none_or(|first| first.choice != made.claim.primary) {
        faults.push("does not try its first choice first".to_owned());
    }
    let admitted: BTreeMap<Choice, _> = case
        .pool(made.pool)
        .map(|pool| buyable(case, made, pool))
        .unwrap_or_default()
        .into_iter()
        .map(|(size, offering)| {
            let (zone, capacity_type) = (offering.zone.clone(), offering.capacity_type);
            let choice = Choice { size: size.name.clone(), zone, capacity_type };
            (choice, effective_price(case, size, offering).known())
        })
        .collect();
    let first = first_price(case, made);
    let mut seen = BTreeSet::new();
    for (place, launched) in choices.iter().enumerate() {
        let Choice { size, zone, capacity_type } = &launched.choice;
        let title = format!("choice `{size}` in `{zone}`, {capacity_type}");
        if !seen.insert(&launched.choice) {
            faults.push(format!("tries {title} twice"));
        }
        if !execution.machines.contains_key(&launched.machine) {
            faults.push(format!("has no machine for {title}"));
        }
        match admitted.get(&launched.choice) {
            Some(price) if *price != launched.price_max => {
                faults.push(format!("says another price of {title} than it has"));
            }
            None if place == 0 && first.is_some_and(|price| price != launched.price_max) => {
                faults.push(format!("says another price of {title} than it has"));
            }
            None if place > 0 => faults.push(format!("tries {title}, which its claim does not admit")),
            Some(_) | None => {}
        }
    }
    let others = choices.iter().skip(1).map(|choice| (choice.price_max.is_none(), choice.price_max));
    if !others.is_sorted() {
        faults.push("tries what is dearer before what is cheaper".to_owned());
    }
    faults
}

/// Returns the price of the first choice, if it is offered; other rules check whether it is.
fn first_price(case: &Case<'_>, made: &Made<'_>) -> Option<Option<MicroUsdPerHour>> {
    let offered = case.pool(made.pool).and_then(|pool| case.offered_to(pool))?;
    let size = offered.types.iter().find(|size| size.name == *made.size)?;
    let is_it =
        |offering: &&Offering| offering.zone == *made.zone && offering.capacity_type == made.capacity_type;
    let offering = size.offerings.iter().find(is_it)?;
    Some(effective_price(case, size, offering).known())
}

/// Checks that only pending pods placed on the node are nominated to it.
fn nominated(case: &Case<'_>, execution: &Execution, made: &Made<'_>) -> Vec<String> {
    let waits = |key: &&PodKey| {
        !key.is_placeholder() && case.pods.get(key).is_some_and(|pod| pod.place == PodPlace::Waiting)
    };
    let wanted: BTreeSet<&PodKey> = made.pods.iter().filter(waits).collect();
    let listed = execution.nominations.get(made.id).map_or(&[][..], Vec::as_slice);
    let is_so = listed.is_sorted() && listed.iter().collect::<BTreeSet<_>>() == wanted;
    if is_so { Vec::new() } else { vec!["nominates other pods than those that wait for it".to_owned()] }
}

/// Checks that a node states the purposes of exactly the pods placed on it. `asked` is the snapshot with pods as
/// written, because purposes are derived from templates: in the case's snapshot pods require what they only prefer.
pub(super) fn made_for(asked: &Snapshot, case: &Case<'_>) -> Vec<Finding> {
    let Some(execution) = &case.plan.spec.execution else { return Vec::new() };
    let pods: BTreeMap<&PodKey, &Pod> = asked.pods.iter().map(|pod| (&pod.key, pod)).collect();
    let mut purposes = Purposes::default();
    let mut found = Vec::new();
    for made in &case.made {
        let real = made.pods.iter().filter(|key| !key.is_placeholder());
        let wanted: BTreeSet<Purpose> =
            real.filter_map(|key| pods.get(key)).map(|pod| purposes.of(pod)).collect();
        let listed = execution.made_for.get(made.id).map_or(&[][..], Vec::as_slice);
        if !listed.is_sorted() || listed.iter().collect::<BTreeSet<_>>() != wanted.iter().collect() {
            let why = "is made for other pods than those that are placed on it";
            found.push(Finding::new(Rule::Execution, made.title(), why));
        }
    }
    found
}

/// Returns the new nodes that take pods of each existing node.
fn takers<'c>(case: &'c Case<'_>) -> BTreeMap<&'c NodeName, BTreeSet<&'c ChangeId>> {
    let mut takers: BTreeMap<&NodeName, BTreeSet<&ChangeId>> = BTreeMap::new();
    for (node, pods) in &case.running {
        let moved: BTreeSet<&PodKey> = pods.iter().map(|pod| &pod.key).collect();
        let takes = |made: &&Made<'_>| made.pods.iter().any(|pod| moved.contains(pod));
        takers.insert(node, case.made.iter().filter(takes).map(|made| made.id).collect());
    }
    takers
}

fn removal(
    case: &Case<'_>,
    execution: &Execution,
    (id, node): (&ChangeId, &NodeName),
    comes: &BTreeMap<&NodeName, BTreeSet<&ChangeId>>,
) -> Vec<String> {
    let Some(removal) = execution.removals.get(id) else {
        return vec!["is removed, and nothing says how".to_owned()];
    };
    let mut faults = Vec::new();
    let is_left_over = case.nodes.get(node).is_some_and(|node| node.is_deleting);
    let wanted = comes.get(node).filter(|_| !is_left_over).cloned().unwrap_or_default();
    if removal.after.iter().collect::<BTreeSet<_>>() != wanted || !removal.after.is_sorted() {
        faults.push("does not wait for just those new nodes that take its pods".to_owned());
    }
    let grace = case.nodes.get(node).and_then(|node| node.claimed.termination_grace_period);
    if removal.grace != grace {
        faults.push("drains for another time than its NodeClaim says".to_owned());
    }
    faults
}

/// Checks that the plan identifies the node as observed. Skipped without Azure's facts, as for a plan read from its
/// file.
fn identity(case: &Case<'_>, said: Option<&NodeIdentity>, node: &NodeName) -> Vec<String> {
    let Some(said) = said else { return vec!["is changed, and nothing says which VM it is".to_owned()] };
    let Some((facts, node)) = case.snapshot.azure.as_ref().zip(case.nodes.get(node)) else {
        return Vec::new();
    };
    let node: &Node = node;
    let vm = facts.vms.iter().flatten().find(|vm| {
        let own = node.provider_id.as_ref().map(|id| id.to_ascii_lowercase());
        own == Some(format!("azure://{}", vm.id.to_ascii_lowercase()))
    });
    // A node that a user deletes before its claim names a VM is identified by its name.
    let is_deleted = case.plan.spec.wishes.deleted.contains(&node.name);
    let is_named = |vm: &&VmFacts| {
        let claim = node.claim.as_ref().filter(|_| is_deleted);
        claim.is_some_and(|claim| is_of_claim(&vm.name, &vm.tags, claim))
    };
    let vm = vm.or_else(|| facts.vms.iter().flatten().find(is_named));
    let seen = (&node.uid, &node.claim_uid, vm.map(|vm| &vm.id), vm.and_then(|vm| vm.vm_id.as_ref()));
    let is_same = seen == (&said.node_uid, &said.claim_uid, said.vm.as_ref(), said.vm_id.as_ref());
    if is_same {
        Vec::new()
    } else {
        vec!["is bound to another Node, NodeClaim or VM than was seen".to_owned()]
    }
}
