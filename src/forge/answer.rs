//! Parses a forge's answers: only JSON of the expected shape becomes a value.

use jiff::Timestamp;
use reqwest::header::{HeaderMap, LINK};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fault::{FaultKind, ForgeFault, one_line};
use super::pull_request::CommitId;

/// Context of an answer, for errors.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) deed: String,
    pub(super) host: String,
    pub(super) status: u16,
}

impl About {
    /// Returns an error about this answer.
    pub(super) fn fault(&self, kind: FaultKind) -> ForgeFault {
        ForgeFault { deed: self.deed.clone(), host: self.host.clone(), kind }
    }

    /// Returns a required field.
    pub(super) fn required<T>(&self, value: Option<T>, field: &'static str) -> Result<T, ForgeFault> {
        value.ok_or_else(|| self.fault(FaultKind::Misses { field }))
    }

    /// Returns a required commit.
    pub(super) fn commit(&self, text: Option<&str>, field: &'static str) -> Result<CommitId, ForgeFault> {
        self.required(text.and_then(CommitId::parse), field)
    }
}

/// A successful answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    about: About,
    bytes: Vec<u8>,
    /// Whether the forge links to a next page. The link itself is not read: the client computes it.
    has_next: bool,
}

impl Answer {
    pub(super) fn new(about: About, headers: &HeaderMap, bytes: Vec<u8>) -> Self {
        let is_next = |link: &str| link.split(',').any(|link| link.contains("rel=\"next\""));
        let links = headers.get_all(LINK);
        let has_next = links.iter().filter_map(|value| value.to_str().ok()).any(is_next);
        Self { about, bytes, has_next }
    }

    /// Returns the context of the answer.
    pub(super) const fn about(&self) -> &About {
        &self.about
    }

    /// Returns whether the forge links to a next page.
    pub(super) const fn has_next(&self) -> bool {
        self.has_next
    }

    /// Parses the JSON.
    ///
    /// # Errors
    /// It is HTML, not JSON, or of another shape.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, ForgeFault> {
        serde_json::from_slice(&self.bytes).map_err(|error| self.strange(&error))
    }

    /// Parses the list in a field of the JSON; null counts as empty, as Go writes it.
    ///
    /// # Errors
    /// It is HTML, not JSON, or of another shape.
    pub(super) fn read_list<T: DeserializeOwned>(&self, field: &'static str) -> Result<Vec<T>, ForgeFault> {
        let mut whole: serde_json::Map<String, Value> = self.read()?;
        let list = self.about.required(whole.remove(field), field)?;
        let list: Option<Vec<T>> = serde_json::from_value(list).map_err(|error| self.strange(&error))?;
        Ok(list.unwrap_or_default())
    }

    fn strange(&self, error: &serde_json::Error) -> ForgeFault {
        let what = match kind_of(&self.bytes) {
            Kind::Html => "a page of HTML".to_owned(),
            Kind::Empty => "it is empty".to_owned(),
            Kind::Other => one_line(&error.to_string()),
        };
        self.about.fault(FaultKind::NotTheApi { status: self.about.status, what })
    }
}

/// Apparent kind of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Empty,
    Other,
}

pub(super) fn kind_of(bytes: &[u8]) -> Kind {
    match bytes.trim_ascii_start().first() {
        Some(b'<') => Kind::Html,
        Some(_) => Kind::Other,
        None => Kind::Empty,
    }
}

/// Parses a time; `None` if it is invalid.
pub(super) fn time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse().ok()
}

/// Returns the address of a web page if a browser would open it and it cannot mislead a reader.
pub(super) fn page(text: Option<String>) -> Option<String> {
    const LETTERS_MAX: usize = 2_000;
    let text = text
        .filter(|text| text.len() <= LETTERS_MAX && text.chars().all(|letter| letter.is_ascii_graphic()))?;
    let url = url::Url::parse(&text).ok()?;
    let is_plain =
        matches!(url.scheme(), "https" | "http") && url.username().is_empty() && url.password().is_none();
    is_plain.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_pages_are_kept() {
        for (text, is_kept) in [
            ("https://forge.example/a/pulls/7", true),
            ("javascript:alert(1)", false),
            ("https://forge.example@evil.example/", false),
            ("https://forge.example/\u{202e}a", false),
            ("not an address", false),
        ] {
            assert_eq!(page(Some(text.to_owned())).is_some(), is_kept, "{text}");
        }
    }
}
