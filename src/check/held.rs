//! Pods that are held back: gated pods, pods whose like run on none of the nodes created for them, and pods with a
//! required rule that is not supported yet. Nodes that they may need are kept.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::labels::pod_meets;
use super::taints::keeps_off;
use crate::model::{Node, Pod, PodKey, PodSpec, Resources, SchedulingRule, Strength};

/// Returns the pods that are placed although they are held back.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut known: BTreeMap<&PodSpec, Option<String>> = BTreeMap::new();
    for pod in case.placed_pods() {
        let why = known.entry(&pod.spec).or_insert_with(|| must_wait(&pod.spec)).clone();
        if let Some(why) = why {
            found.push(Finding::new(Rule::HeldBack, format!("pod `{}`", pod.key), why));
        }
    }
    found
}

/// Returns the first pod that is held back for an unsupported rule and would fit on an empty node. `None` if the plan
/// creates nodes: one of those may carry, for less, what else would be placed here.
pub(super) fn wants<'c>(case: &'c Case<'_>, node: &Node) -> Option<&'c PodKey> {
    if !case.made.is_empty() {
        return None;
    }
    let site = case.existing_site(&node.name, &[])?;
    let mut used = Resources::none();
    site.running.iter().for_each(|pod| used.add(&pod.spec.requests));
    site.daemons.iter().for_each(|daemon| used.add(&daemon.spec.requests));
    let room = site.allocatable.minus(&used);
    // Pods with rules about other pods, or with host ports, may not fit here for other reasons.
    let is_alone = |PodSpec { host_ports, affinity, anti_affinity, spread, .. }: &PodSpec| {
        host_ports.is_empty() && affinity.is_empty() && anti_affinity.is_empty() && spread.is_empty()
    };
    let fits = |pod: &Pod| {
        pod.spec.requests.fit_in(&room)
            && is_alone(&pod.spec)
            && !site.taints.iter().any(|taint| keeps_off(taint, &pod.spec))
            && pod_meets(&pod.spec, &site.labels).is_ok()
    };
    let held = case.plan.evidence.report.held.iter().flat_map(|held| &held.pods);
    let known = held.filter_map(|key| Some((key, *case.pods.get(key)?)));
    // After lifting a gate the user can plan again.
    let mut waiting = known.filter(|(_, pod)| pod.spec.gates.is_empty() && pod.spec.withheld.is_none());
    waiting.find(|(_, pod)| fits(pod)).map(|(key, _)| key)
}

fn must_wait(spec: &PodSpec) -> Option<String> {
    if spec.withheld.is_some() {
        return Some("is placed although nodes that were made for its like run none of them".to_owned());
    }
    if let Some(gate) = spec.gates.first() {
        return Some(format!("is placed although its scheduling gate `{gate}` holds it back"));
    }
    unplanned_rule(spec)
        .map(|rule| format!("is placed although it requires `{}`, which is not planned with", rule.as_str()))
}

/// Returns the first required rule of the pod that is not supported: volumes only if they were not read. Match fields
/// are read as a label with the node's name, which is checked like the others.
fn unplanned_rule(spec: &PodSpec) -> Option<SchedulingRule> {
    let has_read_volumes = !spec.volumes.is_empty();
    let is_known = |rule: &SchedulingRule| {
        *rule == SchedulingRule::MatchFields || (*rule == SchedulingRule::Volumes && has_read_volumes)
    };
    let others = spec.other_rules.iter().filter(|(_, strength)| **strength == Strength::Required);
    others.map(|(rule, _)| *rule).find(|rule| !is_known(rule))
}
