//! Assembles a snapshot from the objects of manifests and a catalogue.
//!
//! Data missing from the input becomes a gap or an assumption here; it is never treated as empty.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::catalog::Catalog;
use crate::manifests::{self, NotUnderstood, Objects, Renders, Why};
use crate::model::{NetworkSetup, Node, NodeName, NodeStage, PodPlace, Resources};

use super::{
    Assumption, Daemon, Gap, GapKind, Snapshot, bound_first, storage_classes, system_daemons, system_node,
};

/// Settings that are not in the input itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssembleOptions {
    /// When the input was read; `None` if unknown.
    pub at: Option<Timestamp>,
    /// The network set-up, which determines AKS' own DaemonSets.
    pub network: NetworkSetup,
    /// Whether to assume AKS' DaemonSets that are missing from the input.
    pub assumes_system_daemons: bool,
}

/// Assembles the snapshot of an input.
#[must_use]
pub fn assemble(objects: &Objects, catalog: Catalog, options: AssembleOptions) -> Snapshot {
    let mut daemons: Vec<Daemon> = objects
        .daemons
        .iter()
        .map(|daemon| Daemon {
            namespace: daemon.namespace.clone(),
            name: Arc::clone(&daemon.name),
            spec: Arc::clone(&daemon.spec),
            is_assumed: false,
        })
        .collect();
    let mut assumptions = priorities(objects);
    assumptions.extend(
        objects.said.assumed.iter().map(|note| Assumption { what: note.what.clone(), why: note.why.clone() }),
    );
    if options.assumes_system_daemons {
        let system =
            objects.daemons.iter().filter(|daemon| daemon.namespace.as_str() == system_daemons::NAMESPACE);
        let names = system.map(|daemon| &*daemon.name).collect();
        let shown = system_daemons::Shown { names, has_nodes: !objects.nodes.is_empty() };
        let (assumed, assumption) = system_daemons::assumed(options.network, &shown);
        daemons.extend(assumed);
        assumptions.extend(assumption);
    }
    assumptions.extend(system_node::assumption(objects));
    let (classes, assumption) = storage_classes::assumed(&objects.storage, &objects.pods);
    assumptions.extend(assumption);
    let mut storage = objects.storage.clone();
    storage.classes.extend(classes);
    storage.classes.sort();
    assumptions.extend(bound_first::take(&mut storage, &objects.pods));
    assumptions.extend(bound_first::assumed(&storage, &objects.pods));
    daemons.sort();
    assumptions.sort();
    let mut gaps: Vec<Gap> =
        objects.not_understood.iter().map(|(kind, what)| not_understood(kind, what)).collect();
    gaps.extend(unrendered(objects));
    gaps.extend(operated(objects));
    gaps.extend(unlisted(objects));
    gaps.extend(objects.said.unresolved.iter().map(|note| Gap {
        kind: GapKind::Unread,
        what: note.what.clone(),
        consequence: note.why.clone(),
    }));
    gaps.extend(missing_nodes(objects));
    gaps.extend(sizeless_nodes(&objects.nodes));
    gaps.sort();
    Snapshot {
        at: options.at,
        cluster: objects.cluster.clone(),
        nodes: objects.nodes.clone(),
        pods: objects.pods.clone(),
        namespaces: objects.namespaces.clone(),
        storage,
        budgets: objects.budgets.clone(),
        groups: objects.groups.clone(),
        refusals: objects.refusals.clone(),
        daemons,
        catalog,
        gaps,
        assumptions,
        assumes_system_node: system_node::is_assumed(objects),
        supposed: crate::model::Supposed::default(),
        preemptions: Vec::new(),
        quota: None,
        azure: None,
    }
}

fn priorities(objects: &Objects) -> Vec<Assumption> {
    let names: Vec<&str> = objects.unknown_priority_classes.iter().map(|name| &**name).collect();
    if names.is_empty() {
        return Vec::new();
    }
    vec![Assumption {
        what: format!(
            "priority 0 for pods of {}",
            counted(names.len(), "PriorityClass", "PriorityClasses", &names)
        ),
        why: "the input does not hold it: add the output of `kubectl get priorityclasses -o yaml`".to_owned(),
    }]
}

fn not_understood(kind: &str, what: &NotUnderstood) -> Gap {
    let count: usize = what.names.values().sum();
    let names: Vec<&str> = what.names.keys().map(String::as_str).collect();
    let one = format!("{kind} that is not understood");
    let many = format!("objects of kind {kind} that are not understood");
    Gap {
        kind: GapKind::Unread,
        what: counted(count, &one, &many, &names),
        consequence: consequence(what.why).to_owned(),
    }
}

/// Returns the consequence for a plan of objects that are not understood.
pub(super) const fn consequence(why: Why) -> &'static str {
    match why {
        Why::PodTemplate => "the pods that it makes are not in this plan, beyond those that run already",
    }
}

