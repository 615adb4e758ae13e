//! Checks that precede every request to ARM: token, throttling, API version, permission.

use super::{ArmError, Azure, Call, Stage};
use crate::sim::faults::Occasion;
use crate::sim::reader;

/// Supported API versions: one for each type, the one that nodeform uses.
const VERSIONS: [(&str, &str); 18] = [
    ("microsoft.resources/tags", "2024-07-01"),
    ("microsoft.resources/subscriptions", "2022-12-01"),
    ("microsoft.resources/subscriptions/resourcegroups", "2024-07-01"),
    ("microsoft.authorization/permissions", "2022-04-01"),
    ("microsoft.containerservice/managedclusters", "2026-05-01"),
    ("microsoft.containerservice/managedclusters/agentpools", "2026-05-01"),
    ("microsoft.compute/virtualmachines", "2024-07-01"),
    ("microsoft.compute/virtualmachines/instanceview", "2024-07-01"),
    ("microsoft.compute/virtualmachines/extensions", "2024-07-01"),
    ("microsoft.compute/disks", "2024-03-02"),
    ("microsoft.compute/skus", "2021-07-01"),
    ("microsoft.compute/locations/usages", "2024-07-01"),
    ("microsoft.compute/locations/communitygalleries/images/versions", "2023-07-03"),
    ("microsoft.network/networkinterfaces", "2024-03-01"),
    ("microsoft.network/virtualnetworks", "2024-03-01"),
    ("microsoft.network/virtualnetworks/subnets", "2024-03-01"),
    ("microsoft.network/networksecuritygroups", "2024-03-01"),
    ("microsoft.network/loadbalancers", "2024-03-01"),
];

/// Admits a call or returns the error. The remaining requests of the buckets are added to `headers` in either case.
pub(crate) fn pass(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    headers: &mut Vec<(String, String)>,
) -> Result<(), ArmError> {
    authenticated(azure, call, stage)?;
    let lower = call.lower();
    if lower.first() != Some(&"subscriptions") || lower.len() < 2 {
        let message = format!("The resource identity '{}' is not valid.", call.path());
        return Err(ArmError::new(404, "InvalidResourceIdentity", message));
    }
    if lower[1] != azure.settings.subscription.to_lowercase() {
        let message = format!("The subscription '{}' could not be found.", call.segment(1));
        return Err(ArmError::new(404, "SubscriptionNotFound", message));
    }
    azure.buckets.take(call, (stage.now, stage.agenda.speed()), headers)?;
    if let Some(wait) = stage.faults.throttles(&Occasion::of(call), stage.now) {
        let message = format!(
            "Number of requests for the subscription exceeded the limit. Please try again after '{wait}' seconds."
        );
        return Err(
            ArmError::new(429, "TooManyRequests", message).with_header("Retry-After", wait.to_string())
        );
    }
    versioned(azure, call)?;
    only_reads(azure, call)?;
    permitted(azure, call)
}

/// Refuses writes of the read-only identity.
fn only_reads(azure: &mut Azure, call: &Call<'_>) -> Result<(), ArmError> {
    let is_reader = call.request.bearer().is_some_and(|token| azure.reader_tokens.contains(token));
    if !is_reader || matches!(call.method, "GET" | "HEAD") {
        return Ok(());
    }
    azure.refused.push(reader::refused(call.request));
    Err(denied(
        azure,
        &format!("{}/write", call.resource_type().written),
        &call.path(),
        "AuthorizationFailed",
    ))
}

fn authenticated(azure: &Azure, call: &Call<'_>, stage: &Stage<'_>) -> Result<(), ArmError> {
    let challenge = format!(
        "Bearer authorization_uri=\"https://login.microsoftonline.com/{}\", error=\"invalid_token\"",
        azure.settings.tenant
    );
    let refuse = |code: &str, message: &str| {
        Err(ArmError::new(401, code, message).with_header("WWW-Authenticate", challenge.clone()))
    };
    let Some(token) = call.request.bearer() else {
        return refuse(
            "AuthenticationFailed",
            "Authentication failed. The 'Authorization' header is missing.",
        );
    };
    match azure.tokens.get(token) {
        None => refuse("InvalidAuthenticationToken", "The access token is invalid."),
        Some(until) if *until <= stage.now => refuse(
            "ExpiredAuthenticationToken",
            "The access token expiry UTC time is earlier than current UTC time.",
        ),
        Some(_) => Ok(()),
    }
}

