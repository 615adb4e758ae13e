//! Upgrades manifests of older versions or other clouds to those that AKS accepts, and reports what could not be
//! carried over.
//!
//! Sources in, texts and remarks out. Only changed fields are rewritten: every other byte, all comments and the order
//! stay. Must never read or write a file, and never return text that differs in meaning from the intended result:
//! written text is parsed again and compared.

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

/// The result for one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The source's name.
    pub name: String,
    /// The new text; `None` if nothing changes or the source cannot be rewritten.
    pub text: Option<Vec<u8>>,
    /// Number of changed objects.
    pub objects: usize,
    /// Remarks about its objects, sorted by line.
    pub remarks: Vec<Remark>,
    /// Reasons why needed changes cannot be made in place.
    pub refused: Vec<Fault>,
    /// The upgraded documents; fields keep their line numbers from before.
    documents: Vec<Tree>,
}

/// Words of which every relevant source contains at least one; other sources are not parsed.
const WORDS: [&str; 15] = [
    // Pools of every version. Zones and sizes of other clouds in pools and pods are only read in files with one of
    // these strings, and a pool may lack its class.
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
    // Fields of a class in the wrong case.
    "AKSNodeClass",
    // Versions of built-in kinds that are no longer served.
    "/v1beta1",
    "apps/v1beta2",
    "autoscaling/v2beta2",
];

/// Upgrades sources: finds objects of older versions or other clouds and returns the texts that replace them.
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

/// Returns the sources with their texts replaced by the upgraded ones.
#[must_use]
pub fn rewritten(sources: &[Source], upgraded: &[Upgraded]) -> Vec<Source> {
    let new = |source: &Source| {
        let text = upgraded.iter().find(|file| file.name == source.name).and_then(|file| file.text.clone());
        Source { bytes: text.unwrap_or_else(|| source.bytes.clone()), ..source.clone() }
    };
    sources.iter().map(new).collect()
}

/// Sets the current version and kind of an object.
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

/// Sets the current version of an object whose older version has the same fields, and adds a remark.
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

/// Removes the status of an object whose status fields have changed; the cluster writes it again.
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
