//! The only maker of an [`ApprovedPlan`]: who ran the command let it happen, and what no longer holds is left out.
//!
//! What is approved is a plan that the judge accepted, of this cluster, in time. Must never add a change to a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::CheckedPlan;
use crate::model::Safety;
use crate::plan::{ChangeId, Execution, Inputs, Plan, PlanSpec, Precondition};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// A plan that may be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedPlan {
    plan: Plan,
    execution: Execution,
    id: Arc<str>,
    withheld: BTreeMap<ChangeId, Arc<str>>,
    terms: Terms,
    safety: Safety,
}

/// How fast a plan may be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How many nodes may be drained at once.
    pub parallelism: usize,
}

impl Default for Terms {
    fn default() -> Self {
        Self { parallelism: 10 }
    }
}

/// Why a plan may not be carried out at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotApproved {
    /// It was made from files.
    #[error("the plan was not made from a live cluster, so it does not say which VMs are meant")]
    NotLive,
    /// It answers a question.
    #[error("the plan answers a question about a world that is not there, and is never carried out")]
    WhatIf,
    /// Its cluster is another.
    #[error("the plan is of cluster `{planned}`, and this one is `{found}`")]
    OtherCluster {
        /// The plan's.
        planned: Arc<str>,
        /// The one that was seen.
        found: Arc<str>,
    },
    /// NodeFleet says that nothing is to happen.
    #[error("NodeFleet says `suspend: true`: only what has begun is finished")]
    Suspended,
    /// Its time is over.
    #[error("the plan expired at {at}")]
    Expired {
        /// When.
        at: Timestamp,
    },
}

impl NotApproved {
    /// Returns the next thing to do.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotLive | Self::WhatIf => "plan from the cluster: `nodeform plan --live --out plan.json`",
            Self::OtherCluster { .. } => {
                "name the cluster of the plan by `--context`, `-g` and `--cluster-name`"
            }
            Self::Suspended => {
                "go on with `kubectl patch nodefleet NAME --type merge -p '{\"spec\":{\"suspend\":false}}'`"
            }
            Self::Expired { .. } => "plan again: `nodeform plan --live --out plan.json`",
        }
    }
}

/// The world as it is when a plan is approved.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// What is seen.
    pub snapshot: &'a Snapshot,
    /// What the user asks for.
    pub policy: &'a Policy,
    /// The changes of this plan that an earlier run has begun: they are finished, whatever holds by now.
    pub begun: &'a BTreeSet<ChangeId>,
}

