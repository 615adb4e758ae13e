//! Turns a plan of a live cluster into an execution: machines, launch choices, node identities.
//!
//! ```text
//!  Plan, Snapshot (azure), Policy (whole classes) ─▶ Execution: choices ─▶ machines · node identities · removals · nominations
//!                                                  └▶ LaunchFault: which changes cannot be carried out, and why
//!  later: fresh Snapshot and Policy ─▶ template: the bootstrap configuration, if it still is the plan's
//! ```
//!
//! Pure. Only decides what the plan left open, the build of each VM, and that follows from the class. Never holds a
//! secret.

pub mod buildable;
mod cluster;
mod existing;
mod ground;
pub mod image;
mod machine;
mod node;
mod stamp;
pub mod template;
mod unknown;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use template::{Materials, NotTheSame, Ready, ready};

use crate::bootstrap::{Refusal, refusals};
use crate::model::{Resources, SkuName};
use crate::plan::choices::{PricedChoice, choices};
use crate::plan::execution::{
    CHOICES_MAX, ClusterIdentity, Execution, Launch, LaunchChoice, Machine, MachineId,
};
use crate::plan::identity::machine_id;
use crate::plan::{ChangeId, ClaimSpec, ClaimSpecId, Plan};
use crate::policy::Policy;
use crate::snapshot::azure::ClusterFacts;
use crate::snapshot::{AzureFacts, Snapshot};
use ground::Ground;

#[cfg(test)]
pub(crate) mod tests;

/// Why changes cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaunchFault {
    /// The changes.
    pub changes: BTreeSet<ChangeId>,
    /// The object at fault, such as ``AKSNodeClass `default` ``.
    pub object: String,
    /// The reason, with the path of the field if there is one.
    pub why: String,
}

impl LaunchFault {
    fn of(change: &ChangeId, object: String, why: &str) -> Self {
        Self { changes: BTreeSet::from([change.clone()]), object, why: why.to_owned() }
    }
}

impl std::fmt::Display for LaunchFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.object, self.why)
    }
}