/// Returns whether the type is a provider's operation; operations are polled with the version in their URL.
fn is_operation(kind: &str) -> bool {
    kind.starts_with("microsoft.compute/locations/operations")
        || kind.starts_with("microsoft.network/locations/operations")
        || kind.starts_with("microsoft.network/locations/operationresults")
}

fn versioned(azure: &Azure, call: &Call<'_>) -> Result<(), ArmError> {
    let kind = call.resource_type();
    if call.api_version.is_empty() {
        let message = "The api-version query parameter (?api-version=) is required for all requests.";
        return Err(ArmError::new(400, "MissingApiVersionParameter", message));
    }
    if is_operation(&kind.lower) {
        return Ok(());
    }
    let Some((_, served)) = VERSIONS.iter().find(|(name, _)| *name == kind.lower) else {
        let (provider, leaf) = kind.written.split_once('/').unwrap_or((&kind.written, ""));
        let message = format!(
            "The resource type '{leaf}' could not be found in the namespace '{provider}' for api version '{}'.",
            call.api_version
        );
        return Err(ArmError::new(404, "InvalidResourceType", message));
    };
    if call.api_version == *served {
        return Ok(());
    }
    let location = &azure.settings.location;
    let message = format!(
        "No registered resource provider found for location '{location}' and API version '{}' for type '{}'. The supported api-versions are '{served}'. The supported locations are '{location}'.",
        call.api_version, kind.leaf
    );
    Err(ArmError::new(400, "NoRegisteredProviderFound", message))
}

fn permitted(azure: &Azure, call: &Call<'_>) -> Result<(), ArmError> {
    let kind = call.resource_type();
    let verb = match call.method {
        "GET" | "HEAD" => "read",
        "DELETE" => "delete",
        "POST" => "action",
        _ => "write",
    };
    // Read access to the subscription itself needs no further permission.
    if kind.lower == "microsoft.resources/subscriptions" {
        return Ok(());
    }
    let action = format!("{}/{verb}", kind.written).replace("/instanceView/", "/");
    if allows(&azure.settings.permissions, &action) {
        return Ok(());
    }
    Err(denied(azure, &action, &call.path(), "AuthorizationFailed"))
}

/// Checks that the identity may use another resource in a write, such as joining a subnet.
pub(crate) fn may_use(azure: &Azure, action: &str, id: &str) -> Result<(), ArmError> {
    if allows(&azure.settings.permissions, action) {
        return Ok(());
    }
    Err(denied(azure, action, id, "LinkedAuthorizationFailed"))
}

fn denied(azure: &Azure, action: &str, scope: &str, code: &str) -> ArmError {
    let client = &azure.settings.client;
    let message = format!(
        "The client '{client}' with object id '{client}' does not have authorization to perform action '{action}' over scope '{scope}' or the scope is invalid. If access was recently granted, please refresh your credentials."
    );
    ArmError::new(403, code, message)
}

/// Returns whether one of the actions matches this one; `*` matches any text.
pub(crate) fn allows(actions: &[String], action: &str) -> bool {
    actions.iter().any(|pattern| matches(&pattern.to_lowercase(), &action.to_lowercase()))
}

fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_an_action_stands_for_any_text() {
        for (pattern, action, holds) in [
            ("*", "a/b/read", true),
            ("Microsoft.Compute/*", "microsoft.compute/virtualMachines/write", true),
            ("*/read", "Microsoft.Network/networkInterfaces/read", true),
            ("*/read", "Microsoft.Network/networkInterfaces/write", false),
            ("A/*/x/*", "a/1/2/x/read", true),
            ("A/b", "A/b/c", false),
        ] {
            assert_eq!(allows(&[pattern.to_owned()], action), holds, "{pattern} {action}");
        }
    }
}
