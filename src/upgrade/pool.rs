//! Upgrades Provisioners, and NodePools of older versions or other clouds, to NodePools of `karpenter.sh/v1` on AKS.

use super::disruption;
use super::kubelet::{self, Kubelet};
use super::labels::{self, Outcome, expression};
use super::pods;
use super::remark::{Job, Sort};
use super::syntax::{Entry, Node};

/// Requirements of a pool on its class: the class's name and kubelet settings.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) class: String,
    pub(super) kubelet: Option<Kubelet>,
    /// Inline class of the pool, from which the class is created.
    pub(super) inline: Option<Entry>,
}

const TEMPLATE: &str = "template.spec";
/// The path of the template's spec, from the root.
const TEMPLATE_PATH: [&str; 3] = ["spec", "template", "spec"];

/// Rewrites a Provisioner.
pub(super) fn provisioner(root: &mut Node, job: &mut Job<'_>) -> Wanted {
    super::head(root, "karpenter.sh/v1", "NodePool");
    super::drop_status(root, job);
    root.edit_at("metadata.annotations", |map| pods::annotations(map, &["metadata", "annotations"], job));
    let name = root.at("metadata.name").and_then(Node::scalar).unwrap_or_default();
    if root.get("spec").is_none() {
        root.put(Entry::new("spec", Node::map(Vec::new())));
    }
    let mut wanted = Wanted { class: name, kubelet: None, inline: None };
    let mut times = disruption::Times::default();
    let Some(spec) = root.at_mut("spec") else { return wanted };
    for entry in std::mem::take(spec.parts_mut().unwrap_or(&mut Vec::new())) {
        let key = entry.key.to_string();
        let at = ["spec", key.as_str()];
        match key.as_str() {
            "labels" | "annotations" => {
                job.moved((entry.line, &at), &format!("`spec.template.metadata.{key}`"));
                spec.put_at("template.metadata", entry);
            }
            "requirements" | "taints" | "startupTaints" => {
                job.moved((entry.line, &at), &format!("`spec.template.spec.{key}`"));
                spec.put_at(TEMPLATE, entry);
            }
            "providerRef" => {
                job.moved((entry.line, &at), "`spec.template.spec.nodeClassRef`, of an AKSNodeClass");
                wanted.class = entry.value.get("name").and_then(Node::scalar).unwrap_or(wanted.class);
                let reference = reference(&wanted.class);
                spec.put_at(TEMPLATE, entry.renamed("nodeClassRef").with(reference));
            }
            "provider" => wanted.inline = Some(entry),
            "kubeletConfiguration" => {
                wanted.kubelet = Some(kubelet::read(entry, &["spec", "kubeletConfiguration"], job));
            }
            "limits" => limits(spec, entry, job),
            "ttlSecondsUntilExpired" | "ttlSecondsAfterEmpty" | "consolidation" => times.take(entry),
            // Unknown fields stay, so that validation reports them.
            _ => spec.put(entry),
        }
    }
    if spec.at("template.spec.nodeClassRef").is_none() {
        spec.put_at(TEMPLATE, Entry::new("nodeClassRef", reference(&wanted.class)));
    }
    times.write(spec, job);
    if let Some(template) = spec.at_mut("template") {
        template.first("metadata");
    }
    template_labels(spec, job, &["spec", "labels"]);
    requirements(spec, job, &["spec", "requirements"]);
    defaults(spec, job);
    wanted
}

/// Rewrites a NodePool. If it names no class, it gets the only one in the input.
pub(super) fn node_pool(root: &mut Node, only_class: Option<&str>, job: &mut Job<'_>) -> Option<Wanted> {
    super::head(root, "karpenter.sh/v1", "NodePool");
    root.edit_at("metadata.annotations", |map| pods::annotations(map, &["metadata", "annotations"], job));
    let mut kubelet = None;
    for key in ["kubelet", "kubeletConfiguration"] {
        if root.at(&format!("spec.template.spec.{key}")).is_some()
            && let Some(entry) = root.at_mut("spec.template.spec").and_then(|spec| spec.take(key))
        {
            kubelet = Some(kubelet::read(entry, &["spec", "template", "spec", "kubelet"], job));
        }
    }
    root.edit_at("spec.template.spec.nodeClassRef", |node| class_reference(node, &TEMPLATE_PATH, job));
    if let Some(class) = only_class {
        root.edit_at("spec.template.spec", |template| name_class(template, class, job));
    }
    let class = root.at("spec.template.spec.nodeClassRef.name").and_then(Node::scalar).unwrap_or_default();
    root.edit_at("spec", |spec| {
        let mut is_changed = disruption::beta(spec, job);
        is_changed |= template_labels(spec, job, &["spec", "template", "metadata", "labels"]);
        is_changed | requirements(spec, job, &["spec", "template", "spec", "requirements"])
    });
    Some(Wanted { class, kubelet, inline: None })
}

/// Returns a reference to an AKSNodeClass.
pub(super) fn reference(name: &str) -> Node {
    let text = |key, value| Entry::new(key, Node::text(value));
    Node::map(vec![text("group", "karpenter.azure.com"), text("kind", "AKSNodeClass"), text("name", name)])
}

