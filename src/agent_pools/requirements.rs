//! Turns the VM size of an agent pool into flexible requirements: the same family, the same or a newer generation, and
//! one to four times the vCPUs. Pods that fitted before still fit, and price decides.
//!
//! GPU sizes are kept exactly, because pods rely on the GPU model.

use super::profile::AgentPool;
use crate::catalog::size_name::SizeName;
use crate::model::{Region, SkuName, label};

/// Maximum vCPUs of a node, as a multiple of the agent pool's size. Fewer, larger nodes pack better, and losing one is
/// still less than a quarter of a usual pool.
const CPU_FACTOR: u32 = 4;

/// A requirement and the reason for it.
pub(super) struct Asked {
    pub(super) key: &'static str,
    pub(super) operator: &'static str,
    pub(super) values: Vec<String>,
    pub(super) why: String,
}

impl Asked {
    fn new(key: &'static str, operator: &'static str, values: &[&str], why: impl Into<String>) -> Self {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Self { key, operator, values, why: why.into() }
    }
}

/// Returns the requirements for nodes that replace those of an agent pool.
pub(super) fn of(pool: &AgentPool, region: &Region) -> Vec<Asked> {
    let parts = SizeName::parse(&SkuName::new(&pool.size));
    let is_arm = parts.as_ref().is_some_and(|parts| parts.has('p'));
    let arch = if is_arm { "arm64" } else { "amd64" };
    let mut asked = vec![
        Asked::new(
            label::ARCH,
            "In",
            &[arch],
            "as before; images for one architecture do not run on the other",
        ),
        Asked::new(label::OS, "In", &["linux"], ""),
    ];
    let bought =
        if pool.is_spot { ("spot", "") } else { ("on-demand", "add spot for what may be taken away") };
    asked.push(Asked::new(label::CAPACITY_TYPE, "In", &[bought.0], bought.1));
    match parts {
        Some(parts) if &*parts.family != "N" && parts.accelerator.is_none() => {
            asked.extend(range(&pool.size, &parts));
        }
        Some(_) => {
            let why = "a GPU's model is what its pods rely on: the exact size";
            asked.push(Asked::new(label::INSTANCE_TYPE, "In", &[&pool.size], why));
        }
        None => {
            let why = "a size whose name is not understood: the exact one";
            asked.push(Asked::new(label::INSTANCE_TYPE, "In", &[&pool.size], why));
        }
    }
    if !pool.zones.is_empty() {
        let zones: Vec<String> = pool.zones.iter().map(|zone| format!("{region}-{zone}")).collect();
        let zones: Vec<&str> = zones.iter().map(String::as_str).collect();
        asked.push(Asked::new(label::ZONE, "In", &zones, "the agent pool's zones"));
    }
    if let Some(size) = pool.ephemeral_disk_gb {
        let least = size.saturating_sub(1).to_string();
        let why = "`osDiskType` Ephemeral: sizes whose own disk has room for the OS disk";
        asked.push(Asked::new("karpenter.azure.com/sku-storage-ephemeralos-maxsize", "Gt", &[&least], why));
    }
    if pool.is_ultra_ssd {
        asked.push(Asked::new(
            "karpenter.azure.com/sku-storage-ultra-ssd",
            "In",
            &["true"],
            "`enableUltraSSD`",
        ));
    }
    asked
}

fn range(size: &str, parts: &SizeName) -> Vec<Asked> {
    let (least, most) =
        (parts.cpus.saturating_sub(1), parts.cpus.saturating_mul(CPU_FACTOR).saturating_add(1));
    let older = parts.version_or_one().saturating_sub(1);
    let cpus = parts.cpus;
    let mut asked = vec![
        Asked::new(
            label::SKU_FAMILY,
            "In",
            &[&parts.family],
            format!("the family of {size}; add others, such as E for memory or F for CPU, to save more"),
        ),
        Asked::new(
            label::SKU_CPU,
            "Gt",
            &[&least.to_string()],
            format!("from {cpus} vCPUs, as {size} has: the largest pod still fits"),
        ),
        Asked::new(
            label::SKU_CPU,
            "Lt",
            &[&most.to_string()],
            format!(
                "to {} vCPUs: larger nodes pack better, and take more along when they fail",
                cpus * CPU_FACTOR
            ),
        ),
    ];
    if older > 0 {
        let why = format!("v{} or newer", parts.version_or_one());
        asked.push(Asked::new(label::SKU_VERSION, "Gt", &[&older.to_string()], why));
    }
    asked
}
