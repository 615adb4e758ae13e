//! Finds the objects in files, rewrites each one, and verifies the written text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::kubelet::Kubelet;
use super::pool::{self, Wanted};
use super::remark::{Job, Remark, Sort};
use super::syntax::{self, Entry, Node, Unreadable};
use super::{Upgraded, claim, class, object_name, older, pods};
use crate::manifests::cut::{self, Piece};
use crate::manifests::source::DOCUMENT_BYTES_MAX;
use crate::manifests::tree::Tree;
use crate::manifests::{Fault, Source, yaml};

/// A source, split into documents.
pub(super) struct File {
    name: Arc<str>,
    is_json: bool,
    has_returns: bool,
    documents: Vec<Part>,
    remarks: Vec<Remark>,
    refused: Vec<Fault>,
    objects: usize,
}

/// One document of a file.
struct Part {
    text: String,
    line: usize,
    content: Content,
    /// New documents to append after it.
    added: String,
}

enum Content {
    /// Cannot be parsed; kept as it is.
    Plain,
    /// The document with its formatting, and its original root.
    Written(Box<syntax::Document>, Node),
    /// Only the values, and the reason why the document cannot be rewritten.
    Said(Node, Unreadable),
}

/// Kinds of objects that are upgraded differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sorted {
    Provisioner,
    Pool,
    Claim,
    Class,
    Buffer,
    Overlay,
    /// A built-in kind in a version that is no longer served but has the same fields; the served version.
    Older(&'static str),
    Other,
}

fn sorted(root: &Node) -> Sorted {
    let text = |key| root.get(key).and_then(Node::as_text).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or_default();
    match (group, version, text("kind")) {
        ("karpenter.sh", "v1alpha5", "Provisioner") => Sorted::Provisioner,
        ("karpenter.sh", "v1beta1" | "v1", "NodePool") => Sorted::Pool,
        ("karpenter.sh", "v1alpha5", "Machine") | ("karpenter.sh", "v1beta1", "NodeClaim") => Sorted::Claim,
        ("karpenter.k8s.aws", _, "AWSNodeTemplate" | "EC2NodeClass")
        | ("karpenter.k8s.gcp", _, "GCENodeClass")
        | ("karpenter.azure.com", "v1alpha2" | "v1beta1", "AKSNodeClass")
        | ("karpenter.azure.com", "v1alpha1", "AzureNodeClass" | "NodeTemplate") => Sorted::Class,
        ("autoscaling.x-k8s.io", "v1alpha1", "CapacityBuffer") => Sorted::Buffer,
        ("karpenter.sh", _, "NodeOverlay") => Sorted::Overlay,
        (_, _, kind) => match older::present(text("apiVersion"), kind, root) {
            Some(version) => Sorted::Older(version),
            None => Sorted::Other,
        },
    }
}

impl File {
    /// Splits a source into documents; `None` if it is not UTF-8 or too large to be written by hand.
    pub(super) fn read(source: &Source) -> Option<Self> {
        let whole =
            std::str::from_utf8(&source.bytes).ok().filter(|text| text.len() <= DOCUMENT_BYTES_MAX)?;
        let has_returns = whole.contains("\r\n");
        let text = if has_returns { whole.replace("\r\n", "\n") } else { whole.to_owned() };
        let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        let name = super::file_name(source);
        let mut documents = Vec::new();
        let mut add = |piece: Piece<'_>| {
            documents.push(Part::read(&name, piece));
            true
        };
        if is_json {
            add(Piece { text: &text, lines_before: 0 });
        } else {
            cut::documents(&text, add);
        }
        let (remarks, refused) = (Vec::new(), Vec::new());
        Some(Self { name, is_json, has_returns, documents, remarks, refused, objects: 0 })
    }

    /// Writes the file.
    pub(super) fn written(mut self) -> Upgraded {
        let mut out = String::new();
        let mut is_changed = false;
        let trees = self.documents.iter().filter_map(Part::tree).collect();
        for part in &self.documents {
            match part.written(&self.name, self.is_json) {
                Ok(Some(text)) => {
                    is_changed = true;
                    out.push_str(&text);
                }
                Ok(None) => out.push_str(&part.text),
                Err(fault) => self.refused.push(fault),
            }
        }
        if self.has_returns {
            out = out.replace('\n', "\r\n");
        }
        let text = (is_changed && self.refused.is_empty()).then(|| out.into_bytes());
        let Self { name, remarks, refused, objects, .. } = self;
        Upgraded { name: name.to_string(), text, objects, remarks, refused, documents: trees }
    }
}

