//! The only source of an [`ApprovedPlan`]: whoever runs the command approves the plan, and changes that no longer hold
//! are left out.
//!
//! Only a plan that the checker accepted, of this cluster and not expired, is approved. Must never add a change to a
//! plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::approved::ApprovedPlan;
use super::brakes::{Brakes, unlike};
use super::left_out::LeftOut;
use super::room::Room;
use super::{CheckedPlan, obstacles};
use crate::model::PodKey;
use crate::plan::execution::ClusterIdentity;
use crate::plan::{self, Change, ChangeId, Execution, Inputs, Plan, Precondition, Status};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// Maximum time from a plan's snapshot until it must be started.
pub const VALID_MAX: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Maximum clock skew between the machines that propose and apply.
const CLOCKS_APART_MAX: SignedDuration = SignedDuration::from_mins(5);

/// Speed limits for applying a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Maximum number of nodes that are drained at the same time.
    pub parallelism: usize,
}

impl Default for Terms {
    fn default() -> Self {
        Self { parallelism: 10 }
    }
}

/// Why a plan cannot be applied at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotApproved {
    /// It was planned offline, from files.
    #[error("the plan was not made from a live cluster, so it does not say which VMs are meant")]
    NotLive,
    /// It is a what-if plan.
    #[error("this is a what-if plan and cannot be applied")]
    WhatIf,
    /// It belongs to another cluster.
    #[error("the plan is of cluster `{planned}`, and this one is `{found}`")]
    OtherCluster {
        /// The plan's cluster.
        planned: Arc<str>,
        /// The current cluster.
        found: Arc<str>,
    },
    /// The NodeFleet is suspended.
    #[error("NodeFleet has `suspend: true`: only started changes are finished")]
    Suspended {
        /// Its name, if known.
        fleet: Option<Arc<str>>,
    },
    /// It has no expiry time.
    #[error("the plan has no expiry time")]
    WithoutEnd,
    /// It is valid for longer than allowed.
    #[error("the plan was made at {seen_at} and expires at {at}: a plan is valid for at most 30 days")]
    TooLong {
        /// Time of its snapshot.
        seen_at: Timestamp,
        /// Its expiry time.
        at: Timestamp,
    },
    /// Its snapshot is from the future.
    #[error("the plan was made at {seen_at}, which is in the future (now {now})")]
    SeenLater {
        /// Time of its snapshot.
        seen_at: Timestamp,
        /// The current time.
        now: Timestamp,
    },
    /// It has expired.
    #[error("the plan expired at {at}")]
    Expired {
        /// Expiry time.
        at: Timestamp,
    },
    /// CRDs that apply writes are not installed.
    #[error("the cluster does not serve {}", kinds.join(" and "))]
    MissingKinds {
        /// Their names, such as `nodeplans.nodeform.dev`.
        kinds: Vec<Arc<str>>,
    },
    /// The caller lacks permissions in Azure.
    #[error("the caller may not do this in the resource group of the nodes: {}", actions.join(", "))]
    MissingActions {
        /// The missing Azure actions.
        actions: Vec<Arc<str>>,
        /// The id of the resource group.
        group: Arc<str>,
    },
    /// AKS runs Karpenter itself.
    #[error("AKS provisions nodes of this cluster itself: its node auto-provisioning is `Auto`")]
    NodeAutoProvisioning {
        /// The id of the cluster.
        cluster: Arc<str>,
    },
    /// Karpenter runs in the cluster too.
    #[error("Karpenter is up in this cluster: Deployment `{namespace}/{name}`")]
    Karpenter {
        /// The Deployment's namespace.
        namespace: Arc<str>,
        /// The Deployment's name.
        name: Arc<str>,
    },
    /// The cluster autoscaler would create nodes for the same pods.
    #[error(
        "the cluster autoscaler sizes agent pool `{pool}`, which could take pod `{pod}` of the plan as well"
    )]
    ClusterAutoscaler {
        /// The id of the cluster.
        cluster: Arc<str>,
        /// The agent pool.
        pool: Arc<str>,
        /// The first pod that its nodes could run.
        pod: PodKey,
    },
}

