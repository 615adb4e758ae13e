//! Conditions of a NodeClaim, as Karpenter's users and tools read them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::world::seen::SeenClaim;

/// The VM was created.
pub(super) const LAUNCHED: &str = "Launched";
/// The Node has joined and has the labels and taints of its claim.
pub(super) const REGISTERED: &str = "Registered";
/// The Node is ready for pods.
pub(super) const INITIALIZED: &str = "Initialized";
/// All three are true.
pub(super) const READY: &str = "Ready";
const ALL: [&str; 3] = [LAUNCHED, REGISTERED, INITIALIZED];

/// Returns the conditions of a claim with one more of them true, and `Ready` once all are. Other writers' conditions
/// are kept.
pub(super) fn with(claim: &SeenClaim, kind: &str, now: Timestamp) -> Vec<Value> {
    let mut conditions: Vec<Value> = claim.conditions.clone();
    set(&mut conditions, (kind, kind, "True"), now);
    let is_true = |wanted: &&str| *wanted == kind || claim.is(wanted);
    let missing: Vec<&str> = ALL.into_iter().filter(|wanted| !is_true(wanted)).collect();
    for wanted in &missing {
        if claim.condition(wanted).is_none() {
            set(&mut conditions, (wanted, "AwaitingReconciliation", "Unknown"), now);
        }
    }
    let ready = if missing.is_empty() { ("Ready", "True") } else { ("UnhealthyDependents", "Unknown") };
    set(&mut conditions, (READY, ready.0, ready.1), now);
    conditions
}

/// Returns the conditions of a claim whose node is initialized, with `Ready` copied from the Node; `None` if they are
/// unchanged.
pub(super) fn ready(claim: &SeenClaim, is_node_ready: bool, now: Timestamp) -> Option<Vec<Value>> {
    if claim.is(READY) == is_node_ready {
        return None;
    }
    let mut conditions = claim.conditions.clone();
    let ready = if is_node_ready { ("Ready", "True") } else { ("NodeNotReady", "False") };
    set(&mut conditions, (READY, ready.0, ready.1), now);
    (conditions != claim.conditions).then_some(conditions)
}

/// Returns the conditions of a claim whose node has joined but is not initialized, with the reason as the message of
/// `Initialized`; `None` if they are unchanged.
pub(super) fn lacks(claim: &SeenClaim, what: &str) -> Option<Vec<Value>> {
    let mut conditions = claim.conditions.clone();
    let found = conditions.iter_mut().find(|condition| condition["type"] == INITIALIZED)?;
    if found["status"] == "True" || found["message"] == what {
        return None;
    }
    found["message"] = json!(what);
    Some(conditions)
}

fn set(conditions: &mut Vec<Value>, (kind, reason, status): (&str, &str, &str), now: Timestamp) {
    let known = conditions.iter().position(|condition| condition["type"] == kind);
    if known.is_some_and(|at| conditions[at]["status"] == status) {
        return;
    }
    let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let condition = json!({
        "type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": time,
    });
    match known {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
}
