//! Pods for which limits leave no place however all are packed: of each kind as many are planned as could have one, and one
//! more.
//!
//! What has a place then does not depend on how many more wait, and next to nothing is spent on those. The one more has no
//! place either, and what is said of it is said of the rest. How many could have a place is worked out by [`most`]; which do
//! is not decided here.

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

/// The pods that are left out of everything that is planned, and whom they are like.
#[derive(Default)]
pub(super) struct Capped(Vec<Kind>);

/// Pods that the scheduler cannot tell apart.
struct Kind {
    /// Those that are planned, sorted.
    planned: Vec<PodKey>,
    /// Those that are not.
    rest: Vec<PodKey>,
    is_without_requests: bool,
    /// What each wishes for in vain.
    passed_over: Vec<SchedulingRule>,
}

impl Capped {
    /// Finds those of a world, and returns the world without them; nothing where there are none. The scene is the world's.
    pub(super) fn of(scene: &Scene<'_>, snapshot: &Snapshot) -> Option<(Self, Snapshot)> {
        if !ledger::has_limits(Limiting { policy: scene.policy, quota: None }) {
            return None;
        }
        let mut most = Most::of(scene, snapshot);
        let mut capped = Self::default();
        for ((namespace, spec), mut pods) in kinds(snapshot) {
            let waits_for_more = gates::why(spec).is_some() || not_yet::why(spec).is_some();
            // Of one pod nothing can be left out, nor of a gang: it is bound whole or not at all.
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

    /// Adds to what is said of those that are planned what is to be said of the rest.
    pub(super) fn told(&self, report: &mut Report) {
        for Kind { planned, rest, is_without_requests, passed_over } in &self.0 {
            // Those that come last by name have a place last.
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

/// Says of pods that limits let nothing hold them, where nothing is said of one like them.
fn beyond(pods: &[PodKey]) -> Unplaced {
    let because = "limits of NodePools and of the NodeFleet do not allow so many of them".to_owned();
    let rule = Rule::Limits.to_string();
    let details = vec![format!("{rule}: {because}")];
    Unplaced { pods: pods.to_vec(), rule, because, nearest: None, details }
}

/// Lists the pods that wait by kind.
fn kinds(snapshot: &Snapshot) -> BTreeMap<(&Namespace, &PodSpec), Vec<&PodKey>> {
    let waits = |pod: &&Pod| pod.place == PodPlace::Waiting && !pod.is_terminating && !pod.is_daemon;
    // Pods of a workload share one value, so that few contents are compared in full.
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
