//! `pods/binding`: binds a pod to the node that a scheduler chose.

use jiff::Timestamp;
use serde_json::json;

use super::body;
use super::kinds::PODS;
use super::route::Route;
use super::status::Refusal;
use super::store::{Name, Store};
use crate::sim::agenda::second;
use crate::sim::http::{Answer, Request, Response};
use crate::sim::json::{set, text, text_or_empty};

pub(crate) fn bind(
    store: &mut Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let binding = body::yaml(&request.body)?;
    let name = route.name()?;
    let kind = store.kinds.get(PODS).clone();
    let pod = store.get(PODS, &name).ok_or_else(|| Refusal::not_found(&kind, &name.name))?;
    let Some(node) = text(&binding, "/target/name").filter(|node| !node.is_empty()) else {
        return Err(Refusal::invalid(&kind, &name.name, "target.name: Required value"));
    };
    let bound = text_or_empty(pod, "/spec/nodeName");
    if !bound.is_empty() {
        let why = format!("pod {} is already assigned to node \"{bound}\"", name.name);
        return Err(Refusal::conflict(&kind, &name.name, &why));
    }
    if text(pod, "/metadata/deletionTimestamp").is_some() {
        let why = format!("pod {} is being deleted, cannot be assigned to a host", name.name);
        return Err(Refusal::conflict(&kind, &name.name, &why));
    }
    assign(store, &name, node, now);
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Response::Answer(Answer::json(201, &status)))
}

/// Binds a pod to a node.
pub(crate) fn assign(store: &mut Store, name: &Name, node: &str, now: Timestamp) {
    let node = node.to_owned();
    store.modify(PODS, name, |pod| {
        set(pod, &["spec", "nodeName"], json!(node));
        set_condition(
            pod,
            json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": second(now)}),
        );
    });
}

/// Sets a condition of an object, by its type. An unchanged status keeps its transition time.
pub(crate) fn set_condition(object: &mut serde_json::Value, condition: serde_json::Value) {
    let Some(conditions) = crate::sim::json::list_mut(object, &["status", "conditions"]) else { return };
    let found = conditions.iter_mut().find(|known| known.get("type") == condition.get("type"));
    match found {
        Some(known) => {
            let mut new = condition;
            if known.get("status") == new.get("status")
                && let Some(time) = known.get("lastTransitionTime")
            {
                new["lastTransitionTime"] = time.clone();
            }
            *known = new;
        }
        None => conditions.push(condition),
    }
}
