//! Instance types against an independent run of the provider's rules on two regions' real answers.

use nodeform::catalog::{Catalog, PricedSize, reserve};
use nodeform::model::{
    CapacityType, ClassName, InstanceType, MicroUsdPerHour, NetworkSetup, NodeClass, OsDisk, Price, Region,
    ResourceName, label,
};
use serde_json::{Value, json};

use super::shared::{azure, azure_json};

pub(crate) const OVERLAY: NetworkSetup = NetworkSetup::AzureOverlay { is_cilium: false };

pub(crate) fn class() -> NodeClass {
    nodeform::policy::default_class(ClassName::new("default"))
}

#[test]
fn sizes_of_a_region_with_zones_become_the_expected_instance_types() {
    compare("southcentralus");
}

#[test]
fn sizes_of_a_region_without_zones_become_the_expected_instance_types() {
    compare("westcentralus");
}

fn compare(region: &str) {
    let Some(expected) = azure_json(&format!("reference/expected_instance_types_{region}.json")) else {
        return;
    };
    let answer = azure(&format!("skus/{region}.json")).expect("the folder is there");
    let region = Region::new(region);
    let catalog = Catalog::from_files(&[("skus.json", &answer)], &region).expect("is ARM's answer");
    let offered = catalog.offered(&class(), OVERLAY);

    let refused: Vec<&str> = offered.refused.iter().map(|refused| refused.size.as_str()).collect();
    let excluded: Vec<&String> = expected["excluded"].as_object().expect("is an object").keys().collect();
    assert_eq!(refused, excluded);

    let types = expected["instanceTypes"].as_object().expect("is an object");
    let names: Vec<&str> = offered.types.iter().map(|offered| offered.name.as_str()).collect();
    assert_eq!(names, types.keys().collect::<Vec<_>>());
    for offered in &offered.types {
        let sold = catalog.size(&offered.name).expect("is offered");
        let mut expected = types[offered.name.as_str()].clone();
        let price = expected["onDemandPrice"].take().to_string();
        assert_eq!(offered_at(offered, CapacityType::OnDemand), MicroUsdPerHour::from_decimal_usd(&price));
        expected.as_object_mut().expect("is an object").remove("onDemandPrice");
        assert_eq!(read(sold, offered), expected, "{}", offered.name);
        assert_eq!(sold.size.is_estimate, offered.is_estimate);
        assert!(!offered.is_estimate);
    }
}

fn offered_at(offered: &InstanceType, capacity_type: CapacityType) -> Option<MicroUsdPerHour> {
    let of_type = |offering: &&nodeform::model::Offering| offering.capacity_type == capacity_type;
    let mut prices = offered.offerings.iter().filter(of_type).map(|offering| offering.price);
    let first = prices.next()?;
    assert!(matches!(first, Price::Estimated(_)) && prices.all(|price| price == first));
    first.known()
}

/// The oracle's members, read from what we made.
fn read(sold: &PricedSize, offered: &InstanceType) -> Value {
    let labels = |key: &str| offered.requirements.get(key).and_then(|requirement| requirement.listed());
    let one = |key: &str| labels(key).and_then(|values| values.first()).map(ToString::to_string);
    let number = |key: &str| one(key).map(|text| text.parse::<i64>().expect("is a number"));
    let is_true = |key: &str| one(key).as_deref() == Some("true");
    let capacity = |name: &str| offered.capacity.get(&ResourceName::parse(name));
    let allocatable = |name: &str| offered.allocatable.get(&ResourceName::parse(name));
    let reserved = reserve::kube_reserved(&sold.size);
    let ephemeral = sold.size.capabilities.ephemeral;
    let spot = |offering: &nodeform::model::Offering| {
        offering.capacity_type == CapacityType::Spot && offering.is_available
    };
    let mut zones: Vec<&str> = offered.offerings.iter().map(|offering| offering.zone.as_str()).collect();
    zones.dedup();
    zones.rotate_left(1);
    json!({
        "acceleratedNetworking": is_true("karpenter.azure.com/sku-networking-accelerated"),
        "allocatableCpuMilli": allocatable("cpu"),
        "allocatableMemoryBytes": allocatable("memory"),
        "arch": one(label::ARCH),
        "cpu": capacity("cpu") / 1000,
        "encryptionAtHost": sold.size.capabilities.encryption_at_host,
        "ephemeralOsMaxSizeGB": number("karpenter.azure.com/sku-storage-ephemeralos-maxsize").unwrap_or(0),
        "ephemeralPlacement": ephemeral.map(|room| room.placement.as_str()),
        "ephemeralStorageBytes": capacity("ephemeral-storage"),
        "family": sold.size.quota_family,
        "gpuNameLabel": one(label::SKU_GPU_NAME),
        "gpuNvidia": capacity("nvidia.com/gpu"),
        "hyperVGenerations": labels("karpenter.azure.com/sku-hyperv-generation").map(|listed| listed.to_vec()),
        "kubeReservedCpuMilli": reserved.get(&ResourceName::Cpu),
        "kubeReservedMemoryMi": reserved.get(&ResourceName::Memory) >> 20,
        "memoryCapacityBytes": capacity("memory"),
        "memoryMiBLabel": number(label::SKU_MEMORY),
        "osDiskEphemeralAt128": offered.os_disk == OsDisk::Ephemeral,
        "pods": capacity("pods"),
        "premiumIO": is_true("karpenter.azure.com/sku-storage-premium-capable"),
        "seriesLabel": one(label::SKU_SERIES),
        "skuFamilyLabel": one(label::SKU_FAMILY),
        "spotAvailable": offered.offerings.iter().any(spot),
        "trustedLaunch": sold.size.capabilities.trusted_launch(),
        "versionLabel": one(label::SKU_VERSION),
        "zones": zones,
    })
}
