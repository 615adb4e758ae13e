//! All objects of one kind, merged from lists and responses to writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::object::{Key, Stored, version};

/// How long a known version takes precedence over older lists. An API server whose storage was restored counts from a
/// lower version; its lists are accepted again after this time.
const HELD_AGAINST_LISTS: SignedDuration = SignedDuration::from_mins(5);

/// Number of objects per returned page, like a page of the API server.
const PAGE: usize = 500;

/// Why something is not a list of objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoList(String);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'p> {
    #[serde(borrow, default)]
    items: Option<Vec<&'p RawValue>>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    api_version: Option<String>,
    #[serde(default)]
    metadata: PageMeta,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PageMeta {
    resource_version: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// `kind` and `apiVersion` of its lists.
    kind: Option<String>,
    api_version: Option<String>,
    /// Version of the newest list; `None` if the API server's versions are not numbers.
    version: Option<u64>,
    /// When that list was taken.
    at: Timestamp,
    objects: BTreeMap<Key, Arc<Stored>>,
    /// Objects without a name, unchanged.
    nameless: Vec<Arc<str>>,
}

impl Kind {
    /// Merges the pages of a list with the known objects of the kind. Returns `None` if a newer list was already taken.
    pub(super) fn of(pages: &[Vec<u8>], known: Option<&Self>, at: Timestamp) -> Result<Option<Self>, NoList> {
        let pages = pages.iter().map(|page| serde_json::from_slice::<Page<'_>>(page));
        let pages = pages.collect::<Result<Vec<_>, _>>().map_err(|error| NoList(error.to_string()))?;
        // Pages of one list may differ in version: an object missing from the first may have been created since.
        let listed = pages.iter().map(|page| page.metadata.resource_version.as_deref().and_then(version));
        let listed = listed.min().flatten();
        let is_late = |known: &Self| {
            known.version.zip(listed).is_some_and(|(known, listed)| listed < known)
                && at < known.at + HELD_AGAINST_LISTS
        };
        if known.is_some_and(is_late) {
            return Ok(None);
        }
        let first = pages.first();
        let mut found = Self {
            kind: first.and_then(|page| page.kind.clone()),
            api_version: first.and_then(|page| page.api_version.clone()),
            version: listed,
            at,
            objects: BTreeMap::new(),
            nameless: Vec::new(),
        };
        for item in pages.iter().flat_map(|page| page.items.iter().flatten()) {
            match Stored::of_item(item, at) {
                Some((key, object)) => {
                    found.objects.insert(key, Arc::new(object));
                }
                None => found.nameless.push(item.get().into()),
            }
        }
        for (key, object) in known.iter().flat_map(|known| &known.objects) {
            let is_held = at < object.since + HELD_AGAINST_LISTS;
            match found.objects.get(key) {
                Some(listed) if listed.version == object.version && listed.text == object.text => {
                    found.objects.insert(key.clone(), Arc::clone(object));
                }
                Some(listed) if is_held && object.is_newer(listed.version) => {
                    found.objects.insert(key.clone(), Arc::clone(object));
                }
                None if is_held && object.is_newer(listed) => {
                    found.objects.insert(key.clone(), Arc::clone(object));
                }
                Some(_) | None => {}
            }
        }
        Ok(Some(found))
    }

    /// Stores an object, unless a newer version of it is known, or a list at least as new as this version lacks it.
    pub(super) fn take(&mut self, key: Key, object: Stored) {
        let is_late = match self.objects.get(&key) {
            Some(known) => known.is_newer(object.version),
            None => self.version.is_some() && !object.is_newer(self.version),
        };
        if !is_late {
            self.objects.insert(key, Arc::new(object));
        }
    }

    pub(super) fn listing(&self) -> Listing {
        Listing {
            kind: self.kind.clone(),
            api_version: self.api_version.clone(),
            objects: self.objects.values().map(|object| Arc::clone(&object.text)).collect(),
            nameless: self.nameless.clone(),
        }
    }
}

/// All objects of a kind at one point in time.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    kind: Option<String>,
    api_version: Option<String>,
    /// Sorted by namespace and name.
    objects: Vec<Arc<str>>,
    nameless: Vec<Arc<str>>,
}

impl Listing {
    /// Reads the pages of a separate list, such as the pods of one node.
    ///
    /// # Errors
    /// A page is not a list.
    pub fn of(pages: &[Vec<u8>]) -> Result<Self, NoList> {
        let kind = Kind::of(pages, None, Timestamp::UNIX_EPOCH)?;
        Ok(kind.as_ref().map(Kind::listing).unwrap_or_default())
    }

    /// Returns the objects as JSON, unnamed ones last.
    pub fn objects(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().chain(&self.nameless).map(|text| &**text)
    }

    /// Returns the objects as pages of an API server list; at least one page.
    #[must_use]
    pub fn pages(&self) -> Vec<Vec<u8>> {
        let said = |field: &str, text: &Option<String>| {
            let text = text.as_deref().map(serde_json::Value::from);
            text.map(|text| format!("\"{field}\":{text},")).unwrap_or_default()
        };
        let head = format!("{}{}", said("apiVersion", &self.api_version), said("kind", &self.kind));
        let texts: Vec<&str> = self.objects().collect();
        let page = |texts: &[&str]| format!("{{{head}\"items\":[{}]}}", texts.join(",")).into_bytes();
        if texts.is_empty() { vec![page(&[])] } else { texts.chunks(PAGE).map(page).collect() }
    }
}
