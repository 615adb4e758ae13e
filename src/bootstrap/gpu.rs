//! GPU drivers.
//!
//! Must never install a driver that the class does not request.

use serde_json::{Value, json};

use super::node::{Gpu, Node};
use crate::api::aks_node_class::{AksNodeClassSpec, GpuMode};

/// Returns `gpuConfig`; null for sizes without a GPU.
pub(super) fn config(node: &Node, class: &AksNodeClassSpec) -> Value {
    let mode = class.gpu.as_ref().and_then(|gpu| gpu.mode).unwrap_or(GpuMode::Driver);
    let installs = mode == GpuMode::Driver;
    match node.gpu {
        Gpu::None => Value::Null,
        Gpu::Nvidia => json!({"enableNvidia": true, "configGpuDriver": installs, "gpuDevicePlugin": false}),
        // AKS has no driver for AMD GPUs: the user must provide one.
        Gpu::Amd => json!({"enableNvidia": false, "configGpuDriver": false, "gpuDevicePlugin": false}),
    }
}
