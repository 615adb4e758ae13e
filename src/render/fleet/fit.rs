//! Foreign text in a cell: harmless, on one line, and as wide as the cell on a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::model::shown::plain;

/// Marks cut text.
const CUT: char = '…';

/// Returns a text without control sequences of terminals.
pub(super) fn harmless(text: &str) -> String {
    plain(text)
}

/// Returns the width of a text in columns.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Returns the start of a text in at most this many columns.
pub(super) fn start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = taken(text.chars(), columns.saturating_sub(1));
    if columns > 0 {
        kept.push(CUT);
    }
    kept
}

/// Returns a name in at most this many columns: the middle is cut, because names of one pool differ at the end.
pub(super) fn name(text: &str, columns: usize) -> String {
    if width(text) <= columns || columns < 4 {
        return start(text, columns);
    }
    let behind = (columns - 1) * 3 / 5;
    let end: String = taken(text.chars().rev(), behind).chars().rev().collect();
    let begin = taken(text.chars(), columns - 1 - width(&end));
    format!("{begin}{CUT}{end}")
}

fn taken(letters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    letters
        .take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// Pads a text with trailing spaces.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Pads a text with leading spaces.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_fits_its_columns_on_a_terminal_also_with_wide_letters() {
        assert_eq!(start("abcdef", 4), "abc…");
        assert_eq!(
            name("aks-general-purpose-k7x2p", 13),
            "aks-g…se-k7x2p".chars().take(5).collect::<String>() + "…e-k7x2p"
        );
        for text in ["名前名前名前名前", "aks-general-purpose-k7x2p", "a\u{301}b\u{301}c\u{301}d"] {
            for columns in 0..20 {
                assert!(width(&start(text, columns)) <= columns, "{text} in {columns}");
                assert!(width(&name(text, columns)) <= columns, "{text} in {columns}");
            }
        }
        assert_eq!((left("名", 4), right("名", 4)), ("名  ".to_owned(), "  名".to_owned()));
        assert_eq!(harmless("a\u{1b}[2J\u{202e}b\n"), "a\u{fffd}[2J\u{fffd}b\u{fffd}");
    }
}
