//! GET and LIST: selectors, paging, resource versions.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::Kind;
use super::ok;
use super::route::Route;
use super::scale;
use super::selector::{Fields, Labels};
use super::status::Refusal;
use super::store::{Name, Store};
use super::table;
use crate::sim::http::{Request, Response};
use crate::sim::json::set;

/// Selection criteria of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selection {
    pub(crate) namespace: String,
    pub(crate) labels: Labels,
    pub(crate) fields: Fields,
}

impl Selection {
    pub(crate) fn of(route: &Route, request: &Request) -> Result<Self, Refusal> {
        let labels = request.query("labelSelector").unwrap_or_default();
        let fields = request.query("fieldSelector").unwrap_or_default();
        Ok(Self {
            namespace: route.namespace.clone(),
            labels: Labels::parse(&labels).map_err(Refusal::bad_request)?,
            fields: Fields::parse(&fields).map_err(Refusal::bad_request)?,
        })
    }

    pub(crate) fn admit(&self, object: &Value) -> bool {
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
        (self.namespace.is_empty() || self.namespace == namespace)
            && self.labels.admit_object(object)
            && self.fields.admit(object)
    }
}

/// Returns an object as a version of its kind.
pub(crate) fn shown(kind: &Kind, version: &str, object: &Value) -> Value {
    let mut object = object.clone();
    set(&mut object, &["apiVersion"], json!(kind.api_version(version)));
    set(&mut object, &["kind"], json!(kind.kind));
    object
}

pub(crate) fn get(
    store: &Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let kind = store.kinds.get(route.kind);
    let name = route.name()?;
    let object = store.get(route.kind, &name).ok_or_else(|| Refusal::not_found(kind, &name.name))?;
    match route.subresource.as_deref() {
        None if table::is_wanted(request) => {
            let items = [shown(kind, &route.version, object)];
            Ok(ok(&table::of(store, (route.kind, &route.version), &items, &json!({}), now)))
        }
        None | Some("status") => Ok(ok(&shown(kind, &route.version, object))),
        Some("scale") => Ok(ok(&scale::of(object))),
        Some(_) => Err(Refusal::method_not_allowed()),
    }
}

/// Lists objects, paged if the request sets a limit. A page starts after the name in its token, and has the resource
/// version of the first page, so that the pages form one consistent list.
pub(crate) fn list(
    store: &Store,
    route: &Route,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let kind = store.kinds.get(route.kind);
    let selection = Selection::of(route, request)?;
    let limit = request.query("limit").and_then(|text| text.parse::<usize>().ok()).filter(|limit| *limit > 0);
    let token = request.query("continue").filter(|token| !token.is_empty());
    let from = token.as_deref().map(Continue::parse).transpose()?;
    let revision = from.as_ref().map_or(store.revision(), |from| from.revision);
    let mut items = Vec::new();
    let mut last: Option<Name> = None;
    let mut rest = 0_u64;
    for (name, object) in store.list(route.kind) {
        let is_before = from.as_ref().is_some_and(|from| *name <= from.after);
        if is_before || !selection.admit(object) {
            continue;
        }
        if limit.is_some_and(|limit| items.len() >= limit) {
            rest += 1;
        } else {
            items.push(shown(kind, &route.version, object));
            last = Some(name.clone());
        }
    }
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if let Some(after) = last.filter(|_| rest > 0) {
        metadata["continue"] = json!(Continue { revision, after }.to_text());
        if selection.labels.is_empty() && selection.fields == Fields::default() {
            metadata["remainingItemCount"] = json!(rest);
        }
    }
    if table::is_wanted(request) {
        return Ok(ok(&table::of(store, (route.kind, &route.version), &items, &metadata, now)));
    }
    let mut body = json!({
        "kind": format!("{}List", kind.kind), "apiVersion": kind.api_version(&route.version), "metadata": metadata,
    });
    // Moved, because the macro would copy the whole page.
    body["items"] = items.into();
    Ok(ok(&body))
}

/// Position at which the next page starts.
struct Continue {
    revision: u64,
    after: Name,
}

impl Continue {
    fn to_text(&self) -> String {
        let Self { revision, after } = self;
        let text = json!({"v": "meta.k8s.io/v1", "rv": revision, "start": [after.namespace, after.name]});
        data_encoding::BASE64URL_NOPAD.encode(text.to_string().as_bytes())
    }

    fn parse(token: &str) -> Result<Self, Refusal> {
        let read = || {
            let bytes = data_encoding::BASE64URL_NOPAD.decode(token.as_bytes()).ok()?;
            let value: Value = serde_json::from_slice(&bytes).ok()?;
            let part = |at: &str| value.pointer(at).and_then(Value::as_str);
            let after = Name::new(part("/start/0")?, part("/start/1")?);
            Some(Self { revision: value.get("rv")?.as_u64()?, after })
        };
        read().ok_or_else(|| Refusal::bad_request("continue key is not valid: it is no token of this server"))
    }
}
