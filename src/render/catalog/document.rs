//! The catalogue as a document: what `nodeform catalog -o json` prints.

use serde::Serialize;

use super::row::{CatalogRow, decimal, rows};
use crate::catalog::filter::CatalogFilter;
use crate::catalog::{Catalog, Offered};
use crate::model::SkuName;

/// The version of [`CatalogDocument`].
pub const VERSION: &str = "nodeform.dev/catalog/v1";

/// The sizes of a region that a filter shows, and what there is to say about the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CatalogDocument {
    /// The document's version: [`VERSION`].
    pub version: String,
    /// The region.
    pub region: String,
    /// Where the figures come from.
    pub source: String,
    /// The digest of the whole catalogue.
    pub digest: String,
    /// The sizes that the filter shows, sorted by name.
    pub sizes: Vec<CatalogRow>,
    /// The sizes that no node can have, sorted by name.
    pub refused: Vec<RefusedRow>,
    /// The list prices of the shown sizes that were not believed, sorted by size.
    pub replaced_prices: Vec<ReplacedRow>,
}

/// A size that is not offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RefusedRow {
    /// The size.
    pub size: SkuName,
    /// Why.
    pub because: String,
}

/// A list price that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplacedRow {
    /// The size.
    pub size: SkuName,
    /// What the list says, in US dollars by the hour.
    pub listed_usd_per_hour: String,
    /// What is used instead, in US dollars by the hour.
    pub used_usd_per_hour: String,
    /// The size of the same series whose price a vCPU is used.
    pub by: SkuName,
}

/// Makes the document of the types that the filter shows.
#[must_use]
pub fn document(catalog: &Catalog, offered: &Offered, filter: &CatalogFilter) -> CatalogDocument {
    let sizes = rows(catalog, offered, filter);
    let is_shown = |size: &SkuName| sizes.binary_search_by(|row| row.size.cmp(size)).is_ok();
    let replaced = catalog.replaced_prices().iter().filter(|change| is_shown(&change.size));
    CatalogDocument {
        version: VERSION.into(),
        region: catalog.region.to_string(),
        source: catalog.source().into(),
        digest: catalog.digest().to_string(),
        replaced_prices: replaced
            .map(|change| ReplacedRow {
                size: change.size.clone(),
                listed_usd_per_hour: decimal(change.listed),
                used_usd_per_hour: decimal(change.used),
                by: change.by.clone(),
            })
            .collect(),
        refused: offered
            .refused
            .iter()
            .map(|refused| RefusedRow { size: refused.size.clone(), because: refused.because.clone() })
            .collect(),
        sizes,
    }
}