impl NotApproved {
    /// Returns whether the plan itself can never be applied, whatever is changed in cluster and machine.
    #[must_use]
    pub const fn is_of_plan(&self) -> bool {
        match self {
            Self::NotLive
            | Self::WhatIf
            | Self::WithoutEnd
            | Self::TooLong { .. }
            | Self::SeenLater { .. }
            | Self::Expired { .. } => true,
            Self::OtherCluster { .. }
            | Self::Suspended { .. }
            | Self::MissingKinds { .. }
            | Self::MissingActions { .. }
            | Self::NodeAutoProvisioning { .. }
            | Self::Karpenter { .. }
            | Self::ClusterAutoscaler { .. } => false,
        }
    }

    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotLive | Self::WhatIf => {
                "plan from the cluster: `nodeform plan --live --out plan.json`".to_owned()
            }
            Self::OtherCluster { .. } => {
                "name the cluster of the plan by `--context`, `-g` and `--cluster-name`".to_owned()
            }
            Self::Suspended { fleet } => format!(
                "go on with `kubectl patch nodefleet {} --type merge -p '{{\"spec\":{{\"suspend\":false}}}}'`",
                fleet.as_deref().unwrap_or("NAME")
            ),
            Self::WithoutEnd | Self::TooLong { .. } => {
                "create a new plan: `nodeform plan --live --out plan.json` (`--valid-for` sets how long it is valid)"
                    .to_owned()
            }
            Self::SeenLater { .. } => {
                "check this machine's clock, then create a new plan: `nodeform plan --live --out plan.json`"
                    .to_owned()
            }
            Self::Expired { .. } => "plan again: `nodeform plan --live --out plan.json`".to_owned(),
            Self::MissingKinds { .. } => {
                "install the kinds: `nodeform crds | kubectl apply --server-side -f -`".to_owned()
            }
            Self::MissingActions { group, .. } => format!(
                "give the caller a role with these actions: `az role assignment create --assignee CALLER --role ROLE --scope {group}`"
            ),
            Self::NodeAutoProvisioning { cluster } => {
                format!(
                    "leave the nodes to one of them: `az aks update --ids {cluster} --node-provisioning-mode Manual`"
                )
            }
            Self::Karpenter { namespace, name } => {
                format!("stop it: `kubectl scale deployment {name} -n {namespace} --replicas 0`")
            }
            Self::ClusterAutoscaler { cluster, pool, .. } => format!(
                "let the pool keep its size: `az aks nodepool update --ids {cluster}/agentPools/{pool} --disable-cluster-autoscaler`; or give it a taint that the pod does not tolerate"
            ),
        }
    }
}

/// The current state when a plan is approved.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// The observed state.
    pub snapshot: &'a Snapshot,
    /// The user's configuration.
    pub policy: &'a Policy,
    /// Changes of this plan that an earlier run started: they are finished, whatever holds by now.
    pub begun: &'a BTreeSet<ChangeId>,
}

