//! The last known objects of a cluster: one store for planning and for applying plans.
//!
//! ```text
//!  lists ─────────────▶ World ─┬─ pages ──▶ `manifests` ──▶ Snapshot: what plans are made from
//!  answers to writes ─▶        └─ read  ──▶ Seen: what a rollout goes by
//! ```
//!
//! Both sides see the same versions of the same objects, and see a write of this process once the API server responds.
//! Planning parses them like files, so that a live cluster and its dump mean the same; a rollout uses the fields that
//! [`read`] parses. [`azure`] converts Azure's lists for both.
//!
//! Never takes a partial list for a complete one, nor an object for deleted because a list from before its last change
//! lacks it.

pub mod azure;
mod kind;
mod object;
pub mod read;
pub mod seen;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

pub use kind::{Listing, NoList};
pub use object::Stored;
pub use seen::{Seen, Whole};

use kind::Kind;

/// The objects of a cluster, by the path of their list (`/api/v1/pods`).
#[derive(Clone, Debug, Default)]
pub struct World {
    kinds: BTreeMap<String, Kind>,
}

impl World {
    /// Stores all pages of a kind's list. An object that was changed or created after the list keeps its known state.
    ///
    /// # Errors
    /// A page is not a list; nothing is stored then.
    pub fn listed(&mut self, path: &str, pages: &[Vec<u8>], at: Timestamp) -> Result<(), NoList> {
        let known = self.kinds.get(path);
        let kind = Kind::of(pages, known, at)?;
        if let Some(kind) = kind {
            self.kinds.insert(path.to_owned(), kind);
        }
        Ok(())
    }

    /// Stores the response to a write of an object or its status. Kinds that were never listed are ignored: one object
    /// is not the whole list.
    pub fn wrote(&mut self, path: &str, answer: &Value, at: Timestamp) {
        let kind = list_of(path).and_then(|list| self.kinds.get_mut(&list));
        if let (Some(kind), Some((key, object))) = (kind, Stored::of_value(answer, at)) {
            kind.take(key, object);
        }
    }

    /// Returns all objects of a kind; `None` if it was never listed.
    #[must_use]
    pub fn listing(&self, path: &str) -> Option<Listing> {
        self.kinds.get(path).map(Kind::listing)
    }
}

/// Returns the path of a kind's cluster-wide list, given the path of an object, of its status, or of a namespaced list;
/// `None` for any other path.
fn list_of(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let (version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => (format!("/api/{version}"), rest),
        ["apis", group, version, rest @ ..] => (format!("/apis/{group}/{version}"), rest),
        _ => return None,
    };
    let rest = match rest {
        ["namespaces", _, plural, rest @ ..] if !matches!(*plural, "status" | "finalize") => {
            [&[*plural], rest].concat()
        }
        _ => rest.to_vec(),
    };
    match rest.as_slice() {
        [plural] | [plural, _] | [plural, _, "status"] => Some(format!("{version}/{plural}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
