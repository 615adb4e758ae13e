//! Nodes that go, each with its pods, where these go, and what to look at before.

use std::collections::BTreeMap;

use crate::model::disruption_budget::{DisruptionBudget, PodBound, PodShare};
use crate::model::{NodeName, PodKey, PodPlace};
use crate::plan::PodGroup;
use crate::plan::owner::PodOwner;
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::page::removals::{self, Removed, removed};
use crate::render::view::PlanView;
use crate::render::words::count;

/// Returns an item for each node that goes, by name, with items inside it.
pub(super) fn items(view: &PlanView<'_>) -> Vec<String> {
    let goes_to = destinations(view);
    removed(view).into_iter().flat_map(|node| of_node(view, node, &goes_to)).collect()
}

/// Where each pod is placed by the plan, for people.
fn destinations<'a>(view: &PlanView<'a>) -> BTreeMap<&'a PodKey, String> {
    let evidence = &view.plan.evidence;
    let kept = evidence.kept.iter();
    let mut goes_to: BTreeMap<&PodKey, String> = BTreeMap::new();
    for (node, pods) in kept {
        goes_to.extend(pods.iter().map(|pod| (pod, format!("to node {}", code_whole(node.as_str())))));
    }
    for new in view.new_nodes() {
        let to = format!("to new node {}", code_whole(&new.create.vm));
        goes_to.extend(new.placement.pods.iter().map(|pod| (pod, to.clone())));
    }
    goes_to
}

fn of_node(view: &PlanView<'_>, node: Removed<'_>, goes_to: &BTreeMap<&PodKey, String>) -> Vec<String> {
    let said = removals::sentence(view, node);
    let mut items = vec![sentence_whole(said.trim_start_matches("node "))];
    let created = view.node(node.node).and_then(|known| known.created);
    items.extend(created.map(|at| format!("  made at {}", code_whole(&at.to_string()))));
    let mut leaving: BTreeMap<&str, Vec<&PodKey>> = BTreeMap::new();
    for pod in view.running_on(node.node) {
        leaving.entry(goes_to.get(pod).map_or("to wait for a node", String::as_str)).or_default().push(pod);
    }
    for (to, pods) in leaving {
        let names: Vec<String> = pods.iter().map(|pod| code_whole(&pod.to_string())).collect();
        items.push(format!("  {} {to}: {}", count(pods.len(), "pod"), names.join(", ")));
    }
    items.extend(approved_for(view, &node));
    items.extend(flags(view, node.node));
    items
}

/// Whose pods may be evicted: whoever approves the removal approves it for these.
fn approved_for(view: &PlanView<'_>, node: &Removed<'_>) -> Option<String> {
    let removal = view.plan.spec.execution.as_ref()?.removals.get(node.id)?;
    let owners: Vec<String> = removal.owners.iter().map(owner).collect();
    (!owners.is_empty()).then(|| format!("  holds for pods of {}", owners.join(", ")))
}

fn owner(owner: &PodOwner) -> String {
    let uid = owner.uid.as_ref().map_or(String::new(), |uid| format!(" (UID {})", code_whole(uid)));
    format!("{}{uid}", code_whole(&owner.to_string()))
}

/// What makes a removal worth a second look.
fn flags(view: &PlanView<'_>, node: &NodeName) -> Vec<String> {
    let groups = &view.plan.evidence.world.pods;
    let single = view.running_on(node).filter_map(|pod| {
        let workload = view.workload(pod)?;
        let replicas = groups
            .iter()
            .filter(|group| group.namespace == pod.namespace && group.workload.as_ref() == Some(workload));
        let replicas: usize = replicas.map(|group| group.names.len()).sum();
        (replicas == 1).then(|| format!("  single replica: {}", code_whole(&pod.to_string())))
    });
    let mut flags: Vec<String> = single.collect();
    flags.sort();
    flags.extend(budgets(view, node));
    flags
}

/// The PodDisruptionBudgets that are about pods of a node.
fn budgets(view: &PlanView<'_>, node: &NodeName) -> Vec<String> {
    let world = &view.plan.evidence.world;
    let here = |group: &&PodGroup| {
        !group.is_daemon && matches!(&group.place, PodPlace::Bound(place) if place == node)
    };
    let is_about = |budget: &DisruptionBudget, group: &PodGroup| {
        let labels = world.pod_specs.get(group.spec).map(|spec| &spec.labels);
        let selects =
            budget.selector.as_ref().zip(labels).is_some_and(|(selector, labels)| selector.selects(labels));
        selects && group.namespace == budget.namespace
    };
    let about = world.budgets.iter().filter(|budget| {
        let mut groups = world.pods.iter().filter(here);
        groups.any(|group| is_about(budget, group))
    });
    about
        .map(|budget| {
            let name = code_whole(&format!("{}/{}", budget.namespace, budget.name));
            format!("  PodDisruptionBudget {name} {}", lets_go(budget))
        })
        .collect()
}

fn lets_go(budget: &DisruptionBudget) -> String {
    let share = |share: PodShare| match share {
        PodShare::Count(pods) => pods.to_string(),
        PodShare::Percent(percent) => format!("{percent}%"),
    };
    match (budget.counts, budget.bound) {
        (Some(counts), _) => format!("allows {} at a time now", counts.disruptions_allowed),
        (None, Some(PodBound::MinAvailable(pods))) => format!("keeps {} of its pods", share(pods)),
        (None, Some(PodBound::MaxUnavailable(pods))) => format!("allows {} at a time", share(pods)),
        (None, None) => "allows none".to_owned(),
    }
}
