//! A fault rule with its counters.

use super::{FaultRule, Occasion};

/// An active rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) fault: FaultRule,
    met: u32,
    acted: u32,
}

impl Rule {
    pub(crate) const fn new(fault: FaultRule) -> Self {
        Self { fault, met: 0, acted: 0 }
    }

    /// Returns whether the rule triggers now, and counts the occasion.
    pub(crate) fn acts(&mut self, occasion: &Occasion, passed: i64) -> bool {
        if !self.holds(occasion, passed) {
            return false;
        }
        let acts = self.is_turn();
        self.met += 1;
        if acts {
            self.acted += 1;
        }
        acts
    }

    /// Returns whether the rule would trigger now, without counting.
    pub(crate) fn would_act(&self, occasion: &Occasion, passed: i64) -> bool {
        self.holds(occasion, passed) && self.is_turn()
    }

    fn is_turn(&self) -> bool {
        self.fault.times.is_none_or(|times| self.acted < times)
            && self.fault.when.nth.is_none_or(|nth| self.met + 1 == nth)
    }

    pub(crate) fn holds(&self, occasion: &Occasion, passed: i64) -> bool {
        let when = &self.fault.when;
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_ref().is_none_or(|wanted| found.is_some_and(|found| found.eq_ignore_ascii_case(wanted)))
        };
        same(&when.size, occasion.size.as_deref())
            && same(&when.zone, occasion.zone.as_deref())
            && same(&when.pool, occasion.pool.as_deref())
            && same(&when.name, occasion.name.as_deref())
            && same(&when.method, occasion.method.as_deref())
            && same(&when.resource, occasion.resource.as_deref())
            && when.after_seconds.is_none_or(|seconds| passed >= i64::from(seconds))
            && when.until_seconds.is_none_or(|seconds| passed < i64::from(seconds))
    }
}
