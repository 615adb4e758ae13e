//! PATCH of a VM: tags are replaced as a whole, identities are merged.

use serde_json::{Value, json};

use super::{MachineState, find, show};
use crate::sim::azure::{ArmError, Azure, Call, route};
use crate::sim::http::Answer;
use crate::sim::json::{members, object, set};

/// Fields of a node's VM that an update may change.
const CHANGEABLE: [&str; 2] = ["tags", "identity"];

pub(crate) fn patch(azure: &mut Azure, call: &Call<'_>, name: &str) -> Result<Answer, ArmError> {
    let body = call.body()?;
    route::tags_of(&body)?;
    let machine = find(azure, call, name)?;
    if machine.state == MachineState::Deleting {
        return Err(ArmError::conflict(format!("The VM '{}' is being deleted.", machine.name)));
    }
    if call.request.head("if-match").is_some_and(|tag| tag != "*" && tag != format!("\"{}\"", machine.writes))
    {
        return Err(ArmError::new(
            412,
            "PreconditionFailed",
            "The condition 'If-Match' does not hold: the resource has changed.",
        ));
    }
    if let Some((other, _)) = members(&body, "").find(|(member, _)| !CHANGEABLE.contains(&member.as_str())) {
        let message = format!("Changing property '{other}' is not allowed.");
        return Err(ArmError::new(409, "PropertyChangeNotAllowed", message));
    }
    if let Some(machine) = azure.machines.get_mut(name) {
        if let Some(tags) = body.get("tags") {
            set(&mut machine.body, &["tags"], tags.clone());
        }
        if let Some(identity) = body.get("identity") {
            merge_identity(&mut machine.body, identity);
        }
        machine.writes += 1;
    }
    let machine = find(azure, call, name)?;
    Ok(Answer::json(200, &show::machine(azure, machine, show::With::Nothing)))
}

/// Removes identities that are null and adds the others.
fn merge_identity(body: &mut Value, identity: &Value) {
    set(body, &["identity", "type"], identity.get("type").cloned().unwrap_or_else(|| json!("UserAssigned")));
    let Some(slot) = body.get_mut("identity") else { return };
    let known = object(slot, "userAssignedIdentities");
    for (id, value) in members(identity, "/userAssignedIdentities") {
        let same = known.keys().find(|known| known.eq_ignore_ascii_case(id)).cloned();
        match (same, value.is_null()) {
            (Some(same), true) => {
                known.remove(&same);
            }
            (None, false) => {
                known.insert(id.clone(), json!({}));
            }
            (Some(_), false) | (None, true) => {}
        }
    }
}
