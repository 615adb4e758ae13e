//! The committed default catalogue: current, complete, and estimated as stated.

use std::collections::BTreeMap;

use nodeform::catalog::build::{RawTexts, tables};
use nodeform::catalog::size::Size;
use nodeform::catalog::{Catalog, RegionZones, regions};
use nodeform::model::{Price, Region, SkuName};

use super::oracle::{OVERLAY, class};
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
        data_disks: &read("reference/data_disks.json"),
    });
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalog/default");
    let made = made.expect("the raw lists are readable");
    assert_eq!(made.len(), 57 + 6);
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
    assert_eq!(count, 59_386);
}

fn size(region: &str, name: &str) -> Size {
    let catalog = Catalog::embedded(&Region::new(region)).expect("is known");
    catalog.size(&SkuName::new(name)).expect("is listed").size.clone()
}

#[test]
fn a_size_that_no_list_describes_has_what_its_name_says_or_is_refused() {
    let shape = |name: &str| {
        let size = size("eastus", name);
        (size.vcpus, size.memory_mib() >> 10, size.arch.to_string(), size.is_shape_estimate)
    };
    let amd64 = || "amd64".to_owned();
    assert_eq!(shape("Standard_D4s_v7"), (4, 16, amd64(), true));
    assert_eq!(shape("Standard_D4lds_v7"), (4, 8, amd64(), true));
    assert_eq!(shape("Standard_E20ds_v7"), (20, 160, amd64(), true));
    assert_eq!(shape("Standard_E128nds_v6"), (128, 896, amd64(), true));
    assert_eq!(shape("Standard_D4s_v6"), (4, 16, amd64(), false));
    let catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
    let offered = catalog.offered(&class(), OVERLAY);
    assert!(offered.types.iter().any(|kind| kind.name.as_str() == "Standard_D16nls_v6"));
    let refused = offered.refused.iter().find(|it| it.size.as_str() == "Standard_NC36ds_xl_RTXPRO6000BSE_v6");
    let because = refused.map(|refused| &*refused.because);
    assert_eq!(because, Some("how much memory it has is not in the default catalogue"));
}

#[test]
fn every_size_takes_as_many_data_disks_as_the_published_table_says() {
    let disks = |name: &str| size("eastus", name).capabilities.data_disks_max;
    let known = ["Standard_D2als_v7", "Standard_D2s_v5", "Standard_D4s_v7", "Standard_NC24ads_A100_v4"];
    assert_eq!(known.map(disks), [Some(10), Some(4), Some(12), Some(8)]);
    for region in regions() {
        let catalog = Catalog::embedded(&region).expect("is listed");
        let unknown =
            catalog.data_disks().into_iter().find(|(_, disks)| disks.is_estimate || disks.most == 0);
        assert_eq!(unknown, None, "{region}");
    }
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
