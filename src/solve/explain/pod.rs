//! Why a pod is placed where it is, or not placed at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::storage::Storage;
use crate::model::{DisruptionReason, LabelKey, NodeName, Pod, PodKey, PodPlace, PodSpec};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::came_off;
use crate::solve::daemons::Daemons;
use crate::solve::demand::{Ask, Shape};
use crate::solve::existing;
use crate::solve::fit::mounts::Shared;
use crate::solve::fit::turns::Turns;
use crate::solve::fit::{Miss, claims, gates, not_yet, volumes};
use crate::solve::market::Market;
use crate::solve::price::PriceBook;
use crate::solve::report::chain::{self, PoolChain};
use crate::solve::solution::{NodeRef, Preferences, Solution};
use crate::solve::supply::Supply;
use crate::solve::topology::{Role, Topology};

/// Outcome for a pod; the worst comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodOutcome {
    /// It does not fit anywhere: the rule, and the reason.
    Unplaced {
        /// The rule that the nearest miss failed.
        rule: String,
        /// What was requested, and what was available.
        because: String,
        /// The nearest miss.
        nearest: Option<String>,
    },
    /// It is held back: what it waits for, and the reason.
    Held {
        /// What it waits for.
        waits_for: String,
        /// Why that holds it back.
        because: String,
    },
    /// It is placed.
    Placed(NodeRef),
    /// It stays on the node that it runs on.
    Runs(NodeName),
    /// It is not planned: it is deleted with its node, or is terminating.
    NotPlanned,
    /// No pod of this name is in the input.
    Unknown,
}

/// Explanation of a pod's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodExplanation {
    /// The pod.
    pub pod: PodKey,
    /// Its outcome.
    pub outcome: PodOutcome,
    /// Names of the rules that everything below leaves out, because they are not supported yet.
    pub without: Option<String>,
    /// Result of each pool's rules, the heaviest pool first.
    pub pools: Vec<PoolChain>,
    /// Result for each existing node, by name: `None` if the pod fits there. For a pod that is placed on a new node, or
    /// nowhere, the other pods planned there count too.
    pub nodes: Vec<(NodeName, Option<String>)>,
    /// Result for its soft preferences, if it is placed and does not meet all of them.
    pub preferences: Option<Preferences>,
}

