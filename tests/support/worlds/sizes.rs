//! A small catalogue: sizes of one region that differ in what tests ask for.

use nodeform::catalog::Catalog;
use nodeform::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Operator, OsDisk, Price, Region,
    Requirement, Requirements, ResourceName, Resources, SkuName, Zone, label,
};

/// The region of all tests.
pub(crate) const REGION: &str = "westeurope";

/// What differs between sizes.
struct Size {
    name: &'static str,
    series: &'static str,
    arch: &'static str,
    cpu: i64,
    memory_gi: i64,
    /// On demand, in millionths of a dollar an hour; spot is a third of it. `None` is not known.
    price: Option<i64>,
    gpus: i64,
    /// Whether the OS disk is a managed one, which costs.
    has_managed_disk: bool,
}

const fn size(
    name: &'static str,
    series: &'static str,
    (cpu, memory_gi): (i64, i64),
    price: Option<i64>,
) -> Size {
    Size { name, series, arch: "amd64", cpu, memory_gi, price, gpus: 0, has_managed_disk: true }
}

const fn sizes() -> [Size; 15] {
    [
        size("Standard_B4ms", "Bms", (4, 16), Some(60_000)),
        Size { has_managed_disk: false, ..size("Standard_D2ds_v5", "Dds_v5", (2, 8), Some(130_000)) },
        size("Standard_D2s_v5", "Ds_v5", (2, 8), Some(112_000)),
        size("Standard_D4s_v5", "Ds_v5", (4, 16), Some(224_000)),
        size("Standard_D8s_v5", "Ds_v5", (8, 32), Some(448_000)),
        size("Standard_D16s_v5", "Ds_v5", (16, 64), Some(896_000)),
        Size { arch: "arm64", ..size("Standard_D4ps_v5", "Dps_v5", (4, 16), Some(180_000)) },
        Size { arch: "arm64", ..size("Standard_D8ps_v5", "Dps_v5", (8, 32), Some(360_000)) },
        size("Standard_E4s_v5", "Es_v5", (4, 32), Some(300_000)),
        size("Standard_E8s_v5", "Es_v5", (8, 64), Some(600_000)),
        size("Standard_F8s_v2", "Fs_v2", (8, 16), Some(388_000)),
        size("Standard_HB120rs_v3", "HBrs_v3", (120, 448), Some(4_000_000)),
        size("Standard_L8s_v3", "Ls_v3", (8, 64), None),
        Size { gpus: 1, ..size("Standard_NC4as_T4_v3", "NCas_T4_v3", (4, 28), Some(620_000)) },
        Size { gpus: 4, ..size("Standard_NC64as_T4_v3", "NCas_T4_v3", (64, 440), Some(5_200_000)) },
    ]
}

/// Returns the full name of a zone of the region: of `1`, `westeurope-1`.
pub(crate) fn zone(short: &str) -> String {
    if short == "0" { short.to_owned() } else { format!("{REGION}-{short}") }
}

/// Returns all instance types, sorted by name.
pub(crate) fn types() -> Vec<InstanceType> {
    let mut types: Vec<InstanceType> = sizes().iter().map(instance_type).collect();
    types.sort_by(|one, two| one.name.cmp(&two.name));
    types
}

/// Returns an instance type by its name.
pub(crate) fn instance_type_named(name: &str) -> InstanceType {
    types().into_iter().find(|known| known.name.as_str() == name).expect("tests name known sizes")
}

/// Returns the catalogue of all tests: every class is offered every size.
pub(crate) fn catalog() -> Catalog {
    catalog_of(types())
}

/// Returns a catalogue of other sizes.
pub(crate) fn catalog_of(types: Vec<InstanceType>) -> Catalog {
    let classes = [super::fleet::CLASS.into()];
    let recorded = classes.into_iter().map(|class| (class, types.clone())).collect();
    Catalog::recorded(Region::new(REGION), recorded, label::WELL_KNOWN_AZURE.map(LabelKey::new).into())
}

