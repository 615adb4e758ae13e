//! One round: reads the cluster and Azure, and plans on a separate thread in two steps. New nodes for pending pods are
//! planned first and may start immediately; everything else is planned afterwards, and only if none of them starts.
//!
//! If nothing has changed since a round without changes, nothing is planned.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use super::looks;
use super::metrics::Metrics;
use super::reviewing::Done;
use crate::automatic::{self, BackOff, ByHand, Definition, Rest, Rested, Waits};
use crate::cluster::Cluster;
use crate::manifests::Source;
use crate::model::{Mode, Refusal};
use crate::observe::{Named, Observation, ObserveFault, Remembered, Unread, observe};
use crate::offline::{self, Catalogs, Planned, Planner, Problem, Request, World};
use crate::plan::{ChangeId, Plan};
use crate::policy::Policy;
use crate::review::{CheckedPlan, RefusedPlan};

/// What to read, and how to plan it.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) cluster: Cluster,
    pub(super) azure: Remembered,
    pub(super) named: Named,
    pub(super) catalogs: Catalogs,
    pub(super) mode: Mode,
    pub(super) back_off: BackOff,
    /// Spot offerings from which Azure recently evicted VMs.
    pub(super) resting: Vec<Refusal>,
    /// Cache of earlier rounds: it speeds up planning and does not change plans.
    pub(super) planner: Arc<Planner>,
    /// Plans in progress here, even if their NodePlans are gone.
    pub(super) in_flight: BTreeSet<Arc<str>>,
    /// State of the last round, if it had no changes and no plan is in progress.
    pub(super) rest: Option<Arc<Rest>>,
    pub(super) clock_speed: u32,
    /// Counts panics.
    pub(super) metrics: Arc<Metrics>,
}

/// Result of a step of a round.
pub(super) enum Step {
    /// First step: what was read, and the urgent changes.
    Seen(Box<Seen>),
    /// Second step: everything else.
    Rest(Box<Planning>),
    /// If nothing starts automatically: the review step.
    Reviewed(Box<Done>),
}

/// New nodes for pending pods.
pub(super) struct Creates {
    pub(super) plan: CheckedPlan,
    /// The policy, without what is backed off.
    pub(super) policy: Policy,
}

/// The world that a round read, with the urgent changes.
pub(super) struct Seen {
    /// When the round started to read.
    pub(super) at: Timestamp,
    pub(super) world: World,
    definition: Definition,
    /// The urgent changes; `None` if nothing has changed since a round without changes.
    pub(super) first: Option<First>,
    /// Time spent planning.
    pub(super) took: Duration,
    /// Warnings of the observation.
    pub(super) warnings: Vec<String>,
    /// What could not be read.
    pub(super) unread: Vec<Unread>,
}

/// Reason why there is no plan.
#[derive(Debug, Default)]
pub(super) struct NoRound {
    pub(super) because: Vec<String>,
    /// What could not be read.
    pub(super) unread: Vec<Unread>,
}

impl From<Vec<String>> for NoRound {
    fn from(because: Vec<String>) -> Self {
        Self { because, unread: Vec::new() }
    }
}

impl NoRound {
    fn of_observing(faults: &[ObserveFault]) -> Self {
        let because = faults.iter().map(|fault| match (&fault.unread, &fault.hint) {
            (Some(unread), _) => unread.to_string(),
            (None, Some(hint)) => format!("{}; {hint}", fault.what),
            (None, None) => fault.what.clone(),
        });
        Self {
            because: because.collect(),
            unread: faults.iter().filter_map(|fault| fault.unread.clone()).collect(),
        }
    }
}

/// The urgent changes.
pub(super) struct First {
    /// New nodes for pending pods; `None` in mode `observe`, which has a single plan.
    pub(super) creates: Option<Creates>,
    /// Deletion of the nodes that users are deleting, if any can proceed.
    pub(super) deleted: Option<CheckedPlan>,
    /// Nodes whose deletion by a user waits.
    pub(super) waits: Vec<Waits>,
}

/// A completely planned round.
pub(super) struct Planning {
    /// When it started to read.
    pub(super) at: Timestamp,
    pub(super) world: World,
    pub(super) creates: Option<Creates>,
    /// Changes that delete the nodes that users are deleting.
    pub(super) deleted: BTreeSet<ChangeId>,
    /// Everything that [`Creates`] does not contain; the whole plan in mode `observe`.
    pub(super) rest: CheckedPlan,
    /// Time spent planning.
    pub(super) took: Duration,
    /// State for the next round, if there is nothing to do.
    pub(super) at_rest: Option<Rest>,
}

