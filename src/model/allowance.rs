//! How many nodes of a pool may go at once, by its disruption budgets and by what the fleet keeps back.
//!
//! Karpenter core's rules: of all budgets that hold now and limit the reason the smallest counts; a window
//! is open from each hit of its schedule (UTC) for its duration; a schedule that cannot be read lets
//! nothing go. Without a time every window counts as open, the stricter reading, and that is reported.

use croner::parser::{CronParser, Seconds};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Budget, BudgetNodes, DisruptionReason, Hold, Holds, Pool, PoolName};

/// The most nodes of a pool that are repaired at once (Karpenter's rule): where more are unhealthy, something else is
/// wrong than they.
pub const UNHEALTHY_MAX: BudgetNodes = BudgetNodes::Percent(20);

/// Whether a budget holds at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// It holds.
    Open,
    /// It does not hold.
    Closed,
    /// There is no time to tell by; it is taken as open.
    Undecided,
    /// Its schedule cannot be read.
    Unreadable,
}

/// Returns whether the budget holds at this time.
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

/// What a pool's budgets and the fleet say at one time.
#[derive(Clone, Debug)]
pub struct Allowance<'a> {
    pool: &'a PoolName,
    holds: &'a Holds,
    at: Option<Timestamp>,
    holding: Vec<&'a Budget>,
    /// Schedules that could not be read: nothing may go.
    pub unreadable: Vec<&'a str>,
    /// Schedules that were taken as open for want of a time.
    pub undecided: Vec<&'a str>,
}

impl<'a> Allowance<'a> {
    /// Returns what the pool's budgets and the fleet say at this time.
    #[must_use]
    pub fn of(pool: &'a Pool, holds: &'a Holds, at: Option<Timestamp>) -> Self {
        let mut allowance = Self {
            pool: &pool.name,
            holds,
            at,
            holding: Vec::new(),
            unreadable: Vec::new(),
            undecided: Vec::new(),
        };
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

    /// Returns what of the fleet keeps the pool's nodes from going for this reason.
    #[must_use]
    pub fn hold(&self, reason: DisruptionReason) -> Option<Hold> {
        self.holds.on_removal(self.pool, reason, self.at)
    }

    /// Returns how many of so many nodes may go at once for this reason; without any budget all may. What no budget can
    /// list is paced by them, and never held back by them: one node may always go, and of unhealthy ones no more than
    /// [`UNHEALTHY_MAX`]. They say nothing of nodes that are destroyed on request.
    #[must_use]
    pub fn nodes(&self, reason: DisruptionReason, pool_nodes: usize) -> usize {
        if self.hold(reason).is_some() {
            return 0;
        }
        if reason == DisruptionReason::Destroyed {
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

    /// Returns why nothing may go for this reason, if that is so, for people.
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
