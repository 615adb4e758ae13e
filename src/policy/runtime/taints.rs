//! Taints that Karpenter rejects at run time. Must check both lists of taints together: a starting node has both.

use std::collections::BTreeSet;

use super::labels::{is_label_value, is_qualified_name};
use crate::policy::fault::{Fault, shortened};
use crate::policy::place::Place;

/// Returns the faults of the taints of a template or a claim.
pub(super) fn faults(spec: &Place<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for taint in spec.items("taints").into_iter().chain(spec.items("startupTaints")) {
        let Some(key) = taint.text("key") else { continue };
        if !is_qualified_name(key) && !key.is_empty() {
            faults.push(
                taint.fault_at("key", format!("{} is longer than a taint's key may be", shortened(key))),
            );
        }
        if let Some(value) = taint.text("value").filter(|value| !is_label_value(value)) {
            let fault = taint.fault_at("value", format!("{} is not a taint's value", shortened(value)));
            faults.push(fault.hint("a value is at most 63 letters, digits, `-`, `_` and `.`"));
        }
        if let Some(effect) = taint.text("effect").filter(|effect| !seen.insert((key, *effect))) {
            let fault = taint.fault(format!("repeats the taint `{key}` with effect `{effect}`"));
            faults.push(
                fault.hint("a node has each key and effect once, in `taints` and `startupTaints` together"),
            );
        }
    }
    faults
}
