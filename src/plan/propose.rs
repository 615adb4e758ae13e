//! From the target fleet to changes: what to create, delete and adopt.
//!
//! Every difference between the current and the target fleet becomes one change with its reason and preconditions.
//! Nothing is ordered here, and nothing is decided that the solution left open.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Adopt, Change, ChangeId, ClaimSpec, ClaimSpecId, Create, Delete, ExistingNode};
use super::claim::{self, Shelf};
use super::evidence::{HeldChange, NodeShape, Placement};
use super::identity::{self, Lineage};
use super::precondition::Precondition;
use super::reason::Reason;
use super::spec::{Inputs, PlannedChange};
use super::{update, wish};
use crate::model::{
    ChangeClass, ClassName, Drift, Hold, InstanceType, LabelKey, NetworkSetup, Node, NodeName, Pod, PodKey,
    PodPlace, Pool, PoolName, Requirement, Requirements, SkuName, label,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::price::PriceBook;
use crate::solve::{Market, NewNode, Removal, Solution, Target, Warning};

/// The changes of a plan before they are ordered.
#[derive(Debug, Default)]
pub struct Proposal {
    /// NodeClaim specs of the creates.
    pub claims: BTreeMap<ClaimSpecId, ClaimSpec>,
    /// The changes.
    pub changes: BTreeMap<ChangeId, PlannedChange>,
    /// The reason of each change.
    pub reasons: BTreeMap<ChangeId, Reason>,
    /// Expected shapes of the new nodes.
    pub shapes: Vec<NodeShape>,
    /// The expected node of each create.
    pub placements: BTreeMap<ChangeId, Placement>,
    /// Parts of the solution that could not become a change.
    pub warnings: Vec<Warning>,
    /// Changes that the fleet holds and that are not in the solution.
    pub held: Vec<HeldChange>,
}

impl Proposal {
    /// Returns the proposal without these changes and the claims that only they need.
    #[must_use]
    pub fn without(mut self, held: &BTreeSet<ChangeId>) -> Self {
        self.changes.retain(|id, _| !held.contains(id));
        self.reasons.retain(|id, _| !held.contains(id));
        self.placements.retain(|id, _| !held.contains(id));
        let used: BTreeSet<&ClaimSpecId> = self
            .changes
            .values()
            .filter_map(|planned| planned.change.create())
            .map(|create| &create.spec)
            .collect();
        self.claims.retain(|id, _| used.contains(id));
        self
    }

    pub(super) fn add(
        &mut self,
        id: ChangeId,
        change: Change,
        reason: Reason,
        mut preconditions: Vec<Precondition>,
    ) {
        preconditions.sort();
        self.reasons.insert(id.clone(), reason);
        self.changes.insert(id, PlannedChange { change, preconditions });
    }
}

/// Input for proposing changes.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The observed state.
    pub snapshot: &'a Snapshot,
    /// The user's configuration.
    pub policy: &'a Policy,
    /// The common part of all items.
    pub lineage: &'a Lineage,
    /// Digests of pools and classes.
    pub inputs: &'a Inputs,
}

/// Returns the changes from the snapshot to the solution's target.
#[must_use]
pub fn propose(ground: Ground<'_>, solution: &Solution) -> Proposal {
    let mut proposal = Proposal::default();
    let mut taken = names_in_use(ground.snapshot);
    propose_creates(ground, &solution.target, &mut taken, &mut proposal);
    let nodes: BTreeMap<&NodeName, &Node> =
        ground.snapshot.nodes.iter().map(|node| (&node.name, node)).collect();
    for removal in &solution.target.removed {
        if let Some(node) = nodes.get(&removal.node) {
            propose_delete(ground, removal, node, &mut proposal);
        }
    }
    propose_leftovers(ground, &mut proposal);
    wish::propose_forgets(ground, &mut proposal);
    let forgotten = &ground.snapshot.supposed.wishes.forget;
    let leaving: BTreeSet<&NodeName> = solution.target.removed.iter().map(|removal| &removal.node).collect();
    // A destroy plan takes nothing over.
    let takes_over = !ground.snapshot.supposed.wishes.only_removes();
    if takes_over {
        update::propose_updates(ground, &leaving, &mut proposal);
    }
    if takes_over && ground.snapshot.nodes.iter().any(|node| node.claim.is_some()) {
        let stays = |node: &&Node| {
            !leaving.contains(&node.name) && !node.is_deleting && !forgotten.contains(&node.name)
        };
        for node in ground.snapshot.nodes.iter().filter(stays) {
            propose_adoption(ground, node, &mut taken, &mut proposal);
        }
    }
    proposal
}

