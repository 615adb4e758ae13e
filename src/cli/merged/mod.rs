//! `nodeform apply --merged`: applies all merged plans, one after the other, each once.

mod another;
#[cfg(test)]
mod leaves;
pub(super) mod watch;

use super::apply::{self, ApplyArguments, Applying, Review};
use super::exit::{Exit, Failure};
use super::live::Connected;
use super::remote;
use super::rolled::RolloutOutput;
use super::ui::Ui;
use super::{saved, world};
use crate::api::node_fleet::{Forge as ForgeWord, Git};
use crate::apply::{Stop, WITHDRAWN, ended, recorded};
use crate::cluster::WriteGate;
use crate::controller::forge_account;
use crate::git::remote::{Clone, Found, Tip};
use crate::gitops::{
    self, Access, Advanced, Folder, Folders, GitOpsFault, Noting, PassedOver, Place, Refused, Struck,
    TOLD_MAX,
};
use crate::ledger::{Ledger, Recorded};
use crate::model::Approver;
use crate::offline::World;
use crate::plan::{Plan, file};
use crate::render::words::{count, verb};
use crate::review::history::{RESUME, REWRITTEN};
use crate::review::proposal::{FolderName, Proposal};
use crate::rollout::{Ended, Outcome};
use another::{Another, Waiting};
use watch::Watch;

/// Applies every merged plan that is not settled.
///
/// # Errors
/// The repository or the cluster cannot be read.
pub(super) fn run(arguments: &ApplyArguments, ui: Ui) -> Result<Exit, Failure> {
    let connected = arguments.azure.connect(&arguments.context)?;
    let fleet = remote::of_fleet(&connected)?;
    let place = arguments.remote.merged_place(fleet.as_ref())?;
    let access = remote::renewed(&connected, (&place, fleet.as_ref()))?;
    let clone = place.open(&access)?;
    let heads = clone.fetch(&place.branch, None).map_err(gitops::GitOpsFault::from)?;
    let tip = &heads.target;
    advance(&connected, &place, (&clone, tip), ui)?;
    let Found { is_there, entries } = clone.plans(tip, &place.path).map_err(gitops::GitOpsFault::from)?;
    let is_bare = entries.is_empty();
    let ledger = connected.wait_for(recorded(&connected.cluster));
    let ledger = ledger.map_err(|fault| apply::not_begun(&fault))?;
    let signers = gitops::signers(fleet.as_ref())?;
    let cluster = uid_of(&connected)?;
    let mut merged = Merged {
        arguments,
        connected: &connected,
        place: &place,
        ledger: &ledger,
        access: &access,
        forge: fleet.as_ref().and_then(|git| git.forge),
        head: tip.commit(),
        ui,
        worst: Exit::Done,
        is_refused: false,
        refused: 0,
    };
    let withdrawn = gitops::withdrawn(&ledger, &place, &entries);
    for (folder, plan) in &withdrawn {
        merged.withdraw(folder, plan)?;
    }
    let sorted = gitops::Merged {
        place: &place,
        clone: &clone,
        tip,
        ledger: &ledger,
        signers: signers.as_ref(),
        cluster: cluster.as_deref(),
        at: world::now(),
    };
    let mut folders = sorted.folders(entries)?;
    approvals((&connected, &access), (&place, &clone, &ledger), fleet.as_ref(), &mut folders);
    let Folders { waiting, refused, passed_over } = folders;
    lines(passed_over).iter().for_each(|line| ui.aside(line));
    refused.into_iter().for_each(|Refused { name, fault }| merged.refuse(&name, &fault.into()));
    if waiting.is_empty() && withdrawn.is_empty() && !merged.is_refused {
        if is_bare {
            astray(&place, (&clone, tip), is_there, ui)?;
        }
        let (branch, at) = (place.branch.as_str(), tip.commit());
        let path = &place.path;
        let text =
            format!("Nothing to apply: no plan waits in `{path}` on branch `{branch}` (commit {at}).\n");
        match arguments.output {
            RolloutOutput::Human => ui.told(&text)?,
            RolloutOutput::Jsonl => ui.aside(&text),
        }
    }
    for folder in waiting {
        merged.apply(folder)?;
    }
    if let Some(more) = merged.refused.checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        ui.aside(&format!("{} more not applied.\n", count(more, "plan")));
    }
    Ok(if merged.is_refused { Exit::Stale } else { merged.worst })
}

