//! Azure's throttling buckets: which ones a request draws from, their capacity and refill rate.
//!
//! Must never count: that is the task of [`Buckets`](super::Buckets).

use super::request::{Method, Request};

/// A request bucket. Azure has one for each subscription, and within it for each principal and region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bucket {
    /// Reads through Resource Manager, for any resource.
    ArmReads,
    /// Writes through Resource Manager.
    ArmWrites,
    /// Deletes through Resource Manager.
    ArmDeletes,
    /// Creating VMs.
    ComputePutVm,
    /// Changing VMs and their extensions.
    ComputeUpdateVm,
    /// Deleting VMs.
    ComputeDeleteVm,
    /// Reading one VM or extension.
    ComputeLowCostGet,
    /// Lists in Compute.
    ComputeHighCostGet,
    /// Polling a long-running operation.
    ComputeGetOperation,
    /// Writes and deletes in Network.
    NetworkWrites,
    /// Reads in Network.
    NetworkReads,
}

/// Capacity and refill rate of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Maximum burst of requests.
    pub capacity: u32,
    /// Requests refilled per minute.
    pub refill_per_minute: u32,
}

/// A bucket, or the part of it that a single resource may use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BucketKey {
    /// The budget.
    pub bucket: Bucket,
    /// The resource's path in lower case, if the bucket has a limit per resource.
    pub resource: Option<String>,
}

impl Bucket {
    /// Returns the published limits of Azure Resource Manager, Compute and Network.
    #[must_use]
    pub const fn allowance(self) -> Allowance {
        let (capacity, refill_per_minute) = match self {
            Self::ArmReads => (250, 25 * 60),
            Self::ArmWrites | Self::ArmDeletes => (200, 10 * 60),
            Self::ComputePutVm | Self::ComputeUpdateVm | Self::ComputeDeleteVm => (1500, 500),
            Self::ComputeLowCostGet => (24_000, 8000),
            Self::ComputeHighCostGet => (900, 300),
            Self::ComputeGetOperation => (15_000, 5000),
            Self::NetworkWrites => (1000, 200),
            Self::NetworkReads => (10_000, 2000),
        };
        Allowance { capacity, refill_per_minute }
    }

    /// Returns the limit per resource, if there is one.
    #[must_use]
    pub const fn allowance_of_each_resource(self) -> Option<Allowance> {
        let (capacity, refill_per_minute) = match self {
            Self::ComputePutVm | Self::ComputeUpdateVm | Self::ComputeDeleteVm => (12, 4),
            Self::ComputeLowCostGet => (36, 12),
            Self::ComputeGetOperation => (45, 15),
            Self::ArmReads
            | Self::ArmWrites
            | Self::ArmDeletes
            | Self::ComputeHighCostGet
            | Self::NetworkWrites
            | Self::NetworkReads => return None,
        };
        Some(Allowance { capacity, refill_per_minute })
    }

    /// Returns whether the bucket belongs to Resource Manager itself.
    #[must_use]
    pub const fn is_of_resource_manager(self) -> bool {
        matches!(self, Self::ArmReads | Self::ArmWrites | Self::ArmDeletes)
    }
}

impl BucketKey {
    /// Returns the key of the bucket as a whole.
    #[must_use]
    pub const fn whole(bucket: Bucket) -> Self {
        Self { bucket, resource: None }
    }

    /// Returns its capacity and refill rate.
    #[must_use]
    pub fn allowance(&self) -> Allowance {
        match &self.resource {
            Some(_) => self.bucket.allowance_of_each_resource().unwrap_or_else(|| self.bucket.allowance()),
            None => self.bucket.allowance(),
        }
    }
}

/// Returns the buckets that a request draws from: Resource Manager's, the provider's, and the resource's part of the
/// latter.
#[must_use]
pub fn of(request: &Request) -> Vec<BucketKey> {
    let arm = match request.method {
        Method::Get | Method::Post => Bucket::ArmReads,
        Method::Put | Method::Patch => Bucket::ArmWrites,
        Method::Delete => Bucket::ArmDeletes,
    };
    let path = request.path.to_ascii_lowercase();
    let mut keys = vec![BucketKey::whole(arm)];
    if let Some(bucket) = of_provider(request.method, &path) {
        keys.push(BucketKey::whole(bucket));
        if bucket.allowance_of_each_resource().is_some() {
            keys.push(BucketKey { bucket, resource: Some(path) });
        }
    }
    keys
}

fn of_provider(method: Method, path: &str) -> Option<Bucket> {
    // The last provider counts: the tags of a VM are a resource of Microsoft.Resources.
    let (_, rest) = path.rsplit_once("/providers/")?;
    let parts: Vec<&str> = rest.split('/').collect();
    match (parts.as_slice(), method) {
        (["microsoft.compute", "locations", _, "operations", ..], _) => Some(Bucket::ComputeGetOperation),
        (["microsoft.compute", "virtualmachines", _], Method::Put) => Some(Bucket::ComputePutVm),
        (["microsoft.compute", "virtualmachines", _], Method::Delete) => Some(Bucket::ComputeDeleteVm),
        (["microsoft.compute", "virtualmachines", _, ..], Method::Get) => Some(Bucket::ComputeLowCostGet),
        (
            ["microsoft.compute", "virtualmachines", ..],
            Method::Put | Method::Patch | Method::Post | Method::Delete,
        ) => Some(Bucket::ComputeUpdateVm),
        (["microsoft.compute", ..], Method::Get) => Some(Bucket::ComputeHighCostGet),
        (["microsoft.network", ..], Method::Get) => Some(Bucket::NetworkReads),
        (["microsoft.network", ..], _) => Some(Bucket::NetworkWrites),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(method: Method, path: &str) -> String {
        let request =
            Request { method, path: path.to_owned(), query: Vec::new(), body: None, only_if_absent: false };
        let keys: Vec<String> = of(&request)
            .iter()
            .map(|key| format!("{:?}{}", key.bucket, if key.resource.is_some() { "*" } else { "" }))
            .collect();
        keys.join(" ")
    }

    #[test]
    fn each_request_draws_from_its_budgets() {
        let vm = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v";
        assert_eq!(buckets(Method::Put, vm), "ArmWrites ComputePutVm ComputePutVm*");
        assert_eq!(buckets(Method::Get, vm), "ArmReads ComputeLowCostGet ComputeLowCostGet*");
        assert_eq!(buckets(Method::Patch, vm), "ArmWrites ComputeUpdateVm ComputeUpdateVm*");
        assert_eq!(buckets(Method::Delete, vm), "ArmDeletes ComputeDeleteVm ComputeDeleteVm*");
        assert_eq!(
            buckets(Method::Put, &format!("{vm}/extensions/e")),
            "ArmWrites ComputeUpdateVm ComputeUpdateVm*"
        );
        assert_eq!(
            buckets(
                Method::Get,
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines"
            ),
            "ArmReads ComputeHighCostGet"
        );
        assert_eq!(
            buckets(Method::Get, "/subscriptions/s/providers/Microsoft.Compute/locations/l/operations/1"),
            "ArmReads ComputeGetOperation ComputeGetOperation*"
        );
        assert_eq!(
            buckets(
                Method::Put,
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/n"
            ),
            "ArmWrites NetworkWrites"
        );
        assert_eq!(buckets(Method::Get, "/subscriptions/s/resourceGroups/g"), "ArmReads");
        assert_eq!(
            buckets(Method::Patch, &format!("{vm}/providers/Microsoft.Resources/tags/default")),
            "ArmWrites"
        );
    }
}
