//! What is assumed where a source says nothing: each row of the list is held against what sizes are offered as. A size of
//! which less is known is never better than it would be with any answer of Azure.
#![expect(clippy::disallowed_methods, reason = "the list is shown in a page of the documentation")]

use std::collections::BTreeSet;

use nodeform::catalog::assumed::{ASSUMED, markdown};
use nodeform::catalog::size::{Capabilities, Size};
use nodeform::catalog::{Catalog, SizePrice};
use nodeform::model::{InstanceType, NodeClass, Price, Region, Requirement};
use serde_json::{Value, json};

use super::oracle::{OVERLAY, class};

const NAMED: &str = "Standard_D4s_v5";
/// No list holds it.
const NEW: &str = "Standard_D4s_v99";
const GPU: &str = "Standard_NC4as_T4_v3";

fn region() -> Region {
    Region::new("eastus")
}

/// Azure's entry of a size that says everything.
fn entry(name: &str) -> Value {
    let capabilities = [
        ("vCPUs", "4"),
        ("MemoryGB", "16"),
        ("CpuArchitectureType", "x64"),
        ("HyperVGenerations", "V1,V2"),
        ("PremiumIO", "True"),
        ("AcceleratedNetworkingEnabled", "True"),
        ("EncryptionAtHostSupported", "True"),
        ("TrustedLaunchDisabled", "False"),
        ("LowPriorityCapable", "True"),
        ("MaxDataDiskCount", "8"),
        ("UltraSSDAvailable", "True"),
        ("EphemeralOSDiskSupported", "True"),
        ("SupportedEphemeralOSDiskPlacements", "CacheDisk"),
        ("CachedDiskBytes", "200000000000"),
    ];
    let details = json!([{"name": ["1"], "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}]);
    json!({
        "resourceType": "virtualMachines",
        "name": name,
        "locations": ["eastus"],
        "locationInfo": [{"location": "eastus", "zones": ["1", "2", "3"], "zoneDetails": details}],
        "capabilities": capabilities.map(|(name, value)| json!({"name": name, "value": value})),
    })
}

/// The entry with other words for a capability; without it where there are none.
fn saying(mut entry: Value, capability: &str, word: Option<&str>) -> Value {
    let all = entry["capabilities"].as_array_mut().expect("is a list");
    all.retain(|one| one["name"] != capability);
    all.extend(word.map(|word| json!({"name": capability, "value": word})));
    entry
}

/// The entry with another value in its only location; without it where there is none.
fn located(mut entry: Value, member: &str, value: Option<Value>) -> Value {
    let place = entry["locationInfo"][0].as_object_mut().expect("is an object");
    place.remove(member);
    place.extend(value.map(|value| (member.to_owned(), value)));
    entry
}

fn catalog(entries: &[Value], rows: &[Value]) -> Catalog {
    let skus = json!({"value": entries}).to_string();
    let prices = json!({"Items": rows}).to_string();
    let mut files = vec![("skus.json", skus.as_str())];
    files.extend((!rows.is_empty()).then_some(("prices.json", prices.as_str())));
    Catalog::from_files(&files, &region()).expect("are answers")
}

fn row(size: &str, price: f64, sku: &str) -> Value {
    json!({
        "currencyCode": "USD", "retailPrice": price, "armRegionName": "eastus", "armSkuName": size,
        "productName": "Virtual Machines", "skuName": sku, "meterName": sku, "serviceName": "Virtual Machines",
        "unitOfMeasure": "1 Hour", "type": "Consumption"
    })
}

/// A field that a source leaves out, and what Azure may say of it.
struct Case {
    field: &'static str,
    left_out: Catalog,
    said: Vec<Catalog>,
}

/// A capability left out, and each of these words in its place.
fn words(field: &'static str, name: &str, capability: &str, words: &[&str]) -> Case {
    let with = |word| catalog(&[saying(entry(name), capability, word)], &[]);
    Case { field, left_out: with(None), said: words.iter().map(|word| with(Some(word))).collect() }
}

fn places(field: &'static str, member: &str, said: &[Value]) -> Case {
    let with = |value| catalog(&[located(entry(NAMED), member, value)], &[]);
    Case { field, left_out: with(None), said: said.iter().map(|value| with(Some(value.clone()))).collect() }
}

fn cases() -> Vec<Case> {
    let bools = ["True", "False"];
    let disks: BTreeSet<String> = {
        let all = Catalog::embedded(&region()).expect("is known");
        let alike = all.sizes().iter().map(|sold| &sold.size).filter(|size| size.vcpus == 4);
        alike.filter_map(|size| Some(size.capabilities.data_disks_max?.to_string())).collect()
    };
    let disks: Vec<&str> = disks.iter().map(String::as_str).collect();
    assert!(disks.len() > 3, "{disks:?}");
    let details = |zones: &[&str]| json!([{"name": zones, "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}]);
    let spot = |rows: &[Value]| catalog(&[entry(NAMED), entry(NEW)], rows);
    let known = [row(NAMED, 0.2, "D4s v5"), row(NAMED, 0.12, "D4s v5 Spot"), row(NEW, 0.1, "D4s v99")];
    let and_spot = [&known[..], &[row(NEW, 0.06, "D4s v99 Spot")]].concat();
    vec![
        words("arch", NAMED, "CpuArchitectureType", &["x64"]),
        words("arch", "Standard_D4ps_v5", "CpuArchitectureType", &["Arm64"]),
        words("gpus", GPU, "GPUs", &["1", "2"]),
        words("gpus", "Standard_NC4as_X9_v9", "GPUs", &["1"]),
        Case {
            field: "gpu",
            left_out: catalog(&[saying(entry(NEW), "GPUs", Some("1"))], &[]),
            said: vec![catalog(&[saying(entry(GPU), "GPUs", Some("1"))], &[])],
        },
        places("zones", "zones", &[json!([]), json!(["1"]), json!(["1", "2", "3"])]),
        words("capabilities.premiumStorage", NAMED, "PremiumIO", &bools),
        Case {
            // A managed disk, whose price depends on it.
            field: "capabilities.premiumStorage",
            left_out: catalog(&[without_ephemeral(saying(entry(NAMED), "PremiumIO", None))], &[]),
            said: bools
                .map(|word| catalog(&[without_ephemeral(saying(entry(NAMED), "PremiumIO", Some(word)))], &[]))
                .into(),
        },
        words("capabilities.acceleratedNetworking", NAMED, "AcceleratedNetworkingEnabled", &bools),
        words("capabilities.ephemeral", NAMED, "EphemeralOSDiskSupported", &bools),
        words("capabilities.ephemeral", NAMED, "CachedDiskBytes", &["0", "64000000000", "500000000000"]),
        words("capabilities.encryptionAtHost", NAMED, "EncryptionAtHostSupported", &bools),
        words("capabilities.generations", NAMED, "HyperVGenerations", &["V1", "V2", "V1,V2"]),
        words("capabilities.trustedLaunchDisabled", NAMED, "TrustedLaunchDisabled", &["False"]),
        words("capabilities.spot", NAMED, "LowPriorityCapable", &bools),
        words("capabilities.dataDisksMax", NEW, "MaxDataDiskCount", &disks),
        words("capabilities.dataDisksMax", NAMED, "MaxDataDiskCount", &["8"]),
        words("capabilities.ultraSsdRegional", NAMED, "UltraSSDAvailable", &bools),
        places(
            "capabilities.ultraSsdZones",
            "zoneDetails",
            &[json!([]), details(&["1"]), details(&["2", "3"])],
        ),
        Case {
            field: "onDemand",
            left_out: spot(&known[..2]),
            said: vec![spot(&known), spot(&[&known[..2], &[row(NEW, 99.0, "D4s v99")]].concat())],
        },
        Case { field: "spot", left_out: spot(&known), said: vec![spot(&and_spot)] },
    ]
}

fn without_ephemeral(entry: Value) -> Value {
    saying(entry, "EphemeralOSDiskSupported", Some("False"))
}

/// Classes that ask for what sizes may lack.
fn classes() -> [NodeClass; 5] {
    [
        class(),
        NodeClass { encryption_at_host: true, ..class() },
        NodeClass { trusted_launch: true, ..class() },
        NodeClass { is_kata: true, ..class() },
        NodeClass { os_disk_gb: 30, ..class() },
    ]
}

/// What is not known costs more than anything.
fn cost(price: Price) -> i64 {
    price.known().map_or(i64::MAX, |amount| amount.0)
}

/// Says how a type of which less is known is better than the same one with an answer, if it is.
fn better(unknown: &InstanceType, known: &InstanceType) -> Vec<String> {
    let mut found = Vec::new();
    for (key, requirement) in unknown.requirements.iter() {
        let values = |requirement: &Requirement| -> BTreeSet<String> {
            requirement.listed().into_iter().flatten().map(|value| value.to_string()).collect()
        };
        let own = values(requirement);
        let said = known.requirements.get(key.as_str()).map(values).unwrap_or_default();
        if !own.is_subset(&said) {
            found.push(format!("{key} may be {own:?}, not only {said:?}"));
        }
    }
    for way in unknown.offerings.iter().filter(|way| way.is_available) {
        let is_it = |other: &&nodeform::model::Offering| {
            other.is_available && (&other.zone, other.capacity_type) == (&way.zone, way.capacity_type)
        };
        match known.offerings.iter().find(is_it) {
            None => found.push(format!("it is sold in {} as {}", way.zone, way.capacity_type)),
            Some(other) if cost(way.price) < cost(other.price) => {
                found.push(format!("{} costs {:?}, not {:?}", way.capacity_type, way.price, other.price));
            }
            Some(_) => {}
        }
    }
    if cost(unknown.os_disk.price()) < cost(known.os_disk.price()) {
        found.push(format!("its OS disk costs {:?}, not {:?}", unknown.os_disk, known.os_disk));
    }
    for (name, amount) in unknown.allocatable.iter() {
        if amount > known.allocatable.get(name) {
            found.push(format!("pods may use {amount} of {name}"));
        }
    }
    if unknown.data_disks.map(|disks| disks.most) > known.data_disks.map(|disks| disks.most) {
        found.push(format!("{:?}, not {:?}", unknown.data_disks, known.data_disks));
    }
    found
}

#[test]
fn a_size_of_which_less_is_known_is_never_better() {
    for Case { field, left_out, said } in cases() {
        for (class, said) in classes().iter().flat_map(|class| said.iter().map(move |said| (class, said))) {
            let (unknown, known) = (left_out.offered(class, OVERLAY), said.offered(class, OVERLAY));
            for kind in &unknown.types {
                let same = known.types.iter().find(|other| other.name == kind.name);
                let found = same.map_or_else(|| vec!["it is offered".to_owned()], |same| better(kind, same));
                assert!(found.is_empty(), "{field} of {}: {found:?}", kind.name);
            }
        }
    }
}

#[test]
fn an_answer_without_vcpus_or_memory_is_refused() {
    for capability in ["vCPUs", "MemoryGB"] {
        let answer = json!({"value": [saying(entry(NAMED), capability, None)]}).to_string();
        let faults = Catalog::from_files(&[("skus.json", &answer)], &region()).expect_err("is damaged");
        assert!(faults[0].to_string().contains(&format!("does not say its `{capability}`")), "{faults:?}");
    }
}

/// The fields of a value; a new one does not compile until it is named here.
macro_rules! fields {
    ($type:ident of $value:expr; $($field:ident)*) => {{
        let $type { $($field: _),* } = $value;
        [$(stringify!($field)),*]
    }};
}

#[test]
fn every_row_is_proved_and_every_field_has_one() {
    let proved = cases().into_iter().map(|case| case.field).chain(["vcpus", "memoryBytes"]);
    let rows: BTreeSet<&str> = ASSUMED.iter().map(|assumed| assumed.field).collect();
    assert_eq!(proved.collect::<BTreeSet<_>>(), rows);

    let catalog = catalog(&[entry(NAMED)], &[]);
    let sold = &catalog.sizes()[0];
    let of_size = fields!(Size of &sold.size; name parts quota_family vcpus memory_bytes gpus gpu arch capabilities
        zones restriction is_estimate is_shape_estimate);
    let of_capabilities = fields!(Capabilities of &sold.size.capabilities; premium_storage accelerated_networking
        ephemeral encryption_at_host generations trusted_launch_disabled spot data_disks_max ultra_ssd_regional
        ultra_ssd_zones);
    let of_price = fields!(SizePrice of &sold.price; on_demand spot);
    // The name and its parts are always there, a size that is not restricted is sold, and the rest is about the others.
    let known =
        ["name", "parts", "quota_family", "capabilities", "restriction", "is_estimate", "is_shape_estimate"];
    let of_size = of_size.into_iter().filter(|field| !known.contains(field)).map(str::to_owned);
    let of_capabilities = of_capabilities.map(|field| format!("capabilities.{field}"));
    let fields = of_size.chain(of_capabilities).chain(of_price.map(str::to_owned));
    let camel = |field: String| {
        let mut words = field.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
    };
    assert_eq!(fields.map(camel).collect::<BTreeSet<_>>(), rows.into_iter().map(str::to_owned).collect());
}

#[test]
fn the_documentation_shows_the_list() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/estimates.md");
    let text = std::fs::read_to_string(page).expect("the page is there");
    let (start, end) = ("<!-- assumed -->\n", "<!-- end of assumed -->");
    let (head, rest) = text.split_once(start).expect("the page has a place for the list");
    let (shown, tail) = rest.split_once(end).expect("the place has an end");
    if shown != markdown() && std::env::var("UPDATE").is_ok() {
        std::fs::write(page, format!("{head}{start}{}{end}{tail}", markdown())).expect("written");
        return;
    }
    assert!(shown == markdown(), "`{page}` is not current: run again with `UPDATE=1`");
}
