//! The bootstrap tokens of a rollout: each is generated, written as a Secret, sent in customData, and removed once no
//! VM needs it.
//!
//! They are never read back: a restarted rollout generates another.

use std::collections::BTreeMap;

use super::performed::of_cluster;
use crate::bootstrap::BootstrapToken;
use crate::cluster::{ClusterFailure, Preconditions, Writer};
use crate::plan::mark;
use crate::rollout::Performed;

const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";

/// Generates a token from the machine's randomness.
pub(super) fn make() -> Result<BootstrapToken, String> {
    let mut bytes = [0; 64];
    getrandom::fill(&mut bytes).map_err(|error| format!("the machine has no randomness: {error}"))?;
    BootstrapToken::from_random(&bytes).map_err(|error| error.to_string())
}

/// Writes the token's Secret.
pub(super) async fn write(writer: &Writer, token: &BootstrapToken, plan: &str) -> Performed {
    let labels = BTreeMap::from([(mark::PLAN.to_owned(), plan.to_owned())]);
    let object = token.object(&labels, writer.cluster().clock().now());
    match writer.create_secret(SECRETS, &object).await {
        Ok(()) => Performed::Done,
        Err(failure) => of_cluster(&failure),
    }
}

/// Removes the token's Secret.
///
/// # Errors
/// Any failure; the API server's own controller removes it once it has expired.
pub(super) async fn remove(writer: &Writer, token: &BootstrapToken) -> Result<(), ClusterFailure> {
    let path = format!("{SECRETS}/{}", token.object_name());
    writer.delete(&path, &Preconditions::default(), None).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use crate::bootstrap::TOKEN_LIFETIME;
    use crate::rollout::TOKEN_USE;

    #[test]
    fn an_hour_is_left_of_a_token_that_a_vm_is_given() {
        assert!(TOKEN_LIFETIME - TOKEN_USE >= SignedDuration::from_hours(1));
    }
}
