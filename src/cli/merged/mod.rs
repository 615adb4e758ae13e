//! `nodeform apply --merged`: carries out what is merged, one plan after the other, each once.

mod another;
mod bounds;
mod forward;
#[cfg(test)]
mod leaves;
pub(super) mod second;
pub(super) mod watch;
mod withdrawn;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::apply::{self, ApplyArguments, Applying, Review};
use super::exit::{Exit, Failure};
use super::live::Connected;
use super::remote::{self, Place};
use super::rolled::RolloutOutput;
use super::ui::Ui;
use super::{saved, world};
use crate::api::node_plan::Phase;
use crate::apply::{Stop, WITHDRAWN, ended, recorded};
use crate::git::remote::{Clone, Found, PlanEntry, Tip};
use crate::git::signature::{SignatureFault, Signers};
use crate::ledger::Ledger;
use crate::offline::World;
use crate::plan::{ChangeId, Plan};
use crate::render::proposal::derived_by;
use crate::render::words::{count, verb};
use crate::review::proposal::{
    self, Files, FolderName, Proposal, ProposalFault, idle_creates, is_month_over,
};
use crate::rollout::{Ended, Outcome};
use another::{Another, Waiting};
use watch::Watch;

/// What is said of a create that only struck removals needed.
const IDLE: &str = "the pods that it was for stay where they are";

/// For how long after its expiry a plan that was not carried out is told one by one.
const TOLD_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Carries out every plan that is merged and not settled.
///
/// # Errors
/// The repository or the cluster cannot be read.
pub(super) fn run(arguments: &ApplyArguments, ui: Ui) -> Result<Exit, Failure> {
    let connected = arguments.azure.connect(&arguments.context)?;
    let fleet = remote::of_fleet(&connected)?;
    let place = arguments.remote.merged_place(fleet.as_ref())?;
    let clone = place.open()?;
    let heads = clone.fetch(&place.branch, None).map_err(|fault| remote::failure(&fault))?;
    forward::advance(&connected, &place, (&clone, &heads.target), ui)?;
    let Found { is_there, entries } =
        clone.plans(&heads.target, &place.path).map_err(|fault| remote::failure(&fault))?;
    let is_bare = entries.is_empty();
    let ledger = connected.wait_for(recorded(&connected.cluster));
    let ledger = ledger.map_err(|fault| apply::not_begun(&fault))?;
    let mut merged = Merged {
        arguments,
        connected: &connected,
        place: &place,
        ledger: &ledger,
        signers: remote::signers(fleet.as_ref())?,
        cluster: uid_of(&connected)?,
        head: heads.target.commit(),
        ui,
        worst: Exit::Done,
        is_refused: false,
        refused: 0,
    };
    let withdrawn = withdrawn::withdrawn(&ledger, &place, &entries);
    for (folder, plan) in &withdrawn {
        merged.withdraw(folder, plan)?;
    }
    let folders = merged.folders((&clone, &heads.target), entries)?;
    if folders.is_empty() && withdrawn.is_empty() && !merged.is_refused {
        if is_bare {
            astray(&place, (&clone, &heads.target), is_there, ui)?;
        }
        let (branch, at) = (place.branch.as_str(), heads.target.commit());
        let path = &place.path;
        let text =
            format!("Nothing to apply: no plan waits in `{path}` on branch `{branch}` (commit {at}).\n");
        match arguments.output {
            RolloutOutput::Human => ui.told(&text)?,
            RolloutOutput::Jsonl => ui.aside(&text),
        }
    }
    for folder in folders {
        merged.apply(folder)?;
    }
    if let Some(line) = bounds::not_told(merged.refused) {
        ui.aside(&line);
    }
    Ok(if merged.is_refused { Exit::Stale } else { merged.worst })
}

