//! NodePlans of a cluster as named in commands: `nodeplan/ID`, `ID`, or a folder name that ends with the id.

use std::path::Path;

use super::context::ContextArguments;
use super::exit::{Exit, Failure};
use crate::api::node_plan::Phase;
use crate::apply::{NotBegun, file, recorded, text};
use crate::clock::Clock;
use crate::cluster::{Cluster, ClusterFailure, Settings};
use crate::ledger::{APPROVALS, Decisions, Recorded, Rejection, decisions};
use crate::model::Digest;
use crate::plan::{self, Plan};

/// Prefix of a NodePlan where a file name is also possible.
const PREFIX: &str = "nodeplan/";

/// A plan under review in the cluster.
pub(super) struct Proposed {
    pub(super) cluster: Cluster,
    runtime: tokio::runtime::Runtime,
    /// The name of its NodePlan.
    pub(super) name: String,
    /// Its phase.
    pub(super) phase: Phase,
    /// The reason why it ended, if it has.
    because: Option<String>,
    /// Its digest.
    pub(super) digest: Digest,
    /// The plan as reviewers see it.
    plan: Result<Plan, NotBegun>,
    /// Reviewers' decisions about it.
    decided: Decisions,
}

impl Proposed {
    /// Returns the plan as reviewers see it.
    ///
    /// # Errors
    /// It cannot be read back.
    pub(super) fn plan(&self) -> Result<&Plan, Failure> {
        self.plan.as_ref().map_err(not_read)
    }

    /// Checks that the plan was not rejected.
    ///
    /// # Errors
    /// It was rejected, or a decision cannot be read.
    pub(super) fn expect_undecided(&self) -> Result<(), Failure> {
        let Decisions { rejected, faults, .. } = &self.decided;
        if let Some(Rejection { by, reason, .. }) = rejected {
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            let what = format!("plan {} was rejected by {by}{reason}", self.name);
            let failure = Failure { exit: Exit::Stale, ..Failure::error(what) };
            return Err(failure
                .hint("nodeform proposes the same changes again after 24 hours if they are still needed"));
        }
        if faults.is_empty() {
            return Ok(());
        }
        let hint =
            "it may be a rejection: look at it, then delete it: `kubectl delete nodeplanapproval NAME`";
        Err(Failure::errors(faults.clone()).hint(hint))
    }

    /// Waits for an answer from the cluster.
    pub(super) fn wait_for<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(answer)
    }

    /// Checks that the plan waits for approval.
    ///
    /// # Errors
    /// It is being applied, or has ended.
    pub(super) fn expect_open(&self) -> Result<(), Failure> {
        let name = &self.name;
        let because = self.because.as_ref().map_or_else(String::new, |because| format!(" ({because})"));
        match self.phase {
            Phase::Proposed => Ok(()),
            Phase::Applying => Err(Failure::error(format!("plan {name} is already being applied"))
                .hint(format!("stop it with `nodeform reject {name}`"))),
            phase @ (Phase::Done
            | Phase::Partial
            | Phase::Failed
            | Phase::Withdrawn
            | Phase::Expired
            | Phase::Rejected) => {
                let what = format!("plan {name} is finished (result: {phase:?}){because}");
                let failure = Failure { exit: Exit::Stale, ..Failure::error(what) };
                Err(failure.hint("list plans that wait for approval: `nodeform status`"))
            }
        }
    }
}

/// Returns the id if the argument names a NodePlan and there is no file of that name.
pub(super) fn id_of(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(PREFIX).filter(|id| !id.is_empty() && !path.exists())
}

/// Reads a plan under review in the cluster.
///
/// # Errors
/// There is no plan with that id, or it cannot be read.
pub(super) fn proposed(id: &str, context: &ContextArguments) -> Result<Proposed, Failure> {
    let (runtime, cluster, found) = found(id, context)?;
    if !found.needs_approval {
        return Err(Failure::error(format!(
            "plan {} needs no approval: it was not proposed in the cluster",
            found.name
        ))
        .hint("list plans that wait for approval: `nodeform status`"));
    }
    // A rejection does not require a readable plan, so an error is kept.
    let plan = runtime.block_on(file(&cluster, &found));
    let decided = runtime
        .block_on(cluster.list(APPROVALS, ""))
        .map_err(|failure| Failure::errors(Vec::new()).and(&failure.what, Some(&failure.hint)))?;
    let decided = decisions(&found, &decided.items());
    let conditions = found.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let because = conditions.map(|condition| condition.message.clone()).next();
    Ok(Proposed {
        cluster,
        runtime,
        phase: found.phase(),
        because,
        digest: found.digest,
        plan,
        decided,
        name: found.name,
    })
}

/// Reads the plan of a NodePlan; if it was not reviewed in the cluster, only its decisions.
///
/// # Errors
/// There is no plan with that id, or it cannot be read.
pub(super) fn read(id: &str, context: &ContextArguments) -> Result<Plan, Failure> {
    let (runtime, cluster, found) = found(id, context)?;
    if found.needs_approval {
        return runtime.block_on(file(&cluster, &found)).map_err(|fault| not_read(&fault));
    }
    let text = runtime.block_on(text(&cluster, &found)).map_err(|fault| not_read(&fault))?;
    let fault =
        |fault: plan::file::PlanFileFault| Failure::error(format!("NodePlan `{}`: {fault}", found.name));
    plan::file::read_spec(&text).map_err(fault)
}

fn found(
    id: &str,
    ContextArguments { context, kubeconfig }: &ContextArguments,
) -> Result<(tokio::runtime::Runtime, Cluster, Recorded), Failure> {
    let id = id.strip_prefix(PREFIX).unwrap_or(id);
    let id = id.rsplit(['-', '/']).next().unwrap_or(id);
    if id.is_empty() {
        return Err(Failure::error("the plan's id is missing")
            .hint("list plans that wait for approval: `nodeform status`"));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::error(format!("the program cannot wait for answers: {error}")))?;
    let settings = Settings { context: context.clone(), kubeconfig: kubeconfig.clone() };
    let cluster = runtime.block_on(Cluster::of(&settings, Clock::of_this_machine()));
    let cluster = cluster.map_err(|failure: ClusterFailure| {
        Failure::errors(Vec::new()).and(&failure.what, Some(&failure.hint))
    })?;
    let ledger = runtime.block_on(recorded(&cluster)).map_err(|fault| not_read(&fault))?;
    let mut plans = ledger.plans.into_iter().chain(ledger.proposed);
    let found = plans.find(|plan| plan.name == id).ok_or_else(|| {
        Failure::error(format!("NodePlan `{id}` not found")).hint("list plans: `kubectl get nodeplans`")
    })?;
    Ok((runtime, cluster, found))
}

fn not_read(fault: &NotBegun) -> Failure {
    Failure::error(fault.to_string()).hint(fault.hint())
}
