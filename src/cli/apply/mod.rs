//! `nodeform apply`: applies a saved plan, or creates a plan, shows it and asks for confirmation first.
//!
//! The steps are those of the other modes: observe, plan, check, approve, roll out.
#![expect(clippy::disallowed_methods, reason = "the terminal is asked, and the plan is kept in a file")]

mod arguments;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) use arguments::ApplyArguments;

use super::confirm::confirmed;
use super::exit::{Exit, Failure};
use super::input::Inputs;
use super::live::Connected;
use super::merged::watch::Watch;
use super::rolled::{RolloutOutput, Shown};
use super::ui::Ui;
use super::{saved, targets, world};
use crate::apply::{Actor, Book, By, Driver, Means, NotBegun, Reader, Stop, lift, tidy};
use crate::arm::ResourceId;
use crate::automatic;
use crate::cluster::lease::{self, Held};
use crate::cluster::{ClusterFailure, ClusterFailureKind};
use crate::gitops::{Narrowed, NotTaken, Struck, Taking, taken};
use crate::launch::Materials;
use crate::model::{Approver, ChangeClass, NodeName, Wishes};
use crate::offline::{Request, World};
use crate::plan::{ChangeId, Evidence, Plan};
use crate::review::{
    ApprovedPlan, CheckedPlan, LeftOut, NotApproved, Now, Terms, approve, finish, other_cluster,
};
use crate::rollout::{self, Ended, Event, Outcome};
use crate::snapshot::Abandoned;

/// Applies a plan.
///
/// # Errors
/// The plan cannot be applied, or not by this caller.
pub(super) fn run(arguments: &ApplyArguments, ui: Ui) -> Result<Exit, Failure> {
    let connected = arguments.azure.connect(&arguments.context)?;
    let saved_plan = arguments.plan.as_deref().map(saved::read).transpose()?;
    let world = observed(arguments, &connected, ui)?;
    let applying =
        |world| Applying { arguments, connected: &connected, world, ui, review: None, stop: Stop::default() };
    let checked = match saved_plan {
        Some(plan) => judged_again(plan)?,
        None => {
            let checked = proposed(arguments, &world, ui)?;
            if checked.plan().spec.waves.is_empty() {
                applying(world).lift_alone()?;
                return Ok(with_left_over(Exit::Done, left_over(checked.plan()), ui));
            }
            checked
        }
    };
    let left_over = left_over(checked.plan());
    let ended = exit(&applying(world).apply(checked)?);
    Ok(with_left_over(ended, left_over, ui))
}

/// Returns the exit code, and prints which nodes a destroy plan keeps and why.
fn with_left_over(ended: Exit, left_over: Option<String>, ui: Ui) -> Exit {
    match left_over.filter(|_| ended == Exit::Done) {
        Some(why) => {
            ui.aside(&why);
            Exit::InPart
        }
        None => ended,
    }
}

/// Returns the nodes that a destroy plan keeps and why, one per line.
fn left_over(plan: &Plan) -> Option<String> {
    let Evidence { held, report, .. } = &plan.evidence;
    let held = held.iter().map(|held| (&held.node, &held.because));
    let stays = held.chain(report.staying.iter().map(|(node, because)| (node, because)));
    let stays: BTreeMap<&NodeName, &String> = stays.collect();
    let lines = stays.iter().map(|(node, because)| format!("- node `{node}` is kept: {because}\n"));
    let what = format!("warning: not all is destroyed:\n{}", lines.collect::<String>());
    (plan.spec.wishes.destroy && !stays.is_empty()).then_some(what)
}

/// Observes the cluster, as `plan --live` does.
pub(super) fn observed(arguments: &ApplyArguments, connected: &Connected, ui: Ui) -> Result<World, Failure> {
    let catalogs = world::catalogs(&arguments.catalog)?;
    let asked = Request { catalogs, ..Request::default() };
    let laid = Some(arguments.azure.laid_of(connected, asked.clone(), ui)?);
    let targets = world::targets(&arguments.target)?;
    let wishes = Wishes { destroy: arguments.destroy, ..Wishes::default() };
    world::inhabited(Inputs::default(), Request { laid, targets, wishes, ..asked })
}

