//! The committed default catalogue: current, complete, and estimated as stated.

use std::collections::BTreeMap;

use nodeform::catalog::build::{RawTexts, tables};
use nodeform::catalog::{Catalog, RegionZones, regions};
use nodeform::model::{Price, Region, SkuName};

use super::shared::azure;

#[test]
#[expect(clippy::disallowed_methods, reason = "the committed tables are files")]
fn the_committed_tables_are_what_the_builder_makes_of_the_raw_lists() {
    let Some(prices) = azure("prices/retail-ondemand-usd-per-hour.json") else { return };
    let read = |path: &str| azure(path).expect("the folder is there");
    let made = tables(&RawTexts {
        prices: &prices,
        disks: &read("prices/managed-disk-usd-per-month.json"),
        shapes: &read("reference/cluster_autoscaler_sizes.json"),
        families: &read("reference/known_skus.json"),
        gpus: &read("reference/supported_gpus.json"),
        locations: &read("reference/locations.json"),
    });
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalog/default");
    let made = made.expect("the raw lists are readable");
    assert_eq!(made.len(), 57 + 5);
    for table in made {
        let committed = std::fs::read_to_string(format!("{folder}/{}", table.path)).unwrap_or_default();
        let hint = "hint: run `cargo run --bin make_catalog -- ../shared/data/azure src/catalog/default`";
        assert!(committed == table.text, "`{}` is not current\n{hint}", table.path);
    }
}

#[test]
fn every_region_loads_with_every_row_of_its_prices() {
    let regions = regions();
    assert_eq!(regions.len(), 57);
    assert!(regions.is_sorted());
    let mut count = 0;
    for region in &regions {
        let catalog = Catalog::embedded(region).expect("is listed");
        assert!(catalog.sizes().is_sorted_by(|left, right| left.size.name < right.size.name), "{region}");
        count += catalog.len();
    }
    assert_eq!(count, 54_753);
}

#[test]
fn a_region_without_zones_and_one_with_unknown_zones_offer_no_zone_alone() {
    let zones = |region: &str| Catalog::embedded(&Region::new(region)).expect("is known").zones().clone();
    assert_eq!(zones("westcentralus"), RegionZones::None);
    assert_eq!(zones("swedensouth"), RegionZones::Unknown);
    assert_eq!(zones("West Europe").listed().len(), 3);
}

#[test]
fn a_misspelt_region_is_refused_with_the_nearest() {
    let refused = Catalog::embedded(&Region::new("westeurop")).expect_err("is misspelt");
    let text = refused.to_string();
    assert_eq!(
        text,
        "region `westeurop` is not in the default catalogue, which has 57; did you mean `westeurope`?"
    );
}

#[test]
fn a_price_of_nothing_is_unknown() {
    let catalog = Catalog::embedded(&Region::new("spaincentral")).expect("is known");
    let sold = catalog.size(&SkuName::new("Standard_L8as_v3")).expect("is listed");
    assert_eq!((sold.price.on_demand, sold.price.spot), (Price::Unknown, Price::Unknown));
}

#[test]
fn suspicious_prices_are_replaced_by_the_series_and_listed() {
    let mut by_series: BTreeMap<String, usize> = BTreeMap::new();
    for region in regions() {
        let catalog = Catalog::embedded(&region).expect("is listed");
        for change in catalog.replaced_prices() {
            assert!(2 * change.listed.0 > 3 * change.used.0, "{change:?}");
            let sold = catalog.size(&change.size).expect("is listed");
            assert_eq!(sold.price.on_demand, Price::Estimated(change.used));
            *by_series.entry(change.series.to_string()).or_default() += 1;
        }
    }
    let shown: Vec<String> = by_series.iter().map(|(series, count)| format!("{series} {count}")).collect();
    assert_eq!(shown.join(", "), "DS_v2 18, Dads_v5 209, Das_v5 212, Eads_v5 404, Eas_v4 33, Eas_v5 477");
}
