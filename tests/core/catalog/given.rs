//! Catalogues that the user gives: Azure's answers and plain lists; what is wrong with them is said exactly.

use nodeform::catalog::Catalog;
use nodeform::model::{
    CapacityType, LabelKey, MicroUsdPerHour, OsDisk, Price, Region, ResourceName, SkuName,
};
use serde_json::{Value, json};

use super::oracle::{OVERLAY, class};

fn region() -> Region {
    Region::new("westeurope")
}

fn faults(files: &[(&str, &str)]) -> String {
    let faults = Catalog::from_files(files, &region()).expect_err("is wrong");
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A SKU as real answers are: without the members that do not apply.
fn sku(name: &str, vcpus: &str, memory: &str) -> Value {
    json!({
        "resourceType": "virtualMachines",
        "name": name,
        "locations": ["WestEurope"],
        "locationInfo": [{
            "location": "WestEurope",
            "zones": ["2", "1"],
            "zoneDetails": [{"name": ["2"], "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}]
        }],
        "capabilities": [
            {"name": "vCPUs", "value": vcpus},
            {"name": "MemoryGB", "value": memory},
            {"name": "LowPriorityCapable", "value": "True"}
        ]
    })
}

fn answer(skus: &[Value]) -> String {
    json!({"value": skus}).to_string()
}

fn row(size: &str, price: f64, changes: Value) -> Value {
    let mut row = json!({
        "currencyCode": "USD", "retailPrice": price, "armRegionName": "westeurope", "armSkuName": size,
        "productName": "Virtual Machines Dsv5 Series", "skuName": "D4s v5", "meterName": "D4s v5",
        "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": "Consumption",
        "isPrimaryMeterRegion": true, "effectiveStartDate": "2021-11-01T00:00:00Z"
    });
    let members = row.as_object_mut().expect("is an object");
    members.extend(changes.as_object().expect("is an object").clone());
    row
}

fn prices(rows: &[Value]) -> String {
    json!({"BillingCurrency": "USD", "Items": rows, "NextPageLink": null, "Count": rows.len()}).to_string()
}

const D4S: &str = "Standard_D4s_v5";

fn price_of(catalog: &Catalog, capacity_type: CapacityType) -> Price {
    catalog.price(&SkuName::new(D4S), capacity_type)
}

const fn listed(micro: i64) -> Price {
    Price::Listed(MicroUsdPerHour(micro))
}

#[test]
fn a_sku_without_the_members_that_do_not_apply_is_read() {
    let skus = answer(&[
        sku(D4S, "4", "16"),
        json!({"resourceType": "disks", "name": "Premium_LRS", "locations": ["westeurope"]}),
        json!({"name": "Standard_D8s_v5", "resourceType": "virtualMachines", "locations": ["eastus"]}),
    ]);
    let catalog = Catalog::from_files(&[("skus.json", &skus)], &region()).expect("is an answer");
    let offered = catalog.offered(&class(), OVERLAY);
    assert_eq!(offered.types.len(), 1);
    let ways: Vec<String> = offered.types[0]
        .offerings
        .iter()
        .map(|way| {
            let ultra = way.requirements.get("karpenter.azure.com/sku-storage-ultra-ssd");
            let ultra = ultra.map(ToString::to_string).unwrap_or_default();
            format!("{} {} {ultra}", way.zone, way.capacity_type)
        })
        .collect();
    assert_eq!(
        ways,
        [
            "0 on-demand In [false]",
            "0 spot In [false]",
            "westeurope-1 on-demand In [false]",
            "westeurope-1 spot In [false]",
            "westeurope-2 on-demand In [false, true]",
            "westeurope-2 spot In [false, true]",
        ]
    );
    // Without price rows the embedded list helps, marked as the estimate that it is.
    assert!(price_of(&catalog, CapacityType::OnDemand).is_estimate());
}

#[test]
fn what_azure_keeps_from_the_subscription_is_not_offered() {
    let mut zonal = sku(D4S, "4", "16");
    zonal["restrictions"] = json!([{
        "type": "Zone", "values": ["westeurope"],
        "restrictionInfo": {"locations": ["westeurope"], "zones": ["1"]}, "reasonCode": "NotAvailableForSubscription"
    }]);
    let mut whole = sku("Standard_D8s_v5", "8", "32");
    whole["restrictions"] =
        json!([{"type": "Location", "values": ["westeurope"], "reasonCode": "NotAvailableForSubscription"}]);
    let skus = answer(&[zonal, whole]);
    let catalog = Catalog::from_files(&[("skus.json", &skus)], &region()).expect("is an answer");
    let offered = catalog.offered(&class(), OVERLAY);
    let mut zones: Vec<&str> = offered.types[0].offerings.iter().map(|way| way.zone.as_str()).collect();
    zones.dedup();
    assert_eq!(zones, ["0", "westeurope-2"]);
    let refused: Vec<&str> = offered.refused.iter().map(|refused| &*refused.because).collect();
    assert_eq!(refused, ["Azure does not sell it here: NotAvailableForSubscription"]);
}

#[test]
fn the_linux_meter_of_the_latest_date_is_the_price_whatever_the_order_of_rows() {
    let mut rows = vec![
        row(D4S, 0.25, json!({})),
        row(D4S, 0.23, json!({"effectiveStartDate": "2025-01-01T00:00:00Z"})),
        row(D4S, 0.22, json!({"effectiveStartDate": "2025-01-01T00:00:00Z"})),
        row(D4S, 9.0, json!({"productName": "Virtual Machines Dsv5 Series Windows"})),
        row(D4S, 9.0, json!({"meterName": "D4s v5 Low Priority", "skuName": "D4s v5 Low Priority"})),
        row(D4S, 9.0, json!({"type": "DevTestConsumption"})),
        row(D4S, 9.0, json!({"type": "Reservation", "unitOfMeasure": "1 Hour"})),
        row(D4S, 9.0, json!({"isPrimaryMeterRegion": false})),
        row(D4S, 9.0, json!({"armRegionName": "eastus", "currencyCode": "EUR"})),
        row(D4S, 0.05, json!({"skuName": "D4s v5 Spot", "meterName": "D4s v5 Spot"})),
        row(
            "",
            19.71,
            json!({"serviceName": "Storage", "productName": "Premium SSD Managed Disks",
            "meterName": "P10 LRS Disk", "unitOfMeasure": "1/Month"}),
        ),
    ];
    let skus = answer(&[sku(D4S, "4", "16")]);
    let of = |rows: &[Value]| {
        let (first, second) = rows.split_at(5);
        let files = [("b.json", prices(first)), ("skus.json", skus.clone()), ("a.json", prices(second))];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        Catalog::from_files(&files, &region()).expect("are answers")
    };
    let catalog = of(&rows);
    assert_eq!(price_of(&catalog, CapacityType::OnDemand), listed(230_000));
    assert_eq!(price_of(&catalog, CapacityType::Spot), listed(50_000));
    assert_eq!(catalog.os_disk_price(128), listed(27_000));
    assert!(catalog.os_disk_price(256).is_estimate());
    rows.reverse();
    assert_eq!(of(&rows), catalog);
    assert_eq!(of(&rows).digest(), catalog.digest());
}

#[test]
fn prices_alone_replace_those_of_the_default() {
    let rows = json!([row(D4S, 0.2, json!({})), row("Standard_D2s_v5", 0.0, json!({}))]).to_string();
    let catalog = Catalog::from_files(&[("prices.json", &rows)], &region()).expect("are rows");
    assert_eq!(price_of(&catalog, CapacityType::OnDemand), listed(200_000));
    assert_eq!(price_of(&catalog, CapacityType::Spot), Price::Estimated(MicroUsdPerHour(70_000)));
    let free = catalog.price(&SkuName::new("Standard_D2s_v5"), CapacityType::OnDemand);
    assert_eq!(free, Price::Unknown, "nothing costs nothing");
    assert!(catalog.len() > 1000);
    assert_eq!(
        catalog.source(),
        "rows of the Retail Prices API as given, the rest from the embedded price list of 2026-06-18, region \
         `westeurope`"
    );
}

#[test]
fn prices_bring_in_the_sizes_that_the_default_knows_and_does_not_price_there() {
    const KNOWN: [&str; 2] = ["Standard_M416bs_v3", "Standard_HB368rs_v5"];
    let default = Catalog::embedded(&region()).expect("is known");
    assert!(KNOWN.iter().all(|name| default.size(&SkuName::new(name)).is_none()));
    let priced = |name: &str| row(name, 9.5, json!({}));
    let rows = prices(&[priced(KNOWN[0]), priced(KNOWN[1]), priced("Standard_X4_v99"), priced("Dsv3_Type3")]);
    let catalog = Catalog::from_files(&[("prices.json", &rows)], &region()).expect("are rows");
    assert_eq!(catalog.len(), default.len() + 2);
    assert!(catalog.sizes().is_sorted_by(|left, right| left.size.name < right.size.name));
    for name in KNOWN {
        let sold = catalog.size(&SkuName::new(name)).expect("was added");
        assert_eq!((sold.price.on_demand, sold.size.zones.len()), (listed(9_500_000), 3), "{name}");
    }
    // What Azure says it sells is all that it sells.
    let skus = answer(&[sku(D4S, "4", "16")]);
    let both = Catalog::from_files(&[("prices.json", &rows), ("skus.json", &skus)], &region());
    assert_eq!(both.map(|catalog| catalog.len()), Ok(1));
}

#[test]
fn spot_without_a_row_costs_as_large_a_part_as_the_dearest_that_has_one() {
    let spot = |name: &str, price| row(name, price, json!({"skuName": "Spot", "meterName": "x Spot"}));
    let of = |rows: &[Value]| {
        let catalog = Catalog::from_files(&[("prices.json", &prices(rows))], &region()).expect("are rows");
        catalog.price(&SkuName::new("Standard_D2s_v5"), CapacityType::Spot)
    };
    let estimated = |micro| Price::Estimated(MicroUsdPerHour(micro));
    let plain = [row(D4S, 0.2, json!({})), row("Standard_D2s_v5", 0.1, json!({}))];
    let and = |rows: &[Value]| of(&[&plain[..], rows].concat());
    assert_eq!(of(&plain), estimated(35_000));
    assert_eq!(and(&[spot(D4S, 0.12)]), estimated(60_000));
    assert_eq!(and(&[spot(D4S, 0.02)]), estimated(35_000), "no less than without");
    assert_eq!(and(&[spot(D4S, 0.9)]), estimated(100_000), "no more than on demand");
    assert_eq!(and(&[spot(D4S, 0.12), spot("Standard_D2s_v5", 0.01)]), listed(10_000));
}

#[test]
fn azures_own_number_of_data_disks_wins_over_the_table() {
    let with = |count: Option<&str>, name: &str| {
        let mut sku = sku(name, "4", "16");
        let capabilities = sku["capabilities"].as_array_mut().expect("is a list");
        capabilities.extend(count.map(|count| json!({"name": "MaxDataDiskCount", "value": count})));
        let catalog =
            Catalog::from_files(&[("skus.json", &answer(&[sku]))], &region()).expect("is an answer");
        let disks = catalog.offered(&class(), OVERLAY).types[0].data_disks.expect("is said of sizes");
        (disks.most, disks.is_estimate)
    };
    assert_eq!(with(Some("5"), D4S), (5, false));
    assert_eq!(with(None, D4S), (8, false));
    assert_eq!(with(Some("5"), "Standard_D4s_v99"), (5, false));
    assert_eq!(with(None, "Standard_D4s_v99"), (2, true));
}

#[test]
fn a_plain_list_is_offered_as_it_is() {
    let list = json!({
        "wellKnownLabels": ["example.com/rack"],
        "instanceTypes": [{
            "name": "small",
            "requirements": {"kubernetes.io/arch": "amd64", "example.com/rack": ["a", "b"], "example.com/gpu": []},
            "capacity": {"cpu": 4, "memory": "16Gi", "nvidia.com/gpu": "0"},
            "overhead": {"kubeReserved": {"cpu": "140m", "memory": "1Gi"}, "evictionThreshold": {"memory": "750Mi"}},
            "offerings": [
                {"zone": "z-2", "capacityType": "spot", "price": 0.04, "available": false},
                {"zone": "z-1", "capacityType": "on-demand", "price": 1.92e-1},
                {"zone": "z-1", "capacityType": "reserved", "price": 0.001, "reservationID": "cr-1",
                 "reservationCapacity": 1, "requirements": {"example.com/rack": "a"}}
            ]
        }]
    });
    let catalog = Catalog::from_files(&[("types.json", &list.to_string())], &region()).expect("is a list");
    let offered = catalog.offered(&class(), OVERLAY);
    assert!(offered.refused.is_empty());
    let small = &offered.types[0];
    let label = |key: &str| small.requirements.get(key).map(ToString::to_string).unwrap_or_default();
    assert_eq!(label("node.kubernetes.io/instance-type"), "In [small]");
    assert_eq!(label("topology.kubernetes.io/zone"), "In [z-1]");
    assert_eq!(label("karpenter.sh/capacity-type"), "In [on-demand, reserved]");
    assert_eq!(label("example.com/gpu"), "DoesNotExist");
    assert_eq!(label("karpenter.azure.com/capacity-reservation-id"), "In [cr-1]");
    assert_eq!(small.allocatable.get(&ResourceName::Cpu), 3860);
    assert_eq!(small.allocatable.get(&ResourceName::Memory), (15 << 30) - (750 << 20));
    assert_eq!(small.capacity.get(&ResourceName::Pods), 110);
    assert_eq!(small.os_disk, OsDisk::Ephemeral);
    let ways: Vec<(&str, Price, bool)> =
        small.offerings.iter().map(|way| (way.zone.as_str(), way.price, way.is_available)).collect();
    let expected =
        [("z-1", listed(192_000), true), ("z-1", listed(1000), true), ("z-2", listed(40_000), false)];
    assert_eq!(ways, expected);
    assert!(catalog.is_well_known(&LabelKey::new("example.com/rack")));
    assert!(!catalog.is_well_known(&LabelKey::new("karpenter.azure.com/sku-family")));
    let bare = list["instanceTypes"].to_string();
    let bare = Catalog::from_files(&[("types.json", &bare)], &region()).expect("is a bare list");
    assert_eq!(bare.offered(&class(), OVERLAY), offered);
}

#[test]
fn every_fault_of_every_file_is_said_with_its_place() {
    let mut no_memory = sku(D4S, "four", "16");
    no_memory["capabilities"].as_array_mut().expect("is a list").remove(1);
    let skus = answer(&[sku("Standard_D2s_v5", "2", "1e9"), no_memory]);
    let rows = prices(&[
        row(D4S, 0.2, json!({"currencyCode": "EUR"})),
        row(D4S, 0.2, json!({"unitOfMeasure": "1 Month"})),
        row(D4S, -0.2, json!({})),
    ]);
    let text = faults(&[("skus.json", &skus), ("prices.json", &rows), ("not.json", "[1, 2")]);
    let heads: Vec<&str> = text.lines().filter(|line| !line.starts_with("hint:")).collect();
    assert_eq!(
        heads,
        [
            "`not.json` at line 1, column 2: invalid type: integer `1`, expected a map",
            "`prices.json` at Items[0].currencyCode: prices are in `EUR`, not in `USD`",
            "`prices.json` at Items[1].unitOfMeasure: the unit is `1 Month`, not `1 Hour`",
            "`prices.json` at Items[2].retailPrice: `-0.2` is not a price",
            "`skus.json` at value[0].capabilities.MemoryGB: `1e9` is not an amount of GiB that `Standard_D2s_v5` can have",
            "`skus.json` at value[1].capabilities.MemoryGB: `Standard_D4s_v5` does not say its `MemoryGB`",
            "`skus.json` at value[1].capabilities.vCPUs: `four` is not a whole number that `Standard_D4s_v5` can have",
        ]
    );
    assert_eq!(text.lines().filter(|line| line.starts_with("hint:")).count(), heads.len());
}

#[test]
fn content_that_is_no_catalogue_is_refused_with_a_hint() {
    let first = |text: &str| faults(&[("file", text)]).lines().next().unwrap_or_default().to_owned();
    assert_eq!(
        first("{}"),
        "`file`: this is neither sizes of ARM, nor rows of the Retail Prices API, nor a list of instance types"
    );
    assert_eq!(first("[]"), first("{}"));
    assert!(first("").starts_with("`file` at line 1, column 0: EOF"));
    assert_eq!(first(r#"{"value": []}"#), "`file`: it has no VM size of the region `westeurope`");
    assert_eq!(first(r#"{"Items": []}"#), "`file`: it has no price of a VM in the region `westeurope`");
    assert_eq!(first(r#"{"instanceTypes": []}"#), "`file`: the list has no instance type");
    let deep = "[".repeat(100_000);
    assert!(first(&deep).contains("recursion limit") || first(&deep).contains("expected a map"));
}

#[test]
fn an_answer_whose_last_page_is_missing_is_refused() {
    let page = json!({"value": [sku(D4S, "4", "16")], "nextLink": "https://management.azure.com/next"});
    assert!(faults(&[("1.json", &page.to_string())]).contains("no file is the last page"));
    let last = answer(&[sku("Standard_D8s_v5", "8", "32")]);
    let both = [("1.json", page.to_string()), ("2.json", last)];
    let both = both.each_ref().map(|(name, text)| (*name, text.as_str()));
    assert_eq!(Catalog::from_files(&both, &region()).map(|catalog| catalog.len()), Ok(2));
}

#[test]
fn prices_that_do_not_fit_into_the_numbers_are_refused() {
    let list = |price: &str| {
        format!(
            r#"[{{"name": "a", "offerings": [{{"zone": "z", "capacityType": "on-demand", "price": {price}}}]}}]"#
        )
    };
    for price in ["1e308", "-1", "1e40"] {
        assert!(faults(&[("types.json", &list(price))]).contains("is not a price"), "{price}");
    }
    let capacity = r#"[{"name": "a", "capacity": {"cpu": "-1", "memory": "1e308"}, "offerings": []}]"#;
    let text = faults(&[("types.json", capacity)]);
    assert!(
        text.contains("[0].capacity.cpu: `-1`") && text.contains("[0].capacity.memory: `1e308`"),
        "{text}"
    );
}
