//! Converts sizes to the instance types that nodes of one AKSNodeClass may have.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::disk::DiskPrices;
use super::offering::Offerings;
use super::price::PricedSize;
use super::size::Size;
use super::{Offered, RefusedSize, Unbuildable, data_disks, labels, refuse, reserve};
use crate::model::{InstanceType, NetworkSetup, NodeClass, OsDisk, Region, SkuName};

/// Builds the instance types of all sizes that the class can use, in the order of `sizes`.
pub(super) fn offered(
    sizes: &[PricedSize],
    region: &Region,
    disks: &DiskPrices,
    class: &NodeClass,
    network: NetworkSetup,
) -> Offered {
    let mut offerings = Offerings::new(region, labels::shared(region, class, network));
    let mut offered = Offered::default();
    for sold in sizes {
        let mut kind = || instance_type(sold, &mut offerings, disks, (class, network));
        let Some(because) = refuse::refusal(&sold.size, class) else {
            offered.types.push(kind());
            continue;
        };
        if refuse::everywhere(&sold.size).is_none() {
            offered.unsuited.push(kind());
        }
        offered.refused.push(RefusedSize { size: sold.size.name.clone(), because });
    }
    offered
}

impl Offered {
    /// Removes sizes for which no VM can be built with this class.
    pub(super) fn leave_out(&mut self, class: &NodeClass, unbuildable: &[Unbuildable]) {
        let of_class = unbuildable.iter().filter(|one| one.class == class.name);
        let because: BTreeMap<&SkuName, &Arc<str>> = of_class.map(|one| (&one.size, &one.because)).collect();
        if because.is_empty() {
            return;
        }
        let (left_out, types) =
            std::mem::take(&mut self.types).into_iter().partition(|kind| because.contains_key(&kind.name));
        self.types = types;
        self.unsuited.extend::<Vec<InstanceType>>(left_out);
        self.unsuited.sort_by(|one, other| one.name.cmp(&other.name));
        let refused = because
            .into_iter()
            .map(|(size, because)| RefusedSize { size: size.clone(), because: because.to_string() });
        self.refused.extend(refused);
        self.refused.sort();
    }
}

fn instance_type(
    sold: &PricedSize,
    offerings: &mut Offerings<'_>,
    disks: &DiskPrices,
    (class, network): (&NodeClass, NetworkSetup),
) -> InstanceType {
    let size = &sold.size;
    let (offerings, labels) = offerings.of(sold);
    let capacity = reserve::capacity(size, class, network);
    InstanceType {
        name: size.name.clone(),
        requirements: labels::with_own(labels, size),
        allocatable: reserve::allocatable(size, &capacity),
        capacity,
        os_disk: os_disk(size, disks, class.os_disk_gb),
        offerings,
        data_disks: Some(data_disks::of_size(size)),
        is_estimate: size.is_estimate,
    }
}

/// Returns the OS disk: ephemeral if it fits the size's first placement. A larger second placement is not tried:
/// Karpenter does not try it either, and nodes would drift.
fn os_disk(size: &Size, disks: &DiskPrices, size_gb: u32) -> OsDisk {
    if size.capabilities.ephemeral.is_some_and(|room| room.size_gb >= size_gb) {
        return OsDisk::Ephemeral;
    }
    OsDisk::Managed(disks.os_disk(size.capabilities.premium_storage, size_gb))
}
