//! Lines of text with the meaning of their parts, so that colour is added, or not, in one place.
//!
//! A line says the same without colour: no meaning is carried by style alone.

use std::borrow::Cow;

/// What a part of a line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Style {
    /// Nothing in particular.
    Plain,
    /// Something comes.
    Add,
    /// Something goes.
    Remove,
    /// Something changes in place.
    Change,
    /// Less important.
    Dim,
    /// A headline.
    Bold,
    /// Something to look at before going on.
    Warning,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it means.
    pub style: Style,
    /// What it says.
    pub text: Cow<'static, str>,
}

/// A line of text, without its line feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its parts, in order.
    pub spans: Vec<Span>,
}

impl Line {
    /// Makes an empty line.
    #[must_use]
    pub const fn blank() -> Self {
        Self { spans: Vec::new() }
    }

    /// Makes a line of one style. Line feeds and other control characters in it, which a name of the input
    /// may hold, become spaces.
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
