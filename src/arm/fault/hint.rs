//! Descriptions and hints for faults.
//!
//! Must never name a resource: the failure that contains the fault does.

use super::FaultKind;

/// Missing capacity: exceeded quotas, and sizes and zones that are unavailable.
pub(super) const NOT_SOLD: [FaultKind; 9] = [
    FaultKind::FamilyQuota { is_zero: true },
    FaultKind::FamilyQuota { is_zero: false },
    FaultKind::SpotQuota,
    FaultKind::RegionQuota,
    FaultKind::SizeNotAvailable,
    FaultKind::NoCapacityInZone,
    FaultKind::NoCapacity,
    FaultKind::OverconstrainedInZone,
    FaultKind::Overconstrained,
];

/// Returns a short description of the fault.
pub(super) const fn what(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::FamilyQuota { is_zero: true } => "the quota of this size family is 0",
        FaultKind::FamilyQuota { is_zero: false } => "the quota of this size family is used up",
        FaultKind::SpotQuota => "the quota of spot cores is used up",
        FaultKind::RegionQuota => "the quota of all cores of the region is used up",
        FaultKind::SizeNotAvailable => "this size is not available here",
        FaultKind::NoCapacityInZone => "the zone has no capacity for this size",
        FaultKind::NoCapacity => "there is no capacity for this size",
        FaultKind::OverconstrainedInZone => "the zone has no capacity for this size with all its settings",
        FaultKind::Overconstrained => "there is no capacity for this size with all its settings",
        FaultKind::PolicyDenied => "an Azure Policy denies it",
        FaultKind::Locked => "a lock on the resource or its group denies it",
        FaultKind::SubnetFull => "the subnet has no free address",
        FaultKind::NicReserved => "the NIC is reserved for a VM that failed",
        FaultKind::ReferenceMissing => "a resource that it refers to does not exist",
        FaultKind::ImageGone => "the image does not exist",
        FaultKind::Conflict => "another operation on it is in progress",
        FaultKind::AlreadyExists => "it exists already",
        FaultKind::Throttled => "too many requests",
        FaultKind::NotAuthenticated => "the token was not accepted",
        FaultKind::NotAllowed => "not allowed",
        FaultKind::SubscriptionDisabled => "the subscription is disabled",
        FaultKind::SubscriptionNotFound => "the subscription does not exist in this tenant",
        FaultKind::GroupNotFound => "the resource group does not exist",
        FaultKind::NotFound => "it does not exist",
        FaultKind::ApiVersionGone => "Azure does not serve this API version",
        FaultKind::Unavailable => "Azure has an internal error",
        FaultKind::BadRequest => "Azure calls the request wrong",
        FaultKind::Other => "Azure refused it",
    }
}

/// Returns the next step for the user.
pub(super) const fn of(kind: FaultKind) -> Option<&'static str> {
    Some(match kind {
        FaultKind::SpotQuota => {
            "request spot quota, or allow `on-demand` in `karpenter.sh/capacity-type` of the NodePool"
        }
        FaultKind::RegionQuota => {
            "request quota of the region's total cores: `az vm list-usage -l LOCATION -o table`"
        }
        FaultKind::FamilyQuota { .. } => {
            "request quota, or allow other sizes in the NodePool: `az vm list-usage -l LOCATION -o table`"
        }
        FaultKind::SizeNotAvailable
        | FaultKind::NoCapacityInZone
        | FaultKind::NoCapacity
        | FaultKind::OverconstrainedInZone
        | FaultKind::Overconstrained => "allow more sizes or zones in the NodePool, then plan again",
        FaultKind::PolicyDenied => {
            "the message names the policy; change the AKSNodeClass (tags, disk, subnet) or exempt the node resource group"
        }
        FaultKind::Locked => "remove the lock: `az lock list -g RESOURCE_GROUP -o table`",
        FaultKind::SubnetFull => {
            "use a larger subnet (`vnetSubnetID` of the AKSNodeClass), or delete unused NICs"
        }
        FaultKind::ReferenceMissing => {
            "the cluster's network or identities changed after the plan: plan again"
        }
        FaultKind::ImageGone => "Azure has withdrawn the image version: plan again",
        FaultKind::AlreadyExists => "an earlier attempt created it: plan again",
        FaultKind::NotAuthenticated => {
            "log in again (`az login`), or check AZURE_CLIENT_ID, AZURE_TENANT_ID and the secret's end"
        }
        FaultKind::NotAllowed => {
            "the message names the action; assign Virtual Machine Contributor, Network Contributor and Managed Identity Operator on the node resource group"
        }
        FaultKind::SubscriptionDisabled => "enable the subscription in the Azure portal",
        FaultKind::SubscriptionNotFound => {
            "check AZURE_SUBSCRIPTION_ID and AZURE_TENANT_ID: `az account show`"
        }
        FaultKind::GroupNotFound => "check the resource group: `az group list -o table`",
        FaultKind::ApiVersionGone => "use a newer nodeform",
        FaultKind::NicReserved
        | FaultKind::Conflict
        | FaultKind::Throttled
        | FaultKind::NotFound
        | FaultKind::Unavailable
        | FaultKind::BadRequest
        | FaultKind::Other => return None,
    })
}