impl Planning {
    /// Returns the plan that had all pending pods as its input.
    pub(super) fn with_waiting(&self) -> &Plan {
        self.creates.as_ref().map_or_else(|| self.rest.plan(), |creates| creates.plan.plan())
    }
}

/// Reads the world, and plans the urgent changes.
///
/// # Errors
/// Everything that prevents a plan.
pub(super) async fn first(asked: Asked) -> Result<Step, NoRound> {
    let at = asked.cluster.clock().now();
    let seen = observe(&asked.cluster, &asked.azure, &asked.named).await;
    let seen = seen.map_err(|faults| NoRound::of_observing(&faults))?;
    let unread = seen.unread.clone();
    // Read after the objects: a kind that was being deleted when they were read still is.
    let definition = looks::definition(&asked.cluster).await;
    let metrics = Arc::clone(&asked.metrics);
    let work = move || needed_at_once(&asked, (seen, definition), at);
    match on_a_thread(metrics, work).await {
        Ok(seen) => Ok(Step::Seen(Box::new(seen))),
        Err(because) => Err(NoRound { because, unread }),
    }
}

/// Reads the world without planning.
///
/// # Errors
/// Everything that prevents a plan.
pub(super) async fn seen(asked: Asked) -> Result<(World, Vec<Unread>), NoRound> {
    let at = asked.cluster.clock().now();
    let seen = observe(&asked.cluster, &asked.azure, &asked.named).await;
    let seen = seen.map_err(|faults| NoRound::of_observing(&faults))?;
    let unread = seen.unread.clone();
    let metrics = Arc::clone(&asked.metrics);
    let work = move || world(&asked, seen, at).map_err(|problems| said(&problems));
    match on_a_thread(metrics, work).await {
        Ok(world) => Ok((world, unread)),
        Err(because) => Err(NoRound { because, unread }),
    }
}

/// Plans everything else for the world of the first step, if none of its changes starts except deletions by users.
///
/// # Errors
/// The checker rejects the plan.
pub(super) async fn rest(
    asked: Asked,
    seen: Seen,
    (first, deleted): (First, BTreeSet<ChangeId>),
) -> Result<Step, NoRound> {
    let metrics = Arc::clone(&asked.metrics);
    let unread = seen.unread.clone();
    let work = move || all_else(&asked, seen, (first, deleted));
    match on_a_thread(metrics, work).await {
        Ok(planning) => Ok(Step::Rest(Box::new(planning))),
        Err(because) => Err(NoRound { because, unread }),
    }
}

async fn on_a_thread<T: Send + 'static>(
    metrics: Arc<Metrics>,
    work: impl FnOnce() -> Result<T, Vec<String>> + Send + 'static,
) -> Result<T, Vec<String>> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        metrics.panicked();
        Err(vec![format!("planning failed with a bug in nodeform: {error}")])
    })
}

fn needed_at_once(
    asked: &Asked,
    (seen, definition): (Observation, Definition),
    at: Timestamp,
) -> Result<Seen, Vec<String>> {
    let started = Instant::now();
    let (warnings, unread) = (seen.warnings.clone(), seen.unread.clone());
    let world = world(asked, seen, at).map_err(|problems| said(&problems))?;
    let world = automatic::by_itself(world.without_resting(asked.resting.clone()));
    let tried = to_be_tried(asked, &world, at);
    let is_at_rest = asked.rest.as_ref().is_some_and(|rest| rest.lasts(&world, &tried.policy, &definition));
    let first = (!is_at_rest).then(|| {
        let (deleted, waits) = by_hand(&world, &definition, asked.mode);
        let creates = (asked.mode != Mode::Observe).then(|| {
            let Planned { plan, .. } = asked.planner.plan(&tried).map_err(|refused| of_judge(&refused))?;
            Ok::<Creates, Vec<String>>(Creates { plan, policy: tried.policy })
        });
        Ok::<First, Vec<String>>(First { creates: creates.transpose()?, deleted, waits })
    });
    Ok(Seen { at, world, definition, first: first.transpose()?, took: started.elapsed(), warnings, unread })
}

