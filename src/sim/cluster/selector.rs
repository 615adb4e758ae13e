//! Label and field selectors.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::sim::json::{list, text};

/// A label selector.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Labels {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    key: String,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Exists,
    DoesNotExist,
    Above(i64),
    Below(i64),
    /// Never matches.
    Never,
}

impl Operator {
    fn admits(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => value.is_some_and(|value| values.contains(value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::Above(bound) => number().is_some_and(|number| number > *bound),
            Self::Below(bound) => number().is_some_and(|number| number < *bound),
            Self::Never => false,
        }
    }
}

impl Labels {
    /// Reads the text form: `a=b,c!=d,e in (x,y),f notin (z),g,!h`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let rules = split_outside_parentheses(text)
            .into_iter()
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(rule)
            .collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// Reads a `LabelSelector` object: `matchLabels` and `matchExpressions`.
    pub(crate) fn of_object(selector: &Value) -> Self {
        let labels = crate::sim::json::members(selector, "/matchLabels").filter_map(|(key, value)| {
            Some(Rule { key: key.clone(), operator: Operator::In([value.as_str()?.to_owned()].into()) })
        });
        let expressions = list(selector, "/matchExpressions").iter().filter_map(expression);
        Self { rules: labels.chain(expressions).collect() }
    }

    /// Reads a list of requirements in the form of node affinity.
    pub(crate) fn of_requirements(requirements: &[Value]) -> Self {
        Self { rules: requirements.iter().filter_map(expression).collect() }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns whether labels match, looked up by key.
    pub(crate) fn admit<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.rules.iter().all(|rule| rule.operator.admits(value_of(&rule.key)))
    }

    /// Returns whether an object's labels match.
    pub(crate) fn admit_object(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        self.admit(|key| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str))
    }
}

fn expression(requirement: &Value) -> Option<Rule> {
    let values: BTreeSet<String> =
        list(requirement, "/values").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let bound = || values.first().and_then(|value| value.parse::<i64>().ok());
    let operator = match text(requirement, "/operator")? {
        "In" => Operator::In(values),
        "NotIn" => Operator::NotIn(values),
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        "Gt" => bound().map_or(Operator::Never, Operator::Above),
        "Lt" => bound().map_or(Operator::Never, Operator::Below),
        _ => Operator::Never,
    };
    Some(Rule { key: text(requirement, "/key")?.to_owned(), operator })
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

fn rule(part: &str) -> Result<Rule, String> {
    let made = |key: &str, operator| Ok(Rule { key: key.trim().to_owned(), operator });
    if let Some(key) = part.strip_prefix('!') {
        return made(key, Operator::DoesNotExist);
    }
    if let Some((head, values)) = part.split_once('(') {
        let values = values
            .strip_suffix(')')
            .ok_or_else(|| format!("unable to parse requirement: found '{part}', expected: ')'"))?
            .split(',')
            .map(|value| value.trim().to_owned())
            .collect();
        let head = head.trim();
        return if let Some(key) = head.strip_suffix(" notin") {
            made(key, Operator::NotIn(values))
        } else if let Some(key) = head.strip_suffix(" in") {
            made(key, Operator::In(values))
        } else {
            Err(format!("unable to parse requirement: found '{head}', expected: in, notin"))
        };
    }
    let one = |value: &str| BTreeSet::from([value.trim().to_owned()]);
    if let Some((key, value)) = part.split_once("!=") {
        made(key, Operator::NotIn(one(value)))
    } else if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        made(key, Operator::In(one(value)))
    } else if part.contains(char::is_whitespace) {
        Err(format!("unable to parse requirement: found '{part}', expected: ','"))
    } else {
        made(part, Operator::Exists)
    }
}

/// A field selector: all terms must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fields {
    rules: Vec<(String, bool, String)>,
}

/// The fields that kube-apiserver supports in selectors, over all kinds.
const FIELDS: [&str; 16] = [
    "metadata.name",
    "metadata.namespace",
    "spec.nodeName",
    "spec.schedulerName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.unschedulable",
    "status.phase",
    "status.nominatedNodeName",
    "status.podIP",
    "type",
    "reason",
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.uid",
];

impl Fields {
    /// Reads the text form: `a=b,c!=d`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let rules = text
            .split(',')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (field, value, wanted) = if let Some((field, value)) = part.split_once("!=") {
                    (field, value, false)
                } else if let Some((field, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
                    (field, value, true)
                } else {
                    return Err(format!("invalid field selector: {part}"));
                };
                if !FIELDS.contains(&field) {
                    return Err(format!("field label not supported: {field}"));
                }
                Ok((field.to_owned(), wanted, value.to_owned()))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// Returns whether an object matches. A missing field counts as empty.
    pub(crate) fn admit(&self, object: &Value) -> bool {
        self.rules.iter().all(|(field, wanted, value)| {
            let found = object.pointer(&format!("/{}", field.replace('.', "/")));
            let found = match found {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(Value::Number(number)) => number.to_string(),
                Some(Value::Null | Value::Array(_) | Value::Object(_)) | None
                    if field == "spec.unschedulable" =>
                {
                    "false".to_owned()
                }
                Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => String::new(),
            };
            (found == *value) == *wanted
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_form_of_a_label_selector_reads_as_kubectl_writes_it() {
        let object = json!({"metadata": {"labels": {"app": "web", "tier": "front"}}});
        for (text, admitted) in [
            ("app=web", true),
            ("app==web,tier!=back", true),
            ("app in (web, api),tier notin (back)", true),
            ("app,!gone", true),
            ("!app", false),
            ("app in (api)", false),
            ("", true),
        ] {
            let labels = Labels::parse(text).expect("the selector is well formed");
            assert_eq!(labels.admit_object(&object), admitted, "{text}");
        }
        assert!(Labels::parse("app in (web").is_err());
        assert!(Labels::parse("app is web").is_err());
    }

    #[test]
    fn fields_that_the_api_server_does_not_select_by_are_refused() {
        assert!(Fields::parse("spec.containers=1").is_err());
        let fields = Fields::parse("spec.nodeName=a,status.phase!=Failed").expect("both are known");
        assert!(fields.admit(&json!({"spec": {"nodeName": "a"}, "status": {"phase": "Running"}})));
        assert!(!fields.admit(&json!({"spec": {"nodeName": "a"}, "status": {"phase": "Failed"}})));
    }
}