/// Runs the checker on a saved plan again, with the plan's own snapshot.
pub(super) fn judged_again(plan: Plan) -> Result<CheckedPlan, Failure> {
    let (snapshot, policy) = (plan.snapshot(), plan.policy());
    CheckedPlan::judged(&snapshot, &policy, plan).map_err(|refused| {
        let faults = refused.findings.iter().map(ToString::to_string).collect();
        Failure { exit: Exit::Stale, ..Failure::errors(faults) }
            .hint("plan again: `nodeform plan --live --out plan.json`")
    })
}

/// Hints if confirmation is not possible.
const UNASKED: [&str; 2] = [
    "save the plan, have it read, and apply it: `nodeform plan --live --out plan.json`, `nodeform apply plan.json`",
    "or apply without review: `--auto-approve`",
];

/// Creates and shows a plan, and asks for confirmation if it contains changes.
fn proposed(arguments: &ApplyArguments, world: &World, ui: Ui) -> Result<CheckedPlan, Failure> {
    let checked = world::planned(&automatic::by_name(world.clone()))?.plan;
    let plan = checked.plan();
    targets::meant(plan, &world.targets)?;
    if arguments.output == RolloutOutput::Human {
        saved::print((plan, &[]), None, (super::arguments::PlanOutput::Human, false), ui)?;
    }
    if plan.spec.waves.is_empty() {
        return Ok(checked);
    }
    if !arguments.auto_approve && !confirmed("Apply this plan?", &UNASKED, ui)? {
        return Err(Failure::error("the plan is not applied: not confirmed"));
    }
    let path = kept(plan)?;
    ui.aside(&format!(
        "Saved to `{0}`; go on with `nodeform apply {0}`, should this be interrupted.\n",
        path.display()
    ));
    Ok(checked)
}

/// Saves the plan before any of it is applied.
fn kept(plan: &Plan) -> Result<PathBuf, Failure> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = state.filter(|path| path.is_absolute()).or_else(home).map(|folder| folder.join("nodeform"));
    let folder = match folder.filter(|folder| std::fs::create_dir_all(folder).is_ok()) {
        Some(folder) => folder,
        None => PathBuf::from("."),
    };
    let path = folder.join(format!("plan-{}.json", plan.id()));
    saved::save(&path, plan, &std::collections::BTreeSet::new())?;
    Ok(path)
}

/// A plan to be applied, with everything needed for it.
pub(super) struct Applying<'a> {
    pub(super) arguments: &'a ApplyArguments,
    pub(super) connected: &'a Connected,
    pub(super) world: World,
    pub(super) ui: Ui,
    /// The review in Git, if there was one.
    pub(super) review: Option<Review>,
    /// Whether to stop.
    pub(super) stop: Stop,
}

/// The review of a merged plan.
pub(super) struct Review {
    /// Its folder on the branch.
    pub(super) watch: Watch,
    /// Outcomes of its changes in an earlier run, if any.
    pub(super) before: Option<BTreeMap<ChangeId, Outcome>>,
    /// The changes that reviewers struck.
    pub(super) struck: Struck,
    /// The approvers whose approvals counted.
    pub(super) approved_by: Vec<Approver>,
}

