//! Upgrades Machines and older NodeClaims to NodeClaims of `karpenter.sh/v1`.

use super::pods;
use super::pool;
use super::remark::{Job, Sort};
use super::syntax::{Entry, Node};
use super::{kubelet, labels};

/// Rewrites a Machine or a NodeClaim.
pub(super) fn claim(root: &mut Node, job: &mut Job<'_>) {
    super::head(root, "karpenter.sh/v1", "NodeClaim");
    root.edit_at("metadata.annotations", |map| pods::annotations(map, &["metadata", "annotations"], job));
    root.edit_at("metadata.labels", |map| labels::selector(map, &["metadata", "labels"], true, job));
    let Some(spec) = root.at_mut("spec") else { return };
    if let Some(entry) = spec.take("machineTemplateRef") {
        job.moved((entry.line, &["spec", "machineTemplateRef"]), "`spec.nodeClassRef`, of an AKSNodeClass");
        let name = entry.value.get("name").and_then(Node::scalar).unwrap_or_default();
        spec.put(entry.renamed("nodeClassRef").with(pool::reference(&name)));
    }
    for key in ["kubelet", "kubeletConfiguration"] {
        if let Some(entry) = spec.take(key) {
            // NodeClaims are created from their pool, and upgrading the pool already moves the settings to its class.
            kubelet::read(entry, &["spec", "kubelet"], job);
        }
    }
    spec.edit_at("nodeClassRef", |node| pool::class_reference(node, &["spec"], job));
    pool::requirements(spec, job, &["spec", "requirements"]);
    if spec.get("requirements").is_none() {
        spec.put(Entry::new("requirements", Node::new(super::syntax::Shape::List(Vec::new()))));
    }
    let message = "Karpenter makes NodeClaims itself: keep them in Git only as an example";
    job.say(Sort::Noted, (root.line, &[]), message.to_owned(), None);
}