impl Part {
    fn read(name: &Arc<str>, piece: Piece<'_>) -> Self {
        let Piece { text, lines_before } = piece;
        let content = match syntax::read(text, lines_before) {
            Ok(document) => {
                let before = document.root.clone();
                Content::Written(Box::new(document), before)
            }
            Err(why) => tree(name, text, lines_before)
                .map_or(Content::Plain, |tree| Content::Said(Node::of_tree(&tree), why)),
        };
        Self { text: text.to_owned(), line: lines_before + 1, content, added: String::new() }
    }

    const fn root(&mut self) -> Option<&mut Node> {
        match &mut self.content {
            Content::Plain => None,
            Content::Written(document, _) => Some(&mut document.root),
            Content::Said(root, _) => Some(root),
        }
    }

    /// Returns the current values of the document.
    fn tree(&self) -> Option<Tree> {
        match &self.content {
            Content::Plain => None,
            Content::Written(document, _) => Some(document.root.tree()),
            Content::Said(root, _) => Some(root.tree()),
        }
    }

    /// Returns the new text; `None` if nothing changes.
    fn written(&self, name: &Arc<str>, is_json: bool) -> Result<Option<String>, Fault> {
        match &self.content {
            Content::Plain => Ok(None),
            Content::Said(root, why) => {
                let before = tree(name, &self.text, self.line - 1);
                let is_same = before.is_some_and(|before| before.to_json() == root.tree().to_json());
                if is_same { Ok(None) } else { Err(self.refusal(name, *why)) }
            }
            Content::Written(document, before) => {
                if before.tree().digest() == document.root.tree().digest() && self.added.is_empty() {
                    return Ok(None);
                }
                let mut text = syntax::write(document, is_json).map_err(|why| self.refusal(name, why))?;
                // The written text must parse to the intended values.
                let again = tree(name, &text, 0).map(|tree| tree.to_json());
                if again != Some(document.root.tree().to_json()) {
                    return Err(self.refusal(name, Unreadable::Form));
                }
                if !self.added.is_empty() {
                    let end = if text.ends_with('\n') { "" } else { "\n" };
                    text.push_str(&format!("{end}{}", self.added));
                }
                Ok(Some(text))
            }
        }
    }

    fn refusal(&self, name: &Arc<str>, why: Unreadable) -> Fault {
        let (what, hint) = match why {
            Unreadable::Anchors => {
                ("uses anchors, aliases or merge keys", "write them out first: `yq 'explode(.)' FILE`")
            }
            Unreadable::Comments => {
                ("has comments inside of brackets that must change", "write that part by indentation first")
            }
            Unreadable::Form | Unreadable::Syntax => (
                "is written in a form that is not rewritten",
                "write the document by indentation first: `yq -P FILE`",
            ),
        };
        Fault::at(name, self.line, format!("cannot be rewritten in place: this document {what}"))
            .with_hint(hint)
    }
}

/// Parses a text that holds one document.
fn tree(name: &Arc<str>, text: &str, lines_before: usize) -> Option<Tree> {
    let mut found = None;
    yaml::read(name, text, lines_before, |tree| {
        found = tree.ok();
        false
    });
    found
}

/// Calls `each` for every object of a document: its root, or the items of a List.
fn objects(root: &mut Node, each: &mut impl FnMut(&mut Node) -> bool) -> bool {
    let kind = root.get("kind").and_then(Node::as_text).unwrap_or_default();
    if kind.ends_with("List") && root.get("items").is_some() {
        return root.edit_at("items", |items| items.edit_parts(|_, _, item| objects(item, each)));
    }
    each(root)
}

/// Rewrites the objects of all files: pools first, then the classes that they reference.
pub(super) fn all(files: &mut [File]) {
    let mut wanted: BTreeMap<String, Vec<Kubelet>> = BTreeMap::new();
    let mut classes: BTreeSet<String> = BTreeSet::new();
    for file in files.iter_mut() {
        pass(file, |root, _| {
            if sorted(root) == Sorted::Class {
                classes.insert(root.at("metadata.name").and_then(Node::scalar).unwrap_or_default());
            }
            (false, None)
        });
    }
    for file in files.iter_mut() {
        pass(file, |root, job| pool_or_other(root, job, &classes, &mut wanted));
    }
    for file in files.iter_mut() {
        pass(file, |root, job| {
            if sorted(root) != Sorted::Class {
                return (false, None);
            }
            let name = root.at("metadata.name").and_then(Node::scalar).unwrap_or_default();
            let asked: Vec<&Kubelet> = wanted.get(&name).into_iter().flatten().collect();
            (changed(root, |root| class::class(root, &asked, job)), None)
        });
    }
}

