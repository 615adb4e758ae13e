//! Kinds of the cluster that could not be listed: unknown is not empty, so no node is deleted until they can be.
//!
//! Never holds back a new node: pending pods justify it on their own.

use super::LaunchFault;
use crate::plan::Plan;
use crate::snapshot::{GapKind, Snapshot};

/// Returns a fault that covers all deletions of a plan if a kind could not be listed.
pub(super) fn removals(snapshot: &Snapshot, plan: &Plan) -> Option<LaunchFault> {
    let is_kind = |kind: GapKind| matches!(kind, GapKind::Unlistable | GapKind::Unlisted);
    let unread: Vec<&str> =
        snapshot.gaps.iter().filter(|gap| is_kind(gap.kind)).map(|gap| &*gap.what).collect();
    let changes = plan.spec.deletes().map(|(id, _)| id.clone()).collect();
    (!unread.is_empty()).then(|| LaunchFault {
        changes,
        object: unread.join("; "),
        why: "what cannot be listed is unknown; no node is deleted until it can".to_owned(),
    })
}