/// Explains a pod by its name.
#[must_use]
pub fn explain_pod(
    snapshot: &Snapshot,
    policy: &Policy,
    solution: &Solution,
    key: &PodKey,
) -> PodExplanation {
    let Some(pod) = snapshot.pods.iter().find(|pod| pod.key == *key) else {
        let (pools, nodes) = (Vec::new(), Vec::new());
        let outcome = PodOutcome::Unknown;
        return PodExplanation { pod: key.clone(), outcome, without: None, pools, nodes, preferences: None };
    };
    let outcome = pod_outcome(solution, pod);
    let topology = Topology::of(snapshot);
    let daemons = Daemons::of(snapshot, &topology);
    let book = PriceBook::new(&policy.fleet.prices);
    let market = Market::of(snapshot, policy);
    let supply = Supply::of(policy, &market, &book, &daemons);
    let mut standing = existing::standing(snapshot, &daemons, &topology);
    let roles = topology.roles(pod);
    let shared = Shared::of(snapshot);
    let outcome = with_own_claims(outcome, pod, (snapshot, &shared));
    let company = topology.on_hosts_of(roles, pod.place == PodPlace::Waiting);
    let own = Ask { company, ..Ask::of(&pod.spec) };
    let (ask, torn) = match with_volumes(pod, own.clone(), (&snapshot.storage, &shared)) {
        Ok(ask) => (ask, None),
        Err(miss) => (own, Some(miss)),
    };
    let roles = topology.in_domains(roles);
    let shape = Shape { priority: pod.spec.priority, ask, roles, pods: vec![key.clone()] };
    if matches!(outcome, PodOutcome::Unplaced { .. } | PodOutcome::Placed(NodeRef::New(_))) {
        fill_as((snapshot, &shared), solution, &topology, &mut standing);
    }
    let ledger = super::ledger_after((snapshot, policy), &market, &supply, solution);
    // A placed pod may join a new node together with the pods that it has to share it with.
    let company = match outcome {
        PodOutcome::Unplaced { .. } => shape.ask.company.clone(),
        PodOutcome::Held { .. }
        | PodOutcome::Placed(_)
        | PodOutcome::Runs(_)
        | PodOutcome::NotPlanned
        | PodOutcome::Unknown => Vec::new(),
    };
    let of_new = Ask { company, ..shape.ask.clone() };
    let of_pool = |pool| chain::at_pool(pool, &of_new, (&ledger, &standing));
    let pools = supply.pools.iter().map(of_pool).collect();
    let says = |standing: &existing::Standing<'_>| {
        let because = if standing.node.is_deleting {
            Some("it is being deleted".to_owned())
        } else {
            let why = existing::why(standing, &shape).err().or_else(|| torn.clone());
            let missed = why.map(|miss| format!("{}: {}", miss.rule, miss.because));
            missed.or_else(|| goes(solution, &standing.node.name)).or_else(|| match &outcome {
                PodOutcome::Placed(NodeRef::New(place)) => {
                    let new = came_off::labels_of(&supply, solution.target.new.get(*place)?);
                    elsewhere((&topology, &shape.roles), &standing.node.labels, &new)
                }
                PodOutcome::Unplaced { .. } => nowhere((&topology, &shape.roles), &standing.node.labels),
                PodOutcome::Placed(NodeRef::Existing(_))
                | PodOutcome::Held { .. }
                | PodOutcome::Runs(_)
                | PodOutcome::NotPlanned
                | PodOutcome::Unknown => None,
            })
        };
        (standing.node.name.clone(), because)
    };
    let without = without(&outcome, &pod.spec);
    let (nodes, preferences) = (standing.iter().map(says).collect(), given_up(solution, key));
    PodExplanation { pod: key.clone(), outcome, without, pools, nodes, preferences }
}

/// Returns that a node is deleted, and why.
fn goes(solution: &Solution, node: &NodeName) -> Option<String> {
    let removal = solution.target.removed.iter().find(|removal| removal.node == *node)?;
    Some(if removal.reason == DisruptionReason::Empty {
        "has room, but goes: it is empty".to_owned()
    } else {
        format!("has capacity, but is deleted ({})", removal.reason)
    })
}

/// Returns the label by which rules between pods send a pod to another domain than that of a node.
fn elsewhere(
    (topology, roles): (&Topology, &[Role]),
    there: &BTreeMap<LabelKey, Arc<str>>,
    new: &BTreeMap<LabelKey, Arc<str>>,
) -> Option<String> {
    let mut keys = roles.iter().filter(|role| role.is_bound).map(|role| &topology.groups[role.group].key);
    let (key, domain) = keys.find_map(|key| {
        let domain = new.get(key)?;
        (there.get(key) != Some(domain)).then_some((key, domain))
    })?;
    Some(format!("has room, but rules between pods lead this one to `{key}: {domain}`"))
}

/// Returns the domain from which rules between pods exclude an unplaced pod.
fn nowhere((topology, roles): (&Topology, &[Role]), there: &BTreeMap<LabelKey, Arc<str>>) -> Option<String> {
    let mut keys = roles.iter().filter(|role| role.is_bound).map(|role| &topology.groups[role.group].key);
    let (key, domain) = keys.find_map(|key| Some((key, there.get(key)?)))?;
    Some(format!("has room, but rules between pods keep this one from `{key}: {domain}`"))
}

/// Adds the states of its own claims to a pod that is held back for its volumes; a plan reports those of all such pods
/// together.
fn with_own_claims(outcome: PodOutcome, pod: &Pod, (snapshot, shared): (&Snapshot, &Shared)) -> PodOutcome {
    let storage = &snapshot.storage;
    let turns = Turns::of(&snapshot.pods, storage);
    let is_held = matches!(&outcome, PodOutcome::Held { .. }) && not_yet::why(&pod.spec).is_none();
    let wait = turns.why(pod).and_then(|()| volumes::asked(pod, storage, shared)).err();
    match wait.filter(|_| is_held && pod.spec.gates.is_empty()) {
        Some(wait) => PodOutcome::Held {
            because: format!("{}; {}", wait.because, claims::said_of(pod, storage)),
            waits_for: wait.waits_for,
        },
        None => outcome,
    }
}

