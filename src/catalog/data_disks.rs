//! Maximum number of data disks of a VM: from Azure's SKU data, else from the published table, else the minimum of all
//! sizes with as many vCPUs.
//!
//! Must never treat a size with an unknown limit as unlimited.

use std::collections::BTreeMap;

use super::size::Size;
use super::{Catalog, Stock, embedded};
use crate::model::{DataDisks, InstanceType, ResourceName, SkuName};

/// The published table.
#[derive(Debug, Default)]
pub(super) struct DataDiskTable {
    by_name: BTreeMap<&'static str, u32>,
    /// Minimum over all sizes with this many vCPUs.
    by_vcpus: BTreeMap<u32, u32>,
}

impl DataDiskTable {
    /// Parses lines with a name (without tier, in lower case) and a number; lines that begin with `#` are skipped.
    /// `vcpus` holds the vCPUs of the known sizes, under the same names. Returns `None` if a line does not have this
    /// form.
    pub(super) fn parse(text: &'static str, vcpus: &BTreeMap<String, u32>) -> Option<Self> {
        let mut table = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, most) = line.split_once(' ')?;
            let most = most.parse().ok()?;
            table.by_name.insert(name, most);
            if let Some(vcpus) = vcpus.get(name) {
                let least = table.by_vcpus.entry(*vcpus).or_insert(most);
                *least = most.min(*least);
            }
        }
        Some(table)
    }

    /// Returns the table's value for a size. A promotion is the same VM at another price.
    pub(super) fn get(&self, name: &SkuName) -> Option<u32> {
        let name = name.as_str().to_ascii_lowercase();
        let size = name.strip_prefix("standard_")?;
        let own = self.by_name.get(size);
        own.or_else(|| self.by_name.get(size.strip_suffix("_promo")?)).copied()
    }

    /// Returns the minimum over all sizes with this many vCPUs. If there are none, uses the next smaller and next
    /// larger vCPU counts; if the vCPUs are unknown, uses all sizes.
    fn least(&self, vcpus: Option<u32>) -> u32 {
        let Some(vcpus) = vcpus else { return self.by_vcpus.values().copied().min().unwrap_or(0) };
        let fewer = self.by_vcpus.range(..=vcpus).next_back();
        let more = self.by_vcpus.range(vcpus..).next();
        fewer.into_iter().chain(more).map(|(_, most)| *most).min().unwrap_or(0)
    }
}

/// Returns the maximum number of data disks for a size.
pub(super) fn of_size(size: &Size) -> DataDisks {
    let known = size.capabilities.data_disks_max;
    known.map_or_else(|| of_name(&size.name, Some(size.vcpus)), fact)
}

const fn fact(most: u32) -> DataDisks {
    DataDisks { most, is_estimate: false }
}

fn estimate(vcpus: Option<u32>) -> DataDisks {
    DataDisks { most: embedded::data_disks().least(vcpus), is_estimate: true }
}

/// Returns the maximum for an instance type; if the type does not state it, looks up its name.
fn of_type(kind: &InstanceType) -> DataDisks {
    kind.data_disks.unwrap_or_else(|| of_name(&kind.name, whole(kind.capacity.get(&ResourceName::Cpu))))
}

fn of_name(name: &SkuName, vcpus: Option<u32>) -> DataDisks {
    embedded::data_disks().get(name).map_or_else(|| estimate(vcpus), fact)
}

fn whole(cpu_milli: i64) -> Option<u32> {
    u32::try_from(cpu_milli / 1000).ok().filter(|vcpus| *vcpus > 0)
}

impl Catalog {
    /// Returns the maximum number of data disks for each size in the catalogue.
    #[must_use]
    pub fn data_disks(&self) -> BTreeMap<SkuName, DataDisks> {
        let mut found: BTreeMap<SkuName, DataDisks> = BTreeMap::new();
        if let Stock::Sizes(sizes) = &*self.stock {
            found.extend(sizes.iter().map(|sold| (sold.size.name.clone(), of_size(&sold.size))));
        }
        for kind in self.types() {
            let disks = of_type(kind);
            let least = found.entry(kind.name.clone()).or_insert(disks);
            *least = disks.min(*least);
        }
        found
    }

    /// Returns the maximum number of data disks for a type that the catalogue offers.
    #[must_use]
    pub fn data_disks_of_type(&self, kind: &InstanceType) -> DataDisks {
        of_type(kind)
    }

    /// Returns the maximum number of data disks for a node of this size, in the catalogue or not, or with this much CPU
    /// if the size is unknown.
    #[must_use]
    pub fn data_disks_of(&self, size: Option<&SkuName>, cpu_milli: i64) -> DataDisks {
        let Some(name) = size else { return estimate(whole(cpu_milli)) };
        let sold = self.size(name).map(|sold| of_size(&sold.size));
        let ready = || self.types().filter(|kind| kind.name == *name).map(of_type).min();
        sold.or_else(ready).unwrap_or_else(|| of_name(name, whole(cpu_milli)))
    }
}

#[cfg(test)]
mod tests {
    use super::{DataDisks, estimate, of_name};
    use crate::catalog::embedded;

    #[test]
    fn a_size_that_no_list_holds_takes_no_more_than_any_with_as_many_vcpus() {
        let known = of_name(&"Standard_D4s_v5".into(), Some(2));
        assert_eq!(known, DataDisks { most: 8, is_estimate: false });
        let shown: Vec<u32> =
            [2, 4, 5, 8, 16, 64, 9999].map(|vcpus| of_name(&"Standard_X_v9".into(), Some(vcpus)).most).into();
        assert_eq!(shown, [2, 2, 2, 4, 16, 32, 64]);
        assert!(of_name(&"Standard_X_v9".into(), Some(2)).is_estimate);
        assert_eq!(estimate(None).most, 1);
    }

    #[test]
    fn names_are_found_in_any_letter_case_and_promotions_by_their_size() {
        let table = embedded::data_disks();
        assert_eq!(table.get(&"standard_d4S_V5".into()), Some(8));
        assert_eq!(table.get(&"Standard_D4s_v5_Promo".into()), Some(8));
        assert_eq!(table.get(&"Basic_D4s_v5".into()), None);
    }
}
