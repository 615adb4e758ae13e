//! Reads sizes from a response of ARM's `Microsoft.Compute/skus`.
//!
//! Real responses omit members that do not apply: only the name is always present. Other resource types and other
//! regions are skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use super::fault::{CatalogFault, sizes_command, syntax};
use super::kind::Page;
use crate::catalog::gpu::GpuTable;
use crate::catalog::size::{Capabilities, EphemeralRoom, Generations, Placement, Size};
use crate::catalog::size_name::SizeName;
use crate::catalog::{embedded, estimate};
use crate::model::{Quantity, Region, SkuName};

#[derive(Deserialize)]
struct Answer {
    value: Vec<Sku>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sku {
    name: String,
    resource_type: Option<String>,
    family: Option<String>,
    #[serde(default)]
    locations: Vec<String>,
    location_info: Option<Vec<LocationInfo>>,
    capabilities: Option<Vec<Capability>>,
    restrictions: Option<Vec<Restriction>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LocationInfo {
    location: String,
    zones: Option<Vec<String>>,
    zone_details: Option<Vec<ZoneDetails>>,
}

#[derive(Deserialize)]
struct ZoneDetails {
    #[serde(alias = "Name")]
    name: Option<Vec<String>>,
    capabilities: Option<Vec<Capability>>,
}

#[derive(Deserialize)]
struct Capability {
    name: String,
    value: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Restriction {
    #[serde(rename = "type")]
    kind: Option<String>,
    values: Option<Vec<String>>,
    restriction_info: Option<RestrictionInfo>,
    reason_code: Option<String>,
}

#[derive(Default, Deserialize)]
struct RestrictionInfo {
    locations: Option<Vec<String>>,
    zones: Option<Vec<String>>,
}

/// Reads the sizes of a region from all pages.
pub(super) fn read(
    pages: &[Page<'_>],
    region: &Region,
    faults: &mut Vec<CatalogFault>,
) -> BTreeMap<SkuName, Size> {
    let gpus = embedded::gpus();
    let mut sizes: BTreeMap<SkuName, Size> = BTreeMap::new();
    for page in pages {
        for (index, sku) in skus(page, faults).iter().enumerate() {
            if !sku.is_vm_size() || !sku.is_in(region) {
                continue;
            }
            let place = if page.is_bare { format!("[{index}]") } else { format!("value[{index}]") };
            let reader = SkuReader { sku, region, gpus: &gpus, file: page.file, place: &place };
            let Some(size) = reader.size(faults) else { continue };
            match sizes.get(&size.name) {
                Some(present) if *present != size => {
                    let what = format!("`{}` is listed twice, and differently", size.name);
                    let hint = "give the answer of one subscription, asked for once";
                    faults.push(CatalogFault::new(page.file, place, what).hint(hint));
                }
                Some(_) => {}
                None => {
                    sizes.insert(size.name.clone(), size);
                }
            }
        }
    }
    if sizes.is_empty() && faults.is_empty() {
        let file = pages.first().map_or("", |page| page.file);
        let what = format!("it has no VM size of the region `{region}`");
        faults.push(CatalogFault::new(file, "", what).hint(sizes_command(region)));
    }
    sizes
}

fn skus(page: &Page<'_>, faults: &mut Vec<CatalogFault>) -> Vec<Sku> {
    let read = if page.is_bare {
        serde_json::from_str::<Vec<Sku>>(page.text)
    } else {
        serde_json::from_str::<Answer>(page.text).map(|answer| answer.value)
    };
    read.unwrap_or_else(|error| {
        faults.push(syntax(page.file, &error));
        Vec::new()
    })
}

impl Sku {
    fn is_vm_size(&self) -> bool {
        self.resource_type.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case("virtualMachines"))
    }

    fn is_in(&self, region: &Region) -> bool {
        let infos = self.location_info.iter().flatten().map(|info| &info.location);
        self.locations.iter().chain(infos).any(|location| location.eq_ignore_ascii_case(region.as_str()))
    }

    fn infos<'a>(&'a self, region: &'a Region) -> impl Iterator<Item = &'a LocationInfo> {
        let infos = self.location_info.iter().flatten();
        infos.filter(|info| info.location.eq_ignore_ascii_case(region.as_str()))
    }

    fn restrictions<'a>(
        &'a self,
        kind: &'a str,
        region: &'a Region,
    ) -> impl Iterator<Item = &'a Restriction> {
        self.restrictions.iter().flatten().filter(move |restriction| {
            let info = restriction.restriction_info.iter().flat_map(|info| info.locations.iter().flatten());
            let mut places = info.chain(restriction.values.iter().flatten());
            restriction.kind.as_deref().is_some_and(|is| is.eq_ignore_ascii_case(kind))
                && places.any(|place| place.eq_ignore_ascii_case(region.as_str()))
        })
    }

    /// Returns the zones where the size is sold, except those restricted for this subscription.
    fn zones(&self, region: &Region) -> Vec<Arc<str>> {
        let refused: BTreeSet<&String> = self
            .restrictions("Zone", region)
            .filter_map(|restriction| restriction.restriction_info.as_ref()?.zones.as_ref())
            .flatten()
            .collect();
        let zones = self.infos(region).filter_map(|info| info.zones.as_ref()).flatten();
        let zones: BTreeSet<&String> = zones.filter(|zone| !refused.contains(zone)).collect();
        zones.into_iter().map(|zone| Arc::from(zone.as_str())).collect()
    }

    fn ultra_ssd_zones(&self, region: &Region) -> Vec<Arc<str>> {
        let details = self.infos(region).filter_map(|info| info.zone_details.as_ref()).flatten();
        let zones: BTreeSet<&String> = details
            .filter(|detail| capability(detail.capabilities.as_deref(), "UltraSSDAvailable") == Some("True"))
            .filter_map(|detail| detail.name.as_ref())
            .flatten()
            .collect();
        zones.into_iter().map(|zone| Arc::from(zone.as_str())).collect()
    }
}

fn capability<'a>(capabilities: Option<&'a [Capability]>, name: &str) -> Option<&'a str> {
    let found = capabilities?.iter().find(|capability| capability.name == name);
    found.and_then(|capability| capability.value.as_deref())
}

