//! How old nodes may become.
//!
//! What the NodeClaim says counts, and where it does not say, its pool. Without a time nothing is too old. Whether a
//! node may go is not asked here.

use jiff::Timestamp;

use crate::model::{ExpireAfter, Node, NodeStage, Pool};

/// Returns what a node is too old for, from the very moment on at which it is, for people; nothing where it is not, or its age is not known.
pub(super) fn what(node: &Node, pool: &Pool, at: Option<Timestamp>) -> Option<String> {
    if node.claim.is_none() || node.stage != NodeStage::Initialized {
        return None;
    }
    let ExpireAfter::Age(most) = node.claimed.expire_after.unwrap_or(pool.expire_after) else { return None };
    let created = node.created?;
    (at?.duration_since(created) >= most).then(|| format!("created at {created}, `expireAfter` is {most:#}"))
}
