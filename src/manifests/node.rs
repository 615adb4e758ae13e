//! Reads Nodes and NodeClaims, and matches those of the same machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{
    ClaimName, Claimed, ClassName, LabelKey, Lack, Node, NodeName, NodeStage, PoolName, Requirement,
    Requirements, ResourceName, Resources, Taint, Trouble, label,
};

use super::claimed;
use super::cursor::{Amounts, Cursor};
use super::job::is_condition_true;
use super::meta::{self, Meta};
use super::pod::selector::{self, About};
use super::pod::tolerations;

/// A Node in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeObject {
    meta: Meta,
    provider_id: Option<Arc<str>>,
    taints: Vec<Taint>,
    is_unschedulable: bool,
    capacity: Resources,
    allocatable: Resources,
    troubles: Vec<Trouble>,
}

/// A NodeClaim in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimObject {
    meta: Meta,
    class: Option<ClassName>,
    requirements: Requirements,
    taints: Vec<Taint>,
    startup_taints: Vec<Taint>,
    provider_id: Option<Arc<str>>,
    node_name: Option<Arc<str>>,
    capacity: Resources,
    allocatable: Resources,
    /// The requested resources.
    promised: Vec<ResourceName>,
    is_registered: bool,
    is_initialized: bool,
    quiet_since: Option<Timestamp>,
    is_consolidatable: bool,
    claimed: Claimed,
}

fn not_empty<'a>(parent: Option<Cursor<'a>>, key: &str) -> Option<Arc<str>> {
    parent?.text(key).filter(|text| !text.is_empty()).cloned()
}

fn amounts(status: Option<Cursor<'_>>, key: &str) -> Resources {
    status.map_or_else(Resources::none, |status| status.resources(key, Amounts::Capacity))
}

/// Returns whether a node blocks disruption. Unlike a pod, it only does so with `true`.
fn is_do_not_disrupt(meta: &Meta) -> bool {
    meta.do_not_disrupt() == Some("true")
}

impl NodeObject {
    /// Reads a Node.
    #[must_use]
    pub fn read(object: Cursor<'_>) -> Option<Self> {
        let (spec, status) = (object.get("spec"), object.get("status"));
        let capacity = amounts(status, "capacity");
        let mut allocatable = amounts(status, "allocatable");
        if allocatable == Resources::none() {
            allocatable = capacity.clone();
        }
        let taints = spec.map(|spec| tolerations::taints(spec, "taints")).unwrap_or_default();
        Some(Self {
            provider_id: not_empty(spec, "providerID"),
            is_unschedulable: spec.is_some_and(|spec| spec.flag("unschedulable")),
            taints,
            capacity,
            allocatable,
            troubles: status.map(claimed::troubles).unwrap_or_default(),
            meta: Meta::read(object)?,
        })
    }

    /// Returns the node's name.
    #[must_use]
    pub const fn name(&self) -> &Arc<str> {
        &self.meta.name
    }

    fn is_labelled(&self, key: &str) -> bool {
        self.meta.label(key).is_some_and(|value| &**value == "true")
    }

    /// Returns the reasons why a node is not initialized.
    fn lacks(&self, claim: &ClaimObject) -> Vec<Lack> {
        let is_unready = self.troubles.iter().any(|trouble| &*trouble.kind == "Ready");
        let stays = |taint: &&Taint| taint.is_ephemeral() || claim.has_startup_taint(taint);
        let taints = self.taints.iter().filter(stays);
        let absent = claim.promised.iter().filter(|name| self.allocatable.get(name) == 0);
        let registration = (!self.is_labelled(label::REGISTERED)).then_some(Lack::Registration);
        let lacks = registration.into_iter().chain(is_unready.then_some(Lack::Ready));
        let lacks = lacks.chain(taints.map(|taint| Lack::Taint(taint.to_string().into())));
        lacks.chain(absent.map(|name| Lack::Resource(name.as_str().into()))).collect()
    }

