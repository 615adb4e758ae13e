//! Lists, read page by page to the end.
//!
//! Must never return an incomplete list: missing items would appear to be deleted.

use std::collections::BTreeSet;

use serde_json::Value;

use super::client::Azure;
use super::failure::Failure;
use super::limits;
use super::outgoing::Outgoing;
use crate::arm::Request;
use crate::arm::answer::{self, Page};

impl Azure {
    /// Reads all items of a list.
    ///
    /// # Errors
    /// [`Failure::Incomplete`] if it stopped on the way, [`Failure::Endless`] if it does not end.
    pub async fn list(&self, request: &Request) -> Result<Vec<Value>, Failure> {
        let first = Outgoing::of_request(request, &self.cloud)?;
        let call = first.call.clone();
        let mut reading = Reading { items: Vec::new(), pages: 0, seen: BTreeSet::new() };
        let mut next = Some(first);
        while let Some(outgoing) = next {
            next = match self.page(&outgoing, &mut reading).await {
                Ok(next) => next,
                Err(cause) if reading.pages == 0 => return Err(cause),
                Err(cause) => {
                    let Reading { items, pages, .. } = reading;
                    return Err(Failure::Incomplete {
                        call,
                        pages,
                        items: items.len(),
                        cause: Box::new(cause),
                    });
                }
            };
        }
        Ok(reading.items)
    }

    async fn page(&self, outgoing: &Outgoing, reading: &mut Reading) -> Result<Option<Outgoing>, Failure> {
        let call = &outgoing.call;
        let endless = |why: String| Failure::Endless { call: call.clone(), why };
        if reading.pages >= limits::PAGES_MAX {
            return Err(endless(format!("beyond {} pages", limits::PAGES_MAX)));
        }
        if !reading.seen.insert(outgoing.url.to_string()) {
            return Err(endless("in a circle".to_owned()));
        }
        let answer = self.send(outgoing).await?;
        let page: Page =
            answer::read(answer.body).map_err(|fault| Failure::Answer { call: call.clone(), fault })?;
        reading.pages += 1;
        reading.items.extend(page.items);
        page.next_link.map(|link| Outgoing::of_link(&link, call, &self.cloud)).transpose()
    }
}

/// Progress of reading a list.
struct Reading {
    items: Vec<Value>,
    pages: u32,
    /// Addresses of the pages read, to detect cycles.
    seen: BTreeSet<String>,
}
