//! DELETE of one object and of all objects that a selector matches.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{KindId, NAMESPACES};
use super::read::{Selection, shown};
use super::route::Route;
use super::status::{Refusal, success};
use super::store::{Deleted, Grace, Name, Store};
use super::write::is_dry_run;
use super::{body, ok};
use crate::sim::http::{Request, Response};
use crate::sim::json::{list_mut, number, text};

pub(crate) fn one(
    store: &mut Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    if route.subresource.is_some() {
        return Err(Refusal::method_not_allowed());
    }
    let kind = store.kinds.get(route.kind).clone();
    let name = route.name()?;
    let options = options(request)?;
    let before =
        store.get(route.kind, &name).cloned().ok_or_else(|| Refusal::not_found(&kind, &name.name))?;
    check(&kind, &before, &options)?;
    let uid = text(&before, "/metadata/uid").unwrap_or_default();
    if is_dry_run(request) {
        return Ok(ok(&success(&kind, &name.name, uid)));
    }
    if text(&options, "/propagationPolicy") == Some("Orphan") {
        release_dependents(store, uid);
    }
    let grace = Grace { seconds: asked_grace(request, &options) };
    Ok(match delete(store, route.kind, &name, grace, now) {
        Some(Deleted::Marked(marked)) => ok(&shown(&kind, &route.version, &marked)),
        Some(Deleted::Gone) | None => ok(&success(&kind, &name.name, uid)),
    })
}

pub(crate) fn all(
    store: &mut Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let kind = store.kinds.get(route.kind).clone();
    let selection = Selection::of(route, request)?;
    let options = options(request)?;
    let grace = Grace { seconds: asked_grace(request, &options) };
    let names: Vec<Name> = store
        .list(route.kind)
        .filter(|(_, object)| selection.admit(object))
        .map(|(name, _)| name.clone())
        .collect();
    let mut items = Vec::new();
    for name in names {
        let before = store.get(route.kind, &name).cloned();
        items.extend(before.map(|object| shown(&kind, &route.version, &object)));
        if !is_dry_run(request) {
            delete(store, route.kind, &name, grace, now);
        }
    }
    Ok(ok(&json!({
        "kind": format!("{}List", kind.kind), "apiVersion": kind.api_version(&route.version),
        "metadata": {"resourceVersion": store.revision().to_string()}, "items": items,
    })))
}

/// Deletes an object; a namespace together with everything in it.
fn delete(store: &mut Store, kind: KindId, name: &Name, grace: Grace, now: Timestamp) -> Option<Deleted> {
    if kind == NAMESPACES {
        let kinds: Vec<KindId> = store.kinds.all().map(|(id, _)| id).collect();
        for inner in kinds {
            let names: Vec<Name> = store
                .list(inner)
                .filter(|(inside, _)| inside.namespace == name.name)
                .map(|(inside, _)| inside.clone())
                .collect();
            for inside in names {
                store.delete(inner, &inside, grace, now);
            }
        }
    }
    store.delete(kind, name, grace, now)
}

fn options(request: &Request) -> Result<Value, Refusal> {
    if request.body.is_empty() { Ok(Value::Null) } else { body::yaml(&request.body) }
}

fn asked_grace(request: &Request, options: &Value) -> Option<i64> {
    number(options, "/gracePeriodSeconds")
        .or_else(|| request.query("gracePeriodSeconds").and_then(|text| text.parse().ok()))
}

/// Checks the UID and resource version preconditions of a deletion.
pub(crate) fn check(kind: &super::kinds::Kind, before: &Arc<Value>, options: &Value) -> Result<(), Refusal> {
    let name = text(before, "/metadata/name").unwrap_or_default();
    for (field, word) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
        let wanted = text(options, &format!("/preconditions/{field}"));
        let found = text(before, &format!("/metadata/{field}")).unwrap_or_default();
        if let Some(wanted) = wanted.filter(|wanted| *wanted != found) {
            let why = format!(
                "Precondition failed: {word} in precondition: {wanted}, {word} in object meta: {found}"
            );
            return Err(Refusal::conflict(kind, name, &why));
        }
    }
    Ok(())
}

/// Removes the owner reference from all dependents of an owner.
fn release_dependents(store: &mut Store, uid: &str) {
    let kinds: Vec<KindId> = store.kinds.all().map(|(id, _)| id).collect();
    for kind in kinds {
        let owned: Vec<Name> = store
            .list(kind)
            .filter(|(_, object)| is_owned_by(object, uid))
            .map(|(name, _)| name.clone())
            .collect();
        for name in owned {
            store.modify(kind, &name, |object| {
                if let Some(owners) = list_mut(object, &["metadata", "ownerReferences"]) {
                    owners.retain(|owner| text(owner, "/uid") != Some(uid));
                }
            });
        }
    }
}

fn is_owned_by(object: &Value, uid: &str) -> bool {
    crate::sim::json::list(object, "/metadata/ownerReferences")
        .iter()
        .any(|owner| text(owner, "/uid") == Some(uid))
}
