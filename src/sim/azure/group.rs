//! The subscription, its resource groups, and the identity's permissions in them.

use serde_json::json;

use super::{ArmError, Azure, Call};
use crate::sim::http::Answer;

pub(crate) fn subscription(azure: &Azure) -> Answer {
    let settings = &azure.settings;
    Answer::json(
        200,
        &json!({
            "id": format!("/subscriptions/{}", settings.subscription),
            "subscriptionId": settings.subscription, "displayName": "Simulated", "state": "Enabled",
            "tenantId": settings.tenant, "authorizationSource": "RoleBased",
            "subscriptionPolicies": {"quotaId": "EnterpriseAgreement_2014-09-01", "spendingLimit": "Off"},
        }),
    )
}

/// Returns the existing groups: the cluster's, its nodes', and that of a virtual network elsewhere.
fn names(azure: &Azure) -> Vec<String> {
    let subnet = azure.settings.subnet_id();
    let of_subnet = subnet.split('/').nth(4).map(str::to_owned);
    [azure.settings.cluster.resource_group.clone(), azure.settings.node_resource_group()]
        .into_iter()
        .chain(of_subnet)
        .collect()
}

/// Returns an error if the group does not exist.
pub(crate) fn exists(azure: &Azure, group: &str, written: &str) -> Result<(), ArmError> {
    let found = names(azure).iter().any(|name| name.to_lowercase() == group);
    if found { Ok(()) } else { Err(ArmError::group_not_found(written)) }
}

pub(crate) fn one(azure: &Azure, group: &str, call: &Call<'_>) -> Result<Answer, ArmError> {
    let name = names(azure)
        .into_iter()
        .find(|name| name.to_lowercase() == group)
        .ok_or_else(|| ArmError::group_not_found(call.segment(3)))?;
    let mut body = json!({
        "id": format!("/subscriptions/{}/resourceGroups/{name}", azure.settings.subscription),
        "name": name, "type": "Microsoft.Resources/resourceGroups",
        "location": azure.settings.location, "properties": {"provisioningState": "Succeeded"},
    });
    if name == azure.settings.node_resource_group() {
        body["managedBy"] = json!(azure.settings.cluster_arm_id());
    }
    Ok(Answer::json(200, &body))
}

pub(crate) fn permissions(azure: &Azure) -> Answer {
    let role = json!({
        "actions": azure.settings.permissions, "notActions": [], "dataActions": [], "notDataActions": [],
    });
    Answer::json(200, &json!({"value": [role]}))
}
