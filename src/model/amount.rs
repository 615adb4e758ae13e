//! Money and capacity types. Integers with units, never floats.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// Hours in a month, as Azure's calculator and Infracost count them.
pub const HOURS_PER_MONTH: i64 = 730;

/// An amount of money in millionths of a US dollar.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MicroUsd(
    #[serde(with = "super::written::integer")]
    #[cfg_attr(feature = "schema", schemars(with = "super::written::Integer"))]
    pub i64,
);

/// A rate of spending in millionths of a US dollar per hour.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MicroUsdPerHour(
    #[serde(with = "super::written::integer")]
    #[cfg_attr(feature = "schema", schemars(with = "super::written::Integer"))]
    pub i64,
);

impl MicroUsdPerHour {
    /// Returns what the rate comes to in a month of 730 hours.
    #[must_use]
    pub const fn per_month(self) -> MicroUsd {
        MicroUsd(self.0.saturating_mul(HOURS_PER_MONTH))
    }

    /// Returns this rate taken `percent` times a hundredth, rounded half up: what a discount leaves.
    #[must_use]
    pub const fn percent(self, percent: i64) -> Self {
        Self((self.0.saturating_mul(percent).saturating_add(50)).div_euclid(100))
    }

    /// Returns this rate `count` times.
    #[must_use]
    pub fn times(self, count: usize) -> Self {
        Self(self.0.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// Reads dollars per hour as a decimal (`0.192`, `1e-2`, `12`), rounded half up to a millionth.
    /// `None` when it is not a decimal, is negative, or does not fit.
    #[must_use]
    pub fn from_decimal_usd(text: &str) -> Option<Self> {
        let nano = super::quantity::decimal_nano(text)?;
        if nano < 0 {
            return None;
        }
        i64::try_from((nano + 500) / 1000).ok().map(Self)
    }
}

impl Add for MicroUsdPerHour {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for MicroUsdPerHour {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for MicroUsdPerHour {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for MicroUsdPerHour {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}

/// What something costs by the hour, as far as that is known. Unknown is a value of its own: it never
/// counts as nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Price {
    /// A price from a price list.
    Listed(MicroUsdPerHour),
    /// A price that a stated rule estimated; marked `~` wherever it is shown.
    Estimated(MicroUsdPerHour),
    /// No price is known.
    Unknown,
}

impl Price {
    /// Returns the amount, if one is known.
    #[must_use]
    pub const fn known(self) -> Option<MicroUsdPerHour> {
        match self {
            Self::Listed(amount) | Self::Estimated(amount) => Some(amount),
            Self::Unknown => None,
        }
    }

    /// Returns whether a rule of ours made this price.
    #[must_use]
    pub const fn is_estimate(self) -> bool {
        matches!(self, Self::Estimated(_))
    }

    /// Returns the price changed by `change`, as sure as it was before.
    #[must_use]
    pub fn map(self, change: impl FnOnce(MicroUsdPerHour) -> MicroUsdPerHour) -> Self {
        match self {
            Self::Listed(amount) => Self::Listed(change(amount)),
            Self::Estimated(amount) => Self::Estimated(change(amount)),
            Self::Unknown => Self::Unknown,
        }
    }

    /// Returns the sum: unknown if either is, an estimate if either is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self.known(), other.known()) {
            (Some(ours), Some(theirs)) if self.is_estimate() || other.is_estimate() => {
                Self::Estimated(ours + theirs)
            }
            (Some(ours), Some(theirs)) => Self::Listed(ours + theirs),
            (None, _) | (_, None) => Self::Unknown,
        }
    }
}

/// How capacity is bought: the value of `karpenter.sh/capacity-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CapacityType {
    /// At the list price, until deleted.
    OnDemand,
    /// Cheaper, and taken back by Azure at will.
    Spot,
    /// Paid for beforehand.
    Reserved,
}

impl CapacityType {
    /// Every capacity type, in the order of this enum.
    pub const ALL: [Self; 3] = [Self::OnDemand, Self::Spot, Self::Reserved];

    /// Returns the label value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::Spot => "spot",
            Self::Reserved => "reserved",
        }
    }

    /// Reads the label value.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for CapacityType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Returns a number with a comma at each thousand.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