/// Says where the branch has plans if the path has none. Plans above or below the path are this fleet's, so the path is
/// wrong. Plans elsewhere may be another fleet's, and before the first merge the folder does not exist: neither may fail
/// a pipeline.
fn astray(place: &Place, (clone, tip): (&Clone, &Tip), is_there: bool, ui: Ui) -> Result<(), Failure> {
    let (path, branch, at) = (place.path.to_string(), place.branch.as_str(), tip.commit());
    let places = clone.places(tip).map_err(|fault| remote::failure(&fault))?;
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

/// Reads the cluster's identity; nothing where it cannot be told.
fn uid_of(connected: &Connected) -> Result<Option<String>, Failure> {
    let found = connected.wait_for(connected.cluster.get_optional("/api/v1/namespaces/kube-system"));
    let found =
        found.map_err(|failure| Failure::error(failure.to_string()).hint(failure.hint.to_string()))?;
    Ok(found.and_then(|namespace| Some(namespace["metadata"]["uid"].as_str()?.to_owned())))
}

/// How many plans need nothing to be done or told of them one by one.
#[derive(Default)]
struct PassedOver {
    spent: usize,
    expired: usize,
    of_others: usize,
}

impl PassedOver {
    fn lines(&self) -> Vec<String> {
        let Self { spent, expired, of_others } = *self;
        let told = [(spent, "applied before"), (expired, "expired"), (of_others, "of other clusters")];
        let told = told.into_iter().filter(|(plans, _)| *plans > 0);
        told.map(|(plans, what)| format!("Skipped: {}, {what}.\n", count(plans, "plan"))).collect()
    }
}

/// A plan that was merged and is not settled.
struct Folder {
    name: FolderName,
    proposal: Proposal,
}

/// The plans of a branch on their way.
struct Merged<'a> {
    arguments: &'a ApplyArguments,
    connected: &'a Connected,
    place: &'a Place,
    ledger: &'a Ledger,
    /// Whose signatures count, where plans need one.
    signers: Option<Signers>,
    /// The cluster's identity: the UID of its namespace `kube-system`.
    cluster: Option<String>,
    /// The commit that the plans are of.
    head: &'a str,
    ui: Ui,
    /// How the plans ended that were begun.
    worst: Exit,
    /// Whether a plan was refused.
    is_refused: bool,
    /// How many were.
    refused: usize,
}