    /// Converts the node to the model, with data from its claim.
    ///
    /// A node is not initialized while its claim, or Karpenter's label of registered nodes, says so. Until then, its
    /// startup and ephemeral taints count as removed, and unreported amounts come from its claim. Before it is
    /// registered, it also has its claim's labels and taints.
    fn into_node(self, claim: Option<ClaimObject>) -> Node {
        let is_registered = self.is_labelled(label::REGISTERED);
        let is_initialized = self.is_labelled(label::INITIALIZED)
            || claim.as_ref().map_or(!is_registered, |claim| claim.is_initialized);
        let mut labels = meta::normalized(&self.meta.labels);
        let mut taints = self.taints.clone();
        let (mut capacity, mut allocatable) = (self.capacity.clone(), self.allocatable.clone());
        let lacks =
            claim.as_ref().filter(|_| !is_initialized).map(|claim| self.lacks(claim)).unwrap_or_default();
        if let Some(claim) = claim.as_ref().filter(|_| !is_initialized) {
            fill(&mut capacity, &claim.capacity);
            fill(&mut allocatable, &claim.allocatable);
            if !is_registered {
                labels.extend(claim.labels());
                let missing: Vec<Taint> =
                    claim.taints.iter().filter(|taint| !taints.contains(taint)).cloned().collect();
                taints.extend(missing);
            }
        }
        if !is_initialized {
            let is_startup =
                |taint: &Taint| claim.as_ref().is_some_and(|claim| claim.has_startup_taint(taint));
            taints.retain(|taint| !taint.is_ephemeral() && !is_startup(taint));
        }
        taints.sort();
        taints.dedup();
        let class = claim.as_ref().and_then(|claim| claim.class.clone());
        Node {
            name: NodeName::new(&*self.meta.name),
            pool: labels.get(label::NODE_POOL).map(|pool| PoolName::new(&**pool)),
            class: class.or_else(|| labels.get(label::NODE_CLASS).map(|class| ClassName::new(&**class))),
            provider_id: self.provider_id,
            uid: self.meta.uid.clone(),
            claim_uid: claim.as_ref().and_then(|claim| claim.meta.uid.clone()),
            stage: if is_initialized { NodeStage::Initialized } else { NodeStage::Registered },
            labels,
            taints,
            capacity,
            allocatable,
            is_unschedulable: self.is_unschedulable,
            is_do_not_disrupt: is_do_not_disrupt(&self.meta)
                || claim.as_ref().is_some_and(|claim| is_do_not_disrupt(&claim.meta)),
            kept_because: None,
            is_deleting: self.meta.is_deleting || claim.as_ref().is_some_and(|claim| goes(&claim.meta)),
            created: self.meta.created,
            quiet_since: claim.as_ref().and_then(|claim| claim.quiet_since),
            is_consolidatable: claim.as_ref().is_some_and(|claim| claim.is_consolidatable),
            claimed: claim.as_ref().map(|claim| claim.claimed_with(&self.meta, lacks)).unwrap_or_default(),
            troubles: self.troubles,
            claim: claim.map(|claim| ClaimName::new(&*claim.meta.name)),
        }
    }
}

/// Returns since when the pods on a claim's node are unchanged: the last pod event, else the node's initialization, as
/// in Karpenter.
fn quiet_since(status: Cursor<'_>) -> Option<Timestamp> {
    let initialized = |item: &Cursor<'_>| item.text("type").is_some_and(|text| &**text == "Initialized");
    let since = || status.items("conditions").into_iter().find(initialized)?.time("lastTransitionTime");
    status.time("lastPodEventTime").or_else(since)
}

/// Returns the resources that a claim requests.
fn promised(resources: Cursor<'_>) -> Vec<ResourceName> {
    resources.entries("requests").into_iter().map(|(name, _)| ResourceName::parse(name)).collect()
}

/// Returns whether a claim's node is being removed: deleted, or its removal started by nodeform.
fn goes(claim: &Meta) -> bool {
    claim.is_deleting || claim.annotations.contains_key(label::REMOVAL)
}

/// Replaces zero or missing amounts with the promised ones.
fn fill(amounts: &mut Resources, promised: &Resources) {
    for (name, amount) in promised.iter() {
        if amounts.get(name) == 0 {
            amounts.set(name.clone(), amount);
        }
    }
}

impl ClaimObject {
    /// Reads a NodeClaim.
    #[must_use]
    pub fn read(object: Cursor<'_>) -> Option<Self> {
        let status = object.get("status");
        let Some(spec) = object.get("spec") else {
            object.missing("spec", "a NodeClaim needs `spec.requirements` and `spec.nodeClassRef`");
            return None;
        };
        let class = spec.get("nodeClassRef").and_then(|class| class.text("name"));
        let meta = Meta::read(object)?;
        Some(Self {
            class: class.map(|name| ClassName::new(&**name)),
            requirements: selector::expressions(spec, "requirements", About::Claims),
            taints: tolerations::taints(spec, "taints"),
            startup_taints: tolerations::taints(spec, "startupTaints"),
            provider_id: not_empty(status, "providerID"),
            node_name: not_empty(status, "nodeName"),
            capacity: amounts(status, "capacity"),
            allocatable: amounts(status, "allocatable"),
            promised: spec.get("resources").map(promised).unwrap_or_default(),
            is_registered: status.is_some_and(|status| is_condition_true(status, "Registered")),
            is_initialized: status.is_some_and(|status| is_condition_true(status, "Initialized")),
            quiet_since: status.and_then(quiet_since),
            is_consolidatable: status.is_some_and(|status| is_condition_true(status, "Consolidatable")),
            claimed: claimed::read(&meta, spec, status),
            meta,
        })
    }

    /// Returns the claim's name.
    #[must_use]
    pub const fn name(&self) -> &Arc<str> {
        &self.meta.name
    }

    /// Returns the value of a label of the claim's node if only one is possible.
    #[must_use]
    pub fn single(&self, key: &str) -> Option<Arc<str>> {
        self.labels().get(key).cloned()
    }

    /// Returns the claim's facts about its Node; deleting the Node deletes the claim too.
    fn claimed_with(&self, node: &Meta, lacks: Vec<Lack>) -> Claimed {
        let is_deleted = self.claimed.is_deleted || node.is_deleting;
        Claimed { is_deleted, lacks, ..self.claimed.clone() }
    }

