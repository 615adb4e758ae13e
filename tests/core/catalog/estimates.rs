//! How well the rules that judge a size by its name guess what Azure says of it.

use std::collections::BTreeMap;

use nodeform::catalog::size::Size;
use nodeform::catalog::{Catalog, estimate};
use nodeform::model::Region;

use super::shared::azure;

/// What is estimated of a size, by name; the shape is in the comparison too.
fn facts(size: &Size) -> Vec<(&'static str, String)> {
    let capabilities = &size.capabilities;
    vec![
        ("vCPUs", size.vcpus.to_string()),
        ("memory, whole GiB", (size.memory_bytes >> 30).to_string()),
        ("GPUs", size.gpus.to_string()),
        ("architecture", size.arch.to_string()),
        ("quota family", size.quota_family.to_lowercase()),
        ("premium storage", format!("{:?}", capabilities.premium_storage)),
        ("accelerated networking", format!("{:?}", capabilities.accelerated_networking)),
        ("encryption at host", capabilities.encryption_at_host.to_string()),
        ("generations", format!("{:?}", capabilities.generations)),
        ("trusted launch", capabilities.trusted_launch().to_string()),
        ("spot", capabilities.spot.to_string()),
        ("zones", size.zones.join(",")),
        ("has an ephemeral disk", capabilities.ephemeral.is_some().to_string()),
    ]
}

#[test]
fn most_estimates_are_what_azure_says() {
    let mut right: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut sizes, mut disks_known, mut wrong) = (0, 0, Vec::new());
    for (region, path) in [
        ("southcentralus", "southcentralus"),
        ("westcentralus", "westcentralus"),
        ("eastus", "historical/eastus"),
    ] {
        let Some(answer) = azure(&format!("skus/{path}.json")) else { return };
        let region = Region::new(region);
        let real = Catalog::from_files(&[("skus.json", &answer)], &region).expect("is ARM's answer");
        let guessed = Catalog::embedded(&region).expect("is known");
        for sold in real.sizes() {
            let Some(guess) = guessed.size(&sold.size.name) else { continue };
            sizes += 1;
            for ((fact, real), (_, guess)) in facts(&sold.size).into_iter().zip(facts(&guess.size)) {
                if real == guess {
                    *right.entry(fact).or_default() += 1;
                } else {
                    wrong.push(format!("{region} {}: {fact} is {real}, not {guess}", sold.size.name));
                }
            }
            // Too small costs a managed disk; too large would promise a disk that is not there.
            let room = |size: &Size| size.capabilities.ephemeral.map_or(0, |room| room.size_gb);
            assert!(room(&guess.size) <= room(&sold.size), "{region} {}", sold.size.name);
            let [disks, real] = [guess, sold].map(|sold| sold.size.capabilities.data_disks_max);
            assert_eq!(disks, real, "{region} {}", sold.size.name);
            disks_known += usize::from(disks.is_some());
        }
    }
    println!("{} of {} facts of {sizes} sizes are right", 13 * sizes - wrong.len(), 13 * sizes);
    println!("{}", wrong.join("\n"));
    assert_eq!((sizes, disks_known), (46, 46));
    for (fact, count) in right {
        let floor = if fact == "zones" || fact == "has an ephemeral disk" { 80 } else { 97 };
        assert!(100 * count >= floor * sizes, "{fact}: {count} of {sizes}");
    }
}

/// What a size that no list describes is taken to have, held against those that one describes.
#[test]
fn memory_that_is_read_off_a_name_is_no_more_than_any_such_size_has() {
    let mut held_against: BTreeMap<String, usize> = BTreeMap::new();
    let catalog = Catalog::embedded(&Region::new("eastus2")).expect("is known");
    for size in catalog.sizes().iter().map(|sold| &sold.size).filter(|size| !size.is_shape_estimate) {
        let parts = size.parts.as_ref().expect("follows the grammar");
        let Some(memory_mib) = estimate::memory_mib(parts, size.vcpus) else { continue };
        assert!(memory_mib <= size.memory_mib(), "{}: {memory_mib} MiB", size.name);
        assert_eq!((parts.cpus, estimate::arch(parts)), (size.vcpus, &*size.arch), "{}", size.name);
        *held_against.entry(parts.family.to_string()).or_default() += 1;
    }
    assert!(held_against.values().all(|count| *count > 40) && held_against.len() == 2, "{held_against:?}");
}
