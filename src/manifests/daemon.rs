//! What the DaemonSet controller does to a pod between the template and the node.
//!
//! It never decides where a daemonset's pods go; that is worked out where nodes are.

use std::sync::Arc;

use crate::model::{Effect, PodSpec, Requirements, SchedulingRule, Toleration};

/// The taints that the controller lets its pods tolerate, whatever their template says (Kubernetes'
/// documentation of DaemonSets; the one for host networks alone is left to the template).
const TOLERATED: [(&str, Effect); 6] = [
    ("node.kubernetes.io/not-ready", Effect::NoExecute),
    ("node.kubernetes.io/unreachable", Effect::NoExecute),
    ("node.kubernetes.io/disk-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/unschedulable", Effect::NoSchedule),
];

/// Returns what the controller makes of a template: with the tolerations that it adds.
pub(super) fn of_template(template: &PodSpec) -> PodSpec {
    let mut spec = template.clone();
    for (key, effect) in TOLERATED {
        let toleration = Toleration { key: Some(Arc::from(key)), value: None, effect: Some(effect) };
        if !spec.tolerations.contains(&toleration) {
            spec.tolerations.push(toleration);
        }
    }
    spec.tolerations.sort();
    spec
}

/// Takes away what the controller adds to a pod and not to the daemonset: the match field that ties each
/// pod to its node.
pub(super) fn unpin(spec: &mut PodSpec) {
    if spec.other_rules.remove(&SchedulingRule::MatchFields).is_none() {
        return;
    }
    let terms = spec.node_affinity.required.as_ref();
    // A term that asks for nothing more holds everywhere, and so does the whole.
    if terms.is_some_and(|terms| terms.iter().any(Requirements::is_empty)) {
        spec.node_affinity.required = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{PodSpec, of_template};
    use crate::model::{Effect, Taint, taint::first_untolerated};

    #[test]
    fn a_daemon_stays_on_a_node_under_pressure_and_not_on_a_tainted_one() {
        let spec = of_template(&PodSpec::default());
        let pressed = [Taint::new("node.kubernetes.io/disk-pressure", "", Effect::NoSchedule)];
        assert_eq!(first_untolerated(&pressed, &spec.tolerations), None);
        let tainted = [Taint::new("team", "blue", Effect::NoSchedule)];
        assert!(first_untolerated(&tainted, &spec.tolerations).is_some());
    }

    #[test]
    fn adding_tolerations_again_changes_nothing() {
        let once = of_template(&PodSpec::default());
        assert_eq!(of_template(&once), once);
    }
}
