//! Resolves unquoted YAML scalars as `kubectl` does: YAML 1.1 as in Go's parser.
//!
//! `yes`, `no`, `on`, `off`, `y`, `n` are booleans, `010` is eight, `1_000` a thousand. A timestamp stays text. Numbers
//! keep their digits.

use std::fmt;
use std::sync::Arc;

use super::tree::Value;

/// The YAML 1.1 words for booleans, with their values. The first two are those of YAML 1.2.
const TRUTHS: [(&str, bool); 22] = [
    ("true", true),
    ("false", false),
    ("True", true),
    ("TRUE", true),
    ("y", true),
    ("Y", true),
    ("yes", true),
    ("Yes", true),
    ("YES", true),
    ("on", true),
    ("On", true),
    ("ON", true),
    ("False", false),
    ("FALSE", false),
    ("n", false),
    ("N", false),
    ("no", false),
    ("No", false),
    ("NO", false),
    ("off", false),
    ("Off", false),
    ("OFF", false),
];

/// A boolean with the word that was written: `N` in a list of families was meant as text.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// Index of the word in [`TRUTHS`]; small, because documents hold many values.
    word: u8,
}

impl Truth {
    /// The word `true`.
    pub const TRUE: Self = Self { word: 0 };
    /// The word `false`.
    pub const FALSE: Self = Self { word: 1 };

    /// Returns the boolean for an unquoted word.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let word = TRUTHS.iter().position(|(word, _)| *word == text)?;
        Some(Self { word: u8::try_from(word).ok()? })
    }

    /// Returns its value.
    #[must_use]
    pub fn is_true(self) -> bool {
        self.found().1
    }

    /// Returns the word as it was written.
    #[must_use]
    pub fn written(self) -> &'static str {
        self.found().0
    }

    /// Returns the message and the hint for a boolean in place of a string.
    #[must_use]
    pub fn instead_of_text(self) -> (String, String) {
        let word = self.written();
        (format!("must be a string: unquoted `{word}` is a boolean in YAML"), format!("write `\"{word}\"`"))
    }

    fn found(self) -> (&'static str, bool) {
        TRUTHS.get(usize::from(self.word)).copied().unwrap_or(TRUTHS[0])
    }
}

impl PartialEq for Truth {
    /// Compares the values, whatever the words.
    fn eq(&self, other: &Self) -> bool {
        self.is_true() == other.is_true()
    }
}

impl Eq for Truth {}

impl fmt::Display for Truth {
    /// Writes `true` or `false`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.is_true())
    }
}

/// Returns the value of an unquoted scalar without a tag.
#[must_use]
pub fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        _ => Truth::read(text)
            .map(Value::Bool)
            .or_else(|| number(text))
            .unwrap_or_else(|| Value::Text(Arc::from(text))),
    }
}

/// Parses a number; `None` if the text is not one.
fn number(text: &str) -> Option<Value> {
    let first = text.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    if matches!(text.trim_start_matches(['+', '-']), ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Some(Value::Decimal(Arc::from(text)));
    }
    let plain = text.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    if let Some(value) = whole(sign, digits) {
        return Some(value);
    }
    decimal(sign, digits)
}

/// Parses an integer in base 10, 16, 8 (`0o17` and `017`) or 2.
fn whole(sign: &str, digits: &str) -> Option<Value> {
    let (radix, rest) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if rest.is_empty() || !rest.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    match i64::from_str_radix(&format!("{sign}{rest}"), radix) {
        Ok(number) => Some(Value::Integer(number)),
        // Beyond 64 bits, only decimal digits are a number, as in Go's parser.
        Err(_) if radix == 10 => Some(Value::Decimal(Arc::from(format!("{sign}{rest}")))),
        Err(_) => None,
    }
}

/// Parses `.5`, `1.`, `1.5e3`, and `08`, which is not octal; the result is a valid JSON number.
fn decimal(sign: &str, digits: &str) -> Option<Value> {
    let (number, exponent) = match digits.find(['e', 'E']) {
        Some(place) => (&digits[..place], Some(&digits[place + 1..])),
        None => (digits, None),
    };
    let (before, after) = number.split_once('.').unwrap_or((number, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if (before.is_empty() && after.is_empty()) || !all_digits(before) || !all_digits(after) {
        return None;
    }
    let mut text = format!("{sign}{}", before.trim_start_matches('0'));
    if text == sign {
        text.push('0');
    }
    if !after.is_empty() {
        text.push('.');
        text.push_str(after);
    }
    if let Some(exponent) = exponent {
        let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if power.is_empty() || !all_digits(power) {
            return None;
        }
        text.push('e');
        text.push_str(exponent);
    }
    Some(match text.parse::<i64>() {
        Ok(number) => Value::Integer(number),
        Err(_) => Value::Decimal(Arc::from(text)),
    })
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn scalars_mean_what_they_mean_to_kubectl() {
        let table = [
            ("no", "the truth value false (unquoted `no`)"),
            ("on", "the truth value true (unquoted `on`)"),
            ("y", "the truth value true (unquoted `y`)"),
            ("true", "the truth value true"),
            ("yEs", "the text \"yEs\""),
            ("~", "empty"),
            ("010", "the number 8"),
            ("0o10", "the number 8"),
            ("0x1F", "the number 31"),
            ("0b11", "the number 3"),
            ("08", "the number 8"),
            ("1_000", "the number 1000"),
            ("+12", "the number 12"),
            ("-3", "the number -3"),
            (".5", "the number 0.5"),
            ("1e308", "the number 1e308"),
            ("1e+3", "the number 1e+3"),
            ("9223372036854775807", "the number 9223372036854775807"),
            ("9223372036854775808", "the number 9223372036854775808"),
            (".inf", "the number .inf"),
            ("500m", "the text \"500m\""),
            ("1.2.3", "the text \"1.2.3\""),
            ("-", "the text \"-\""),
            (".", "the text \".\""),
            ("1e", "the text \"1e\""),
            ("2026-11-21", "the text \"2026-11-21\""),
            ("Null", "empty"),
            ("--1", "the text \"--1\""),
        ];
        for (text, meaning) in table {
            assert_eq!(resolve(text).describe(), meaning, "{text}");
        }
    }
}
