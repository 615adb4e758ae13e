//! `nodeform propose`: puts a live plan on a branch, where people review it.

use std::collections::BTreeSet;
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
use crate::git::remote::{Addition, Branch, Clone, Heads, Push, RemoteFault, Tip};
use crate::model::ChangeClass;
use crate::offline::again::forget_waiting;
use crate::offline::{Request, World};
use crate::plan::{Plan, file};
use crate::render::proposal::{derived, derived_by};
use crate::review::proposal::{self, DESTROYS, Files, FolderName, MARKDOWN, PLAN, branch};

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
    let proposed = branch(cluster, name.class);
    let proposed = Branch::parse(&proposed).map_err(|fault| remote::failure(&fault))?;
    let clone = place.open()?;
    let proposing = Proposing { plan: &plan, name, proposed, path: place.path.parts().to_vec(), clone, ui };
    let heads = proposing.clone.fetch(&place.branch, Some(&proposing.proposed));
    let heads = heads.map_err(|fault| remote::failure(&fault))?;
    proposing.propose(&heads, &place, &files)
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

/// A plan on its way to its branch.
struct Proposing<'a> {
    plan: &'a Plan,
    name: FolderName,
    /// The branch.
    proposed: Branch,
    /// The folder of all plans.
    path: Vec<String>,
    clone: Clone,
    ui: Ui,
}

impl Proposing<'_> {
    fn propose(
        &self,
        heads: &Heads,
        place: &remote::Place,
        files: &[(&'static str, String)],
    ) -> Result<Exit, Failure> {
        let failed = |fault: RemoteFault| remote::failure(&fault);
        let merged = self.named(&heads.target, place).map_err(failed)?;
        let own = (self.name.month.clone(), self.name.folder());
        if merged.contains(&own) {
            let Self { name, .. } = self;
            return self.nothing(&format!("{name} is on branch `{}` already", place.branch.as_str()));
        }
        if let Some(tip) = &heads.proposed {
            let open: BTreeSet<(String, String)> =
                self.named(tip, place).map_err(failed)?.difference(&merged).cloned().collect();
            let branch = self.proposed.as_str();
            if !tip.is_ours && !open.is_empty() {
                return Err(Failure::error(format!(
                    "branch `{branch}` of {} has a commit that nodeform did not make, on a plan that is not merged yet",
                    place.address
                ))
                .hint("merge it, or delete the branch, and propose again"));
            }
            let same = match open.contains(&own) {
                true => Some(self.name.to_string()),
                false => self.same(tip, place, &open).map_err(failed)?,
            };
            if let Some(same) = same {
                return self
                    .nothing(&format!("{same} says the same and stands on branch `{branch}` already"));
            }
        }
        let folder: Vec<String> = self.path.iter().cloned().chain([own.0, own.1]).collect();
        let message = self.message();
        let addition = Addition { path: &folder, files, message: &message, at: world::now() };
        let commit = self.clone.commit(heads, addition).map_err(failed)?;
        let push = Push { branch: &self.proposed, before: heads.proposed.as_ref(), commit: &commit };
        self.clone.push(push).map_err(failed)?;
        let (proposed, target) = (self.proposed.as_str(), place.branch.as_str());
        self.ui.text(&format!(
            "Proposed: {} on branch `{proposed}` of {}\n",
            folder.join("/"),
            place.address
        ))?;
        self.ui.aside(&format!(
            "Review it there and merge the branch into `{target}`; then carry it out with `nodeform apply --merged`.\n"
        ));
        Ok(Exit::Done)
    }

    fn nothing(&self, why: &str) -> Result<Exit, Failure> {
        self.ui.text(&format!("Nothing to propose: {why}.\n"))?;
        Ok(Exit::Done)
    }

    /// The plans that a commit holds, by month and folder.
    fn named(&self, tip: &Tip, place: &remote::Place) -> Result<BTreeSet<(String, String)>, RemoteFault> {
        let plans = self.clone.plans(tip, &place.path)?;
        Ok(plans.entries.into_iter().map(|plan| (plan.month, plan.name)).collect())
    }

    /// Finds an open proposal that says the same but for when its world was seen and until when it may begin, and still
    /// may.
    fn same(
        &self,
        tip: &Tip,
        place: &remote::Place,
        open: &BTreeSet<(String, String)>,
    ) -> Result<Option<String>, RemoteFault> {
        let plans = self.clone.plans(tip, &place.path)?;
        for entry in
            plans.entries.iter().filter(|plan| open.contains(&(plan.month.clone(), plan.name.clone())))
        {
            let found = Files::of(self.clone.files(tip, entry)?)
                .and_then(|files| proposal::read(None, files, derived_by));
            let Ok(found) = found else { continue };
            let mut spec = found.plan.spec;
            let is_open = spec.expires_at.is_some_and(|at| at > world::now());
            spec.expires_at = self.plan.spec.expires_at;
            if let (Some(found), Some(own)) = (&mut spec.execution, &self.plan.spec.execution) {
                found.seen_at = own.seen_at;
            }
            if is_open && spec == self.plan.spec {
                return Ok(Some(format!("{}/{}", entry.month, entry.name)));
            }
        }
        Ok(None)
    }

    /// What the commit says: figures and digests, no name that somebody chose for a pod.
    fn message(&self) -> String {
        let Plan { spec, evidence: _ } = self.plan;
        let (add, destroy) = (spec.creates().count(), spec.deletes().count());
        let expires = spec.expires_at.map_or(String::new(), |at| format!("May begin until: {at}\n"));
        format!(
            "nodeform: {} {}: {add} to add, {destroy} to destroy\n\n{expires}Digest: {}\n",
            self.name.class,
            self.name.id,
            self.plan.digest()
        )
    }
}