fn names_in_use(snapshot: &Snapshot) -> BTreeSet<String> {
    let claims = snapshot.nodes_today().filter_map(|node| node.claim.as_ref()).map(ToString::to_string);
    let nodes = snapshot.nodes_today().map(|node| {
        let name = node.name.as_str();
        name.strip_prefix("aks-").unwrap_or(name).to_owned()
    });
    claims.chain(nodes).collect()
}

/// Instance types of each class, and of each pool that NodeOverlays affect, cached.
#[derive(Debug)]
pub struct Types<'a> {
    ground: Ground<'a>,
    market: Option<Market>,
    known: BTreeMap<(ClassName, Option<PoolName>), BTreeMap<SkuName, InstanceType>>,
}

impl<'a> Types<'a> {
    /// Creates an empty cache.
    #[must_use]
    pub const fn of(ground: Ground<'a>) -> Self {
        Self { ground, market: None, known: BTreeMap::new() }
    }

    /// Returns the instance types that a pool's nodes may use; empty if its class is not in the input.
    pub fn offered(&mut self, pool: &Pool) -> &BTreeMap<SkuName, InstanceType> {
        let Ground { snapshot, policy, .. } = self.ground;
        let market = self.market.get_or_insert_with(|| Market::of(snapshot, policy));
        let own = (pool.name.clone(), pool.class.clone());
        let has_own = market.offers.overlaid.by_pool.contains_key(&own);
        let (pool_name, class) = own;
        self.known.entry((class, has_own.then_some(pool_name))).or_insert_with(|| {
            let types = market.offered_to(pool).into_iter().flat_map(|offered| &offered.types);
            types.map(|kind| (kind.name.clone(), kind.clone())).collect()
        })
    }
}

/// Returns the network setup for planning: an overlay by default, as AKS recommends.
#[must_use]
pub fn network(policy: &Policy) -> NetworkSetup {
    policy.fleet.network.unwrap_or(NetworkSetup::AzureOverlay { is_cilium: false })
}

/// Returns the pods that run on removed nodes.
fn moving<'a>(snapshot: &'a Snapshot, removed: &[Removal]) -> BTreeSet<&'a PodKey> {
    let gone: BTreeSet<&NodeName> = removed.iter().map(|removal| &removal.node).collect();
    let moves = |pod: &&Pod| matches!(&pod.place, PodPlace::Bound(node) if gone.contains(node));
    snapshot.pods.iter().filter(moves).map(|pod| &pod.key).collect()
}

fn propose_creates(
    ground: Ground<'_>,
    target: &Target,
    taken: &mut BTreeSet<String>,
    proposal: &mut Proposal,
) {
    let mut types = Types::of(ground);
    let book = PriceBook::new(&ground.policy.fleet.prices);
    let mut ordinals: BTreeMap<ClaimSpecId, u64> = BTreeMap::new();
    let mut last: Option<(&NewNode, ClaimSpecId, ClaimSpec)> = None;
    let moving = moving(ground.snapshot, &target.removed);
    for node in &target.new {
        let Some(pool) = ground.policy.pools.get(&node.pool) else {
            proposal.warnings.push(unknown_pool(node));
            continue;
        };
        let offered = types.offered(pool);
        let (spec_id, spec) = match last {
            Some((known, id, spec)) if is_alike(known, node) => (id, spec),
            Some(_) | None => {
                let spec = claim::claim_spec(node, pool, Shelf { offered, book: &book });
                (identity::claim_spec_id(&spec), spec)
            }
        };
        let ordinal = ordinals.entry(spec_id.clone()).or_default();
        let (id, claim) = identity::next_item(ground.lineage, (&spec_id, &spec), ordinal, taken);
        let shape = claim::node_shape(node, &spec, offered.get(&node.size));
        let placement = Placement {
            shape: intern(&mut proposal.shapes, shape),
            list_price: node.list_price,
            effective_price: node.effective_price,
            is_price_max_estimate: is_price_max_estimate(node, &spec),
            opened_for: node.opened_for.clone(),
            pods: node.pods.clone(),
        };
        let mut preconditions = inputs_unchanged(ground.inputs, pool);
        preconditions.push(Precondition::NameFree { claim: claim.clone() });
        preconditions.push(Precondition::WithinLimits {
            pool: pool.name.clone(),
            nodes_max: pool.nodes_max,
            limits: pool.limits.clone(),
        });
        let moved = node.pods.iter().filter(|pod| moving.contains(pod)).count();
        let waiting = node.pods.iter().filter(|pod| !pod.is_placeholder()).count();
        let reason = match (&node.opened_for, waiting) {
            (Some(opened_for), 0) => {
                Reason::KeepsRoom { pods: node.pods.len(), opened_for: opened_for.clone() }
            }
            (Some(opened_for), pods) => Reason::PodsWait { pods, moved, opened_for: opened_for.clone() },
            (None, _) => Reason::Replicas { pool: pool.name.clone(), nodes: pool.replicas.unwrap_or(0) },
        };
        let vm = identity::vm_name(&claim);
        let create = Create { claim, vm, spec: spec_id.clone(), requests: node.requests.clone() };
        proposal.claims.entry(spec_id.clone()).or_insert_with(|| spec.clone());
        proposal.placements.insert(id.clone(), placement);
        proposal.add(id, Change::Create(create), reason, preconditions);
        last = Some((node, spec_id, spec));
    }
}