/// Checks that the branch has only moved forward since the last application, and records its position.
fn advance(
    connected: &Connected,
    place: &Place,
    (clone, tip): (&Clone, &Tip),
    ui: Ui,
) -> Result<(), Failure> {
    let writer = connected.cluster.writing(&WriteGate::always_open());
    let noting = Noting { writer: &writer, place, clone, tip };
    if connected.wait_for(gitops::advance(noting))? == Advanced::Resumed {
        let at = tip.commit();
        ui.aside(&format!("`{RESUME}` of the NodeFleet is `{REWRITTEN}`: continuing from commit {at}\n"));
    }
    Ok(())
}

/// Removes plans that lack an approval required by the NodeFleet.
fn approvals(
    (connected, access): (&Connected, &Access),
    (place, clone, ledger): (&Place, &Clone, &Ledger),
    git: Option<&Git>,
    folders: &mut Folders,
) {
    let Some(git) = git.filter(|git| git.approvals.iter().flatten().count() > 0) else { return };
    let connected_forge = gitops::connect((git, place), access, *connected.cluster.clock());
    // Approvals of the proposer's own account do not count.
    let proposer = connected.wait_for(forge_account(&connected.cluster)).map_err(|failure| {
        GitOpsFault::of(format!("cannot read the account of the proposer: {}", failure.what))
            .hint(failure.hint)
    });
    let forge = match &proposer {
        Ok(_) => connected_forge.as_ref().map(Option::as_deref),
        Err(fault) => Err(fault),
    };
    connected.wait_for(folders.ask_approvals(gitops::Asking {
        forge,
        place,
        clone,
        ledger,
        git,
        proposer: proposer.as_ref().ok().and_then(Option::as_deref),
    }));
}

/// Reports where the branch has plans if the path has none. Plans above or below the path belong to this fleet, so the
/// path is wrong. Plans elsewhere may belong to another fleet, and before the first merge the folder does not exist:
/// neither may fail a pipeline.
fn astray(place: &Place, (clone, tip): (&Clone, &Tip), is_there: bool, ui: Ui) -> Result<(), Failure> {
    let (path, branch, at) = (place.path.to_string(), place.branch.as_str(), tip.commit());
    let places = clone.places(tip).map_err(gitops::GitOpsFault::from)?;
    let shown = |place: &String| if place.is_empty() { "`.`".to_owned() } else { format!("`{place}`") };
    let is_below = |one: &str, other: &str| other.is_empty() || one.starts_with(&format!("{other}/"));
    let (near, far): (Vec<&String>, Vec<&String>) = places
        .iter()
        .filter(|place| **place != path)
        .partition(|place| is_below(place, &path) || is_below(&path, place));
    if let Some(place) = near.first() {
        let what = format!(
            "branch `{branch}` (commit {at}) has no plans in `{path}`, but has plans in {}",
            shown(place)
        );
        return Err(Failure::error(what).hint(format!(
            "name that folder: `--git-path {}`, or `git.path` of the NodeFleet",
            shown(place).trim_matches('`')
        )));
    }
    if !is_there {
        let others: Vec<String> = far.into_iter().map(shown).collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!("; it has plans in {}", others.join(", "))
        };
        ui.aside(&format!(
            "warning: branch `{branch}` (commit {at}) has no folder `{path}`{others}\n\
             hint: the first merged proposal creates it; if one was merged, check `--git-path` and `git.path` of the NodeFleet\n"
        ));
    }
    Ok(())
}

