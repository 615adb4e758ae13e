//! What the user asks for: NodePools, AKSNodeClasses, the NodeFleet, NodeOverlays and CapacityBuffers, parsed.
//!
//! Wire types end here: a [`Policy`] that exists is valid. Every refusal has a field path and a hint, and
//! all faults of an input come at once. This module never reads files and never decides about nodes.

mod buffer;
pub mod defaults;
pub mod effect;
pub mod fault;
mod fleet;
mod holds;
mod node_class;
mod overlay;
mod parse;
mod pattern_words;
mod place;
mod pool;
pub mod rules;
pub mod runtime;
pub mod schema;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

pub use crate::api::node_class_hash::HASH_VERSION as CLASS_HASH_VERSION;
pub use fault::{Fault, Segment};
pub use node_class::{WholeClass, default_class};
pub use parse::{WireObject, parse};

pub(crate) use crate::api::nearest;

use crate::api::Kind;
use crate::api::aks_node_class::{ONLY_IN_V1ALPHA2, V1ALPHA2};
use crate::api::text::ResourceMap;
use crate::model::{
    Buffer, BufferName, ClassName, Fleet, Namespace, NodeClass, Overlay, OverlayName, Pool, PoolName,
    Quantity, ResourceName, Resources,
};

/// Everything that the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// NodePools by name.
    pub pools: BTreeMap<PoolName, Pool>,
    /// AKSNodeClasses by name.
    pub classes: BTreeMap<ClassName, NodeClass>,
    /// The same as they were written: what their VMs are made of beside what planning reads. One that is
    /// assumed has none, and none has where a plan's file was read.
    pub whole_classes: BTreeMap<ClassName, WholeClass>,
    /// The NodeFleet, or its defaults.
    pub fleet: Fleet,
    /// NodeOverlays by name.
    pub overlays: BTreeMap<OverlayName, Overlay>,
    /// CapacityBuffers by namespace and name.
    pub buffers: BTreeMap<(Namespace, BufferName), Buffer>,
}

/// Reads a path as it is written in this module: fields with dots between, `[0]` for places of a list.
fn path(text: &str) -> Vec<Segment> {
    let mut path = Vec::new();
    for part in text.split('.') {
        let (field, index) = part.split_once('[').unwrap_or((part, ""));
        path.push(Segment::Key(field.to_owned()));
        path.extend(index.strip_suffix(']').and_then(|index| index.parse().ok()).map(Segment::Index));
    }
    path
}

/// Reads amounts of resources, rounded down.
///
/// # Errors
/// Amounts that cannot be counted, as fields of `at`.
fn amounts(map: Option<&ResourceMap>, at: &str) -> Result<Resources, Vec<Fault>> {
    let mut amounts = Resources::none();
    let mut faults = Vec::new();
    for (name, amount) in map.into_iter().flatten() {
        let text = amount.to_string();
        if let Some(quantity) = Quantity::parse(&text).filter(|quantity| !quantity.is_negative()) {
            let resource = ResourceName::parse(name);
            let amount = resource.capacity(&quantity);
            amounts.set(resource, amount);
            continue;
        }
        let mut path = path(at);
        path.push(Segment::Key(name.clone()));
        let message = format!("`{text}` is no amount from 0 upward that Kubernetes can count");
        let hint = Some("write an amount such as `100` or `1Ti`".to_owned());
        faults.push(Fault { path, message, hint });
    }
    if faults.is_empty() { Ok(amounts) } else { Err(faults) }
}

/// Everything that is wrong with an object of a kind: what an API server would refuse it for, and what Karpenter would
/// not use it for. In the order of paths; empty for a valid object. Where both refuse the same field, Karpenter's word
/// alone is said: it knows what the field means.
#[must_use]
pub fn faults(kind: Kind, object: &Value) -> Vec<Fault> {
    let narrow = runtime::faults(kind, object);
    let mut faults = admission_faults(kind, object);
    faults.retain(|fault| narrow.iter().all(|other| other.path != fault.path));
    faults.extend(narrow);
    let later = later_fields(kind, object);
    faults.retain(|fault| !later.contains(fault) && !is_of_status(fault));
    faults.sort();
    faults.dedup();
    faults
}

/// Whether a fault is of what was observed. Nobody asks for anything there, and a later version that wrote it knows more
/// fields than this one: whoever rolls back to this one has to be able to plan.
fn is_of_status(fault: &Fault) -> bool {
    matches!(fault.path.first(), Some(Segment::Key(first)) if first == "status")
}

/// Returns the object as plans are made of it: without a status that this version cannot read.
fn with_readable_status(kind: Kind, object: &Value) -> Value {
    let mut object = object.clone();
    let is_readable = !admission_faults(kind, &object).iter().any(is_of_status);
    if let Some(fields) = object.as_object_mut().filter(|_| !is_readable) {
        fields.remove("status");
    }
    object
}

/// The fields of an object that this version does not know and that are likely of a later one: the Azure provider's
/// class grows with AKS. Plans are made without them, so that they are said.
#[must_use]
pub fn later_fields(kind: Kind, object: &Value) -> Vec<Fault> {
    match kind {
        Kind::AksNodeClass => {
            let schema = schema_of(kind);
            schema::strange_fields(schema, &defaults::with_defaults(schema, object))
        }
        Kind::NodePool
        | Kind::NodeClaim
        | Kind::NodeOverlay
        | Kind::NodeFleet
        | Kind::NodePlan
        | Kind::NodePlanApproval
        | Kind::NodePlanChunk
        | Kind::CapacityBuffer => Vec::new(),
    }
}

/// Returns whether a field of an AKSNodeClass is one that only the class's older version has, and the object is of that.
#[must_use]
pub fn is_only_older(class: &Value, path: &[Segment]) -> bool {
    let is_older = class.get("apiVersion").and_then(Value::as_str) == Some(V1ALPHA2);
    let [Segment::Key(spec), Segment::Key(field)] = path else { return false };
    is_older && spec == "spec" && ONLY_IN_V1ALPHA2.contains(&field.as_str())
}

/// Returns whether a field of a kind takes text, and no number in its place.
#[must_use]
pub fn takes_text(kind: Kind, path: &[Segment]) -> bool {
    schema::takes_text(schema_of(kind), path)
}

/// What an API server with the CustomResourceDefinition would refuse an object for: schema and rules, after defaults.
#[must_use]
pub fn admission_faults(kind: Kind, object: &Value) -> Vec<Fault> {
    let schema = schema_of(kind);
    let filled = defaults::with_defaults(schema, object);
    let mut faults = schema::faults(schema, &filled);
    faults.extend(rules::faults(kind, &filled));
    faults.sort();
    faults
}

/// The embedded schema of a kind, read once: a controller judges its pools every second.
#[must_use]
pub fn schema_of(kind: Kind) -> &'static Value {
    static SCHEMAS: LazyLock<BTreeMap<Kind, Value>> = LazyLock::new(|| {
        let read = |kind: Kind| {
            let schema = serde_json::from_str(kind.facts().schema);
            (kind, schema.expect("the embedded schema is JSON: a test generates it"))
        };
        Kind::ALL.into_iter().map(read).collect()
    });
    &SCHEMAS[&kind]
}

#[cfg(test)]
mod tests;
