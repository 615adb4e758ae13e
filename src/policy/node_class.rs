//! Converts an AKSNodeClass from its wire type, with Karpenter's defaults.

use std::sync::Arc;

use serde_json::json;

use super::defaults::with_defaults;
use crate::api::Kind;
use crate::api::aks_node_class::{self as wire, AksNodeClass, AksNodeClassSpec, NodeImage};
use crate::api::node_class_hash::static_hash;
use crate::model::{ClassName, Digest, GpuMode, ImageFamily, NodeClass};

/// Default OS disk size in GB: the schema's default, for a class without a spec.
const OS_DISK_GB: u32 = 128;

/// An AKSNodeClass as written, with the schema's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeClass {
    /// The desired settings.
    pub spec: AksNodeClassSpec,
    /// The images of its nodes, in order of preference; empty if none has been chosen.
    pub images: Vec<NodeImage>,
}

impl WholeClass {
    /// Converts a class. Images are read regardless of its conditions: a class that is not ready has none.
    #[must_use]
    pub fn of(wire: AksNodeClass) -> Self {
        let images = wire.status.and_then(|status| status.images).unwrap_or_default();
        Self { spec: wire.spec.unwrap_or_default(), images }
    }
}

/// Returns the class.
pub(super) fn node_class(wire: &AksNodeClass) -> NodeClass {
    let name = ClassName::new(wire.metadata.name.as_deref().unwrap_or_default());
    of_spec(name, &wire.spec.clone().unwrap_or_default())
}

/// Returns a class with all defaults, for pools whose class is not in the manifests.
#[must_use]
pub fn default_class(name: ClassName) -> NodeClass {
    let schema = super::schema_of(Kind::AksNodeClass);
    let stored = with_defaults(&schema["properties"]["spec"], &json!({}));
    of_spec(name, &serde_json::from_value(stored).expect("the schema's defaults are valid"))
}

fn of_spec(name: ClassName, spec: &AksNodeClassSpec) -> NodeClass {
    let security = spec.security.as_ref();
    let trusted = security.and_then(|security| security.trusted_launch.as_ref());
    NodeClass {
        name,
        os_disk_gb: spec.os_disk_size_gb.and_then(|size| u32::try_from(size).ok()).unwrap_or(OS_DISK_GB),
        image_family: match spec.image_family {
            Some(wire::ImageFamily::Ubuntu) | None => ImageFamily::Ubuntu,
            Some(wire::ImageFamily::Ubuntu2204) => ImageFamily::Ubuntu2204,
            Some(wire::ImageFamily::Ubuntu2404) => ImageFamily::Ubuntu2404,
            Some(wire::ImageFamily::AzureLinux) => ImageFamily::AzureLinux,
        },
        is_fips: spec.fips_mode == Some(wire::FipsMode::FIPS),
        pods_max: spec.max_pods.and_then(|count| u32::try_from(count).ok()),
        encryption_at_host: security.and_then(|security| security.encryption_at_host) == Some(true),
        trusted_launch: trusted
            .is_some_and(|launch| launch.vtpm == Some(true) || launch.secure_boot == Some(true)),
        local_dns: spec.local_dns.as_ref().is_some_and(|dns| dns.mode == Some(wire::LocalDnsMode::Required)),
        gpu_mode: match spec.gpu.as_ref().and_then(|gpu| gpu.mode) {
            Some(wire::GpuMode::Driver) | None => GpuMode::Driver,
            Some(wire::GpuMode::None) => GpuMode::None,
        },
        artifact_streaming: spec.artifact_streaming.as_ref().and_then(|streaming| streaming.enabled)
            == Some(true),
        is_kata: spec.workload_runtime.is_some_and(wire::WorkloadRuntime::is_kata),
        tags: spec
            .tags
            .iter()
            .flatten()
            .map(|(key, value)| (Arc::from(key.as_str()), Arc::from(value.as_str())))
            .collect(),
        is_assumed: false,
        hash: Arc::from(static_hash(spec)),
        spec_digest: Digest::of_json(spec).expect("a spec has a JSON form: its maps have text keys"),
    }
}