/// Reads the cluster's identity; `None` if it cannot be determined.
fn uid_of(connected: &Connected) -> Result<Option<String>, Failure> {
    let found = connected.wait_for(connected.cluster.get_optional("/api/v1/namespaces/kube-system"));
    let found =
        found.map_err(|failure| Failure::error(failure.to_string()).hint(failure.hint.to_string()))?;
    Ok(found.and_then(|namespace| Some(namespace["metadata"]["uid"].as_str()?.to_owned())))
}

/// Returns the counts of skipped plans.
fn lines(PassedOver { spent, expired, of_others }: PassedOver) -> Vec<String> {
    let told = [(spent, "applied before"), (expired, "expired"), (of_others, "of other clusters")];
    let told = told.into_iter().filter(|(plans, _)| *plans > 0);
    told.map(|(plans, what)| format!("Skipped: {}, {what}.\n", count(plans, "plan"))).collect()
}

/// The merged plans of a branch while they are applied.
struct Merged<'a> {
    arguments: &'a ApplyArguments,
    connected: &'a Connected,
    place: &'a Place,
    ledger: &'a Ledger,
    /// Read access to the repository.
    access: &'a Access,
    /// The forge that the NodeFleet names.
    forge: Option<ForgeWord>,
    /// The commit of the plans.
    head: &'a str,
    ui: Ui,
    /// The worst result of the started plans.
    worst: Exit,
    /// Whether a plan was refused.
    is_refused: bool,
    /// Number of refused plans.
    refused: usize,
}

