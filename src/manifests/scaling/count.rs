//! Decides how many pods an autoscaled workload is planned with, and why.

use std::collections::{BTreeMap, BTreeSet};

use crate::manifests::kind::WorkloadKind;
use crate::manifests::said::{Note, Said, listed};
use crate::manifests::workload::{WorkloadObject, path};
use crate::model::Workload;

use super::autoscaler::Autoscaler;
use super::{Hpa, Placed};

/// Source of the number of pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Because {
    /// The autoscaler's status.
    Status,
    /// The workload itself.
    Written,
    /// The minimum, because the current number is unknown.
    Smallest,
    /// The number at which its autoscaler is paused.
    Paused,
    /// Zero, at which it is not autoscaled.
    Off,
    /// A bound, as requested by the user.
    Bound,
    /// A number requested by the user.
    Option,
}

impl Because {
    /// Returns whether surplus running pods count as deleted: only for what-if questions of the user.
    #[must_use]
    pub const fn takes_pods(self) -> bool {
        match self {
            Self::Bound | Self::Option => true,
            Self::Status | Self::Written | Self::Smallest | Self::Paused | Self::Off => false,
        }
    }
}

/// A number of pods, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Number of pods.
    pub pods: i64,
    /// Its source.
    pub because: Because,
    /// The bounds of the autoscaler, if there is one.
    pub bounds: Option<(i64, i64)>,
}

impl Decision {
    /// Creates a decision by the user.
    #[must_use]
    pub const fn option(pods: i64) -> Self {
        Self { pods, because: Because::Option, bounds: None }
    }
}

/// Decides the number of pods of a workload from its autoscalers; of several, the highest number wins.
#[must_use]
pub fn decide(workload: &WorkloadObject, autoscalers: &[Autoscaler], hpa: Hpa) -> Decision {
    let own = workload.count.replicas;
    let most =
        autoscalers.iter().map(|autoscaler| by_one(workload, autoscaler, hpa)).max_by_key(|one| one.pods);
    most.unwrap_or(Decision { pods: own, because: Because::Written, bounds: None })
}

fn by_one(workload: &WorkloadObject, autoscaler: &Autoscaler, hpa: Hpa) -> Decision {
    let Autoscaler { least, smallest, most, now, fixed, is_paused, makes, .. } = autoscaler;
    let count = &workload.count;
    let is_keda = makes.is_some();
    let (replicas, because) = if let Some(fixed) = fixed {
        (*fixed, Because::Paused)
    } else if *is_paused {
        (now.unwrap_or(count.replicas), Because::Paused)
    } else if count.is_written && count.replicas == 0 && *least > 0 && !is_keda {
        // In Kubernetes, zero replicas disable autoscaling.
        (0, Because::Off)
    } else {
        match (hpa, now) {
            (Hpa::Min, _) => (*least, Because::Bound),
            (Hpa::Max, _) => (*most, Because::Bound),
            (Hpa::Current, Some(now)) => (*now, Because::Status),
            (Hpa::Current, None) if count.is_written && count.replicas == 0 => (0, Because::Written),
            (Hpa::Current, None) if count.is_written => {
                (count.replicas.clamp((*smallest).max(1), (*most).max(1)), Because::Written)
            }
            (Hpa::Current, None) => (*smallest, Because::Smallest),
        }
    };
    let bounds = Some((*least, *most));
    if workload.kind == WorkloadKind::ScaledJob {
        // The bounds count jobs; running jobs continue to their end.
        let pods = replicas.saturating_mul(count.pods_of_one).max(count.replicas);
        let because = if because == Because::Bound { Because::Smallest } else { because };
        return Decision { pods, because, bounds };
    }
    Decision { pods: replicas, because, bounds }
}

/// Reports the chosen numbers, except those from an autoscaler's status.
pub fn say(decided: &[(Workload, Decision)], workloads: &[Placed], hpa: Hpa, said: &mut Said) {
    let as_it_runs: BTreeSet<&Workload> =
        workloads.iter().filter_map(|(workload, _)| workload.is_as_it_runs.then_some(&workload.id)).collect();
    let before: BTreeMap<&Workload, i64> =
        workloads.iter().map(|(workload, _)| (&workload.id, workload.count.replicas)).collect();
    let mut groups: BTreeMap<Because, Vec<String>> = BTreeMap::new();
    for (target, Decision { pods, because, bounds }) in decided {
        if as_it_runs.contains(target) {
            continue;
        }
        let name = path(target);
        let text = match (because, bounds) {
            (Because::Option, _) => {
                let instead = before.get(target).copied().unwrap_or(0);
                if instead == *pods {
                    continue;
                }
                format!("`{name}` {pods} instead of {instead}")
            }
            (Because::Status, _) => continue,
            (
                Because::Smallest | Because::Written | Because::Paused | Because::Off | Because::Bound,
                Some((least, most)),
            ) => {
                format!("`{name}` {pods} of {least} to {most}")
            }
            (
                Because::Smallest | Because::Written | Because::Paused | Because::Off | Because::Bound,
                None,
            ) => {
                format!("`{name}` {pods}")
            }
        };
        groups.entry(*because).or_default().push(text);
    }
    for (because, mut names) in groups {
        names.sort();
        said.assumed.push(note(because, hpa, &listed(&names)));
    }
}

fn note(because: Because, hpa: Hpa, names: &str) -> Note {
    let bound = match hpa {
        Hpa::Min => "smallest",
        Hpa::Max => "largest",
        Hpa::Current => "present",
    };
    match because {
        Because::Status | Because::Written => Note::new(
            format!("replicas as written, within the bounds of their autoscaler: {names}"),
            "no autoscaler says how many there are now: `--hpa min` and `--hpa max` plan for its bounds",
        ),
        Because::Smallest => Note::new(
            format!("the replicas of autoscaled workloads: {names}"),
            "nothing says how many there are now: `--hpa max` plans for the largest number",
        ),
        Because::Paused => Note::new(
            format!("replicas while autoscaling is paused: {names}"),
            "`autoscaling.keda.sh` annotations of its autoscaler",
        ),
        Because::Off => Note::new(
            format!("no autoscaling of workloads with `replicas: 0`: {names}"),
            "Kubernetes leaves them at zero until somebody scales them up",
        ),
        Because::Bound => {
            let flag = if hpa == Hpa::Min { "`--hpa min`" } else { "`--hpa max`" };
            Note::new(format!("the {bound} number of replicas of autoscaled workloads: {names}"), flag)
        }
        Because::Option => Note::new(format!("other numbers of pods: {names}"), "`--scale`"),
    }
}
