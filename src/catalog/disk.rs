//! Prices of managed OS disks, by tier.
//!
//! A disk is billed as the smallest tier that fits it. Prices are published per month of 730 hours; here they are per
//! hour.

use crate::model::amount::HOURS_PER_MONTH;
use crate::model::{MicroUsdPerHour, Price};

/// The kinds of managed disk that an OS disk can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DiskKind {
    /// Premium SSD, where the size takes it.
    PremiumSsd,
    /// Standard SSD.
    StandardSsd,
}

impl DiskKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::PremiumSsd, Self::StandardSsd];

    /// Returns the name in the table of the default catalogue.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PremiumSsd => "premiumSsd",
            Self::StandardSsd => "standardSsd",
        }
    }
}

/// One tier of one kind.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiskTier {
    /// The kind.
    pub kind: DiskKind,
    /// The tier's name, such as `P10`.
    pub name: String,
    /// The largest disk that it holds, in GiB.
    pub size_gib: u32,
    /// What it costs by the hour.
    pub price: Price,
}

/// The tiers of both kinds, sorted by kind and size.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiskPrices(Vec<DiskTier>);

impl DiskPrices {
    /// Reads lines of kind, tier, GiB and US dollars by the month; lines that begin with `#` are passed over.
    /// The prices are estimates: they are of one region. `None` when a line is not of this form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut tiers = lines.map(tier).collect::<Option<Vec<_>>>()?;
        tiers.sort_by_key(|tier| (tier.kind, tier.size_gib));
        Some(Self(tiers))
    }

    /// Returns the tiers.
    #[must_use]
    pub fn tiers(&self) -> &[DiskTier] {
        &self.0
    }

    /// Replaces a tier's price; nothing happens when there is no such tier.
    pub(super) fn set(&mut self, name: &str, price: Price) {
        for tier in self.0.iter_mut().filter(|tier| tier.name == name) {
            tier.price = price;
        }
    }

    /// Returns what a disk of this many GB costs by the hour; unknown beyond the largest tier.
    #[must_use]
    pub fn price(&self, kind: DiskKind, size_gb: u32) -> Price {
        let tier = self.0.iter().find(|tier| tier.kind == kind && tier.size_gib >= size_gb);
        tier.map_or(Price::Unknown, |tier| tier.price)
    }

    /// Returns what a managed OS disk of this many GB costs by the hour: premium SSD where the size takes it, else standard
    /// SSD, and where nobody says which, the dearer of both.
    #[must_use]
    pub fn os_disk(&self, is_premium: Option<bool>, size_gb: u32) -> Price {
        let [premium, standard] = DiskKind::ALL.map(|kind| self.price(kind, size_gb));
        match is_premium {
            Some(true) => premium,
            Some(false) => standard,
            None if premium.known().is_none() => premium,
            None if standard.known().is_none() => standard,
            None if premium.known() < standard.known() => standard,
            None => premium,
        }
    }
}

/// Spreads a month's price over its hours, rounded half up.
pub(super) const fn hourly(month: MicroUsdPerHour) -> MicroUsdPerHour {
    MicroUsdPerHour((2 * month.0 + HOURS_PER_MONTH).div_euclid(2 * HOURS_PER_MONTH))
}

fn tier(line: &str) -> Option<DiskTier> {
    let mut words = line.split(' ');
    let (kind, name) = (words.next()?, words.next()?);
    let kind = DiskKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
    let size_gib = words.next()?.parse().ok()?;
    let month = MicroUsdPerHour::from_decimal_usd(words.next()?)?;
    Some(DiskTier { kind, name: name.to_owned(), size_gib, price: Price::Estimated(hourly(month)) })
}

#[cfg(test)]
mod tests {
    use super::{DiskKind, DiskPrices, MicroUsdPerHour, Price};

    #[test]
    fn a_disk_is_billed_as_the_smallest_tier_that_holds_it() {
        let prices =
            DiskPrices::parse("# kind tier GiB USD\npremiumSsd P15 256 38.02\npremiumSsd P10 128 19.71");
        let prices = prices.expect("has the form");
        let price = |size_gb| prices.price(DiskKind::PremiumSsd, size_gb);
        assert_eq!(price(128), Price::Estimated(MicroUsdPerHour(27_000)));
        assert_eq!(price(30), price(128));
        assert_eq!(price(129), Price::Estimated(MicroUsdPerHour(52_082)));
        assert_eq!(price(257), Price::Unknown);
        assert_eq!(prices.price(DiskKind::StandardSsd, 30), Price::Unknown);
    }
}