impl Merged<'_> {
    /// Reads the folders that are not settled, the oldest plan first; those that do not hold together are told.
    fn folders(
        &mut self,
        (clone, tip): (&Clone, &Tip),
        entries: Vec<PlanEntry>,
    ) -> Result<Vec<Folder>, Failure> {
        let (now, ledger) = (world::now(), self.ledger);
        let (mut folders, mut passed_over) = (Vec::new(), PassedOver::default());
        let mut read = bounds::Read::default();
        for entry in entries {
            let shown = format!("{}/{}", entry.month, entry.name);
            let name = FolderName::parse(&entry.month, &entry.name);
            let known = name.as_ref().ok().and_then(|name| ledger.of_id(&name.id));
            if let Some(known) = known.filter(|known| known.is_spent()) {
                // Its folder was gone and came back: by a revert of the revert, a cherry-pick, or an old clone.
                if known.phase() == Phase::Withdrawn
                    && known.expires_at.is_none_or(|at| !is_long_ago(at, now))
                {
                    self.refuse(&shown, &came_back());
                } else if known.phase() == Phase::Expired {
                    passed_over.expired += 1;
                } else {
                    passed_over.spent += 1;
                }
                continue;
            }
            if known.is_none() && is_month_over(&entry.month, now) {
                passed_over.expired += 1;
                continue;
            }
            let files = clone.files(tip, &entry).map_err(|fault| remote::failure(&fault))?;
            read.take_in(&files, self.place)?;
            let folder = name.and_then(|name| {
                let proposal = proposal::read(Some(&name), Files::of(files)?, derived_by)?;
                Ok(Folder { name, proposal })
            });
            match folder {
                Ok(folder) if self.is_of_other_cluster(&folder) => passed_over.of_others += 1,
                Ok(folder) if is_long_over(&folder, now) && known.is_none() => passed_over.expired += 1,
                Ok(folder) => match self.signed(&folder.proposal) {
                    Ok(()) => folders.push(folder),
                    Err(fault) => self.refuse(&shown, &unsigned(&fault)),
                },
                Err(fault) => self.refuse(&shown, &broken(&fault)),
            }
        }
        passed_over.lines().iter().for_each(|line| self.ui.aside(line));
        folders.sort_by_key(|folder| (seen_at(&folder.proposal.plan), folder.name.clone()));
        Ok(folders)
    }

    /// Checks the signature of a plan, where plans need one.
    fn signed(&self, Proposal { plan, signature, .. }: &Proposal) -> Result<(), SignatureFault> {
        self.signers.as_ref().map_or(Ok(()), |signers| signers.verify(plan, signature.as_deref()))
    }

    /// Whether a plan is of another cluster, which its own pipeline applies: several clusters may share a branch and a path.
    fn is_of_other_cluster(&self, folder: &Folder) -> bool {
        let execution = folder.proposal.plan.spec.execution.as_ref();
        let planned = execution.map(|execution| &*execution.cluster.uid);
        planned.zip(self.cluster.as_deref()).is_some_and(|(planned, found)| planned != found)
    }

    /// Carries one plan out, or tells why not.
    fn apply(&mut self, Folder { name, proposal }: Folder) -> Result<(), Failure> {
        let Proposal { plan, struck, signature: _ } = proposal;
        let idle = idle_creates(&plan, &struck);
        let struck = struck.into_iter().map(|id| (id, None));
        let struck: BTreeMap<ChangeId, Option<Arc<str>>> =
            struck.chain(idle.into_iter().map(|id| (id, Some(IDLE.into())))).collect();
        self.ui.aside(&format!("Applying {name}\n"));
        let hint = saved::propose_anew(Some(name.class));
        let checked = apply::judged_again(plan);
        // It is not planned again by hand.
        let checked = checked.map_err(|failure| Failure { hints: vec![hint], ..failure });
        let mut waiting = Waiting::of(self, &name);
        let (ended, another) = loop {
            let ended = checked.clone().and_then(|checked| {
                let world = apply::observed(self.arguments, self.connected, self.ui)?;
                self.applying(world, Some(self.review(&name))).apply(checked, struck.clone())
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

    /// What a plan is carried out with.
    fn applying(&self, world: World, review: Option<Review>) -> Applying<'_> {
        let Self { arguments, connected, ui, .. } = *self;
        Applying { arguments, connected, world, ui, review, stop: Stop::default() }
    }

    /// Where a plan is on its branch, and what became of it before.
    fn review(&self, name: &FolderName) -> Review {
        let known = self.ledger.of_id(&name.id);
        let before = known.map(|known| known.status.as_ref().map(ended).unwrap_or_default());
        Review {
            watch: Watch { place: self.place.clone(), name: name.clone(), head: self.head.to_owned() },
            before,
        }
    }

    /// Notes how a plan ended; after one that was stopped no other begins.
    fn note(&mut self, ended: &Ended) -> Result<(), Failure> {
        if !ended.is_so() {
            self.worst = Exit::InPart;
        }
        match ended.is_stopped {
            true => Err(Failure { exit: Exit::InPart, ..Failure::errors(Vec::new()) }),
            false => Ok(()),
        }
    }

    /// Tells that nothing of a plan is done.
    fn refuse(&mut self, name: &str, failure: &Failure) {
        self.is_refused = true;
        self.refused += 1;
        if self.refused > bounds::TOLD_MAX {
            return;
        }
        let head = format!("plan `{name}` is not applied");
        let faults = failure.faults.iter().map(|fault| format!("{head}: {fault}")).collect();
        self.ui.failure(&Failure { faults, ..failure.clone() });
    }
}

/// Says which approvals of a plan are spent, and what to do about them: what waits is gone on with instead.
fn spent(name: &FolderName, ended: &Ended) -> Option<String> {
    // Whoever withdrew it wants no more of it.
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

/// When the world was seen that a plan was made of.
fn seen_at(plan: &Plan) -> Option<Timestamp> {
    plan.spec.execution.as_ref().and_then(|execution| execution.seen_at)
}

fn is_long_ago(expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at.checked_add(TOLD_FOR).is_ok_and(|at| at < now)
}

fn came_back() -> Failure {
    let what = "it was withdrawn before, by removing its folder from the branch: it is spent";
    Failure { exit: Exit::Stale, ..Failure::error(what) }
        .hint("remove the folder, and propose again: `nodeform propose --live`")
}

fn is_long_over(folder: &Folder, now: Timestamp) -> bool {
    folder.proposal.plan.spec.expires_at.is_some_and(|at| is_long_ago(at, now))
}

fn unsigned(fault: &SignatureFault) -> Failure {
    Failure { exit: Exit::Stale, ..Failure::error(fault.to_string()) }
        .hint("propose it again with NODEFORM_SIGNING_KEY_FILE, the private key of one of `git.signers` of the NodeFleet, and remove the folder")
}

fn broken(fault: &ProposalFault) -> Failure {
    Failure { exit: Exit::Stale, ..Failure::error(fault.to_string()) }.hint(fault.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

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
