//! Every edit of a JSON value: each leaf, key and list item is changed, removed, extended and renamed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// A place in a JSON value.
#[derive(Clone, Debug)]
enum Place {
    Key(String),
    Item(usize),
}

/// A described edit with its result.
pub(super) struct Edit {
    /// The keys and indices of the edited place.
    pub(super) path: Vec<String>,
    /// Whether the place is a leaf.
    pub(super) is_leaf: bool,
    pub(super) said: String,
    pub(super) value: Value,
}

fn at<'v>(value: &'v mut Value, path: &[Place]) -> &'v mut Value {
    path.iter().fold(value, |value, place| match place {
        Place::Key(key) => &mut value[key.as_str()],
        Place::Item(item) => &mut value[*item],
    })
}

/// Returns the value of another plan at a path; if a key is missing there, its first key is used.
fn of_another<'v>(genuine: &'v Value, path: &[Place]) -> Option<&'v Value> {
    path.iter().try_fold(genuine, |value, place| match (place, value) {
        (Place::Key(key), Value::Object(fields)) => fields.get(key).or_else(|| fields.values().next()),
        (Place::Item(item), Value::Array(items)) => items.get(*item),
        _ => None,
    })
}

fn paths(value: &Value, path: &mut Vec<Place>, found: &mut Vec<Vec<Place>>) {
    found.push(path.clone());
    let inside: Vec<(Place, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (Place::Key(key.clone()), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(item, value)| (Place::Item(item), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (place, value) in inside {
        path.push(place);
        paths(value, path, found);
        path.pop();
    }
}

fn shown(path: &[Place]) -> String {
    let parts = path.iter().map(|place| match place {
        Place::Key(key) => format!(".{key}"),
        Place::Item(item) => format!("[{item}]"),
    });
    parts.collect()
}

/// Returns replacement values: nonsense of the same type, and values that an attacker would try.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!("nonsense"), json!(7)],
        Value::Bool(is) => vec![json!(!is)],
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or(0);
            vec![json!(number + 1), json!(number * 16)]
        }
        Value::String(text) => {
            let mut others = vec![json!("nonsense"), json!(format!("{text}x")), Value::Null];
            // Nonsense does not parse as a time or a duration, so valid ones are added.
            if text.parse::<jiff::Timestamp>().is_ok() {
                others.extend([json!("2026-11-26T01:00:00Z"), json!("2030-01-01T00:00:00Z")]);
            }
            if text.parse::<jiff::SignedDuration>().is_ok() {
                others.extend([json!("PT1S"), json!("PT100H")]);
            }
            others
        }
        Value::Array(_) => vec![json!([])],
        Value::Object(_) => vec![json!({})],
    }
}

/// Number of list items that are edited; the others are alike.
const ITEMS: usize = 2;

/// Returns every edit of every single place; `genuine` is another plan, whose values at the same places are tried.
pub(super) fn edits(spec: &Value, genuine: &Value) -> Vec<Edit> {
    let mut found = Vec::new();
    paths(spec, &mut Vec::new(), &mut found);
    found.retain(|path| !path.iter().any(|place| matches!(place, Place::Item(item) if *item >= ITEMS)));
    edits_of(spec, genuine, &found)
}

/// Number of edits per place in `edits_by_kind`: removal and one replacement.
const OF_EACH: usize = 2;

/// Returns some edits of one place of each kind: the first list item stands for all, and equal keys below equal keys
/// count as one kind.
pub(super) fn edits_by_kind(spec: &Value) -> Vec<Edit> {
    let mut found = Vec::new();
    paths(spec, &mut Vec::new(), &mut found);
    let mut seen = BTreeSet::new();
    found.retain(|path| {
        let keys = path.iter().filter_map(|place| match place {
            Place::Key(key) => Some(key.clone()),
            Place::Item(_) => None,
        });
        let keys: Vec<String> = keys.collect();
        let is_item = matches!(path.last(), Some(Place::Item(_)));
        seen.insert((keys[keys.len().saturating_sub(2)..].to_vec(), is_item))
    });
    let mut edits = edits_of(spec, &Value::Null, &found);
    let mut of_place: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    edits.retain(|edit| {
        let number = of_place.entry(edit.path.clone()).or_default();
        *number += 1;
        *number <= OF_EACH
    });
    edits
}

fn edits_of(spec: &Value, genuine: &Value, found: &[Vec<Place>]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for path in found.iter().filter(|path| !path.is_empty()) {
        let value = at(&mut spec.clone(), path).clone();
        let mut tried = |what: String, edit: &dyn Fn(&mut Value)| {
            let mut spec = spec.clone();
            edit(&mut spec);
            let said = format!("{} {what}", shown(path));
            let path = path.iter().map(|place| match place {
                Place::Key(key) => key.clone(),
                Place::Item(item) => item.to_string(),
            });
            let is_leaf = !matches!(value, Value::Array(_) | Value::Object(_));
            edits.push(Edit { path: path.collect(), is_leaf, said, value: spec });
        };
        let (last, parent) = path.split_last().expect("it is no root");
        tried("is removed".to_owned(), &|spec| match (at(spec, parent), last) {
            (Value::Object(fields), Place::Key(key)) => drop(fields.remove(key)),
            (Value::Array(items), Place::Item(item)) => drop(items.remove(*item)),
            _ => unreachable!("a path leads through what is there"),
        });
        let theirs = of_another(genuine, path).filter(|theirs| **theirs != value).cloned();
        for other in others(&value).into_iter().chain(theirs) {
            tried(format!("becomes {other}"), &|spec| *at(spec, path) = other.clone());
        }
        if let (Place::Key(key), Value::Object(_)) = (last, &*at(&mut spec.clone(), parent)) {
            tried("is called otherwise".to_owned(), &|spec| {
                let fields: Option<&mut Map<String, Value>> = at(spec, parent).as_object_mut();
                let Some(fields) = fields else { return };
                let value = fields.remove(key).unwrap_or(Value::Null);
                fields.insert(format!("{key}x"), value);
            });
        }
        if value.is_object() {
            for added in [json!("nonsense"), json!({"old": null, "new": "nonsense"})] {
                tried(format!("gets {added}"), &|spec| at(spec, path)["nonsense"] = added.clone());
            }
        }
        if let Value::Array(items) = &value {
            let last = items.last().cloned().unwrap_or(json!("nonsense"));
            for added in [json!("nonsense"), last] {
                tried(format!("gets {added}"), &|spec| {
                    at(spec, path).as_array_mut().expect("a list").push(added.clone());
                });
            }
            if items.len() > 1 {
                tried("is reversed".to_owned(), &|spec| {
                    at(spec, path).as_array_mut().expect("a list").reverse();
                });
            }
        }
    }
    edits
}

/// Counts the occurrences of each leaf and each key in a value.
pub(super) fn leaves(value: &Value) -> BTreeMap<String, i64> {
    fn count(value: &Value, counted: &mut BTreeMap<String, i64>) {
        match value {
            Value::Null => {}
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                *counted.entry(json!(key).to_string()).or_default() += 1;
                count(value, counted);
            }),
            Value::Array(items) => items.iter().for_each(|value| count(value, counted)),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                *counted.entry(value.to_string()).or_default() += 1;
            }
        }
    }
    let mut counted = BTreeMap::new();
    count(value, &mut counted);
    counted
}
