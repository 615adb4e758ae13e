//! What Azure refuses, as a closed set: what happened, what that blocks and until when, what to do next.
//!
//! The same set comes of an answer to a request and of an operation that failed later; Azure hides the cause of both in
//! `details` and `innererror`. Must never be decided by a text alone where there is a code.

mod block;
mod classify;
mod detail;
mod error_body;
mod hint;

pub use block::{Block, Blocked, Capacity, Sizes, Zones};
pub use error_body::ErrorBody;

use std::collections::BTreeSet;

use serde_json::Value;

/// What Azure refused, with its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The status of HTTP; none where an operation failed that had been accepted.
    pub status: Option<u16>,
    /// Azure's code, of the innermost error that says what happened.
    pub code: String,
    /// Azure's message, on one line and of at most 600 characters.
    pub message: String,
    /// How long Azure asks to wait.
    pub retry_after_seconds: Option<u64>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The quota of a family of sizes is used up.
    FamilyQuota {
        /// Whether the quota is 0: no size of the family was ever allowed.
        is_zero: bool,
    },
    /// The quota of spot cores is used up.
    SpotQuota,
    /// The quota of all cores of the region is used up.
    RegionQuota,
    /// Azure does not sell the size to this subscription here, or has none of it.
    SizeNotAvailable,
    /// The zone has no room for the size.
    NoCapacityInZone,
    /// There is no room for the size where it was asked for: in the zone, or in the region.
    NoCapacity,
    /// The zone has no room for the size with all that was asked for.
    OverconstrainedInZone,
    /// There is no room for the size with all that was asked for.
    Overconstrained,
    /// An Azure Policy forbids it.
    PolicyDenied,
    /// A lock forbids it.
    Locked,
    /// The subnet has no address left.
    SubnetFull,
    /// The NIC is still reserved for a VM that failed.
    NicReserved,
    /// Something that the body refers to does not exist.
    ReferenceMissing,
    /// The image or its version does not exist.
    ImageGone,
    /// Another operation on the resource goes on.
    Conflict,
    /// It exists already, where it must not.
    AlreadyExists,
    /// Too many requests.
    Throttled,
    /// The caller is not who it says, or its token is too old.
    NotAuthenticated,
    /// The caller has no right to do this.
    NotAllowed,
    /// The subscription is disabled, or only to be read.
    SubscriptionDisabled,
    /// The subscription does not exist, or the caller's tenant is another.
    SubscriptionNotFound,
    /// The resource group does not exist.
    GroupNotFound,
    /// The resource does not exist.
    NotFound,
    /// Azure no longer has this version of its API.
    ApiVersionGone,
    /// Azure has a fault of its own, or is too slow.
    Unavailable,
    /// The request is wrong.
    BadRequest,
    /// Anything else.
    Other,
}

/// What came back, apart from the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The status of HTTP.
    pub status: u16,
    /// The header `Retry-After`, in seconds.
    pub retry_after_seconds: Option<u64>,
}

impl Fault {
    /// Reads an answer that is an error.
    #[must_use]
    pub fn of_answer(received: Received, body: Option<&Value>) -> Self {
        let error = body.and_then(ErrorBody::of);
        classify::fault(error, Some(received.status), received.retry_after_seconds)
    }

    /// Reads what an operation says of its failure; nothing said is a fault too.
    #[must_use]
    pub fn of_operation(error: Option<ErrorBody>) -> Self {
        classify::fault(error, None, None)
    }

    /// Returns what a person can do about what ended with one of Azure's codes, a sentence each. Where `said` has the words
    /// of [`what`](Self::what), they say what the code leaves open, and what was refused before it.
    #[must_use]
    pub fn hints_of(code: &str, said: &str) -> BTreeSet<&'static str> {
        let named = hint::NOT_SOLD.into_iter().filter(|kind| said.contains(hint::what(*kind)));
        let named: BTreeSet<&'static str> = named.filter_map(hint::of).collect();
        if !named.is_empty() {
            return named;
        }
        // Of a node, both are about cores.
        if classify::QUOTA.iter().any(|known| known.eq_ignore_ascii_case(code)) {
            return hint::of(FaultKind::RegionQuota).into_iter().collect();
        }
        let fault = Self::of_operation(Some(ErrorBody { code: code.to_owned(), ..ErrorBody::default() }));
        fault.hint().into_iter().collect()
    }

    /// Returns whether the same request may succeed when it is sent again after a while.
    #[must_use]
    pub const fn is_worth_a_retry(&self) -> bool {
        match self.kind {
            FaultKind::Throttled | FaultKind::Unavailable => true,
            // With `Retry-After` Azure itself says that it passes.
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

    /// What a person can do about it, as one sentence; none where waiting is all.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        hint::of(self.kind)
    }

    /// What happened, in a few words: `quota of the size family used up`.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        hint::what(self.kind)
    }

    /// Returns the same with what Azure's message adds: the policy, the limit and what is used of it, the subnet, the action.
    #[must_use]
    pub fn said(&self) -> String {
        match self.detail() {
            Some(detail) => format!("{}: {detail}", self.what()),
            None => self.what().to_owned(),
        }
    }

    /// Returns what Azure's message adds to [`what`](Self::what), in a few words, where it does.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        detail::detail(self.kind, &self.message)
    }
}

#[cfg(test)]
mod tests;
