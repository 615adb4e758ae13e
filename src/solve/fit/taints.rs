//! Taints: a pod stays away from a node with a taint that it does not tolerate.
//!
//! `PreferNoSchedule` counts only for pods whose preference for other nodes is treated as required. Startup and
//! ephemeral taints of nodes that are not initialized are removed before this check.

use crate::model::{Stance, Taint};

use super::{Miss, Rule};

/// Checks whether a pod tolerates these taints.
///
/// # Errors
/// The first taint that is not tolerated.
pub fn why(taints: &[Taint], stance: &Stance) -> Result<(), Miss> {
    match stance.first_untolerated(taints) {
        None => Ok(()),
        Some(taint) => {
            let because = format!("taint `{taint}` is not tolerated");
            Err(Miss::new(Rule::Taints, because))
        }
    }
}

/// Returns whether a pod tolerates these taints: like [`why`], without a message.
#[must_use]
pub fn are_stood(taints: &[Taint], stance: &Stance) -> bool {
    stance.first_untolerated(taints).is_none()
}