/// Approves a plan on behalf of whoever ran the command.
///
/// # Errors
/// All reasons why it cannot be applied at all. After its expiry only started changes may be finished.
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
    if now.begun.is_empty() {
        refused.extend(untimely(&plan, now.snapshot.at));
    }
    let expired = expired(&plan, now.snapshot.at);
    let is_suspended = now.policy.fleet.is_suspended;
    if is_suspended && now.begun.is_empty() {
        refused.push(NotApproved::Suspended { fleet: now.policy.fleet.name.as_deref().map(Arc::from) });
    }
    let obstacles = obstacles::found(&plan, now.snapshot);
    let obstacle = obstacles.first().map(ToString::to_string);
    if now.begun.is_empty() {
        refused.extend(obstacles);
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let inputs = Inputs::of(now.policy);
    let brakes = Brakes::of(now.policy);
    let mut room = brakes.room();
    now.snapshot.nodes.iter().for_each(|node| room.count(node.pool.as_ref(), &node.capacity));
    let not_allowed = obstacles::not_allowed(&plan, now.snapshot);
    let mut left_out: BTreeMap<ChangeId, LeftOut> = BTreeMap::new();
    for (id, planned) in plan.spec.changes.iter().filter(|(id, _)| !now.begun.contains(*id)) {
        let because = match expired {
            Some(at) => Some(format!("the plan expired at {at} before it was begun")),
            None if is_suspended => Some("NodeFleet says `suspend: true`".to_owned()),
            None if obstacle.is_some() => obstacle.clone(),
            None => {
                let broken = planned.preconditions.iter().find_map(|condition| broken(condition, &inputs));
                let broken = broken.or_else(|| not_allowed.get(id).map(ToString::to_string));
                broken.or_else(|| beyond(&plan, &planned.change, &mut room))
            }
        };
        let because = match (because, plan::status(&planned.change, now.snapshot)) {
            (Some(because), _) => Some(LeftOut::Withheld(because.into())),
            (None, Status::Impossible(because)) => Some(LeftOut::NoLongerHolds(because)),
            (None, Status::Done | Status::Possible) => None,
        };
        left_out.extend(because.map(|because| (id.clone(), because)));
    }
    drop(room);
    Ok(ApprovedPlan::of(plan, execution, left_out, (terms, brakes)))
}

/// Returns why a live plan must not be started at a time: it has expired, is not valid yet, or has impossible times.
/// Empty for a plan that is not live.
#[must_use]
pub fn untimely(plan: &Plan, now: Option<Timestamp>) -> Vec<NotApproved> {
    let Some(execution) = &plan.spec.execution else { return Vec::new() };
    let expired = expired(plan, now).map(|at| NotApproved::Expired { at });
    out_of_time(plan, execution, now).into_iter().chain(expired).collect()
}

/// Returns the expiry time if the plan has expired; at an unknown time it counts as expired.
fn expired(plan: &Plan, now: Option<Timestamp>) -> Option<Timestamp> {
    plan.spec.expires_at.filter(|at| now.is_none_or(|now| now >= *at))
}

/// Returns why the plan's times are invalid: no reviewer expects a plan to start in half a year.
fn out_of_time(plan: &Plan, execution: &Execution, now: Option<Timestamp>) -> Option<NotApproved> {
    let (Some(seen_at), Some(at)) = (execution.seen_at, plan.spec.expires_at) else {
        return Some(NotApproved::WithoutEnd);
    };
    if let Some(now) = now.filter(|now| seen_at.duration_since(*now) > CLOCKS_APART_MAX) {
        return Some(NotApproved::SeenLater { seen_at, now });
    }
    (at.duration_since(seen_at) > VALID_MAX).then_some(NotApproved::TooLong { seen_at, at })
}

/// Resumes a plan that an earlier process was allowed to apply: started changes are finished and no others are started.
///
/// # Errors
/// The plan is not live, or of another cluster.
pub fn resume(plan: Plan, now: Now<'_>) -> Result<ApprovedPlan, Vec<NotApproved>> {
    let because = "apply ended before this change was started";
    finish(plan, now, &LeftOut::Withheld(because.into()))
}

/// Resumes a plan of which no further change is started; `left` is the reason of those that were not.
///
/// # Errors
/// The plan is not live, or of another cluster.
pub fn finish(plan: Plan, now: Now<'_>, left: &LeftOut) -> Result<ApprovedPlan, Vec<NotApproved>> {
    let execution = plan.spec.execution.clone().ok_or_else(|| vec![NotApproved::NotLive])?;
    if let Some(other) = other_cluster(&execution, now.snapshot) {
        return Err(vec![other]);
    }
    let not_begun = plan.spec.changes.keys().filter(|id| !now.begun.contains(*id));
    let left_out = not_begun.map(|id| (id.clone(), left.clone())).collect();
    let brakes = Brakes::of(now.policy);
    Ok(ApprovedPlan::of(plan, execution, left_out, (Terms::default(), brakes)))
}