/// Returns the world of the first plan: in mode `observe`, the whole world.
fn to_be_tried(asked: &Asked, world: &World, at: Timestamp) -> World {
    match asked.mode {
        Mode::Observe => world.clone(),
        Mode::Auto | Mode::Review => automatic::creates_alone(world, &asked.back_off, at),
    }
}

fn all_else(
    asked: &Asked,
    seen: Seen,
    (first, deleted): (First, BTreeSet<ChangeId>),
) -> Result<Planning, Vec<String>> {
    let started = Instant::now();
    let Seen { at, world, definition, took, .. } = seen;
    let First { creates, deleted: by_hand, waits } = first;
    let rest = match &creates {
        Some(creates) => asked.planner.plan(&automatic::without_waiting(&world, creates.plan.plan())),
        None => asked.planner.plan(&world),
    };
    let Planned { plan: rest, .. } = rest.map_err(|refused| of_judge(&refused))?;
    let goes = by_hand.is_some() || !waits.is_empty();
    let plans: Vec<&Plan> = creates.iter().map(|creates| creates.plan.plan()).chain([rest.plan()]).collect();
    let at_rest = (!goes).then(|| {
        let World { policy, .. } = to_be_tried(asked, &world, at);
        Rested { world: world.clone(), policy, definition }
    });
    let at_rest = at_rest.and_then(|rested| Rest::after(rested, &plans, asked.clock_speed));
    let took = took + started.elapsed();
    Ok(Planning { at, world, creates, deleted, rest, took, at_rest })
}

/// Plans the deletion of the nodes that users are deleting; obstacles to it affect nothing else.
fn by_hand(world: &World, definition: &Definition, mode: Mode) -> (Option<CheckedPlan>, Vec<Waits>) {
    let ByHand { world: asked, mut waits } = automatic::by_hand(world, definition, mode);
    let Some(asked) = asked else { return (None, waits) };
    match offline::plan(&asked) {
        Ok(Planned { plan, .. }) => {
            let held = plan.plan().evidence.held.iter();
            waits.extend(held.map(|held| Waits { node: held.node.clone(), because: held.because.clone() }));
            let goes = plan.plan().spec.deletes().count() > 0;
            (goes.then_some(plan), waits)
        }
        Err(refused) => {
            let because = of_judge(&refused).join("; ");
            let nodes = asked.snapshot.supposed.wishes.deleted.into_iter();
            waits.extend(nodes.map(|node| Waits { node, because: because.clone() }));
            (None, waits)
        }
    }
}

/// Returns the observed world, as `plan --live` does.
fn world(asked: &Asked, mut seen: Observation, at: Timestamp) -> Result<World, Vec<Problem>> {
    let ledger = seen.azure.as_mut().and_then(|facts| facts.ledger.as_mut());
    let plans = ledger.and_then(|ledger| ledger.plans.as_mut());
    plans.into_iter().for_each(|plans| plans.extend(asked.in_flight.iter().cloned()));
    if asked.mode == Mode::Observe {
        seen.sources.iter_mut().for_each(with_one_fleet);
    }
    // This snapshot is used by the next line only, which adds the catalog.
    let laid = seen.laid(Request::default(), at)?;
    offline::world(Request { laid: Some(laid), catalogs: asked.catalogs.clone(), ..Request::default() })
}

/// Keeps the first of several NodeFleets, by name: nothing is applied if there are several, but plans are shown.
fn with_one_fleet(source: &mut Source) {
    if source.name != "<nodefleets>" {
        return;
    }
    let Ok(mut page) = serde_json::from_slice::<Value>(&source.bytes) else { return };
    let Some(fleets) = page["items"].as_array_mut().filter(|fleets| fleets.len() > 1) else { return };
    fleets.sort_by_key(|fleet| fleet["metadata"]["name"].as_str().unwrap_or_default().to_owned());
    fleets.truncate(1);
    source.bytes = page.to_string().into_bytes();
}

fn said(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| problem.what.clone()).collect()
}

fn of_judge(refused: &RefusedPlan) -> Vec<String> {
    let findings = refused.findings.iter().map(ToString::to_string);
    findings
        .map(|finding| format!("the checker rejects the plan, which is a bug in nodeform: {finding}"))
        .collect()
}
