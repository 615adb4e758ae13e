//! Taints: a pod stays away from a node with a taint that it does not tolerate.
//!
//! `PreferNoSchedule` counts only for pods whose wish to stand elsewhere is taken for required. Startup and ephemeral taints of nodes that are not
//! initialized are gone before they come here.

use crate::model::{Stance, Taint};

use super::{Miss, Rule};

/// Says whether a pod stands these taints.
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

/// Returns whether a pod stands these taints: as [`why`], without words.
#[must_use]
pub fn are_stood(taints: &[Taint], stance: &Stance) -> bool {
    stance.first_untolerated(taints).is_none()
}
