//! Recovery from the ledger: reads back the started plans of earlier processes, and deletes old ones.

use super::looks::items;
use crate::apply;
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind, Writer};
use crate::ledger::{self, NeverJoined, PLANS, Recorded};
use crate::plan::{Plan, file};
use crate::snapshot::Abandoned;

/// State that earlier processes left.
pub(super) struct Left {
    /// The unfinished plans, oldest first.
    pub(super) plans: Vec<Plan>,
    /// The VMs that were created and did not join, oldest first.
    pub(super) never_joined: Vec<NeverJoined>,
}

/// Returns the state that earlier processes left, with the unfinished plans that `is_taken_up` selects. A plan that
/// cannot be read back is reported and skipped.
///
/// # Errors
/// NodePlans cannot be listed: the started changes are unknown.
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

/// Returns whether a plan of a controller is in progress. If the kind is not installed, none is.
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

/// Returns whether the controller resumes a plan in mode `auto`, whoever started it. Plans merged in Git are resumed by
/// those who apply them, and plans approved in the cluster are resumed while they are approved.
pub(super) const fn is_ours_to_finish(plan: &Recorded) -> bool {
    plan.folder.is_none() && !plan.needs_approval
}

/// Returns whether the controller started a plan itself: only those are wound down. Plans started by `nodeform apply`
/// are left to the person.
pub(super) const fn is_own(plan: &Recorded) -> bool {
    plan.is_automatic
}

/// Cancels removals whose plan was deleted or has ended.
pub(super) async fn lift(writer: &Writer, abandoned: &[Abandoned]) {
    for Abandoned { node, plan, .. } in abandoned {
        tracing::info!(%node, plan = &**plan, "cancelling removal: its plan was deleted or has ended");
    }
    if let Err(fault) = apply::lift(writer, abandoned).await {
        tracing::warn!(hint = fault.hint(), "could not cancel abandoned removals: {fault}");
    }
}

/// Deletes NodePlans that are no longer needed.
pub(super) async fn tidy(writer: &Writer) {
    if let Err(fault) = apply::tidy(writer, writer.cluster().clock().now()).await {
        tracing::warn!(hint = fault.hint(), "could not delete old NodePlans: {fault}");
    }
}
