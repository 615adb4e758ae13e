//! Validates an object against the embedded schema of its kind, as an API server would with strict fields.
//!
//! Reports all faults together. Must never know a kind: the schema defines what is valid. Rules that a schema can only
//! express in CEL are in [`rules`](super::rules).

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::{Map, Number, Value};

use super::fault::{Fault, Segment, shortened};
use super::nearest::did_you_mean;
use super::pattern_words::words;
use crate::api::{pattern, units};

/// Returns all faults of a value under a structural schema. A `null` field counts as absent, as in an API server.
#[must_use]
pub fn faults(schema: &Value, value: &Value) -> Vec<Fault> {
    Judge::judged(schema, value).faults
}

/// Returns the faults for unknown fields whose names are not similar to any known one; they probably belong to a later
/// version.
#[must_use]
pub fn strange_fields(schema: &Value, value: &Value) -> Vec<Fault> {
    Judge::judged(schema, value).strange
}

/// Returns whether the field at this path accepts text but no number.
#[must_use]
pub fn takes_text(schema: &Value, path: &[Segment]) -> bool {
    let below = |schema: &Value, segment: &Segment| match segment {
        Segment::Key(name) => {
            let known = schema.get("properties").and_then(|known| known.get(name));
            known.or_else(|| schema.get("additionalProperties")).cloned()
        }
        Segment::Index(_) => schema.get("items").cloned(),
    };
    let field = path.iter().try_fold(schema.clone(), |schema, segment| below(&schema, segment));
    field.is_some_and(|field| word(&field, "type") == Some("string"))
}

struct Judge<'s> {
    path: Vec<Segment>,
    faults: Vec<Fault>,
    /// Unknown fields that are not similar to any known one.
    strange: Vec<Fault>,
    /// Compiled patterns by their text: a map may have many entries.
    patterns: BTreeMap<&'s str, Option<Regex>>,
}

impl<'s> Judge<'s> {
    fn judged(schema: &'s Value, value: &Value) -> Self {
        let (faults, strange) = (Vec::new(), Vec::new());
        let mut judge = Self { path: Vec::new(), faults, strange, patterns: BTreeMap::new() };
        judge.value(schema, value);
        judge
    }

    fn say(&mut self, message: String, hint: Option<String>) {
        self.faults.push(Fault { path: self.path.clone(), message, hint });
    }

    fn below(&mut self, segment: Segment, judged: impl FnOnce(&mut Self)) {
        self.path.push(segment);
        judged(self);
        self.path.pop();
    }

    fn value(&mut self, schema: &'s Value, value: &Value) {
        if !self.type_matches(schema, value) {
            return;
        }
        match value {
            Value::Object(fields) => self.object(schema, fields),
            Value::Array(items) => self.list(schema, items),
            Value::String(text) => self.text(schema, text),
            Value::Number(number) => self.number(schema, number),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn type_matches(&mut self, schema: &'s Value, value: &Value) -> bool {
        let is_int_or_string = schema.get("x-kubernetes-int-or-string").is_some();
        let wanted = if is_int_or_string { "int-or-string" } else { word(schema, "type").unwrap_or("any") };
        let is_right = match wanted {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => whole(value).is_some(),
            "int-or-string" => value.is_string() || whole(value).is_some(),
            _ => true,
        };
        if !is_right {
            let is_number = matches!(wanted, "integer" | "int-or-string");
            match value.as_number().filter(|number| is_number && is_beyond_64_bits(number)) {
                Some(number) => self.say(format!("{number} must be {}", range(schema).1), None),
                None => {
                    let (message, hint) = wrong_type(wanted, value);
                    let pattern = word(schema, "pattern").filter(|_| wanted == "string" && value.is_number());
                    let unit = pattern.and_then(|pattern| self.unit_hint(pattern, &value.to_string()));
                    self.say(message, unit.or(hint));
                }
            }
        }
        is_right
    }

    fn object(&mut self, schema: &'s Value, fields: &Map<String, Value>) {
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        for (name, value) in fields {
            let field = known.and_then(|known| known.get(name)).or(others);
            match (field, known) {
                (Some(_), _) if value.is_null() => {}
                (Some(field), _) => self.below(Segment::Key(name.clone()), |judge| judge.value(field, value)),
                (None, Some(known)) => {
                    self.below(Segment::Key(name.clone()), |judge| judge.unknown(name, known));
                }
                // An object without further schema may hold anything.
                (None, None) => {}
            }
        }
        let is_absent = |name: &str| fields.get(name).is_none_or(Value::is_null);
        for name in list(schema, "required").iter().filter_map(Value::as_str).filter(|name| is_absent(name)) {
            let hint = known.and_then(|known| known.get(name)).and_then(example);
            self.below(Segment::Key(name.to_owned()), |judge| {
                judge.say("is missing, but required".to_owned(), hint);
            });
        }
        if let Some(most) = limit(schema, "maxProperties").filter(|most| count(fields.len()) > *most) {
            self.say(format!("has {} entries, at most {most} are allowed", fields.len()), None);
        }
    }

    fn unknown(&mut self, name: &str, known: &Map<String, Value>) {
        let meant = did_you_mean(name, known.keys().map(String::as_str));
        let is_strange = meant.is_none();
        let hint = meant.unwrap_or_else(|| {
            let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
            format!("the fields here are {}", names.join(", "))
        });
        self.say("is not a known field".to_owned(), Some(hint));
        if is_strange {
            self.strange.extend(self.faults.last().cloned());
        }
    }

    fn list(&mut self, schema: &'s Value, items: &[Value]) {
        if let Some(most) = limit(schema, "maxItems").filter(|most| count(items.len()) > *most) {
            self.say(format!("has {} items, at most {most} are allowed", items.len()), None);
        }
        if let Some(least) = limit(schema, "minItems").filter(|least| count(items.len()) < *least) {
            self.say(format!("has {} items, at least {least} must be there", items.len()), None);
        }
        if let Some(item_schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.below(Segment::Index(index), |judge| judge.value(item_schema, item));
            }
        }
        let keys: Vec<&str> =
            list(schema, "x-kubernetes-list-map-keys").iter().filter_map(Value::as_str).collect();
        match word(schema, "x-kubernetes-list-type") {
            Some("set") => self.repeated(items, |item| Some(item.to_string())),
            Some("map") => self.repeated(items, |item| {
                let values: Option<Vec<String>> =
                    keys.iter().map(|key| item.get(key).map(Value::to_string)).collect();
                Some(values?.join(", "))
            }),
            Some(_) | None => {}
        }
    }

    /// Reports items with the same identity as an earlier one.
    fn repeated(&mut self, items: &[Value], identity: impl Fn(&Value) -> Option<String>) {
        let mut seen = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let Some(identity) = identity(item) else { continue };
            if let Some(first) = seen.get(&identity) {
                let message = format!("repeats {identity} of item {first}");
                let hint = Some("keep one of them".to_owned());
                self.below(Segment::Index(index), |judge| judge.say(message, hint));
            } else {
                seen.insert(identity, index);
            }
        }
    }

