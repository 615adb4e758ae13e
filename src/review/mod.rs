//! The stages of a plan on its way to being carried out, as types.
//!
//! A [`CheckedPlan`] can only be had from a plan that the judge has no finding about. This module never
//! changes a plan.

use crate::plan::Plan;

/// A plan that the judge accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedPlan {
    plan: Plan,
}

/// A plan that the judge refused, with what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPlan<F> {
    /// The plan as it was proposed.
    pub plan: Box<Plan>,
    /// What was found; never empty.
    pub findings: Vec<F>,
}

impl CheckedPlan {
    /// Has the plan judged.
    ///
    /// # Errors
    /// The plan and the findings, when there are any.
    pub fn judged<F>(plan: Plan, judge: impl FnOnce(&Plan) -> Vec<F>) -> Result<Self, RefusedPlan<F>> {
        let findings = judge(&plan);
        if findings.is_empty() {
            Ok(Self { plan })
        } else {
            Err(RefusedPlan { plan: Box::new(plan), findings })
        }
    }

    /// Returns the plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the plan, which is no longer known to be checked.
    #[must_use]
    pub fn into_plan(self) -> Plan {
        self.plan
    }
}

#[cfg(test)]
mod tests {
    use super::CheckedPlan;
    use crate::plan::tests::example_plan;

    #[test]
    fn only_a_plan_without_findings_becomes_a_checked_one() {
        let refused =
            CheckedPlan::judged(example_plan(), |_| vec!["too many pods"]).expect_err("it was refused");
        assert_eq!((refused.findings, *refused.plan), (vec!["too many pods"], example_plan()));
        let checked = CheckedPlan::judged(example_plan(), |_| Vec::<()>::new()).expect("nothing was found");
        assert_eq!(checked.plan(), &example_plan());
    }
}
