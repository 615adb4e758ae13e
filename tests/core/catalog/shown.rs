//! The catalogue as people and programs see it.

use std::collections::BTreeSet;

use nodeform::catalog::Catalog;
use nodeform::catalog::filter::{Asked, CatalogFilter, GpuFilter};
use nodeform::catalog::miss::{Instead, misses};
use nodeform::model::{CapacityType, MicroUsdPerHour, Region, Zone};
use nodeform::render::catalog::{document, rows, table};

use super::oracle::{OVERLAY, class};

fn shown(region: &str, filter: &CatalogFilter) -> String {
    let catalog = Catalog::embedded(&Region::new(region)).expect("is known");
    table(&rows(&catalog, &catalog.offered(&class(), OVERLAY), filter))
}

fn names(filter: &CatalogFilter) -> Vec<String> {
    let catalog = Catalog::embedded(&Region::new("westeurope")).expect("is known");
    let shown = rows(&catalog, &catalog.offered(&class(), OVERLAY), filter);
    shown.into_iter().map(|row| row.size.to_string().replace("Standard_", "")).collect()
}

fn series(series: &str) -> CatalogFilter {
    CatalogFilter { family: Some(series.into()), ..CatalogFilter::default() }
}

#[test]
fn a_table_marks_every_estimate_and_says_what_the_mark_means() {
    let small = CatalogFilter { cpu_milli_max: Some(4000), ..series("dasv5") };
    let expected = "\
SIZE              VCPU  MEMORY  GPU  ARCH   ZONES   ON DEMAND $/H  SPOT $/H  OS DISK $/H  DATA DISKS  FOR PODS: CPU  MEMORY
Standard_D2as_v5     2     8Gi  -    amd64  ~1,2,3        ~0.0860   ~0.0301      ~0.0270           4          1900m   4.9Gi
Standard_D4as_v5     4    16Gi  -    amd64  ~1,2,3         0.1720   ~0.0602      ~0.0270           8          3860m  11.5Gi

~ estimated by the rules of docs/reference/estimates.md
";
    assert_eq!(shown("eastus", &small), expected);
}

#[test]
fn what_is_not_known_is_a_question_mark_and_what_is_not_sold_a_dash() {
    let laptop = CatalogFilter { name_part: Some("l8AS_v3".into()), ..CatalogFilter::default() };
    let text = shown("spaincentral", &laptop);
    let row = text.lines().nth(1).unwrap_or_default();
    assert_eq!(row.split_whitespace().skip(5).take(3).collect::<Vec<_>>(), ["~1,2,3", "?", "?"]);
    assert!(text.ends_with("? not known\n"), "{text}");
    let burstable = CatalogFilter { name_part: Some("B4ms".into()), ..CatalogFilter::default() };
    let row = shown("westus", &burstable);
    let row = row.lines().nth(1).unwrap_or_default();
    let cells: Vec<&str> = row.split_whitespace().skip(5).take(3).collect();
    assert_eq!((cells[0], cells[2]), ("-", "-"), "no zones, no spot: {row}");
    assert_eq!(shown("westus", &series("XYZ")), "");
}

#[test]
fn an_ephemeral_disk_that_the_name_promises_is_marked() {
    let large = CatalogFilter { cpu_milli_min: Some(64_000), ..series("Fs_v2") };
    let cells: Vec<String> = shown("eastus", &large).lines().map(str::to_owned).collect();
    assert!(cells[1].starts_with("Standard_F64s_v2") && cells[1].contains("  ~ephemeral  "), "{cells:?}");
}

#[test]
fn filters_add_up() {
    assert_eq!(names(&CatalogFilter { cpu_milli_max: Some(2000), ..series("Dpds_v6") }), ["D2pds_v6"]);
    let arm =
        CatalogFilter { arch: Some("ARM64".into()), cpu_milli_min: Some(96_000), ..CatalogFilter::default() };
    assert!(names(&arm).contains(&"D96ps_v6".to_owned()) && !names(&arm).contains(&"D96s_v6".to_owned()));
    let gpu = |gpu| CatalogFilter { gpu: Some(gpu), ..CatalogFilter::default() };
    let a100 = names(&gpu(GpuFilter::Named("a100".into())));
    assert_eq!(a100, ["NC24ads_A100_v4", "NC48ads_A100_v4", "NC96ads_A100_v4", "ND96amsr_A100_v4"]);
    let all = names(&CatalogFilter::default()).len();
    assert_eq!(names(&gpu(GpuFilter::Some)).len() + names(&gpu(GpuFilter::None)).len(), all);
    let gib = |from: i64, to: i64| CatalogFilter {
        memory_bytes_min: Some(from << 30),
        memory_bytes_max: Some(to << 30),
        ..series("Ds_v5")
    };
    assert_eq!(names(&gib(32, 64)), ["D16s_v5", "D8s_v5"]);
    let cheap = CatalogFilter { price_max: Some(MicroUsdPerHour(230_000)), ..series("Ds_v5") };
    assert_eq!(names(&cheap), ["D2s_v5", "D4s_v5"]);
    let zone = |zone: &str| CatalogFilter { zone: Some(zone.into()), ..series("Ds_v5") };
    assert_eq!(names(&zone("2")), names(&zone("westeurope-2")));
    assert!(names(&zone("eastus-2")).is_empty());
}

