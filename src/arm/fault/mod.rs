//! Azure's refusals as a closed set: the kind of fault, what it blocks and until when, and the next step.
//!
//! Failed requests and operations that failed later use the same set; for both, Azure hides the cause in `details` and
//! `innererror`. Must never be classified by message alone if there is a code.

mod block;
mod classify;
mod detail;
mod error_body;
mod hint;

pub use block::{Block, Blocked, Capacity, Sizes, Zones};
pub use error_body::ErrorBody;

use std::collections::BTreeSet;

use serde_json::Value;

/// A refusal by Azure, with its own code and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The HTTP status; `None` if an accepted operation failed later.
    pub status: Option<u16>,
    /// Azure's code, from the innermost error that states the cause.
    pub code: String,
    /// Azure's message: one line of at most 600 characters.
    pub message: String,
    /// The wait that Azure requests.
    pub retry_after_seconds: Option<u64>,
}

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The quota of a size family is exhausted.
    FamilyQuota {
        /// Whether the quota is 0: no size of the family was ever allowed.
        is_zero: bool,
    },
    /// The quota of spot cores is exhausted.
    SpotQuota,
    /// The quota of total cores in the region is exhausted.
    RegionQuota,
    /// Azure does not sell the size to this subscription here, or has none left.
    SizeNotAvailable,
    /// The zone has no capacity for the size.
    NoCapacityInZone,
    /// There is no capacity for the size at the requested placement, zonal or regional.
    NoCapacity,
    /// The zone has no capacity for the size with all requested settings.
    OverconstrainedInZone,
    /// There is no capacity for the size with all requested settings.
    Overconstrained,
    /// An Azure Policy forbids it.
    PolicyDenied,
    /// A lock forbids it.
    Locked,
    /// The subnet has no free address.
    SubnetFull,
    /// The NIC is still reserved for a VM whose creation failed.
    NicReserved,
    /// A resource that the body references does not exist.
    ReferenceMissing,
    /// The image or its version does not exist.
    ImageGone,
    /// Another operation on the resource is in progress.
    Conflict,
    /// The resource already exists but must not.
    AlreadyExists,
    /// Too many requests.
    Throttled,
    /// The caller's identity is invalid, or its token has expired.
    NotAuthenticated,
    /// The caller lacks the permission.
    NotAllowed,
    /// The subscription is disabled or read-only.
    SubscriptionDisabled,
    /// The subscription does not exist, or belongs to another tenant.
    SubscriptionNotFound,
    /// The resource group does not exist.
    GroupNotFound,
    /// The resource does not exist.
    NotFound,
    /// Azure no longer serves this API version.
    ApiVersionGone,
    /// Azure has an internal error or is too slow.
    Unavailable,
    /// The request is invalid.
    BadRequest,
    /// Any other fault.
    Other,
}

/// An answer without its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// The header `Retry-After`, in seconds.
    pub retry_after_seconds: Option<u64>,
}

impl Fault {
    /// Classifies an error answer.
    #[must_use]
    pub fn of_answer(received: Received, body: Option<&Value>) -> Self {
        let error = body.and_then(ErrorBody::of);
        classify::fault(error, Some(received.status), received.retry_after_seconds)
    }

    /// Classifies the error of a failed operation; a missing error is a fault too.
    #[must_use]
    pub fn of_operation(error: Option<ErrorBody>) -> Self {
        classify::fault(error, None, None)
    }

    /// Returns hints for a failure with one of Azure's codes, one sentence each. If `said` contains the words of
    /// [`what`](Self::what), they clarify an ambiguous code and cover faults before it.
    #[must_use]
    pub fn hints_of(code: &str, said: &str) -> BTreeSet<&'static str> {
        let named = hint::NOT_SOLD.into_iter().filter(|kind| said.contains(hint::what(*kind)));
        let named: BTreeSet<&'static str> = named.filter_map(hint::of).collect();
        if !named.is_empty() {
            return named;
        }
        // For a node, both codes are about cores.
        if classify::QUOTA.iter().any(|known| known.eq_ignore_ascii_case(code)) {
            return hint::of(FaultKind::RegionQuota).into_iter().collect();
        }
        let fault = Self::of_operation(Some(ErrorBody { code: code.to_owned(), ..ErrorBody::default() }));
        fault.hint().into_iter().collect()
    }

    /// Returns whether the same request may succeed when it is retried later.
    #[must_use]
    pub const fn is_worth_a_retry(&self) -> bool {
        match self.kind {
            FaultKind::Throttled | FaultKind::Unavailable => true,
            // With `Retry-After`, Azure itself says that the conflict is temporary.
            FaultKind::Conflict => self.retry_after_seconds.is_some(),
            FaultKind::FamilyQuota { .. }
            | FaultKind::SpotQuota
            | FaultKind::RegionQuota
            | FaultKind::SizeNotAvailable
            | FaultKind::NoCapacityInZone
            | FaultKind::NoCapacity
            | FaultKind::OverconstrainedInZone
            | FaultKind::Overconstrained
            | FaultKind::PolicyDenied
            | FaultKind::Locked
            | FaultKind::SubnetFull
            | FaultKind::NicReserved
            | FaultKind::ReferenceMissing
            | FaultKind::ImageGone
            | FaultKind::AlreadyExists
            | FaultKind::NotAuthenticated
            | FaultKind::NotAllowed
            | FaultKind::SubscriptionDisabled
            | FaultKind::SubscriptionNotFound
            | FaultKind::GroupNotFound
            | FaultKind::NotFound
            | FaultKind::ApiVersionGone
            | FaultKind::BadRequest
            | FaultKind::Other => false,
        }
    }

    /// Returns the next step for the user in one sentence; `None` if waiting is enough.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        hint::of(self.kind)
    }

    /// Returns a short description: `the quota of this size family is used up`.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        hint::what(self.kind)
    }

    /// Returns the description with details from Azure's message: the policy, the limit and current usage, the subnet,
    /// the action.
    #[must_use]
    pub fn said(&self) -> String {
        match self.detail() {
            Some(detail) => format!("{}: {detail}", self.what()),
            None => self.what().to_owned(),
        }
    }

    /// Returns the details that Azure's message adds to [`what`](Self::what), if any.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        detail::detail(self.kind, &self.message)
    }
}

#[cfg(test)]
mod tests;
