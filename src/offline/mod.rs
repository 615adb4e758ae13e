//! From files to a checked plan, without a cluster or a cloud: the pipeline's steps in order.
//!
//! Pure: files are passed as bytes, time as a value. Never decides anything; each step calls the module that does.

pub mod again;
pub mod beside;
mod catalogs;
pub mod compare;
mod faulty;
mod held_back;
mod hidden_azure;
mod honoring;
mod instead;
mod learned;
mod live;
mod network;
mod older;
mod recorded;
mod refresh;
mod region;
mod same;
pub mod standing;
mod strategy;
mod unknown;
mod unlisted;
mod unreadable;
pub mod validity;
mod waiting;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use crate::api::Kind;
use crate::catalog::Catalog;
use crate::manifests::{self, Names, Objects, ReadOptions, Remark, Source};
use crate::model::{ClassName, Pool, Region, Target, Usage, Wishes};
use crate::plan::strategies::StrategyFleet;
use crate::plan::{self, Plan};
use crate::policy::{self, Policy, WireObject};
use crate::review::{CheckedPlan, RefusedPlan};
use crate::snapshot::{
    Abandoned, AssembleOptions, Assumption, AzureFacts, Gap, Question, Snapshot, abandoned, assemble, coming,
    headroom, quota, suppose, wish,
};
use crate::solve::{Solution, Solver, Strategy, Warning};
pub use catalogs::Catalogs;
use faulty::{Faulty, Sound};
pub use learned::Evidence;
use network::Network;
pub use older::told;
use recorded::Recorded;
pub use recorded::{Laid, Seen, difference, seen, snapshot};
pub use refresh::{Refreshed, refreshed};
use validity::Validity;

/// The input of a plan.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Manifests and dumps.
    pub sources: Vec<Source>,
    /// How to read the sources.
    pub reading: ReadOptions,
    /// How to treat names of namespaces, workloads, pods and claims.
    pub names: Names,
    /// Data that exists but could not be read.
    pub gaps: Vec<Gap>,
    /// The kinds requested from a cluster, in `kubectl get`'s words, if a snapshot is created from one.
    pub listed: BTreeSet<String>,
    /// Azure's facts of the cluster for a new snapshot.
    pub azure: Option<AzureFacts>,
    /// A snapshot to plan from instead of `sources`, with its overlay.
    pub laid: Option<Laid>,
    /// Lists of sizes and prices to use instead of the embedded ones.
    pub catalogs: Catalogs,
    /// The subscription's quota usage, if known.
    pub usages: Option<Vec<Usage>>,
    /// The region, if the user set it.
    pub location: Option<Region>,
    /// The time to plan for.
    pub at: Option<Timestamp>,
    /// Hypothetical assumptions.
    pub question: Question,
    /// Requested changes to single nodes.
    pub wishes: Wishes,
    /// Targets that restrict the plan; if empty, it contains every change.
    pub targets: BTreeSet<Target>,
    /// The strategy; defaults to the NodeFleet's.
    pub strategy: Option<Strategy>,
    /// Whether the plan reports a lower bound of any fleet's cost; with thousands of pods that takes seconds.
    pub proves_bound: bool,
    /// How long a plan of a live cluster may be started.
    pub valid_for: Validity,
    /// Whether to omit the system DaemonSets that AKS runs on every node if the input has none.
    pub without_system_daemons: bool,
}

/// The world to plan.
#[derive(Clone, Debug)]
pub struct World {
    /// The observed state.
    pub snapshot: Snapshot,
    /// The desired policy.
    pub policy: Policy,
    /// Targets that restrict the plan; if empty, it contains every change.
    pub targets: BTreeSet<Target>,
    /// The strategy that computes the fleet.
    pub strategy: Strategy,
    /// Whether the plan reports a lower bound of any fleet's cost.
    pub proves_bound: bool,
    /// How long a plan may be started; `None` if the world is not exactly as seen live, with all its pods.
    pub valid_for: Option<Validity>,
    /// Number of objects read, including irrelevant ones.
    pub objects: usize,
    /// The sources of skipped documents that are not Kubernetes objects.
    pub strays: BTreeSet<Arc<str>>,
    /// Problems in the input that do not prevent planning.
    pub remarks: Vec<Remark>,
    /// The remarks about invalid NodePools and AKSNodeClasses, which are skipped.
    pub faulty: Vec<Remark>,
    /// Removals whose plan is gone: they are ignored here and have to be rolled back.
    pub abandoned: Vec<Abandoned>,
    /// Observations of nodes: outcomes of nodes created for pods still pending, and actual resources.
    pub evidence: Arc<Evidence>,
    /// The indices in [`ReadOptions::scale`] whose workloads are missing but may be.
    pub unscaled: BTreeSet<usize>,
}

