//! Amounts of resources by name: requests of pods and capacity of nodes.
//!
//! CPU is counted in thousandths of a core, everything else in whole units (bytes, pods, devices). An absent resource
//! is zero. Sums saturate: a sum beyond `i64` fits nowhere, as intended.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Quantity;
use super::written::Integer;

/// The name of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceName {
    /// `cpu`, in thousandths of a core.
    Cpu,
    /// `memory`, in bytes.
    Memory,
    /// `ephemeral-storage`, in bytes.
    EphemeralStorage,
    /// `pods`: how many pods; each pod asks for one.
    Pods,
    /// Any other resource by its name, such as `nvidia.com/gpu`.
    Other(Arc<str>),
}

impl ResourceName {
    /// Returns the resource of this name.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            "ephemeral-storage" => Self::EphemeralStorage,
            "pods" => Self::Pods,
            other => Self::Other(Arc::from(other)),
        }
    }

    /// Returns the place among the common ones.
    const fn place(&self) -> Option<usize> {
        match self {
            Self::Cpu => Some(0),
            Self::Memory => Some(1),
            Self::EphemeralStorage => Some(2),
            Self::Pods => Some(3),
            Self::Other(_) => None,
        }
    }

    /// Returns the name as Kubernetes writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::EphemeralStorage => "ephemeral-storage",
            Self::Pods => "pods",
            Self::Other(name) => name,
        }
    }

    /// Returns whether Kubernetes counts it whole and never lets a limit be above a request: devices and huge pages.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let Self::Other(name) = self else { return false };
        let is_of_others = name.split_once('/').is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io"));
        name.starts_with("hugepages-") || is_of_others
    }

    /// Returns a request of this resource in its unit, rounded up as Kubernetes does.
    #[must_use]
    pub fn request(&self, quantity: &Quantity) -> i64 {
        match self {
            Self::Cpu => quantity.milli_up(),
            Self::Memory | Self::EphemeralStorage | Self::Pods | Self::Other(_) => quantity.units_up(),
        }
    }

    /// Returns a capacity of this resource in its unit, rounded down.
    #[must_use]
    pub fn capacity(&self, quantity: &Quantity) -> i64 {
        match self {
            Self::Cpu => quantity.milli_down(),
            Self::Memory | Self::EphemeralStorage | Self::Pods | Self::Other(_) => quantity.units_down(),
        }
    }

    /// Writes an amount without rounding: cores or thousandths, and bytes in the largest unit that divides them.
    #[must_use]
    pub fn exact(&self, amount: i64) -> String {
        const UNITS: [(&str, i64); 3] = [("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
        let bytes = || {
            let unit = UNITS.into_iter().find(|(_, size)| amount != 0 && amount % size == 0);
            unit.map_or_else(|| amount.to_string(), |(unit, size)| format!("{}{unit}", amount / size))
        };
        match self {
            Self::Cpu if amount % 1000 == 0 => (amount / 1000).to_string(),
            Self::Cpu => format!("{amount}m"),
            Self::Memory | Self::EphemeralStorage => bytes(),
            Self::Other(name) if name.starts_with("hugepages-") => bytes(),
            Self::Pods | Self::Other(_) => amount.to_string(),
        }
    }

    /// Writes an amount of this resource for people: `1500m`, `3.5Gi`, `110`.
    #[must_use]
    pub fn show(&self, amount: i64) -> String {
        match self {
            Self::Cpu if amount % 1000 == 0 => (amount / 1000).to_string(),
            Self::Cpu => format!("{amount}m"),
            Self::Memory | Self::EphemeralStorage => show_bytes(amount),
            // Kubernetes counts huge pages in bytes.
            Self::Other(name) if name.starts_with("hugepages-") => show_bytes(amount),
            Self::Pods | Self::Other(_) => amount.to_string(),
        }
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Writes bytes in the largest binary unit that keeps at least one whole, with at most one decimal. What is whole in the
/// next unit, and would be rounded to another whole number, is written in that one: 2000Gi are not 2Ti.
fn show_bytes(bytes: i64) -> String {
    const UNITS: [(&str, i64); 5] =
        [("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
    let mut units = UNITS.into_iter().skip_while(|(_, size)| bytes.saturating_abs() < *size);
    let Some((unit, size)) = units.next() else {
        return bytes.to_string();
    };
    let tenths = (i128::from(bytes) * 10 + i128::from(size) / 2).div_euclid(i128::from(size));
    match (tenths % 10, units.next()) {
        (0, Some((finer, part))) if bytes % size != 0 && bytes % part == 0 => {
            format!("{}{finer}", bytes / part)
        }
        (0, _) => format!("{}{unit}", tenths / 10),
        (rest, _) => format!("{}.{}{unit}", tenths / 10, rest.abs()),
    }
}

/// The resources that nearly every pod and node has, in the order of [`ResourceName`].
static COMMON: [ResourceName; 4] =
    [ResourceName::Cpu, ResourceName::Memory, ResourceName::EphemeralStorage, ResourceName::Pods];

/// Amounts by resource name. An absent resource is zero.
///
/// The common ones lie side by side, so that sums of them take no memory: planning is full of such sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resources {
    /// The amounts of [`COMMON`]; `None` where one is not named.
    common: [Option<i64>; COMMON.len()],
    others: BTreeMap<ResourceName, i64>,
}

impl Ord for Resources {
    /// Compares amount by amount in the order of their names.
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialOrd for Resources {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Resources {
    /// Returns no resources at all.
    #[must_use]
    pub const fn none() -> Self {
        Self { common: [None; COMMON.len()], others: BTreeMap::new() }
    }

    /// Returns the amount of a resource, in its unit.
    #[must_use]
    pub fn get(&self, name: &ResourceName) -> i64 {
        match name.place() {
            Some(place) => self.common[place].unwrap_or(0),
            None => self.others.get(name).copied().unwrap_or(0),
        }
    }

    /// Returns whether the resource is named, be it with zero.
    #[must_use]
    pub fn names(&self, name: &ResourceName) -> bool {
        match name.place() {
            Some(place) => self.common[place].is_some(),
            None => self.others.contains_key(name),
        }
    }

    /// Sets the amount of a resource.
    pub fn set(&mut self, name: ResourceName, amount: i64) {
        match name.place() {
            Some(place) => self.common[place] = Some(amount),
            None => {
                self.others.insert(name, amount);
            }
        }
    }

    /// Returns these resources with one more set; for building.
    #[must_use]
    pub fn with(mut self, name: ResourceName, amount: i64) -> Self {
        self.set(name, amount);
        self
    }

    /// Returns the named amounts in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&ResourceName, i64)> {
        let common = COMMON.iter().zip(&self.common);
        let common = common.filter_map(|(name, amount)| Some((name, (*amount)?)));
        common.chain(self.others.iter().map(|(name, amount)| (name, *amount)))
    }

    /// Joins the amounts that the other names with the own ones.
    fn join(&mut self, other: &Self, joined: impl Fn(i64, i64) -> i64) {
        for (own, amount) in self.common.iter_mut().zip(&other.common) {
            if let Some(amount) = amount {
                *own = Some(joined(own.unwrap_or(0), *amount));
            }
        }
        for (name, amount) in &other.others {
            match self.others.get_mut(name) {
                Some(own) => *own = joined(*own, *amount),
                None => {
                    self.others.insert(name.clone(), joined(0, *amount));
                }
            }
        }
    }

    /// Adds another set of amounts.
    pub fn add(&mut self, other: &Self) {
        self.join(other, i64::saturating_add);
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add(other);
        sum
    }

    /// Returns what is left after taking `other` away; may go below zero.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.join(other, i64::saturating_sub);
        rest
    }

    /// Returns these amounts so many times.
    #[must_use]
    pub fn times(&self, count: usize) -> Self {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let mut product = self.clone();
        let amounts = product.common.iter_mut().flatten().chain(product.others.values_mut());
        amounts.for_each(|amount| *amount = amount.saturating_mul(count));
        product
    }

    /// Returns these amounts with those below zero raised to zero.
    #[must_use]
    pub fn at_least_zero(mut self) -> Self {
        let common = self.common.iter_mut().flatten();
        common.chain(self.others.values_mut()).for_each(|amount| *amount = (*amount).max(0));
        self
    }

    /// Returns the larger amount of each resource.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        let mut larger = self.clone();
        larger.join(other, i64::max);
        larger
    }

    /// Returns the resources of which `room` has less than these amounts ask for; empty when all fit.
    /// Asking for none of a resource always fits, even where the room is overdrawn.
    #[must_use]
    pub fn lacking_in(&self, room: &Self) -> Vec<ResourceName> {
        self.iter()
            .filter(|(name, amount)| *amount > 0 && *amount > room.get(name))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Returns whether all these amounts fit into `room`.
    #[must_use]
    pub fn fit_in(&self, room: &Self) -> bool {
        self.iter().all(|(name, amount)| amount <= 0 || amount <= room.get(name))
    }
}

impl Serialize for Resources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, amount)| (name.as_str(), Integer(amount))))
    }
}

