//! Node repair: nodes that have been unhealthy for longer than tolerated.
//!
//! Uses Karpenter's conditions and durations for Azure, and also NodeClaims whose Node is gone for good. If many nodes
//! of a pool are unhealthy at the same time, replacing them would not help. Without a time no node is unhealthy for
//! long.

use jiff::{SignedDuration, Timestamp};

use crate::model::allowance::UNHEALTHY_MAX;
use crate::model::{Node, NodeStage, Pool, Trouble};
use crate::snapshot::Snapshot;

/// Conditions, and how many minutes each is tolerated.
const PUT_UP_WITH: [(&str, &str, i64); 4] = [
    ("Ready", "False", 10),
    ("Ready", "Unknown", 10),
    ("kubernetes.azure.com/NodeHealthy", "False", 0),
    ("PreemptionScheduled", "True", 0),
];

/// The taint of a node whose kubelet does not report.
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// Returns a message about what is wrong with a node; `None` if it is healthy, or it is unknown since when it is not.
pub(super) fn what(node: &Node, at: Option<Timestamp>) -> Option<String> {
    if node.claim.is_none() || node.stage != NodeStage::Initialized {
        return None;
    }
    if let Some(since) = node.claimed.lost_since.filter(|_| node.claimed.is_lost) {
        return Some(format!("its Node is gone since {since:.0}"));
    }
    let at = at?;
    node.troubles.iter().find_map(|trouble| {
        let Trouble { kind, status, since } = trouble;
        let is_it = |known: &&(&str, &str, i64)| (known.0, known.1) == (&**kind, &**status);
        let (_, _, minutes) = PUT_UP_WITH.iter().find(is_it)?;
        let since = (*since)?;
        (at.duration_since(since) >= SignedDuration::from_mins(*minutes))
            .then(|| format!("`{kind}` is `{status}` since {since}"))
    })
}

/// Returns a message if a node does not report any more: its pods are unknown, so it is neither empty nor
/// underutilized. It is replaced once it has been unhealthy for too long.
pub(super) fn unreachable(node: &Node) -> Option<String> {
    let is_unknown = |trouble: &&Trouble| &*trouble.kind == "Ready" && &*trouble.status == "Unknown";
    let since = match node.troubles.iter().find(is_unknown) {
        Some(Trouble { since: Some(since), .. }) => format!("`Ready` is `Unknown` since {since}"),
        Some(_) => "`Ready` is `Unknown`".to_owned(),
        None => {
            let taint = node.taints.iter().find(|taint| &*taint.key == UNREACHABLE)?;
            format!("it has taint `{taint}`")
        }
    };
    Some(format!("it is unreachable: {since}, so what runs there is not known"))
}

/// Returns why no node of a pool is repaired, if too many are unhealthy.
pub(super) fn is_no_fault_of_nodes(snapshot: &Snapshot, pool: &Pool) -> Option<String> {
    let of_pool = || snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(&pool.name));
    let (all, unhealthy) =
        (of_pool().count(), of_pool().filter(|node| what(node, snapshot.at).is_some()).count());
    (unhealthy > UNHEALTHY_MAX.of(all)).then(|| {
        format!(
            "{unhealthy} of the {all} nodes of pool `{}` are unhealthy, too many to be the fault of each",
            pool.name
        )
    })
}
