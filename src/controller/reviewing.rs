//! What happens in the repository: read on a thread of its own, and what a step makes of it: which merged plan is applied
//! next, and what is proposed.
//!
//! The same functions as `nodeform propose` and `nodeform apply --merged`. Must never apply a plan of a branch that could not be
//! read, nor change a branch that somebody else has committed to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::api::node_fleet::Git;
use crate::apply::{ended, recorded, text};
use crate::automatic::{self, Open, ProposalStep, Upkeep};
use crate::clock::Clock;
use crate::cluster::Writer;
use crate::gitops::{
    self, Access, Around, Folder, Folders, GitOpsFault, Known, Merged, Narrowed, NotTaken, Noting, Place,
    Proposal, Proposing, PullRequests, Pushed, Refused, Replaced, Taking, Written,
};
use crate::ledger::Ledger;
use crate::model::ChangeClass;
use crate::offline::validity::Validity;
use crate::offline::{Planner, World};
use crate::plan::{ChangeId, Plan, file};
use crate::review::proposal::{FolderName, work};
use crate::review::{ApprovedPlan, CheckedPlan, LeftOut, NotApproved, Now, Terms, finish};

/// Who speaks to the repository.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// The token with its user, and where clones lie.
    pub access: Access,
    /// Whether one of this machine is taken by plain HTTP.
    pub allows_http: bool,
    /// What plans are signed with, where they are.
    pub signing_key: Option<PathBuf>,
}

/// The classes that are proposed by themselves, each with those that are reviewed as it.
const CLASSES: [&[ChangeClass]; 6] = [
    &[ChangeClass::Create],
    &[ChangeClass::RemoveEmpty],
    &[ChangeClass::MovePods],
    &[ChangeClass::Replace],
    &[ChangeClass::Update, ChangeClass::Adopt, ChangeClass::Forget],
    &[ChangeClass::DeletePool],
];

/// How long pull requests are kept up at a time: what happens to the branch is looked at behind it.
const FORGE_MAX: Duration = Duration::from_secs(60);

/// Which cluster it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The id of the managed cluster.
    pub(super) id: String,
    /// The UID of its namespace `kube-system`.
    pub(super) uid: String,
}

/// The repository as it was read.
pub(super) struct Desk {
    pub(super) around: Around,
    pub(super) folders: Folders,
    /// The folders that are on the branch.
    pub(super) there: BTreeSet<String>,
    /// The plans that had begun and whose folders are gone.
    pub(super) withdrawn: Vec<Withdrawn>,
    /// What is known of pull requests; `Err` says why they cannot be kept up.
    pub(super) pull_requests: Result<PullRequests, GitOpsFault>,
    /// What was written under pull requests.
    pub(super) written: Written,
    ledger: Ledger,
    git: Git,
}

impl Desk {
    /// Reads the repository that the NodeFleet names; nothing where it names none. Git is waited for on this thread.
    pub(super) async fn read(
        repository: &Repository,
        (writer, mut written): (&Writer, Written),
        Identity { id, uid }: &Identity,
    ) -> Result<Option<Self>, GitOpsFault> {
        let cluster = writer.cluster();
        let Some(git) = gitops::fleet(cluster).await?.and_then(|fleet| fleet.git) else { return Ok(None) };
        let Some(place) = Place::of(&git, repository.allows_http)? else { return Ok(None) };
        let ledger = recorded(cluster).await;
        let ledger = ledger.map_err(|fault| GitOpsFault::of(fault.to_string()).hint(fault.hint()))?;
        let signers = gitops::signers(Some(&git))?;
        let at = cluster.clock().now();
        let known = Known { cluster: id, at, ledger: Some(&ledger), signers: signers.as_ref() };
        let around = Around::read(place, &repository.access, known)?;
        let (place, clone, tip) = (&around.place, &around.clone, &around.standing.target);
        gitops::advance(Noting { writer, place, clone, tip }).await?;
        let entries = clone.plans(tip, &place.path)?.entries;
        let there = entries.iter().map(|entry| format!("{}/{}", entry.month, entry.name)).collect();
        let mut withdrawn = Vec::new();
        for (folder, recorded) in gitops::withdrawn(&ledger, place, &entries) {
            let read = text(cluster, recorded).await.map_err(|fault| fault.to_string());
            match read.and_then(|text| file::read_spec(&text).map_err(|fault| fault.to_string())) {
                Ok(plan) => withdrawn.push(Withdrawn { folder: folder.to_owned(), plan }),
                Err(because) => {
                    return Err(GitOpsFault::of(format!(
                        "`{folder}` is no longer on the branch, and its plan cannot be read back of NodePlan `{}`: {because}",
                        recorded.name
                    )));
                }
            }
        }
        let (signers, uid) = (signers.as_ref(), Some(uid.as_str()));
        let merged = Merged { place, clone, tip, ledger: &ledger, signers, cluster: uid, at };
        let folders = merged.folders(entries)?;
        let forge = gitops::connect((&git, &around.place), &repository.access, *writer.cluster().clock());
        let pull_requests = match forge {
            Ok(Some(forge)) => {
                let keeping = gitops::keep_up((&*forge, cluster), (&around, &ledger), &mut written);
                tokio::time::timeout(FORGE_MAX, keeping).await.unwrap_or_else(|_| {
                    let seconds = FORGE_MAX.as_secs();
                    Err(GitOpsFault::of(format!(
                        "the forge did not finish answering within {seconds} seconds"
                    )))
                })
            }
            Ok(None) => Ok(PullRequests::default()),
            Err(fault) => Err(fault),
        };
        Ok(Some(Self { around, folders, there, withdrawn, pull_requests, written, ledger, git }))
    }
}