fn is_price_max_estimate(node: &NewNode, spec: &ClaimSpec) -> bool {
    let substitutes = node.substitutes.iter().map(|substitute| substitute.effective_price);
    let mut prices = substitutes.chain([node.effective_price]);
    prices.any(|price| price.is_estimate() && price.known() == spec.price_max)
}

fn unknown_pool(node: &NewNode) -> Warning {
    Warning {
        object: format!("pool `{}`", node.pool),
        what: "a node was wanted of it and it is not in the input; nothing is planned".to_owned(),
        hint: None,
    }
}

/// Returns whether two nodes have the same NodeClaim spec, regardless of their pods.
fn is_alike(one: &NewNode, other: &NewNode) -> bool {
    one.pool == other.pool
        && one.size == other.size
        && one.zone == other.zone
        && one.capacity_type == other.capacity_type
        && one.effective_price == other.effective_price
        && one.labels == other.labels
        && one.substitutes == other.substitutes
}

/// Returns the index of the shape in the list, appending it if it is new. Equal nodes are adjacent, so the list is
/// searched from the end.
fn intern(shapes: &mut Vec<NodeShape>, shape: NodeShape) -> usize {
    shapes.iter().rposition(|known| *known == shape).unwrap_or_else(|| {
        shapes.push(shape);
        shapes.len() - 1
    })
}

fn inputs_unchanged(inputs: &Inputs, pool: &Pool) -> Vec<Precondition> {
    let pool_digest = inputs.pools.get(&pool.name);
    let class_digest = inputs.classes.get(&pool.class);
    let pool_unchanged =
        pool_digest.map(|digest| Precondition::PoolUnchanged { pool: pool.name.clone(), digest: *digest });
    let class_unchanged = class_digest
        .map(|digest| Precondition::ClassUnchanged { class: pool.class.clone(), digest: *digest });
    pool_unchanged.into_iter().chain(class_unchanged).collect()
}

fn propose_delete(ground: Ground<'_>, removal: &Removal, node: &Node, proposal: &mut Proposal) {
    use crate::model::DisruptionReason as Why;
    let target = existing(node);
    let is_bounded = node.claimed.termination_grace_period.is_some();
    let node_only = removal.reason == Why::Unhealthy || removal.reason.is_due() && is_bounded;
    let mut preconditions = vec![same_node(node)];
    // A user who deletes a node overrides its protection and its pods'; the drain waits for the pods.
    if removal.reason != Why::Deleted {
        preconditions.push(Precondition::NotProtected { node: node.name.clone(), node_only });
    }
    let pool = node.pool.as_ref().and_then(|pool| ground.policy.pools.get(pool));
    let digest = pool.and_then(|pool| Some((pool, ground.inputs.pools.get(&pool.name)?)));
    // Whether an empty node may be removed does not depend on its pool's template.
    preconditions.extend(
        digest
            .filter(|_| removal.reason != Why::Empty)
            .map(|(pool, digest)| Precondition::PoolUnchanged { pool: pool.name.clone(), digest: *digest }),
    );
    let what = removal.what.clone().unwrap_or_default();
    let reason = match removal.reason {
        Why::Empty => {
            preconditions.push(Precondition::NodeEmpty { node: node.name.clone() });
            Reason::Empty
        }
        Why::Drifted if node.claimed.drift.as_ref().is_some_and(Drift::is_asked) => {
            Reason::Asked { by: wish::REPLACE.into() }
        }
        Why::Drifted => Reason::Drifted { what },
        Why::Expired => Reason::Expired { what },
        Why::Unhealthy => Reason::Unhealthy { what },
        Why::Excess => Reason::Excess { what },
        Why::Underutilized => Reason::Underutilized,
        Why::Destroyed => Reason::Asked { by: wish::DESTROY.into() },
        Why::Deleted if node.is_deleting => Reason::VmGone,
        Why::Deleted => Reason::Asked { by: wish::DELETED.into() },
    };
    let id = identity::target_id("delete", &target);
    let delete = Delete { target, reason: removal.reason };
    proposal.add(id, Change::Delete(delete), reason, preconditions);
}

