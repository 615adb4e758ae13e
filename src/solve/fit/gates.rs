//! Gated and withheld pods: the scheduler ignores a gated pod until its gates are removed, and no node is created for a
//! withheld one, because the nodes created for such pods run none of them.

use crate::model::PodSpec;

use super::not_yet::Wait;
use crate::solve::solution::Held;

/// Returns what such a pod waits for.
#[must_use]
pub fn why(spec: &PodSpec) -> Option<Wait> {
    if spec.gates.is_empty() {
        let because = spec.withheld.as_ref()?.to_string();
        return Some(Wait { rule: None, waits_for: Held::TRIED.to_owned(), because });
    }
    let gates: Vec<String> = spec.gates.iter().map(|gate| format!("`{gate}`")).collect();
    Some(Wait {
        rule: None,
        waits_for: "scheduling gates".to_owned(),
        because: format!("Kubernetes does not schedule the pods before {} is removed", gates.join(", ")),
    })
}
