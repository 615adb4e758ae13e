//! Brakes on changes of an approved plan that are not started: the current NodeFleet and NodePools.
//!
//! Checked before each start, so that brakes take effect while other changes are in progress. If they cannot be read,
//! no change starts. Must never stop a started change.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::room::Room;
use crate::model::allowance::{Allowance, PoolNodes};
use crate::model::{ChangeClass, DisruptionReason, Fleet, NodeName, Pool, PoolName, Reviewed, Safety};
use crate::plan::{Inputs, PlannedChange, Precondition};
use crate::policy::Policy;

/// Brakes on changes that are not started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brakes {
    fleet: Fleet,
    pools: BTreeMap<PoolName, Pool>,
    inputs: Inputs,
    unread: Option<Arc<str>>,
    needs_auto: bool,
}

/// Why a change must not start now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Braked {
    /// Reason, for people.
    pub because: String,
    /// End time; `None` if unknown.
    pub until: Option<Timestamp>,
    /// Whether it ends once changes in progress have ended.
    pub is_passing: bool,
}

/// A node to be removed, as input for brakes.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Its pool.
    pub pool: &'a PoolName,
    /// The node.
    pub node: &'a NodeName,
    /// Reason of the removal.
    pub reason: DisruptionReason,
}

impl Braked {
    /// Returns a brake without a known end.
    fn held(because: impl Into<String>) -> Self {
        Self { because: because.into(), until: None, is_passing: false }
    }
}

impl Brakes {
    /// Returns the brakes of a policy.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        Self {
            fleet: policy.fleet.clone(),
            pools: policy.pools.clone(),
            inputs: Inputs::of(policy),
            unread: None,
            needs_auto: false,
        }
    }

    /// Returns the brakes that apply if they could not be read, with the reason: no change starts.
    #[must_use]
    pub fn unread(because: impl Into<Arc<str>>) -> Self {
        Self { unread: Some(because.into()), ..Self::default() }
    }

    /// Returns the brakes for plans without review: changes start only in mode `auto`, and not if they require review.
    #[must_use]
    pub fn automatic(mut self) -> Self {
        self.needs_auto = true;
        self.fleet.holds.reviewed = self.fleet.reviewed.clone();
        self
    }

    /// Returns the brakes of plans that people have approved.
    #[must_use]
    pub fn reviewed(mut self) -> Self {
        self.needs_auto = false;
        self.fleet.holds.reviewed = Reviewed::default();
        self
    }

    /// Returns why no change may start at all, if so.
    #[must_use]
    pub fn stop(&self) -> Option<String> {
        if let Some(because) = &self.unread {
            return Some(format!("NodeFleet and NodePools, which could not be read: {because}"));
        }
        let fleet = self.fleet.name.as_deref().unwrap_or("NAME");
        let spec = |field: &str| {
            format!("`kubectl patch nodefleet {fleet} --type merge -p '{{\"spec\":{{{field}}}}}'`")
        };
        if self.fleet.is_suspended {
            let on = spec("\"suspend\":false");
            return Some(format!("NodeFleet `{fleet}`, which has `suspend: true`; continue with {on}"));
        }
        if self.needs_auto && !self.fleet.mode.acts() {
            let on = spec("\"mode\":\"auto\"");
            return Some(format!(
                "NodeFleet `{fleet}`, whose mode is `{}`; go on with {on}",
                self.fleet.mode.as_str()
            ));
        }
        None
    }

    /// Returns how many nodes with pods may be lost within ten minutes.
    #[must_use]
    pub const fn safety(&self) -> Safety {
        self.fleet.safety
    }

    /// Returns the NodePool or AKSNodeClass that a change depends on and that has changed since `before`.
    #[must_use]
    pub fn changed(&self, planned: &PlannedChange, before: &Self) -> Option<String> {
        planned.preconditions.iter().find_map(|condition| match condition {
            Precondition::PoolUnchanged { pool, .. } => {
                unlike("NodePool", pool, [before, self].map(|brakes| brakes.inputs.pools.get(pool)))
            }
            Precondition::ClassUnchanged { class, .. } => {
                unlike("AKSNodeClass", class, [before, self].map(|brakes| brakes.inputs.classes.get(class)))
            }
            Precondition::NameFree { .. }
            | Precondition::WithinLimits { .. }
            | Precondition::SameNode { .. }
            | Precondition::NodeEmpty { .. }
            | Precondition::NotProtected { .. }
            | Precondition::WithoutClaim { .. } => None,
        })
    }

    /// Returns what prevents a node from being created now.
    #[must_use]
    pub fn on_create(&self, pool: &PoolName) -> Option<Braked> {
        self.fleet
            .holds
            .on_create(pool)
            .map(|hold| Braked { until: hold.until, ..Braked::held(hold.because) })
    }

    /// Returns what prevents a node from being updated in place now.
    #[must_use]
    pub fn on_update(&self, pool: &PoolName, at: Timestamp) -> Option<Braked> {
        let hold = self.fleet.holds.on_change(pool, ChangeClass::Update, Some(at))?;
        Some(Braked { until: hold.until, ..Braked::held(hold.because) })
    }

    /// Returns what prevents a node from being removed now: a freeze, a class on hold, or its pool's budgets, used up
    /// by nodes that are already being removed or not ready.
    #[must_use]
    pub fn on_removal(&self, leaving: Leaving<'_>, nodes: &PoolNodes<'_>, at: Timestamp) -> Option<Braked> {
        let Leaving { pool, node, reason } = leaving;
        let holds = &self.fleet.holds;
        let allowance = match self.pools.get(pool) {
            Some(known) => Allowance::of(known, holds, Some(at)),
            None if reason.is_asked() => Allowance::without_budgets(pool, holds, Some(at)),
            None => {
                let because =
                    format!("NodePool `{pool}`, which is missing or invalid: its budgets are unknown");
                return Some(Braked::held(because));
            }
        };
        if let Some(hold) = allowance.hold(reason) {
            return Some(Braked { until: hold.until, ..Braked::held(hold.because) });
        }
        let because = allowance.kept(reason, node, nodes)?;
        let is_passing = allowance.refusal(reason, nodes.joined.max(1)).is_none() && nodes.leaving > 0;
        Some(Braked { is_passing, ..Braked::held(because) })
    }

    /// Returns the remaining limits before any node is counted.
    #[must_use]
    pub fn room(&self) -> Room<'_> {
        Room::empty(&self.pools, &self.fleet.limits)
    }
}

/// Reports an object that changed or was deleted.
pub(super) fn unlike<T: PartialEq>(
    kind: &str,
    name: impl std::fmt::Display,
    [before, now]: [Option<&T>; 2],
) -> Option<String> {
    match (before, now) {
        (Some(before), Some(now)) if before == now => None,
        (_, Some(_)) => Some(format!("{kind} `{name}` changed after the plan was created")),
        (_, None) => Some(format!("{kind} `{name}` is gone")),
    }
}
