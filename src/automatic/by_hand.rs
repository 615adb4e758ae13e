//! Nodes that users delete by hand: a world in which these nodes still run and are requested to be deleted, so that
//! they are planned, checked and drained like all others, and the nodes that have to wait, each with the reason and
//! what to do.
//!
//! Never requests a node that nodeform did not create, nor one that is deleted with its pool or its CRD: deleting those
//! removes no VM.

use std::collections::BTreeSet;

use crate::model::{Mode, Node, NodeName, PodPlace, Target, Wishes};
use crate::offline::World;
use crate::snapshot::AzureFacts;
use crate::snapshot::azure::Owner;

/// State of the NodeClaim CRD: users do not delete the NodeClaims that are deleted with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// It exists.
    There,
    /// Its CustomResourceDefinition is being deleted.
    Going,
    /// Its state could not be read, for this reason.
    Unknown(String),
}

/// A node that a user deletes and that has to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The node, or the name of a NodeClaim without one.
    pub node: NodeName,
    /// Why it waits, and what to do.
    pub because: String,
}

/// The handling of nodes that users delete by hand.
#[derive(Clone, Debug, Default)]
pub struct ByHand {
    /// The world that requests the nodes to delete now; `None` if there are none.
    pub world: Option<World>,
    /// Nodes that have to wait.
    pub waits: Vec<Waits>,
}

/// Returns the handling of the nodes that users delete.
#[must_use]
pub fn by_hand(world: &World, definition: &Definition, mode: Mode) -> ByHand {
    let (going, waits) = sorted(world, definition, mode);
    ByHand { world: (!going.is_empty()).then(|| asked(world, going)), waits }
}

/// Returns the world that requests nodes named by `--destroy` although users already delete them: without a controller,
/// nothing else drains them. If other nodes are named too, or one has to wait, returns the world unchanged.
#[must_use]
pub fn by_name(world: World) -> World {
    let named = world.targets.iter().map(|target| match target {
        Target::Node(node) => Some(node.clone()),
        Target::NodePool(_) => None,
    });
    let named: Option<BTreeSet<NodeName>> = named.collect();
    let named = named.filter(|named| world.snapshot.supposed.wishes.destroy && !named.is_empty());
    let Some(named) = named else { return world };
    let (going, _) = sorted(&world, &Definition::There, Mode::Auto);
    if named.is_subset(&going) { asked(&world, named) } else { world }
}

/// Splits the nodes that users delete into those to delete now and those that have to wait.
fn sorted(world: &World, definition: &Definition, mode: Mode) -> (BTreeSet<NodeName>, Vec<Waits>) {
    let mut waits = Vec::new();
    let mut going = BTreeSet::new();
    let Some(facts) = &world.snapshot.azure else { return (going, waits) };
    for node in
        world.snapshot.nodes.iter().filter(|node| is_ours(facts, node, world.snapshot.cluster.as_deref()))
    {
        let because = stays(world, node, definition)
            .or_else(|| not_listed(facts, node).map(str::to_owned))
            .or_else(|| not_now(world, mode));
        match because {
            Some(because) => waits.push(Waits { node: node.name.clone(), because }),
            None => drop(going.insert(node.name.clone())),
        }
    }
    (going, waits)
}

/// Returns whether a user deletes this node and nodeform created it. A claim without a VM records its own owner.
fn is_ours(facts: &AzureFacts, node: &Node, cluster: Option<&str>) -> bool {
    let is_own = match facts.owner_of(node, cluster) {
        Owner::Own => true,
        Owner::Unknown => node.claimed.is_own,
        Owner::Karpenter | Owner::Foreign => false,
    };
    is_own && node.claimed.is_deleted_by_hand() && node.claim.is_some()
}

/// Returns why the node is deleted together with something else, which removes no VM.
fn stays(world: &World, node: &Node, definition: &Definition) -> Option<String> {
    const KIND: &str = "CustomResourceDefinition `nodeclaims.karpenter.sh`";
    match definition {
        Definition::There => {}
        Definition::Going => {
            return Some(format!(
                "{KIND} is being deleted, which deletes no VM: the VM keeps running and the finalizer is kept; to delete the kind anyway, remove the finalizer `karpenter.sh/termination` from its NodeClaims"
            ));
        }
        Definition::Unknown(why) => {
            return Some(format!(
                "whether {KIND} is being deleted could not be read, and then no VM goes: {why}"
            ));
        }
    }
    let pool = node.pool.as_ref()?;
    match world.policy.pools.get(pool) {
        Some(known) if !known.is_deleting => None,
        Some(_) => {
            Some(format!("its NodePool `{pool}` is being deleted: re-apply it to finish the deletion"))
        }
        None => {
            Some(format!("its NodePool `{pool}` is missing or invalid: re-apply it to finish the deletion"))
        }
    }
}

/// Returns why it is unknown whether its VM exists.
fn not_listed(facts: &AzureFacts, node: &Node) -> Option<&'static str> {
    if facts.vms.is_none() || facts.interfaces.is_none() {
        return Some("Azure's VMs and network interfaces could not be listed: waiting until they are");
    }
    let is_up = node.uid.is_some() && node.provider_id.is_some() && node.is_ready();
    let is_missing = is_up && facts.vm_of(node).is_none();
    is_missing.then_some("waiting: VM missing from Azure's list although the node is Ready")
}

/// Returns why no node is deleted now.
fn not_now(world: &World, mode: Mode) -> Option<String> {
    let fleet = world.policy.fleet.name.as_deref().unwrap_or("NAME");
    let patch =
        |field: &str| format!("`kubectl patch nodefleet {fleet} --type merge -p '{{\"spec\":{{{field}}}}}'`");
    match mode {
        Mode::Observe => {
            let patch = patch("\"mode\":\"auto\"");
            Some(format!("mode `observe`: the node is not deleted; to drain and delete it, run {patch}"))
        }
        Mode::Auto | Mode::Review if world.policy.fleet.is_suspended => {
            let patch = patch("\"suspend\":false");
            Some(format!("suspended: the node is not deleted; to drain and delete it, run {patch}"))
        }
        Mode::Auto | Mode::Review => None,
    }
}

/// Returns the world in which these nodes still run and are requested to be deleted. Another plan creates nodes for
/// pending pods; draining respects PodDisruptionBudgets and pods' own requests.
fn asked(world: &World, going: BTreeSet<NodeName>) -> World {
    let mut asked = world.clone();
    let snapshot = &mut asked.snapshot;
    for node in snapshot.nodes.iter_mut().filter(|node| going.contains(&node.name)) {
        node.is_deleting = false;
        node.is_do_not_disrupt = false;
        node.kept_because = None;
    }
    snapshot.pods.retain(|pod| pod.place != PodPlace::Waiting || pod.key.is_placeholder());
    snapshot.budgets.clear();
    snapshot.preemptions.clear();
    snapshot.supposed.wishes = Wishes { deleted: going.clone(), ..Wishes::default() };
    asked.targets = going.into_iter().map(Target::Node).collect();
    asked.proves_bound = false;
    asked
}
