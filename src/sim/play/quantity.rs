//! Kubernetes quantities as integers, in thousandths.

use serde_json::Value;

/// An amount in thousandths of its unit: millicores, thousandths of a byte.
pub(crate) type Milli = i128;

/// Parses a quantity: `100m`, `1.5`, `2Gi`, `1e3`. An invalid one is 0.
pub(crate) fn milli(value: &Value) -> Milli {
    match value {
        Value::String(text) => parse(text).unwrap_or(0),
        Value::Number(number) => parse(&number.to_string()).unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => 0,
    }
}

fn parse(text: &str) -> Option<Milli> {
    let text = text.trim();
    let split = text.find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | '+' | '-')));
    let (digits, suffix) = text.split_at(split.unwrap_or(text.len()));
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || whole.len() > 20 || fraction.len() > 12 {
        return None;
    }
    // The number in units of 10^-12, which represents every accepted fraction exactly.
    let padded = format!("{fraction:0<12}");
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let pico = whole.checked_mul(1_000_000_000_000)?.checked_add(padded.parse().ok()?)?;
    let scaled = scale(pico, suffix)?;
    Some(if negative { -scaled } else { scaled })
}

/// Converts from 10^-12 to thousandths, applying the suffix; rounds up.
fn scale(pico: i128, suffix: &str) -> Option<i128> {
    let (times, per): (i128, i128) = match suffix {
        "n" => (1, 1_000_000_000),
        "u" => (1, 1_000_000),
        "m" => (1, 1_000),
        "" => (1, 1),
        "k" => (1_000, 1),
        "M" => (1_000_000, 1),
        "G" => (1_000_000_000, 1),
        "T" => (1_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000, 1),
        "Ki" => (1 << 10, 1),
        "Mi" => (1 << 20, 1),
        "Gi" => (1 << 30, 1),
        "Ti" => (1 << 40, 1),
        "Pi" => (1 << 50, 1),
        "Ei" => (1 << 60, 1),
        exponent => {
            let power: u32 = exponent.strip_prefix(['e', 'E'])?.trim_start_matches('+').parse().ok()?;
            (10_i128.checked_pow(power)?, 1)
        }
    };
    let scaled = pico.checked_mul(times)?;
    let per = per * 1_000_000_000;
    Some((scaled + per - 1) / per)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quantities_read_as_kubernetes_does() {
        for (text, expected) in [
            ("100m", 100),
            ("1.5", 1_500),
            ("2Gi", 2_147_483_648_000),
            ("1e3", 1_000_000),
            ("0.1m", 1),
            ("12E", 12_000_000_000_000_000_000_000),
            ("junk", 0),
            ("", 0),
        ] {
            assert_eq!(milli(&json!(text)), expected, "{text}");
        }
        assert_eq!(milli(&json!(2)), 2_000);
    }
}
