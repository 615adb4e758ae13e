//! Path to a part of an object: the fields and indices that lead to it.
//!
//! Must never look at a value: it says where something is, not what.

/// One step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The field of this name, or the map entry of this key.
    Key(String),
    /// The list item at this index, counted from 0.
    Index(usize),
}

/// Formats a path as users write it.
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

/// Returns a user's text in quotes, cut if it is too long for a message.
#[must_use]
pub fn shortened(text: &str) -> String {
    // Long enough for every valid name; the end of a longer, mistaken text is not needed.
    const LETTERS_MAX: usize = 120;
    if text.chars().count() <= LETTERS_MAX {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(LETTERS_MAX).collect();
    format!("{:?}", head + "…")
}
