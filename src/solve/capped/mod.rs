//! Pods that limits leave unplaced however all are packed: of each kind, as many are planned as could fit, and one
//! more.
//!
//! The placed pods then do not depend on how many more are pending, and almost no time is spent on those. The
//! additional pod does not fit either, and its report applies to the rest. [`most`] computes how many could fit; which
//! ones do is not decided here.

mod most;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Namespace, Pod, PodKey, PodPlace, PodSpec, SchedulingRule};
use crate::snapshot::Snapshot;

use super::fit::{Rule, gates, not_yet};
use super::ledger::{self, Limiting};
use super::shrink::trial::Scene;
use super::solution::{Report, Unplaced};
use most::Most;
pub(super) use most::is_unlimited;

/// Pods that are left out of all planning, with the planned pods that they are like.
#[derive(Default)]
pub(super) struct Capped(Vec<Kind>);

/// Pods that the scheduler cannot tell apart.
struct Kind {
    /// Pods that are planned, sorted.
    planned: Vec<PodKey>,
    /// Pods that are not planned.
    rest: Vec<PodKey>,
    is_without_requests: bool,
    /// Soft rules of each pod that are ignored.
    passed_over: Vec<SchedulingRule>,
}

impl Capped {
    /// Finds the pods to leave out of a world, and returns the world without them; `None` if there are none. The scene
    /// must belong to that world.
    pub(super) fn of(scene: &Scene<'_>, snapshot: &Snapshot) -> Option<(Self, Snapshot)> {
        if !ledger::has_limits(Limiting { policy: scene.policy, quota: None }) {
            return None;
        }
        let mut most = Most::of(scene, snapshot);
        let mut capped = Self::default();
        for ((namespace, spec), mut pods) in kinds(snapshot) {
            let waits_for_more = gates::why(spec).is_some() || not_yet::why(spec).is_some();
            // A single pod is never left out, nor is any pod of a gang, which is bound whole or not at all.
            if waits_for_more || spec.group.is_some() || pods.len() < 2 {
                continue;
            }
            let planned = most.up_to(spec, namespace, pods.len()).saturating_add(1);
            if planned >= pods.len() {
                continue;
            }
            pods.sort();
            let rest = pods.split_off(planned).into_iter().cloned().collect();
            capped.0.push(Kind {
                planned: pods.into_iter().cloned().collect(),
                rest,
                is_without_requests: spec.is_without_requests,
                passed_over: not_yet::wished_for(spec).collect(),
            });
        }
        if capped.0.is_empty() {
            return None;
        }
        let rest: BTreeSet<&PodKey> = capped.0.iter().flat_map(|kind| &kind.rest).collect();
        let planned = snapshot.pods.iter().filter(|pod| !rest.contains(&pod.key));
        let world = snapshot.with_pods(planned.cloned().collect());
        Some((capped, world))
    }

    /// Adds the rest to the report of the planned pods.
    pub(super) fn told(&self, report: &mut Report) {
        for Kind { planned, rest, is_without_requests, passed_over } in &self.0 {
            // Pods that are last by name are placed last.
            let last = |pods: &[PodKey]| planned.iter().rposition(|pod| pods.binary_search(pod).is_ok());
            let groups = report.unplaced.iter_mut().map(|group| &mut group.pods);
            let groups = groups.chain(report.held.iter_mut().map(|held| &mut held.pods));
            let found = groups
                .filter_map(|pods| Some((last(pods.as_slice())?, pods)))
                .max_by_key(|(place, _)| *place);
            match found {
                Some((_, pods)) => {
                    pods.extend(rest.iter().cloned());
                    pods.sort();
                }
                None => report.unplaced.push(beyond(rest)),
            }
            report.without_requests += if *is_without_requests { rest.len() } else { 0 };
            for rule in passed_over {
                *report.passed_over.entry(*rule).or_default() += rest.len();
            }
        }
        report.unplaced.sort_by(|one, other| one.pods.cmp(&other.pods));
    }
}

/// Reports that limits leave pods unplaced, if no pod like them is reported.
fn beyond(pods: &[PodKey]) -> Unplaced {
    let because = "limits of NodePools and of the NodeFleet do not allow so many of them".to_owned();
    let rule = Rule::Limits.to_string();
    let details = vec![format!("{rule}: {because}")];
    Unplaced { pods: pods.to_vec(), rule, because, nearest: None, details }
}

/// Groups pending pods by kind.
fn kinds(snapshot: &Snapshot) -> BTreeMap<(&Namespace, &PodSpec), Vec<&PodKey>> {
    let waits = |pod: &&Pod| pod.place == PodPlace::Waiting && !pod.is_terminating && !pod.is_daemon;
    // Pods of a workload share one spec, so few specs are compared in full.
    let mut by_address: BTreeMap<(usize, &Namespace), (&PodSpec, Vec<&PodKey>)> = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(waits) {
        let address = Arc::as_ptr(&pod.spec).addr();
        let there = by_address.entry((address, &pod.key.namespace));
        there.or_insert_with(|| (&*pod.spec, Vec::new())).1.push(&pod.key);
    }
    let mut kinds: BTreeMap<(&Namespace, &PodSpec), Vec<&PodKey>> = BTreeMap::new();
    for ((_, namespace), (spec, pods)) in by_address {
        kinds.entry((namespace, spec)).or_default().extend(pods);
    }
    kinds
}