/// Returns how to apply a plan of this snapshot and policy.
///
/// # Errors
/// Every change that cannot be applied, with all reasons; the others can be applied once those are removed from the
/// plan.
pub fn execution(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Result<Execution, Vec<LaunchFault>> {
    let (facts, cluster) = match (&snapshot.azure, &snapshot.cluster) {
        (Some(facts), Some(uid)) => (facts, identity(&facts.cluster, uid)),
        (Some(facts), None) => {
            let why =
                "the UID of namespace `kube-system` is not known, by which the cluster is told from others";
            return Err(all(plan, format!("cluster `{}`", facts.cluster.name), why));
        }
        (None, _) => {
            return Err(all(plan, "cluster".to_owned(), "nothing is known of its Azure resources"));
        }
    };
    let (existing, mut faults) = existing::existing(snapshot, facts, plan);
    let Launched { machines, launches, faults: of_claims } = launched(snapshot, policy, facts, plan);
    faults.extend(of_claims);
    faults.extend(unknown::removals(snapshot, plan).filter(|fault| !fault.changes.is_empty()));
    faults.sort();
    if !faults.is_empty() {
        return Err(faults);
    }
    let existing::Existing { nodes, removals, nominations, made_for } = existing;
    let seen_at = snapshot.at;
    Ok(Execution { cluster, seen_at, machines, launches, nodes, removals, nominations, made_for })
}

fn all(plan: &Plan, object: String, why: &str) -> Vec<LaunchFault> {
    let changes: BTreeSet<ChangeId> = plan.spec.changes.keys().cloned().collect();
    let fault = LaunchFault { changes, object, why: why.to_owned() };
    if fault.changes.is_empty() { Vec::new() } else { vec![fault] }
}

fn identity(cluster: &ClusterFacts, uid: &Arc<str>) -> ClusterIdentity {
    ClusterIdentity {
        uid: uid.clone(),
        id: cluster.id.clone(),
        node_resource_group: cluster.node_resource_group.clone(),
        location: cluster.location.clone(),
    }
}

/// The launches of a plan's claims.
struct Launched {
    machines: BTreeMap<MachineId, Machine>,
    launches: BTreeMap<ClaimSpecId, Launch>,
    faults: Vec<LaunchFault>,
}

fn launched(snapshot: &Snapshot, policy: &Policy, facts: &AzureFacts, plan: &Plan) -> Launched {
    let ground = Ground::of((snapshot, policy), facts, plan.spec.claims.values());
    let mut ways = choices(snapshot, policy, &plan.spec);
    let mut launched = Launched { machines: BTreeMap::new(), launches: BTreeMap::new(), faults: Vec::new() };
    for (id, claim) in &plan.spec.claims {
        let ways = ways.remove(id).unwrap_or_default();
        match launch(&ground, (claim, &capacity(plan, id)), ways) {
            Ok((launch, machines)) => {
                launched.machines.extend(machines);
                launched.launches.insert(id.clone(), launch);
            }
            Err(refusals) => {
                let of_claim = plan.spec.creates().filter(|(_, create, _)| create.spec == *id);
                let changes: BTreeSet<ChangeId> = of_claim.map(|(id, _, _)| id.clone()).collect();
                launched.faults.extend(refusals.into_iter().map(|refusal| fault(claim, &changes, &refusal)));
            }
        }
    }
    launched
}

fn fault(claim: &ClaimSpec, changes: &BTreeSet<ChangeId>, Refusal { field, why }: &Refusal) -> LaunchFault {
    let is_of_class = field.starts_with("spec.") || field.starts_with("status.");
    let object = match is_of_class {
        true => format!("AKSNodeClass `{}`", claim.class),
        false => format!("pool `{}`", claim.pool),
    };
    LaunchFault { changes: changes.clone(), object, why: format!("`{field}`: {why}") }
}

/// Returns the total capacity of a node of a claim's first choice.
fn capacity(plan: &Plan, claim: &ClaimSpecId) -> Resources {
    let mut made = plan.spec.creates().filter(|(_, create, _)| create.spec == *claim);
    let placement = made.next().and_then(|(id, _, _)| plan.evidence.placements.get(id));
    let shape = placement.and_then(|placement| plan.evidence.shapes.get(placement.shape));
    shape.map(|shape| shape.capacity.clone()).unwrap_or_default()
}

type Machines = BTreeMap<MachineId, Machine>;

/// Launches a claim. The primary choice must be launchable; other choices that are not are dropped.
fn launch(
    ground: &Ground<'_>,
    (claim, capacity): (&ClaimSpec, &Resources),
    ways: Vec<PricedChoice>,
) -> Result<(Launch, Machines), Vec<Refusal>> {
    let pool = ground.policy.pools.get(&claim.pool);
    let class = ground.policy.classes.get(&claim.class);
    let (Some(pool), Some(class)) = (pool, class) else {
        return Err(vec![cluster::refusal("NodePool", format!("`{}` is not in the cluster", claim.pool))]);
    };
    if let Some(whole) = ground.policy.whole_classes.get(&claim.class) {
        let refused = refusals(&whole.spec);
        if !refused.is_empty() {
            return Err(refused);
        }
    }
    if ways.first().is_none_or(|first| first.choice != claim.primary) {
        let size = &claim.primary.size;
        return Err(vec![cluster::refusal("VM size", format!("`{size}` is not bought by a VM of its own"))]);
    }
    let mut of_sizes: BTreeMap<SkuName, Option<MachineId>> = BTreeMap::new();
    let mut machines = Machines::new();
    let mut listed = Vec::new();
    for PricedChoice { choice, price } in ways {
        if listed.len() == CHOICES_MAX {
            break;
        }
        let known = of_sizes.get(&choice.size).cloned();
        let machine = match known {
            Some(known) => known,
            None => {
                let made = ground.made(claim, &choice.size).and_then(|made| machine::machine(&made));
                let id = match made {
                    Ok(machine) => {
                        let id = machine_id(&machine);
                        machines.insert(id.clone(), machine);
                        Some(id)
                    }
                    Err(refusals) if choice == claim.primary => return Err(refusals),
                    Err(_) => None,
                };
                of_sizes.insert(choice.size.clone(), id.clone());
                id
            }
        };
        listed.extend(machine.map(|machine| LaunchChoice { choice, price_max: price, machine }));
    }
    let annotations = stamp::annotations(pool, class);
    Ok((Launch { choices: listed, annotations, capacity: capacity.clone() }, machines))
}
