//! Log messages about proposals: new ones and withdrawn ones. Must never be used for decisions.

use super::desk::{Gone, Placed};
use crate::model::ChangeClass;

/// Logs the results of proposals.
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