impl Applying<'_> {
    /// Applies a plan; from a merged plan, only what is still current.
    ///
    /// # Errors
    /// It is not approved, was already applied, or cannot be started.
    pub(super) fn apply(self, checked: CheckedPlan) -> Result<Ended, Failure> {
        let (reader, begun) = self.looked(checked.plan())?;
        let World { snapshot, policy, .. } = &self.world;
        let terms = Terms { parallelism: usize::from(self.arguments.parallelism) };
        let now = Now { snapshot, policy, begun: &begun };
        let approved = match &self.review {
            None => approve(checked, now, terms).map_err(|faults| not_approved(&faults))?,
            Some(review) => self.taken(review, (checked, now, terms))?,
        };
        self.roll_out(reader, Arc::new(approved))
    }

    /// Approves the part of a merged plan that is still current, and reports the rest.
    fn taken(
        &self,
        review: &Review,
        (checked, now, terms): (CheckedPlan, Now<'_>, Terms),
    ) -> Result<ApprovedPlan, Failure> {
        let taking = Taking {
            world: &self.world,
            checked,
            struck: review.struck.clone(),
            begun: now.begun,
            before: review.before.as_ref(),
            approved_by: &review.approved_by,
            terms,
        };
        let class = Some(review.watch.name.class);
        match taken(taking) {
            Ok(Narrowed { plan, said }) => {
                said.iter().for_each(|line| self.ui.aside(&format!("{line}\n")));
                Ok(plan)
            }
            Err(NotTaken::Refused(refused)) => Err(world::refused(refused)),
            Err(NotTaken::NotApproved(faults)) => Err(not_approved_of(&faults, class)),
            Err(NotTaken::Expired { fault, spent }) => {
                self.expire(*spent, review);
                Err(not_approved_of(&[fault], class))
            }
        }
    }

    /// Records that a merged plan has expired, so that the next run only counts it and does not fail because of it
    /// again. If that fails, the next run reports it again.
    fn expire(&self, spent: ApprovedPlan, review: &Review) {
        let folder = review.watch.place.folder(&review.watch.name);
        let wrote = self.connected.runtime.block_on(async {
            let held = self.lease().await?;
            let writer = self.connected.cluster.writing(held.gate());
            let by = By::Person(Some(&folder));
            let wrote = Book::expire(writer, &Arc::new(spent), by, world::now()).await;
            self.release(held).await;
            wrote.map_err(|fault| not_begun(&fault))
        });
        if let Err(failure) = wrote {
            let what = failure.faults.join("; ");
            self.ui.aside(&format!("warning: the next run reports this plan again: {what}\n"));
        }
    }

    /// Finishes the started changes of a withdrawn plan.
    ///
    /// # Errors
    /// It belongs to another cluster, or cannot be resumed.
    pub(super) fn finish(self, plan: Plan, because: &str) -> Result<Ended, Failure> {
        let (reader, begun) = self.looked(&plan)?;
        let World { snapshot, policy, .. } = &self.world;
        let now = Now { snapshot, policy, begun: &begun };
        let left = LeftOut::NoLongerHolds(because.into());
        let approved = finish(plan, now, &left).map_err(|faults| not_approved(&faults))?;
        self.stop.withdraw(because);
        self.roll_out(reader, Arc::new(approved))
    }

    /// Observes the cluster of a plan; returns the reader and the changes that have started.
    fn looked(&self, plan: &Plan) -> Result<(Reader, BTreeSet<ChangeId>), Failure> {
        let Some(execution) = &plan.spec.execution else {
            return Err(not_approved(&[NotApproved::NotLive]));
        };
        // Checked before reading objects that only the plan's own cluster has.
        if let Some(fault) = other_cluster(execution, &self.world.snapshot) {
            return Err(not_approved(&[fault]));
        }
        let reader = self.reader(execution)?;
        let (seen, failures) = self.connected.wait_for(reader.read());
        if !failures.is_empty() {
            return Err(Failure::errors(failures));
        }
        Ok((reader, rollout::begun(&plan.id(), &seen)))
    }

    fn reader(&self, execution: &crate::plan::Execution) -> Result<Reader, Failure> {
        let id: ResourceId = execution.cluster.id.parse().map_err(|_| {
            Failure::error(format!("`{}` is no id of a managed cluster", execution.cluster.id))
        })?;
        let group = ResourceId::of_group(id.subscription(), &execution.cluster.node_resource_group)
            .map_err(|fault| Failure::error(fault.to_string()))?;
        let Connected { cluster, azure, .. } = self.connected;
        Ok(Reader { cluster: cluster.clone(), azure: azure.clone(), group })
    }

    fn roll_out(self, reader: Reader, plan: Arc<ApprovedPlan>) -> Result<Ended, Failure> {
        let mut shown = Shown::new(&plan, self.arguments.output, self.ui);
        let ended = self.connected.runtime.block_on(async {
            let held = self.lease().await?;
            self.lift(&held, plan.id()).await;
            let ended = self.driven(reader, &plan, &held, &mut shown).await;
            if ended.is_ok() && !self.stop.is_at_once() {
                self.tidy(&held).await;
            }
            self.release(held).await;
            ended
        })?;
        shown.end(&ended)?;
        Ok(ended)
    }

    /// Cancels abandoned removals, whose plan no longer exists, when there is nothing else to do.
    ///
    /// # Errors
    /// Another process holds the Lease.
    fn lift_alone(&self) -> Result<(), Failure> {
        if self.world.abandoned.is_empty() {
            return Ok(());
        }
        self.connected.runtime.block_on(async {
            let held = self.lease().await?;
            self.lift(&held, "").await;
            self.release(held).await;
            Ok(())
        })
    }

    /// Cancels abandoned removals, whose plan no longer exists; removals of the plan that is being applied are kept.
    async fn lift(&self, held: &Held, plan: &str) {
        let others = self.world.abandoned.iter().filter(|removal| *removal.plan != *plan);
        let others: Vec<Abandoned> = others.cloned().collect();
        let writer = self.connected.cluster.writing(held.gate());
        if let Err(fault) = lift(&writer, &others).await {
            let what = "marks of removals stay whose plan is gone";
            self.ui.aside(&format!("warning: {what}: {fault}\nhint: {}\n", fault.hint()));
        }
    }

    async fn release(&self, held: Held) {
        if let Err(failure) = held.release().await {
            self.ui.aside(&format!("warning: could not release the Lease: {failure}\n"));
        }
    }

    /// Deletes NodePlans that are no longer needed.
    async fn tidy(&self, held: &Held) {
        let writer = self.connected.cluster.writing(held.gate());
        if let Err(fault) = tidy(&writer, world::now()).await {
            self.ui.aside(&format!(
                "warning: could not delete old NodePlans: {fault}\nhint: {}\n",
                fault.hint()
            ));
        }
    }

    /// Acquires the Lease that Karpenter uses too, so that no other process writes meanwhile.
    async fn lease(&self) -> Result<Held, Failure> {
        let cluster = &self.connected.cluster;
        let namespace = lease::namespace(cluster).await.map_err(|failure| refused(&failure))?;
        let terms = lease::Terms::default();
        let settings = lease::Settings { identity: identity(), namespace, terms, reports: false };
        let waits = |other: &lease::Other| {
            self.ui.aside(&format!("Waiting to see whether `{}` still renews its Lease.\n", other.holder));
        };
        lease::acquire(cluster, &settings, waits).await.map_err(|failure| refused(&failure))
    }

    async fn driven(
        &self,
        reader: Reader,
        plan: &Arc<ApprovedPlan>,
        held: &Held,
        shown: &mut Shown,
    ) -> Result<Ended, Failure> {
        let Connected { cluster, azure, .. } = self.connected;
        let gate = held.gate().clone();
        let writer = cluster.writing(&gate);
        let folder = self.review.as_ref().map(|review| review.watch.place.folder(&review.watch.name));
        let book = Book::open(writer.clone(), plan, By::Person(folder.as_deref()), world::now()).await;
        let class = self.review.as_ref().map(|review| review.watch.name.class);
        let book = book.map_err(|fault| match (&fault, class) {
            (NotBegun::Spent { .. }, Some(class)) => {
                let hint = saved::propose_anew(Some(class));
                Failure { exit: Exit::Stale, ..Failure::error(fault.to_string()).hint(hint) }
            }
            _ => not_begun(&fault),
        })?;
        let means = Means {
            writer,
            gate,
            azure: azure.clone(),
            materials: Materials::of((&self.world.snapshot, &self.world.policy), plan.spec()),
        };
        let actor = Actor::new(Arc::clone(plan), means);
        let clock_speed = azure.cloud().clock_speed;
        let mut driver = Driver::new(Arc::clone(plan), (reader, actor, book), clock_speed);
        let stop = self.stop.clone();
        driver.stop = stop.clone();
        driver.ends_waiting = self.review.is_some();
        driver.patience = self.arguments.drain_timeout;
        let listening = tokio::spawn(listen(stop.clone(), self.ui));
        let watch = self.review.as_ref().map(|review| review.watch.clone());
        let watching = watch.map(|watch| tokio::spawn(watch.keep(clock_speed, stop, self.ui)));
        let running = driver.run(|event: Event| shown.event(&event));
        let ended = tokio::select! {
            ended = running => Ok(ended),
            lost = held.lost() => Err(Failure::error(format!("lost the Lease, stopped writing: {lost}"))
                .hint("run the same command again; it resumes where this one stopped")),
        };
        listening.abort();
        watching.iter().for_each(tokio::task::JoinHandle::abort);
        ended
    }
}