/// Sets the only class of the input in a template that names none. Returns whether anything changed.
fn name_class(template: &mut Node, class: &str, job: &mut Job<'_>) -> bool {
    let at = |key: &'static [&'static str]| [&TEMPLATE_PATH, &["nodeClassRef"][..], key].concat();
    let message = format!("is missing: it is `{class}`, the one class of the input");
    match template.get("nodeClassRef") {
        Some(present) if present.get("name").is_some() => return false,
        Some(present) => {
            job.say(Sort::Moved, (present.line, &at(&["name"])), message, None);
            template.put_at("nodeClassRef", Entry::new("name", Node::text(class)));
        }
        None => {
            job.say(Sort::Moved, (template.line, &at(&[])), message, None);
            template.put(Entry::new("nodeClassRef", reference(class)));
        }
    }
    true
}

/// Rewrites a reference to name an AKSNodeClass, by group instead of version. Returns whether anything changed.
pub(super) fn class_reference(node: &mut Node, path: &[&str], job: &mut Job<'_>) -> bool {
    let own = |node: &Node| {
        let is = |key, wanted| node.get(key).and_then(Node::as_text) == Some(wanted);
        is("group", "karpenter.azure.com") && is("kind", "AKSNodeClass") && node.get("apiVersion").is_none()
    };
    if own(node) {
        return false;
    }
    let at = |key| [path, &["nodeClassRef", key]].concat();
    if let Some(entry) = node.take("apiVersion") {
        job.moved((entry.line, &at("apiVersion")), "`group`, without the version");
        let mut entry = entry.renamed("group").with(Node::text("karpenter.azure.com"));
        if let Some(old) = node.take("group") {
            entry = old.with(Node::text("karpenter.azure.com"));
        }
        let parts = node.parts_mut();
        parts.into_iter().for_each(|parts| parts.insert(0, entry.clone()));
    }
    for (key, wanted) in [("group", "karpenter.azure.com"), ("kind", "AKSNodeClass")] {
        let Some(present) = node.get(key) else {
            job.say(Sort::Moved, (node.line, &at(key)), format!("is missing: it is `{wanted}`"), None);
            node.put(Entry::new(key, Node::text(wanted)));
            continue;
        };
        if present.as_text() == Some(wanted) {
            continue;
        }
        let line = present.line;
        job.moved((line, &at(key)), &format!("`{wanted}`"));
        if let Some(entry) = node.entry_mut(key) {
            *entry = entry.clone().with(Node::text(wanted));
        }
    }
    true
}

/// Moves `limits.resources` up to `limits`.
fn limits(spec: &mut Node, mut entry: Entry, job: &mut Job<'_>) {
    if let Some(mut inner) = entry.value.take("resources") {
        job.moved((inner.line, &["spec", "limits", "resources"]), "`spec.limits`");
        entry.lead_to(&mut inner);
        if !inner.value.is_empty() {
            spec.put(inner.renamed("limits"));
        }
        return;
    }
    spec.put(entry);
}

fn template_labels(spec: &mut Node, job: &mut Job<'_>, path: &[&str]) -> bool {
    spec.edit_at("template.metadata.labels", |map| labels::selector(map, path, true, job))
}

/// Rewrites requirements and removes those that have no meaning on AKS.
pub(super) fn requirements(spec: &mut Node, job: &mut Job<'_>, path: &[&str]) -> bool {
    let place =
        if spec.at("template.spec").is_some() { "template.spec.requirements" } else { "requirements" };
    spec.edit_at(place, |list| {
        let mut lost = Vec::new();
        let is_changed = list.edit_parts(|place, _, item| {
            let index = format!("[{place}]");
            let outcome = expression(item, &[path, &[&index]].concat(), true, job);
            if outcome == Outcome::Lost {
                lost.push(place);
            }
            outcome == Outcome::Changed
        });
        let is_lost = !lost.is_empty();
        if let Some(parts) = is_lost.then(|| list.parts_mut()).flatten() {
            let mut place = 0;
            parts.retain(|_| {
                place += 1;
                !lost.contains(&(place - 1))
            });
        }
        is_changed || is_lost
    })
}

/// Writes out the defaults of a Provisioner that a NodePool does not have.
fn defaults(spec: &mut Node, job: &mut Job<'_>) {
    const IMPLIED: [(&str, &str); 3] = [
        ("karpenter.sh/capacity-type", "on-demand"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
    ];
    let key = |entry: &Entry| entry.value.get("key").and_then(Node::as_text).map(str::to_owned);
    let present: Vec<String> = spec
        .at("template.spec.requirements")
        .map(|list| list.items().iter().filter_map(key).collect())
        .unwrap_or_default();
    if spec.at("template.spec.requirements").is_none() {
        spec.put_at(TEMPLATE, Entry::new("requirements", Node::new(super::syntax::Shape::List(Vec::new()))));
    }
    for (key, value) in IMPLIED {
        if present.iter().any(|known| known == key) || is_label(spec, key) {
            continue;
        }
        let at: (usize, &[&str]) = (spec.line, &["spec", "requirements"]);
        let message =
            format!("a Provisioner without `{key}` meant `{value}`, a NodePool means any: it is written out");
        job.say(Sort::Noted, at, message, None);
        let requirement = Node::map(vec![
            Entry::new("key", Node::text(key)),
            Entry::new("operator", Node::text("In")),
            Entry::new("values", Node::texts([value])),
        ]);
        let list = spec.at_mut("template.spec.requirements").and_then(Node::parts_mut);
        list.into_iter().for_each(|list| list.push(Entry::new("", requirement.clone())));
    }
}

fn is_label(spec: &Node, key: &str) -> bool {
    spec.at("template.metadata.labels").is_some_and(|labels| labels.get(key).is_some())
}
