//! Counts and lists in words: plurals, thousands, "and N more".

pub use crate::model::amount::grouped;

/// Formats `1 node`, `2,000 nodes`: regular plurals.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(u64::try_from(number).unwrap_or(u64::MAX)))
}

/// Returns the verb for this number: `1 pod waits`, `2 pods wait`.
#[must_use]
pub const fn verb<'a>(number: usize, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

/// Lists the first names in backticks and the number of others.
#[must_use]
pub fn some<T: ToString>(names: &[T], shown: usize) -> String {
    let first: Vec<String> = names.iter().take(shown).map(|name| format!("`{}`", name.to_string())).collect();
    match names.len().saturating_sub(shown) {
        0 => first.join(", "),
        more => format!("{} and {} more", first.join(", "), grouped(u64::try_from(more).unwrap_or(u64::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, grouped, some};

    #[test]
    fn numbers_are_grouped_and_nouns_counted() {
        assert_eq!(
            [grouped(0), grouped(999), grouped(1000), grouped(1_234_567)].join(" "),
            "0 999 1,000 1,234,567"
        );
        assert_eq!(
            [count(1, "node"), count(0, "node"), count(8152, "pod")].join(", "),
            "1 node, 0 nodes, 8,152 pods"
        );
        assert_eq!(some(&["a", "b", "c"], 2), "`a`, `b` and 1 more");
    }
}
