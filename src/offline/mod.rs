//! From files to a judged plan, without a cluster and without a cloud: the steps in their order.
//!
//! Pure: files come as bytes, time as a value. Nothing is decided here; each step is a call of the module
//! that decides it.

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

/// What to plan from.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Manifests and dumps.
    pub sources: Vec<Source>,
    /// How the sources are to be read.
    pub reading: ReadOptions,
    /// What is done with names of namespaces, workloads, pods and claims.
    pub names: Names,
    /// What is there and could not be read.
    pub gaps: Vec<Gap>,
    /// What a cluster was asked for, by `kubectl get`'s words, where a snapshot is made of one.
    pub listed: BTreeSet<String>,
    /// What Azure said of the cluster that a snapshot is made of.
    pub azure: Option<AzureFacts>,
    /// A snapshot to plan from instead of `sources`, and what is laid over it.
    pub laid: Option<Laid>,
    /// Lists of sizes and prices to use instead of the embedded ones.
    pub catalogs: Catalogs,
    /// What the subscription uses of its quotas, where that is known.
    pub usages: Option<Vec<Usage>>,
    /// The region, where the user said it.
    pub location: Option<Region>,
    /// The time to plan for.
    pub at: Option<Timestamp>,
    /// What is supposed that is not so.
    pub question: Question,
    /// What is asked to be done with single nodes.
    pub wishes: Wishes,
    /// What the plan is narrowed to; without any it holds every change.
    pub targets: BTreeSet<Target>,
    /// How the fleet is worked out; else as the NodeFleet says.
    pub strategy: Option<Strategy>,
    /// Whether the plan says what any fleet costs at least: of thousands of pods that takes seconds.
    pub proves_bound: bool,
    /// For how long a plan of a live cluster may begin.
    pub valid_for: Validity,
    /// Whether the daemonsets that AKS puts on every node are left out where the input has none.
    pub without_system_daemons: bool,
}

/// The world to plan in.
#[derive(Clone, Debug)]
pub struct World {
    /// What was seen.
    pub snapshot: Snapshot,
    /// What is asked for.
    pub policy: Policy,
    /// What the plan is narrowed to; without any it holds every change.
    pub targets: BTreeSet<Target>,
    /// How the fleet is worked out.
    pub strategy: Strategy,
    /// Whether the plan says what any fleet costs at least.
    pub proves_bound: bool,
    /// For how long a plan may begin; none where the world is not just as it was seen live, with all its pods.
    pub valid_for: Option<Validity>,
    /// How many objects were read, those that do not matter to a plan included.
    pub objects: usize,
    /// The sources of documents that are no objects of Kubernetes and were passed over.
    pub strays: BTreeSet<Arc<str>>,
    /// What looks wrong in the input and keeps nothing from being planned.
    pub remarks: Vec<Remark>,
    /// Those of them about NodePools and AKSNodeClasses that are left out, since they are faulty.
    pub faulty: Vec<Remark>,
    /// The removals whose plan is gone: what they began counts for nothing here, and is to be taken away.
    pub abandoned: Vec<Abandoned>,
    /// What is known of nodes: what those came to that were made for pods which wait, and what they really have.
    pub evidence: Arc<Evidence>,
    /// The places in [`ReadOptions::scale`] whose workloads are missing, where they may be.
    pub unscaled: BTreeSet<usize>,
}

impl World {
    /// Returns the same world, to be planned by a strategy: Karpenter's knows no gangs.
    #[must_use]
    pub fn by(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        if strategy == Strategy::Karpenter {
            self.remarks.extend(self::strategy::one_by_one(&mut self.snapshot));
        }
        self
    }
}

/// A world with the fleet that it should have, judged.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The fleet, and why.
    pub solution: Solution,
    /// The plan.
    pub plan: CheckedPlan,
}

/// Something wrong with the input, with what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, with file and line where there are any.
    pub what: String,
    /// What to do.
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

/// Reads and checks manifests as they are: the objects, and the policy that they say.
///
/// # Errors
/// Every fault of every document, sorted by file and line.
pub fn read(sources: Vec<Source>) -> Result<(Objects, Policy), Vec<manifests::Fault>> {
    read_with(sources, &ReadOptions::default())
}

/// Reads what users of a live cluster say of its nodes, without those of its NodePools and AKSNodeClasses that are faulty.
///
/// # Errors
/// Everything that is wrong with what holds for the whole cluster.
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

/// Looks manifests through: the objects with every remark about them, beside every fault, sorted by file and line. With
/// any fault the objects are good for nothing but what is said of them.
#[must_use]
pub fn look(sources: Vec<Source>) -> (Objects, Vec<manifests::Fault>) {
    let read = manifests::read_all(sources, &ReadOptions::default());
    let (objects, _, faults) = checked(read, Faulty::Refused);
    (objects, faults)
}

/// Adds the policy that objects say to them, and what is wrong with it to their faults.
fn with_policy(
    read: (Objects, Vec<manifests::Fault>),
    faulty: Faulty,
) -> Result<(Objects, Policy), Vec<manifests::Fault>> {
    let (objects, policy, faults) = checked(read, faulty);
    if faults.is_empty() { Ok((objects, policy)) } else { Err(faults) }
}

/// Checks the policy that objects say. One fault hides no remark: people mend everything in one go.
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

