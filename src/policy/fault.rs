//! What is wrong with an object, and where.
//! Must never hold a file or a line: whoever read the document knows how a path maps to them.

use std::fmt;

/// One step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The field of this name, or the entry of this key.
    Key(String),
    /// The item at this place of a list, counted from 0.
    Index(usize),
}

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Where it is, from the root of the object. Of a field that is missing: where it should be.
    pub path: Vec<Segment>,
    /// What is wrong, for people; names no file.
    pub message: String,
    /// What to do about it, where that can be said.
    pub hint: Option<String>,
}

impl Fault {
    /// The path as people write it: `spec.limits["nvidia.com/gpu"]`, `spec.template.spec.taints[0].key`.
    #[must_use]
    pub fn path_text(&self) -> String {
        path_text(&self.path)
    }

    /// The same fault with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.path_text(), self.message)
    }
}

/// A path as people write it.
#[must_use]
pub fn path_text(path: &[Segment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
            Segment::Key(key) if is_plain(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            Segment::Key(key) => text.push_str(&format!("[{}]", shortened(key))),
        }
    }
    text
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A user's text in quotes, cut where it is too long for a message.
#[must_use]
pub(crate) fn shortened(text: &str) -> String {
    // Long enough for every valid name; longer text is a mistake whose end nobody needs.
    const LETTERS_MAX: usize = 120;
    if text.chars().count() <= LETTERS_MAX {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(LETTERS_MAX).collect();
    format!("{:?}", head + "…")
}
