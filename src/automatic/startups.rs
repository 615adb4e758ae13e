//! Startup latency of pending pods: the time from creation until running, measured from readings of the cluster.
//!
//! No watch: a running pod is noticed at the next reading. Never counts a pod twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::{NodeName, Pod, PodKey, PodPlace};

/// A pod that is not running yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingPod {
    /// Its UID.
    pub uid: Arc<str>,
    /// Its namespace and name.
    pub key: PodKey,
    /// Creation time.
    pub created: Option<Timestamp>,
    /// Its node, if it has one.
    pub node: Option<NodeName>,
    /// Whether kube-scheduler could not place it.
    pub is_unschedulable: bool,
    /// Message of kube-scheduler or its kubelet.
    pub says: Option<Arc<str>>,
}

/// Pods seen as unschedulable and not running yet, with their creation times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Startups {
    waited: BTreeMap<PodKey, Timestamp>,
}

impl Startups {
    /// Records the unschedulable pods.
    pub fn saw(&mut self, waiting: &[WaitingPod]) {
        let waiting = waiting.iter().filter(|pod| pod.is_unschedulable);
        let known = waiting.filter_map(|pod| Some((pod.key.clone(), pod.created?)));
        self.waited.extend(known);
    }

    /// Records the pods of a reading; returns the latency of each pod that runs now. Deleted pods are forgotten.
    pub fn note(&mut self, pods: &[Pod], at: Timestamp) -> Vec<SignedDuration> {
        let mut left = BTreeMap::new();
        let mut took = Vec::new();
        for pod in pods {
            let Some(created) = self.waited.remove(&pod.key) else { continue };
            let has_node = matches!(pod.place, PodPlace::Bound(_)) && pod.promised().is_none();
            match has_node && !pod.state.is_unready {
                true => took.push(at.duration_since(created).max(SignedDuration::ZERO)),
                false => drop(left.insert(pod.key.clone(), created)),
            }
        }
        self.waited = left;
        took
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PodState;

    fn pod(name: &str, node: Option<&str>, is_unready: bool) -> Pod {
        Pod {
            key: PodKey::new("default", name),
            workload: None,
            spec: Arc::default(),
            place: node.map_or(PodPlace::Waiting, |node| PodPlace::Bound(NodeName::new(node))),
            is_daemon: false,
            is_do_not_disrupt: false,
            is_terminating: false,
            state: PodState { is_unready, ..PodState::default() },
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_pod_that_waited_counts_once_when_it_runs_and_others_do_not() {
        let mut startups = Startups::default();
        let waiting = |name: &str| WaitingPod {
            uid: name.into(),
            key: PodKey::new("default", name),
            created: Some(at(100)),
            node: None,
            is_unschedulable: true,
            says: None,
        };
        startups.saw(&[waiting("early"), waiting("late"), waiting("gone")]);
        let others = || pod("never-waited", Some("n"), false);
        let first = [pod("early", Some("n"), false), pod("late", Some("n"), true), others()];
        assert_eq!(startups.note(&first, at(130)), [SignedDuration::from_secs(30)]);
        let second = [pod("early", Some("n"), false), pod("late", Some("n"), false), others()];
        assert_eq!(startups.note(&second, at(145)), [SignedDuration::from_secs(45)]);
        assert_eq!(startups, Startups::default(), "what is gone is forgotten");
        assert_eq!(startups.note(&second, at(150)), []);
    }
}
