//! Detects the kind of a catalogue file from its content.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::fault::{CatalogFault, syntax};

/// Kind of a catalogue file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A response of `Microsoft.Compute/skus`, or the bare list that `az vm list-skus` prints.
    Skus,
    /// Rows of the Retail Prices API.
    Prices,
    /// A plain list of instance types.
    Plain,
}

/// A file of a known kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// Whether the file is a bare array of rows rather than an object with them.
    pub(super) is_bare: bool,
    /// Whether the file has a link to a next page.
    has_next: bool,
}

/// Members of an object that identify its kind.
#[derive(Deserialize)]
struct Members {
    value: Option<IgnoredAny>,
    #[serde(rename = "Items", alias = "items")]
    items: Option<IgnoredAny>,
    #[serde(rename = "instanceTypes")]
    instance_types: Option<IgnoredAny>,
    #[serde(rename = "nextLink", alias = "NextPageLink", alias = "nextPageLink")]
    next: Option<String>,
}

/// Returns the kind of a file.
pub(super) fn recognise<'a>(file: &'a str, text: &'a str) -> Result<(Kind, Page<'a>), Box<CatalogFault>> {
    let text = text.trim_start_matches('\u{feff}');
    let is_bare = text.trim_start().starts_with('[');
    let (kind, has_next) = if is_bare { (bare(file, text)?, false) } else { object(file, text)? };
    let Some(kind) = kind else {
        let what =
            "this is neither sizes of ARM, nor rows of the Retail Prices API, nor a list of instance types";
        let hint = "sizes have `value`, prices have `Items`, a plain list has `instanceTypes`";
        return Err(Box::new(CatalogFault::new(file, "", what).hint(hint)));
    };
    Ok((kind, Page { file, text, is_bare, has_next }))
}

fn object(file: &str, text: &str) -> Result<(Option<Kind>, bool), Box<CatalogFault>> {
    let members: Members = serde_json::from_str(text).map_err(|error| Box::new(syntax(file, &error)))?;
    let kind = match (members.instance_types, members.items, members.value) {
        (Some(_), _, _) => Some(Kind::Plain),
        (None, Some(_), _) => Some(Kind::Prices),
        (None, None, Some(_)) => Some(Kind::Skus),
        (None, None, None) => None,
    };
    Ok((kind, members.next.is_some_and(|link| !link.is_empty())))
}

fn bare(file: &str, text: &str) -> Result<Option<Kind>, Box<CatalogFault>> {
    let rows: Vec<BTreeMap<String, IgnoredAny>> =
        serde_json::from_str(text).map_err(|error| Box::new(syntax(file, &error)))?;
    let has = |names: &[&str]| rows.iter().any(|row| names.iter().any(|name| row.contains_key(*name)));
    Ok(if has(&["offerings", "capacity", "overhead"]) {
        Some(Kind::Plain)
    } else if has(&["retailPrice", "armSkuName"]) {
        Some(Kind::Prices)
    } else if has(&["resourceType", "capabilities", "locationInfo"]) {
        Some(Kind::Skus)
    } else {
        None
    })
}

/// Reports a missing last page: sizes on it would otherwise count as "not sold".
pub(super) fn missing_page(kind: Kind, pages: &[Page<'_>]) -> Option<CatalogFault> {
    let links = pages.iter().filter(|page| page.has_next).count();
    let last = pages.last()?;
    (links > 0 && links == pages.len()).then(|| {
        let what = match kind {
            Kind::Skus => "the sizes go on at `nextLink`, and no file is the last page",
            Kind::Prices => "the prices go on at `NextPageLink`, and no file is the last page",
            Kind::Plain => "the list goes on at a next page, and no file is the last page",
        };
        CatalogFault::new(last.file, "", what).hint("give every page as a file of its own")
    })
}
