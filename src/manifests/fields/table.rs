//! Table of field names: the type of each kind, and the fields of each type.
//!
//! Generated from the API server's `/openapi/v3`; a type without fields is a plain value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::Value;

use crate::manifests::allow::rule_of;
use crate::manifests::kind::group_and_version;

/// Shape of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A value without known fields.
    Plain,
    /// A value of this type.
    One(&'static str),
    /// A list of this type.
    Each(&'static str),
    /// A map with values of this type.
    Values(&'static str),
}

/// The fields of a type.
type Fields = BTreeMap<&'static str, Shape>;

#[derive(Default)]
struct Table {
    /// Type by `apiVersion` and kind.
    kinds: BTreeMap<(&'static str, &'static str), &'static str>,
    types: BTreeMap<&'static str, Fields>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| read(include_str!("table.txt")));

/// Returns the type of a kind's objects; `None` if the kind is not a built-in kind, in this version, that is read.
#[must_use]
pub(super) fn kind(version: &str, kind: &str) -> Option<&'static str> {
    TABLE.kinds.get(&(version, kind)).copied()
}

/// Returns the fields of a type.
#[must_use]
pub fn type_of(name: &str) -> Option<&'static BTreeMap<&'static str, Shape>> {
    TABLE.types.get(name)
}

fn read(text: &'static str) -> Table {
    let mut table = Table::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("kind"), Some(version)) => {
                if let (Some(kind), Some(of)) = (words.next(), words.next()) {
                    table.kinds.insert((version, kind), of);
                }
            }
            (Some("type"), Some(name)) => {
                table.types.insert(name, words.map(field).collect());
            }
            // Header comments about the source of the table.
            _ => {}
        }
    }
    table
}

fn field(word: &'static str) -> (&'static str, Shape) {
    let Some((name, of)) = word.split_once('=') else { return (word, Shape::Plain) };
    match (name.strip_suffix("[]"), name.strip_suffix("{}")) {
        (Some(name), _) => (name, Shape::Each(of)),
        (None, Some(name)) => (name, Shape::Values(of)),
        (None, None) => (name, Shape::One(of)),
    }
}

/// Generates the table from the schemas in these documents: every kind that is read, and every type used in it.
#[must_use]
pub fn table(documents: &[Value], version: &str) -> String {
    let parts = documents.iter().filter_map(|document| document.pointer("/components/schemas")?.as_object());
    let schemas: BTreeMap<&str, &Value> =
        parts.flatten().map(|(name, schema)| (name.as_str(), schema)).collect();
    let (mut kinds, mut types) = (BTreeSet::new(), BTreeMap::new());
    let mut left = Vec::new();
    for (name, schema) in &schemas {
        if let Some((version, kind)) = kind_of(schema) {
            kinds.insert(format!("kind {version} {kind} {}\n", short(name)));
            left.push(*name);
        }
    }
    while let Some(name) = left.pop() {
        if types.contains_key(short(name)) {
            continue;
        }
        let mut row = BTreeSet::new();
        for (field, schema) in fields_of(schemas.get(name).copied()) {
            match target(schema).filter(|(_, of)| fields_of(schemas.get(of).copied()).next().is_some()) {
                Some((form, of)) => {
                    row.insert(format!("{field}{form}={}", short(of)));
                    left.push(of);
                }
                None => {
                    row.insert(field.to_owned());
                }
            }
        }
        types.insert(short(name), row);
    }
    let mut text = format!(
        "# The fields of the kinds of Kubernetes that are read, by type: made of the API server's `/openapi/v3` by \
         `tests/e2e/fields.rs`.\n# Kubernetes {version}, Copyright The Kubernetes Authors, Apache License 2.0. Names \
         alone.\n"
    );
    text.extend(kinds);
    for (name, row) in types {
        let _ = write!(text, "type {name}");
        row.iter().for_each(|field| {
            let _ = write!(text, " {field}");
        });
        text.push('\n');
    }
    text
}

/// Returns `apiVersion` and kind of an object schema, if the kind is read.
fn kind_of(schema: &Value) -> Option<(String, &str)> {
    let [named] = schema.get("x-kubernetes-group-version-kind")?.as_array()?.as_slice() else { return None };
    let word = |key| named.get(key).and_then(Value::as_str);
    let (group, version, kind) = (word("group")?, word("version")?, word("kind")?);
    rule_of(group, kind)?;
    let version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    debug_assert_eq!(group_and_version(&version).0, group);
    Some((version, kind))
}

fn fields_of(schema: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.and_then(|schema| schema.get("properties")?.as_object());
    fields.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

/// Returns the type of a field, its items or its values, with the notation for which one.
fn target(schema: &Value) -> Option<(&'static str, &str)> {
    let items = || Some(("[]", reference(schema.get("items")?)?));
    let values = || Some(("{}", reference(schema.get("additionalProperties")?)?));
    reference(schema).map(|of| ("", of)).or_else(items).or_else(values)
}

fn reference(schema: &Value) -> Option<&str> {
    let own = schema.get("$ref").into_iter();
    let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let mut all = own.chain(all.filter_map(|part| part.get("$ref")));
    all.find_map(Value::as_str)?.rsplit('/').next()
}

/// Removes the common prefix of type names.
fn short(name: &str) -> &str {
    let prefixes = ["io.k8s.apimachinery.pkg.apis.", "io.k8s.apimachinery.pkg.", "io.k8s.api."];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}
