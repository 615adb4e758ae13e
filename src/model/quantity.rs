//! Kubernetes quantities: `500m`, `1.5Gi`, `2e3`, `12E`.
//!
//! A quantity keeps the original text and its exact value in billionths of a unit. Parsing never rounds except below a
//! billionth, where Kubernetes rounds up as well.

use std::fmt;
use std::sync::Arc;

/// Billionths in one unit.
const NANO: i128 = 1_000_000_000;

/// A number with a unit suffix, in Kubernetes' notation.
#[derive(Clone, Debug)]
pub struct Quantity {
    text: Arc<str>,
    nano: i128,
}

impl Quantity {
    /// Parses a quantity; `None` if the text is not one or exceeds ±10^28 units.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (number, multiplier) = split_suffix(text)?;
        let nano = scaled(number, multiplier)?;
        Some(Self { text: Arc::from(text), nano })
    }

    /// Returns the original text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the value in billionths of a unit.
    #[must_use]
    pub const fn nano(&self) -> i128 {
        self.nano
    }

    /// Returns whole units, rounded up and clamped to `i64`, as Kubernetes counts a request.
    #[must_use]
    pub fn units_up(&self) -> i64 {
        clamp(div_up(self.nano, NANO))
    }

    /// Returns whole units, rounded down and clamped to `i64`, as capacity is counted.
    #[must_use]
    pub fn units_down(&self) -> i64 {
        clamp(self.nano.div_euclid(NANO))
    }

    /// Returns thousandths of a unit, rounded up and clamped to `i64`, as a CPU request is counted.
    #[must_use]
    pub fn milli_up(&self) -> i64 {
        clamp(div_up(self.nano, NANO / 1000))
    }

    /// Returns thousandths of a unit, rounded down and clamped to `i64`.
    #[must_use]
    pub fn milli_down(&self) -> i64 {
        clamp(self.nano.div_euclid(NANO / 1000))
    }

    /// Returns whether the value is below zero.
    #[must_use]
    pub const fn is_negative(&self) -> bool {
        self.nano < 0
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

const fn div_up(value: i128, by: i128) -> i128 {
    -((-value).div_euclid(by))
}

fn clamp(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// The multiplier of the number: `base` to the power of `exponent`.
#[derive(Clone, Copy)]
struct Multiplier {
    base: i128,
    exponent: i32,
}

fn split_suffix(text: &str) -> Option<(&str, Multiplier)> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    const DECIMAL: [(&str, i32); 9] =
        [("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
    for (suffix, power) in BINARY.iter().zip(1..) {
        if let Some(number) = text.strip_suffix(suffix) {
            return Some((number, Multiplier { base: 1024, exponent: power }));
        }
    }
    for (suffix, power) in DECIMAL {
        if let Some(number) = text.strip_suffix(suffix) {
            return Some((number, Multiplier { base: 10, exponent: power }));
        }
    }
    let split = text.find(['e', 'E']).unwrap_or(text.len());
    let (number, exponent) = text.split_at(split);
    let exponent = match exponent.get(1..) {
        None => 0,
        Some(digits) => digits.parse::<i32>().ok().filter(|power| (-40..=40).contains(power))?,
    };
    Some((number, Multiplier { base: 10, exponent }))
}

/// Parses a plain decimal, with an optional exponent, into billionths.
pub(super) fn decimal_nano(text: &str) -> Option<i128> {
    let split = text.find(['e', 'E']).unwrap_or(text.len());
    let (number, exponent) = text.split_at(split);
    let exponent = match exponent.get(1..) {
        None => 0,
        Some(digits) => digits.parse::<i32>().ok().filter(|power| (-40..=40).contains(power))?,
    };
    scaled(number, Multiplier { base: 10, exponent })
}

/// Multiplies exactly and rounds away from zero below a billionth.
fn scaled(number: &str, multiplier: Multiplier) -> Option<i128> {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    // Thirty digits cover every realistic value; longer text is rejected without being processed.
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    if whole.len() + fraction.len() > 30 {
        return None;
    }
    let mut value: i128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        value = value * 10 + i128::from(digit - b'0');
    }
    let mut decimal_shift = 9 - i32::try_from(fraction.len()).ok()?;
    if multiplier.base == 1024 {
        value = value.checked_mul(1024_i128.checked_pow(u32::try_from(multiplier.exponent).ok()?)?)?;
    } else {
        decimal_shift += multiplier.exponent;
    }
    let power = 10_i128.checked_pow(decimal_shift.unsigned_abs().min(38))?;
    let value = if decimal_shift >= 0 { value.checked_mul(power)? } else { div_up(value, power) };
    // 10^28 units: more than any sum that stays exact in 128 bits.
    (value <= 10_i128.pow(37)).then_some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    fn milli(text: &str) -> Option<i64> {
        Quantity::parse(text).map(|quantity| quantity.milli_up())
    }

    #[test]
    fn suffixes_scale_by_ten_and_by_1024() {
        assert_eq!(milli("500m"), Some(500));
        assert_eq!(milli("0.1"), Some(100));
        assert_eq!(milli("1.5"), Some(1500));
        assert_eq!(milli("100u"), Some(1));
        assert_eq!(milli("2e3"), Some(2_000_000));
        assert_eq!(Quantity::parse("1.5Gi").map(|q| q.units_up()), Some(1_610_612_736));
        assert_eq!(Quantity::parse("128G").map(|q| q.units_up()), Some(128_000_000_000));
        assert_eq!(Quantity::parse("12E").map(|q| q.units_up()), Some(i64::MAX));
        assert_eq!(
            Quantity::parse("9223372036854775807").map(|q| q.units_up()),
            Some(9_223_372_036_854_775_807)
        );
    }

    #[test]
    fn requests_round_up_and_capacities_round_down() {
        let quantity = Quantity::parse("1.0001").expect("is a quantity");
        assert_eq!((quantity.units_up(), quantity.units_down()), (2, 1));
        assert_eq!((quantity.milli_up(), quantity.milli_down()), (1001, 1000));
        assert!(Quantity::parse("-1").expect("is a quantity").is_negative());
    }

    #[test]
    fn what_is_not_a_quantity_is_refused() {
        for text in ["", ".", "abc", "1 Gi", "1GiB", "1e308", "--1", "0x10", "1_000", "NaN", "1e", "Gi"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
        let long = "9".repeat(1_000_000);
        assert!(Quantity::parse(&long).is_none());
    }

    #[test]
    fn the_text_is_kept() {
        assert_eq!(Quantity::parse("1000m").expect("is a quantity").to_string(), "1000m");
    }
}
