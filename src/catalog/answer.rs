//! Formats a catalogue's sizes as a response of ARM's `Microsoft.Compute/skus`, for a simulated Azure that sells them.
//!
//! Reading the response yields the original sizes. It has no prices.

use serde_json::{Value, json};

use super::size::{Placement, Size};
use super::{Catalog, Stock};
use crate::model::Region;

const GIB: i64 = 1 << 30;
const MIB: u64 = 1 << 20;
const GB: u64 = 1_000_000_000;

impl Catalog {
    /// Returns the entries of the response; none if the catalogue holds instance types instead of Azure's sizes.
    #[must_use]
    pub fn skus(&self) -> Vec<Value> {
        match &*self.stock {
            Stock::Sizes(sizes) => sizes.iter().map(|sold| sku(&sold.size, &self.region)).collect(),
            Stock::Types { .. } | Stock::Recorded { .. } => Vec::new(),
        }
    }
}

fn sku(size: &Size, region: &Region) -> Value {
    let capabilities: Vec<Value> =
        capabilities(size).into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let details: Vec<Value> = size
        .capabilities
        .ultra_ssd_zones
        .iter()
        .map(|zone| json!({"name": [zone], "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}))
        .collect();
    let restrictions: Vec<Value> = size
        .restriction
        .iter()
        .map(|reason| {
            let locations = [region.as_str()];
            json!({"type": "Location", "values": locations, "restrictionInfo": {"locations": locations}, "reasonCode": reason})
        })
        .collect();
    let name = size.name.as_str();
    let (tier, short) = name.split_once('_').unwrap_or(("Standard", name));
    json!({
        "resourceType": "virtualMachines",
        "name": name,
        "tier": tier,
        "size": short,
        "family": size.quota_family,
        "locations": [region.as_str()],
        "locationInfo": [{"location": region.as_str(), "zones": size.zones, "zoneDetails": details}],
        "capabilities": capabilities,
        "restrictions": restrictions,
    })
}

fn capabilities(size: &Size) -> Vec<(&'static str, String)> {
    let able = &size.capabilities;
    let word = |is: bool| if is { "True" } else { "False" }.to_owned();
    let generations = [(able.generations.first, "V1"), (able.generations.second, "V2")];
    let generations: Vec<&str> =
        generations.iter().filter(|(runs, _)| *runs).map(|(_, name)| *name).collect();
    let arch = match &*size.arch {
        "amd64" => "x64",
        "arm64" => "Arm64",
        other => other,
    };
    let mut found = vec![
        ("vCPUs", size.vcpus.to_string()),
        ("MemoryGB", memory(size.memory_bytes)),
        ("CpuArchitectureType", arch.to_owned()),
        ("HyperVGenerations", generations.join(",")),
        ("EncryptionAtHostSupported", word(able.encryption_at_host)),
        ("LowPriorityCapable", word(able.spot)),
        ("TrustedLaunchDisabled", word(able.trusted_launch_disabled)),
        ("UltraSSDAvailable", word(able.ultra_ssd_regional)),
        ("EphemeralOSDiskSupported", word(able.ephemeral.is_some())),
    ];
    let said =
        [("PremiumIO", able.premium_storage), ("AcceleratedNetworkingEnabled", able.accelerated_networking)];
    found.extend(said.into_iter().filter_map(|(name, is)| Some((name, word(is?)))));
    found.extend((size.gpus > 0).then(|| ("GPUs", size.gpus.to_string())));
    found.extend(able.data_disks_max.map(|count| ("MaxDataDiskCount", count.to_string())));
    if let Some(room) = able.ephemeral {
        let bytes = u64::from(room.size_gb) * GB;
        found.push(("SupportedEphemeralOSDiskPlacements", room.placement.as_str().to_owned()));
        found.push(match room.placement {
            Placement::NvmeDisk => ("NvmeDiskSizeInMiB", bytes.div_ceil(MIB).to_string()),
            Placement::CacheDisk => ("CachedDiskBytes", bytes.to_string()),
            Placement::ResourceDisk => ("MaxResourceVolumeMB", bytes.div_ceil(MIB).to_string()),
        });
    }
    found
}

/// Formats an amount in GiB, as `3.5`.
fn memory(bytes: i64) -> String {
    let (whole, rest) = (bytes / GIB, bytes % GIB);
    let thousandths = i128::from(rest) * 1000 / i128::from(GIB);
    match thousandths {
        0 => whole.to_string(),
        fraction => format!("{whole}.{fraction:03}").trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Catalog, Stock};
    use crate::model::Region;

    #[test]
    fn what_is_read_of_the_answer_is_the_sizes_that_it_was_made_of() {
        let region = Region::new("westeurope");
        let catalog = Catalog::embedded(&region).expect("the region is known");
        let answer = serde_json::json!({"value": catalog.skus()}).to_string();
        let read = Catalog::from_files(&[("skus.json", &answer)], &region).expect("the answer can be read");
        let (Stock::Sizes(made_of), Stock::Sizes(read)) = (&*catalog.stock, &*read.stock) else {
            panic!("both are of sizes");
        };
        assert_eq!(made_of.len(), read.len());
        for (one, other) in made_of.iter().zip(read) {
            let mut expected = one.size.clone();
            // The response presents estimates as facts.
            expected.is_estimate = false;
            expected.is_shape_estimate = false;
            assert_eq!(expected, other.size);
        }
    }
}
