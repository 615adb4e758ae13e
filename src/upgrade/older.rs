//! Built-in kinds in versions that are no longer served but have the same fields today.

use super::remark::Job;
use super::syntax::{Entry, Node};
use crate::manifests::kind::{Treatment, group_and_version, treatment};

/// Group versions whose objects mean the same in the served version.
const SAME: [(&str, &str); 9] = [
    ("apps", "v1beta1"),
    ("apps", "v1beta2"),
    ("autoscaling", "v2beta2"),
    ("batch", "v1beta1"),
    ("extensions", "v1beta1"),
    ("node.k8s.io", "v1beta1"),
    ("policy", "v1beta1"),
    ("scheduling.k8s.io", "v1beta1"),
    ("storage.k8s.io", "v1beta1"),
];

/// Returns the served version for an object of an older one; `None` for other objects, and if its meaning would change.
pub(super) fn present(api_version: &str, kind: &str, root: &Node) -> Option<&'static str> {
    let Treatment::OtherVersion(wanted) = treatment(api_version, kind) else { return None };
    if !SAME.contains(&group_and_version(api_version)) {
        return None;
    }
    // An empty selector used to select no pods; in `policy/v1` it selects all of them.
    let selects_nothing =
        kind == "PodDisruptionBudget" && root.at("spec.selector").is_none_or(Node::is_empty);
    (!selects_nothing).then_some(wanted)
}

/// Sets the served version, and the selector that older versions implied.
pub(super) fn object(root: &mut Node, version: &str, job: &mut Job<'_>) {
    let line = root.get("apiVersion").map_or(root.line, |node| node.line);
    job.moved((line, &["apiVersion"]), &format!("`{version}`"));
    root.edit_at("apiVersion", |node| {
        *node = Node::text(version);
        true
    });
    let labels = root.at("spec.template.metadata.labels").cloned();
    if let Some(labels) = labels.filter(|_| version == "apps/v1" && root.at("spec.selector").is_none()) {
        let selector = Node::map(vec![Entry::new("matchLabels", Node::of_tree(&labels.tree()))]);
        root.put_at("spec", Entry::new("selector", selector));
    }
}