impl Desk {
    /// How a proposal stands.
    fn state<'p>(&self, open: &'p Proposal) -> Open<'p> {
        let known = self.pull_requests.as_ref().ok();
        let is_closed = known.is_some_and(|known| known.closed.contains(open.proposed.branch.as_str()));
        Open { plan: open.plan.as_ref(), is_edited: !open.proposed.tip.is_ours, is_closed }
    }

    /// When people rejected what a plan does.
    fn rejected_at(&self, plan: &Plan) -> Option<Timestamp> {
        self.pull_requests.as_ref().ok()?.rejected.get(&work(plan)).copied()
    }
}

/// A plan that had begun and whose folder is gone.
pub(super) struct Withdrawn {
    pub(super) folder: String,
    pub(super) plan: Plan,
}

/// What a step works with.
pub(super) struct Asked {
    pub(super) world: World,
    pub(super) desk: Desk,
    /// The changes that have begun, by the ids of their plans.
    pub(super) begun: BTreeMap<Arc<str>, BTreeSet<ChangeId>>,
    /// The plans that are not taken up now: they are carried out already, or wait and were looked at a moment ago.
    pub(super) passed_over: BTreeSet<Arc<str>>,
    pub(super) upkeep: BTreeMap<ChangeClass, Upkeep>,
    pub(super) planner: Arc<Planner>,
    pub(super) repository: Repository,
    pub(super) clock: Clock,
    pub(super) clock_speed: u32,
}

/// What a step comes to.
pub(super) struct Done {
    pub(super) world: World,
    pub(super) desk: Desk,
    /// The merged plan that begins.
    pub(super) begins: Option<Begins>,
    /// A merged plan that expired before it began: that is written down.
    pub(super) expired: Vec<Begins>,
    pub(super) refused: Vec<Refused>,
    /// What became of what was proposed.
    pub(super) pushed: Option<(ChangeClass, Pushed)>,
    /// The branches that were closed.
    pub(super) closed: Vec<Replaced>,
    pub(super) upkeep: BTreeMap<ChangeClass, Upkeep>,
    /// What stands in the way of proposing, a line each.
    pub(super) troubles: Vec<String>,
}

/// A merged plan that begins.
pub(super) struct Begins {
    pub(super) name: FolderName,
    pub(super) plan: ApprovedPlan,
    /// What there is to say of what is left of it.
    pub(super) said: Vec<String>,
}

