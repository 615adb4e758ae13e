//! Nodes that change in place: each label, annotation and tag, from what to what.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::{Change, OldNew, Update};
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::view::PlanView;

/// Returns an item for each node that changes, is adopted or forgotten, by name, with items inside it.
pub(super) fn items(view: &PlanView<'_>) -> Vec<String> {
    let mut changed: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (id, planned) in &view.plan.spec.changes {
        let (target, what, inside) = match &planned.change {
            Change::Update(update) => (&update.target, "is updated in place", fields(update)),
            Change::Adopt(adopt) => {
                (&adopt.target, "gets a NodeClaim", vec![code_whole(adopt.claim.as_str())])
            }
            Change::Forget(forget) => (&forget.target, "is no longer managed", Vec::new()),
            Change::Create(_) | Change::Delete(_) | Change::NoOp(_) => continue,
        };
        let reason = view.plan.evidence.reasons.get(id);
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        let node = target.node.as_str();
        let head = sentence_whole(&format!("node `{node}` {what}{reason}"));
        let inside = inside.into_iter().map(|item| format!("  {item}"));
        changed.insert((node, &id.0), std::iter::once(head).chain(inside).collect());
    }
    changed.into_values().flatten().collect()
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
