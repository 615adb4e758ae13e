//! Classifies errors: a list of rules, each tried on every error of the tree.
//!
//! The codes and texts are those that Karpenter's Azure provider relies on, and those from Azure's own lists. Must
//! never match the names of users' resources: the texts are Azure's fixed wording.

use super::{ErrorBody, Fault, FaultKind};

/// A classification rule.
struct Rule {
    /// Azure's error codes, case-insensitive.
    codes: &'static [&'static str],
    /// A part of Azure's message, if the code is ambiguous; empty: any message.
    text: &'static str,
    kind: FaultKind,
}

const fn rule(codes: &'static [&'static str], text: &'static str, kind: FaultKind) -> Rule {
    Rule { codes, text, kind }
}

/// Error codes of exceeded quotas.
pub(super) const QUOTA: &[&str] = &["OperationNotAllowed", "QuotaExceeded"];

/// The first rule that matches any error of the tree wins, so that a cause precedes its wrapper.
const RULES: &[Rule] = &[
    rule(QUOTA, "LowPriorityCores", FaultKind::SpotQuota),
    rule(QUOTA, "Family Cores quota", FaultKind::FamilyQuota { is_zero: false }),
    rule(QUOTA, "Total Regional Cores quota", FaultKind::RegionQuota),
    rule(&["SkuNotAvailable", "VMSizeNotSupported"], "", FaultKind::SizeNotAvailable),
    rule(&["BadRequest"], "is not supported for subscription", FaultKind::SizeNotAvailable),
    rule(&["ZonalAllocationFailed"], "", FaultKind::NoCapacityInZone),
    rule(&["AllocationFailed"], "", FaultKind::NoCapacity),
    rule(&["OverconstrainedZonalAllocationRequest"], "", FaultKind::OverconstrainedInZone),
    rule(&["OverconstrainedAllocationRequest"], "", FaultKind::Overconstrained),
    rule(&["RequestDisallowedByPolicy", "PolicyViolation"], "", FaultKind::PolicyDenied),
    rule(&["ScopeLocked"], "", FaultKind::Locked),
    rule(&["SubnetIsFull", "InsufficientSubnetSize", "SubnetFull"], "", FaultKind::SubnetFull),
    rule(&["NicReservedForAnotherVm"], "", FaultKind::NicReserved),
    rule(&["GalleryImageNotFound", "ImageNotFound", "ImageVersionNotFound"], "", FaultKind::ImageGone),
    rule(
        &["InvalidResourceReference", "LinkedInvalidPropertyId", "ReferencedResourceNotFound"],
        "",
        FaultKind::ReferenceMissing,
    ),
    rule(
        &[
            "RetryableErrorDueToAnotherOperation",
            "AnotherOperationInProgress",
            "OperationPreempted",
            "CanceledAndSupersededDueToAnotherOperation",
            "ReferencedResourceNotProvisioned",
            "Conflict",
        ],
        "",
        FaultKind::Conflict,
    ),
    rule(
        &[
            "TooManyRequests",
            "SubscriptionRequestsThrottled",
            "RequestsThrottled",
            "ResourceRequestsThrottled",
        ],
        "",
        FaultKind::Throttled,
    ),
    rule(&["ReadOnlyDisabledSubscription", "SubscriptionDisabled"], "", FaultKind::SubscriptionDisabled),
    rule(
        &["SubscriptionNotFound", "InvalidSubscriptionId", "InvalidAuthenticationTokenTenant"],
        "",
        FaultKind::SubscriptionNotFound,
    ),
    rule(
        &["AuthorizationFailed", "LinkedAuthorizationFailed", "AuthorizationPermissionMismatch"],
        "",
        FaultKind::NotAllowed,
    ),
    rule(
        &["ExpiredAuthenticationToken", "InvalidAuthenticationToken", "AuthenticationFailed"],
        "",
        FaultKind::NotAuthenticated,
    ),
    rule(&["ResourceGroupNotFound"], "", FaultKind::GroupNotFound),
    rule(
        &["InvalidApiVersionParameter", "NoRegisteredProviderFound", "UnsupportedApiVersion"],
        "",
        FaultKind::ApiVersionGone,
    ),
    rule(&["ResourceNotFound", "NotFound"], "", FaultKind::NotFound),
];

/// Marks a quota of 0: an early retry is pointless.
const QUOTA_IS_ZERO: &str = "Current Limit: 0";

pub(super) fn fault(
    error: Option<ErrorBody>,
    status: Option<u16>,
    retry_after_seconds: Option<u64>,
) -> Fault {
    let error = error.unwrap_or_default();
    let all = error.all();
    let by_rule = RULES.iter().find_map(|rule| {
        let found = all.iter().find(|error| fits(rule, error))?;
        Some((rule.kind, *found))
    });
    let (kind, told) = match (by_rule, status.and_then(by_status)) {
        // Compute throttles with codes that have other meanings elsewhere, so status 429 takes precedence, except over
        // conflicts.
        (Some((FaultKind::Conflict, told)), Some(FaultKind::Throttled)) => (FaultKind::Conflict, told),
        (_, Some(FaultKind::Throttled)) => (FaultKind::Throttled, *all.last().unwrap_or(&&error)),
        (Some((kind, told)), _) => (kind, told),
        (None, Some(kind)) => (kind, &error),
        (None, None) => (FaultKind::Other, &error),
    };
    Fault {
        kind: with_limit(kind, &told.message),
        status,
        code: told.code.clone(),
        message: told.message.clone(),
        retry_after_seconds,
    }
}

fn fits(rule: &Rule, error: &ErrorBody) -> bool {
    rule.codes.iter().any(|code| code.eq_ignore_ascii_case(&error.code)) && error.message.contains(rule.text)
}

fn with_limit(kind: FaultKind, message: &str) -> FaultKind {
    if !matches!(kind, FaultKind::FamilyQuota { .. }) {
        return kind;
    }
    let mut rest = message.split(QUOTA_IS_ZERO).skip(1);
    // `Current Limit: 0` without further digits.
    let is_zero = rest.any(|after| !after.starts_with(|c: char| c.is_ascii_digit()));
    FaultKind::FamilyQuota { is_zero }
}

const fn by_status(status: u16) -> Option<FaultKind> {
    Some(match status {
        400 => FaultKind::BadRequest,
        401 => FaultKind::NotAuthenticated,
        403 => FaultKind::NotAllowed,
        404 | 410 => FaultKind::NotFound,
        408 | 500..=599 => FaultKind::Unavailable,
        409 => FaultKind::Conflict,
        412 => FaultKind::AlreadyExists,
        429 => FaultKind::Throttled,
        _ => return None,
    })
}