/// Says which fields of an object are likely of a later version.
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

/// Gives a fault of an object the file and the line of its field. Where text is wanted and a boolean stands, the word that
/// was written is told: a boolean does not know it.
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
/// Everything that is wrong with the input.
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

/// Returns what could not be read. Of kinds that could not be listed it is not said that the input has none of them.
fn unread(gaps: Vec<Gap>, recorded: Option<&Recorded>, objects: &mut Objects) -> Vec<Gap> {
    let of_recorded = recorded.into_iter().flat_map(|recorded| recorded.gaps.iter().cloned());
    let gaps: Vec<Gap> = gaps.into_iter().chain(of_recorded).collect();
    objects.missing.retain(|kind| !gaps.iter().any(|gap| gap.is_of_kind(kind.short())));
    gaps
}

/// Notes in a snapshot what was assumed, and what could not be read.
fn note(snapshot: &mut Snapshot, assumptions: Vec<Assumption>, gaps: Vec<Gap>) {
    snapshot.assumptions.extend(assumptions);
    snapshot.assumptions.extend(unlisted::assumption(snapshot));
    snapshot.assumptions.sort();
    snapshot.gaps.extend(gaps);
    snapshot.gaps.sort();
}

/// Returns what is sold in a region: by the lists that are named, else by what a snapshot holds.
fn sold(given: Option<&Catalog>, catalogs: &Catalogs, region: &Region) -> Result<Catalog, Vec<Problem>> {
    match given {
        Some(given) => recorded::of_region(given, region),
        None => catalogs.of(region),
    }
}

/// Returns the world as it is asked about.
fn supposed(snapshot: Snapshot, question: &Question, wishes: &Wishes) -> Result<Snapshot, Vec<Problem>> {
    let problem = |(what, hint)| Problem { what, hint: Some(hint) };
    let asked = suppose(snapshot, question).and_then(|snapshot| wish(snapshot, wishes));
    asked.map_err(|faults| faults.into_iter().map(problem).collect())
}

/// Objects and policy, and what a snapshot says beside its objects.
type Taken = ((Objects, Policy), Option<Recorded>);

/// Reads the snapshot to plan from, with what it says beside its objects, or the sources.
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

/// Gives pools whose class the input does not hold a class with Karpenter's defaults, and says so.
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

/// Returns a fault without its hint inside the text.
fn problem(fault: &manifests::Fault) -> Problem {
    let hint = fault.hint.clone();
    Problem { what: manifests::Fault { hint: None, ..fault.clone() }.to_string(), hint }
}

/// Plans a world and has the plan judged. Whoever plans again and again keeps a [`Planner`].
///
/// # Errors
/// The plan that the judge refused: a bug in nodeform.
pub fn plan(world: &World) -> Result<Planned, RefusedPlan> {
    Planner::default().plan(world)
}

/// Plans worlds one after the other, and keeps what the next plan can use. Plans are the same as without it.
#[derive(Default)]
pub struct Planner {
    solver: Solver,
}

impl Planner {
    /// Plans a world and has the plan judged.
    ///
    /// # Errors
    /// The plan that the judge refused: a bug in nodeform.
    pub fn plan(&self, world: &World) -> Result<Planned, RefusedPlan> {
        judge(world, self.propose(world))
    }

    /// Plans a world; nothing was judged yet.
    fn propose(&self, world: &World) -> Proposed {
        let (mut solution, mut plan) = unjudged((world, &self.solver));
        solution.report.honoring = honoring::honoring((world, &self.solver), &solution);
        plan.evidence.report.honoring = solution.report.honoring.clone();
        bounded(world, solution, plan)
    }
}

/// A plan that was not judged yet; nothing but [`judge()`] takes it.
#[derive(Clone, Debug)]
pub struct Proposed {
    solution: Solution,
    plan: Plan,
}

/// Plans a world: the longest step, so that whoever waits can be told.
#[must_use]
pub fn propose(world: &World) -> Proposed {
    Planner::default().propose(world)
}

/// Adds what any such fleet costs at least, where that is asked for.
fn bounded(world: &World, mut solution: Solution, mut plan: Plan) -> Proposed {
    // What targets leave out is no fleet of its own.
    let is_whole = world.targets.is_empty() && !world.snapshot.supposed.wishes.only_removes();
    if world.proves_bound && is_whole {
        solution.report.bound = crate::solve::bound::bound(&world.snapshot, &world.policy, &solution);
        plan.evidence.report.bound = solution.report.bound;
    }
    Proposed { solution, plan }
}

impl Proposed {
    /// Adds what this strategy arrives at, and what another does for the same world.
    #[must_use]
    pub fn beside(mut self, own: Strategy, (strategy, other): (Strategy, &Planned)) -> Self {
        let fleets = [(own, &self.plan), (strategy, other.plan.plan())];
        let fleets = fleets.map(|(strategy, plan)| StrategyFleet::of(strategy, plan));
        self.plan.evidence.strategies = fleets.into();
        self
    }
}

/// Has what was proposed for a world judged. Where the cheapest fleet is refused, the next best that is accepted is
/// planned instead, with a warning.
///
/// # Errors
/// The plan that the judge refused: a bug in nodeform.
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

/// Makes a plan of a fleet, with what was noticed when the world was read.
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
