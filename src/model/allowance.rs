//! How many nodes of a pool may be disrupted concurrently, by its disruption budgets and the fleet's holds.
//!
//! The rules are Karpenter core's. Of all active budgets that list the reason, the strictest applies; nodes that are
//! not ready or already being deleted count against it. A budget's window opens at each hit of its schedule (UTC) and
//! lasts for its duration. A schedule that cannot be parsed blocks all disruption. Without a time every window counts
//! as open, the stricter reading, and that is reported.

use std::collections::BTreeSet;

use croner::parser::{CronParser, Seconds};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Budget, BudgetNodes, DisruptionReason, Hold, Holds, Node, NodeName, NodeStage, Pool, PoolName};

/// Maximum share of a pool's nodes repaired concurrently (Karpenter's rule): if more are unhealthy, the nodes are not
/// the cause.
pub const UNHEALTHY_MAX: BudgetNodes = BudgetNodes::Percent(20);

/// Whether a budget is active at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// It is active.
    Open,
    /// It is not active.
    Closed,
    /// Unknown without a time; treated as active.
    Undecided,
    /// Its schedule cannot be parsed.
    Unreadable,
}

/// Returns whether the budget is active at this time.
#[must_use]
pub fn window(budget: &Budget, at: Option<Timestamp>) -> Window {
    let Some((schedule, duration)) = &budget.window else {
        return Window::Open;
    };
    let parser = CronParser::builder().seconds(Seconds::Disallowed).build();
    let Ok(cron) = parser.parse(schedule) else {
        return Window::Unreadable;
    };
    let Some(now) = at else {
        return Window::Undecided;
    };
    // Open if the first hit after `now - duration` is not after `now`.
    let Some(start) = now.checked_sub(*duration).ok().filter(|_| *duration > SignedDuration::ZERO) else {
        return Window::Closed;
    };
    match cron.find_next_occurrence(&start.to_zoned(TimeZone::UTC), false) {
        Ok(hit) if hit.timestamp() <= now => Window::Open,
        Ok(_) | Err(_) => Window::Closed,
    }
}

/// The nodes of a pool as its budgets count them: unavailable nodes already consume the budget.
#[derive(Clone, Debug)]
pub struct PoolNodes<'a> {
    /// Number of nodes that have joined and are not being deleted; percentages are based on it.
    pub joined: usize,
    /// Number of nodes already being deleted.
    pub leaving: usize,
    /// Joined nodes that are not ready.
    pub not_ready: BTreeSet<&'a NodeName>,
}

impl<'a> PoolNodes<'a> {
    /// Counts the nodes of a pool. Like Karpenter, counts only managed nodes as not ready; if no node has a NodeClaim,
    /// none were listed, and every node counts.
    #[must_use]
    pub fn of(nodes: &'a [Node], pool: &PoolName) -> Self {
        let has_claims = nodes.iter().any(|node| node.claim.is_some());
        let mut counted = Self { joined: 0, leaving: 0, not_ready: BTreeSet::new() };
        for node in nodes.iter().filter(|node| node.pool.as_ref() == Some(pool)) {
            if node.is_deleting {
                counted.leaving += 1;
            } else if node.stage == NodeStage::Initialized {
                counted.joined += 1;
                if !node.is_ready() && (node.claim.is_some() || !has_claims) {
                    counted.not_ready.insert(&node.name);
                }
            }
        }
        counted
    }

    /// Returns the number of kept nodes that are not ready; nodes that are removed are counted as removals instead.
    /// Returns 0 for reasons that budgets cannot list: budgets only pace those.
    #[must_use]
    pub fn down_beside(&self, reason: DisruptionReason, goes: impl Fn(&NodeName) -> bool) -> usize {
        match reason.is_budgeted() {
            true => self.not_ready.iter().filter(|node| !goes(node)).count(),
            false => 0,
        }
    }

    /// Returns how many nodes are already unavailable before this one is disrupted for a reason.
    fn out_before(&self, reason: DisruptionReason, node: &NodeName) -> usize {
        self.leaving + self.down_beside(reason, |other| other == node)
    }

    /// Describes for users which unavailable nodes exhaust the budgets.
    fn used_up(&self, reason: DisruptionReason, node: &NodeName) -> String {
        let down = self.down_beside(reason, |other| other == node);
        let first = self.not_ready.iter().find(|other| **other != node).filter(|_| down > 0);
        let down = first.map(|first| match down {
            1 => format!("`{first}` of its pool is not ready"),
            _ => format!("{down} of its pool are not ready, among them `{first}`"),
        });
        let leaving =
            (self.leaving > 0).then(|| format!("{} of its pool on the way out already", self.leaving));
        let out: Vec<String> = leaving.into_iter().chain(down).collect();
        format!("{}: budgets allow no more concurrent removals", out.join(", and "))
    }
}

/// The limits that a pool's budgets and the fleet set at one time.
#[derive(Clone, Debug)]
pub struct Allowance<'a> {
    pool: &'a PoolName,
    holds: &'a Holds,
    at: Option<Timestamp>,
    holding: Vec<&'a Budget>,
    /// Schedules that cannot be parsed; they block all disruption.
    pub unreadable: Vec<&'a str>,
    /// Schedules treated as open because no time is known.
    pub undecided: Vec<&'a str>,
}

