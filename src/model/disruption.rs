//! How much of a pool may be disrupted, why and when.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::SignedDuration;

/// Why a node is disrupted, in Karpenter's words. Budgets list only some of the reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DisruptionReason {
    /// It has been unhealthy for too long; no budget lists this.
    Unhealthy,
    /// It carries no pods but those of DaemonSets.
    Empty,
    /// It is too old; no budget lists this.
    Expired,
    /// It differs from what its pool asks for.
    Drifted,
    /// Its pool asks for fewer nodes (`replicas`); no budget lists this.
    Excess,
    /// Its pods fit elsewhere or on something cheaper.
    Underutilized,
    /// The user asks for all that is managed to go (`--destroy`); Karpenter has no such reason, and no budget lists it.
    Destroyed,
    /// Somebody deleted the Node or its NodeClaim (`kubectl delete`); no budget lists it, and nothing holds it back.
    Deleted,
}

impl DisruptionReason {
    /// Returns the reason as Karpenter writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unhealthy => "Unhealthy",
            Self::Empty => "Empty",
            Self::Expired => "Expired",
            Self::Drifted => "Drifted",
            Self::Excess => "Excess",
            Self::Underutilized => "Underutilized",
            Self::Destroyed => "Destroyed",
            Self::Deleted => "Deleted",
        }
    }

    /// Returns whether budgets may list the reason: they hold nothing else back, they only pace it.
    #[must_use]
    pub const fn is_budgeted(self) -> bool {
        matches!(self, Self::Empty | Self::Drifted | Self::Underutilized)
    }

    /// Returns whether a freeze that names no reasons is about it: whatever is done by choice, be it the user's.
    #[must_use]
    pub const fn is_chosen(self) -> bool {
        self.is_budgeted() || matches!(self, Self::Excess | Self::Destroyed)
    }

    /// Returns whether a node goes because somebody asks for it: then no budget is asked.
    #[must_use]
    pub const fn is_asked(self) -> bool {
        matches!(self, Self::Destroyed | Self::Deleted)
    }

    /// Returns whether a node goes whatever that costs and however long it was quiet: for what it is, or on request.
    #[must_use]
    pub const fn is_due(self) -> bool {
        matches!(
            self,
            Self::Unhealthy | Self::Expired | Self::Drifted | Self::Excess | Self::Destroyed | Self::Deleted
        )
    }
}

impl fmt::Display for DisruptionReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// How many nodes a budget lets go at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum BudgetNodes {
    /// So many nodes.
    Count(u32),
    /// So many hundredths of the pool's nodes, rounded up as Karpenter does.
    Percent(u32),
}

impl BudgetNodes {
    /// Returns how many of a pool's nodes may go at once. Percentages round up.
    #[must_use]
    pub fn of(self, pool_nodes: usize) -> usize {
        match self {
            Self::Count(count) => usize::try_from(count).unwrap_or(usize::MAX),
            Self::Percent(percent) => {
                let percent = usize::try_from(percent).unwrap_or(100);
                pool_nodes.saturating_mul(percent).div_ceil(100)
            }
        }
    }
}

/// A limit on how many nodes of a pool are disrupted at once.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// The reasons it limits; `None` is every reason.
    pub reasons: Option<BTreeSet<DisruptionReason>>,
    /// How many nodes may go at once.
    pub nodes: BudgetNodes,
    /// When it holds: a cron line in UTC, and for how long from each hit; `None` is always.
    #[serde(with = "window")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<(String, String)>"))]
    pub window: Option<(Arc<str>, SignedDuration)>,
}

/// A window as JSON: the cron line and the duration, both as text.
mod window {
    use std::sync::Arc;

    use jiff::SignedDuration;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        window: &Option<(Arc<str>, SignedDuration)>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        window.as_ref().map(|(cron, duration)| (cron, duration.to_string())).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<(Arc<str>, SignedDuration)>, D::Error> {
        let window = Option::<(Arc<str>, String)>::deserialize(deserializer)?;
        window.map(|(cron, duration)| Ok((cron, duration.parse().map_err(de::Error::custom)?))).transpose()
    }
}

impl Budget {
    /// Returns whether the budget limits this reason.
    #[must_use]
    pub fn limits(&self, reason: DisruptionReason) -> bool {
        self.reasons.as_ref().is_none_or(|reasons| reasons.contains(&reason))
    }
}

/// Which nodes of a pool may be consolidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConsolidationPolicy {
    /// Empty ones only.
    WhenEmpty,
    /// Empty and underutilized ones.
    WhenEmptyOrUnderutilized,
    /// Those whose saving is worth the disruption.
    Balanced,
}

/// How nodes of a pool may be disrupted.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// Quiet time after the last change of pods before a node may go; `None` is never.
    #[serde(with = "super::written::optional_text", default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub consolidate_after: Option<SignedDuration>,
    /// Which nodes may go.
    pub policy: ConsolidationPolicy,
    /// How many at once; all that hold at a time apply, the smallest counts.
    pub budgets: Vec<Budget>,
}

impl Default for Disruption {
    /// Karpenter's defaults: at once, empty and underutilized ones, a tenth of the pool at a time.
    fn default() -> Self {
        Self {
            consolidate_after: Some(SignedDuration::ZERO),
            policy: ConsolidationPolicy::WhenEmptyOrUnderutilized,
            budgets: vec![Budget { reasons: None, nodes: BudgetNodes::Percent(10), window: None }],
        }
    }
}
