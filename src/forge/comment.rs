//! The sticky comment of a pull request, which is updated in place and found by an invisible marker.

/// Identifies our comment: a word that Markdown does not render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker(String);

/// Maximum length of a marker: a few words.
const MARKER_LETTERS_MAX: usize = 100;

impl Marker {
    /// Parses a marker: lowercase letters, digits, `/`, `.`, `:` and single `-`, which cannot end an HTML comment.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_known = |letter: char| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '/' | '.' | ':' | '-')
        };
        let is_valid = !text.is_empty()
            && text.len() <= MARKER_LETTERS_MAX
            && text.chars().all(is_known)
            && !text.contains("--")
            && !text.ends_with('-');
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Returns the first line of the comment.
    fn line(&self) -> String {
        format!("<!-- nodeform: {} -->", self.0)
    }
}

/// A comment that exists once on a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StickyComment {
    /// The marker by which it is found.
    pub marker: Marker,
    /// The visible text, in Markdown.
    pub body: String,
}

impl StickyComment {
    /// Returns the text to send: the marker, then the visible text.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.marker.line(), self.body)
    }

    /// Returns whether a text is any version of this comment.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.lines().next().is_some_and(|line| line.trim_end() == self.marker.line())
    }
}

/// A comment as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// The forge's id, in the format of its client.
    pub(super) id: String,
    /// The id of its author; `None` for a deleted account.
    pub(super) author: Option<String>,
    /// Its text.
    pub(super) text: String,
}

/// Returns whether two texts look the same to a reader: forges change line endings and trim.
pub(super) fn is_same_text(one: &str, other: &str) -> bool {
    let lines = |text: &str| text.replace("\r\n", "\n");
    lines(one).trim() == lines(other).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_cannot_end_the_comment_of_html_that_hides_it() {
        assert!(Marker::parse("plan/prod-1:a.b").is_some());
        for bad in ["", "a--b", "a-->b", "a\nb", "A", "a b", "a-", &"a".repeat(101)] {
            assert_eq!(Marker::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_comment_is_found_by_its_first_line_and_not_by_a_quotation() {
        let marker = Marker::parse("plan").expect("it is valid");
        let comment = StickyComment { marker, body: "Ready".to_owned() };
        assert_eq!(comment.text(), "<!-- nodeform: plan -->\nReady");
        assert!(comment.is_in("<!-- nodeform: plan -->\r\nOlder"));
        assert!(!comment.is_in("> <!-- nodeform: plan -->\nOlder"));
        assert!(!comment.is_in("Look:\n<!-- nodeform: plan -->"));
        assert!(!comment.is_in("<!-- nodeform: plan2 -->\nOlder"));
    }

    #[test]
    fn ends_of_lines_and_of_texts_make_no_difference() {
        assert!(is_same_text("a\r\nb\n\n", "a\nb"));
        assert!(!is_same_text("a\nb", "a b"));
    }
}
