//! The cluster's objects: every kind that planning reads and the cluster serves, all pages.

use std::collections::BTreeSet;

use super::{Observation, ObserveFault, Unread};
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind};
use crate::manifests::Source;
use crate::manifests::listed::{ListedKind, NEEDED_KINDS, SNAPSHOT_KINDS};
use crate::snapshot::Gap;

impl From<ClusterFailure> for ObserveFault {
    fn from(failure: ClusterFailure) -> Self {
        Self { what: failure.what, hint: Some(failure.hint), unread: None }
    }
}

/// Reports which kind could not be listed.
fn unlisted(kind: ListedKind, failure: &ClusterFailure) -> Unread {
    let is_forbidden = failure.kind == ClusterFailureKind::Forbidden;
    Unread::of_kind(kind.resource, is_forbidden, (&failure.what, &failure.hint))
}

/// Kinds of CustomResourceDefinitions that applying plans writes, sorted.
const WRITTEN_KINDS: [&str; 3] =
    ["nodeclaims.karpenter.sh", "nodeplanchunks.nodeform.dev", "nodeplans.nodeform.dev"];

/// Returns a warning for each kind that could not be listed, with a hint after the last one that it applies to.
fn warnings(unread: &[(&'static str, ClusterFailure)]) -> Vec<String> {
    let warning = |(at, (word, failure)): (usize, &(&'static str, ClusterFailure))| {
        let ClusterFailure { what, hint, .. } = failure;
        let is_last = unread[at + 1..].iter().all(|(_, other)| other.hint != *hint);
        let hint = if is_last { format!("\nhint: {hint}") } else { String::new() };
        format!("{word} could not be listed: {what}{hint}")
    };
    unread.iter().enumerate().map(warning).collect()
}

/// Kinds in which users configure nodes. They are read last, so a pool that is frozen or deleted before scaling down is
/// respected, however long the lists in between take.
const POLICY_KINDS: [&str; 4] = ["nodepools", "aksnodeclasses", "nodefleets", "nodeoverlays"];

/// Returns the kinds in the order in which they are read.
fn in_order() -> impl Iterator<Item = ListedKind> {
    let (policy, running): (Vec<_>, Vec<_>) =
        SNAPSHOT_KINDS.into_iter().partition(|kind| POLICY_KINDS.contains(&kind.word));
    // A NodeClaim says whether its Node has joined. In the opposite order, a Node that joins in between would appear to
    // be gone.
    let (claims, others): (Vec<_>, Vec<_>) = running.into_iter().partition(|kind| kind.word == "nodeclaims");
    claims.into_iter().chain(others).chain(policy)
}

/// Kinds that are read to show nodes only: pods for what nodes hold, the others for what they cost.
const LOOKED_AT: [&str; 7] =
    ["nodeclaims", "nodes", "pods", "nodepools", "aksnodeclasses", "nodefleets", "nodeoverlays"];

/// Lists the kinds that show which nodes exist, how full they are and what they cost. Pods are optional.
pub(super) async fn look(cluster: &Cluster, seen: &mut Observation) -> Result<(), ObserveFault> {
    let kinds = in_order().filter(|kind| LOOKED_AT.contains(&kind.word)).collect();
    list(cluster, kinds, &["nodes"], seen).await
}

/// Lists the kinds. An API that is not installed has no objects; a kind that cannot be listed is a gap.
pub(super) async fn read(cluster: &Cluster, seen: &mut Observation) -> Result<(), ObserveFault> {
    list(cluster, in_order().collect(), &NEEDED_KINDS, seen).await
}

async fn list(
    cluster: &Cluster,
    kinds: Vec<ListedKind>,
    needed: &[&str],
    seen: &mut Observation,
) -> Result<(), ObserveFault> {
    let groups: BTreeSet<&str> =
        kinds.iter().map(|kind| kind.resource.split_once('.').map_or("", |(_, group)| group)).collect();
    let groups: Vec<&str> = groups.into_iter().collect();
    let served = cluster.served(&groups).await?;
    seen.missing = WRITTEN_KINDS.into_iter().filter(|kind| served.path(kind).is_none()).collect();
    let mut unread: Vec<(&'static str, ClusterFailure)> = Vec::new();
    for kind in kinds {
        let Some(path) = served.path(kind.resource) else {
            if needed.contains(&kind.word) {
                return Err(ObserveFault::new(
                    format!("{} serves no {}", cluster.server(), kind.word),
                    "look where the kubeconfig leads: `kubectl config view --minify`",
                ));
            }
            continue;
        };
        match cluster.look(path).await {
            Ok(listing) => {
                let named = |page: Vec<u8>| Source::new(format!("<{}>", kind.word), page);
                seen.sources.extend(listing.pages().into_iter().map(named));
                seen.listed.insert(kind.word.to_owned());
            }
            Err(failure) if needed.contains(&kind.word) => {
                let unread = Some(unlisted(kind, &failure));
                return Err(ObserveFault { unread, ..failure.into() });
            }
            Err(failure) => {
                seen.unread.push(unlisted(kind, &failure));
                unread.push((kind.word, failure));
            }
        }
    }
    let words: Vec<&str> = unread.iter().map(|(word, _)| *word).collect();
    seen.gaps.extend(Gap::of_kinds(&words));
    seen.warnings.extend(warnings(&unread));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{POLICY_KINDS, SNAPSHOT_KINDS, in_order};

    #[test]
    fn what_users_want_of_nodes_is_read_behind_all_that_runs() {
        let words: Vec<&str> = in_order().map(|kind| kind.word).collect();
        assert_eq!(words.len(), SNAPSHOT_KINDS.len(), "each is read");
        assert!(words.ends_with(&POLICY_KINDS), "{words:?}");
    }
}