    fn has_startup_taint(&self, taint: &Taint) -> bool {
        self.startup_taints.iter().any(|gone| gone.key == taint.key && gone.effect == taint.effect)
    }

    /// Returns the labels of a node of this claim: the claim's labels, and its requirements with only one possible
    /// value.
    fn labels(&self) -> BTreeMap<LabelKey, Arc<str>> {
        let single = |(key, wanted): (&LabelKey, &Requirement)| {
            wanted.single().map(|value| (key.clone(), Arc::clone(value)))
        };
        let mut labels: BTreeMap<LabelKey, Arc<str>> = self.requirements.iter().filter_map(single).collect();
        labels.extend(meta::normalized(&self.meta.labels));
        labels
    }

    /// Converts a claim whose Node had joined and is gone; no pod can be placed on it.
    fn into_lost(self) -> Node {
        let lost_since = self.claimed.lost_since;
        let node = self.into_node();
        Node {
            // Lost for good, it counts as an initialized but unhealthy node; until then, it may still come back.
            stage: if lost_since.is_some() { NodeStage::Initialized } else { NodeStage::Launching },
            allocatable: Resources::none(),
            claimed: Claimed { is_lost: true, ..node.claimed },
            ..node
        }
    }

    /// Converts a claim whose node is being launched.
    fn into_node(mut self) -> Node {
        let labels = self.labels();
        if self.capacity == Resources::none() && !labels.contains_key(label::INSTANCE_TYPE) {
            let asked = self.requirements.get(label::INSTANCE_TYPE).and_then(Requirement::listed);
            self.claimed.sizes = asked.into_iter().flatten().cloned().collect();
        }
        let allocatable =
            if self.allocatable == Resources::none() { self.capacity.clone() } else { self.allocatable };
        let mut taints: Vec<Taint> = self.taints.into_iter().filter(|taint| !taint.is_ephemeral()).collect();
        taints.sort();
        taints.dedup();
        Node {
            name: NodeName::new(&*self.meta.name),
            claim: Some(ClaimName::new(&*self.meta.name)),
            pool: labels.get(label::NODE_POOL).map(|pool| PoolName::new(&**pool)),
            class: self.class.or_else(|| labels.get(label::NODE_CLASS).map(|class| ClassName::new(&**class))),
            provider_id: self.provider_id,
            uid: None,
            claim_uid: self.meta.uid.clone(),
            stage: NodeStage::Launching,
            labels,
            taints,
            capacity: self.capacity,
            allocatable,
            is_unschedulable: false,
            is_do_not_disrupt: is_do_not_disrupt(&self.meta),
            kept_because: None,
            is_deleting: goes(&self.meta),
            created: self.meta.created,
            quiet_since: None,
            is_consolidatable: false,
            claimed: self.claimed,
            troubles: Vec::new(),
        }
    }
}

/// Returns the machines, sorted by name: each Node with its NodeClaim, and NodeClaims whose node has not joined yet or
/// is gone.
///
/// A claim's node is the one with its provider ID (case-insensitive in Azure), else the one named in its status, else
/// `aks-` and the claim's name.
#[must_use]
pub fn joined(mut nodes: Vec<NodeObject>, mut claims: Vec<ClaimObject>) -> Vec<Node> {
    nodes.sort_by(|one, other| one.meta.name.cmp(&other.meta.name));
    claims.sort_by(|one, other| one.meta.name.cmp(&other.meta.name));
    let by_name: BTreeSet<Arc<str>> = nodes.iter().map(|node| Arc::clone(&node.meta.name)).collect();
    let by_provider: BTreeMap<String, Arc<str>> = nodes
        .iter()
        .rev()
        .filter_map(|node| {
            Some((node.provider_id.as_ref()?.to_ascii_lowercase(), Arc::clone(&node.meta.name)))
        })
        .collect();
    let mut taken: BTreeMap<Arc<str>, ClaimObject> = BTreeMap::new();
    let mut machines = Vec::new();
    for claim in claims {
        let provider = claim.provider_id.as_ref().map(|id| id.to_ascii_lowercase());
        let by_vm: Arc<str> = Arc::from(format!("aks-{}", claim.meta.name));
        let node = provider
            .and_then(|id| by_provider.get(&id).cloned())
            .or_else(|| claim.node_name.clone().filter(|name| by_name.contains(name)))
            .or_else(|| Some(by_vm).filter(|name| by_name.contains(name)))
            .filter(|name| !taken.contains_key(name));
        match node {
            Some(node) => {
                taken.insert(node, claim);
            }
            // An input without any Node did not list them.
            None if claim.is_registered && !by_name.is_empty() => machines.push(claim.into_lost()),
            None => machines.push(claim.into_node()),
        }
    }
    for node in nodes {
        let claim = taken.remove(&node.meta.name);
        machines.push(node.into_node(claim));
    }
    machines.sort_by(|one, other| one.name.cmp(&other.name));
    machines
}