/// Returns the limit that a create would exceed, beside existing nodes and creates admitted before.
fn beyond(plan: &Plan, change: &Change, room: &mut Room<'_>) -> Option<String> {
    let spec = &change.create()?.spec;
    let claim = plan.spec.claims.get(spec)?;
    let launch = plan.spec.execution.as_ref()?.launches.get(spec)?;
    room.take(&claim.pool, &launch.capacity).err()
}

/// Returns an error if a plan belongs to another cluster than the observed one.
#[must_use]
pub fn other_cluster(execution: &Execution, snapshot: &Snapshot) -> Option<NotApproved> {
    let planned = &execution.cluster.uid;
    let found = snapshot.cluster.clone().unwrap_or_else(|| "unknown".into());
    if *planned != found {
        return Some(NotApproved::OtherCluster { planned: planned.clone(), found });
    }
    let facts = snapshot.azure.as_ref()?;
    let seen = ClusterIdentity {
        uid: found,
        id: facts.cluster.id.clone(),
        node_resource_group: facts.cluster.node_resource_group.clone(),
        location: facts.cluster.location.clone(),
    };
    let told = |cluster: &ClusterIdentity| {
        let ClusterIdentity { id, node_resource_group, location, uid: _ } = cluster;
        format!("{id}, with nodes in resource group {node_resource_group} of {location}").into()
    };
    (!execution.cluster.is_same(&seen))
        .then(|| NotApproved::OtherCluster { planned: told(&execution.cluster), found: told(&seen) })
}

/// Returns why a precondition of policy no longer holds; those of nodes are checked when the change starts.
fn broken(condition: &Precondition, inputs: &Inputs) -> Option<String> {
    match condition {
        Precondition::PoolUnchanged { pool, digest } => {
            unlike("NodePool", pool, [Some(digest), inputs.pools.get(pool)])
        }
        Precondition::ClassUnchanged { class, digest } => {
            unlike("AKSNodeClass", class, [Some(digest), inputs.classes.get(class)])
        }
        Precondition::NameFree { .. }
        | Precondition::WithinLimits { .. }
        | Precondition::SameNode { .. }
        | Precondition::NodeEmpty { .. }
        | Precondition::NotProtected { .. }
        | Precondition::WithoutClaim { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{NotApproved, untimely};
    use crate::launch::tests::world::{moving, planned};

    /// Returns what `untimely` reports one hour after the start, for a plan whose snapshot and expiry are this many
    /// hours after it.
    fn said(seen_at: Option<i64>, expires_at: Option<i64>) -> Option<String> {
        let start: Timestamp = "2026-11-28T08:00:00Z".parse().expect("a time");
        let at = |hours: i64| start + SignedDuration::from_hours(hours);
        let mut plan = planned(&moving());
        plan.spec.expires_at = expires_at.map(at);
        plan.spec.execution.as_mut().expect("it can be carried out").seen_at = seen_at.map(at);
        let said = untimely(&plan, Some(at(1)));
        assert!(said.iter().all(NotApproved::is_of_plan));
        (!said.is_empty()).then(|| said.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn a_plan_is_valid_for_at_most_thirty_days_after_its_cluster_was_seen_and_says_until_when() {
        assert_eq!(said(Some(0), Some(30 * 24)), None);
        assert_eq!(
            said(Some(0), Some(30 * 24 + 1)).as_deref(),
            Some(
                "the plan was made at 2026-11-28T08:00:00Z and expires at 2026-12-28T09:00:00Z: a plan is valid for at most 30 days"
            )
        );
        assert_eq!(
            said(Some(2), Some(24)).as_deref(),
            Some(
                "the plan was made at 2026-11-28T10:00:00Z, which is in the future (now 2026-11-28T09:00:00Z)"
            )
        );
        assert_eq!(said(Some(0), Some(1)).as_deref(), Some("the plan expired at 2026-11-28T09:00:00Z"));
        for (seen_at, expires_at) in [(None, Some(24)), (Some(0), None)] {
            assert_eq!(said(seen_at, expires_at).as_deref(), Some("the plan has no expiry time"));
        }
    }
}