/// What `misses` says of a filter in `eastus`.
fn missed(filter: &CatalogFilter) -> Vec<(Asked, bool, Instead)> {
    let catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
    let types = catalog.offered(&class(), OVERLAY);
    let types = &types.types;
    let found = misses(filter, types).into_iter();
    found.map(|miss| (miss.asked, miss.of == types.len(), miss.instead)).collect()
}

#[test]
fn a_part_that_nothing_meets_is_named_with_what_there_is() {
    let near = |name: &str| Instead::Near(name.into());
    let zones = Instead::Known(["eastus-1", "eastus-2", "eastus-3"].map(str::to_owned).to_vec());
    let name = |name: &str| CatalogFilter { name_part: Some(name.into()), ..CatalogFilter::default() };
    let bare = CatalogFilter::default;
    assert_eq!(missed(&bare()), []);
    assert_eq!(missed(&series("Dsv5x")), [(Asked::Family, true, near("Ds_v5"))]);
    assert_eq!(missed(&name("D4sv5")), [(Asked::Name, true, near("Standard_D4s_v5"))]);
    assert_eq!(missed(&name("something")), [(Asked::Name, true, Instead::Nothing)]);
    let filter = CatalogFilter { zone: Some("eastus-9".into()), arch: Some("riscv".into()), ..bare() };
    let arches = Instead::Known(["amd64", "arm64"].map(str::to_owned).to_vec());
    assert_eq!(missed(&filter), [(Asked::Arch, true, arches), (Asked::Zone, true, zones)]);
    let [(Asked::Family, true, Instead::Known(families))] = &missed(&series("Q"))[..] else {
        panic!("{:?}", missed(&series("Q")));
    };
    assert!(families.contains(&"D".to_owned()), "{families:?}");
    let filter = CatalogFilter { price_max: Some(MicroUsdPerHour(1)), ..bare() };
    let found = missed(&filter);
    assert!(
        matches!(found[..], [(Asked::PriceMax, true, Instead::Price(price))] if price.0 > 1),
        "{found:?}"
    );
}

#[test]
fn parts_that_only_together_leave_nothing_are_both_named() {
    let text = |text: &str| text.to_owned();
    let arm = CatalogFilter { arch: Some("arm64".into()), ..series("Ds_v5") };
    let [family, arch] = &missed(&arm)[..] else { panic!("{:?}", missed(&arm)) };
    assert_eq!((family.0, family.1), (Asked::Family, false));
    assert_eq!(arch, &(Asked::Arch, false, Instead::Known(vec![text("amd64")])));
    let between = CatalogFilter { cpu_milli_min: Some(9000), cpu_milli_max: Some(15_000), ..series("Ds_v5") };
    let near = [
        (Asked::CpuMin, false, Instead::AtMost(text("8"))),
        (Asked::CpuMax, false, Instead::AtLeast(text("16"))),
    ];
    assert_eq!(missed(&between)[1..], near);
}

#[test]
fn the_document_has_a_version_and_lists_what_is_left_out() {
    let catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
    let offered = catalog.offered(&class(), OVERLAY);
    let json = serde_json::to_value(document(&catalog, &offered, &series("Das_v5"))).expect("has a form");
    assert_eq!(json["version"], "nodeform.dev/catalog/v1");
    assert_eq!(json["source"], "embedded price list of 2026-06-18, region `eastus`");
    assert_eq!(json["sizes"].as_array().map(Vec::len), Some(8));
    let first = &json["sizes"][0];
    assert_eq!((&first["size"], &first["cpuMilli"]), (&"Standard_D16as_v5".into(), &16_000.into()));
    assert_eq!(first["onDemand"], serde_json::json!({"usdPerHour": "0.6880", "isEstimate": false}));
    let replaced = json["replacedPrices"].as_array().expect("is a list");
    assert_eq!(replaced[0]["size"], "Standard_D2as_v5");
    assert_eq!(replaced[0]["listedUsdPerHour"], "0.1780");
    assert!(json["refused"].as_array().is_some_and(|refused| refused.len() > 300));
}

#[test]
fn a_catalogue_that_is_narrowed_after_it_was_asked_offers_what_is_left_and_its_copy_all() {
    let catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
    let first = Zone::new("eastus-1");
    let there = |catalog: &Catalog| {
        let offered = catalog.offered(&class(), OVERLAY);
        let offerings = offered.types.iter().flat_map(|kind| &kind.offerings);
        offerings.filter(|offering| offering.is_available && offering.zone == first).count()
    };
    let all = there(&catalog);
    assert!(all > 500, "{all}");
    assert_eq!(there(&catalog.clone().without_zones(&BTreeSet::from([first.clone()]))), 0);
    let ways = BTreeSet::from([("Standard_D2s_v5".into(), first.clone(), CapacityType::OnDemand)]);
    assert_eq!(there(&catalog.clone().with_only(ways)), 1);
    assert_eq!(there(&catalog), all);
}
