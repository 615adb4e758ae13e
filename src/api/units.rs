//! Suggests valid Kubernetes units for common spellings: `1GB`, `10 cores`, `5min`.
//!
//! Must never read an amount for planning: what Kubernetes refuses stays refused, and this only suggests what to write.

use crate::model::Quantity;

/// Suggests what to write for text that is not a Kubernetes quantity; `None` if its number or its unit is ambiguous.
#[must_use]
pub fn quantity(text: &str) -> Option<String> {
    let (number, unit) = number_and_unit(text)?;
    let lower = unit.to_ascii_lowercase();
    let write = |suffix: &str| Some(format!("write `{number}{suffix}`"));
    match lower.as_str() {
        "" | "b" | "byte" | "bytes" | "core" | "cores" | "cpu" | "cpus" | "vcpu" | "vcpus" | "vcore"
        | "vcores" => write(""),
        "mcpu" | "mcpus" | "mcore" | "mcores" | "mc" | "millicore" | "millicores" | "millicpu" => write("m"),
        _ => match prefixed(&lower)? {
            Prefix { binary, is_decimal: false, .. } => write(binary),
            Prefix { decimal, binary, is_decimal: true } => Some(format!(
                "write `{number}{decimal}` for powers of 1000, or `{number}{binary}` for powers of 1024"
            )),
        },
    }
    .filter(|_| Quantity::parse(text).is_none())
}

/// A byte prefix, as Kubernetes writes it.
struct Prefix {
    decimal: &'static str,
    binary: &'static str,
    /// Whether the word is ambiguous or means the decimal prefix.
    is_decimal: bool,
}

fn prefixed(unit: &str) -> Option<Prefix> {
    const PREFIXES: [(&str, &str, &str, &str); 6] = [
        ("k", "Ki", "kilo", "kibi"),
        ("M", "Mi", "mega", "mebi"),
        ("G", "Gi", "giga", "gibi"),
        ("T", "Ti", "tera", "tebi"),
        ("P", "Pi", "peta", "pebi"),
        ("E", "Ei", "exa", "exbi"),
    ];
    // An `e` starts an exponent.
    let unit = unit.strip_suffix('s').filter(|rest| rest.len() > 1).unwrap_or(unit);
    if unit == "e" {
        return None;
    }
    PREFIXES.iter().find_map(|(decimal, binary, kilo, kibi)| {
        let (letter, letters) = (decimal.to_ascii_lowercase(), binary.to_ascii_lowercase());
        let is = |words: [String; 3]| words.iter().any(|word| word == unit);
        let is_decimal = is([letter.clone(), format!("{letter}b"), format!("{kilo}byte")]);
        let is_binary = is([letters.clone(), format!("{letters}b"), format!("{kibi}byte")]);
        (is_decimal || is_binary).then_some(Prefix { decimal, binary, is_decimal })
    })
}

/// Splits a text such as `1,000 GB` into a valid Kubernetes number and a unit.
fn number_and_unit(text: &str) -> Option<(String, &str)> {
    let text = text.trim();
    let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '_' | ' ');
    let end = text.find(|letter| !is_of_number(letter)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let mut number: String = number.trim().chars().filter(|letter| !matches!(letter, '_' | ' ')).collect();
    if number.contains(',') {
        let groups: Vec<&str> = number.split(',').collect();
        let are_thousands = groups.iter().skip(1).all(|group| group.len() == 3);
        number = match (are_thousands, groups.len()) {
            (true, _) => groups.concat(),
            (false, 2) if !number.contains('.') => groups.join("."),
            (false, _) => return None,
        };
    }
    Quantity::parse(&number)?;
    Some((number, unit))
}

/// The units of durations, longest first, as Go and Karpenter write them, with their nanoseconds.
const UNITS: [(&str, i128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Returns the durations that a text may mean, most likely first: with days unchanged, with days in hours, and with
/// each unit if there is none.
#[must_use]
pub fn durations(text: &str) -> Vec<String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return ["s", "m", "h"].map(|unit| format!("{text}{unit}")).to_vec();
    }
    let Some(counts) = counts(text) else { return Vec::new() };
    let with_days = written(counts);
    let [days, hours, rest @ ..] = counts;
    let in_hours = days.checked_mul(24).and_then(|more| hours.checked_add(more));
    let [minutes, seconds, millis, micros, nanos] = rest;
    let in_hours = in_hours.map(|hours| written([0, hours, minutes, seconds, millis, micros, nanos]));
    let mut durations: Vec<String> = [Some(with_days), in_hours].into_iter().flatten().collect();
    durations.dedup();
    durations
}

/// Returns a duration in whole seconds, in any spelling.
#[must_use]
pub fn seconds(text: &str) -> Option<i128> {
    let nanos = counts(text)?
        .iter()
        .zip(UNITS)
        .try_fold(0_i128, |sum, (count, (_, nanos))| sum.checked_add(count.checked_mul(nanos)?))?;
    (nanos % 1_000_000_000 == 0).then_some(nanos / 1_000_000_000)
}

