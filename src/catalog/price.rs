//! Prices of sizes: list prices, and replacements for implausible rows.
//!
//! Never averages or invents: a price is a row of a list, or it is marked as an estimate.

use std::sync::Arc;

use super::estimate::SPOT_PERCENT;
use super::size::Size;
use crate::model::{MicroUsdPerHour, Price, SkuName};

/// What a size costs by the hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SizePrice {
    /// On demand.
    pub on_demand: Price,
    /// As spot.
    pub spot: Price,
}

impl SizePrice {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { on_demand: Price::Unknown, spot: Price::Unknown };

    /// Makes the pair from the list price on demand; spot is estimated.
    #[must_use]
    pub fn on_demand(price: Price) -> Self {
        Self { on_demand: price, spot: spot_at(SPOT_PERCENT, price) }
    }
}

/// Returns what spot is taken to cost at so many hundredths of the price on demand.
#[must_use]
pub(super) fn spot_at(percent: i64, on_demand: Price) -> Price {
    on_demand.known().map_or(Price::Unknown, |amount| Price::Estimated(amount.percent(percent)))
}

/// Returns how many hundredths of the price on demand spot is taken to cost where a list says it of some sizes and not of
/// others: no less than of any that it says it of, and no more than on demand.
#[must_use]
pub(super) fn spot_percent<'p>(listed: impl IntoIterator<Item = &'p SizePrice>) -> i64 {
    let percent = |price: &SizePrice| {
        let (on_demand, spot) = (price.on_demand.known()?, price.spot.known()?);
        (on_demand.0 > 0).then(|| (spot.0.saturating_mul(100) + on_demand.0 - 1).div_euclid(on_demand.0))
    };
    let highest = listed.into_iter().filter_map(percent).max().unwrap_or(SPOT_PERCENT);
    highest.clamp(SPOT_PERCENT, 100)
}

/// Makes a price of a list's amount. A size that costs nothing is a hole in the list, not a gift.
#[must_use]
pub(super) const fn listed(amount: MicroUsdPerHour) -> Price {
    if amount.0 == 0 { Price::Unknown } else { Price::Listed(amount) }
}

/// A size with its price.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PricedSize {
    /// The size.
    pub size: Size,
    /// Its price.
    pub price: SizePrice,
}

/// A list price that was not believed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplacedPrice {
    /// The size.
    pub size: SkuName,
    /// Its series.
    pub series: Arc<str>,
    /// What the list says.
    pub listed: MicroUsdPerHour,
    /// What is used instead.
    pub used: MicroUsdPerHour,
    /// The size of the series by whose price a vCPU it was replaced.
    pub by: SkuName,
}

/// Replaces list prices that are probably another meter's: more than 1.5 times as much a vCPU as a size of the
/// same series, with the same accelerator, that has as much memory a vCPU (an eighth less counts as the same)
/// and as many GPUs.
///
/// Memory and GPUs are compared because some series mix shapes (`D2_v2` and `D11_v2`, `NC4as_T4_v3` and
/// `NC64as_T4_v3`), whose prices differ rightly. Constrained sizes count with the vCPUs of their parent, since
/// they cost the same. Two families are left alone: what burstable sizes (B) cost follows their credits, and
/// the largest machines of M cost more a vCPU than the small ones. `sizes` are those of one region.
pub(super) fn replace_suspicious(sizes: &mut [PricedSize]) -> Vec<ReplacedPrice> {
    let mut by_series: Vec<usize> = (0..sizes.len()).collect();
    by_series.sort_by_key(|index| sizes.get(*index).map(|sold| series_key(&sold.size)));
    let mut replaced = Vec::new();
    for group in by_series.chunk_by(|left, right| key_at(sizes, *left) == key_at(sizes, *right)) {
        let members: Vec<&PricedSize> = group.iter().filter_map(|index| sizes.get(*index)).collect();
        replaced.extend(members.iter().filter_map(|member| suspicion(member, &members)));
    }
    replaced.sort();
    for change in &replaced {
        if let Ok(index) = sizes.binary_search_by(|sold| sold.size.name.cmp(&change.size))
            && let Some(sold) = sizes.get_mut(index)
        {
            sold.price = SizePrice::on_demand(Price::Estimated(change.used));
        }
    }
    replaced
}

fn key_at(sizes: &[PricedSize], index: usize) -> Option<(Arc<str>, Option<Arc<str>>)> {
    sizes.get(index).map(|sold| series_key(&sold.size))
}

fn series_key(size: &Size) -> (Arc<str>, Option<Arc<str>>) {
    match &size.parts {
        Some(parts) => (parts.series.clone(), parts.accelerator.clone()),
        None => (Arc::from(size.name.as_str()), None),
    }
}

/// Says whether a member's price is suspicious among its series, and by which member's price it is replaced.
fn suspicion(member: &PricedSize, members: &[&PricedSize]) -> Option<ReplacedPrice> {
    if matches!(member.size.family(), "B" | "M") || member.size.memory_bytes == 0 {
        return None;
    }
    let listed = member.price.on_demand.known()?;
    let (by, cheapest) = members
        .iter()
        .filter(|other| has_as_much(&other.size, &member.size))
        .filter_map(|other| Some((&other.size, other.price.on_demand.known()?)))
        .min_by(|(left, ours), (right, theirs)| {
            let ours = per_vcpu(*ours, right);
            let theirs = per_vcpu(*theirs, left);
            ours.cmp(&theirs).then_with(|| left.name.cmp(&right.name))
        })?;
    if 2 * per_vcpu(listed, by) <= 3 * per_vcpu(cheapest, &member.size) {
        return None;
    }
    let (vcpus, by_vcpus) = (i128::from(member.size.vcpus), i128::from(by.vcpus.max(1)));
    let used = (2 * i128::from(cheapest.0) * vcpus + by_vcpus).div_euclid(2 * by_vcpus);
    Some(ReplacedPrice {
        size: member.size.name.clone(),
        series: Arc::from(member.size.series()),
        listed,
        used: MicroUsdPerHour(i64::try_from(used).ok()?),
        by: by.name.clone(),
    })
}

/// Returns the price times the *other* size's vCPUs: two such products compare prices a vCPU without a
/// fraction.
fn per_vcpu(price: MicroUsdPerHour, other: &Size) -> i128 {
    i128::from(price.0) * i128::from(other.vcpus)
}

/// Returns whether `other` has at least seven eighths of `size`'s memory a vCPU, and as many GPUs.
fn has_as_much(other: &Size, size: &Size) -> bool {
    let memory = i128::from(other.memory_bytes) * i128::from(size.vcpus);
    let own_memory = i128::from(size.memory_bytes) * i128::from(other.vcpus);
    let gpus = u64::from(other.gpus) * u64::from(size.vcpus);
    let own_gpus = u64::from(size.gpus) * u64::from(other.vcpus);
    8 * memory >= 7 * own_memory && gpus >= own_gpus
}
