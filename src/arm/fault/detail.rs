//! Details from Azure's message beyond its code: the policy, the limit and current usage, the subnet, the action and
//! its scope.
//!
//! Matches Azure's fixed wording; a message without it has no details. Must never repeat a whole message: it may
//! contain anything from the request.

use super::FaultKind;

/// Maximum length of one part, in characters.
const PART_MAX: usize = 120;

/// Returns the detail of a message.
pub(super) fn detail(kind: FaultKind, message: &str) -> Option<String> {
    match kind {
        FaultKind::PolicyDenied => policy(message),
        FaultKind::FamilyQuota { .. } | FaultKind::SpotQuota | FaultKind::RegionQuota => quota(message),
        FaultKind::SubnetFull => between(message, "Subnet ", " ").map(|subnet| format!("subnet `{subnet}`")),
        FaultKind::NotAllowed => action(message),
        FaultKind::SizeNotAvailable
        | FaultKind::NoCapacityInZone
        | FaultKind::NoCapacity
        | FaultKind::OverconstrainedInZone
        | FaultKind::Overconstrained
        | FaultKind::Locked
        | FaultKind::NicReserved
        | FaultKind::ReferenceMissing
        | FaultKind::ImageGone
        | FaultKind::Conflict
        | FaultKind::AlreadyExists
        | FaultKind::Throttled
        | FaultKind::NotAuthenticated
        | FaultKind::SubscriptionDisabled
        | FaultKind::SubscriptionNotFound
        | FaultKind::GroupNotFound
        | FaultKind::NotFound
        | FaultKind::ApiVersionGone
        | FaultKind::Unavailable
        | FaultKind::BadRequest
        | FaultKind::Other => None,
    }
}

/// Prefix with which the policies named in an error's body are appended to its message.
pub(super) const POLICY: &str = "Policy: ";

fn policy(message: &str) -> Option<String> {
    let reason = between(message, "Reasons: '", "'").map(|reason| reason.trim_end_matches('.').to_owned());
    let named = message.rsplit_once(POLICY).map(|(_, named)| named.trim_end_matches('.').to_owned());
    let parts: Vec<String> = named.into_iter().chain(reason).map(|part| short(&part)).collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

fn quota(message: &str) -> Option<String> {
    let number = |before: &str| {
        let digits: String = message.split_once(before)?.1.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    };
    let limit = number("Current Limit: ")?;
    let used = number("Current Usage: ").map(|used| format!(", {used} in use")).unwrap_or_default();
    // Omits the family, which follows from the size, so that equal details of several sizes are reported once.
    Some(format!("limit {limit}{used}"))
}

fn action(message: &str) -> Option<String> {
    let action = between(message, "perform action '", "'")?;
    let scope = between(message, "over scope '", "'");
    let scope = scope.map(|scope| format!(" on `{}`", short(scope))).unwrap_or_default();
    Some(format!("`{}`{scope}", short(action)))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    let (part, _) = rest.split_once(after)?;
    Some(part).filter(|part| !part.is_empty())
}

fn short(text: &str) -> String {
    match text.char_indices().nth(PART_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::arm::fault::{ErrorBody, Fault};

    fn said(code: &str, message: &str) -> String {
        Fault::of_operation(Some(ErrorBody {
            code: code.into(),
            message: message.into(),
            ..ErrorBody::default()
        }))
        .said()
    }

    #[test]
    fn a_policy_is_named_with_its_reason() {
        let body = json!({"error": {
            "code": "RequestDisallowedByPolicy",
            "message": "Resource 'vm' was disallowed by policy. Reasons: 'The selected virtual machine size is not allowed.'. See error details for policy resource IDs.",
            "additionalInfo": [{"type": "PolicyViolation", "info": {
                "policyDefinitionDisplayName": "Allowed virtual machine size SKUs", "policyAssignmentName": "allowed-sizes",
            }}],
        }});
        let fault = Fault::of_operation(ErrorBody::of(&body));
        assert_eq!(
            fault.said(),
            "an Azure Policy denies it: `Allowed virtual machine size SKUs`, assignment `allowed-sizes`: The selected virtual machine size is not allowed"
        );
    }

    #[test]
    fn limits_subnets_and_actions_are_named_and_other_words_are_not_repeated() {
        let quota = "Operation could not be completed as it results in exceeding approved standardDSv5Family Cores quota. Additional details - Deployment Model: Resource Manager, Location: westeurope, Current Limit: 10, Current Usage: 8, Additional Required: 4";
        assert_eq!(
            said("OperationNotAllowed", quota),
            "the quota of this size family is used up: limit 10, 8 in use"
        );
        let subnet =
            "Subnet nodes with address prefix 10.0.0.0/28 does not have enough capacity for 1 IP addresses.";
        assert_eq!(said("SubnetIsFull", subnet), "the subnet has no free address: subnet `nodes`");
        let denied = "The client 'x' with object id 'x' does not have authorization to perform action 'Microsoft.Compute/virtualMachines/write' over scope '/subscriptions/1' or the scope is invalid.";
        assert_eq!(
            said("AuthorizationFailed", denied),
            "not allowed: `Microsoft.Compute/virtualMachines/write` on `/subscriptions/1`"
        );
        assert_eq!(said("AllocationFailed", "customData abc"), "there is no capacity for this size");
        assert_eq!(said("OperationNotAllowed", "LowPriorityCores"), "the quota of spot cores is used up");
    }
}
