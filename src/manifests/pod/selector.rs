//! Label selectors and expressions: key, operator, values.

use crate::model::{LabelKey, LabelSelector, Operator, Requirement, Requirements, label};

use crate::manifests::cursor::Cursor;
use crate::manifests::meta::is_subdomain;
use crate::manifests::tree::shortened;

/// Maximum length of a label name, without the prefix before the `/`.
const NAME_LENGTH_MAX: usize = 63;

/// Subject of an expression, which determines its operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Labels of pods or namespaces.
    Pods,
    /// Labels of nodes: with bounds, and with old keys replaced by the stable ones.
    Nodes,
    /// Labels of nodes in a NodeClaim: with Karpenter's additional bounds.
    Claims,
}

impl About {
    const fn operators(self) -> &'static [Operator] {
        match self {
            Self::Pods => Operator::ALL.split_at(4).0,
            Self::Nodes => Operator::ALL.split_at(6).0,
            Self::Claims => &Operator::ALL,
        }
    }

    /// Returns the normalized key.
    #[must_use]
    pub fn key(self, key: &str) -> LabelKey {
        match self {
            Self::Pods => LabelKey::new(key),
            Self::Nodes | Self::Claims => LabelKey::new(label::normalized(key)),
        }
    }
}

/// Reads a field with expressions, all of which must match.
#[must_use]
pub fn expressions(parent: Cursor<'_>, key: &str, about: About) -> Requirements {
    let mut requirements = Requirements::none();
    for written in parent.items(key) {
        if let Some((key, requirement)) = expression(written, about) {
            requirements.add(key, requirement);
        }
    }
    requirements
}

fn expression(written: Cursor<'_>, about: About) -> Option<(LabelKey, Requirement)> {
    let Some(key) = written.text("key").filter(|key| !key.is_empty()) else {
        written.missing("key", "an expression needs `key` and `operator`");
        return None;
    };
    key_fault(written.get("key").unwrap_or(written), key);
    let operators = about.operators();
    let names: Vec<&str> = operators.iter().map(|operator| operator.as_str()).collect();
    if written.get("operator").is_none() {
        written.missing("operator", "an expression needs `key` and `operator`");
        return None;
    }
    let operator = operators[written.choice("operator", &names)?];
    let values = written.texts("values");
    let wrong = match operator {
        Operator::In | Operator::NotIn if written.items("values").is_empty() => "needs at least one value",
        Operator::Exists | Operator::DoesNotExist if !values.is_empty() => "takes no values",
        Operator::Gt | Operator::Lt | Operator::Gte | Operator::Lte if !is_one_integer(&values) => {
            "needs exactly one value, a whole number in quotes"
        }
        Operator::In
        | Operator::NotIn
        | Operator::Exists
        | Operator::DoesNotExist
        | Operator::Gt
        | Operator::Lt
        | Operator::Gte
        | Operator::Lte => "",
    };
    if !wrong.is_empty() {
        written.get("values").unwrap_or(written).fault(format!("`{}` {wrong}", operator.as_str()), None);
        return None;
    }
    Some((about.key(key), Requirement::new(operator, values)))
}

fn is_one_integer(values: &[&std::sync::Arc<str>]) -> bool {
    matches!(values, [value] if value.parse::<i64>().is_ok())
}

/// Reads a field that selects pods or namespaces; `None` if it is absent.
#[must_use]
pub fn read(parent: Cursor<'_>, key: &str) -> Option<LabelSelector> {
    let selector = parent.get(key)?;
    let mut requirements = expressions(selector, "matchExpressions", About::Pods);
    labels_of(selector, "matchLabels");
    for (key, value) in selector.text_map("matchLabels") {
        requirements.add(LabelKey::new(key), Requirement::one(&value));
    }
    Some(LabelSelector(requirements))
}

/// Adds the faults of a field with labels that have invalid keys.
pub fn keys_of(parent: Cursor<'_>, field: &str) {
    parent.entries(field).into_iter().for_each(|(key, value)| key_fault(value, key));
}

/// Adds the faults of a field with labels that have invalid keys or values.
pub fn labels_of(parent: Cursor<'_>, field: &str) {
    keys_of(parent, field);
    for (key, value) in parent.entries(field) {
        let Some(text) = value.tree.as_text().filter(|text| !is_filled_in(text) && !is_value(text)) else {
            continue;
        };
        let message =
            format!("gives label `{}` a value that cannot be: {:?}", shortened(key), shortened(text));
        let hint = "a label's value is empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at \
                    both ends";
        value.fault(message, Some(hint));
    }
}

/// Returns whether a text is substituted before the API server sees it, for instance by Flux.
fn is_filled_in(text: &str) -> bool {
    text.contains("${") || text.contains("{{")
}

/// Adds the fault of an invalid label key, as rejected by the API server. Keys to be substituted are not checked.
fn key_fault(written: Cursor<'_>, key: &str) {
    if !is_filled_in(key) && !is_key(key) {
        let message = format!("is of a label that cannot be: {:?}", shortened(key));
        let hint = "a label's key is at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, \
                    after a DNS name and `/` if wanted";
        written.fault(message, Some(hint));
    }
}

/// Returns whether a text is a valid label key: a "qualified name" in Kubernetes.
fn is_key(key: &str) -> bool {
    let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_value(name) && prefix.is_none_or(is_subdomain)
}

/// Returns whether a text is a valid label value.
fn is_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    bytes.len() <= NAME_LENGTH_MAX
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(is_inside)
}

/// Adds the faults of fields that add labels of the pod to its `labelSelector`, as rejected by the API server. In
/// existing pods, the API server has already merged them as expressions.
pub fn keys_fault(written: Cursor<'_>, fields: &[&str]) {
    let selector = written.get("labelSelector");
    let wanted = selector.map(|selector| selector.entries("matchLabels")).unwrap_or_default();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for field in fields {
        for item in written.items(field) {
            let Some(key) = item.tree.as_text() else { continue };
            let elsewhere = seen.iter().find(|(_, other)| *other == &**key).map(|(field, _)| *field);
            let is_wanted = wanted.iter().any(|(other, _)| *other == key);
            if let Some(elsewhere) = elsewhere.or(is_wanted.then_some("labelSelector")) {
                item.fault(format!("is in `{elsewhere}` as well"), Some("name each label in one of them"));
            } else if selector.is_none() {
                item.fault("needs a `labelSelector` that it narrows", Some("add one; `{}` selects all pods"));
            }
            seen.push((field, key));
        }
    }
}
