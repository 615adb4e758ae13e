//! The ledger: what an earlier process has begun is read back from it, and what is old goes.

use super::looks::items;
use crate::apply;
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind, Writer};
use crate::ledger::{self, NeverJoined, PLANS, Recorded};
use crate::plan::{Plan, file};
use crate::snapshot::Abandoned;

/// What earlier processes left.
pub(super) struct Left {
    /// The plans that were not ended, the oldest first.
    pub(super) plans: Vec<Plan>,
    /// The VMs that came and did not join, the first one first.
    pub(super) never_joined: Vec<NeverJoined>,
}

/// Returns what earlier processes left: what `is_taken_up` of the plans that were not ended. A plan that cannot be read back is said and left alone.
///
/// # Errors
/// NodePlans cannot be listed: what has begun is not known.
pub(super) async fn left(
    cluster: &Cluster,
    is_taken_up: fn(&Recorded) -> bool,
) -> Result<Left, ClusterFailure> {
    let ledger = ledger::read(&items(cluster, PLANS, "").await?);
    ledger.faults.iter().for_each(|fault| tracing::warn!(hint = fault.hint(), "{fault}"));
    let mut plans = Vec::new();
    for recorded in ledger.unfinished().filter(|plan| is_taken_up(plan)) {
        match apply::text(cluster, recorded).await {
            Ok(text) => match file::read_spec(&text) {
                Ok(plan) => plans.push(plan),
                Err(fault) => tracing::warn!(hint = fault.hint(), "NodePlan `{}`: {fault}", recorded.name),
            },
            Err(fault) => tracing::warn!(hint = fault.hint(), "{fault}"),
        }
    }
    Ok(Left { plans, never_joined: ledger.never_joined() })
}

/// Returns whether a plan of a controller has begun that is not over. Where the kind is not installed, none has.
///
/// # Errors
/// NodePlans cannot be listed.
pub(super) async fn has_begun(cluster: &Cluster) -> Result<bool, ClusterFailure> {
    let plans = match items(cluster, PLANS, "").await {
        Ok(plans) => plans,
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => return Ok(false),
        Err(failure) => return Err(failure),
    };
    Ok(ledger::read(&plans).unfinished().any(is_own))
}

/// Whether the controller goes on with a plan in mode `auto`, whoever began it. What was merged in Git is gone on with by who
/// applies that, and what was approved in the cluster is taken up while it is approved.
pub(super) const fn is_ours_to_finish(plan: &Recorded) -> bool {
    plan.folder.is_none() && !plan.needs_approval
}

/// Whether the controller began a plan itself: nothing else is wound down. What a person began by `nodeform apply`, that
/// person goes on with.
pub(super) const fn is_own(plan: &Recorded) -> bool {
    plan.is_automatic
}

/// Takes away what removals have begun whose plan is gone or has ended.
pub(super) async fn lift(writer: &Writer, abandoned: &[Abandoned]) {
    for Abandoned { node, plan, .. } in abandoned {
        tracing::info!(%node, plan = &**plan, "cancelling removal: its plan was deleted or has ended");
    }
    if let Err(fault) = apply::lift(writer, abandoned).await {
        tracing::warn!(hint = fault.hint(), "could not cancel abandoned removals: {fault}");
    }
}

/// Lets NodePlans go that nobody asks for any more.
pub(super) async fn tidy(writer: &Writer) {
    if let Err(fault) = apply::tidy(writer, writer.cluster().clock().now()).await {
        tracing::warn!(hint = fault.hint(), "could not delete old NodePlans: {fault}");
    }
}