/// One SKU, with the context needed to read it and report faults.
struct SkuReader<'a> {
    sku: &'a Sku,
    region: &'a Region,
    gpus: &'a GpuTable,
    file: &'a str,
    place: &'a str,
}

impl SkuReader<'_> {
    fn size(&self, faults: &mut Vec<CatalogFault>) -> Option<Size> {
        let name = SkuName::new(&self.sku.name);
        let parts = SizeName::parse(&name);
        let vcpus = self.needed("vCPUs", faults).and_then(|text| self.whole("vCPUs", text, faults));
        let memory = self.needed("MemoryGB", faults).and_then(|text| self.memory(text, faults));
        let gpus = self.capability("GPUs").map_or(Some(0), |text| self.whole("GPUs", text, faults));
        let capabilities = self.capabilities(faults);
        let mut restrictions = self.sku.restrictions("Location", self.region);
        let restriction = restrictions.next().map(|restriction| {
            Arc::from(restriction.reason_code.as_deref().unwrap_or("restricted without a reason"))
        });
        Some(Size {
            quota_family: Arc::from(self.sku.family.as_deref().unwrap_or("")),
            vcpus: vcpus?,
            memory_bytes: memory?,
            gpus: gpus?,
            gpu: self.gpus.get(&name).cloned(),
            arch: Arc::from(match self.capability("CpuArchitectureType") {
                None => parts.as_ref().map_or("amd64", estimate::arch),
                Some("x64") => "amd64",
                Some("Arm64") => "arm64",
                Some(other) => other,
            }),
            parts,
            capabilities,
            zones: self.sku.zones(self.region),
            restriction,
            is_estimate: false,
            is_shape_estimate: false,
            name,
        })
    }

    fn capabilities(&self, faults: &mut Vec<CatalogFault>) -> Capabilities {
        let is_true = |name| self.capability(name) == Some("True");
        let said = |name| self.capability(name).map(|word| word == "True");
        let generations = self.capability("HyperVGenerations").unwrap_or("");
        let runs = |generation| generations.split(',').any(|known| known.trim() == generation);
        Capabilities {
            premium_storage: said("PremiumIO"),
            accelerated_networking: said("AcceleratedNetworkingEnabled"),
            ephemeral: self.ephemeral(faults),
            encryption_at_host: is_true("EncryptionAtHostSupported"),
            generations: Generations { first: runs("V1"), second: runs("V2") },
            trusted_launch_disabled: is_true("TrustedLaunchDisabled"),
            spot: is_true("LowPriorityCapable"),
            data_disks_max: self.data_disks_max(faults),
            ultra_ssd_regional: is_true("UltraSSDAvailable"),
            ultra_ssd_zones: self.sku.ultra_ssd_zones(self.region),
        }
    }

    /// Returns the first placement with any space, even if another has more.
    fn ephemeral(&self, faults: &mut Vec<CatalogFault>) -> Option<EphemeralRoom> {
        let mut amount = |name| {
            let text = self.capability(name)?;
            self.whole::<u64>(name, text, faults).filter(|amount| *amount > 0)
        };
        let nvme = amount("NvmeDiskSizeInMiB").map(|mib| mib.saturating_mul(1 << 20));
        let cache = amount("CachedDiskBytes");
        let resource = amount("MaxResourceVolumeMB").map(|mib| mib.saturating_mul(1 << 20));
        if self.capability("EphemeralOSDiskSupported") != Some("True") {
            return None;
        }
        let placements = self.capability("SupportedEphemeralOSDiskPlacements").unwrap_or("");
        let takes_nvme = placements.split(',').any(|placement| placement.trim() == "NvmeDisk");
        let room = |placement| move |bytes: u64| (placement, bytes);
        let nvme = nvme.filter(|_| takes_nvme).map(room(Placement::NvmeDisk));
        let cache = cache.map(room(Placement::CacheDisk));
        let (placement, bytes) = nvme.or(cache).or(resource.map(room(Placement::ResourceDisk)))?;
        let size_gb = u32::try_from(bytes / 1_000_000_000).unwrap_or(u32::MAX);
        Some(EphemeralRoom { placement, size_gb })
    }

    fn data_disks_max(&self, faults: &mut Vec<CatalogFault>) -> Option<u32> {
        const NAME: &str = "MaxDataDiskCount";
        self.whole(NAME, self.capability(NAME)?, faults)
    }

    fn capability(&self, name: &str) -> Option<&str> {
        capability(self.sku.capabilities.as_deref(), name)
    }

    fn needed(&self, name: &str, faults: &mut Vec<CatalogFault>) -> Option<&str> {
        let value = self.capability(name);
        if value.is_none() {
            let what = format!("`{}` does not say its `{name}`", self.sku.name);
            faults.push(self.fault(name, what));
        }
        value
    }

    fn whole<T: std::str::FromStr>(
        &self,
        name: &str,
        text: &str,
        faults: &mut Vec<CatalogFault>,
    ) -> Option<T> {
        let read = text.parse().ok();
        if read.is_none() {
            let what = format!("`{text}` is not a whole number that `{}` can have", self.sku.name);
            faults.push(self.fault(name, what));
        }
        read
    }

    /// Parses fractional GiB into bytes, rounded down. The limit is 1 PiB.
    fn memory(&self, text: &str, faults: &mut Vec<CatalogFault>) -> Option<i64> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let nano = Quantity::parse(text).filter(|_| is_plain).map(|gib| gib.nano());
        let bytes = nano.filter(|nano| *nano >> 50 == 0).map(|nano| (nano << 30) / 1_000_000_000);
        let read = bytes.and_then(|bytes| i64::try_from(bytes).ok());
        if read.is_none() {
            let what = format!("`{text}` is not an amount of GiB that `{}` can have", self.sku.name);
            faults.push(self.fault("MemoryGB", what));
        }
        read
    }

    fn fault(&self, capability: &str, what: String) -> CatalogFault {
        let place = format!("{}.capabilities.{capability}", self.place);
        CatalogFault::new(self.file, place, what).hint("give ARM's answer as it came")
    }
}
