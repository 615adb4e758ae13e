//! One object as it is kept: its text without what nobody reads, and what tells its versions apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The namespace, empty where it has none, and the name of an object.
pub(super) type Key = (String, String);

/// An object of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// As JSON, without `managedFields`.
    pub text: Arc<str>,
    /// The version by which a later one is newer; none where the API server does not count.
    pub(super) version: Option<u64>,
    /// When this version was first seen.
    pub(super) since: Timestamp,
}

impl Stored {
    /// Reads an object of a list; nothing where it has no name.
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

    /// Reads an object that a write answered with; nothing where it is none, or does not say its version.
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

    /// Whether this version is newer than another; where one does not count, none is.
    pub(super) fn is_newer(&self, other: Option<u64>) -> bool {
        self.version.zip(other).is_some_and(|(version, other)| version > other)
    }
}

/// Reads a `resourceVersion`. Kubernetes compares them as numbers.
pub(super) fn version(text: &str) -> Option<u64> {
    text.parse().ok()
}
