//! Lists, read page by page with a limit.

use serde::de::DeserializeOwned;

use super::answer::About;
use super::fault::{FaultKind, ForgeFault};
use super::limits::{PAGE_ENTRIES, PAGES_MAX};
use super::transport::{Call, Transport};

/// Entries of a list, and the context for errors about them.
#[derive(Debug)]
pub(super) struct Listed<T> {
    pub(super) entries: Vec<T>,
    pub(super) about: About,
}

/// A forge's paging, by the names of its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paging {
    /// Parameter with the number of entries of a page.
    pub(super) size: &'static str,
    /// Parameter with the start of a page.
    pub(super) start: Start,
    /// The field that holds the entries, if the answer is not itself a list.
    pub(super) within: Option<&'static str>,
}

/// Parameter with the start of a page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// The page number, from 1.
    Page(&'static str),
    /// The number of entries before it.
    Entry(&'static str),
}

/// How much of a list is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enough<F> {
    /// Returns whether the entries after this one are not needed.
    pub(super) is_last: F,
    /// What to do if a list exceeds the limit.
    pub(super) longer: Longer,
}

/// What to do if a list exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Longer {
    /// Fail: the missing entries may matter.
    Fails,
    /// Return the entries read, which are the newest.
    IsCut,
}

impl Paging {
    /// Reads a whole list.
    ///
    /// # Errors
    /// A page cannot be read, or the list exceeds the limit.
    pub(super) async fn all<T: DeserializeOwned>(
        self,
        transport: &Transport,
        call: &Call,
    ) -> Result<Listed<T>, ForgeFault> {
        let enough = Enough { is_last: |_: &T| false, longer: Longer::Fails };
        self.until(transport, call, enough).await
    }

    /// Reads as much of a list as is needed.
    ///
    /// # Errors
    /// A page cannot be read, or the list exceeds the limit and must be complete.
    pub(super) async fn until<T: DeserializeOwned>(
        self,
        transport: &Transport,
        call: &Call,
        enough: Enough<impl Fn(&T) -> bool>,
    ) -> Result<Listed<T>, ForgeFault> {
        let mut entries: Vec<T> = Vec::new();
        let mut page = 1;
        loop {
            let call = call.clone().query(self.size, &PAGE_ENTRIES.to_string());
            let call = match self.start {
                Start::Page(name) => call.query(name, &page.to_string()),
                Start::Entry(name) => call.query(name, &entries.len().to_string()),
            };
            let answer = transport.send(&call).await?;
            let read: Vec<T> = self.within.map_or_else(|| answer.read(), |field| answer.read_list(field))?;
            // A forge may have a lower limit of its own: then only its link shows that there is more.
            let is_end = read.is_empty() || (read.len() < PAGE_ENTRIES && !answer.has_next());
            let about = answer.about().clone();
            let is_enough = read.last().is_some_and(&enough.is_last);
            entries.extend(read);
            if is_end || is_enough || (page == PAGES_MAX && enough.longer == Longer::IsCut) {
                return Ok(Listed { entries, about });
            }
            if page == PAGES_MAX {
                return Err(about.fault(FaultKind::TooMany { most: entries.len() }));
            }
            page += 1;
        }
    }
}