/// Calls `each` once for every object of a file. It returns whether it changed the object, and a document to add.
fn pass(file: &mut File, mut each: impl FnMut(&mut Node, &mut Job<'_>) -> (bool, Option<String>)) {
    let File { name, is_json, documents, remarks, objects: count, .. } = file;
    for part in documents {
        let mut added = String::new();
        if let Some(root) = part.root() {
            let mut copy = root.clone();
            let is_changed = objects(&mut copy, &mut |root| {
                let mut job = Job { file: name, object: object_name(root), remarks };
                let (is_changed, more) = each(root, &mut job);
                if let Some(more) = more {
                    if *is_json {
                        let at: (usize, &[&str]) = (root.line, &[]);
                        job.lost(
                            at,
                            "needs an AKSNodeClass that a JSON file cannot hold beside it",
                            &format!("write one:\n{more}"),
                        );
                    } else {
                        added.push_str(&more);
                    }
                }
                *count += usize::from(is_changed);
                is_changed
            });
            if is_changed {
                *root = copy;
            }
        }
        part.added.push_str(&added);
    }
}

/// Rewrites a copy of an object, and returns whether its values changed.
fn changed(root: &mut Node, rewrite: impl FnOnce(&mut Node)) -> bool {
    let mut copy = root.clone();
    rewrite(&mut copy);
    let is_changed = copy.tree().digest() != root.tree().digest();
    if is_changed {
        *root = copy;
    }
    is_changed
}

fn pool_or_other(
    root: &mut Node,
    job: &mut Job<'_>,
    classes: &BTreeSet<String>,
    wanted: &mut BTreeMap<String, Vec<Kubelet>>,
) -> (bool, Option<String>) {
    let mut asked = None;
    let is_changed = match sorted(root) {
        Sorted::Provisioner => changed(root, |root| asked = Some(pool::provisioner(root, job))),
        Sorted::Pool => changed(root, |root| asked = pool::node_pool(root, only(classes), job)),
        Sorted::Claim => changed(root, |root| claim::claim(root, job)),
        Sorted::Class => false,
        Sorted::Buffer => changed(root, |root| super::newer(root, "autoscaling.x-k8s.io/v1beta1", job)),
        Sorted::Overlay => pods::overlay(root, job),
        Sorted::Older(version) => {
            let is_newer = changed(root, |root| older::object(root, version, job));
            pods::look(root, &mut Vec::new(), job) | is_newer
        }
        Sorted::Other => pods::look(root, &mut Vec::new(), job),
    };
    (is_changed, asked.and_then(|asked| ask(asked, job, classes, wanted)))
}

/// Returns the class if there is exactly one.
fn only(classes: &BTreeSet<String>) -> Option<&str> {
    let one = classes.first().filter(|class| classes.len() == 1 && !class.is_empty());
    one.map(String::as_str)
}

/// Records the requirements of a pool on its class. Returns the class as a document if no class has this name.
fn ask(
    asked: Wanted,
    job: &mut Job<'_>,
    classes: &BTreeSet<String>,
    wanted: &mut BTreeMap<String, Vec<Kubelet>>,
) -> Option<String> {
    let Wanted { class, kubelet, inline } = asked;
    let kubelet = kubelet.filter(|kubelet| !kubelet.is_empty());
    let present = wanted.entry(class.clone()).or_default();
    let is_same = |other: &Kubelet| kubelet.as_ref().is_some_and(|kubelet| kubelet.says(other));
    if let Some(kubelet) = &kubelet
        && let Some(false) = present.first().map(is_same)
    {
        let message = format!(
            "another pool asks other settings of the AKSNodeClass `{class}`, which has one set for all"
        );
        job.lost((kubelet.line, &kubelet.path), &message, "give each pool an AKSNodeClass of its own");
        return None;
    }
    let is_new = present.is_empty();
    present.extend(kubelet.clone());
    let is_made = !classes.contains(&class) && is_new && (kubelet.is_some() || inline.is_some());
    if !is_made {
        return None;
    }
    let mut spec = inline.map_or_else(|| Node::map(Vec::new()), |entry| class::inline(entry, job));
    kubelet.into_iter().for_each(|kubelet| kubelet.give(&mut spec));
    job.say(Sort::Noted, (0, &[]), format!("the AKSNodeClass `{class}` is written beside the pool"), None);
    let root = vec![
        Entry::new("apiVersion", Node::text("karpenter.azure.com/v1beta1")),
        Entry::new("kind", Node::text("AKSNodeClass")),
        Entry::new("metadata", Node::map(vec![Entry::new("name", Node::text(&class))])),
        Entry::new("spec", spec),
    ];
    syntax::fresh(root).ok().map(|text| format!("---\n{text}"))
}
