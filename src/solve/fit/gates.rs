//! Pods that wait for somebody else: a gated pod is not there for the scheduler until its gates are gone, and for a withheld
//! one no node is made, since those that were made for its like run none of them.

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