/// Listens for Ctrl-C and SIGTERM, which a Job's Pod receives at its deadline: the first stops new changes, the second
/// stops immediately.
async fn listen(stop: Stop, ui: Ui) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    let mut heard = async || {
        tokio::select! {
            heard = tokio::signal::ctrl_c() => heard.is_ok(),
            heard = terminate.recv() => heard.is_some(),
        }
    };
    while heard().await {
        stop.ask();
        match stop.is_at_once() {
            true => {
                return ui.aside("Stopped. Apply the plan again to resume the changes that were started.\n");
            }
            false => ui.aside(
                "Finishing started changes; starting no others. Press Ctrl-C again to stop immediately.\n",
            ),
        }
    }
}

/// Returns the Lease holder identity, unique to this process.
pub(super) fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    let at = world::now().as_nanosecond();
    format!("{}_nodeform-{}-{at:x}", if host.is_empty() { "host" } else { host }, std::process::id())
}

fn refused(failure: &ClusterFailure) -> Failure {
    // Another process is acting, such as a running Karpenter, which blocks the plan.
    let is_busy = failure.kind == ClusterFailureKind::LeaseHeld;
    let exit = if is_busy { Exit::Stale } else { Exit::Error };
    Failure { exit, is_busy, ..Failure::errors(Vec::new()) }.and(&failure.what, Some(&failure.hint))
}

pub(super) fn not_begun(fault: &NotBegun) -> Failure {
    let exit = if matches!(fault, NotBegun::Spent { .. }) { Exit::Stale } else { Exit::Error };
    Failure { exit, ..Failure::errors(Vec::new()) }.and(&fault.to_string(), Some(&fault.hint()))
}

fn not_approved(faults: &[NotApproved]) -> Failure {
    not_approved_of(faults, None)
}

/// Returns why a plan is not applied; if it was merged, the hint is to propose it again.
fn not_approved_of(faults: &[NotApproved], merged: Option<ChangeClass>) -> Failure {
    let failure = Failure { exit: Exit::Stale, ..Failure::errors(Vec::new()) };
    let hint = |fault: &NotApproved| match merged.filter(|_| fault.is_of_plan()) {
        Some(class) => saved::propose_anew(Some(class)),
        None => fault.hint(),
    };
    faults.iter().fold(failure, |failure, fault| failure.and(&fault.to_string(), Some(&hint(fault))))
}

/// Returns the exit code for the result.
fn exit(ended: &Ended) -> Exit {
    if ended.is_so() { Exit::Done } else { Exit::InPart }
}