/// Approves a plan for whoever ran the command.
///
/// # Errors
/// Every reason why it may not be carried out at all. Past its expiry only what has begun may be.
pub fn approve(checked: CheckedPlan, now: Now<'_>, terms: Terms) -> Result<ApprovedPlan, Vec<NotApproved>> {
    let CheckedPlan { plan } = checked;
    let mut refused = Vec::new();
    if !plan.spec.what_if.is_nothing() {
        refused.push(NotApproved::WhatIf);
    }
    let Some(execution) = plan.spec.execution.clone() else {
        refused.push(NotApproved::NotLive);
        return Err(refused);
    };
    if let Some(found) = other_cluster(&execution, now.snapshot) {
        refused.push(found);
    }
    let expired = plan.spec.expires_at.filter(|at| now.snapshot.at.is_none_or(|now| now >= *at));
    if let Some(at) = expired.filter(|_| now.begun.is_empty()) {
        refused.push(NotApproved::Expired { at });
    }
    let is_suspended = now.policy.fleet.is_suspended;
    if is_suspended && now.begun.is_empty() {
        refused.push(NotApproved::Suspended);
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let inputs = Inputs::of(now.policy);
    let mut withheld: BTreeMap<ChangeId, Arc<str>> = BTreeMap::new();
    for (id, planned) in plan.spec.changes.iter().filter(|(id, _)| !now.begun.contains(*id)) {
        let because = match expired {
            Some(at) => Some(format!("the plan expired at {at} before it was begun")),
            None if is_suspended => Some("NodeFleet says `suspend: true`".to_owned()),
            None => planned.preconditions.iter().find_map(|condition| broken(condition, &inputs)),
        };
        withheld.extend(because.map(|because| (id.clone(), because.into())));
    }
    let id = plan.id().into();
    let safety = now.policy.fleet.safety;
    Ok(ApprovedPlan { plan, execution, id, withheld, terms, safety })
}

/// Takes a plan up that an earlier process was allowed to carry out: what has begun is finished, and nothing else of it
/// happens.
///
/// # Errors
/// It is of no live cluster, or of another one.
pub fn resume(plan: Plan, now: Now<'_>) -> Result<ApprovedPlan, Vec<NotApproved>> {
    let execution = plan.spec.execution.clone().ok_or_else(|| vec![NotApproved::NotLive])?;
    if let Some(other) = other_cluster(&execution, now.snapshot) {
        return Err(vec![other]);
    }
    let because: Arc<str> = "who carried the plan out ended before this was begun".into();
    let left = plan.spec.changes.keys().filter(|id| !now.begun.contains(*id));
    let withheld = left.map(|id| (id.clone(), Arc::clone(&because))).collect();
    let id = plan.id().into();
    let safety = now.policy.fleet.safety;
    Ok(ApprovedPlan { plan, execution, id, withheld, terms: Terms::default(), safety })
}

/// Returns that a plan is of another cluster than the one that was seen, where it is.
#[must_use]
pub fn other_cluster(execution: &Execution, snapshot: &Snapshot) -> Option<NotApproved> {
    let planned = &execution.cluster.uid;
    let found = snapshot.cluster.clone().unwrap_or_else(|| "unknown".into());
    if *planned != found {
        return Some(NotApproved::OtherCluster { planned: planned.clone(), found });
    }
    let facts = snapshot.azure.as_ref()?;
    let planned = &execution.cluster.id;
    let is_same = facts.cluster.id.eq_ignore_ascii_case(planned);
    (!is_same)
        .then(|| NotApproved::OtherCluster { planned: planned.clone(), found: facts.cluster.id.clone() })
}

/// Why a precondition of policy no longer holds; those of nodes are looked at when their turn comes.
fn broken(condition: &Precondition, inputs: &Inputs) -> Option<String> {
    match condition {
        Precondition::PoolUnchanged { pool, digest } => match inputs.pools.get(pool) {
            Some(found) if found == digest => None,
            Some(_) => Some(format!("NodePool `{pool}` says something else than when the plan was made")),
            None => Some(format!("NodePool `{pool}` is gone")),
        },
        Precondition::ClassUnchanged { class, digest } => match inputs.classes.get(class) {
            Some(found) if found == digest => None,
            Some(_) => {
                Some(format!("AKSNodeClass `{class}` says something else than when the plan was made"))
            }
            None => Some(format!("AKSNodeClass `{class}` is gone")),
        },
        Precondition::NameFree { .. }
        | Precondition::WithinLimits { .. }
        | Precondition::SameNode { .. }
        | Precondition::NodeEmpty { .. }
        | Precondition::NotProtected { .. }
        | Precondition::WithoutClaim { .. }
        | Precondition::ReplacementReady { .. } => None,
    }
}

impl ApprovedPlan {
    /// Returns the plan with these changes left out as well, each with the reason.
    #[must_use]
    pub fn withholding(mut self, held: BTreeMap<ChangeId, Arc<str>>) -> Self {
        for (id, because) in held {
            self.withheld.entry(id).or_insert(because);
        }
        self
    }

    /// Returns every decision.
    #[must_use]
    pub const fn spec(&self) -> &PlanSpec {
        &self.plan.spec
    }

    /// Returns the plan, for people.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns how it is carried out.
    #[must_use]
    pub const fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Returns the plan's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the changes that no longer hold, with the reason.
    #[must_use]
    pub const fn withheld(&self) -> &BTreeMap<ChangeId, Arc<str>> {
        &self.withheld
    }

    /// Returns how many nodes may be drained at once.
    #[must_use]
    pub const fn parallelism(&self) -> usize {
        self.terms.parallelism
    }

    /// Returns how many nodes with pods a pool may lose within ten minutes.
    #[must_use]
    pub const fn safety(&self) -> Safety {
        self.safety
    }
}