impl World {
    /// Returns the world with another strategy; Karpenter's ignores gangs.
    #[must_use]
    pub fn by(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        if strategy == Strategy::Karpenter {
            self.remarks.extend(self::strategy::one_by_one(&mut self.snapshot));
        }
        self
    }
}

/// A checked plan and the fleet that it leads to.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The fleet, with reasons.
    pub solution: Solution,
    /// The plan.
    pub plan: CheckedPlan,
}

/// A problem of the input, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem, with file and line if known.
    pub what: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Reads and checks manifests without options: the objects and their policy.
///
/// # Errors
/// Every fault of every document, sorted by file and line.
pub fn read(sources: Vec<Source>) -> Result<(Objects, Policy), Vec<manifests::Fault>> {
    read_with(sources, &ReadOptions::default())
}

/// Reads the users' policy for a live cluster's nodes, without invalid NodePools and AKSNodeClasses.
///
/// # Errors
/// All faults of objects that apply to the whole cluster.
pub fn said_of_nodes(sources: Vec<Source>) -> Result<Policy, Vec<manifests::Fault>> {
    let read = manifests::read_all(sources, &ReadOptions::default());
    let (_, mut policy) = with_policy(read, Faulty::LeftOut)?;
    policy.assume_missing_classes();
    Ok(policy)
}

fn read_with(
    sources: Vec<Source>,
    options: &ReadOptions,
) -> Result<(Objects, Policy), Vec<manifests::Fault>> {
    let written = older::Written::of(&sources);
    let read = with_policy(manifests::read_all(sources, options), Faulty::Refused);
    read.map_err(|wrong| written.told(wrong))
}

/// Inspects manifests: the objects with every remark about them, and every fault, sorted by file and line. If there are
/// faults, only the objects' remarks are meaningful.
#[must_use]
pub fn look(sources: Vec<Source>) -> (Objects, Vec<manifests::Fault>) {
    let read = manifests::read_all(sources, &ReadOptions::default());
    let (objects, _, faults) = checked(read, Faulty::Refused);
    (objects, faults)
}

/// Adds the policy of the objects to them, and its faults to theirs.
fn with_policy(
    read: (Objects, Vec<manifests::Fault>),
    faulty: Faulty,
) -> Result<(Objects, Policy), Vec<manifests::Fault>> {
    let (objects, policy, faults) = checked(read, faulty);
    if faults.is_empty() { Ok((objects, policy)) } else { Err(faults) }
}

