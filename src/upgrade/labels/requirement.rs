//! Translates one expression (key, operator, values) to the labels of AKS.

use super::{foreign, foreign_place, place_hint, sorts};
use crate::model::label;
use crate::upgrade::remark::Job;
use crate::upgrade::syntax::Node;

/// Result of translating an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is unchanged.
    Stays,
    /// It was changed.
    Changed,
    /// It has no counterpart.
    Lost,
}

/// Rewrites the expression of a pool or pod at `path`.
pub(crate) fn expression(node: &mut Node, path: &[&str], is_pool: bool, job: &mut Job<'_>) -> Outcome {
    let Some(key) = node.get("key").and_then(Node::as_text).map(str::to_owned) else { return Outcome::Stays };
    let line = node.get("key").map_or(node.line, |key| key.line);
    let operator = node.get("operator").and_then(Node::as_text).unwrap_or_default().to_owned();
    let values: Vec<String> = node
        .get("values")
        .map(|values| values.items().iter().filter_map(|item| item.value.scalar()).collect())
        .unwrap_or_default();
    let (sort, lost) = sorts(is_pool);
    let mut place = path.to_vec();
    let foreign_values: Vec<&String> = values.iter().filter(|value| foreign_place(&key, value)).collect();
    if let Some(first) = foreign_values.first() {
        place.push("values");
        job.say(
            lost,
            (line, &place),
            format!("`{key}` names `{first}`, which Azure does not have"),
            Some(place_hint(&key)),
        );
        return Outcome::Lost;
    }
    let Some(foreign) = foreign(&key) else { return Outcome::Stays };
    place.push("key");
    let is_bound = matches!(operator.as_str(), "Gt" | "Lt" | "Gte" | "Lte");
    let is_same = values.iter().all(|value| foreign.value(value).as_ref() == Some(value));
    let carried: Option<Vec<String>> = values.iter().map(|value| foreign.value(value)).collect();
    let (Some(aks), Some(mut carried)) = (foreign.aks, carried.filter(|_| !is_bound || is_same)) else {
        let values: Vec<&str> =
            values.iter().filter(|value| foreign.value(value).is_none()).map(String::as_str).collect();
        job.say(lost, (line, &place), format!("`{key}` {}", foreign.said(&values)), Some(foreign.hint()));
        return Outcome::Lost;
    };
    if carried.is_empty() && !is_same_kind(&foreign) {
        job.say(lost, (line, &place), format!("`{key}` {}", foreign.said(&[])), Some(foreign.hint()));
        return Outcome::Lost;
    }
    let now = if is_same {
        format!("`{key}` is `{aks}` on AKS")
    } else {
        format!("`{key}` is `{aks}` on AKS, with {}", quoted(&carried))
    };
    job.say(sort, (line, &place), now, None);
    if let Some(entry) = node.entry_mut("key") {
        *entry = entry.clone().with(Node::text(aks));
    }
    if !is_same {
        carried.sort();
        carried.dedup();
        if let Some(entry) = node.entry_mut("values") {
            *entry = entry.clone().with(Node::texts(carried.iter().map(String::as_str)));
        }
    }
    Outcome::Changed
}

/// Returns whether `Exists` means the same for both labels. Every node on AKS has a capacity type; on other clouds the
/// mere label marks a spot node.
fn is_same_kind(foreign: &super::Foreign) -> bool {
    matches!(foreign.values, super::Values::Same | super::Values::Table(_))
        && foreign.aks != Some(label::CAPACITY_TYPE)
}

fn quoted(values: &[String]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}
