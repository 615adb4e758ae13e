//! Taints: a pod stays away from a node with a taint that it does not tolerate.
//!
//! `PreferNoSchedule` is a wish and does not count here. Startup and ephemeral taints of nodes that are not
//! initialized are gone before they come here.

use crate::model::{Taint, Toleration, taint};

use super::{Miss, Rule};

/// Says whether these tolerations stand these taints.
///
/// # Errors
/// The first taint that is not tolerated.
pub fn why(taints: &[Taint], tolerations: &[Toleration]) -> Result<(), Miss> {
    match taint::first_untolerated(taints, tolerations) {
        None => Ok(()),
        Some(taint) => {
            let because = format!("taint `{taint}` is not tolerated");
            Err(Miss::new(Rule::Taints, because))
        }
    }
}

/// Returns whether these tolerations stand these taints: as [`why`], without words.
#[must_use]
pub fn are_stood(taints: &[Taint], tolerations: &[Toleration]) -> bool {
    taint::first_untolerated(taints, tolerations).is_none()
}