impl<'a> Allowance<'a> {
    /// Returns the limits of this pool's budgets and the fleet at this time.
    #[must_use]
    pub fn of(pool: &'a Pool, holds: &'a Holds, at: Option<Timestamp>) -> Self {
        let mut allowance = Self::without_budgets(&pool.name, holds, at);
        for budget in &pool.disruption.budgets {
            let schedule = budget.window.as_ref().map_or("", |(schedule, _)| &**schedule);
            match window(budget, at) {
                Window::Open => allowance.holding.push(budget),
                Window::Closed => {}
                Window::Unreadable => allowance.unreadable.push(schedule),
                Window::Undecided => {
                    allowance.holding.push(budget);
                    allowance.undecided.push(schedule);
                }
            }
        }
        allowance
    }

    /// Returns the limits of the fleet alone, for a pool that has no budgets or no longer exists.
    #[must_use]
    pub fn without_budgets(pool: &'a PoolName, holds: &'a Holds, at: Option<Timestamp>) -> Self {
        let (holding, unreadable, undecided) = (Vec::new(), Vec::new(), Vec::new());
        Self { pool, holds, at, holding, unreadable, undecided }
    }

    /// Returns the fleet's hold that blocks removals from this pool for this reason.
    #[must_use]
    pub fn hold(&self, reason: DisruptionReason) -> Option<Hold> {
        self.holds.on_removal(self.pool, reason, self.at)
    }

    /// Returns how many of a pool's `pool_nodes` nodes may be disrupted concurrently for this reason; unlimited without
    /// a budget. Budgets pace reasons that they cannot list but never block them: one node is always allowed, and of
    /// unhealthy nodes at most [`UNHEALTHY_MAX`]. Budgets do not apply to nodes that are destroyed or deleted on
    /// request.
    #[must_use]
    pub fn nodes(&self, reason: DisruptionReason, pool_nodes: usize) -> usize {
        if self.hold(reason).is_some() {
            return 0;
        }
        if reason.is_asked() {
            return usize::MAX;
        }
        if reason == DisruptionReason::Unhealthy {
            return UNHEALTHY_MAX.of(pool_nodes).max(1);
        }
        let limits = self.holding.iter().filter(|budget| budget.limits(reason));
        let least = limits.map(|budget| budget.nodes.of(pool_nodes)).min().unwrap_or(usize::MAX);
        let least = if self.unreadable.is_empty() { least } else { 0 };
        if reason.is_budgeted() { least } else { least.max(1) }
    }

    /// Returns, for users, why no node may be disrupted for this reason; `None` if some may.
    #[must_use]
    pub fn refusal(&self, reason: DisruptionReason, pool_nodes: usize) -> Option<String> {
        if let Some(hold) = self.hold(reason) {
            return Some(hold.because);
        }
        if !reason.is_budgeted() {
            return None;
        }
        if let Some(schedule) = self.unreadable.first() {
            return Some(format!("the schedule `{schedule}` of a disruption budget cannot be read"));
        }
        (self.nodes(reason, pool_nodes) == 0).then(|| {
            let window = match self.undecided.is_empty() {
                true => "",
                false => "; without a time its schedule counts as open",
            };
            format!("a disruption budget lets no node go for reason {reason}{window}")
        })
    }

    /// Returns, for users, why this node may not be disrupted now for this reason: either none may, or unavailable
    /// nodes exhaust the budgets.
    #[must_use]
    pub fn kept(&self, reason: DisruptionReason, node: &NodeName, nodes: &PoolNodes<'_>) -> Option<String> {
        // At least one node: any percentage of one node is one.
        let joined = nodes.joined.max(1);
        self.refusal(reason, joined).or_else(|| {
            let is_used_up = nodes.out_before(reason, node) >= self.nodes(reason, joined);
            is_used_up.then(|| nodes.used_up(reason, node))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Window, window};
    use crate::model::{Budget, BudgetNodes};

    #[test]
    fn a_window_is_open_from_each_hit_for_its_duration() {
        let hours = |hours: i64| jiff::SignedDuration::from_hours(hours);
        let of = |cron: &str| Budget {
            reasons: None,
            nodes: BudgetNodes::Count(0),
            window: Some((Arc::from(cron), hours(8))),
        };
        let at = |text: &str| Some(text.parse().expect("is a time"));
        let nine = of("0 9 * * 1-5");
        assert_eq!(window(&nine, at("2026-11-20T09:00:00Z")), Window::Open);
        assert_eq!(window(&nine, at("2026-11-20T16:59:59Z")), Window::Open);
        assert_eq!(window(&nine, at("2026-11-20T17:00:00Z")), Window::Closed);
        assert_eq!(window(&nine, at("2026-11-21T10:00:00Z")), Window::Closed, "a Saturday");
        assert_eq!(window(&nine, None), Window::Undecided);
        assert_eq!(window(&of("every day"), None), Window::Unreadable);
        assert_eq!(window(&of("@daily"), at("2026-11-21T07:00:00Z")), Window::Open);
    }
}
