//! Finds unknown fields in built-in kinds: the API server would reject them, or drop them silently.
//!
//! Only checks field names, before an object is cut to the parts that planning needs; never values. Never checks
//! objects returned by the API server: any unknown field there belongs to a later version.

mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::nearest::nearest;

use super::allow::pod_fields;
use super::fault::{Segment, path_text};
use super::said::Remark;
use super::tree::{Tree, shortened};

pub use table::{Shape, table, type_of};

/// The type of a pod's `spec`.
pub const POD_SPEC: &str = "core.v1.PodSpec";

/// Fields of earlier Kubernetes versions that the table lacks but planning reads.
const EARLIER: [(&str, &str); 1] = [(POD_SPEC, "workloadRef")];

/// Maximum number of unknown fields to keep; more are not helpful.
const FIELDS_MAX: usize = 1_000;

/// An unknown field of some objects of a kind.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Field {
    kind: Arc<str>,
    path: String,
    /// The nearest known name.
    meant: Option<&'static str>,
}

/// The unknown fields of an input, each with the objects that have it.
#[derive(Debug, Default)]
pub struct Unknown(BTreeMap<Field, Vec<String>>);

impl Unknown {
    /// Adds the unknown fields of an object.
    pub fn look(&mut self, file: &str, tree: &Tree) {
        let (Some(version), Some(kind)) = (tree.text("apiVersion"), tree.text("kind")) else { return };
        let is_stored = tree.at(&["metadata", "uid"]).is_some();
        let Some(of) = table::kind(version, kind).filter(|_| !is_stored) else { return };
        let mut found = Vec::new();
        walk(tree, of, &mut Vec::new(), &mut found);
        let name = || {
            let metadata = |key| tree.at(&["metadata", key]).and_then(Tree::as_text);
            let namespace =
                metadata("namespace").map_or(String::new(), |name| format!("{}/", shortened(name)));
            format!("{namespace}{}", metadata("name").map_or("", |name| name))
        };
        for Found { path, line, meant } in found {
            if self.0.len() < FIELDS_MAX {
                let place = format!("`{kind}/{}` ({file}:{line})", name());
                self.0.entry(Field { kind: Arc::from(kind), path, meant }).or_default().push(place);
            }
        }
    }

    /// Returns remarks about them.
    pub fn remarks(self) -> impl Iterator<Item = Remark> {
        self.0.into_iter().map(|(Field { path, meant, .. }, mut places)| {
            places.sort();
            let first = places.first().cloned().unwrap_or_default();
            let more = places.len().saturating_sub(1);
            Remark {
                object: if more == 0 { first } else { format!("{first} and {more} more") },
                what: format!("unknown field \"{path}\""),
                hint: Some(match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "the API server does not know it: it has no effect on the plan either".to_owned(),
                }),
            }
        })
    }
}

/// An unknown field of one object.
struct Found {
    path: String,
    line: usize,
    meant: Option<&'static str>,
}

fn walk(tree: &Tree, of: &'static str, path: &mut Vec<Segment>, found: &mut Vec<Found>) {
    let (Some(entries), Some(fields)) = (tree.as_map(), type_of(of)) else { return };
    for entry in entries {
        path.push(Segment::Key(shortened(&entry.key)));
        match fields.get(&*entry.key) {
            Some(Shape::Plain) => {}
            Some(Shape::One(of)) => walk(&entry.value, of, path, found),
            Some(Shape::Each(of)) => {
                for (index, item) in entry.value.as_list().into_iter().flatten().enumerate() {
                    path.push(Segment::Index(index));
                    walk(item, of, path, found);
                    path.pop();
                }
            }
            Some(Shape::Values(of)) => {
                for value in entry.value.as_map().into_iter().flatten() {
                    path.push(Segment::Key(shortened(&value.key)));
                    walk(&value.value, of, path, found);
                    path.pop();
                }
            }
            None if EARLIER.contains(&(of, &*entry.key)) => {}
            // Misspellings of pod fields that planning reads are reported as faults instead.
            None if of == POD_SPEC && pod_fields::meant(&entry.key).is_some() => {}
            None => found.push(Found {
                path: path_text(path),
                line: entry.line,
                meant: nearest(&entry.key, fields.keys().copied()),
            }),
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests;
