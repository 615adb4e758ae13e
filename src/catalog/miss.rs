//! Explains an empty filter result: which condition excludes everything, and which values exist instead.
//!
//! Must never be called for a filter that accepts something.

use std::collections::BTreeSet;

use super::filter::{Asked, CatalogFilter, cheapest_on_demand, label_of, memory_bytes};
use super::offering::NO_ZONE;
use crate::model::{InstanceType, MicroUsdPerHour, ResourceName, label};

/// Maximum number of values to list if no single one is close.
const VALUES_MAX: usize = 30;

/// A condition of a filter that excludes everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The condition.
    pub asked: Asked,
    /// Number of types that meet the other conditions; of all types if this condition alone excludes all of them.
    pub of: usize,
    /// Existing values among these types.
    pub instead: Instead,
}

/// Values for a condition that would match something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// None: no type has such a value.
    Nothing,
    /// The value that was probably intended.
    Near(String),
    /// All existing values.
    Known(Vec<String>),
    /// The highest existing value.
    AtMost(String),
    /// The lowest existing value.
    AtLeast(String),
    /// The lowest existing price.
    Price(MicroUsdPerHour),
}

/// Returns the conditions that exclude all of these types: those that no type meets, or else those without which the
/// rest would match something. Empty if no single condition is to blame.
#[must_use]
pub fn misses(filter: &CatalogFilter, types: &[InstanceType]) -> Vec<Miss> {
    let parts = filter.parts();
    let alone = parts.iter().filter(|(_, part)| !types.iter().any(|offered| part.accepts(offered)));
    let all: Vec<&InstanceType> = types.iter().collect();
    let alone: Vec<Miss> = alone.map(|(asked, part)| miss(*asked, part, &all)).collect();
    if !alone.is_empty() {
        return alone;
    }
    let together = parts.iter().filter_map(|(asked, part)| {
        let others = |offered: &&InstanceType| {
            parts.iter().filter(|(other, _)| other != asked).all(|(_, other)| other.accepts(offered))
        };
        let shown: Vec<&InstanceType> = types.iter().filter(others).collect();
        (!shown.is_empty()).then(|| miss(*asked, part, &shown))
    });
    together.collect()
}

fn miss(asked: Asked, part: &CatalogFilter, types: &[&InstanceType]) -> Miss {
    let cpu = || types.iter().map(|offered| offered.capacity.get(&ResourceName::Cpu));
    let memory = || types.iter().map(|offered| memory_bytes(offered));
    let show = |name: &ResourceName, amount: Option<i64>| amount.map(|amount| name.show(amount));
    let most = |text: Option<String>| text.map_or(Instead::Nothing, Instead::AtMost);
    let least = |text: Option<String>| text.map_or(Instead::Nothing, Instead::AtLeast);
    let instead = match asked {
        Asked::Name => {
            let names = types.iter().map(|offered| offered.name.as_str());
            near(part.name_part.as_deref(), names).map_or(Instead::Nothing, Instead::Near)
        }
        Asked::Family => family(part.family.as_deref(), types),
        Asked::Arch => known(types.iter().filter_map(|offered| label_of(offered, label::ARCH))),
        Asked::Zone => {
            let offerings = types.iter().flat_map(|offered| &offered.offerings);
            let zones = offerings.filter(|offering| offering.is_available).map(|offering| &offering.zone);
            known(zones.map(|zone| zone.as_str()).filter(|zone| *zone != NO_ZONE))
        }
        Asked::CpuMin => most(show(&ResourceName::Cpu, cpu().max())),
        Asked::CpuMax => least(show(&ResourceName::Cpu, cpu().min())),
        Asked::MemoryMin => most(show(&ResourceName::Memory, memory().max())),
        Asked::MemoryMax => least(show(&ResourceName::Memory, memory().min())),
        Asked::Gpu => Instead::Nothing,
        Asked::PriceMax => {
            let cheapest = types.iter().filter_map(|offered| cheapest_on_demand(offered)).min();
            cheapest.map_or(Instead::Nothing, Instead::Price)
        }
    };
    Miss { asked, of: types.len(), instead }
}

/// Lists distinct values.
fn known<'a>(values: impl Iterator<Item = &'a str>) -> Instead {
    let values: BTreeSet<&str> = values.collect();
    if values.is_empty() || values.len() > VALUES_MAX {
        return Instead::Nothing;
    }
    Instead::Known(values.into_iter().map(str::to_owned).collect())
}

/// Returns a similar series, or else the families.
fn family(wanted: Option<&str>, types: &[&InstanceType]) -> Instead {
    let of = |key: &'static str| types.iter().filter_map(move |offered| label_of(offered, key));
    near(wanted, of(label::SKU_SERIES)).map_or_else(|| known(of(label::SKU_FAMILY)), Instead::Near)
}

/// Returns the value within one or two typos of the wanted one, in Azure's spelling.
fn near<'a>(wanted: Option<&str>, values: impl Iterator<Item = &'a str>) -> Option<String> {
    // Comparison is quadratic in the length, and no name is close to a longer text.
    const LENGTH_MAX: usize = 60;
    let plain = |text: &str| text.replace('_', "").to_lowercase();
    let wanted = wanted.map(plain).filter(|wanted| (3..=LENGTH_MAX).contains(&wanted.len()))?;
    let distance = |value: &str| {
        let value = plain(value);
        let short = value.strip_prefix("standard").unwrap_or(&value);
        strsim::damerau_levenshtein(&value, &wanted).min(strsim::damerau_levenshtein(short, &wanted))
    };
    let slips = (wanted.len() / 3).min(2);
    let (distance, value) = values.map(|value| (distance(value), value)).min()?;
    (distance <= slips).then(|| value.to_owned())
}
