//! The one comment that is kept up to date under a pull request, found by a marker that readers do not see.

/// What tells our comment from others: a word that Markdown does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker(String);

/// The longest marker: a few words.
const MARKER_LETTERS_MAX: usize = 100;

impl Marker {
    /// Reads a marker: small letters, digits, `/`, `.`, `:` and single `-`, which end no comment of HTML.
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

    /// The first line of the comment.
    fn line(&self) -> String {
        format!("<!-- nodeform: {} -->", self.0)
    }
}

/// A comment that exists once under a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StickyComment {
    /// What it is found by.
    pub marker: Marker,
    /// What people read, in Markdown.
    pub body: String,
}

impl StickyComment {
    /// The text that is sent: the marker, and what people read.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.marker.line(), self.body)
    }

    /// Returns whether a text is this comment, in whichever version.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.lines().next().is_some_and(|line| line.trim_end() == self.marker.line())
    }
}

/// A comment as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// The forge's key, as its client writes it.
    pub(super) id: String,
    /// The id of its author; `None` for a deleted account.
    pub(super) author: Option<String>,
    /// Its text.
    pub(super) text: String,
}

/// Returns whether two texts are the same to a reader: forges change ends of lines and trim.
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
