//! Lines of text whose parts have a meaning, so that colour is added, or not, in one place.
//!
//! A line reads the same without colour: style alone never carries meaning.

use std::borrow::Cow;

/// Meaning of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Style {
    /// No particular meaning.
    Plain,
    /// An addition.
    Add,
    /// A removal.
    Remove,
    /// A change in place.
    Change,
    /// Less important.
    Dim,
    /// A headline.
    Bold,
    /// Something to check before continuing.
    Warning,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its meaning.
    pub style: Style,
    /// Its text.
    pub text: Cow<'static, str>,
}

/// A line of text, without its line feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its parts, in order.
    pub spans: Vec<Span>,
}

impl Line {
    /// Creates an empty line.
    #[must_use]
    pub const fn blank() -> Self {
        Self { spans: Vec::new() }
    }

    /// Creates a line of one style. Line feeds and other control characters, which input names may contain, become
    /// spaces.
    pub fn new(style: Style, text: impl Into<Cow<'static, str>>) -> Self {
        Self::blank().with(style, text)
    }

    /// Returns the line with one more part.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl Into<Cow<'static, str>>) -> Self {
        let mut text = text.into();
        if text.contains(char::is_control) {
            text = Cow::Owned(text.replace(char::is_control, " "));
        }
        self.spans.push(Span { style, text });
        self
    }

    /// Returns the line without styles.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| &*span.text).collect()
    }
}

/// Returns the lines without styles, each with a line feed.
#[must_use]
pub fn plain_text(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text() + "\n").collect()
}
