//! Updates in place, only of nodes that nodeform created and that stay. Tags change from their current value to the one
//! of the class or Karpenter, except the tags by which nodeform identifies its VMs. Labels change from their current
//! value to the one of the pool's template from which the node was created.
//!
//! Tags are not checked without Azure's facts, as for a plan read from its file.

use std::sync::Arc;

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{Node, Pool};
use crate::plan::{Change, OldNew, Update};
use crate::snapshot::azure::OWN_TAG;

/// Returns the updates in place that change nothing, or something that they must not.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for planned in case.plan.spec.changes.values() {
        let Change::Update(update) = &planned.change else { continue };
        let name = &update.target.node;
        let Some(node) = case.nodes.get(name) else { continue };
        let mut faults = form(case, node, update);
        faults.extend(of_labels(case, node, update));
        faults.extend(of_tags(case, node, update));
        found
            .extend(faults.into_iter().map(|why| Finding::new(Rule::Content, format!("node `{name}`"), why)));
    }
    found
}

fn form(case: &Case<'_>, node: &Node, update: &Update) -> Vec<String> {
    let Update { target: _, labels, annotations, tags } = update;
    let mut faults = Vec::new();
    if !annotations.is_empty() {
        faults.push("has annotations changed in place, which nobody does".to_owned());
    }
    if tags.is_empty() && labels.is_empty() {
        faults.push("is changed in place, and nothing of it changes".to_owned());
    }
    if !case.stays(node) {
        faults.push("is changed in place, but goes".to_owned());
    }
    for (name, OldNew { old, new }) in tags {
        if name.to_ascii_lowercase().starts_with("nodeform.dev") {
            faults.push(format!("has tag `{name}` changed, by which nodeform knows its VMs"));
        }
        if new.is_none() || old == new {
            faults.push(format!("has tag `{name}` changed to nothing, or to what it is"));
        }
    }
    faults
}

fn of_labels(case: &Case<'_>, node: &Node, update: &Update) -> Vec<String> {
    let pool = node.pool.as_ref().and_then(|pool| case.policy.pools.get(pool));
    let mut faults = Vec::new();
    for (key, OldNew { old, new }) in &update.labels {
        if node.labels.get(key) != old.as_ref() {
            faults.push(format!("is said to have another value of label `{key}` than it has"));
        }
        if new.is_none() || old == new {
            faults.push(format!("has label `{key}` changed to nothing, or to what it is"));
        }
        if pool.and_then(|pool| pool.labels.get(key)) != new.as_ref() {
            faults.push(format!("gets a value of label `{key}` that nothing asks for"));
        }
    }
    let stamp = node.claimed.pool_stamp.as_ref().map(|stamp| (&*stamp.version, &*stamp.hash));
    let is_of = |pool: &Pool| stamp == Some((Pool::TEMPLATE_HASH_VERSION, &*pool.template_hash()));
    if !update.labels.is_empty() && !pool.is_some_and(is_of) {
        faults.push("has labels changed in place, but was made from another template".to_owned());
    }
    faults
}

fn of_tags(case: &Case<'_>, node: &Node, update: &Update) -> Vec<String> {
    let Some(facts) = &case.snapshot.azure else { return Vec::new() };
    let id = node.provider_id.as_ref().map(|id| id.to_ascii_lowercase());
    let is_its = |id_of_vm: &str| id == Some(format!("azure://{}", id_of_vm.to_ascii_lowercase()));
    let Some(vm) = facts.vms.iter().flatten().find(|vm| is_its(&vm.id)) else {
        return vec!["is changed in place, and its VM was not seen".to_owned()];
    };
    let mut faults = Vec::new();
    if !vm.tags.contains_key(OWN_TAG) {
        faults.push("is changed in place, and nodeform did not make it".to_owned());
    }
    for (name, OldNew { old, new }) in &update.tags {
        let has = vm.tags.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        if has != old.as_ref() {
            faults.push(format!("is said to have another value of tag `{name}` than it has"));
        }
        if asked(case, node, name, &facts.cluster.name).as_ref() != new.as_ref() {
            faults.push(format!("gets a value of tag `{name}` that nothing asks for"));
        }
    }
    faults
}

/// Returns the requested value of a tag: Karpenter's own names take precedence over those of the class.
fn asked(case: &Case<'_>, node: &Node, name: &str, cluster: &Arc<str>) -> Option<Arc<str>> {
    match name.to_ascii_lowercase().as_str() {
        "karpenter.azure.com_cluster" => Some(cluster.clone()),
        "karpenter.sh_nodepool" => node.pool.as_ref().map(|pool| Arc::from(pool.as_str())),
        "compute.aks.billing" => Some(Arc::from("linux")),
        lower => {
            let class = case.policy.classes.get(node.class.as_ref()?)?;
            let is_it = |key: &str| key.replace('/', "_").eq_ignore_ascii_case(lower);
            // The last of several spellings wins.
            class.tags.iter().filter(|(key, _)| is_it(key)).map(|(_, value)| value.clone()).next_back()
        }
    }
}
