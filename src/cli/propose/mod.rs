//! `nodeform propose`: puts a live plan on a branch of its own, where people review it.

mod push;
mod standing;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::SignedDuration;

use super::context::ContextArguments;
use super::exit::{Exit, Failure};
use super::input::Inputs;
use super::live::AzureArguments;
use super::remote::{self, RemoteArguments};
use super::ui::Ui;
use super::{saved, world};
use crate::git::remote::Branch;
use crate::model::ChangeClass;
use crate::offline::again::forget_waiting;
use crate::offline::{Request, World};
use crate::plan::{Plan, file};
use crate::render::proposal::derived;
use crate::review::proposal::{DESTROYS, FolderName, MARKDOWN, PLAN, branches};
use push::Proposing;
use standing::Standing;

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
    /// How long the plan may be begun: 30m, 8h, 7d, at most 30 days [default: 4 hours; 7 days with --class replace,
    /// a day with other classes but create]
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
}

impl ClassArgument {
    const fn class(self) -> ChangeClass {
        match self {
            Self::Create => ChangeClass::Create,
            Self::RemoveEmpty => ChangeClass::RemoveEmpty,
            Self::MovePods => ChangeClass::MovePods,
            Self::Replace => ChangeClass::Replace,
        }
    }

    /// For how long such a plan is good: new nodes are wanted now, a rollout may take a week.
    const fn valid_for(self) -> SignedDuration {
        match self {
            Self::Create => SignedDuration::from_hours(4),
            Self::Replace => SignedDuration::from_hours(7 * 24),
            Self::RemoveEmpty | Self::MovePods => SignedDuration::from_hours(24),
        }
    }
}

/// Proposes a plan.
///
/// # Errors
/// There is no plan that could be carried out, or the repository does not take it.
pub(super) fn run(arguments: &ProposeArguments, ui: Ui) -> Result<Exit, Failure> {
    let (plan, fleet) = match &arguments.plan {
        Some(path) => (saved::judged(saved::read(path)?)?, None),
        None => {
            let connected = arguments.azure.connect(&arguments.context)?;
            let fleet = remote::of_fleet(&connected)?;
            (planned(arguments, &connected, ui)?, fleet)
        }
    };
    let Some(execution) = &plan.spec.execution else {
        return Err(nothing_live(&plan));
    };
    let Some(name) = FolderName::of(&plan) else {
        ui.text("No changes: there is nothing to propose.\n")?;
        return Ok(Exit::Done);
    };
    let files = files(&plan);
    if arguments.dry_run {
        for (file, text) in &files {
            ui.text(&format!("==> {name}/{file} <==\n{text}\n"))?;
        }
        return Ok(Exit::Done);
    }
    let place = arguments.remote.place(fleet.as_ref())?;
    let cluster = execution.cluster.id.rsplit('/').next().unwrap_or_default();
    let branch = Branch::parse(&name.branch(cluster)).map_err(|fault| remote::failure(&fault))?;
    let clone = place.open()?;
    let below = branches(cluster);
    let heads = clone.fetch(&place.branch, Some(&below)).map_err(|fault| remote::failure(&fault))?;
    let standing = Standing::read((&clone, &place), heads, (&below, &execution.cluster.id));
    let standing = standing.map_err(|fault| remote::failure(&fault))?;
    Proposing { plan: &plan, name, branch, place: &place, clone: &clone, ui }.propose(&standing, &files)
}

/// The files of a plan's folder.
fn files(plan: &Plan) -> Vec<(&'static str, String)> {
    let derived = derived(plan);
    let destroys = derived.destroys_text().map(|text| (DESTROYS, text));
    [(MARKDOWN, derived.markdown), (PLAN, file::write(plan))].into_iter().chain(destroys).collect()
}

fn nothing_live(plan: &Plan) -> Failure {
    let what = match plan.spec.what_if.is_nothing() {
        true => "the plan was not made of a live cluster, so there is nothing that a review could let happen",
        false => "the plan answers a question about a world that is not there, and is never carried out",
    };
    Failure::error(what)
        .hint("plan the cluster: `nodeform plan --live --out plan.json`, or `nodeform propose --live`")
}

/// Plans the cluster, of one class where one is named.
fn planned(
    arguments: &ProposeArguments,
    connected: &super::live::Connected,
    ui: Ui,
) -> Result<Plan, Failure> {
    let class = arguments.class;
    let valid_for = match &arguments.valid_for {
        Some(text) => Some(super::plan::duration("--valid-for", text)?),
        None => class.map(ClassArgument::valid_for),
    };
    let laid = Some(arguments.azure.laid_of(connected, Request::default(), ui)?);
    let mut world = world::inhabited(Inputs::default(), Request { laid, valid_for, ..Request::default() })?;
    if let Some(class) = class {
        narrow(&mut world, class.class());
    }
    Ok(world::planned(&world)?.plan.plan().clone())
}

/// Puts the other classes on hold; but for new nodes, as if pods that wait were not there: nobody's review waits for
/// another's.
fn narrow(world: &mut World, class: ChangeClass) {
    // Pods that move may need new nodes.
    let is_other = |held: &ChangeClass| *held != class && *held != ChangeClass::Create;
    world.policy.fleet.holds.classes.extend(ChangeClass::ALL.into_iter().filter(is_other));
    if class != ChangeClass::Create {
        forget_waiting(&mut world.snapshot);
    }
}
