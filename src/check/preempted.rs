//! Preemption: a pod has victims only if kube-scheduler would preempt them.
//!
//! The checker sees the snapshot after all preemptions, and reverts them from the last to the first. It reports that a
//! pod had free capacity anyway only if it fits beside every pending pod of its priority or above, wherever the plan
//! puts those. Rules between pods are checked against the placement at the moment of the preemption.

use std::collections::BTreeSet;

use super::case::{Case, Site};
use super::finding::{Finding, Rule};
use super::labels::pod_meets;
use super::moment::Moment;
use super::room::is_tied;
use super::{attached, capacity, ports, taints, volumes};
use crate::model::{Node, NodeName, Pod, PodKey, PodPlace, Preemption};

/// Returns the faults of the preemptions that precede the plan.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let preemptions = &case.snapshot.preemptions;
    let mut found = Vec::new();
    if case.plan.evidence.world.preemptions != *preemptions {
        let why = "speaks of other preemptions than it was made after";
        found.push(Finding::new(Rule::Preemption, "plan", why));
    }
    let mut gone: BTreeSet<&PodKey> = BTreeSet::new();
    for (place, preemption) in preemptions.iter().enumerate() {
        let twice = preemption.victims.iter().filter(|victim| !gone.insert(victim));
        let mut faults: Vec<String> = twice.map(|victim| format!("`{victim}` gives way twice")).collect();
        match (case.pods.get(&preemption.pod).copied(), case.nodes.get(&preemption.node).copied()) {
            (Some(pod), Some(node)) => faults.extend(of_one(case, (place, preemption), (pod, node))),
            (None, _) => faults.push("there is no such pod".to_owned()),
            (_, None) => faults.push(format!("there is no node `{}`", preemption.node)),
        }
        let object = format!("pod `{}`", preemption.pod);
        found.extend(faults.into_iter().map(|why| Finding::new(Rule::Preemption, object.clone(), why)));
    }
    found
}

/// Returns the faults of one preemption, by its index.
fn of_one<'a>(
    case: &Case<'a>,
    (place, preemption): (usize, &Preemption),
    (pod, node): (&'a Pod, &Node),
) -> Vec<String> {
    let name = &preemption.node;
    let mut faults = of_pod(pod, name);
    if node.is_deleting {
        faults.push(format!("preempts on node `{name}`, which is being deleted"));
    }
    faults.extend(preemption.victims.iter().filter_map(|victim| of_victim(case, pod, victim)));
    faults.extend(does_not_fit(case, pod, node));
    // At that moment its victims were gone and later pods had not come yet.
    let moment = || Moment::of(case, |node| before(case, (place, preemption), (node, &[])));
    if minds(case, pod) {
        faults.extend(moment().keeps_off(pod, &node.name));
    }
    if faults.is_empty() {
        faults.extend(is_needless(case, (place, preemption), pod));
    }
    faults
}

/// Returns whether a pod has rules about other pods, or pods with anti-affinity exist.
fn minds(case: &Case<'_>, pod: &Pod) -> bool {
    is_tied(pod) || case.snapshot.pods.iter().any(|other| !other.spec.anti_affinity.is_empty())
}

fn of_pod(pod: &Pod, node: &NodeName) -> Vec<String> {
    let mut faults = Vec::new();
    if pod.place != PodPlace::Bound(node.clone()) {
        faults.push(format!("preempts on node `{node}` and does not stand there"));
    }
    if pod.spec.never_preempts {
        faults.push("preempts, and its `preemptionPolicy` is `Never`".to_owned());
    }
    if pod.is_daemon {
        faults.push("preempts, and belongs to a DaemonSet, whose preemption is not planned".to_owned());
    }
    if !pod.spec.gates.is_empty() {
        faults.push("preempts, and is held back by scheduling gates".to_owned());
    }
    faults
}

fn of_victim(case: &Case<'_>, pod: &Pod, key: &PodKey) -> Option<String> {
    let Some(victim) = case.pods.get(key) else {
        return Some(format!("preempts `{key}`, and there is no such pod"));
    };
    let (own, lower) = (pod.spec.priority, victim.spec.priority);
    if lower >= own {
        return Some(format!("of priority {own} preempts `{key}` of priority {lower}"));
    }
    if victim.is_daemon || victim.is_terminating {
        return Some(format!("preempts `{key}`, which leaves with its node or is being deleted"));
    }
    (victim.place != PodPlace::Waiting).then(|| format!("preempts `{key}`, which does not wait after that"))
}