impl Merged<'_> {
    /// Ends a plan whose folder was removed.
    ///
    /// # Errors
    /// It cannot be read back, or its started changes cannot be finished.
    fn withdraw(&mut self, folder: &str, recorded: &Recorded) -> Result<(), Failure> {
        self.ui.aside(&format!("{folder} is no longer on the branch: withdrawn.\n"));
        let plan = self.read_back(recorded)?;
        let world = apply::observed(self.arguments, self.connected, self.ui)?;
        let ended = self.applying(world, None).finish(plan, WITHDRAWN)?;
        self.note(&ended)
    }

    fn read_back(&self, recorded: &Recorded) -> Result<Plan, Failure> {
        let text = self.connected.wait_for(crate::apply::text(&self.connected.cluster, recorded));
        let text = text.map_err(|fault| apply::not_begun(&fault))?;
        file::read_spec(&text).map_err(|fault| {
            Failure::of_plan_file(format!("NodePlan `{}` cannot be used: {fault}", recorded.name), &fault)
        })
    }

    /// Applies one plan, or reports why not.
    fn apply(&mut self, folder: Folder) -> Result<(), Failure> {
        let (struck, folder_approval) = (folder.struck(), folder.approval());
        let Folder { name, proposal: Proposal { plan, .. }, approved_by } = folder;
        let approval = folder_approval.map_or_else(String::new, |approval| format!(", {approval}"));
        self.ui.aside(&format!("Applying {name}{approval}\n"));
        let hint = saved::propose_anew(Some(name.class));
        let checked = apply::judged_again(plan);
        // The hint must not be to plan again manually.
        let checked = checked.map_err(|failure| Failure { hints: vec![hint], ..failure });
        let mut waiting = Waiting::of(self, &name);
        let (ended, another) = loop {
            let ended = checked.clone().and_then(|checked| {
                let world = apply::observed(self.arguments, self.connected, self.ui)?;
                let review = self.review(&name, (struck.clone(), approved_by.clone()));
                self.applying(world, Some(review)).apply(checked)
            });
            match &ended {
                Ok(_) => break (ended, Another::Nothing),
                Err(failure) => {
                    if let Some(another) = waiting.after(failure)? {
                        break (ended, another);
                    }
                }
            }
        };
        match ended {
            Err(_) if let Another::Ended(phase) = another => {
                self.ui.aside(&format!("{name} was applied by another run: it ended as {phase:?}.\n"));
                Ok(())
            }
            Ok(ended) => {
                spent(&name, &ended).iter().for_each(|line| self.ui.aside(line));
                self.note(&ended)
            }
            Err(failure) if failure.exit == Exit::Stale => {
                self.refuse(&name.to_string(), &failure);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Returns everything needed to apply a plan.
    fn applying(&self, world: World, review: Option<Review>) -> Applying<'_> {
        let Self { arguments, connected, ui, .. } = *self;
        Applying { arguments, connected, world, ui, review, stop: Stop::default() }
    }

    /// Returns a plan's review: its location on the branch and the outcomes of earlier runs.
    fn review(&self, name: &FolderName, (struck, approved_by): (Struck, Vec<Approver>)) -> Review {
        let known = self.ledger.of_id(&name.id);
        let before = known.map(|known| known.status.as_ref().map(ended).unwrap_or_default());
        Review {
            watch: Watch {
                place: self.place.clone(),
                name: name.clone(),
                head: self.head.to_owned(),
                access: self.access.clone(),
                forge: self.forge,
                clock: *self.connected.cluster.clock(),
            },
            before,
            struck,
            approved_by,
        }
    }

    /// Records how a plan ended; after a stopped plan, no other is started.
    fn note(&mut self, ended: &Ended) -> Result<(), Failure> {
        if !ended.is_so() {
            self.worst = Exit::InPart;
        }
        match ended.is_stopped {
            true => Err(Failure { exit: Exit::InPart, ..Failure::errors(Vec::new()) }),
            false => Ok(()),
        }
    }

    /// Reports that a plan is not applied.
    fn refuse(&mut self, name: &str, failure: &Failure) {
        self.is_refused = true;
        self.refused += 1;
        if self.refused > TOLD_MAX {
            return;
        }
        let head = format!("plan `{name}` is not applied");
        let faults = failure.faults.iter().map(|fault| format!("{head}: {fault}")).collect();
        self.ui.failure(&Failure { faults, ..failure.clone() });
    }
}

/// Returns a message about a spent approval and the next step. If changes are still waiting, the plan is resumed
/// instead.
fn spent(name: &FolderName, ended: &Ended) -> Option<String> {
    // Changes of a withdrawn plan are no longer wanted.
    let is_lost =
        |outcome: &&Outcome| matches!(outcome, Outcome::NoLongerHolds { because } if &**because != WITHDRAWN);
    let lost = ended.outcomes.values().filter(is_lost).count();
    (lost > 0 && ended.open.is_empty()).then(|| {
        format!(
            "The approval of {name} is spent, and {} of it {} not applied, for the reasons above. Propose the rest again: `nodeform propose --live --class {}`.\n",
            count(lost, "change"),
            verb(lost, "is", "are"),
            name.class
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ChangeId;

    #[test]
    fn a_spent_approval_is_said_with_what_to_do_and_one_that_waits_is_not() {
        let name = FolderName::parse("2026-11", "move-pods-k3v2q2m7xa").expect("a name");
        let id = |id: &str| ChangeId(id.into());
        let mut ended = Ended::default();
        ended.outcomes.insert(id("a"), Outcome::Done);
        assert_eq!(spent(&name, &ended), None);
        ended.outcomes.insert(id("b"), Outcome::NoLongerHolds { because: "so".into() });
        let said = spent(&name, &ended).expect("it is spent");
        assert!(said.contains("2026-11/move-pods-k3v2q2m7xa is spent, and 1 change of it"), "{said}");
        assert!(said.contains("`nodeform propose --live --class move-pods`"), "{said}");
        ended.open.insert(id("c"), "the freeze to end".to_owned());
        assert_eq!(spent(&name, &ended), None);
    }
}
