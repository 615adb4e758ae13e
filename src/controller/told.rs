//! What is logged of proposals: what was pushed, and which branches went. Must never be asked what to do.

use crate::gitops::{Gone, Pushed};
use crate::model::ChangeClass;

/// Says what became of proposals.
pub(super) fn proposed(pushed: Option<(ChangeClass, Pushed)>, gone: &[Gone]) {
    gone.iter().for_each(of_gone);
    match pushed {
        Some((class, Pushed::Proposed { folder, branch, .. })) => {
            tracing::info!(%class, folder, branch = branch.as_str(), "proposed: review and merge it");
        }
        Some((class, Pushed::Nothing { because, .. })) => {
            tracing::debug!(%class, "nothing to propose: {because}");
        }
        None => {}
    }
}

fn of_gone(Gone { branch, why, fault }: &Gone) {
    match fault {
        None => tracing::info!(branch, "deleted the branch: {why}"),
        Some(fault) => tracing::warn!(branch, "the branch ({why}) is not deleted: {fault}"),
    }
}
