//! From sizes to instance types: what nodes of one AKSNodeClass may be.

use super::disk::DiskPrices;
use super::offering::Offerings;
use super::price::PricedSize;
use super::size::Size;
use super::{Offered, RefusedSize, data_disks, labels, refuse, reserve};
use crate::model::{InstanceType, NetworkSetup, NodeClass, OsDisk, Region};

/// Makes the instance types of all sizes that the class can use, in the order of `sizes`.
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

/// The OS disk is ephemeral where the size's first placement has room for it. A larger second placement is
/// not tried: Karpenter does not either, and drift would follow.
fn os_disk(size: &Size, disks: &DiskPrices, size_gb: u32) -> OsDisk {
    if size.capabilities.ephemeral.is_some_and(|room| room.size_gb >= size_gb) {
        return OsDisk::Ephemeral;
    }
    OsDisk::Managed(disks.os_disk(size.capabilities.premium_storage, size_gb))
}
