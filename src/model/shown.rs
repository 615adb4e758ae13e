//! Makes untrusted text safe to display: hides terminal control characters, and characters that are invisible or change
//! how their neighbours read. Never decides what is displayed.

/// Replacement for a hidden character.
pub const HIDDEN: char = char::REPLACEMENT_CHARACTER;

/// Returns whether a character must be hidden: a control character, one that changes text direction, or an invisible
/// one.
#[must_use]
pub fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns a text on one line, with [`HIDDEN`] in place of each character that must be hidden.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().map(|letter| if is_obeyed(letter) { HIDDEN } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_obeyed, plain};

    #[test]
    fn what_a_terminal_obeys_and_what_nobody_sees_is_hidden_and_all_else_stays() {
        assert_eq!(
            plain("a\u{1b}[2J\u{202e}b\u{200b}c\r\n"),
            "a\u{fffd}[2J\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}"
        );
        for kept in ['a', ' ', '`', 'é', '→', '…', '名', 'א', '\u{301}'] {
            assert!(!is_obeyed(kept), "{kept:?}");
        }
    }
}
