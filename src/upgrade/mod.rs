//! Older guides and guides for other clouds -> the form that AKS takes, with what could not be carried over.
//!
//! Sources in, texts and remarks out. A text is changed only where something changes: every other byte, comment
//! and the order stay. Must never read or write a file, and never hand on a text that says anything but what
//! was meant: what is written is read again and compared.

mod claim;
mod class;
mod disruption;
mod kubelet;
mod labels;
mod older;
mod pods;
mod pool;
mod remark;
mod rewrite;
mod spelling;
mod syntax;
mod unexplained;

use std::sync::Arc;

pub use remark::{Remark, Sort};
pub use unexplained::{beneath, unexplained};

use crate::manifests::tree::Tree;
use crate::manifests::{Fault, Source};
use remark::Job;
use rewrite::File;
use syntax::{Entry, Node};

/// A source, looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The source's name.
    pub name: String,
    /// The new text; `None` where nothing changes, or where it cannot be rewritten.
    pub text: Option<Vec<u8>>,
    /// How many objects were changed.
    pub objects: usize,
    /// What is said about its objects, in the order of lines.
    pub remarks: Vec<Remark>,
    /// Why what should change cannot be rewritten where it stands.
    pub refused: Vec<Fault>,
    /// The documents as they are now, with the lines on which their fields stood before.
    documents: Vec<Tree>,
}

/// Words that every source holds that there is something to say about; others are not parsed.
const WORDS: [&str; 15] = [
    // Pools of every version: zones and sizes of other clouds in pools and pods are read only beside one of these
    // labels, and a pool may lack its class.
    "karpenter.sh/v1",
    "karpenter.azure.com/v1alpha",
    "autoscaling.x-k8s.io/v1alpha1",
    "karpenter.sh/do-not-",
    "karpenter.sh/provisioner-name",
    "karpenter.k8s.",
    "eks.amazonaws.com/",
    "cloud.google.com/",
    "topology.ebs.csi.aws.com/",
    "topology.k8s.aws/",
    "topology.gke.io/",
    // Fields of a class whose letters are not of the right case.
    "AKSNodeClass",
    // Versions of Kubernetes' own kinds that are not served any more.
    "/v1beta1",
    "apps/v1beta2",
    "autoscaling/v2beta2",
];

/// Looks at sources: what is older or another cloud's, and the texts that take its place.
#[must_use]
pub fn upgrade(sources: &[Source]) -> Vec<Upgraded> {
    let speaks = |source: &&Source| {
        std::str::from_utf8(&source.bytes).is_ok_and(|text| WORDS.iter().any(|word| text.contains(word)))
    };
    let mut files: Vec<File> = sources.iter().filter(speaks).filter_map(File::read).collect();
    rewrite::all(&mut files);
    let mut upgraded: Vec<Upgraded> = files.into_iter().map(File::written).collect();
    for file in &mut upgraded {
        file.remarks.sort_by(|one, other| one.fault.cmp(&other.fault));
        file.remarks.dedup();
    }
    upgraded
}

/// Returns sources with the texts that take the place of theirs.
#[must_use]
pub fn rewritten(sources: &[Source], upgraded: &[Upgraded]) -> Vec<Source> {
    let new = |source: &Source| {
        let text = upgraded.iter().find(|file| file.name == source.name).and_then(|file| file.text.clone());
        Source { bytes: text.unwrap_or_else(|| source.bytes.clone()), ..source.clone() }
    };
    sources.iter().map(new).collect()
}

/// Gives an object its present version and kind.
fn head(root: &mut Node, version: &str, kind: &str) {
    for (key, wanted) in [("apiVersion", version), ("kind", kind)] {
        root.edit_at(key, |node| {
            let is_old = node.as_text() != Some(wanted);
            if is_old {
                *node = Node::text(wanted);
            }
            is_old
        });
    }
}

/// Gives an object of an older version, which has the same fields, the present one, and says so.
fn newer(root: &mut Node, version: &str, job: &mut Job<'_>) {
    let Some((line, old)) =
        root.get("apiVersion").and_then(|node| Some((node.line, node.as_text()?.to_owned())))
    else {
        return;
    };
    if old == version {
        return;
    }
    let file = if &**job.file == "<stdin>" { "-" } else { job.file };
    let hint = format!("`nodeform validate --fix {file}` rewrites it");
    let message = format!("`{old}` is older than `{version}`, which has the same fields");
    job.say(Sort::Foreign, (line, &["apiVersion"]), message, Some(hint));
    root.edit_at("apiVersion", |node| {
        *node = Node::text(version);
        true
    });
}

/// Leaves out the status of an object whose fields there have changed: the cluster writes it anew.
fn drop_status(root: &mut Node, job: &mut Job<'_>) {
    if let Some(Entry { line, .. }) = root.take("status") {
        let message = "is left out: the cluster writes it";
        job.say(Sort::Noted, (line, &["status"]), message.to_owned(), None);
    }
}

/// Returns the object as `Kind/name`.
fn object_name(root: &Node) -> String {
    let kind = root.get("kind").and_then(Node::as_text).unwrap_or("object");
    let name = root.at("metadata.name").and_then(Node::scalar).unwrap_or_default();
    crate::manifests::tree::shortened(&format!("{kind}/{name}"))
}

fn file_name(source: &Source) -> Arc<str> {
    Arc::from(source.name.as_str())
}

#[cfg(test)]
mod tests;