fn instance_type(size: &Size) -> InstanceType {
    let capacity = resources(size, size.cpu * 1000, size.memory_gi << 30);
    // A tenth of a core and an eighth of the memory are the node's own.
    let allocatable = resources(size, size.cpu * 1000 - 100, (size.memory_gi << 30) / 8 * 7);
    let disk = Price::Listed(MicroUsdPerHour(24_700));
    InstanceType {
        name: SkuName::new(size.name),
        requirements: requirements(size),
        capacity,
        allocatable,
        os_disk: if size.has_managed_disk { OsDisk::Managed(disk) } else { OsDisk::Ephemeral },
        offerings: offerings(size),
        data_disks: None,
        is_estimate: false,
    }
}

fn resources(size: &Size, cpu_milli: i64, memory: i64) -> Resources {
    Resources::none()
        .with(ResourceName::Cpu, cpu_milli)
        .with(ResourceName::Memory, memory)
        .with(ResourceName::EphemeralStorage, 128_000_000_000)
        .with(ResourceName::Pods, 30)
        .with(ResourceName::parse("nvidia.com/gpu"), size.gpus)
}

fn requirements(size: &Size) -> Requirements {
    let one = |value: &str| Requirement::one(value);
    let some = |values: &[&str]| Requirement::new(Operator::In, values);
    let gpu = |value: &str| if size.gpus > 0 { one(value) } else { Requirement::none() };
    let memory_mi = size.memory_gi * 1024;
    let version = size.name.rsplit_once("_v").map_or("1", |(_, version)| version);
    let zones: Vec<String> = ["0", "1", "2", "3"].into_iter().map(zone).collect();
    Requirements::none()
        .with(label::INSTANCE_TYPE, one(size.name))
        .with(label::ARCH, one(size.arch))
        .with(label::OS, one("linux"))
        .with(label::REGION, one(REGION))
        .with(label::ZONE, Requirement::new(Operator::In, zones))
        .with(label::CAPACITY_TYPE, some(&["on-demand", "spot"]))
        .with(label::PLACEMENT_SCOPE, some(&["regional", "zonal"]))
        .with(label::SKU_NAME, one(size.name))
        .with(label::SKU_FAMILY, one(&size.series[..1]))
        .with(label::SKU_SERIES, one(size.series))
        .with(label::SKU_VERSION, one(version))
        .with(label::SKU_CPU, one(&size.cpu.to_string()))
        .with(label::SKU_MEMORY, one(&memory_mi.to_string()))
        .with(label::SKU_GPU_NAME, gpu("T4"))
        .with(label::SKU_GPU_MANUFACTURER, gpu("nvidia"))
        .with(label::SKU_GPU_COUNT, one(&size.gpus.to_string()))
        .with(label::AKS_MODE, some(&["system", "user"]))
        .with(label::AKS_SCALE_SET_PRIORITY, some(&["regular", "spot"]))
}

/// Zones 1 to 3 and none, on demand and spot; the smallest size is not to be had as spot in zone 3, and the
/// GPU sizes stand in zone 1 alone.
fn offerings(size: &Size) -> Vec<Offering> {
    let mut offerings = Vec::new();
    for short in ["0", "1", "2", "3"] {
        if size.gpus > 0 && short != "1" {
            continue;
        }
        for capacity_type in [CapacityType::OnDemand, CapacityType::Spot] {
            let is_spot = capacity_type == CapacityType::Spot;
            let price = size.price.map(|price| if is_spot { price / 3 } else { price });
            let scope = if short == "0" { "regional" } else { "zonal" };
            let priority = if is_spot { "spot" } else { "regular" };
            offerings.push(Offering {
                zone: Zone::new(zone(short)),
                capacity_type,
                price: price.map_or(Price::Unknown, |price| Price::Listed(MicroUsdPerHour(price))),
                is_available: !(is_spot && short == "3" && size.cpu == 2),
                reserved_count: None,
                requirements: Requirements::none()
                    .with(label::ZONE, Requirement::one(&zone(short)))
                    .with(label::CAPACITY_TYPE, Requirement::one(capacity_type.as_str()))
                    .with(label::PLACEMENT_SCOPE, Requirement::one(scope))
                    .with(label::AKS_SCALE_SET_PRIORITY, Requirement::one(priority)),
            });
        }
    }
    offerings.sort_by(|one, two| (&one.zone, one.capacity_type).cmp(&(&two.zone, two.capacity_type)));
    offerings
}
