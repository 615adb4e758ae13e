//! Filters instance types for display.
//!
//! Uses only labels and capacity, so it works with any catalogue, including plain lists.

use crate::model::{CapacityType, InstanceType, MicroUsdPerHour, Requirement, ResourceName, label};

/// Conditions on instance types; absent ones are not checked. An empty filter accepts everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogFilter {
    /// A family letter (`D`) or a series (`Dds_v5`, `Ddsv5`), case-insensitive.
    pub family: Option<String>,
    /// The architecture: `amd64`, `arm64`.
    pub arch: Option<String>,
    /// Minimum CPU, in millicores.
    pub cpu_milli_min: Option<i64>,
    /// Maximum CPU, in millicores.
    pub cpu_milli_max: Option<i64>,
    /// Minimum memory of the size, in bytes.
    pub memory_bytes_min: Option<i64>,
    /// Maximum memory of the size, in bytes.
    pub memory_bytes_max: Option<i64>,
    /// Condition on GPUs.
    pub gpu: Option<GpuFilter>,
    /// A zone by its label (`westeurope-1`) or its number (`1`).
    pub zone: Option<String>,
    /// Maximum on-demand price. Excludes sizes with an unknown price.
    pub price_max: Option<MicroUsdPerHour>,
    /// Part of the name, case-insensitive.
    pub name_part: Option<String>,
}

/// A part of a [`CatalogFilter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// [`CatalogFilter::name_part`].
    Name,
    /// [`CatalogFilter::family`].
    Family,
    /// [`CatalogFilter::arch`].
    Arch,
    /// [`CatalogFilter::cpu_milli_min`].
    CpuMin,
    /// [`CatalogFilter::cpu_milli_max`].
    CpuMax,
    /// [`CatalogFilter::memory_bytes_min`].
    MemoryMin,
    /// [`CatalogFilter::memory_bytes_max`].
    MemoryMax,
    /// [`CatalogFilter::gpu`].
    Gpu,
    /// [`CatalogFilter::zone`].
    Zone,
    /// [`CatalogFilter::price_max`].
    PriceMax,
}

/// Condition on GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuFilter {
    /// At least one.
    Some,
    /// None.
    None,
    /// GPUs with this name (`A100`) or manufacturer (`nvidia`), case-insensitive.
    Named(String),
}

impl CatalogFilter {
    /// Returns whether the type meets all conditions.
    #[must_use]
    pub fn accepts(&self, offered: &InstanceType) -> bool {
        let Self {
            family,
            arch,
            cpu_milli_min,
            cpu_milli_max,
            memory_bytes_min,
            memory_bytes_max,
            gpu,
            zone,
            price_max,
            name_part,
        } = self;
        let cpu = offered.capacity.get(&ResourceName::Cpu);
        let memory = memory_bytes(offered);
        let is =
            |key: &str, value: &str| label_of(offered, key).is_some_and(|is| is.eq_ignore_ascii_case(value));
        family.as_deref().is_none_or(|family| is_of_family(offered, family))
            && arch.as_deref().is_none_or(|arch| is(label::ARCH, arch))
            && cpu_milli_min.is_none_or(|least| cpu >= least)
            && cpu_milli_max.is_none_or(|most| cpu <= most)
            && memory_bytes_min.is_none_or(|least| memory >= least)
            && memory_bytes_max.is_none_or(|most| memory <= most)
            && gpu.as_ref().is_none_or(|gpu| gpu.accepts(offered))
            && zone.as_deref().is_none_or(|zone| is_in_zone(offered, zone))
            && price_max.is_none_or(|most| cheapest_on_demand(offered).is_some_and(|price| price <= most))
            && name_part.as_deref().is_none_or(|part| contains(offered.name.as_str(), part))
    }

    /// Returns each condition as a separate filter.
    #[must_use]
    pub fn parts(&self) -> Vec<(Asked, Self)> {
        let Self {
            family,
            arch,
            cpu_milli_min,
            cpu_milli_max,
            memory_bytes_min,
            memory_bytes_max,
            gpu,
            zone,
            price_max,
            name_part,
        } = self.clone();
        let mut parts = vec![
            (Asked::Name, Self { name_part, ..Self::default() }),
            (Asked::Family, Self { family, ..Self::default() }),
            (Asked::Arch, Self { arch, ..Self::default() }),
            (Asked::CpuMin, Self { cpu_milli_min, ..Self::default() }),
            (Asked::CpuMax, Self { cpu_milli_max, ..Self::default() }),
            (Asked::MemoryMin, Self { memory_bytes_min, ..Self::default() }),
            (Asked::MemoryMax, Self { memory_bytes_max, ..Self::default() }),
            (Asked::Gpu, Self { gpu, ..Self::default() }),
            (Asked::Zone, Self { zone, ..Self::default() }),
            (Asked::PriceMax, Self { price_max, ..Self::default() }),
        ];
        parts.retain(|(_, part)| *part != Self::default());
        parts
    }
}

impl GpuFilter {
    fn accepts(&self, offered: &InstanceType) -> bool {
        let is_named =
            |name: &str, key| label_of(offered, key).is_some_and(|is| is.eq_ignore_ascii_case(name));
        match self {
            Self::Some => gpus(offered) > 0,
            Self::None => gpus(offered) == 0,
            Self::Named(name) => {
                is_named(name, label::SKU_GPU_NAME) || is_named(name, label::SKU_GPU_MANUFACTURER)
            }
        }
    }
}

/// Returns the only value of a label, if there is exactly one.
#[must_use]
pub fn label_of<'a>(offered: &'a InstanceType, key: &str) -> Option<&'a str> {
    offered.requirements.get(key).and_then(Requirement::single).map(|value| &**value)
}

/// Returns the number of GPUs of a node, from any manufacturer.
#[must_use]
pub fn gpus(offered: &InstanceType) -> i64 {
    let is_gpu = |name: &ResourceName| name.as_str().ends_with(".com/gpu");
    offered.capacity.iter().filter(|(name, _)| is_gpu(name)).map(|(_, count)| count).sum()
}

/// Returns the size's memory from its label, or else the node's capacity, in bytes.
#[must_use]
pub fn memory_bytes(offered: &InstanceType) -> i64 {
    let mib = label_of(offered, label::SKU_MEMORY).and_then(|text| text.parse::<i64>().ok());
    mib.and_then(|mib| mib.checked_mul(1 << 20))
        .unwrap_or_else(|| offered.capacity.get(&ResourceName::Memory))
}

/// Returns the lowest known on-demand price.
pub(super) fn cheapest_on_demand(offered: &InstanceType) -> Option<MicroUsdPerHour> {
    let on_demand = |capacity_type| capacity_type == CapacityType::OnDemand;
    let offerings = offered.offerings.iter().filter(|offering| on_demand(offering.capacity_type));
    offerings.filter_map(|offering| offering.price.known()).min()
}

fn is_of_family(offered: &InstanceType, family: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
    let wanted = plain(family);
    [label::SKU_FAMILY, label::SKU_SERIES]
        .into_iter()
        .any(|key| label_of(offered, key).is_some_and(|is| plain(is) == wanted))
}

fn is_in_zone(offered: &InstanceType, zone: &str) -> bool {
    let matches = |is: &str| is == zone || is.rsplit_once('-').is_some_and(|(_, number)| number == zone);
    offered.offerings.iter().any(|offering| offering.is_available && matches(offering.zone.as_str()))
}

fn contains(name: &str, part: &str) -> bool {
    name.to_ascii_lowercase().contains(&part.to_ascii_lowercase())
}
