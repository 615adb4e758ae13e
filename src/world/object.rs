//! A stored object: its text without unused fields, and its version.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The namespace, empty if there is none, and the name of an object.
pub(super) type Key = (String, String);

/// An object of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// As JSON, without `managedFields`.
    pub text: Arc<str>,
    /// Version by which newer ones are detected; `None` if the API server's versions are not numbers.
    pub(super) version: Option<u64>,
    /// When this version was first seen.
    pub(super) since: Timestamp,
}

impl Stored {
    /// Reads an item of a list; `None` if it has no name.
    pub(super) fn of_item(item: &RawValue, since: Timestamp) -> Option<(Key, Self)> {
        let mut object: BTreeMap<String, &RawValue> = serde_json::from_str(item.get()).ok()?;
        let mut metadata: BTreeMap<String, &RawValue> =
            serde_json::from_str(object.get("metadata")?.get()).ok()?;
        let text = |field: &str| {
            metadata.get(field).and_then(|text| serde_json::from_str::<Option<String>>(text.get()).ok()?)
        };
        let key = (text("namespace").unwrap_or_default(), text("name")?);
        let version = text("resourceVersion").as_deref().and_then(version);
        metadata.remove("managedFields");
        let metadata = serde_json::value::to_raw_value(&metadata).ok()?;
        object.insert("metadata".to_owned(), &metadata);
        let text = serde_json::to_string(&object).ok()?;
        Some((key, Self { text: text.into(), version, since }))
    }

    /// Reads the object in the response to a write; `None` if it is not an object or has no version.
    pub(super) fn of_value(answer: &Value, since: Timestamp) -> Option<(Key, Self)> {
        #[derive(Deserialize)]
        struct Answer<'a> {
            kind: &'a str,
        }
        if Answer::deserialize(answer).ok()?.kind == "Status" {
            return None;
        }
        let item = serde_json::value::to_raw_value(answer).ok()?;
        Self::of_item(&item, since).filter(|(_, object)| object.version.is_some())
    }

    /// Returns whether this version is newer than another; false if either is unknown.
    pub(super) fn is_newer(&self, other: Option<u64>) -> bool {
        self.version.zip(other).is_some_and(|(version, other)| version > other)
    }
}

/// Parses a `resourceVersion`. Kubernetes compares them as numbers.
pub(super) fn version(text: &str) -> Option<u64> {
    text.parse().ok()
}
