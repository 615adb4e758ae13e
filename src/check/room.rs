//! Room that nobody uses: no pod that stands for itself goes without a place where a node has room for it, and for none
//! that waits a node is made where one that stays would take it at once.
//!
//! Judged are pods that no rule ties to others, and whom no rule of others speaks of: of the rest it depends on the order
//! in which they come who has a place. Whether a node could have been made for a pod is not judged: that is the search itself.

use std::collections::BTreeMap;

use super::case::{Case, Site};
use super::crowd::Group;
use super::finding::{Finding, Rule};
use super::labels::pod_meets;
use super::taints::keeps_off;
use crate::model::{Node, NodeStage, Pod, PodKey, PodPlace, PodSpec, Resources, Strength};

/// Returns the pods that are said to have no place, or that a node is made for, though another one takes them.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    if !case.plan.spec.targets.is_empty() || case.snapshot.supposed.wishes.destroy {
        return Vec::new();
    }
    let report = &case.plan.evidence.report;
    let without = by_content(case, report.unplaced.iter().flat_map(|unplaced| &unplaced.pods));
    // What moves is told where to by what else moves; who waits is bound at once.
    let opened_for = case.plan.evidence.placements.values().filter_map(|made| made.opened_for.as_ref());
    let waits = |key: &&PodKey| case.pods.get(*key).is_some_and(|pod| pod.place == PodPlace::Waiting);
    let bought_for = by_content(case, opened_for.filter(waits));
    if without.is_empty() && bought_for.is_empty() {
        return Vec::new();
    }
    let sites = sites(case);
    let fault = |pod: &Pod, said: &str, sites: &[Site<'_>]| {
        let site = sites.iter().find(|site| has_room(site, &site.pods, pod))?;
        let why = format!("{said}, and {} has room for it", site.title);
        Some(Finding::new(Rule::Pods, format!("pod `{}`", pod.key), why))
    };
    let there = &sites[..sites.partition_point(|site| site.node.is_some())];
    let without = without.into_iter().filter_map(|pod| fault(pod, "is said to have no place", &sites));
    let bought = bought_for.into_iter().filter_map(|pod| fault(pod, "is what a new node is made for", there));
    without.chain(bought).collect()
}

/// Returns one pod of each content, of those that stand for themselves. Rules that the model has no field for are
/// nobody's here.
fn by_content<'a>(case: &Case<'a>, keys: impl Iterator<Item = &'a PodKey>) -> Vec<&'a Pod> {
    let mut by_content: BTreeMap<&PodSpec, &Pod> = BTreeMap::new();
    let is_free = |pod: &&Pod| !pod.key.is_placeholder() && !is_tied(pod) && pod.spec.other_rules.is_empty();
    for pod in keys.filter_map(|key| case.pods.get(key).copied()).filter(is_free) {
        by_content.entry(&pod.spec).or_insert(pod);
    }
    by_content.retain(|_, pod| !is_minded(case, pod));
    by_content.into_values().collect()
}

/// Returns every node that takes pods when all is done, those first that are there.
fn sites<'a>(case: &Case<'a>) -> Vec<Site<'a>> {
    let is_up = |node: &Node| case.stays(node) && node.stage == NodeStage::Initialized && node.is_ready();
    let placed = |node: &Node| case.plan.evidence.kept.get(&node.name).map_or(&[][..], Vec::as_slice);
    let standing = case.nodes.values().filter(|node| is_up(node));
    let standing = standing.filter_map(|node| case.existing_site(&node.name, placed(node)));
    standing.chain(case.made.iter().filter_map(|made| case.new_site(made))).collect()
}

/// Returns whether a rule ties a pod to other pods, or to what is on a node beside its resources.
pub(super) fn is_tied(pod: &Pod) -> bool {
    let spec = &pod.spec;
    !spec.spread.is_empty()
        || !spec.affinity.is_empty()
        || !spec.anti_affinity.is_empty()
        || !spec.volumes.is_empty()
        || !spec.host_ports.is_empty()
}

/// Returns whether others mind where a pod is, in whatever namespace they are: they keep away, or count it.
fn is_minded(case: &Case<'_>, pod: &Pod) -> bool {
    case.crowd.groups.iter().any(|Group { spec, .. }| {
        let required = spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required);
        let counting = required.filter_map(|constraint| constraint.selector.as_ref());
        let against = spec.anti_affinity.iter().filter_map(|term| term.selector.as_ref());
        counting.chain(against).any(|selector| selector.selects(&pod.spec.labels))
    })
}

/// Returns whether a node holds a pod beside these, what runs there, and daemonsets.
pub(super) fn has_room(site: &Site<'_>, pods: &[&Pod], pod: &Pod) -> bool {
    let mut used = Resources::none();
    pods.iter().chain(&site.running).for_each(|pod| used.add(&pod.spec.requests));
    site.daemons.iter().for_each(|daemon| used.add(&daemon.spec.requests));
    let fits = |name, amount| amount <= 0 || used.get(name) + amount <= site.allocatable.get(name);
    pod.spec.requests.iter().all(|(name, amount)| fits(name, amount))
        && pod.spec.host_ports.is_empty()
        && !site.taints.iter().any(|taint| keeps_off(taint, &pod.spec))
        && pod_meets(&pod.spec, &site.labels).is_ok()
}