/// Returns the count of each unit in a text; `None` if it is not a duration in any known spelling.
fn counts(text: &str) -> Option<[i128; UNITS.len()]> {
    // ISO 8601 has its own notation for the same units.
    let mut rest = text.trim().strip_prefix("PT").unwrap_or(text.trim());
    let mut counts = [0_i128; UNITS.len()];
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let end = after.find(|letter: char| !letter.is_alphabetic()).unwrap_or(after.len());
        let (word, next) = after.split_at(end);
        rest = next.trim_start_matches([' ', ',']);
        let (unit, times) = unit(&word.to_lowercase())?;
        add(&mut counts, unit, Quantity::parse(number)?.nano().checked_mul(times)?)?;
    }
    Some(counts)
}

/// Adds billionths of a unit; the fraction is carried to smaller units.
fn add(counts: &mut [i128; UNITS.len()], unit: usize, billionths: i128) -> Option<()> {
    const BILLION: i128 = 1_000_000_000;
    let (_, nanos) = UNITS.get(unit)?;
    let count = counts.get_mut(unit)?;
    *count = count.checked_add(billionths / BILLION)?;
    let mut left = (billionths % BILLION).checked_mul(*nanos)? / BILLION;
    for (count, (_, nanos)) in counts.iter_mut().zip(UNITS).skip(unit + 1) {
        *count = count.checked_add(left / nanos)?;
        left %= nanos;
    }
    Some(())
}

/// Returns the index of a unit in [`UNITS`], and how many of it a word means.
fn unit(word: &str) -> Option<(usize, i128)> {
    Some(match word {
        "w" | "wk" | "wks" | "week" | "weeks" => (0, 7),
        "d" | "day" | "days" => (0, 1),
        "h" | "hr" | "hrs" | "hour" | "hours" => (1, 1),
        "m" | "min" | "mins" | "minute" | "minutes" => (2, 1),
        "s" | "sec" | "secs" | "second" | "seconds" => (3, 1),
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => (4, 1),
        "us" | "µs" | "usec" | "microsecond" | "microseconds" => (5, 1),
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => (6, 1),
        _ => return None,
    })
}

fn written(counts: [i128; UNITS.len()]) -> String {
    let parts = counts.iter().zip(UNITS).filter(|(count, _)| **count > 0);
    let text: String = parts.map(|(count, (unit, _))| format!("{count}{unit}")).collect();
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::{durations, quantity, seconds};

    #[test]
    fn what_people_write_for_a_quantity_is_told_in_the_words_of_kubernetes() {
        let table = [
            ("10cores", Some("write `10`")),
            ("2 vCPU", Some("write `2`")),
            ("500 millicores", Some("write `500m`")),
            ("1GiB", Some("write `1Gi`")),
            ("2 Gi", Some("write `2Gi`")),
            ("1gi", Some("write `1Gi`")),
            ("1.5 gibibytes", Some("write `1.5Gi`")),
            ("1GB", Some("write `1G` for powers of 1000, or `1Gi` for powers of 1024")),
            ("512mb", Some("write `512M` for powers of 1000, or `512Mi` for powers of 1024")),
            ("64KB", Some("write `64k` for powers of 1000, or `64Ki` for powers of 1024")),
            ("64K", Some("write `64k` for powers of 1000, or `64Ki` for powers of 1024")),
            ("100 bytes", Some("write `100`")),
            ("1,000", Some("write `1000`")),
            ("1_000_000", Some("write `1000000`")),
            ("1,5Gi", Some("write `1.5Gi`")),
            // Valid texts, and ambiguous ones.
            ("1Gi", None),
            ("500m", None),
            ("1Gbit", None),
            ("GB", None),
            ("", None),
            ("five", None),
            ("50%", None),
            ("1e", None),
            ("1e+308", None),
        ];
        for (text, expected) in table {
            assert_eq!(quantity(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_people_write_for_a_duration_is_told_in_the_words_of_go() {
        let table: [(&str, &[&str]); 13] = [
            ("5min", &["5m"]),
            ("5 minutes", &["5m"]),
            ("1hour", &["1h"]),
            ("1h30min", &["1h30m"]),
            ("1 hour, 30 mins", &["1h30m"]),
            ("1.5h", &["1h30m"]),
            ("100msec", &["100ms"]),
            ("PT5M", &["5m"]),
            ("30days", &["30d", "720h"]),
            ("1w", &["7d", "168h"]),
            ("30", &["30s", "30m", "30h"]),
            ("soon", &[]),
            ("1month", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(durations(text), expected, "{text}");
        }
        assert_eq!(seconds("5min"), Some(300));
        assert_eq!(seconds("100ms"), None);
    }
}
