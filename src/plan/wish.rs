//! Requests for single nodes in a plan: nodes that are released without being removed, and requests that are not
//! fulfilled.

use super::Plan;
use super::change::{Change, Forget};
use super::evidence::HeldChange;
use super::identity;
use super::propose::{Ground, Proposal, existing, same_node};
use super::reason::Reason;
use crate::model::{ChangeClass, Hold, NodeName};

/// Reason of a node that is replaced on request.
pub(super) const REPLACE: &str = "`--replace`";

/// Reason of a node that a destroy plan removes.
pub(super) const DESTROY: &str = "`--destroy`";

/// Reason of a node that a user deletes.
pub(super) const DELETED: &str = "`kubectl delete`";

/// Adds the nodes to be forgotten.
pub(super) fn propose_forgets(ground: Ground<'_>, proposal: &mut Proposal) {
    let Ground { snapshot, policy, .. } = ground;
    let is_asked = |name: &NodeName| snapshot.supposed.wishes.forget.contains(name);
    for node in snapshot.nodes.iter().filter(|node| is_asked(&node.name)) {
        let target = existing(node);
        let class = ChangeClass::Forget;
        let holds = &policy.fleet.holds;
        let hold = node.pool.as_ref().and_then(|pool| holds.on_change(pool, class, snapshot.at));
        if let Some(Hold { because, until }) = hold {
            let (node, pool) = (target.node, target.pool);
            proposal.held.push(HeldChange { node, pool, class, reason: None, because, until });
            continue;
        }
        let id = identity::target_id("forget", &target);
        let reason = Reason::Asked { by: "`--forget`".into() };
        proposal.add(id, Change::Forget(Forget { target }), reason, vec![same_node(node)]);
    }
}

/// Returns the requests that a plan does not fulfil, each with the reason, for people.
#[must_use]
pub fn unfulfilled(plan: &Plan) -> Vec<String> {
    let Plan { spec, evidence } = plan;
    let because = |node: &NodeName| -> String {
        if let Some(held) = evidence.held.iter().find(|held| held.node == *node) {
            return held.because.clone();
        }
        let staying = evidence.report.staying.iter().find(|(name, _)| name == node);
        match staying {
            Some((_, why)) => why.split_once("; but ").map_or(why.as_str(), |(_, but)| but).to_owned(),
            None if !spec.targets.is_empty() => "it is not among the targets (`--target`)".to_owned(),
            None => "the strategy finds no way to let it go".to_owned(),
        }
    };
    let is_removed = |node: &NodeName| spec.deletes().any(|(_, delete)| delete.target.node == *node);
    let is_forgotten = |node: &NodeName| {
        let mut changes = spec.changes.values();
        changes.any(|it| matches!(&it.change, Change::Forget(forget) if forget.target.node == *node))
    };
    let kept = spec.wishes.replace.iter().filter(|node| !is_removed(node));
    let kept = kept.map(|node| format!("node `{node}` cannot be replaced: {}", because(node)));
    let managed = spec.wishes.forget.iter().filter(|node| !is_forgotten(node));
    kept.chain(managed.map(|node| format!("node `{node}` cannot be forgotten: {}", because(node)))).collect()
}
