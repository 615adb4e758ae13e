//! Causes of a `reqwest` error, whose own message contains the address with its query.
//!
//! Must never return an outer error's message.

use std::error::Error;

/// Walks from an error through its causes.
pub(crate) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// Returns the message of the innermost cause; outer ones contain the address.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Returns rustls' message. Its error is wrapped in one or more `io::Error`s, none of which names it as its source.
pub(crate) fn tls(error: &reqwest::Error) -> Option<String> {
    chain(error).find_map(|cause| {
        let mut next: Option<&(dyn Error + 'static)> = Some(cause);
        while let Some(error) = next {
            if let Some(tls) = error.downcast_ref::<rustls::Error>() {
                return Some(tls.to_string());
            }
            let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            next = inner.map(|inner| inner as &(dyn Error + 'static));
        }
        None
    })
}