/// Returns the report on preferences, with only those that this pod does not meet.
fn given_up(solution: &Solution, key: &PodKey) -> Option<Preferences> {
    let mut said = solution.report.preferences.clone()?;
    said.given_up.retain(|entry| entry.pods.binary_search(key).is_ok());
    (!said.given_up.is_empty()).then_some(said)
}

/// Places pods on existing nodes as the solution does.
fn fill_as(
    (snapshot, shared): (&Snapshot, &Shared),
    solution: &Solution,
    topology: &Topology,
    standing: &mut [existing::Standing<'_>],
) {
    let by_key = |key: &PodKey| snapshot.pods.binary_search_by(|pod| pod.key.cmp(key)).ok();
    for kept in solution.target.kept.iter().filter(|kept| !kept.pods.is_empty()) {
        let Ok(place) = standing.binary_search_by(|there| there.node.name.cmp(&kept.node)) else { continue };
        for pod in kept.pods.iter().filter_map(by_key).map(|place| &snapshot.pods[place]) {
            let own = Ask { company: topology.on_hosts(topology.roles(pod)), ..Ask::of(&pod.spec) };
            // Pods that the solution placed there fit there.
            let asked = with_volumes(pod, own, (&snapshot.storage, shared));
            let _ = asked.and_then(|ask| standing[place].site.put(&ask, 1));
        }
    }
}

/// Adds the requirements of a pod's volumes, if they are known.
///
/// # Errors
/// The volumes are nowhere that the pod may run.
fn with_volumes(pod: &Pod, ask: Ask, (storage, shared): (&Storage, &Shared)) -> Result<Ask, Miss> {
    let Ok(volumes) = volumes::asked(pod, storage, shared) else { return Ok(ask) };
    let alternatives = volumes::joined(&ask.alternatives, &volumes)?;
    Ok(Ask { alternatives, volumes: volumes.mounts, ..ask })
}

/// Returns the rules that hold a pod back and are therefore not evaluated. Gates are not among them: they say when, not
/// where.
fn without(outcome: &PodOutcome, spec: &PodSpec) -> Option<String> {
    let PodOutcome::Held { waits_for, .. } = outcome else { return None };
    match (gates::why(spec), not_yet::why(spec)) {
        (_, Some(wait)) => Some(wait.waits_for),
        (Some(_), None) => None,
        (None, None) => Some(waits_for.clone()),
    }
}

/// Returns the outcome for a pod of the snapshot.
#[must_use]
pub fn pod_outcome(solution: &Solution, pod: &Pod) -> PodOutcome {
    let key = &pod.key;
    if let Some(kept) = solution.target.kept.iter().find(|kept| kept.pods.contains(key)) {
        return PodOutcome::Placed(NodeRef::Existing(kept.node.clone()));
    }
    if let Some(place) = solution.target.new.iter().position(|node| node.pods.contains(key)) {
        return PodOutcome::Placed(NodeRef::New(place));
    }
    if let Some(held) = solution.report.held.iter().find(|held| held.pods.contains(key)) {
        return PodOutcome::Held { waits_for: held.waits_for.clone(), because: held.because.clone() };
    }
    if let Some(unplaced) = solution.report.unplaced.iter().find(|unplaced| unplaced.pods.contains(key)) {
        let (rule, because) = (unplaced.rule.clone(), unplaced.because.clone());
        return PodOutcome::Unplaced { rule, because, nearest: unplaced.nearest.clone() };
    }
    match &pod.place {
        PodPlace::Bound(node) if !pod.is_terminating => PodOutcome::Runs(node.clone()),
        PodPlace::Bound(_) | PodPlace::Waiting => PodOutcome::NotPlanned,
    }
}
