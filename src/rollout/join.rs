//! A joining Node: the writes to it and its NodeClaim until it is ready for pods, in Karpenter's order.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::action::Effect;
use super::action::patch::{ANNOTATIONS, FINALIZERS, LABELS, Operations, TAINTS};
use super::conditions::{self, INITIALIZED, LAUNCHED, REGISTERED};
use super::ground::{patch_node, patch_status, taint_keys};
use super::journal::LAUNCH;
use crate::model::{ClaimName, NodeName, Taint, label};
use crate::plan::mark;
use crate::world::seen::{SeenClaim, SeenNode};

/// Karpenter's taint with which a kubelet starts.
const UNREGISTERED: &str = "karpenter.sh/unregistered";

/// How long a registered node may stay uninitialized before its claim reports the reason, in the cloud's clock.
pub(super) const PATIENCE: SignedDuration = SignedDuration::from_mins(1);

/// Taints that Kubernetes sets on nodes that have just started.
const EPHEMERAL: [&str; 4] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.kubernetes.io/network-unavailable",
];

/// Marks a claim as launched and records its VM.
pub(super) fn launched(
    (name, claim): (&ClaimName, &SeenClaim),
    vm: &str,
    image: Option<&str>,
    now: Timestamp,
) -> Effect {
    let mut others = claim.clone();
    // An earlier attempt's VM already set this condition.
    others.conditions.retain(|condition| condition["type"] != LAUNCHED);
    let fields = [
        ("providerID", json!(format!("azure://{vm}"))),
        ("imageID", json!(image)),
        ("conditions", json!(conditions::with(&others, LAUNCHED, now))),
    ];
    patch_status((name, claim), "mark as launched", &fields)
}

/// Returns whether a node accepts no pods because it is not registered.
pub(super) fn is_unregistered(node: &SeenNode) -> bool {
    has_taint(node, UNREGISTERED)
}

/// Returns the next write while a node joins; `None` if it has to wait or is done.
pub(super) fn next(
    (claim_name, claim): (&ClaimName, &SeenClaim),
    (name, node): (&NodeName, &SeenNode),
    now: Timestamp,
) -> Option<Effect> {
    let is = |key: &str| node.labels.get(key).is_some_and(|value| &**value == "true");
    if !is(label::REGISTERED) || has_taint(node, UNREGISTERED) {
        return Some(patch_node(name, "register", registration(claim, node)));
    }
    if !claim.is(REGISTERED) {
        let fields = [
            ("nodeName", json!(name.as_str())),
            ("capacity", node.capacity.clone()),
            ("allocatable", node.allocatable.clone()),
            ("conditions", json!(conditions::with(claim, REGISTERED, now))),
        ];
        return Some(patch_status((claim_name, claim), "mark as registered", &fields));
    }
    if !is_initialized(claim, node) {
        return None;
    }
    if !is(label::INITIALIZED) {
        let labelled =
            Operations::of(&node.uid).with_entries(LABELS, &node.labels, [(label::INITIALIZED, "true")]);
        return Some(patch_node(name, "initialize", labelled));
    }
    if !claim.is(INITIALIZED) {
        let conditions = ("conditions", json!(conditions::with(claim, INITIALIZED, now)));
        return Some(patch_status((claim_name, claim), "mark as initialized", &[conditions]));
    }
    None
}

/// Returns the write that reports on a claim why its node is not initialized, once that has lasted: every node is
/// incomplete while it starts.
pub(super) fn explains(
    (name, claim): (&ClaimName, &SeenClaim),
    node: &SeenNode,
    (now, patience): (Timestamp, SignedDuration),
) -> Option<Effect> {
    let since = claim.since(REGISTERED).filter(|since| now.duration_since(*since) >= patience);
    since.filter(|_| claim.is(REGISTERED))?;
    let conditions = conditions::lacks(claim, &lacks(claim, node))?;
    Some(patch_status((name, claim), "say what it lacks of", &[("conditions", json!(conditions))]))
}

/// Returns the patch that registers a Node: labels, annotations and taints of its claim.
fn registration(claim: &SeenClaim, node: &SeenNode) -> Operations {
    let labels = texts(&claim.labels).chain([(label::REGISTERED, "true")]);
    // The launch journal stays on the claim.
    let annotations =
        texts(&claim.annotations).filter(|(key, _)| ![LAUNCH, mark::ITEM, label::MADE_FOR].contains(key));
    let has = |taint: &&Taint| {
        node.taints.iter().any(|known| known.key == taint.key && known.effect == taint.effect)
    };
    let mut taints: Vec<&Taint> = Vec::new();
    for taint in claim.taints.iter().chain(&claim.startup_taints).filter(|taint| !has(taint)) {
        if !taints.iter().any(|known| known.key == taint.key && known.effect == taint.effect) {
            taints.push(taint);
        }
    }
    let has_finalizer = node.finalizers.iter().any(|finalizer| &**finalizer == label::FINALIZER);
    let finalizers = if has_finalizer { Vec::new() } else { vec![json!(label::FINALIZER)] };
    Operations::of(&node.uid)
        .with_entries(LABELS, &node.labels, labels)
        .with_entries(ANNOTATIONS, &node.annotations, annotations)
        .with_items(FINALIZERS, node.finalizers.is_empty(), finalizers)
        .without_taint(&taint_keys(node), UNREGISTERED)
        .with_items(TAINTS, node.taints.is_empty(), taints.iter().map(|taint| json!(taint)).collect())
}

fn texts(map: &BTreeMap<Arc<str>, Arc<str>>) -> impl Iterator<Item = (&str, &str)> {
    map.iter().map(|(key, value)| (&**key, &**value))
}

fn has_taint(node: &SeenNode, key: &str) -> bool {
    node.taints.iter().any(|taint| &*taint.key == key)
}

fn is_initialized(claim: &SeenClaim, node: &SeenNode) -> bool {
    lacking(claim, node).is_none()
}

/// Describes what a node lacks before it is initialized.
pub(super) fn lacks(claim: &SeenClaim, node: &SeenNode) -> String {
    lacking(claim, node).unwrap_or_else(|| "its NodeClaim is not initialized yet".to_owned())
}

fn lacking(claim: &SeenClaim, node: &SeenNode) -> Option<String> {
    if !claim.is(REGISTERED) {
        return Some("it is not registered yet".to_owned());
    }
    if !node.is_ready {
        return Some("it is not Ready".to_owned());
    }
    let keeps = |taint: &&Taint| {
        EPHEMERAL.contains(&&*taint.key)
            || claim
                .startup_taints
                .iter()
                .any(|startup| startup.key == taint.key && startup.effect == taint.effect)
    };
    if let Some(taint) = node.taints.iter().find(keeps) {
        return Some(format!("it still has the taint `{}`", taint.key));
    }
    let is_nothing =
        |amount: &Value| amount.as_str().is_none_or(|text| text == "0") && amount.as_i64().unwrap_or(0) == 0;
    let absent = claim.promised.keys().find(|resource| is_nothing(&node.allocatable[&***resource]));
    absent.map(|resource| format!("it does not offer `{resource}` yet"))
}
