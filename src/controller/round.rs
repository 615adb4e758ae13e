//! One round: the cluster and Azure are read, and planned on a thread of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::looks;
use super::metrics::Metrics;
use crate::automatic::{self, BackOff, ByHand, Definition, Waits};
use crate::cluster::Cluster;
use crate::model::Mode;
use crate::observe::{Named, Observation, Remembered, observe};
use crate::offline::{self, Catalogs, Planned, Planner, Problem, Request, World};
use crate::policy::Policy;
use crate::review::{CheckedPlan, RefusedPlan};

/// What is read, and how it is planned.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) cluster: Cluster,
    pub(super) azure: Remembered,
    pub(super) named: Named,
    pub(super) catalogs: Catalogs,
    pub(super) mode: Mode,
    pub(super) back_off: BackOff,
    /// What earlier rounds worked out: plans are the same without it, only later.
    pub(super) planner: Arc<Planner>,
    /// The plans that are being carried out here, whatever becomes of their NodePlans.
    pub(super) in_flight: BTreeSet<Arc<str>>,
    /// Panics are counted there.
    pub(super) metrics: Arc<Metrics>,
}

/// New nodes for pods that wait.
pub(super) struct Creates {
    pub(super) plan: CheckedPlan,
    /// What is asked for, without what is not to be tried now.
    pub(super) policy: Policy,
}

/// What a round comes to.
pub(super) struct Round {
    /// When it began to read.
    pub(super) at: Timestamp,
    pub(super) world: World,
    /// New nodes for pods that wait; in mode `observe` there is only the other one.
    pub(super) creates: Option<Creates>,
    /// All else; in mode `observe` the whole.
    pub(super) rest: CheckedPlan,
    /// The nodes that somebody deletes and that go, where there are any.
    pub(super) deleted: Option<CheckedPlan>,
    /// Those that wait.
    pub(super) waits: Vec<Waits>,
    /// How long it was planned.
    pub(super) took: Duration,
    /// What was noticed when it was read.
    pub(super) warnings: Vec<String>,
}

/// Reads and plans.
///
/// # Errors
/// Everything that keeps a plan from being made.
pub(super) async fn round(asked: Asked) -> Result<Round, Vec<String>> {
    let at = asked.cluster.clock().now();
    let seen = observe(&asked.cluster, &asked.azure, &asked.named).await;
    let seen = seen.map_err(|faults| faults.iter().map(|fault| fault.what.clone()).collect::<Vec<_>>())?;
    // Behind the objects: a kind that was to go when they were read is to go still.
    let definition = looks::definition(&asked.cluster).await;
    let metrics = Arc::clone(&asked.metrics);
    let planned = tokio::task::spawn_blocking(move || planned(asked, (seen, definition), at)).await;
    planned.unwrap_or_else(|error| {
        metrics.panicked();
        Err(vec![format!("planning ended with a bug of nodeform: {error}")])
    })
}

fn planned(
    asked: Asked,
    (seen, definition): (Observation, Definition),
    at: Timestamp,
) -> Result<Round, Vec<String>> {
    let started = Instant::now();
    let warnings = seen.warnings.clone();
    let world = world(&asked, seen, at).map_err(|problems| said(&problems))?;
    let (deleted, waits) = by_hand(&world, &definition, asked.mode);
    if asked.mode == Mode::Observe {
        let rest = asked.planner.plan(&world).map_err(|refused| of_judge(&refused))?.plan;
        let took = started.elapsed();
        return Ok(Round { at, world, creates: None, rest, deleted, waits, took, warnings });
    }
    let alone = automatic::creates_alone(&world, &asked.back_off, at);
    let Planned { plan, .. } = asked.planner.plan(&alone).map_err(|refused| of_judge(&refused))?;
    let creates = Creates { plan, policy: alone.policy };
    let rest = automatic::without_waiting(&world, creates.plan.plan());
    let Planned { plan: rest, .. } = asked.planner.plan(&rest).map_err(|refused| of_judge(&refused))?;
    let took = started.elapsed();
    Ok(Round { at, world, creates: Some(creates), rest, deleted, waits, took, warnings })
}

/// Plans the nodes that somebody deletes; whatever keeps them keeps nothing else.
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

/// Returns the world that was seen, as `plan --live` does.
fn world(asked: &Asked, mut seen: Observation, at: Timestamp) -> Result<World, Vec<Problem>> {
    let ledger = seen.azure.as_mut().and_then(|facts| facts.ledger.as_mut());
    let plans = ledger.and_then(|ledger| ledger.plans.as_mut());
    plans.into_iter().for_each(|plans| plans.extend(asked.in_flight.iter().cloned()));
    // Nobody reads this snapshot but the next line, which has the catalogue.
    let laid = seen.laid(Request::default(), at)?;
    offline::world(Request { laid: Some(laid), catalogs: asked.catalogs.clone(), ..Request::default() })
}

fn said(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| problem.what.clone()).collect()
}

fn of_judge(refused: &RefusedPlan) -> Vec<String> {
    let findings = refused.findings.iter().map(ToString::to_string);
    findings
        .map(|finding| format!("the judge refuses the plan, which is a bug of nodeform: {finding}"))
        .collect()
}
