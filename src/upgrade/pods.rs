//! Rewrites labels of other clouds in the selectors of pods and pod templates, at any depth. Must leave anything
//! without a counterpart in place: the object is valid Kubernetes as it is.

use super::labels::{self, Outcome, annotation, expression};
use super::remark::{Job, Sort};
use super::syntax::{Node, Shape};
use crate::model::label;

/// Rewrites everything below the node at `path`. Returns whether anything changed.
pub(super) fn look(node: &mut Node, path: &mut Vec<String>, job: &mut Job<'_>) -> bool {
    if node.get("containers").is_some_and(|containers| !containers.items().is_empty()) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        return pod(node, &path, job);
    }
    let is_list = matches!(node.shape, Shape::List(_));
    let is_pod = node.at("spec.containers").is_some();
    let below = node.edit_parts(|place, key, part| {
        if key == "status" && path.is_empty() {
            return false;
        }
        path.push(if is_list { format!("[{place}]") } else { key.to_owned() });
        let is_changed = look(part, path, job);
        path.pop();
        is_changed
    });
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let above = is_pod
        && node.edit_at("metadata.annotations", |map| {
            annotations(map, &[&path, ["metadata", "annotations"].as_slice()].concat(), job)
        });
    below || above
}

/// Rewrites the requirements of a NodeOverlay. One without a counterpart stays: without it, the overlay would apply to
/// more sizes than intended.
pub(super) fn overlay(root: &mut Node, job: &mut Job<'_>) -> bool {
    let path = ["spec", "requirements"];
    root.edit_at("spec.requirements", |list| {
        list.edit_parts(|place, _, item| {
            let index = index(place);
            expression(item, &[path.as_slice(), &[index.as_str()]].concat(), false, job) == Outcome::Changed
        })
    })
}

/// Renames annotations of older Karpenter versions.
pub(super) fn annotations(map: &mut Node, path: &[&str], job: &mut Job<'_>) -> bool {
    let is_old = |entry: &&super::syntax::Entry| annotation(&entry.key).is_some();
    let old: Vec<(String, usize)> =
        map.entries().iter().filter(is_old).map(|entry| (entry.key.to_string(), entry.line)).collect();
    for (key, line) in &old {
        let Some(now) = annotation(key) else { continue };
        let at = [path, &[key]].concat();
        job.say(
            Sort::Foreign,
            (*line, &at),
            format!("is now `{now}`; `{key}` no longer has an effect"),
            None,
        );
        if map.get(now).is_some() {
            map.take(key);
        } else if let Some(entry) = map.entry_mut(key) {
            *entry = entry.clone().renamed(now);
        }
    }
    !old.is_empty()
}

fn pod(spec: &mut Node, path: &[&str], job: &mut Job<'_>) -> bool {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let at = |more: &[&'static str]| [path, more].concat();
    let mut is_changed =
        spec.edit_at("nodeSelector", |map| labels::selector(map, &at(&["nodeSelector"]), false, job));
    is_changed |= spec.edit_at(&format!("affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"), |list| {
        terms(list, None, &at(&["affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"]), job)
    });
    is_changed |= spec.edit_at(&format!("affinity.nodeAffinity.{PREFERRED}"), |list| {
        terms(list, Some("preference"), &at(&["affinity", "nodeAffinity", PREFERRED]), job)
    });
    is_changed |= spec.edit_at("topologySpreadConstraints", |list| {
        let at = at(&["topologySpreadConstraints"]);
        list.edit_parts(|place, _, item| {
            topology_key(item, &[&at, [index(place).as_str()].as_slice()].concat(), job)
        })
    });
    is_changed
}

fn index(place: usize) -> String {
    format!("[{place}]")
}

fn terms(list: &mut Node, below: Option<&str>, path: &[&str], job: &mut Job<'_>) -> bool {
    list.edit_parts(|place, _, term| {
        let index = index(place);
        let mut at = [path, &[&index]].concat();
        at.extend(below);
        at.push("matchExpressions");
        let place =
            below.map_or_else(|| "matchExpressions".to_owned(), |key| format!("{key}.matchExpressions"));
        term.edit_at(&place, |items| {
            items.edit_parts(|place, _, item| {
                let index = self::index(place);
                let at = [at.as_slice(), &[&index]].concat();
                expression(item, &at, false, job) == Outcome::Changed
            })
        })
    })
}

fn topology_key(item: &mut Node, path: &[&str], job: &mut Job<'_>) -> bool {
    let Some(node) = item.get("topologyKey") else { return false };
    let (line, key) = (node.line, node.as_text().unwrap_or_default().to_owned());
    let Some(foreign) = labels::foreign(&key) else { return false };
    let at = [path, &["topologyKey"]].concat();
    // Spreading over zones or capacity types carries over, because no values are named; other keys do not.
    let Some(aks) = foreign.aks.filter(|aks| [label::ZONE, label::CAPACITY_TYPE].contains(aks)) else {
        job.say(Sort::Left, (line, &at), format!("`{key}` {}", foreign.said(&[])), Some(foreign.hint()));
        return false;
    };
    job.say(Sort::Foreign, (line, &at), format!("`{key}` is `{aks}` on AKS"), None);
    if let Some(entry) = item.entry_mut("topologyKey") {
        *entry = entry.clone().with(Node::text(aks));
    }
    true
}
