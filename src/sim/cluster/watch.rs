//! Watches: changes of selected objects since a revision. The holder of a watch polls it whenever the world has
//! advanced.

use serde_json::{Value, json};

use super::kinds::KindId;
use super::read::{Selection, shown};
use super::route::{Route, Target};
use super::status::Refusal;
use super::store::{Change, Store};
use crate::sim::http::Request;

/// A watch and its current revision.
#[derive(Debug, Clone)]
pub struct Watch {
    kind: KindId,
    version: String,
    selection: Selection,
    revision: u64,
    /// Whether existing objects are sent first, as `ADDED`.
    starts_with_all: bool,
    /// Whether a bookmark marks the end of the existing objects.
    marks_their_end: bool,
    /// Seconds of the caller's clock after which the watch ends; if not set, the API server's own limit.
    pub timeout_seconds: Option<u64>,
}

/// The next events of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WatchEvents {
    /// The events, one JSON line each.
    pub lines: Vec<u8>,
    /// Whether the watch ends after these events.
    pub is_over: bool,
}

pub(crate) fn begin(store: &Store, route: &Route, request: &Request) -> Result<Watch, Refusal> {
    let mut selection = Selection::of(route, request)?;
    if let Target::One(name) = &route.target {
        let field = format!("metadata.name={name}");
        selection.fields = super::selector::Fields::parse(&field).map_err(Refusal::bad_request)?;
    }
    let asked = request.query("resourceVersion").unwrap_or_default();
    let marks_their_end = request.query("sendInitialEvents").as_deref() == Some("true");
    let starts_with_all = marks_their_end || asked.is_empty() || asked == "0";
    let revision = if starts_with_all {
        store.revision()
    } else {
        asked.parse().map_err(|_| Refusal::bad_request(format!("invalid resource version: {asked}")))?
    };
    let timeout_seconds = request.query("timeoutSeconds").and_then(|text| text.parse().ok());
    Ok(Watch {
        kind: route.kind,
        version: route.version.clone(),
        selection,
        revision,
        starts_with_all,
        marks_their_end,
        timeout_seconds,
    })
}

impl Watch {
    /// Returns the events since the last call.
    pub(crate) fn take(&mut self, store: &Store) -> WatchEvents {
        let mut events = WatchEvents::default();
        if std::mem::take(&mut self.starts_with_all) {
            for (_, object) in store.list(self.kind).filter(|(_, object)| self.selection.admit(object)) {
                self.push(store, &mut events, "ADDED", object);
            }
            self.revision = store.revision();
            if self.marks_their_end {
                line(&mut events, "BOOKMARK", &self.bookmark(store));
            }
            return events;
        }
        let Some(changes) = store.changes_since(self.revision) else {
            let gone = Refusal::new(410, "Expired", format!("too old resource version: {}", self.revision));
            line(&mut events, "ERROR", &gone.object());
            events.is_over = true;
            return events;
        };
        for change in changes.filter(|change| change.kind == self.kind) {
            if let Some((what, object)) = self.seen(change) {
                self.push(store, &mut events, what, &object);
            }
        }
        self.revision = store.revision();
        events
    }

    /// Returns the event for a change, as seen through the selector.
    fn seen(&self, change: &Change) -> Option<(&'static str, Value)> {
        let Change { before, after, revision, .. } = change;
        let was = before.as_ref().filter(|object| self.selection.admit(object));
        let is = after.as_ref().filter(|object| self.selection.admit(object));
        match (was, is) {
            (None, Some(new)) => Some(("ADDED", Value::clone(new))),
            (Some(_), Some(new)) => Some(("MODIFIED", Value::clone(new))),
            (Some(old), None) => {
                let mut last = Value::clone(old);
                last["metadata"]["resourceVersion"] = json!(revision.to_string());
                Some(("DELETED", last))
            }
            (None, None) => None,
        }
    }

    /// Returns a bookmark: an object with only a revision. It marks the end of the initial objects.
    fn bookmark(&self, store: &Store) -> Value {
        let mark = json!({"metadata": {
            "resourceVersion": self.revision.to_string(), "annotations": {"k8s.io/initial-events-end": "true"},
        }});
        shown(store.kinds.get(self.kind), &self.version, &mark)
    }

    fn push(&self, store: &Store, events: &mut WatchEvents, what: &str, object: &Value) {
        line(events, what, &shown(store.kinds.get(self.kind), &self.version, object));
    }
}

fn line(events: &mut WatchEvents, what: &str, object: &Value) {
    events.lines.extend_from_slice(json!({"type": what, "object": object}).to_string().as_bytes());
    events.lines.push(b'\n');
}
