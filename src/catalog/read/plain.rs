//! Reads a plain list of instance types: names with requirements, capacity, overhead and offerings.
//!
//! The list is `{"wellKnownLabels": […], "instanceTypes": […]}` or a bare array of types. No data from Azure is added:
//! no size is refused, disks have no price of their own, and the region is only a name.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Number;

use super::fault::{CatalogFault, syntax};
use super::kind::Page;
use crate::catalog::Catalog;
use crate::catalog::price::listed;
use crate::model::label::{CAPACITY_TYPE, INSTANCE_TYPE, RESERVATION_ID, ZONE, normalized};
use crate::model::{
    CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Operator, OsDisk, Price, Quantity,
    Region, Requirement, Requirements, ResourceName, Resources, SkuName, Zone,
};

/// Default pod capacity of a type: that of the kubelet.
const PODS: i64 = 110;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    #[serde(default)]
    well_known_labels: Vec<String>,
    #[serde(rename = "reservationIDLabel")]
    reservation_id_label: Option<String>,
    instance_types: Vec<PlainType>,
}

#[derive(Deserialize)]
struct PlainType {
    name: String,
    #[serde(default)]
    requirements: BTreeMap<String, OneOrMany>,
    #[serde(default)]
    labels: BTreeMap<String, OneOrMany>,
    #[serde(default)]
    capacity: BTreeMap<String, Amount>,
    #[serde(default)]
    overhead: Overhead,
    #[serde(default)]
    offerings: Vec<PlainOffering>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Overhead {
    kube_reserved: BTreeMap<String, Amount>,
    system_reserved: BTreeMap<String, Amount>,
    eviction_threshold: BTreeMap<String, Amount>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainOffering {
    zone: String,
    capacity_type: String,
    price: Option<Number>,
    available: Option<bool>,
    #[serde(default)]
    requirements: BTreeMap<String, OneOrMany>,
    #[serde(rename = "reservationID")]
    reservation_id: Option<String>,
    reservation_capacity: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Text(String),
    Number(Number),
}

/// Reads all lists into one catalogue, and adds all problems to `faults`.
pub(super) fn read(pages: &[Page<'_>], region: &Region, faults: &mut Vec<CatalogFault>) -> Option<Catalog> {
    let mut well_known: BTreeSet<LabelKey> = BTreeSet::new();
    let mut types: BTreeMap<SkuName, InstanceType> = BTreeMap::new();
    for page in pages {
        let Some(list) = list(page, faults) else { continue };
        let reservation_id = list.reservation_id_label.as_deref().unwrap_or(RESERVATION_ID);
        well_known.extend(list.well_known_labels.iter().map(|key| LabelKey::new(normalized(key))));
        well_known.insert(LabelKey::new(reservation_id));
        for (index, plain) in list.instance_types.iter().enumerate() {
            let prefix = if page.is_bare { "" } else { "instanceTypes" };
            let place = format!("{prefix}[{index}]");
            let mut reader = Reader { file: page.file, place, reservation_id, faults: &mut *faults };
            let made = reader.instance_type(plain);
            if types.insert(made.name.clone(), made).is_some() {
                let what = format!("`{}` is listed twice", plain.name);
                reader.fault("name", what, "give every type once");
            }
        }
    }
    if types.is_empty() && faults.is_empty() {
        let file = pages.first().map_or("", |page| page.file);
        let hint = "a type has `name`, `capacity` and `offerings`";
        faults.push(CatalogFault::new(file, "", "the list has no instance type").hint(hint));
    }
    Some(Catalog::of_types(region.clone(), types.into_values().collect(), well_known))
}

fn list(page: &Page<'_>, faults: &mut Vec<CatalogFault>) -> Option<List> {
    let read = if page.is_bare {
        serde_json::from_str::<Vec<PlainType>>(page.text)
            .map(|instance_types| List { instance_types, ..List::default() })
    } else {
        serde_json::from_str::<List>(page.text)
    };
    read.map_err(|error| faults.push(syntax(page.file, &error))).ok()
}

/// Reads one type, with its place for faults.
struct Reader<'a> {
    file: &'a str,
    place: String,
    reservation_id: &'a str,
    faults: &'a mut Vec<CatalogFault>,
}

impl Reader<'_> {
    fn fault(&mut self, member: &str, what: String, hint: &str) {
        let place = format!("{}.{member}", self.place);
        self.faults.push(CatalogFault::new(self.file, place, what).hint(hint));
    }

    fn instance_type(&mut self, plain: &PlainType) -> InstanceType {
        if plain.name.is_empty() {
            self.fault("name", "the type has no name".into(), "give every type a name");
        }
        let mut offerings: Vec<Offering> = plain
            .offerings
            .iter()
            .enumerate()
            .map(|(index, offering)| self.offering(index, offering))
            .collect();
        offerings.sort_by(|left, right| {
            let key = |offering: &Offering| (offering.zone.clone(), offering.capacity_type, offering.price);
            key(left).cmp(&key(right)).then_with(|| left.requirements.cmp(&right.requirements))
        });
        let mut capacity = self.resources("capacity", &plain.capacity, ResourceName::capacity);
        if !capacity.names(&ResourceName::Pods) {
            capacity.set(ResourceName::Pods, PODS);
        }
        let mut allocatable = capacity.clone();
        for (member, reserved) in [
            ("overhead.kubeReserved", &plain.overhead.kube_reserved),
            ("overhead.systemReserved", &plain.overhead.system_reserved),
            ("overhead.evictionThreshold", &plain.overhead.eviction_threshold),
        ] {
            allocatable = allocatable.minus(&self.resources(member, reserved, ResourceName::request));
        }
        InstanceType {
            name: SkuName::new(&plain.name),
            requirements: self.requirements(plain, &offerings),
            capacity,
            allocatable: allocatable.at_least_zero(),
            // The list has no disks: the offering's price covers the whole node.
            os_disk: OsDisk::Ephemeral,
            offerings,
            data_disks: None,
            is_estimate: false,
        }
    }

    /// Returns the requirements: name, zones and capacity types derived from the type and its available offerings,
    /// overridden by the type's own entries.
    fn requirements(&self, plain: &PlainType, offerings: &[Offering]) -> Requirements {
        let available = || offerings.iter().filter(|offering| offering.is_available);
        let listed = |key: &'static str| {
            available().filter_map(move |offering| offering.requirements.get(key)?.single())
        };
        let mut requirements = Requirements::none()
            .with(INSTANCE_TYPE, Requirement::one(&plain.name))
            .with(ZONE, Requirement::new(Operator::In, listed(ZONE)))
            .with(CAPACITY_TYPE, Requirement::new(Operator::In, listed(CAPACITY_TYPE)));
        let reservations: BTreeSet<_> = available()
            .filter_map(|offering| offering.requirements.get(self.reservation_id)?.single())
            .collect();
        if !reservations.is_empty() {
            let key = LabelKey::new(self.reservation_id);
            requirements.set(key, Requirement::new(Operator::In, reservations));
        }
        for (key, values) in plain.labels.iter().chain(&plain.requirements) {
            requirements.set(LabelKey::new(normalized(key)), values.requirement());
        }
        requirements
    }

