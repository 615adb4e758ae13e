//! Taints: every pod tolerates the taints of its node.

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{Effect, PodSpec, Taint, Toleration};

/// Taint key that Kubernetes sets on a cordoned node.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Taints that the DaemonSet controller makes its pods tolerate, whatever their template says.
const TOLERATED_BY_DAEMONS: [(&str, Effect); 7] = [
    ("node.kubernetes.io/not-ready", Effect::NoExecute),
    ("node.kubernetes.io/unreachable", Effect::NoExecute),
    ("node.kubernetes.io/disk-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", Effect::NoSchedule),
    (UNSCHEDULABLE, Effect::NoSchedule),
    ("node.kubernetes.io/network-unavailable", Effect::NoSchedule),
];

/// Returns the pods that do not tolerate a taint of their node.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for site in &case.sites {
        for pod in &site.pods {
            let repelling = site.taints.iter().find(|taint| keeps_off(taint, &pod.spec));
            if let Some(taint) = repelling {
                let message = format!("does not tolerate taint `{taint}` of {}", site.title);
                found.push(Finding::new(Rule::Taints, format!("pod `{}`", pod.key), message));
            }
        }
    }
    found
}

/// Returns the taint of a cordoned node.
pub(super) fn of_a_cordoned_node() -> Taint {
    Taint::new(UNSCHEDULABLE, "", Effect::NoSchedule)
}

/// Returns whether a taint repels a pod with these tolerations.
pub(super) fn repels(taint: &Taint, tolerations: &[Toleration]) -> bool {
    let is_hard = match taint.effect {
        Effect::NoSchedule | Effect::NoExecute => true,
        Effect::PreferNoSchedule => false,
    };
    is_hard && !tolerations.iter().any(|toleration| covers(toleration, taint))
}

/// Returns whether a taint repels a pod of this spec: a `PreferNoSchedule` taint only if the plan meets that
/// preference.
pub(super) fn keeps_off(taint: &Taint, spec: &PodSpec) -> bool {
    let is_tolerated = || spec.tolerations.iter().any(|toleration| covers(toleration, taint));
    repels(taint, &spec.tolerations)
        || (spec.refuses_soft_taints && taint.effect == Effect::PreferNoSchedule && !is_tolerated())
}

/// Returns whether a taint repels a daemonset's pod.
pub(super) fn repels_daemon(taint: &Taint, tolerations: &[Toleration]) -> bool {
    let is_always_tolerated =
        TOLERATED_BY_DAEMONS.iter().any(|(key, effect)| *key == &*taint.key && *effect == taint.effect);
    !is_always_tolerated && repels(taint, tolerations)
}

/// Returns whether a toleration covers a taint: key, value and effect are each equal or unset.
fn covers(toleration: &Toleration, taint: &Taint) -> bool {
    let Toleration { key, value, effect, seconds: _ } = toleration;
    let same_key = key.as_deref().is_none_or(|key| key == &*taint.key);
    let same_value = value.as_deref().is_none_or(|value| value == &*taint.value);
    let same_effect = effect.is_none_or(|effect| effect == taint.effect);
    same_key && same_value && same_effect
}
