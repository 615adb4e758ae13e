//! Stages of a plan from creation to apply, as types, and the gates that users set.
//!
//! ```text
//!  Plan ─ the judge ─▶ CheckedPlan ─ a grant, and the world as it is ─▶ ApprovedPlan
//! ```
//!
//! A [`CheckedPlan`] can only be created from a plan without findings of the checker, an [`ApprovedPlan`] only from
//! that. This module never changes a plan.

mod approve;
mod approved;
mod brakes;
pub mod covers;
pub mod fields;
pub mod gate;
pub mod handling;
pub mod history;
mod left_out;
mod obstacles;
pub mod proposal;
mod room;

pub use approve::{NotApproved, Now, Terms, VALID_MAX, approve, finish, other_cluster, resume, untimely};
pub use approved::ApprovedPlan;
pub use brakes::{Braked, Brakes, Leaving};
pub use left_out::LeftOut;
pub use obstacles::not_allowed;
pub use room::Room;

use crate::check::{Finding, check};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// A plan that the checker accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedPlan {
    plan: Plan,
}

/// A plan that the checker rejected, with its findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPlan {
    /// The plan as it was proposed.
    pub plan: Box<Plan>,
    /// The findings, sorted; never empty.
    pub findings: Vec<Finding>,
}

impl CheckedPlan {
    /// Checks the plan against what it was made from.
    ///
    /// # Errors
    /// The plan and the findings, if there are any.
    pub fn judged(snapshot: &Snapshot, policy: &Policy, plan: Plan) -> Result<Self, RefusedPlan> {
        let findings = check(snapshot, policy, &plan);
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
}