/// Adds the remains of nodes whose VM is gone: nothing drains them any more, and their finalizers would keep them.
fn propose_leftovers(ground: Ground<'_>, proposal: &mut Proposal) {
    let Some(facts) = &ground.snapshot.azure else { return };
    if !ground.snapshot.supposed.wishes.deleted.is_empty() {
        return;
    }
    for node in ground.snapshot.nodes.iter().filter(|node| node.is_deleting && facts.has_lost_vm(node)) {
        let (name, reason) = (node.name.clone(), crate::model::DisruptionReason::Deleted);
        propose_delete(ground, &Removal { node: name, reason, what: None }, node, proposal);
    }
}

/// Adopts a node with a pool's label and a VM but no NodeClaim, if others have one: it was Karpenter's, and deleting
/// something unexplained is never right.
fn propose_adoption(ground: Ground<'_>, node: &Node, taken: &mut BTreeSet<String>, proposal: &mut Proposal) {
    let pool = node.pool.as_ref().and_then(|pool| ground.policy.pools.get(pool));
    let (Some(pool), None, Some(_)) = (pool, &node.claim, &node.provider_id) else {
        return;
    };
    let target = existing(node);
    let Ground { snapshot, policy, .. } = ground;
    let hold = policy.fleet.holds.on_change(&pool.name, ChangeClass::Adopt, snapshot.at);
    if let Some(Hold { because, until }) = hold {
        let (node, pool) = (target.node, target.pool);
        proposal.held.push(HeldChange {
            node,
            pool,
            class: ChangeClass::Adopt,
            reason: None,
            because,
            until,
        });
        return;
    }
    let id = identity::target_id("adopt", &target);
    let claim = identity::adopted_claim(&pool.name, &target);
    taken.insert(claim.to_string());
    let preconditions = vec![same_node(node), Precondition::WithoutClaim { node: node.name.clone() }];
    let reason = Reason::WithoutClaim { pool: pool.name.clone() };
    let adopt = Adopt {
        target,
        claim,
        pool: pool.name.clone(),
        class: node.class.clone().unwrap_or_else(|| pool.class.clone()),
        requirements: label_requirements(node, pool),
    };
    proposal.add(id, Change::Adopt(adopt), reason, preconditions);
}

/// Returns the requirements of a claim for this node: the node's own values of all labels that Karpenter or its pool
/// use.
fn label_requirements(node: &Node, pool: &Pool) -> Requirements {
    let speaks_of = |key: &LabelKey| {
        label::WELL_KNOWN.contains(&key.as_str())
            || label::WELL_KNOWN_AZURE.contains(&key.as_str())
            || pool.labels.contains_key(key)
            || pool.requirements.get(key.as_str()).is_some()
    };
    let mut requirements = Requirements::none();
    for (key, value) in node.labels.iter().filter(|(key, _)| speaks_of(key)) {
        requirements.add(key.clone(), Requirement::one(value));
    }
    requirements
}

pub(super) fn existing(node: &Node) -> ExistingNode {
    ExistingNode {
        node: node.name.clone(),
        claim: node.claim.clone(),
        pool: node.pool.clone(),
        provider_id: node.provider_id.clone(),
    }
}

pub(super) fn same_node(node: &Node) -> Precondition {
    Precondition::SameNode {
        node: node.name.clone(),
        provider_id: node.provider_id.clone(),
        created: node.created,
    }
}
