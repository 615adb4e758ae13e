//! What-if questions: the same snapshot without some of its nodes, or without offerings in some zones.
//!
//! Pods of an omitted node become pending; pods of DaemonSets, static pods and most pods that are being deleted are
//! omitted too. Omitted nodes are kept separately, so that today's cost can be shown. Never decides anything about the
//! nodes that should exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::NO_ZONE;
use crate::model::{
    AbsentNode, Node, NodeName, NodeSelector, Pod, PodPlace, Region, Resources, Supposed, WhatIf, Zone, label,
};

use super::{Assumption, Snapshot};

/// A what-if question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Omit these nodes. Without a term: all nodes except those of system agent pools, which AKS needs and Karpenter
    /// cannot create.
    pub from_scratch: Option<NodeSelector>,
    /// Omit these zones as if they had failed, given as `1` or `eastus-1`.
    pub without_zones: Vec<String>,
}

/// Returns the snapshot with the question applied; unchanged if there is none.
///
/// # Errors
/// Zones or nodes of the question that the input does not have, each with the existing ones.
pub fn suppose(snapshot: Snapshot, question: &Question) -> Result<Snapshot, Vec<(String, String)>> {
    let Question { from_scratch, without_zones } = question;
    let mut faults = Vec::new();
    let known = known_zones(&snapshot);
    let mut zones = BTreeSet::new();
    for text in without_zones {
        match zone(text, &snapshot.catalog.region, &known) {
            Ok(zone) => drop(zones.insert(zone)),
            Err(fault) => faults.push(fault),
        }
    }
    if let Some(selector) = from_scratch {
        let is_gone = |node: &&Node| is_from_scratch(selector, node);
        if !snapshot.nodes.iter().any(|node| is_gone(&node)) {
            faults.push(no_node(&snapshot, selector));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let what_if =
        WhatIf { from_scratch: from_scratch.as_ref().map(|s| s.as_text().clone()), without_zones: zones };
    if what_if.is_nothing() {
        return Ok(snapshot);
    }
    let is_gone = |node: &Node| {
        from_scratch.as_ref().is_some_and(|selector| is_from_scratch(selector, node))
            || node.labels.get(label::ZONE).is_some_and(|zone| what_if.without_zones.contains(&**zone))
    };
    let mut supposed = without(snapshot, is_gone);
    supposed.catalog = supposed.catalog.without_zones(&what_if.without_zones);
    supposed.assumptions.extend(from_scratch.as_ref().and_then(|selector| kept_system(&supposed, selector)));
    supposed.assumptions.extend(gone_system(&supposed));
    supposed.assumptions.sort();
    supposed.supposed.what_if = what_if;
    Ok(supposed)
}

/// Returns whether a node belongs to a system agent pool. NodePools may be labelled `mode: system` too, but Karpenter
/// can create their nodes again.
#[must_use]
pub fn is_system(node: &Node) -> bool {
    node.pool.is_none() && node.labels.get(label::AKS_MODE).is_some_and(|mode| &**mode == "system")
}

/// Returns whether the selector omits a node. A selector with terms applies literally, even to system agent pools.
fn is_from_scratch(selector: &NodeSelector, node: &Node) -> bool {
    if selector.is_everything() { !is_system(node) } else { selector.selects(&node.labels) }
}

fn without(mut snapshot: Snapshot, is_gone: impl Fn(&Node) -> bool) -> Snapshot {
    let (gone, stay): (Vec<Node>, Vec<Node>) = snapshot.nodes.into_iter().partition(|node| is_gone(node));
    snapshot.nodes = stay;
    let mut absent: BTreeMap<NodeName, AbsentNode> = gone
        .into_iter()
        .map(|node| (node.name.clone(), AbsentNode { node, requested: Resources::none() }))
        .collect();
    let mut pods = Vec::with_capacity(snapshot.pods.len());
    for mut pod in snapshot.pods {
        if let PodPlace::Bound(node) = &pod.place
            && let Some(gone) = absent.get_mut(node)
        {
            gone.requested.add(&pod.spec.requests);
            if !comes_back(&pod) {
                continue;
            }
            pod.place = PodPlace::Waiting;
            pod.is_terminating = false;
        }
        pods.push(pod);
    }
    snapshot.pods = pods;
    snapshot.supposed = Supposed { absent: absent.into_values().collect(), ..Supposed::default() };
    snapshot
}

/// Returns whether a pod of an omitted node becomes pending. A pod that is being deleted is only recreated by a
/// StatefulSet, under the same name.
fn comes_back(pod: &Pod) -> bool {
    let is_of_set = pod.workload.as_ref().is_some_and(|owner| &*owner.kind == "StatefulSet");
    !pod.is_daemon && (!pod.is_terminating || is_of_set)
}

fn known_zones(snapshot: &Snapshot) -> BTreeSet<Zone> {
    let of_nodes = snapshot.nodes.iter().filter_map(|node| node.labels.get(label::ZONE));
    let of_nodes = of_nodes.map(|zone| Zone::new(&**zone));
    of_nodes.chain(snapshot.catalog.zone_names()).filter(|zone| zone.as_str() != NO_ZONE).collect()
}

fn zone(text: &str, region: &Region, known: &BTreeSet<Zone>) -> Result<Zone, (String, String)> {
    let full = if text.contains('-') { Zone::new(text) } else { Zone::new(format!("{region}-{text}")) };
    if known.contains(&full) {
        return Ok(full);
    }
    let names: Vec<String> = known.iter().map(|zone| format!("`{zone}`")).collect();
    let hint = match names.is_empty() {
        true => format!("neither region `{region}` nor a node of the input has zones"),
        false => format!("there is: {}", names.join(", ")),
    };
    Err((format!("zone `{text}` is not known"), hint))
}

fn no_node(snapshot: &Snapshot, selector: &NodeSelector) -> (String, String) {
    match (snapshot.nodes.len(), selector.is_everything()) {
        (0, _) => (
            "`--from-scratch` has nothing to leave out: the input holds no node".to_owned(),
            "add the output of `kubectl get nodes,pods -A -o yaml`".to_owned(),
        ),
        (_, true) => (
            "`--from-scratch` has nothing to leave out: all nodes are of system agent pools, which stay"
                .to_owned(),
            format!("`--from-scratch={}=system` leaves those out too", label::AKS_MODE),
        ),
        (count, false) => (
            format!("`--from-scratch={selector}` selects none of the {count} nodes of the input"),
            format!(
                "`kubectl get nodes --show-labels` lists labels; `kubectl get nodes -l '{selector}'` what is selected"
            ),
        ),
    }
}

/// Reports that a selector or failed zone omits all system nodes, which AKS needs.
fn gone_system(snapshot: &Snapshot) -> Option<Assumption> {
    let gone = snapshot.supposed.absent.iter().filter(|absent| is_system(&absent.node)).count();
    let stay = snapshot.nodes.iter().any(is_system);
    (gone > 0 && !stay).then(|| Assumption {
        what: "the system pool is lost too".to_owned(),
        why: "its pods are planned onto NodePools".to_owned(),
    })
}

fn kept_system(snapshot: &Snapshot, selector: &NodeSelector) -> Option<Assumption> {
    let names: Vec<&str> =
        snapshot.nodes.iter().filter(|node| is_system(node)).map(|node| node.name.as_str()).collect();
    let first = names.first().filter(|_| selector.is_everything())?;
    let what = match names.len() {
        1 => format!("node `{first}` of a system agent pool is kept"),
        more => format!("{more} nodes of system agent pools stay, such as `{first}`"),
    };
    let why = format!(
        "AKS needs a system pool, and Karpenter cannot make one: `--from-scratch={}=system` leaves it out",
        label::AKS_MODE
    );
    Some(Assumption { what, why })
}
