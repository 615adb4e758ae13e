//! Builds catalogues from user-supplied files: `--catalog FILE`.
//!
//! Three kinds are recognised by their content: responses of ARM's `Microsoft.Compute/skus` (sizes with their
//! capabilities), rows of the Retail Prices API, and plain lists of instance types. Pages of a response may be given as
//! several files, in any order. Returns either a catalogue or all faults, never a partial result.

mod arm;
mod fault;
mod kind;
mod plain;
pub(super) mod regions;
mod retail;
pub(super) mod usages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use fault::CatalogFault;
use kind::{Kind, Page};

use super::memo::Memo;
use super::price::{PricedSize, SizePrice, spot_at, spot_percent};
use super::size::Size;
use super::{Catalog, RegionZones, Stock, embedded};
use crate::model::{Price, Region, SkuName};
use retail::RetailPrices;

/// Builds the catalogue of one region from files, each with its name and its text.
///
/// Sizes without price rows get the region's prices of the embedded default, as estimates. Price rows without sizes
/// replace the prices of the embedded default, and add sizes that the default knows but has no price for in this
/// region.
///
/// # Errors
/// Every fault of every file, sorted by file and place.
pub(super) fn from_files(texts: &[(&str, &str)], region: &Region) -> Result<Catalog, Vec<CatalogFault>> {
    let mut texts = texts.to_vec();
    texts.sort_unstable();
    let region = &Region::new(embedded::normalized(region));
    let mut faults = Vec::new();
    let mut pages: BTreeMap<Kind, Vec<Page<'_>>> = BTreeMap::new();
    for (file, text) in texts {
        match kind::recognise(file, text) {
            Ok((kind, page)) => pages.entry(kind).or_default().push(page),
            Err(fault) => faults.push(*fault),
        }
    }
    for (kind, pages) in &pages {
        faults.extend(kind::missing_page(*kind, pages));
    }
    let of = |kind| pages.get(&kind).map_or(&[][..], Vec::as_slice);
    let (plain, skus, prices) = (of(Kind::Plain), of(Kind::Skus), of(Kind::Prices));
    let made = if plain.is_empty() {
        sizes_and_prices(skus, prices, region, &mut faults)
    } else {
        faults.extend(skus.iter().chain(prices).map(|page| fault::mixed(page.file)));
        plain::read(plain, region, &mut faults)
    };
    faults.sort();
    made.filter(|_| faults.is_empty()).ok_or(faults)
}

fn sizes_and_prices(
    skus: &[Page<'_>],
    prices: &[Page<'_>],
    region: &Region,
    faults: &mut Vec<CatalogFault>,
) -> Option<Catalog> {
    let retail = if prices.is_empty() { None } else { Some(retail::read(prices, region, faults)) };
    let mut catalog = if skus.is_empty() {
        match embedded::load(region) {
            Ok(catalog) => catalog,
            Err(unknown) => {
                faults.push(fault::no_sizes(prices.first().map_or("", |page| page.file), &unknown));
                return None;
            }
        }
    } else {
        of_sizes(arm::read(skus, region, faults), region)
    };
    if let Some(retail) = retail {
        if skus.is_empty() {
            add_sizes(&mut catalog, &retail);
        }
        set_prices(&mut catalog, &retail);
    }
    let skus = (!skus.is_empty()).then_some("sizes of ARM");
    let rows = (!prices.is_empty()).then_some("rows of the Retail Prices API");
    let given: Vec<&str> = [skus, rows].into_iter().flatten().collect();
    if !given.is_empty() {
        let rest = format!("the rest from the embedded price list of {}", embedded::prices_date());
        catalog.source = format!("{} as given, {rest}, region `{region}`", given.join(" and "));
    }
    Some(catalog)
}

/// Builds a catalogue from sizes, with the default's prices as estimates.
fn of_sizes(sizes: BTreeMap<SkuName, Size>, region: &Region) -> Catalog {
    let fallback: BTreeMap<SkuName, SizePrice> = embedded::fallback_prices(region).into_iter().collect();
    let zones: BTreeSet<_> = sizes.values().flat_map(|size| size.zones.clone()).collect();
    let sizes: Vec<PricedSize> = sizes
        .into_values()
        .map(|size| {
            let price = fallback.get(&size.name).copied().unwrap_or(SizePrice::UNKNOWN);
            PricedSize { size, price }
        })
        .collect();
    Catalog {
        region: region.clone(),
        stock: Arc::new(Stock::Sizes(sizes)),
        zones: if zones.is_empty() {
            RegionZones::None
        } else {
            RegionZones::Zones(zones.into_iter().collect())
        },
        disks: embedded::disks(),
        replaced: Vec::new(),
        only: None,
        refusals: Vec::new(),
        unbuildable: Vec::new(),
        learned: Vec::new(),
        memo: Memo::default(),
        source: String::new(),
    }
}

/// Adds the sizes that have price rows and that the default knows but has no price for in this region.
fn add_sizes(catalog: &mut Catalog, retail: &RetailPrices) {
    let priced = retail.on_demand.keys().chain(retail.spot.keys());
    let missing: BTreeSet<&SkuName> = priced.filter(|name| catalog.size(name).is_none()).collect();
    let added = embedded::known_sizes(&missing, &catalog.zones);
    let Stock::Sizes(sizes) = Arc::make_mut(&mut catalog.stock) else { return };
    sizes.extend(added);
    sizes.sort_by(|one, other| one.size.name.cmp(&other.size.name));
}

/// Replaces existing prices with those of the rows. Missing spot prices are estimated from the on-demand price, at a
/// discount no larger than that of any size with a spot row.
fn set_prices(catalog: &mut Catalog, retail: &RetailPrices) {
    let Stock::Sizes(sizes) = Arc::make_mut(&mut catalog.stock) else { return };
    for sold in sizes.iter_mut() {
        if let Some(price) = retail.on_demand.get(&sold.size.name) {
            sold.price = SizePrice::on_demand(*price);
        }
        if let Some(price) = retail.spot.get(&sold.size.name) {
            sold.price.spot = *price;
        }
    }
    let has_row = |sold: &PricedSize| retail.spot.contains_key(&sold.size.name);
    let percent = spot_percent(sizes.iter().filter(|sold| has_row(sold)).map(|sold| &sold.price));
    for sold in sizes.iter_mut().filter(|sold| !has_row(sold)) {
        sold.price.spot = spot_at(percent, sold.price.on_demand);
    }
    catalog.replaced.retain(|change| !retail.on_demand.contains_key(&change.size));
    for (tier, month) in &retail.disks {
        catalog.disks.set(tier, Price::Listed(super::disk::hourly(*month)));
    }
}