/// Returns the objects that controllers render in the cluster, by kind.
fn unrendered(objects: &Objects) -> Vec<Gap> {
    const SHOWN_MAX: usize = 5;
    let mut by_kind: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Renders { kind, name, points_at } in &objects.renders {
        let what = if points_at.is_empty() { String::new() } else { format!(" ({points_at})") };
        by_kind.entry(kind).or_default().push(format!("`{name}`{what}"));
    }
    let gap = |(kind, mut named): (&str, Vec<String>)| {
        let count = named.len();
        named.truncate(SHOWN_MAX);
        if count > named.len() {
            named.push(format!("{} more", count - named.len()));
        }
        let (lead, it) =
            if count == 1 { (kind.to_owned(), "it") } else { (format!("{count} {kind}s:"), "them") };
        Gap {
            kind: GapKind::Unrendered,
            what: format!("{lead} {}", named.join(", ")),
            consequence: format!("render {it}, and plan the result"),
        }
    };
    by_kind.into_iter().map(gap).collect()
}

/// Returns the kinds of which every cluster has objects but the dump has none.
fn unlisted(objects: &Objects) -> Option<Gap> {
    let kinds: Vec<&str> = objects.missing.iter().map(|kind| kind.plural()).collect();
    let (last, others) = kinds.split_last()?;
    let named =
        if others.is_empty() { (*last).to_owned() } else { format!("{} or {last}", others.join(", ")) };
    let asked: Vec<&str> = objects.missing.iter().map(|kind| kind.short()).collect();
    Some(Gap {
        kind: GapKind::Unlisted,
        what: format!("no {named} in the input"),
        consequence: format!(
            "every cluster has some: add the output of `kubectl get {} -A -o yaml`",
            asked.join(",")
        ),
    })
}

/// Returns the objects from which operators create pods, by kind.
fn operated(objects: &Objects) -> Option<Gap> {
    let kinds = manifests::operated::by_kind(&objects.operated);
    let them = if objects.operated.len() == 1 { "it" } else { "them" };
    (!kinds.is_empty()).then(|| Gap {
        kind: GapKind::Unrendered,
        what: kinds.join(", "),
        consequence: format!(
            "an operator makes pods of {them}: add its StatefulSets or pods from the cluster"
        ),
    })
}

/// Formats a count with the first few names.
fn counted(count: usize, one: &str, many: &str, names: &[&str]) -> String {
    const SHOWN_MAX: usize = 5;
    let mut shown: Vec<String> = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN_MAX {
        shown.push(format!("{} more", names.len() - SHOWN_MAX));
    }
    format!("{count} {}: {}", if count == 1 { one } else { many }, shown.join(", "))
}

/// Returns the pods that run on nodes missing from the input.
fn missing_nodes(objects: &Objects) -> Option<Gap> {
    let mut missing: BTreeMap<&NodeName, usize> = BTreeMap::new();
    for pod in &objects.pods {
        if let PodPlace::Bound(node) = &pod.place
            && objects.nodes.binary_search_by(|known| known.name.cmp(node)).is_err()
        {
            *missing.entry(node).or_default() += 1;
        }
    }
    let pods: usize = missing.values().sum();
    let names: Vec<&str> = missing.keys().map(|name| name.as_str()).collect();
    (pods > 0).then(|| Gap {
        kind: GapKind::Unread,
        what: format!(
            "{pods} {} on {}",
            if pods == 1 { "pod runs" } else { "pods run" },
            counted(names.len(), "node that is not in the input", "nodes that are not in the input", &names)
        ),
        consequence: "they stay where they are, and their nodes are not planned with: add the output of \
                      `kubectl get nodes,nodeclaims -o yaml`"
            .to_owned(),
    })
}

/// Returns the nodes that report no resources.
fn sizeless_nodes(nodes: &[Node]) -> Option<Gap> {
    let is_sizeless = |node: &&Node| node.allocatable == Resources::none() && !node.claimed.is_lost;
    let sizeless = nodes.iter().filter(is_sizeless);
    let (names, stages): (Vec<&str>, Vec<NodeStage>) =
        sizeless.map(|node| (node.name.as_str(), node.stage)).unzip();
    let what = if stages.iter().all(|stage| *stage == NodeStage::Launching) { "NodeClaim" } else { "node" };
    (!names.is_empty()).then(|| Gap {
        kind: GapKind::Unread,
        what: counted(
            names.len(),
            &format!("{what} that does not say what it has"),
            &format!("{what}s that do not say what they have"),
            &names,
        ),
        consequence: match names.len() {
            1 => "no pod is planned onto it: the input needs its `status`",
            _ => "no pod is planned onto them: the input needs their `status`",
        }
        .to_owned(),
    })
}

#[cfg(test)]
mod tests;
