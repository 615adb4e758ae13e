//! Relation between two holders of a Lease: Pods of one Deployment recognize each other by their names.
//!
//! Must never mistake a user's command for a Pod.

/// Prefix after the host in identities of commands: `HOST_nodeform-PID-TIME`.
const COMMAND: &str = "nodeform-";

/// Returns whether two identities are of Pods of one Deployment: `DEPLOYMENT-HASH-SUFFIX_UID`.
#[must_use]
pub fn are_replicas(one: &str, other: &str) -> bool {
    deployment(one).is_some_and(|found| deployment(other) == Some(found))
}

fn deployment(identity: &str) -> Option<&str> {
    let (pod, uid) = identity.split_once('_')?;
    let (set, _) = pod.rsplit_once('-')?;
    set.rsplit_once('-').map(|(name, _)| name).filter(|_| !uid.starts_with(COMMAND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_of_one_deployment_are_replicas_and_nobody_else_is() {
        let ours = "nodeform-6d5f7c9b8-x2x9q_0a1b";
        assert!(are_replicas(ours, "nodeform-7c9b86d5f-abcde_2c3d"), "also across a rollout");
        for other in [
            "karpenter-6d5f7c9b8-x2x9q_0a1b",
            "laptop_nodeform-17-9f",
            "my-own-laptop_nodeform-17-9f",
            "",
            "x",
        ] {
            assert!(!are_replicas(ours, other) && !are_replicas(other, ours), "{other}");
        }
        assert!(
            !are_replicas("my-own-host_nodeform-1-2", "my-own-host_nodeform-3-4"),
            "two commands of one host"
        );
    }
}
