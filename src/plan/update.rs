//! Updates in place: VM tags that differ from those of a new node of its pool, and labels of the pool's template that
//! the Node lost.
//!
//! Tags are the only part of a class that is no drift, so nothing else would ever update them on a running node. Only
//! tags that the class and Karpenter name are compared: tags of others stay, and so do tags that the class no longer
//! names, because their owner is unknown. Labels are restored only on nodes of the current template; a node of an older
//! one has drifted. Must never touch the tags by which nodeform identifies its VMs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{Change, OldNew, Update};
use super::evidence::HeldChange;
use super::identity;
use super::propose::{Ground, Proposal, existing, same_node};
use super::reason::Reason;
use crate::model::{
    ChangeClass, Hold, LabelKey, Node, NodeClass as Class, NodeName, NodeStage, Pool, PoolName,
};
use crate::snapshot::AzureFacts;
use crate::snapshot::azure::{Owner, VmFacts};

/// Prefix of nodeform's own tags.
const OWN: &str = "nodeform.dev_";

/// Adds the updates of nodes that stay.
pub(super) fn propose_updates(ground: Ground<'_>, leaving: &BTreeSet<&NodeName>, proposal: &mut Proposal) {
    let Ground { snapshot, policy, .. } = ground;
    let forgotten = &snapshot.supposed.wishes.forget;
    let stays =
        |node: &&Node| !node.is_deleting && !leaving.contains(&node.name) && !forgotten.contains(&node.name);
    for node in snapshot.nodes.iter().filter(stays) {
        let pool = node.pool.as_ref().and_then(|pool| policy.pools.get(pool));
        let class = node.class.as_ref().and_then(|class| policy.classes.get(class));
        let (Some(pool), Some(class), Some(_)) = (pool, class, &node.claim) else { continue };
        let (tags, labels) = match &snapshot.azure {
            Some(facts) => match vm_of(facts, node, snapshot.cluster.as_deref()) {
                Some(vm) => (differing(vm, &wanted(facts, &pool.name, class)), lost(node, pool)),
                None => continue,
            },
            None => (BTreeMap::new(), lost(node, pool)),
        };
        if tags.is_empty() && labels.is_empty() {
            continue;
        }
        let target = existing(node);
        let hold = policy.fleet.holds.on_change(&pool.name, ChangeClass::Update, snapshot.at);
        if let Some(Hold { because, until }) = hold {
            let (node, pool) = (target.node, target.pool);
            let class = ChangeClass::Update;
            proposal.held.push(HeldChange { node, pool, class, reason: None, because, until });
            continue;
        }
        let id = identity::target_id("update", &target);
        let by_class = (!tags.is_empty()).then(|| format!("AKSNodeClass `{}`", class.name));
        let by_pool = (!labels.is_empty()).then(|| format!("NodePool `{}`", pool.name));
        let by: Vec<String> = by_class.into_iter().chain(by_pool).collect();
        let reason = Reason::Asked { by: by.join(" and ").into() };
        let update = Update { target, labels, annotations: BTreeMap::new(), tags };
        proposal.add(id, Change::Update(update), reason, vec![same_node(node)]);
    }
}

/// Returns the pool's labels that a node of the current template lacks or has with another value.
fn lost(node: &Node, pool: &Pool) -> BTreeMap<LabelKey, OldNew> {
    if node.stage != NodeStage::Initialized || !node.is_of_template(pool) {
        return BTreeMap::new();
    }
    let lost = pool.labels.iter().filter(|(key, value)| node.labels.get(*key) != Some(*value));
    lost.map(|(key, value)| {
        let old = node.labels.get(key).cloned();
        (key.clone(), OldNew { old, new: Some(value.clone()) })
    })
    .collect()
}

/// Returns the VM of a node that nodeform created, if no operation on it is in progress.
fn vm_of<'f>(facts: &'f AzureFacts, node: &Node, cluster: Option<&str>) -> Option<&'f VmFacts> {
    let vm = facts.vm_of(node).filter(|_| facts.owner_of(node, cluster) == Owner::Own)?;
    (vm.provisioning_state.as_deref() == Some("Succeeded")).then_some(vm)
}

/// Returns the tags of a new node: the class's, overridden by Karpenter's, which identify nodes and billing.
fn wanted(facts: &AzureFacts, pool: &PoolName, class: &Class) -> BTreeMap<String, (Arc<str>, Arc<str>)> {
    let own = [
        ("karpenter.azure.com_cluster", facts.cluster.name.clone()),
        ("karpenter.sh_nodepool", Arc::from(pool.as_str())),
        ("compute.aks.billing", Arc::from("linux")),
    ];
    let own = own.map(|(name, value)| (name.to_owned(), value));
    let of_class = class.tags.iter().map(|(name, value)| (name.replace('/', "_"), value.clone()));
    let tags = of_class.chain(own).map(|(name, value)| (name.to_ascii_lowercase(), (name.into(), value)));
    tags.filter(|(name, _)| !name.starts_with(OWN)).collect()
}

/// Returns the tags that differ on a VM; tag names are case-insensitive, and an existing one keeps its casing.
fn differing(vm: &VmFacts, wanted: &BTreeMap<String, (Arc<str>, Arc<str>)>) -> BTreeMap<Arc<str>, OldNew> {
    let has: BTreeMap<String, (&Arc<str>, &Arc<str>)> =
        vm.tags.iter().map(|(name, value)| (name.to_ascii_lowercase(), (name, value))).collect();
    let differs = wanted.iter().filter_map(|(key, (name, value))| match has.get(key) {
        Some((_, old)) if *old == value => None,
        Some((name, old)) => {
            Some(((*name).clone(), OldNew { old: Some((*old).clone()), new: Some(value.clone()) }))
        }
        None => Some((name.clone(), OldNew { old: None, new: Some(value.clone()) })),
    });
    differs.collect()
}
