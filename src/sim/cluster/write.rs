//! POST, PUT and PATCH.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{Kind, NAMESPACES, PODS};
use super::ok;
use super::patch::{Form, Patch};
use super::read::shown;
use super::route::{Route, Target};
use super::status::Refusal;
use super::store::{Name, Store};
use super::{body, fields, prepare, scale};
use crate::sim::http::{Answer, Request, Response};
use crate::sim::json::{list, object, set, text, unset};

pub(crate) fn create(
    store: &mut Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let new = body::yaml(&request.body)?;
    let kind = store.kinds.get(route.kind);
    if kind.is_namespaced && route.namespace.is_empty() {
        return Err(Refusal::bad_request("an empty namespace may not be set during creation"));
    }
    let new = prepare::new_object(store, route, new)?;
    created(store, route, request, now, new)
}

fn created(
    store: &mut Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
    new: Value,
) -> Result<Response, Refusal> {
    let kind = store.kinds.get(route.kind).clone();
    let name = Name::of(&new);
    if store.get(route.kind, &name).is_some() {
        return Err(Refusal::already_exists(&kind, &name.name));
    }
    let namespace = Name::new("", &name.namespace);
    let has_namespace = !kind.is_namespaced || store.get(NAMESPACES, &namespace).is_some();
    if !has_namespace {
        return Err(Refusal::not_found(store.kinds.get(NAMESPACES), &name.namespace));
    }
    let stored = if is_dry_run(request) { Arc::new(new) } else { store.create(route.kind, new, now) };
    Ok(Response::Answer(Answer::json(201, &shown(&kind, &route.version, &stored))))
}

pub(crate) fn replace(store: &mut Store, route: &Route, request: &Request) -> Result<Response, Refusal> {
    let given = body::yaml(&request.body)?;
    let kind = store.kinds.get(route.kind).clone();
    let name = route.name()?;
    let before =
        store.get(route.kind, &name).cloned().ok_or_else(|| Refusal::not_found(&kind, &name.name))?;
    let mut new = given;
    set(&mut new, &["metadata", "name"], json!(name.name));
    if kind.is_namespaced {
        set(&mut new, &["metadata", "namespace"], json!(name.namespace));
    }
    let is_update_of_custom = kind.is_custom && text(&new, "/metadata/resourceVersion").is_none();
    if is_update_of_custom && route.subresource.as_deref() != Some("scale") {
        let why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
        return Err(Refusal::invalid(&kind, &name.name, why));
    }
    store_update(store, route, request, Update { before: &before, new })
}

pub(crate) fn patch(
    store: &mut Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let kind = store.kinds.get(route.kind).clone();
    let patch = Patch::of(request, &kind)?;
    let name = route.name()?;
    let Some(before) = store.get(route.kind, &name).cloned() else {
        // Server-side apply creates a missing object; no other patch does.
        if patch.form != Form::Apply || route.subresource.is_some() {
            return Err(Refusal::not_found(&kind, &name.name));
        }
        let mut new = patch.body;
        set(&mut new, &["metadata", "name"], json!(name.name));
        let route = Route { target: Target::All, ..route.clone() };
        let new = prepare::new_object(store, &route, new)?;
        return created(store, &route, request, now, new);
    };
    if patch.form == Form::Apply && request.query("fieldManager").is_none() {
        return Err(Refusal::bad_request(
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ));
    }
    let base = if route.subresource.as_deref() == Some("scale") {
        scale::of(&before)
    } else {
        Value::clone(&before)
    };
    let mut new = patch.applied(&kind, &base)?;
    // A resource version in the patch is a precondition; without one, any version is accepted.
    if patch.body.pointer("/metadata/resourceVersion").is_none() {
        unset(&mut new, &["metadata", "resourceVersion"]);
    }
    store_update(store, route, request, Update { before: &before, new })
}

/// An object and its new version.
struct Update<'a> {
    before: &'a Value,
    new: Value,
}