impl<'de> Deserialize<'de> for Resources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let amounts = BTreeMap::<String, Integer>::deserialize(deserializer)?;
        Ok(amounts.into_iter().map(|(name, amount)| (ResourceName::parse(&name), amount.0)).collect())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Resources {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Resources".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = BTreeMap::<String, Integer>::json_schema(generator);
        let about = "Amounts by resource name: cpu in thousandths of a core, others in whole units.";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

impl FromIterator<(ResourceName, i64)> for Resources {
    fn from_iter<I: IntoIterator<Item = (ResourceName, i64)>>(amounts: I) -> Self {
        let mut resources = Self::none();
        for (name, amount) in amounts {
            resources.set(name, amount);
        }
        resources
    }
}

#[cfg(test)]
mod tests {
    use super::{Quantity, ResourceName};

    #[test]
    fn bytes_are_not_rounded_to_another_whole_number() {
        let show = |text: &str| {
            let quantity = Quantity::parse(text).expect("is a quantity");
            ResourceName::Memory.show(ResourceName::Memory.request(&quantity))
        };
        for (text, shown) in [
            ("2000Gi", "2000Gi"),
            ("2Ti", "2Ti"),
            ("1536Gi", "1.5Ti"),
            ("62.5Gi", "62.5Gi"),
            ("3500Mi", "3.4Gi"),
        ] {
            assert_eq!(show(text), shown, "{text}");
        }
    }
}
