//! Unused free capacity: no independent pod stays unplaced if a node fits it, and in the cheapest fleet no pending pod
//! gets a new node if a node that stays fits it immediately.
//!
//! Only pods without rules about other pods are checked, and only if no other pod's rule concerns them: for the rest
//! the placement depends on their order. Whether a node could have been created for a pod is not checked: that is the
//! search itself.

use std::collections::BTreeMap;

use super::case::{Case, Site};
use super::crowd::Group;
use super::finding::{Finding, Rule};
use super::gangs;
use super::labels::pod_meets;
use super::taints::keeps_off;
use crate::model::{Node, NodeStage, Pod, PodPlace, PodSpec, Resources, Strength};

/// Returns the pods that are reported as not placed although a node of the final fleet fits them.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    if is_partial(case) {
        return Vec::new();
    }
    let unplaced = case.plan.evidence.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    let unplaced = free(case, unplaced.filter_map(|key| case.pods.get(key).copied()));
    let sites = || {
        let mut sites = standing(case);
        sites.extend(case.made.iter().filter_map(|made| case.new_site(made)));
        sites
    };
    taken(sites, &unplaced, "is said to have no place")
}

/// Returns the pending pods that get a new node although one that stays fits them: kube-scheduler binds them there.
pub(super) fn needless(case: &Case<'_>) -> Vec<Finding> {
    // With headroom, the placement depends on the order.
    let keeps_room = case.snapshot.pods.iter().any(|pod| pod.key.is_placeholder());
    if is_partial(case) || keeps_room {
        return Vec::new();
    }
    let mut bought = free(case, on_new_nodes(case));
    // Pods that must be with these may have no place if these are bound elsewhere alone.
    bought.retain(|pod| !is_followed(case, pod));
    taken(|| standing(case), &bought, "gets a new node")
}

/// Returns whether a plan is not meant to place all pending pods.
fn is_partial(case: &Case<'_>) -> bool {
    !case.plan.spec.targets.is_empty() || case.snapshot.supposed.wishes.destroy
}

/// Returns the pending pods on new nodes that were opened for pods.
fn on_new_nodes<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a Pod> {
    let opened = case.made.iter().filter(|made| made.opened_for.is_some());
    let pods = opened.flat_map(|made| made.pods).filter_map(|key| case.pods.get(key).copied());
    pods.filter(|pod| pod.place == PodPlace::Waiting)
}

/// Returns the independent ones of these pods, one per spec.
fn free<'a>(case: &Case<'_>, pods: impl Iterator<Item = &'a Pod>) -> Vec<&'a Pod> {
    // Pods with rules that the model has no field for are skipped.
    let excused = gangs::excused(case);
    let is_free = |pod: &&Pod| {
        let is_alone = !pod.key.is_placeholder() && !is_tied(pod) && pod.spec.other_rules.is_empty();
        is_alone && !excused.contains(&pod.key)
    };
    let mut by_content: BTreeMap<&PodSpec, &Pod> = BTreeMap::new();
    for pod in pods.filter(is_free) {
        by_content.entry(&pod.spec).or_insert(pod);
    }
    by_content.retain(|_, pod| !is_minded(case, pod));
    by_content.into_values().collect()
}

/// Returns findings for the pods that fit one of these nodes.
fn taken<'a>(sites: impl FnOnce() -> Vec<Site<'a>>, pods: &[&Pod], what: &str) -> Vec<Finding> {
    if pods.is_empty() {
        return Vec::new();
    }
    let sites = sites();
    let used: Vec<Resources> = sites.iter().map(|site| used(site, &site.pods)).collect();
    let fault = |pod: &&Pod| {
        let (site, _) = sites.iter().zip(&used).find(|(site, used)| takes(site, used, pod))?;
        let why = format!("{what}, and {} has room for it", site.title);
        Some(Finding::new(Rule::Pods, format!("pod `{}`", pod.key), why))
    };
    pods.iter().filter_map(fault).collect()
}

/// Returns every existing node of the final fleet that is ready for pods.
fn standing<'a>(case: &Case<'a>) -> Vec<Site<'a>> {
    let is_up = |node: &Node| case.stays(node) && node.stage == NodeStage::Initialized && node.is_ready();
    let placed = |node: &Node| case.plan.evidence.kept.get(&node.name).map_or(&[][..], Vec::as_slice);
    let standing = case.nodes.values().filter(|node| is_up(node));
    standing.filter_map(|node| case.existing_site(&node.name, placed(node))).collect()
}

/// Returns whether a rule ties a pod to other pods, or to anything on a node besides its resources.
pub(super) fn is_tied(pod: &Pod) -> bool {
    let spec = &pod.spec;
    !spec.spread.is_empty()
        || !spec.affinity.is_empty()
        || !spec.anti_affinity.is_empty()
        || !spec.volumes.is_empty()
        || !spec.host_ports.is_empty()
}

/// Returns whether other pods' anti-affinity or spread matches a pod, in any namespace.
fn is_minded(case: &Case<'_>, pod: &Pod) -> bool {
    case.crowd.groups.iter().any(|Group { spec, .. }| {
        let required = spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required);
        let counting = required.filter_map(|constraint| constraint.selector.as_ref());
        let against = spec.anti_affinity.iter().filter_map(|term| term.selector.as_ref());
        counting.chain(against).any(|selector| selector.selects(&pod.spec.labels))
    })
}

/// Returns whether other pods' affinity matches a pod, in any namespace.
fn is_followed(case: &Case<'_>, pod: &Pod) -> bool {
    case.crowd.groups.iter().any(|Group { spec, .. }| {
        let mut selectors = spec.affinity.iter().filter_map(|term| term.selector.as_ref());
        selectors.any(|selector| selector.selects(&pod.spec.labels))
    })
}

/// Returns whether a node fits a pod beside these pods, its running pods and its daemonsets.
pub(super) fn has_room(site: &Site<'_>, pods: &[&Pod], pod: &Pod) -> bool {
    takes(site, &used(site, pods), pod)
}

/// Returns the resources that these pods, the running pods and the daemonsets of a node use.
fn used(site: &Site<'_>, pods: &[&Pod]) -> Resources {
    let mut used = Resources::none();
    pods.iter().chain(&site.running).for_each(|pod| used.add(&pod.spec.requests));
    site.daemons.iter().for_each(|daemon| used.add(&daemon.spec.requests));
    used
}

/// Returns whether a node with these used resources fits a pod.
fn takes(site: &Site<'_>, used: &Resources, pod: &Pod) -> bool {
    let fits = |name, amount| amount <= 0 || used.get(name) + amount <= site.allocatable.get(name);
    pod.spec.requests.iter().all(|(name, amount)| fits(name, amount))
        && pod.spec.host_ports.is_empty()
        && !site.taints.iter().any(|taint| keeps_off(taint, &pod.spec))
        && pod_meets(&pod.spec, &site.labels).is_ok()
}
