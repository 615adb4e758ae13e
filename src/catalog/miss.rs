//! Why a filter shows nothing: which part of it leaves nothing, and what there would be instead.
//!
//! It must never answer for a filter that shows something.

use std::collections::BTreeSet;

use super::filter::{Asked, CatalogFilter, cheapest_on_demand, label_of, memory_bytes};
use super::offering::NO_ZONE;
use crate::model::{InstanceType, MicroUsdPerHour, ResourceName, label};

/// How many values are listed when no single one is near.
const VALUES_MAX: usize = 30;

/// A part of a filter that leaves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The part.
    pub asked: Asked,
    /// How many types the other parts show: all types, where this part alone shows none of them.
    pub of: usize,
    /// What there is among these.
    pub instead: Instead,
}

/// What a part of a filter could ask for, so that something is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instead {
    /// Nothing: no type has such a thing.
    Nothing,
    /// The value that was probably meant.
    Near(String),
    /// Everything that there is.
    Known(Vec<String>),
    /// The highest value that there is.
    AtMost(String),
    /// The lowest value that there is.
    AtLeast(String),
    /// The lowest price that there is.
    Price(MicroUsdPerHour),
}

/// Returns the parts of a filter that leave nothing of these types: those that no type meets at all, or else
/// those without which the others would show something. Neither: no part is to blame alone.
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

/// Lists values, each once.
fn known<'a>(values: impl Iterator<Item = &'a str>) -> Instead {
    let values: BTreeSet<&str> = values.collect();
    if values.is_empty() || values.len() > VALUES_MAX {
        return Instead::Nothing;
    }
    Instead::Known(values.into_iter().map(str::to_owned).collect())
}

/// A series that is near, else the families.
fn family(wanted: Option<&str>, types: &[&InstanceType]) -> Instead {
    let of = |key: &'static str| types.iter().filter_map(move |offered| label_of(offered, key));
    near(wanted, of(label::SKU_SERIES)).map_or_else(|| known(of(label::SKU_FAMILY)), Instead::Near)
}

/// The value that differs from the wanted one by a slip or two, written as Azure does.
fn near<'a>(wanted: Option<&str>, values: impl Iterator<Item = &'a str>) -> Option<String> {
    // Comparing is quadratic in the length; no name comes near a longer text.
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
