//! What is logged of proposals: what was proposed, and what was taken back. Must never be asked what to do.

use super::desk::{Gone, Placed};
use crate::model::ChangeClass;

/// Says what became of proposals.
pub(super) fn proposed(placed: Option<(ChangeClass, Placed)>, gone: &[Gone]) {
    gone.iter().for_each(of_gone);
    match placed {
        Some((class, Placed::Proposed { told, .. })) => tracing::info!(%class, "proposed: {told}"),
        Some((class, Placed::Nothing { because, .. })) => {
            tracing::debug!(%class, "nothing to propose: {because}");
        }
        None => {}
    }
}

fn of_gone(Gone { what, why, fault }: &Gone) {
    match fault {
        None => tracing::info!("{what} is rolled back: {why}"),
        Some(fault) => tracing::warn!("{what} ({why}) could not be rolled back: {fault}"),
    }
}
