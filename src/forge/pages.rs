//! A list page by page, with an end.

use serde::de::DeserializeOwned;

use super::answer::About;
use super::fault::{FaultKind, ForgeFault};
use super::limits::{PAGE_ENTRIES, PAGES_MAX};
use super::transport::{Call, Transport};

/// Entries of a list, and what to say of one that cannot be read.
#[derive(Debug)]
pub(super) struct Listed<T> {
    pub(super) entries: Vec<T>,
    pub(super) about: About,
}

/// How a forge takes lists apart, by the names of its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paging {
    /// How many entries a page has.
    pub(super) size: &'static str,
    /// Where a page begins.
    pub(super) start: Start,
    /// The field that holds the entries, where the answer is not a list itself.
    pub(super) within: Option<&'static str>,
}

/// The parameter that says where a page begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// By its number, from 1.
    Page(&'static str),
    /// By the number of entries before it.
    Entry(&'static str),
}

/// What is enough of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enough<F> {
    /// Whether what follows this entry is not needed.
    pub(super) is_last: F,
    /// What a list means that is longer than is read.
    pub(super) longer: Longer,
}

/// What a list means that is longer than is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Longer {
    /// It cannot be used: what is left out may matter.
    Fails,
    /// The newest entries do.
    IsCut,
}

impl Paging {
    /// Reads a whole list.
    ///
    /// # Errors
    /// A page cannot be read, or the list does not end.
    pub(super) async fn all<T: DeserializeOwned>(
        self,
        transport: &Transport,
        call: &Call,
    ) -> Result<Listed<T>, ForgeFault> {
        let enough = Enough { is_last: |_: &T| false, longer: Longer::Fails };
        self.until(transport, call, enough).await
    }

    /// Reads a list until there is enough of it.
    ///
    /// # Errors
    /// A page cannot be read, or the list does not end and has to.
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
            // A forge may have a lower limit of its own: then only its link says that there is more.
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
