//! Resolves the workload of a pod, from the pod up through ReplicaSets and Jobs.
//!
//! Only owner references decide. If the intermediate object is not in the input, its name reveals the owner, as far as
//! its controller derives it from the owner's name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::Workload;

use super::found::Place;
use super::kind::WorkloadKind;
use super::live::LivePod;
use super::meta::Meta;
use super::pod::PodBody;
use super::workload::WorkloadObject;

/// The label that distinguishes a Deployment's ReplicaSets.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// The same label of an Argo Rollout.
const ROLLOUT_HASH: &str = "rollouts-pod-template-hash";

/// The label that KEDA adds to the pods of a ScaledJob.
const SCALED_JOB: &str = "scaledjob.keda.sh/name";

/// Maximum length of an owner chain: pod, ReplicaSet, Deployment, and its own owner.
const DEPTH_MAX: usize = 4;

/// The creator of a pod's owner, inferred from names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maker {
    workload: Workload,
    /// Whether it is certain; otherwise it only applies if the input holds the workload.
    is_certain: bool,
}

impl Maker {
    /// Infers the creator of the owner of a pod with these labels. A ReplicaSet whose name ends in its pods' template
    /// hash belongs to the Deployment or Rollout named before the hash; a Job whose name ends in the minute of its run,
    /// to the CronJob named before that.
    #[must_use]
    pub fn of(owner: &Workload, meta: &Meta) -> Option<Self> {
        let made = |kind: &str, name: &str, is_certain| {
            let workload = Workload { kind: Arc::from(kind), name: Arc::from(name), ..owner.clone() };
            Some(Self { workload, is_certain })
        };
        let before = |label: &str| owner.name.strip_suffix(&**meta.label(label)?)?.strip_suffix('-');
        match &*owner.kind {
            "ReplicaSet" => match (before(ROLLOUT_HASH), before(TEMPLATE_HASH)) {
                (Some(name), _) => made("Rollout", name, true),
                (None, Some(name)) => made("Deployment", name, true),
                (None, None) => None,
            },
            "Job" => {
                if let Some(name) = meta.label(SCALED_JOB) {
                    return made("ScaledJob", name, false);
                }
                let (name, minute) = owner.name.rsplit_once('-')?;
                let is_minute =
                    minute.len() >= MINUTE_LENGTH_MIN && minute.bytes().all(|byte| byte.is_ascii_digit());
                if is_minute { made("CronJob", name, false) } else { None }
            }
            _ => None,
        }
    }
}

/// Minutes since 1970 have had eight digits since 1989.
const MINUTE_LENGTH_MIN: usize = 8;

/// Owners of the input's workloads, by owned workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners(BTreeMap<Workload, Workload>);

impl Owners {
    /// Adds the owner of a workload.
    pub fn add(&mut self, owned: Workload, owner: Workload) {
        self.0.insert(owned, owner);
    }

    /// Returns the owners of the workloads and pods in the input, whether or not the input holds them.
    #[must_use]
    pub fn makers(&self, pods: &[(LivePod, Arc<PodBody>)]) -> BTreeSet<Workload> {
        let of_pods = pods.iter().filter_map(|(pod, _)| pod.workload.clone());
        self.0.values().cloned().chain(of_pods).collect()
    }

    /// Assigns each pod to its top-level workload, and removes workloads that another one created. If an unknown kind
    /// created a known workload, the latter counts, because its pod count is understood.
    pub fn settle(&self, workloads: &mut Vec<(WorkloadObject, Place)>, pods: &mut [(LivePod, Arc<PodBody>)]) {
        let made: BTreeSet<&Workload> = self.0.values().collect();
        workloads
            .retain(|(workload, _)| workload.kind != WorkloadKind::Other || !made.contains(&workload.id));
        let present: BTreeSet<Workload> = workloads.iter().map(|(workload, _)| workload.id.clone()).collect();
        for (pod, _) in pods {
            let Some(owner) = &pod.workload else { continue };
            let is_known = present.contains(owner) || self.0.contains_key(owner);
            pod.workload = Some(match (is_known, &pod.maker) {
                (false, Some(maker)) if maker.is_certain || present.contains(&maker.workload) => {
                    maker.workload.clone()
                }
                (true | false, _) => self.top(owner, &present),
            });
        }
        let mut running: BTreeMap<Workload, i64> = BTreeMap::new();
        workloads.retain(|(workload, _)| {
            let top = self.top(&workload.id, &present);
            let is_own = top == workload.id;
            if !is_own {
                *running.entry(top).or_default() += workload.count.replicas;
            }
            is_own
        });
        for (workload, _) in workloads {
            if matches!(workload.kind, WorkloadKind::CronJob | WorkloadKind::ScaledJob) {
                let jobs = running.get(&workload.id).copied().unwrap_or(0);
                workload.count.replicas = workload.count.replicas.max(jobs);
            }
        }
    }

    /// Returns the top-level workload of this one.
    fn top(&self, of: &Workload, present: &BTreeSet<Workload>) -> Workload {
        let mut top = of;
        for _ in 0..DEPTH_MAX {
            match self.0.get(top) {
                Some(owner) if present.contains(owner) || owns_replica_sets(&owner.kind) => top = owner,
                Some(_) | None => break,
            }
        }
        top.clone()
    }
}

/// Returns whether objects of this kind represent their ReplicaSets even if the input does not hold them: most of their
/// ReplicaSets are old revisions.
#[must_use]
pub fn owns_replica_sets(kind: &str) -> bool {
    matches!(kind, "Deployment" | "Rollout")
}
