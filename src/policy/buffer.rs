//! Converts a CapacityBuffer from its wire type.
//!
//! The schema and the rules have been checked already. Never looks up the objects that a buffer references.

use std::sync::Arc;

use super::fault::Fault;
use super::path;
use crate::api::capacity_buffer::{CapacityBuffer, ScalableRef};
use crate::model::buffer::ACTIVE_CAPACITY;
use crate::model::{Buffer, BufferName, BufferPods, Namespace, Workload};

/// Returns the buffer, or all its faults.
///
/// # Errors
/// A buffer that references no pods, and limits that cannot be parsed.
pub(super) fn buffer(wire: &CapacityBuffer) -> Result<Buffer, Vec<Fault>> {
    let spec = &wire.spec;
    let namespace = Namespace::new(wire.metadata.namespace.as_deref().unwrap_or("default"));
    let pods = match (&spec.pod_template_ref, &spec.scalable_ref) {
        (Some(template), _) => BufferPods::Template(Arc::from(template.name.as_str())),
        (None, Some(ScalableRef { api_group, kind, name })) => BufferPods::Workload {
            group: Arc::from(api_group.as_deref().unwrap_or_default()),
            workload: Workload {
                kind: Arc::from(kind.as_str()),
                namespace: namespace.clone(),
                name: Arc::from(name.as_str()),
            },
        },
        (None, None) => return Err(vec![names_no_pods()]),
    };
    let count = |count: Option<i32>| count.and_then(|count| u32::try_from(count).ok());
    let limits =
        spec.limits.as_ref().map(|limits| super::amounts(Some(limits), "spec.limits")).transpose()?;
    Ok(Buffer {
        namespace,
        name: BufferName::new(wire.metadata.name.as_deref().unwrap_or_default()),
        strategy: Arc::from(spec.provisioning_strategy.as_deref().unwrap_or(ACTIVE_CAPACITY)),
        pods,
        replicas: count(spec.replicas),
        percent: count(spec.percentage),
        limits,
    })
}

/// Returns the fault of a buffer that references no pods.
pub(super) fn names_no_pods() -> Fault {
    Fault {
        path: path("spec"),
        message: "names no pods to keep headroom for".to_owned(),
        hint: Some("add `podTemplateRef: {name: …}` or `scalableRef: {kind: …, name: …}`".to_owned()),
    }
}