    fn offering(&mut self, index: usize, plain: &PlainOffering) -> Offering {
        let capacity_type = CapacityType::parse(&plain.capacity_type).unwrap_or_else(|| {
            let what = format!("`{}` is not a capacity type", plain.capacity_type);
            let hint = "it is one of `on-demand`, `spot`, `reserved`";
            self.fault(&format!("offerings[{index}].capacityType"), what, hint);
            CapacityType::OnDemand
        });
        let mut requirements =
            Requirements::of_labels([(ZONE, plain.zone.as_str()), (CAPACITY_TYPE, capacity_type.as_str())]);
        for (key, values) in &plain.requirements {
            requirements.add(LabelKey::new(normalized(key)), values.requirement());
        }
        if let Some(id) = plain.reservation_id.as_deref().filter(|id| !id.is_empty()) {
            requirements.add(LabelKey::new(self.reservation_id), Requirement::one(id));
        }
        Offering {
            zone: Zone::new(&plain.zone),
            capacity_type,
            price: self.price(index, plain.price.as_ref()),
            is_available: plain.available.unwrap_or(true),
            reserved_count: plain.reservation_capacity,
            requirements,
        }
    }

    fn price(&mut self, index: usize, price: Option<&Number>) -> Price {
        let Some(number) = price else { return Price::Unknown };
        let text = number.to_string();
        MicroUsdPerHour::from_decimal_usd(&text).map_or_else(
            || {
                let what = format!("`{text}` is not a price in US dollars by the hour");
                self.fault(&format!("offerings[{index}].price"), what, "give a decimal such as `0.192`");
                Price::Unknown
            },
            listed,
        )
    }

    fn resources(
        &mut self,
        member: &str,
        amounts: &BTreeMap<String, Amount>,
        count: impl Fn(&ResourceName, &Quantity) -> i64,
    ) -> Resources {
        let mut resources = Resources::none();
        for (name, amount) in amounts {
            let text = amount.text();
            match Quantity::parse(&text).filter(|quantity| !quantity.is_negative()) {
                Some(quantity) => {
                    let name = ResourceName::parse(name);
                    let amount = count(&name, &quantity);
                    resources.set(name, amount);
                }
                None => {
                    let what = format!("`{text}` is not an amount of `{name}`");
                    self.fault(
                        &format!("{member}.{name}"),
                        what,
                        "give a quantity such as `4`, `500m` or `16Gi`",
                    );
                }
            }
        }
        resources
    }
}

impl OneOrMany {
    /// Converts to a requirement; an empty list means that the label does not exist.
    fn requirement(&self) -> Requirement {
        match self {
            Self::One(value) => Requirement::one(value),
            Self::Many(values) => Requirement::new(Operator::In, values),
        }
    }
}

impl Amount {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}