/// Decides what of the merged plans begins; where none does, what is proposed. Plans, and waits for Git, on this thread.
pub(super) fn step(asked: Asked) -> Done {
    let Asked { world, desk, begun, passed_over, upkeep, planner, repository, clock, clock_speed } = asked;
    let world = automatic::to_be_reviewed(&world);
    let mut done = Done {
        world,
        desk,
        begins: None,
        expired: Vec::new(),
        refused: Vec::new(),
        pushed: None,
        closed: Vec::new(),
        upkeep,
        troubles: Vec::new(),
    };
    let mut taking =
        Merging { world: &done.world, ledger: &done.desk.ledger, expired: Vec::new(), refused: Vec::new() };
    let nothing = BTreeSet::new();
    for folder in &done.desk.folders.waiting {
        let id: Arc<str> = folder.proposal.plan.id().into();
        if passed_over.contains(&id) {
            continue;
        }
        if let Some(begins) = taking.begins(folder, begun.get(&id).unwrap_or(&nothing)) {
            done.begins = Some(begins);
            break;
        }
    }
    let Merging { expired, refused, .. } = taking;
    (done.expired, done.refused) = (expired, refused);
    // Whether people closed a pull request is not known while the forge does not say.
    if done.begins.is_none() && !done.world.policy.fleet.is_suspended && done.desk.pull_requests.is_ok() {
        let proposing = Upkeeping { planner: &planner, repository: &repository, clock, clock_speed };
        proposing.step(&mut done);
        proposing.close(&mut done);
    }
    done
}

/// Merged plans, looked at one after the other.
struct Merging<'a> {
    world: &'a World,
    ledger: &'a Ledger,
    expired: Vec<Begins>,
    refused: Vec<Refused>,
}

impl Merging<'_> {
    /// Returns what begins of a merged plan.
    fn begins(&mut self, folder: &Folder, begun: &BTreeSet<ChangeId>) -> Option<Begins> {
        let Folder { name, proposal } = folder;
        let plan = proposal.plan.clone();
        let known = self.ledger.of_id(&name.id);
        let before = known.map(|known| known.status.as_ref().map(ended).unwrap_or_default());
        let (snapshot, policy) = (plan.snapshot(), plan.policy());
        let checked = match CheckedPlan::judged(&snapshot, &policy, plan.clone()) {
            Ok(checked) => checked,
            Err(refused) => {
                self.refuse(name, refused.findings.iter().map(ToString::to_string).collect());
                return None;
            }
        };
        let taking = Taking {
            world: self.world,
            checked,
            struck: folder.struck(),
            begun,
            before: before.as_ref(),
            terms: Terms::default(),
        };
        match gitops::taken(taking) {
            Ok(Narrowed { plan, said }) => Some(Begins { name: name.clone(), plan, said }),
            Err(NotTaken::Refused(refused)) => {
                let findings = refused.findings.iter();
                let bug = "the judge refuses the second plan, which is a bug of nodeform";
                self.refuse(name, findings.map(|finding| format!("{bug}: {finding}")).collect());
                None
            }
            Err(NotTaken::NotApproved(faults)) => {
                if matches!(*faults, [NotApproved::Expired { .. }]) {
                    let left = LeftOut::NoLongerHolds("the plan has expired".into());
                    let now = Now { snapshot: &self.world.snapshot, policy: &self.world.policy, begun };
                    let expired = finish(plan, now, &left).ok();
                    self.expired.extend(expired.map(|plan| Begins {
                        name: name.clone(),
                        plan,
                        said: Vec::new(),
                    }));
                }
                self.refuse(name, faults.iter().map(ToString::to_string).collect());
                None
            }
        }
    }

    fn refuse(&mut self, name: &FolderName, faults: Vec<String>) {
        let fault = GitOpsFault { faults, is_stale: true, ..GitOpsFault::default() };
        self.refused.push(Refused { name: name.to_string(), fault });
    }
}

/// When the world was seen that a proposal was made of.
fn seen_at(proposal: &Proposal) -> Option<Timestamp> {
    proposal.plan.as_ref()?.spec.execution.as_ref()?.seen_at
}

/// What proposals are kept up with.
struct Upkeeping<'a> {
    planner: &'a Planner,
    repository: &'a Repository,
    clock: Clock,
    clock_speed: u32,
}

