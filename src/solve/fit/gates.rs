//! Scheduling gates: a gated pod is not there for the scheduler until its gates are gone.

use crate::model::PodSpec;

use super::not_yet::Wait;

/// Returns what a gated pod waits for.
#[must_use]
pub fn why(spec: &PodSpec) -> Option<Wait> {
    if spec.gates.is_empty() {
        return None;
    }
    let gates: Vec<String> = spec.gates.iter().map(|gate| format!("`{gate}`")).collect();
    Some(Wait {
        rule: None,
        waits_for: "scheduling gates".to_owned(),
        because: format!("Kubernetes does not schedule the pods before {} is removed", gates.join(", ")),
    })
}