fn store_update(
    store: &mut Store,
    route: &Route,
    request: &Request,
    update: Update<'_>,
) -> Result<Response, Refusal> {
    let kind = store.kinds.get(route.kind).clone();
    let Update { before, new } = update;
    check_name(before, &new)?;
    check_preconditions(&kind, before, &new)?;
    let new = merged_by_subresource(&kind, route.subresource.as_deref(), before, new);
    check_immutable(route, &kind, before, &new)?;
    fields::check((route.kind, &kind), &route.version, (Some(before), &new))?;
    if is_dry_run(request) {
        return Ok(ok(&shown(&kind, &route.version, &new)));
    }
    let last = new.clone();
    let stored = store.update(route.kind, new).unwrap_or_else(|| Arc::new(last));
    Ok(match route.subresource.as_deref() {
        Some("scale") => ok(&scale::of(&stored)),
        _ => ok(&shown(&kind, &route.version, &stored)),
    })
}

/// Checks that a write does not change the object's name or namespace.
fn check_name(before: &Value, new: &Value) -> Result<(), Refusal> {
    for field in ["name", "namespace"] {
        let (known, given) = [before, new]
            .map(|object| text(object, &format!("/metadata/{field}")).unwrap_or_default())
            .into();
        if known != given {
            let message = format!(
                "the {field} of the object ({given}) does not match the {field} on the URL ({known})"
            );
            return Err(Refusal::bad_request(message));
        }
    }
    Ok(())
}

fn check_preconditions(kind: &Kind, before: &Value, new: &Value) -> Result<(), Refusal> {
    let name = text(before, "/metadata/name").unwrap_or_default();
    let version = text(new, "/metadata/resourceVersion").filter(|version| !version.is_empty());
    if version.is_some_and(|version| text(before, "/metadata/resourceVersion") != Some(version)) {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        return Err(Refusal::conflict(kind, name, why));
    }
    let uid = text(new, "/metadata/uid").filter(|uid| !uid.is_empty());
    if let Some(uid) = uid
        && text(before, "/metadata/uid") != Some(uid)
    {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            text(before, "/metadata/uid").unwrap_or_default()
        );
        return Err(Refusal::conflict(kind, name, &why));
    }
    Ok(())
}

/// Restricts a write to its part of the object: a write to `status` changes nothing else, and a write to the object
/// does not change its status.
fn merged_by_subresource(kind: &Kind, subresource: Option<&str>, before: &Value, new: Value) -> Value {
    match subresource {
        Some("status") => {
            let mut merged = before.clone();
            match new.get("status") {
                Some(status) => set(&mut merged, &["status"], status.clone()),
                None => {
                    unset(&mut merged, &["status"]);
                }
            }
            merged
        }
        Some("scale") => {
            let mut merged = before.clone();
            scale::set_on(&mut merged, &new);
            merged
        }
        _ => {
            let mut merged = new;
            if kind.has_status {
                match before.get("status") {
                    Some(status) => set(&mut merged, &["status"], status.clone()),
                    None => {
                        unset(&mut merged, &["status"]);
                    }
                }
            }
            // Only DELETE starts a deletion.
            for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
                match before.pointer(&format!("/metadata/{field}")) {
                    Some(value) => {
                        object(&mut merged, "metadata").insert(field.to_owned(), value.clone());
                    }
                    None => {
                        unset(&mut merged, &["metadata", field]);
                    }
                }
            }
            merged
        }
    }
}

fn check_immutable(route: &Route, kind: &Kind, before: &Value, new: &Value) -> Result<(), Refusal> {
    let name = text(before, "/metadata/name").unwrap_or_default();
    if route.kind == PODS && before.pointer("/spec/nodeName") != new.pointer("/spec/nodeName") {
        let why = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`";
        return Err(Refusal::invalid(kind, name, why));
    }
    if kind.is_spec_immutable && before.get("spec") != new.get("spec") {
        return Err(Refusal::invalid(kind, name, "spec: Invalid value: \"object\": spec is immutable"));
    }
    let is_terminating = text(before, "/metadata/deletionTimestamp").is_some();
    let old = list(before, "/metadata/finalizers");
    let adds = list(new, "/metadata/finalizers").iter().any(|finalizer| !old.contains(finalizer));
    if is_terminating && adds {
        let why =
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted";
        return Err(Refusal::invalid(kind, name, why));
    }
    Ok(())
}

pub(crate) fn is_dry_run(request: &Request) -> bool {
    request.query("dryRun").as_deref() == Some("All")
}
