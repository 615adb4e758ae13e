//! The user's configuration, parsed: NodePools, AKSNodeClasses, the NodeFleet, NodeOverlays and CapacityBuffers.
//!
//! Wire types end here: every existing [`Policy`] is valid. Every fault has a field path and a hint, and all faults of
//! an input are reported together. Never reads files and never decides about nodes.

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

/// The user's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// NodePools by name.
    pub pools: BTreeMap<PoolName, Pool>,
    /// AKSNodeClasses by name.
    pub classes: BTreeMap<ClassName, NodeClass>,
    /// The same classes as written, with the VM settings that planning does not read. Assumed classes are missing, as
    /// are all classes of a policy read from a plan file.
    pub whole_classes: BTreeMap<ClassName, WholeClass>,
    /// The NodeFleet, or its defaults.
    pub fleet: Fleet,
    /// NodeOverlays by name.
    pub overlays: BTreeMap<OverlayName, Overlay>,
    /// CapacityBuffers by namespace and name.
    pub buffers: BTreeMap<(Namespace, BufferName), Buffer>,
}

/// Parses a path as written in this module: fields separated by dots, `[0]` for list items.
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
/// Amounts that cannot be parsed, as fields of `at`.
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

/// Returns all faults of an object, sorted by path: those that an API server would reject, and those that would keep
/// Karpenter from using it. Empty for a valid object. If both reject the same field, only Karpenter's fault is
/// returned, because it explains the field's meaning.
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

/// Returns whether a fault is in the status. The status is not user input, and a later version may have written fields
/// that this one does not know. After a rollback to this version, planning must still work.
fn is_of_status(fault: &Fault) -> bool {
    matches!(fault.path.first(), Some(Segment::Key(first)) if first == "status")
}

/// Returns the object as used for planning: without its status if this version cannot read it.
fn with_readable_status(kind: Kind, object: &Value) -> Value {
    let mut object = object.clone();
    let is_readable = !admission_faults(kind, &object).iter().any(is_of_status);
    if let Some(fields) = object.as_object_mut().filter(|_| !is_readable) {
        fields.remove("status");
    }
    object
}

/// Returns the unknown fields of an object that probably belong to a later version: the Azure provider's class grows
/// with AKS. Plans ignore them, so they are reported.
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

/// Returns whether the object is an AKSNodeClass of the older version and the field exists only in that version.
#[must_use]
pub fn is_only_older(class: &Value, path: &[Segment]) -> bool {
    let is_older = class.get("apiVersion").and_then(Value::as_str) == Some(V1ALPHA2);
    let [Segment::Key(spec), Segment::Key(field)] = path else { return false };
    is_older && spec == "spec" && ONLY_IN_V1ALPHA2.contains(&field.as_str())
}

/// Returns whether a field of a kind accepts text but no number.
#[must_use]
pub fn takes_text(kind: Kind, path: &[Segment]) -> bool {
    schema::takes_text(schema_of(kind), path)
}

/// Returns the faults for which an API server with the CustomResourceDefinition would reject an object: schema and
/// rules, after defaults.
#[must_use]
pub fn admission_faults(kind: Kind, object: &Value) -> Vec<Fault> {
    let schema = schema_of(kind);
    let filled = defaults::with_defaults(schema, object);
    let mut faults = schema::faults(schema, &filled);
    faults.extend(rules::faults(kind, &filled));
    faults.sort();
    faults
}

/// Returns the embedded schema of a kind, parsed once because a controller checks its pools every second.
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
