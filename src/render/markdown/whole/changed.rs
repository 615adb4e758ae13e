//! Nodes updated in place: each label, annotation and tag with its old and new value. Nodes with the same text share an
//! item.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::{Change, OldNew, Update};
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::view::PlanView;
use crate::render::words::count;

/// Consequence of adopting a node.
const ADOPTED: &str = "no pod restarts now; from now on nodeform may drain and delete it";

/// Text about a node: the action, the reason, and each field.
type Said = (&'static str, String, Vec<String>);

/// Returns an item for the nodes that are updated, adopted or forgotten, with nested items.
pub(super) fn items(view: &PlanView<'_>) -> Vec<String> {
    let mut changed: BTreeMap<Said, Vec<&str>> = BTreeMap::new();
    for (id, planned) in &view.plan.spec.changes {
        let (target, what, inside) = match &planned.change {
            Change::Update(update) => (&update.target, "updated in place", fields(update)),
            Change::Adopt(adopt) => {
                let gets = format!("gets NodeClaim {}", code_whole(adopt.claim.as_str()));
                (&adopt.target, "adopted", vec![gets, ADOPTED.to_owned()])
            }
            Change::Forget(forget) => {
                (&forget.target, "no longer managed", vec!["keeps running and costing".to_owned()])
            }
            Change::Create(_) | Change::Delete(_) | Change::NoOp(_) => continue,
        };
        let reason = view.plan.evidence.reasons.get(id).map_or(String::new(), ToString::to_string);
        changed.entry((what, reason, inside)).or_default().push(target.node.as_str());
    }
    let mut items = Vec::new();
    for ((what, reason, inside), mut nodes) in changed {
        nodes.sort_unstable();
        let names: Vec<String> = nodes.iter().map(|node| code_whole(node)).collect();
        let reason =
            if reason.is_empty() { String::new() } else { format!(". Why: {}", sentence_whole(&reason)) };
        items.push(format!("{} {what}: {}{reason}", count(nodes.len(), "node"), names.join(", ")));
        items.extend(inside.into_iter().map(|item| format!("  {item}")));
    }
    items
}

fn fields(update: &Update) -> Vec<String> {
    let labels = update.labels.iter().map(|(key, value)| said("label", key.as_str(), value));
    let annotations = update.annotations.iter().map(|(key, value)| said("annotation", key, value));
    let tags = update.tags.iter().map(|(key, value)| said("tag", key, value));
    labels.chain(annotations).chain(tags).collect()
}

fn said(what: &str, key: &str, OldNew { old, new }: &OldNew) -> String {
    let shown = |value: &Option<Arc<str>>| value.as_deref().map_or("absent".to_owned(), code_whole);
    format!("{what} {}: {} → {}", code_whole(key), shown(old), shown(new))
}
