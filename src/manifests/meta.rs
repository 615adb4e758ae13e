//! Reads `metadata`: names, labels, owners, and whether an object is being deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{LabelKey, Namespace, label};

use super::claimed;
use super::cursor::Cursor;

/// The controlling owner of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Its kind.
    pub kind: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

/// The relevant metadata of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The name.
    pub name: Arc<str>,
    /// The namespace; `default` if the object has none.
    pub namespace: Namespace,
    /// The UID assigned by the cluster.
    pub uid: Option<Arc<str>>,
    /// Labels as written.
    pub labels: BTreeMap<LabelKey, Arc<str>>,
    /// Annotations.
    pub annotations: BTreeMap<Arc<str>, Arc<str>>,
    /// The controlling owner.
    pub owner: Option<Owner>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Whether it is being deleted.
    pub is_deleting: bool,
}

/// Maximum length of a name in Kubernetes.
const NAME_LENGTH_MAX: usize = 253;

impl Meta {
    /// Reads the metadata of an object; `None` and a fault if it has no valid name.
    #[must_use]
    pub fn read(object: Cursor<'_>) -> Option<Self> {
        let Some(metadata) = object.get("metadata") else {
            object.missing("metadata", "every object needs `metadata.name`");
            return None;
        };
        let name = name(metadata)?;
        let namespace = metadata.text("namespace").filter(|text| !text.is_empty());
        let annotations = metadata.text_map("annotations");
        Some(Self {
            name,
            namespace: Namespace::new(namespace.map_or("default", |text| &**text)),
            uid: metadata.text("uid").cloned(),
            labels: labels(metadata, "labels"),
            annotations: annotations.into_iter().map(|(key, value)| (Arc::clone(key), value)).collect(),
            owner: owner(metadata),
            created: metadata.time("creationTimestamp"),
            is_deleting: metadata.get("deletionTimestamp").is_some(),
        })
    }

    /// Returns the value of the do-not-disrupt annotation.
    #[must_use]
    pub fn do_not_disrupt(&self) -> Option<&str> {
        self.annotations.get(label::DO_NOT_DISRUPT).map(|value| &**value)
    }

    /// Returns the value of a label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&Arc<str>> {
        self.labels.get(key)
    }
}

/// Returns whether a pod with this value of `karpenter.sh/do-not-disrupt` blocks disruption, at least for a time:
/// `true`, or a duration from the pod's start. An invalid duration blocks it permanently.
#[must_use]
pub fn is_do_not_disrupt(value: &str) -> bool {
    let is_over = || claimed::duration(value).is_some_and(|duration| duration.is_zero());
    value == "true" || (value.starts_with(|first: char| first.is_ascii_digit()) && !is_over())
}

/// Reads a field with labels, keys as written.
#[must_use]
pub fn labels(parent: Cursor<'_>, key: &str) -> BTreeMap<LabelKey, Arc<str>> {
    parent.text_map(key).into_iter().map(|(key, value)| (LabelKey::new(key), value)).collect()
}

/// Returns labels with legacy keys renamed as in Karpenter; on conflict, the stable key wins.
#[must_use]
pub fn normalized(labels: &BTreeMap<LabelKey, Arc<str>>) -> BTreeMap<LabelKey, Arc<str>> {
    let mut result = BTreeMap::new();
    for (key, value) in labels {
        let stable = label::normalized(key.as_str());
        if stable == key.as_str() || !labels.contains_key(stable) {
            result.insert(LabelKey::new(stable), Arc::clone(value));
        }
    }
    result
}

fn name(metadata: Cursor<'_>) -> Option<Arc<str>> {
    if let Some(field) = metadata.get("name") {
        let name = field.as_text()?;
        if !is_subdomain(name) {
            field.fault(
                format!("is not a name that Kubernetes takes: {:?}", super::tree::shortened(name)),
                Some("use lower-case letters, digits, `-` and `.`, at most 253 characters, with a letter or digit at both ends"),
            );
            return None;
        }
        return Some(Arc::clone(name));
    }
    metadata.missing("name", "give the object a name");
    None
}

/// Returns whether a name is an RFC 1123 subdomain, as the names of all kinds read here must be.
#[must_use]
pub fn is_subdomain(name: &str) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.len() <= NAME_LENGTH_MAX
        && bytes.first().is_some_and(is_letter)
        && bytes.last().is_some_and(is_letter)
        && bytes.iter().all(|byte| is_letter(byte) || matches!(byte, b'-' | b'.'))
}

/// Returns the controlling owner of an object, or else its first owner.
fn owner(metadata: Cursor<'_>) -> Option<Owner> {
    let owners = metadata.items("ownerReferences");
    let controller = owners.iter().find(|owner| owner.flag("controller")).or_else(|| owners.first())?;
    let (kind, name) = (controller.text("kind")?, controller.text("name")?);
    Some(Owner { kind: Arc::clone(kind), name: Arc::clone(name) })
}
