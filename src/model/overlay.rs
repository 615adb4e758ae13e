//! NodeOverlays: overridden prices and extra resources of sizes.

use super::{MicroUsdPerHour, OverlayName, Requirements, Resources};

/// A NodeOverlay: which nodes it is for, and what is different about them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Overlay {
    /// Its name.
    pub name: OverlayName,
    /// Its weight; of several overlays for one node the heaviest counts. Absent is 0.
    pub weight: u32,
    /// What a node must be that it is for, with normalised keys.
    pub requirements: Requirements,
    /// What the price becomes, where it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceChange>,
    /// Resources that the nodes have beside their own.
    pub capacity: Resources,
}

/// What a price becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PriceChange {
    /// This one, whatever it was.
    To(MicroUsdPerHour),
    /// So much more, or less where it is negative.
    ByAmount(MicroUsdPerHour),
    /// So many percent more, or less where it is negative.
    ByPercent(Percent),
}

/// A percentage, in billionths of one percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Percent(
    #[serde(with = "super::written::integer")]
    #[cfg_attr(feature = "schema", schemars(with = "super::written::Integer"))]
    i64,
);

/// A hundred percent.
const WHOLE: i128 = 100 * 1_000_000_000;

impl PriceChange {
    /// Returns what a price becomes, rounded half up to a millionth; never below nothing.
    #[must_use]
    pub fn of(self, price: MicroUsdPerHour) -> MicroUsdPerHour {
        let changed = match self {
            Self::To(price) => price,
            Self::ByAmount(amount) => price + amount,
            Self::ByPercent(Percent(nano)) => {
                let scaled = i128::from(price.0) * (WHOLE + i128::from(nano));
                let rounded = (scaled + WHOLE / 2).div_euclid(WHOLE);
                MicroUsdPerHour(i64::try_from(rounded).unwrap_or(i64::MAX))
            }
        };
        changed.max(MicroUsdPerHour(0))
    }

    /// Reads a price in dollars per hour (`0.25`). `None` when it is none, or does not fit.
    #[must_use]
    pub fn parse_price(text: &str) -> Option<Self> {
        MicroUsdPerHour::from_decimal_usd(text).map(Self::To)
    }

    /// Reads what a price differs by: a sign with dollars per hour (`-0.5`), or with a percentage (`+10%`). `None`
    /// when it is neither, or does not fit.
    #[must_use]
    pub fn parse_adjustment(text: &str) -> Option<Self> {
        let (sign, amount) = match text.split_at_checked(1)? {
            ("-", amount) => (-1, amount),
            ("+", amount) => (1, amount),
            (_, _) => return None,
        };
        match amount.strip_suffix('%') {
            Some(percent) => {
                let nano = super::quantity::decimal_nano(percent).filter(|nano| *nano >= 0)?;
                Some(Self::ByPercent(Percent(sign * i64::try_from(nano).ok()?)))
            }
            None => {
                let MicroUsdPerHour(amount) = MicroUsdPerHour::from_decimal_usd(amount)?;
                Some(Self::ByAmount(MicroUsdPerHour(sign * amount)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MicroUsdPerHour, PriceChange};

    #[test]
    fn prices_become_what_the_overlay_says_and_never_less_than_nothing() {
        let table = [
            ("0.25", Some(250_000)),
            ("2", Some(2_000_000)),
            ("-0.04", Some(60_000)),
            ("-0.5", Some(0)),
            ("+.5", Some(600_000)),
            ("-10%", Some(90_000)),
            ("-100%", Some(0)),
            ("+250.5%", Some(350_500)),
            ("+0.0005%", Some(100_001)),
            ("+0.0004%", Some(100_000)),
            ("", None),
            ("-", None),
            ("+-1", None),
            ("+-1%", None),
            ("10%", None),
            ("+99999999999%", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in table {
            let change = match text.starts_with(['+', '-']) {
                true => PriceChange::parse_adjustment(text),
                false => PriceChange::parse_price(text),
            };
            let price = change.map(|change| change.of(MicroUsdPerHour(100_000)).0);
            assert_eq!(price, expected, "{text}");
        }
    }
}
