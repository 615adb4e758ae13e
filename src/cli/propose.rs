//! `nodeform propose`: pushes a live plan to a branch of its own for review.

use std::path::PathBuf;

use super::apply;
use super::context::ContextArguments;
use super::exit::{Exit, Failure};
use super::input::Inputs;
use super::live::{AzureArguments, Connected};
use super::remote::{self, RemoteArguments};
use super::ui::Ui;
use super::{saved, world};
use crate::api::node_fleet::Git;
use crate::apply::recorded;
use crate::forge::Forge;
use crate::git::remote::{Address, Branch};
use crate::gitops::{self, Around, Going, Gone, Known, Proposing, Pushed, Standing, files};
use crate::model::ChangeClass;
use crate::offline::validity::Validity;
use crate::offline::{Request, World};
use crate::plan::Plan;
use crate::review::proposal::FolderName;
use clap::{Args, ValueEnum};

/// Puts a plan of a live cluster on a branch, where people review and merge it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform plan --live --out plan.json\n  \
    nodeform propose plan.json --git-repository https://forge.example/platform/nodes\n\n  \
    nodeform propose --live --class move-pods\n")]
pub(super) struct ProposeArguments {
    /// A plan that `nodeform plan --live --out` saved
    #[arg(value_name = "PLAN", required_unless_present = "live")]
    plan: Option<PathBuf>,
    /// Plan the live cluster first
    #[arg(long, conflicts_with = "plan")]
    live: bool,
    /// Plan changes of this class alone, with the others on hold
    #[arg(long, value_enum, value_name = "CLASS", requires = "live")]
    class: Option<ClassArgument>,
    /// How long the plan may be begun: 30m, 8h, 7d, at most 30 days [default: 4 hours with new nodes, else a day where
    /// nodes go that are empty or whose pods move, else 7 days]
    #[arg(long, value_name = "DURATION", requires = "live")]
    valid_for: Option<String>,
    /// Print the files instead, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    remote: RemoteArguments,
    #[command(flatten)]
    azure: AzureArguments,
    #[command(flatten)]
    context: ContextArguments,
}

/// A class of change that is proposed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClassArgument {
    /// New nodes
    Create,
    /// Nodes without pods go
    RemoveEmpty,
    /// Pods move so that nodes can go or become cheaper
    MovePods,
    /// Nodes go that drifted, are too old or unhealthy
    Replace,
    /// Nodes are changed in place, taken over or let go
    Update,
    /// Nodes go whose pool is gone
    DeletePool,
}

impl ClassArgument {
    const fn class(self) -> ChangeClass {
        match self {
            Self::Create => ChangeClass::Create,
            Self::RemoveEmpty => ChangeClass::RemoveEmpty,
            Self::MovePods => ChangeClass::MovePods,
            Self::Replace => ChangeClass::Replace,
            Self::Update => ChangeClass::Update,
            Self::DeletePool => ChangeClass::DeletePool,
        }
    }
}

/// Proposes a plan.
///
/// # Errors
/// There is no plan that could be carried out, or the repository does not take it.
pub(super) fn run(arguments: &ProposeArguments, ui: Ui) -> Result<Exit, Failure> {
    let Some(path) = &arguments.plan else { return live(arguments, ui) };
    let plan = saved::judged(saved::read(path)?)?;
    let Some(execution) = &plan.spec.execution else { return Err(nothing_live(&plan)) };
    if arguments.dry_run {
        return shown(&plan, ui);
    }
    let place = arguments.remote.place(None)?;
    let cluster = &execution.cluster.id;
    let known = Known { cluster, at: world::now(), ledger: None, signers: None };
    let access = remote::renewed_offline(&place)?;
    let around = Around::read(place, &access, known)?;
    Proposed { around: &around, forge: None, ui }.propose(&plan, signed(&plan, None)?)
}

