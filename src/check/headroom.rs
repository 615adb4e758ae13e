//! Headroom of CapacityBuffers: the plan states how much it keeps, and never at the expense of a pod.

use std::collections::BTreeMap;

use super::case::{Case, Site};
use super::finding::{Finding, Rule};
use super::gangs;
use super::room::{has_room, is_tied};
use crate::model::{Buffer, DisruptionReason, Namespace, Node, Pod, PodKey, Resources};

/// Returns wrong statements about headroom, pods without a place although headroom occupies one, and removed nodes
/// whose headroom fits nowhere else.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = said(case).into_iter().chain(counted(case)).chain(limited(case)).collect();
    let unplaced = case.plan.evidence.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    let excused = gangs::excused(case);
    let unplaced =
        unplaced.filter(|key| !excused.contains(key)).filter_map(|key| case.pods.get(key).copied());
    let (room, pods): (Vec<&Pod>, Vec<&Pod>) = unplaced.partition(|pod| pod.key.is_placeholder());
    let is_narrowed = !case.plan.spec.targets.is_empty() || case.snapshot.supposed.wishes.destroy;
    if !is_narrowed && pods.is_empty() {
        found.extend(given_up(case, &room));
    }
    // With pods that are tied to others, one that is unplaced late leaves capacity that no pod could use.
    if is_narrowed || pods.iter().any(|pod| is_tied(pod)) {
        return found;
    }
    for pod in pods {
        let existing = case.sites.iter().filter(|site| site.node.is_some());
        if let Some(site) = existing.into_iter().find(|site| gives_way(site, pod)) {
            let message =
                format!("has no place, and on {} a CapacityBuffer keeps room that it needs", site.title);
            found.push(Finding::new(Rule::Headroom, format!("pod `{}`", pod.key), message));
        }
    }
    found
}

/// Returns the buffers that are planned with another number of placeholder pods than they request.
fn counted(case: &Case<'_>) -> Vec<Finding> {
    let mut kept: BTreeMap<(&Namespace, &str), usize> = BTreeMap::new();
    for pod in case.pods.values().filter(|pod| pod.key.is_placeholder()) {
        if let Some(buffer) = &pod.workload {
            *kept.entry((&buffer.namespace, &*buffer.name)).or_default() += 1;
        }
    }
    let fault = |buffer: &Buffer| {
        let object = format!("CapacityBuffer `{}/{}`", buffer.namespace, buffer.name);
        // A gap about a buffer says that none or less of it is kept.
        if case.snapshot.gaps.iter().any(|gap| gap.what == object) {
            return None;
        }
        let kept = kept.get(&(&buffer.namespace, buffer.name.as_str())).copied().unwrap_or(0);
        let asked = usize::try_from(buffer.replicas?).unwrap_or(usize::MAX);
        // A percentage of the workload may be more, and limits may leave less.
        let is_right = kept == asked
            || (kept > asked && buffer.percent.is_some())
            || (kept < asked && buffer.limits.is_some());
        let why = format!("asks for room for {asked} pods, and is planned with {kept}");
        (!is_right).then(|| Finding::new(Rule::Headroom, object, why))
    };
    case.policy.buffers.values().filter_map(fault).collect()
}

/// Returns the buffers whose headroom exceeds their limits.
fn limited(case: &Case<'_>) -> Vec<Finding> {
    let mut kept: BTreeMap<(&Namespace, &str), Resources> = BTreeMap::new();
    for pod in case.pods.values().filter(|pod| pod.key.is_placeholder()) {
        if let Some(buffer) = &pod.workload {
            kept.entry((&buffer.namespace, &*buffer.name)).or_default().add(&pod.spec.requests);
        }
    }
    let fault = |buffer: &Buffer| {
        let kept = kept.get(&(&buffer.namespace, buffer.name.as_str()))?;
        let limits = buffer.limits.iter().flat_map(Resources::iter);
        let (name, most) = limits.into_iter().find(|(name, most)| kept.get(name) > *most)?;
        let object = format!("CapacityBuffer `{}/{}`", buffer.namespace, buffer.name);
        let why = format!(
            "keeps room for {name} {}, and its limit is {}",
            name.show(kept.get(name)),
            name.show(most)
        );
        Some(Finding::new(Rule::Headroom, object, why))
    };
    case.policy.buffers.values().filter_map(fault).collect()
}

/// Returns the nodes that are removed to save money although unplaced headroom would fit on them.
fn given_up(case: &Case<'_>, unplaced: &[&Pod]) -> Vec<Finding> {
    let to_save = |reason| matches!(reason, DisruptionReason::Empty | DisruptionReason::Underutilized);
    let deletes = case.plan.spec.deletes().filter(|(_, delete)| to_save(delete.reason));
    let nodes = deletes.filter_map(|(_, delete)| case.nodes.get(&delete.target.node).copied());
    let fault = |node: &Node| {
        let site = case.existing_site(&node.name, &[])?;
        let pod = unplaced.iter().find(|pod| has_room(&site, &[], pod))?;
        let why = format!("is removed to save money, and room for pod `{}` is nowhere else", pod.key);
        Some(Finding::new(Rule::Headroom, format!("node `{}`", node.name), why))
    };
    nodes.filter_map(fault).collect()
}

fn said(case: &Case<'_>) -> Option<Finding> {
    let report = &case.plan.evidence.report;
    let placed = |pods: &[PodKey]| pods.iter().filter(|pod| pod.is_placeholder()).count();
    let new: usize = case.plan.evidence.placements.values().map(|placement| placed(&placement.pods)).sum();
    let kept: usize = case.plan.evidence.kept.values().map(|pods| placed(pods)).sum();
    let there = new + kept;
    let why = match &report.headroom {
        None if there > 0 => format!("room for {there} pods is kept, and the plan does not say so"),
        Some(said) if said.pods != there && case.plan.spec.targets.is_empty() => {
            format!("room for {there} pods is kept, and the plan speaks of {}", said.pods)
        }
        Some(said) if said.cost.0 < 0 || said.cost > report.cost_after.effective => {
            "room is said to cost less than nothing, or more than the whole fleet".to_owned()
        }
        Some(_) | None => return None,
    };
    Some(Finding::new(Rule::Headroom, "headroom", why))
}

/// Returns whether a node would fit a pod without its placeholders.
fn gives_way(site: &Site<'_>, pod: &Pod) -> bool {
    let (placeholders, pods): (Vec<&Pod>, Vec<&Pod>) =
        site.pods.iter().copied().partition(|pod| pod.key.is_placeholder());
    !placeholders.is_empty()
        && has_room(site, &pods, pod)
        && pods.iter().chain(&site.running).all(|other| other.spec.anti_affinity.is_empty())
}