/// Returns why a pod does not fit where it preempts, beside all pods that are there in the end.
fn does_not_fit<'a>(case: &Case<'a>, pod: &'a Pod, node: &Node) -> Vec<String> {
    let Some(mut site) = case.existing_site(&node.name, &[]) else { return Vec::new() };
    site.running.retain(|other| other.key != pod.key);
    misses(case, site, pod)
}

/// Returns why a pod cannot run on a node, ignoring rules between pods.
fn misses<'a>(case: &Case<'a>, mut site: Site<'a>, pod: &'a Pod) -> Vec<String> {
    site.pods = vec![pod];
    let mut missed = Vec::new();
    if let Some(taint) = site.taints.iter().find(|taint| taints::keeps_off(taint, &pod.spec)) {
        missed.push(format!("does not tolerate taint `{taint}` of {}", site.title));
    }
    if let Err(why) = pod_meets(&pod.spec, &site.labels) {
        missed.push(format!("does not belong on {}: {why}", site.title));
    }
    let storage = &case.snapshot.storage;
    missed.extend(
        volumes::faults(storage, pod, &site.labels)
            .into_iter()
            .map(|why| format!("on {}: {why}", site.title)),
    );
    let of_site = capacity::of_site(&site).into_iter().chain(ports::of_site(&site));
    let of_site = of_site.chain(attached::too_many(case, &site));
    missed.extend(of_site.map(|finding| format!("does not fit on {}: {}", site.title, finding.message)));
    missed
}

/// Returns the nodes with free capacity for a preempting pod, and the victims that it did not need to preempt.
fn is_needless<'a>(case: &Case<'a>, at: (usize, &Preemption), pod: &'a Pod) -> Vec<String> {
    let (_, own) = at;
    let is_ahead = |other: &&Pod| {
        other.place == PodPlace::Waiting
            && !other.is_daemon
            && !other.is_terminating
            && !other.key.is_placeholder()
            && other.spec.priority >= pod.spec.priority
    };
    let ahead: Vec<&'a Pod> = case.snapshot.pods.iter().filter(is_ahead).collect();
    // Which pods the pending pods repel or attract depends on their placement.
    let minds = minds(case, pod);
    let is_settled = !minds || !ahead.iter().any(|other| is_tied(other));
    let lets = |node: &NodeName, back: &[PodKey]| {
        let moment = || {
            Moment::of(case, |node| before(case, at, (node, &[]))).with(node, before(case, at, (node, back)))
        };
        !minds || is_settled && moment().keeps_off(pod, node).is_empty()
    };
    let had_room = |node: &NodeName, back: &[PodKey]| {
        let Some(mut site) = case.existing_site(node, &[]) else { return false };
        site.running = before(case, at, (node, back));
        site.running.extend(&ahead);
        misses(case, site, pod).is_empty() && lets(node, back)
    };
    let others = case.nodes.values().filter(|node| !node.is_deleting && node.name != own.node);
    let elsewhere = others.filter(|node| had_room(&node.name, &[]));
    let mut faults: Vec<String> =
        elsewhere.map(|node| format!("preempts, and node `{}` has room for it", node.name)).collect();
    let spared = own.victims.iter().filter(|victim| had_room(&own.node, std::slice::from_ref(victim)));
    faults.extend(spared.map(|victim| format!("preempts `{victim}`, and has room beside it")));
    faults
}

/// Returns the pods of a node at the moment of a preemption, with the victims that are put back.
fn before<'a>(
    case: &Case<'a>,
    (place, _): (usize, &Preemption),
    (node, back): (&NodeName, &[PodKey]),
) -> Vec<&'a Pod> {
    let preemptions = &case.snapshot.preemptions;
    let came: BTreeSet<&PodKey> = preemptions[place..].iter().map(|preemption| &preemption.pod).collect();
    let went = preemptions[place + 1..].iter().filter(|preemption| preemption.node == *node);
    let went = went.flat_map(|preemption| &preemption.victims).chain(back);
    let stays = case.running_on(node).iter().copied().filter(|pod| !came.contains(&pod.key));
    stays.chain(went.filter_map(|key| case.pods.get(key).copied())).collect()
}