/// Signs a plan by the key of the environment, where there is one.
fn signed(plan: &Plan, fleet: Option<&Git>) -> Result<Option<String>, Failure> {
    let key = remote::signing_key_file().map(|file| gitops::signing_key(&file)).transpose()?;
    Ok(gitops::signed(plan, key.as_ref(), fleet)?)
}

/// Plans the cluster beside what is proposed and merged already, and proposes that.
fn live(arguments: &ProposeArguments, ui: Ui) -> Result<Exit, Failure> {
    let connected = arguments.azure.connect(&arguments.context)?;
    let fleet = remote::of_fleet(&connected)?;
    let world = seen(arguments, &connected, ui)?;
    let cluster = world.snapshot.azure.as_ref().map(|facts| facts.cluster.id.to_string());
    if arguments.dry_run && !arguments.remote.is_named(fleet.as_ref()) {
        return shown(&world::planned(&world)?.plan.plan().clone(), ui);
    }
    let place = arguments.remote.place(fleet.as_ref())?;
    let ledger = connected.wait_for(recorded(&connected.cluster));
    let ledger = ledger.map_err(|fault| apply::not_begun(&fault))?;
    let signers = gitops::signers(fleet.as_ref())?;
    let cluster = cluster.unwrap_or_default();
    let known =
        Known { cluster: &cluster, at: world::now(), ledger: Some(&ledger), signers: signers.as_ref() };
    let access = remote::renewed(&connected, (&place, fleet.as_ref()))?;
    let around = Around::read(place, &access, known)?;
    let plan = planned(&world, arguments.class, &around.standing)?;
    for other in around.standing.merged_others() {
        ui.aside(&format!(
            "Merged plan `{}` waits to be applied: its changes are not proposed again.\n",
            other.name
        ));
    }
    if plan.spec.execution.is_none() {
        return Err(nothing_live(&plan));
    }
    if arguments.dry_run {
        return shown(&plan, ui);
    }
    // The NodeFleet's Git settings apply only to its own repository.
    let is_its = |git: &&Git| {
        let own = git.repository.as_ref().and_then(|own| Address::parse(own, true).ok());
        own.as_ref() == Some(&around.place.address)
    };
    let forge = match fleet.as_ref().filter(is_its) {
        Some(git) => gitops::connect((git, &around.place), &access, *connected.cluster.clock())?,
        None => None,
    };
    let forge = forge.as_deref().map(|forge| (forge, &connected));
    Proposed { around: &around, forge, ui }.propose(&plan, signed(&plan, fleet.as_ref())?)
}

/// Prints the files that would be proposed.
fn shown(plan: &Plan, ui: Ui) -> Result<Exit, Failure> {
    let Some(name) = FolderName::of(plan) else { return nothing(ui) };
    for (file, text) in &files(plan, None) {
        ui.text(&format!("==> {name}/{file} <==\n{text}\n"))?;
    }
    Ok(Exit::Done)
}

/// Where a plan is proposed.
struct Proposed<'a> {
    around: &'a Around,
    /// The forge, where the NodeFleet names one, and who waits for it.
    forge: Option<(&'a dyn Forge, &'a Connected)>,
    ui: Ui,
}

