//! Expiry: the maximum age of nodes.
//!
//! The NodeClaim's `expireAfter` takes precedence over its pool's. Without a time no node has expired. Never checks
//! whether a node may be removed.

use jiff::Timestamp;

use crate::model::{ExpireAfter, Node, NodeStage, Pool};

/// Returns a message if a node has reached its maximum age; `None` if it has not, or its age is unknown.
pub(super) fn what(node: &Node, pool: &Pool, at: Option<Timestamp>) -> Option<String> {
    if node.claim.is_none() || node.stage != NodeStage::Initialized {
        return None;
    }
    let ExpireAfter::Age(most) = node.claimed.expire_after.unwrap_or(pool.expire_after) else { return None };
    let created = node.created?;
    (at?.duration_since(created) >= most).then(|| format!("created at {created}, `expireAfter` is {most:#}"))
}
