//! Writes YAML with comments as people write it: two spaces of indentation, and quotes only around values that could be
//! misread.

use serde_json::Value;

/// YAML under construction.
#[derive(Debug, Default)]
pub(super) struct Yaml(String);

impl Yaml {
    /// Writes a line at this depth, followed by a comment.
    pub(super) fn line(&mut self, depth: usize, text: &str, comment: &str) {
        self.0.push_str(&"  ".repeat(depth));
        self.0.push_str(text);
        if !comment.is_empty() {
            self.0.push_str(" # ");
            self.0.push_str(&plain(comment));
        }
        self.0.push('\n');
    }

    /// Writes a comment line.
    pub(super) fn comment(&mut self, depth: usize, text: &str) {
        self.0.push_str(&"  ".repeat(depth));
        self.0.push_str("# ");
        self.0.push_str(&plain(text));
        self.0.push('\n');
    }

    /// Writes a key with its value, with maps and lists below it.
    pub(super) fn entry(&mut self, depth: usize, key: &str, value: &Value) {
        match value {
            Value::Object(map) => {
                self.line(depth, &format!("{}:", scalar(key)), "");
                map.iter().for_each(|(key, value)| self.entry(depth + 1, key, value));
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(value_text).collect();
                self.line(depth, &format!("{}: [{}]", scalar(key), items.join(", ")), "");
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.line(depth, &format!("{}: {}", scalar(key), value_text(value)), "");
            }
        }
    }

    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// Writes text as a scalar that YAML reads as a string. JSON strings are valid YAML, except for a few characters that
/// YAML requires to be escaped.
pub(super) fn scalar(text: &str) -> String {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    let is_word = text.starts_with(|letter: char| letter.is_ascii_alphabetic()) && text.chars().all(is_inner);
    let is_other = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    if is_word && !is_other {
        return text.to_owned();
    }
    let quoted = Value::from(text).to_string();
    quoted
        .chars()
        .map(|letter| match letter {
            letter if letter.is_control() || ('\u{2028}'..='\u{2029}').contains(&letter) => {
                format!("\\u{:04x}", u32::from(letter))
            }
            '\u{feff}' => "\\ufeff".to_owned(),
            letter => letter.to_string(),
        })
        .collect()
}

/// Returns text that is safe in a comment: on one line.
fn plain(text: &str) -> String {
    let is_break = |letter: char| letter.is_control() || ('\u{2028}'..='\u{2029}').contains(&letter);
    text.chars().map(|letter| if is_break(letter) { ' ' } else { letter }).collect()
}