/// Checks the policy of the objects. A fault does not suppress remarks, so users can fix everything in one go.
fn checked(
    (mut objects, mut faults): (Objects, Vec<manifests::Fault>),
    faulty: Faulty,
) -> (Objects, Policy, Vec<manifests::Fault>) {
    let wire: Vec<(&manifests::OurObject, WireObject<'_>)> = objects
        .ours
        .iter()
        .filter_map(|object| {
            let api_version = object.value.get("apiVersion")?.as_str()?;
            let kind = Kind::of(api_version, &object.kind)?;
            Some((object, WireObject { kind, value: &object.value }))
        })
        .collect();
    let bare: Vec<WireObject<'_>> = wire.iter().map(|(_, object)| *object).collect();
    let Sound { policy, left_out } = faulty::sound(&bare, faulty).unwrap_or_else(|wrong| {
        for (index, fault) in wrong {
            faults.extend(wire.get(index).map(|(object, wire)| located(object, wire.kind, fault)));
        }
        Sound::default()
    });
    faults.sort();
    let later: Vec<Remark> = wire.iter().flat_map(|(object, wire)| later_fields(object, *wire)).collect();
    let left_out = left_out.iter().filter_map(|(index, fault)| Some((wire.get(*index)?.0, fault)));
    let left_out: Vec<Remark> = left_out.map(|(object, fault)| faulty::remark(object, fault)).collect();
    objects.said.remarks.extend(later.iter().chain(&left_out).cloned());
    (objects.said.later, objects.said.faulty) = (later, left_out);
    (objects, policy, faults)
}

/// Reports the fields of an object that probably belong to a later version.
fn later_fields(object: &manifests::OurObject, wire: WireObject<'_>) -> Vec<Remark> {
    let faults = policy::later_fields(wire.kind, wire.value).into_iter();
    let remark = |fault: policy::Fault| {
        let (file, line) = (&object.file, object.line(&fault.path));
        let hint = match policy::is_only_older(wire.value, &fault.path) {
            true => format!(
                "only `v1alpha2` has it: `nodeform validate --fix {}` removes it",
                if &**file == "<stdin>" { "-" } else { &**file }
            ),
            false => "it may be of a later version of Karpenter's Azure provider".to_owned(),
        };
        Remark {
            object: format!("{}/{}", object.kind, object.name),
            what: format!("unknown field \"{}\" at {file}:{line}: planned without it", fault.path_text()),
            hint: Some(hint),
        }
    };
    faults.map(remark).collect()
}

/// Adds the file and the line of the field to a fault of an object. If a string is required and the value is a boolean,
/// the message quotes the original word, which the boolean itself has lost.
fn located(object: &manifests::OurObject, kind: Kind, fault: policy::Fault) -> manifests::Fault {
    let fault = match object.tree.at_path(&fault.path).map(|tree| &tree.value) {
        Some(manifests::tree::Value::Bool(truth)) if policy::takes_text(kind, &fault.path) => {
            let (message, hint) = truth.instead_of_text();
            policy::Fault { message, ..fault }.hint(hint)
        }
        Some(_) | None => fault,
    };
    manifests::Fault {
        file: object.file.clone(),
        line: object.line(&fault.path),
        object: Some(format!("{}/{}", object.kind, object.name)),
        path: fault.path,
        message: fault.message,
        hint: fault.hint,
    }
}

/// Returns the world that the input describes.
///
/// # Errors
/// All faults of the input.
pub fn world(request: Request) -> Result<World, Vec<Problem>> {
    let without_system_daemons = request.without_system_daemons;
    let Request {
        sources,
        reading,
        names,
        gaps,
        laid,
        catalogs,
        usages,
        location,
        at,
        question,
        wishes,
        targets,
        strategy,
        proves_bound,
        valid_for,
        ..
    } = request;
    let is_as_seen = reading == ReadOptions::default()
        && laid.as_ref().is_some_and(|laid| laid.with.is_empty() && laid.prune.is_empty());
    let ((mut objects, mut policy), recorded) = taken(laid, sources, &reading, names)?;
    let gaps = unread(gaps, recorded.as_ref(), &mut objects);
    let mut assumptions = Vec::new();
    let said = location.or_else(|| recorded.as_ref()?.location.clone());
    let given = recorded.as_ref().and_then(Recorded::catalog).filter(|_| catalogs.is_empty());
    let listed = catalogs.region().or_else(|| Some(given?.region.clone()));
    let region = region::region(said, (&policy, &objects), listed, &mut assumptions);
    let catalog = sold(given, &catalogs, &region)?;
    if let Some(recorded) = recorded.as_ref().filter(|_| catalogs.is_empty()) {
        assumptions.extend(recorded.other_catalog());
    }
    let at = at.or_else(|| recorded.as_ref()?.at);
    let azure = recorded.as_ref().and_then(|recorded| recorded.azure.clone()).map(Arc::new);
    azure.iter().for_each(|facts| live::take_network(&mut policy, facts));
    let Network { setup: network, assumptions: of_network, remarks } =
        network::network(&policy, &objects.nodes);
    assumptions.extend(of_network);
    policy.fleet.network = Some(network);
    assumptions.extend(missing_classes(&mut policy));
    assumptions.extend(coming::fill(&mut objects.nodes, &catalog, &policy, network));
    let options = AssembleOptions { at, network, assumes_system_daemons: !without_system_daemons };
    let mut snapshot = Snapshot { azure, ..assemble(&objects, catalog, options) };
    let usages = usages.or_else(|| recorded.as_ref()?.usages.clone());
    snapshot.quota = usages.map(|usages| Arc::new(quota::of(&usages, &snapshot)));
    let mut refused = live::rule_out_refused(&mut snapshot);
    refused.extend(live::rule_out_unbuildable(&mut snapshot, (&policy, network)));
    let abandoned = abandoned::take(&mut snapshot);
    let kept = [live::keep_others(&mut snapshot), live::of_lost(&snapshot.nodes)].concat();
    let evidence = learned::taken(&mut snapshot, &objects, (&policy, network));
    headroom::keep_room(&mut snapshot, &policy.buffers, &objects.templates);
    note(&mut snapshot, assumptions, gaps);
    let snapshot = supposed(snapshot, &question, &wishes)?;
    let own = policy.fleet.strategy;
    let world = World {
        snapshot: crate::solve::withheld(crate::solve::preempted(snapshot), &evidence.tries.held),
        policy,
        targets,
        strategy: own,
        proves_bound,
        valid_for: is_as_seen.then_some(valid_for),
        objects: objects.documents,
        strays: objects.strays,
        remarks: [objects.said.remarks, remarks, refused, kept, live::of_abandoned(&abandoned)].concat(),
        abandoned,
        evidence,
        faulty: objects.said.faulty,
        unscaled: objects.said.unscaled,
    };
    Ok(world.by(strategy.unwrap_or(own)))
}

/// Returns the data that could not be read. Kinds that could not be listed are not reported as missing from the input.
fn unread(gaps: Vec<Gap>, recorded: Option<&Recorded>, objects: &mut Objects) -> Vec<Gap> {
    let of_recorded = recorded.into_iter().flat_map(|recorded| recorded.gaps.iter().cloned());
    let gaps: Vec<Gap> = gaps.into_iter().chain(of_recorded).collect();
    objects.missing.retain(|kind| !gaps.iter().any(|gap| gap.is_of_kind(kind.short())));
    gaps
}

/// Records assumptions and unread data in a snapshot.
fn note(snapshot: &mut Snapshot, assumptions: Vec<Assumption>, gaps: Vec<Gap>) {
    snapshot.assumptions.extend(assumptions);
    snapshot.assumptions.extend(unlisted::assumption(snapshot));
    snapshot.assumptions.sort();
    snapshot.gaps.extend(gaps);
    snapshot.gaps.sort();
}

/// Returns the offerings in a region: from the given lists, else from the snapshot.
fn sold(given: Option<&Catalog>, catalogs: &Catalogs, region: &Region) -> Result<Catalog, Vec<Problem>> {
    match given {
        Some(given) => recorded::of_region(given, region),
        None => catalogs.of(region),
    }
}

/// Applies the hypothetical assumptions and the requested changes to a snapshot.
fn supposed(snapshot: Snapshot, question: &Question, wishes: &Wishes) -> Result<Snapshot, Vec<Problem>> {
    let problem = |(what, hint)| Problem { what, hint: Some(hint) };
    let asked = suppose(snapshot, question).and_then(|snapshot| wish(snapshot, wishes));
    asked.map_err(|faults| faults.into_iter().map(problem).collect())
}

/// Objects and policy, and the other contents of a snapshot.
type Taken = ((Objects, Policy), Option<Recorded>);

/// Reads the snapshot to plan from, with its other contents, or else the sources.
fn taken(
    laid: Option<Laid>,
    sources: Vec<Source>,
    reading: &ReadOptions,
    names: Names,
) -> Result<Taken, Vec<Problem>> {
    let recorded = laid.map(|laid| recorded::read(laid, reading, names)).transpose();
    let (read, recorded) = match recorded.map_err(|faults| problems(&faults))? {
        Some((read, recorded)) => (read, Some(recorded)),
        None if names == Names::Show => (read_with(sources, reading), None),
        None => (recorded::hidden(sources, reading, names), None),
    };
    Ok((read.map_err(|faults| problems(&faults))?, recorded))
}

/// Adds a class with Karpenter's defaults to pools whose class is not in the input, and reports it.
fn missing_classes(policy: &mut Policy) -> Vec<Assumption> {
    let assumed = policy.assume_missing_classes().into_iter();
    let said = |(class, pool): (ClassName, Pool)| Assumption {
        what: format!("AKSNodeClass `{class}` with Karpenter's defaults"),
        why: format!("pool `{}` names it and the input does not hold it", pool.name),
    };
    assumed.map(said).collect()
}

fn problems(faults: &[manifests::Fault]) -> Vec<Problem> {
    faults.iter().map(problem).collect()
}

/// Converts a fault, with its hint kept separate from the text.
fn problem(fault: &manifests::Fault) -> Problem {
    let hint = fault.hint.clone();
    Problem { what: manifests::Fault { hint: None, ..fault.clone() }.to_string(), hint }
}

/// Plans a world and checks the plan. Use a [`Planner`] to plan repeatedly.
///
/// # Errors
/// The plan, if the checker rejects it: a bug in nodeform.
pub fn plan(world: &World) -> Result<Planned, RefusedPlan> {
    Planner::default().plan(world)
}

/// Plans worlds one after the other, and caches results for the next plan. The cache does not change plans.
#[derive(Default)]
pub struct Planner {
    solver: Solver,
}

impl Planner {
    /// Plans a world and checks the plan.
    ///
    /// # Errors
    /// The plan, if the checker rejects it: a bug in nodeform.
    pub fn plan(&self, world: &World) -> Result<Planned, RefusedPlan> {
        judge(world, self.propose(world))
    }

    /// Plans a world without checking the plan.
    fn propose(&self, world: &World) -> Proposed {
        let (mut solution, mut plan) = unjudged((world, &self.solver));
        solution.report.honoring = honoring::honoring((world, &self.solver), &solution);
        plan.evidence.report.honoring = solution.report.honoring.clone();
        bounded(world, solution, plan)
    }
}

/// An unchecked plan; only [`judge()`] accepts it.
#[derive(Clone, Debug)]
pub struct Proposed {
    solution: Solution,
    plan: Plan,
}

/// Plans a world. A separate step because it takes longest, so callers can report progress.
#[must_use]
pub fn propose(world: &World) -> Proposed {
    Planner::default().propose(world)
}

/// Adds the lower bound of such a fleet's cost, if requested.
fn bounded(world: &World, mut solution: Solution, mut plan: Plan) -> Proposed {
    // A plan restricted by targets is not a complete fleet.
    let is_whole = world.targets.is_empty() && !world.snapshot.supposed.wishes.only_removes();
    if world.proves_bound && is_whole {
        solution.report.bound = crate::solve::bound::bound(&world.snapshot, &world.policy, &solution);
        plan.evidence.report.bound = solution.report.bound;
    }
    Proposed { solution, plan }
}

impl Proposed {
    /// Adds the results of this strategy and of another one for the same world.
    #[must_use]
    pub fn beside(mut self, own: Strategy, (strategy, other): (Strategy, &Planned)) -> Self {
        let fleets = [(own, &self.plan), (strategy, other.plan.plan())];
        let fleets = fleets.map(|(strategy, plan)| StrategyFleet::of(strategy, plan));
        self.plan.evidence.strategies = fleets.into();
        self
    }
}

/// Checks a proposed plan. If the cheapest fleet is rejected, plans the next best accepted one instead, with a warning.
///
/// # Errors
/// The plan, if the checker rejects it: a bug in nodeform.
pub fn judge(world: &World, proposed: Proposed) -> Result<Planned, RefusedPlan> {
    let Proposed { solution, plan } = proposed;
    match CheckedPlan::judged(&world.snapshot, &world.policy, plan) {
        Ok(plan) => Ok(Planned { solution, plan }),
        Err(refused) => instead::instead(world, &refused).ok_or(refused),
    }
}

fn unjudged((world, solver): (&World, &Solver)) -> (Solution, Plan) {
    if world.snapshot.supposed.wishes.destroy {
        let solution = crate::solve::destroy(&world.snapshot, &world.policy, &world.targets);
        let plan = plan_of(world, &solution);
        return (solution, plan);
    }
    if world.snapshot.supposed.wishes.only_removes() {
        let solution = crate::solve::deleted(&world.snapshot, &world.policy);
        let plan = plan_of(world, &solution);
        return (solution, plan);
    }
    let (solution, plan) = solved((world, solver));
    let plan = unknown::listed((world, solver), waiting::listed((world, solver), plan));
    (solution, plan)
}

fn solved((world, solver): (&World, &Solver)) -> (Solution, Plan) {
    match world.strategy {
        Strategy::Cheapest => {
            let solution = solver.solve(&world.snapshot, &world.policy);
            let plan = plan_of(world, &solution);
            (solution, plan)
        }
        Strategy::Karpenter => strategy::as_karpenter(world),
    }
}

/// Creates a plan from a fleet, with the remarks from reading the world.
fn plan_of(world: &World, solution: &Solution) -> Plan {
    let World { snapshot, objects, remarks, .. } = world;
    let mut plan = live::launched(world, solution);
    plan.evidence.world.documents = Some(*objects);
    let warning = |Remark { object, what, hint }: &Remark| Warning {
        object: object.clone(),
        what: what.clone(),
        hint: hint.clone(),
    };
    plan.evidence.report.warnings.extend(remarks.iter().map(warning));
    let awaited = plan::awaited::awaited(&plan);
    let awaited: Vec<Warning> = awaited.iter().filter_map(|awaited| awaited.warning(snapshot.at)).collect();
    plan.evidence.report.warnings.extend(awaited);
    let crowded = crate::solve::report::crowded::warnings(snapshot, &solution.target.removed_names());
    plan.evidence.report.warnings.extend(crowded);
    plan.evidence.report.warnings.extend(unlisted::warning(snapshot, solution));
    plan
}