    fn text(&mut self, schema: &'s Value, text: &str) {
        let choices: Vec<&str> = list(schema, "enum").iter().filter_map(Value::as_str).collect();
        if !choices.is_empty() && !choices.contains(&text) {
            let names: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
            let message = format!("{} is not one of {}", shortened(text), names.join(", "));
            self.say(message, did_you_mean(text, choices));
            return;
        }
        let length = count(text.chars().count());
        if let Some(most) = limit(schema, "maxLength").filter(|most| length > *most) {
            self.say(format!("is {length} characters long, at most {most} are allowed"), None);
        }
        if limit(schema, "minLength").is_some_and(|least| length < least) {
            self.say("must not be empty".to_owned(), None);
            return;
        }
        if let Some(pattern) = word(schema, "pattern").filter(|pattern| !self.is_match(pattern, text)) {
            let wanted =
                words(pattern).map_or_else(|| format!("text that matches `{pattern}`"), str::to_owned);
            let hint = self.unit_hint(pattern, text).or_else(|| spelling_hint(text));
            self.say(format!("{} must be {wanted}", shortened(text)), hint);
        }
        if word(schema, "format") == Some("date-time") && text.parse::<jiff::Timestamp>().is_err() {
            let message = format!("{} must be a time such as `2027-02-28T12:00:00Z`", shortened(text));
            self.say(message, None);
        }
    }

    /// Returns a hint for units from other systems: the intended value in the form of the pattern.
    fn unit_hint(&mut self, pattern: &'s str, text: &str) -> Option<String> {
        match pattern {
            pattern::QUANTITY => units::quantity(text),
            pattern::FILE_SIZE => {
                // Thousands use a capital letter here, as in the kubelet's own settings.
                let hint = units::quantity(text)?.replace("k`", "K`");
                // Every second part between backticks is a suggested value.
                let is_known = hint.split('`').skip(1).step_by(2).all(|part| self.is_match(pattern, part));
                is_known.then_some(hint)
            }
            pattern::DURATION
            | pattern::DURATION_OR_NEVER
            | pattern::WINDOW_DURATION
            | pattern::DAYS_DURATION => {
                let mut meant = units::durations(text);
                meant.retain(|meant| self.is_match(pattern, meant));
                match (meant.as_slice(), text.bytes().all(|byte| byte.is_ascii_digit())) {
                    ([], _) => None,
                    (all, true) => Some(format!("add a unit: `{}`", all.join("` or `"))),
                    ([first, ..], false) => {
                        let days = text.trim().trim_start_matches(|letter: char| letter.is_ascii_digit());
                        let has_days = days.trim_start().starts_with(['d', 'w']) && first.ends_with('h');
                        let why = if has_days { "days are not known here: " } else { "" };
                        Some(format!("{why}write `{first}`"))
                    }
                }
            }
            pattern::NODES_OR_PERCENT => {
                let joined: String = text.split_whitespace().collect();
                self.is_match(pattern, &joined).then(|| format!("write `{joined}`"))
            }
            _ => None,
        }
    }

