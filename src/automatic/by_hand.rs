//! Nodes that somebody deletes by hand: the world in which they stay and are asked to go, so that they are planned, judged
//! and carried out like all others, and those that wait, each with the reason and what to do.
//!
//! Must never ask for a node that nodeform did not make, nor for one that goes with its pool or its kind: deleting those
//! removes no VM.

use std::collections::BTreeSet;

use crate::model::{Mode, Node, NodeName, PodPlace, Target, Wishes};
use crate::offline::World;
use crate::snapshot::AzureFacts;
use crate::snapshot::azure::Owner;

/// Whether the kind NodeClaim stays: NodeClaims that go with it are deleted by nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// It stays.
    There,
    /// Its CustomResourceDefinition is being deleted.
    Going,
    /// That could not be read, for this reason.
    Unknown(String),
}

/// A node that somebody deletes and that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The node; of a NodeClaim without one, the claim's name.
    pub node: NodeName,
    /// Why, and what to do.
    pub because: String,
}

/// What follows from nodes being deleted by hand.
#[derive(Clone, Debug, Default)]
pub struct ByHand {
    /// The world in which those that go now are asked to; none where none is.
    pub world: Option<World>,
    /// The others.
    pub waits: Vec<Waits>,
}

/// Returns what follows from the nodes that somebody deletes.
#[must_use]
pub fn by_hand(world: &World, definition: &Definition, mode: Mode) -> ByHand {
    let (going, waits) = sorted(world, definition, mode);
    ByHand { world: (!going.is_empty()).then(|| asked(world, going)), waits }
}

/// Returns the world in which nodes go that `--destroy` names though somebody deletes them already: without a controller
/// nobody else drains them. Where others are named too, or one has to wait, the world stays as it is.
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

/// Returns the nodes that somebody deletes: those that go, and those that wait.
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

/// Whether somebody deletes a node that nodeform made. A claim without a VM says itself whose it is.
fn is_ours(facts: &AzureFacts, node: &Node, cluster: Option<&str>) -> bool {
    let is_own = match facts.owner_of(node, cluster) {
        Owner::Own => true,
        Owner::Unknown => node.claimed.is_own,
        Owner::Karpenter | Owner::Foreign => false,
    };
    is_own && node.claimed.is_deleted_by_hand() && node.claim.is_some()
}

/// Why it goes with something else, which removes no VM.
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

/// Why it is not known whether its VM is there.
fn not_listed(facts: &AzureFacts, node: &Node) -> Option<&'static str> {
    if facts.vms.is_none() || facts.interfaces.is_none() {
        return Some("Azure's VMs and network interfaces could not be listed: waiting until they are");
    }
    let is_up = node.uid.is_some() && node.provider_id.is_some() && node.is_ready();
    let is_missing = is_up && facts.vm_of(node).is_none();
    is_missing.then_some("waiting: VM missing from Azure's list although the node is Ready")
}

/// Why nothing goes now.
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

/// The world in which these nodes stay and are asked to go. Pods that wait have their nodes by another plan, and what
/// PodDisruptionBudgets and pods ask is heeded when the nodes are drained.
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