impl Upkeeping<'_> {
    /// Goes through the classes that are reviewed; proposes one at most: the next step sees what that changed.
    fn step(&self, done: &mut Done) {
        for classes in CLASSES {
            let class = classes[0];
            let reviewed = &done.world.policy.fleet.reviewed;
            let is_reviewed = classes.iter().any(|class| reviewed.has_any(*class));
            if !is_reviewed {
                continue;
            }
            let standing = &done.desk.around.standing;
            let of_class = || standing.proposals.iter().filter(|it| it.class == class && it.is_open);
            let open = of_class().max_by_key(|it| (!it.proposed.tip.is_ours, seen_at(it), &it.name));
            // Two controllers may have proposed at once, for a moment.
            let others = of_class().filter(|it| open.is_some_and(|open| open.name != it.name));
            let others = others.filter(|it| it.may_be_replaced());
            let clone = &done.desk.around.clone;
            done.closed
                .extend(others.map(|it| it.delete(clone, "a later one of its class is open".to_owned())));
            let fresh = match self.fresh(done, classes) {
                Ok(fresh) => fresh,
                Err(because) => {
                    done.troubles.push(because);
                    continue;
                }
            };
            let state = open.map(|open| done.desk.state(open));
            let rejected_at = done.desk.rejected_at(&fresh);
            let upkeep = done.upkeep.entry(class).or_default();
            let at = done.desk.around.at;
            match upkeep.step((class, state), (&fresh, rejected_at), (at, self.clock_speed)) {
                ProposalStep::Nothing | ProposalStep::Keep | ProposalStep::Wait(_) => {}
                ProposalStep::Close(why) => {
                    let clone = &done.desk.around.clone;
                    done.closed.extend(open.map(|open| open.delete(clone, why.to_owned())));
                }
                ProposalStep::Propose => match self.propose(done, &fresh) {
                    Ok(pushed) => {
                        done.upkeep.entry(class).or_default().proposed(at);
                        done.pushed = Some((class, pushed));
                        return;
                    }
                    Err(fault) => done.troubles.push(format!("`{class}` is not proposed: {fault}")),
                },
            }
        }
    }

    /// What would be proposed now of these classes, in the pools where they are reviewed.
    fn fresh(&self, done: &Done, classes: &[ChangeClass]) -> Result<Plan, String> {
        let mut world = done.world.clone();
        world.valid_for = Some(Validity::OfClasses);
        gitops::narrow(&mut world, classes);
        let fleet = &mut world.policy.fleet;
        for pool in world.policy.pools.keys() {
            let others = classes.iter().filter(|class| !fleet.reviewed.has(**class, pool));
            let held = others.copied().collect::<BTreeSet<ChangeClass>>();
            if !held.is_empty() {
                fleet.holds.pools.entry(pool.clone()).or_default().extend(held);
            }
        }
        let planner = |world: &World| self.planner.plan(world).map(|planned| planned.plan.plan().clone());
        let fresh = gitops::planned(&world, classes.first().copied(), &done.desk.around.standing, planner);
        fresh.map_err(|refused| {
            let finding = refused.findings.first().map(ToString::to_string).unwrap_or_default();
            format!("the judge refuses what would be proposed, which is a bug of nodeform: {finding}")
        })
    }

    fn propose(&self, done: &Done, plan: &Plan) -> Result<Pushed, GitOpsFault> {
        let Some(name) = FolderName::of(plan) else {
            return Ok(Pushed::Nothing { because: "nothing changes".to_owned(), replaced: Vec::new() });
        };
        let signature = self.signature(&done.desk.git, plan)?;
        Proposing { plan, name, around: &done.desk.around }.propose(&gitops::files(plan, signature))
    }

    /// Closes the pull requests of branches that are gone.
    fn close(&self, done: &mut Done) {
        let replaced = match &done.pushed {
            Some((_, Pushed::Proposed { replaced, .. } | Pushed::Nothing { replaced, .. })) => &replaced[..],
            None => &[],
        };
        let gone: Vec<&Replaced> =
            done.closed.iter().chain(replaced).filter(|gone| gone.fault.is_none()).collect();
        let Desk { around, git, .. } = &done.desk;
        let forge = gitops::connect((git, &around.place), &self.repository.access, self.clock);
        let Some(forge) = forge.ok().flatten().filter(|_| !gone.is_empty()) else { return };
        let closing = async {
            let mut faults = Vec::new();
            for Replaced { branch, why, .. } in gone {
                faults.extend(gitops::close(&*forge, around, branch, why).await.err());
            }
            faults
        };
        let faults = tokio::runtime::Handle::current().block_on(closing);
        done.troubles.extend(faults.iter().map(ToString::to_string));
    }

    /// Signs a plan where there is a key, of which one has to be the NodeFleet's where that names any.
    fn signature(&self, git: &Git, plan: &Plan) -> Result<Option<String>, GitOpsFault> {
        let key = self.repository.signing_key.as_deref().map(gitops::signing_key).transpose()?;
        gitops::signed(plan, key.as_ref(), Some(git))
    }
}