    fn is_match(&mut self, pattern: &'s str, text: &str) -> bool {
        let compiled = self.patterns.entry(pattern).or_insert_with(|| Regex::new(pattern).ok());
        compiled.as_ref().is_some_and(|compiled| compiled.is_match(text))
    }

    fn number(&mut self, schema: &Value, number: &Number) {
        let Some(whole) = whole_number(number) else { return };
        let ((least, most), wanted) = range(schema);
        if (least..=most).contains(&whole) {
            return;
        }
        self.say(format!("{whole} must be {wanted}"), None);
    }
}

/// Returns the minimum and maximum of a number, and both as text. An API server stores 64 bits whatever the format
/// says; smaller limits are checked at run time.
fn range(schema: &Value) -> ((i128, i128), String) {
    let (type_least, type_most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let least = limit(schema, "minimum").map_or(type_least, |least| least.max(type_least));
    let most = limit(schema, "maximum").map_or(type_most, |most| most.min(type_most));
    let words = match (least == type_least, most == type_most) {
        (false, true) => format!("at least {least}"),
        (true, false) => format!("at most {most}"),
        (false, false) | (true, true) => format!("from {least} to {most}"),
    };
    ((least, most), words)
}

/// Returns whether a number is too large to keep its digits: it is invalid for more than having a fraction.
fn is_beyond_64_bits(number: &Number) -> bool {
    number.as_i64().is_none()
        && number.as_f64().is_some_and(|number| number.abs() >= 9_223_372_036_854_775_808.0)
}

fn word<'s>(schema: &'s Value, keyword: &str) -> Option<&'s str> {
    schema.get(keyword).and_then(Value::as_str)
}

fn list<'s>(schema: &'s Value, keyword: &str) -> &'s [Value] {
    schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn limit(schema: &Value, keyword: &str) -> Option<i128> {
    schema.get(keyword).and_then(Value::as_i64).map(i128::from)
}

fn count(length: usize) -> i128 {
    i128::try_from(length).unwrap_or(i128::MAX)
}

fn whole(value: &Value) -> Option<i128> {
    value.as_number().and_then(whole_number)
}

/// Returns a number written without a fraction; `1e308` and `30.0` are not.
fn whole_number(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn wrong_type(wanted: &str, value: &Value) -> (String, Option<String>) {
    let found = match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => format!("the truth value {flag}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", shortened(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    };
    let wanted_words = match wanted {
        "object" => "a map of fields",
        "array" => "a list",
        "string" => "text",
        "boolean" => "`true` or `false`",
        "integer" => "a whole number",
        _ => "a whole number or text",
    };
    let hint = match (wanted, value) {
        ("string", Value::Bool(_) | Value::Number(_)) => Some(format!("put it in quotes: \"{value}\"")),
        ("integer" | "boolean", Value::String(text)) if is_scalar(wanted, text) => {
            Some(format!("write it without quotes: {text}"))
        }
        ("integer", Value::String(text)) => {
            let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).trim_end();
            number.parse::<i64>().ok().map(|number| format!("write the number alone: {number}"))
        }
        ("integer", Value::Number(number)) => {
            number.to_string().strip_suffix(".0").map(|whole| format!("write it without a fraction: {whole}"))
        }
        ("int-or-string", Value::Number(number)) => Some(format!("put it in quotes: \"{number}\"")),
        ("array", Value::String(_) | Value::Object(_)) => Some("begin the item with `- `".to_owned()),
        _ => None,
    };
    (format!("must be {wanted_words}, not {found}"), hint)
}

fn is_scalar(wanted: &str, text: &str) -> bool {
    if wanted == "boolean" { matches!(text, "true" | "false") } else { text.parse::<i64>().is_ok() }
}

/// Returns a hint with the possible values of a missing field.
fn example(schema: &Value) -> Option<String> {
    let choices: Vec<String> =
        list(schema, "enum").iter().filter_map(Value::as_str).map(|choice| format!("`{choice}`")).collect();
    if choices.is_empty() {
        let first = word(schema, "description")?.lines().next()?.trim_end_matches('.');
        // Keep the case of an abbreviation (`API group`).
        let is_abbreviation = first.chars().nth(1).is_some_and(char::is_uppercase);
        let start = first.get(..1)?;
        let start = if is_abbreviation { start.to_owned() } else { start.to_lowercase() };
        return Some(format!("add it: {start}{}", first.get(1..)?));
    }
    Some(format!("it is one of {}", choices.join(", ")))
}

/// Returns a hint for spellings from other systems.
fn spelling_hint(text: &str) -> Option<String> {
    if text.eq_ignore_ascii_case("never") && text != "Never" {
        return Some("write `Never`".to_owned());
    }
    let dollars = text.strip_prefix('$').filter(|rest| !rest.is_empty());
    if let Some(dollars) = dollars {
        return Some(format!("write it without the sign: \"{dollars}\""));
    }
    let joined: String = text.to_lowercase().split_whitespace().collect();
    let is_place =
        text.contains(' ') && joined.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (is_place && text.bytes().any(|byte| byte.is_ascii_uppercase())).then(|| format!("write `{joined}`"))
}