impl Proposed<'_> {
    fn propose(&self, plan: &Plan, signature: Option<String>) -> Result<Exit, Failure> {
        let Self { around, ui, .. } = *self;
        let Some(name) = FolderName::of(plan) else { return nothing(ui) };
        let proposing = Proposing { plan, name, around };
        let pushed = proposing.propose(&files(plan, signature))?;
        let place = &around.place;
        match &pushed {
            Pushed::Nothing { because, same } => {
                ui.told(&format!("Nothing to propose: {because}.\n"))?;
                // An interrupted earlier run may have pushed the branch without opening a pull request.
                self.open_pull_request((same.as_ref(), plan))?;
            }
            Pushed::Proposed { folder, branch, opened_at } => {
                let (name, target) = (branch.as_str(), place.branch.as_str());
                ui.told(&format!("Proposed: {folder} on branch `{name}` of {}\n", place.address))?;
                self.open_pull_request((Some(branch), plan))?;
                if let Some(line) = opened_at.as_ref().filter(|_| self.forge.is_none()) {
                    ui.aside(&format!("The server says: {line}\n"));
                }
                ui.aside(&format!(
                    "Review it there and merge the branch into `{target}`; then carry it out with `nodeform apply --merged`.\n"
                ));
            }
        }
        proposing.replaces(&pushed).into_iter().for_each(|going| self.end(going));
        Ok(Exit::Done)
    }

    /// Opens the pull request of a branch, where there is a forge and none is open.
    fn open_pull_request(&self, (branch, plan): (Option<&Branch>, &Plan)) -> Result<(), Failure> {
        let (Some((forge, connected)), Some(branch)) = (self.forge, branch) else { return Ok(()) };
        let there = self.around.standing.proposals.iter().find(|known| known.proposed.branch == *branch);
        let plan = there.and_then(|known| known.plan.as_ref()).unwrap_or(plan);
        let opened = connected.wait_for(gitops::open(forge, self.around, (branch, plan)));
        let opened = opened.map_err(|fault| {
            fault.hint("the branch is pushed: run the same command again, which opens its pull request")
        })?;
        let page = opened.url.map_or_else(String::new, |url| format!(": {url}"));
        self.ui.aside(&format!("Pull request {}{page}\n", opened.number));
        Ok(())
    }

    /// Closes the pull request of a branch and deletes the branch. Where the forge does not take the reason, both stand.
    fn end(&self, going: Going<'_>) {
        let Self { around, ui, .. } = *self;
        if let Some((forge, connected)) = self.forge {
            let branch = going.proposal.proposed.branch.as_str();
            if let Err(fault) = connected.wait_for(gitops::close(forge, around, (branch, &going.why))) {
                return ui.aside(&format!(
                    "warning: branch `{branch}` ({}) is not deleted, and its pull request not closed: {fault}\n",
                    going.why
                ));
            }
        }
        let Gone { branch, why, fault } = going.delete(&around.clone);
        ui.aside(&match fault {
            None => format!("Deleted branch `{branch}`: {why}\n"),
            Some(fault) => format!("warning: branch `{branch}` ({why}) is not deleted: {fault}\n"),
        });
    }
}

fn nothing(ui: Ui) -> Result<Exit, Failure> {
    ui.text("No changes: nothing to propose.\n")?;
    Ok(Exit::Done)
}

fn nothing_live(plan: &Plan) -> Failure {
    let what = match plan.spec.what_if.is_nothing() {
        true => "offline plans cannot be proposed: they cannot be applied after review",
        false => "this is a what-if plan and cannot be applied",
    };
    Failure::error(what)
        .hint("plan the cluster: `nodeform plan --live --out plan.json`, or `nodeform propose --live`")
}

/// Reads the cluster, to be planned of one class where one is named.
fn seen(arguments: &ProposeArguments, connected: &Connected, ui: Ui) -> Result<World, Failure> {
    let valid_for = match &arguments.valid_for {
        Some(text) => Validity::For(super::plan::duration("--valid-for", text)?),
        None => Validity::OfClasses,
    };
    let laid = Some(arguments.azure.laid_of(connected, Request::default(), ui)?);
    let mut world = world::inhabited(Inputs::default(), Request { laid, valid_for, ..Request::default() })?;
    if let Some(class) = arguments.class {
        gitops::narrow(&mut world, class.class());
    }
    Ok(world)
}

/// Plans a world beside what is proposed and merged already.
fn planned(world: &World, class: Option<ClassArgument>, standing: &Standing) -> Result<Plan, Failure> {
    let own = class.map(ClassArgument::class);
    let planner = |world: &World| world::planned(world).map(|planned| planned.plan.plan().clone());
    gitops::planned(world, own, |own| standing.others(own), planner)
}
