//! `nodeform approve` and `nodeform reject`: a person's decision about a plan that waits in the cluster.
//!
//! Must never approve a plan that was not shown.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use super::confirm::confirmed;
use super::context::ContextArguments;
use super::exit::{Exit, Failure};
use super::narrow::not_deleted;
use super::nodeplan::{self, Proposed};
use super::saved;
use super::ui::Ui;
use crate::api::node_plan::Phase;
use crate::api::node_plan_approval::{ApprovalDecision, NodePlanApprovalSpec};
use crate::cluster::{ClusterFailure, ClusterFailureKind, WriteGate};
use crate::gitops::FLEETS;
use crate::ledger::{APPROVALS, PLANS, decision};
use crate::render::proposal::derived;
use crate::review::proposal::kept;

/// How many letters a reason has at most, as the CustomResourceDefinition has it.
const REASON_LETTERS_MAX: usize = 512;

/// Where the API server says who asks.
const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Approves a plan that waits in the cluster, where the NodeFleet names no repository.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform show nodeplan/k3v9q2m7xa\n  nodeform approve k3v9q2m7xa\n  \
    nodeform approve k3v9q2m7xa --keep node/aks-general-x7k2\n")]
pub(super) struct ApproveArguments {
    /// The id of the plan, as `nodeform status` and `kubectl get nodeplans` show it
    #[arg(value_name = "ID")]
    plan: String,
    /// Keep this node, though the plan removes it; repeatable
    #[arg(long, value_name = "node/NAME")]
    keep: Vec<String>,
    /// Do not ask: approve the plan as it stands
    #[arg(long, visible_alias = "yes")]
    auto_approve: bool,
    /// Why, for others who read it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    context: ContextArguments,
}

/// Rejects a plan that waits in the cluster, or stops one that was approved.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nodeform reject k3v9q2m7xa\n  nodeform reject k3v9q2m7xa --reason 'not before the sale ends'\n"
)]
pub(super) struct RejectArguments {
    /// The id of the plan, as `nodeform status` and `kubectl get nodeplans` show it
    #[arg(value_name = "ID")]
    plan: String,
    /// Why, for others who read it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    context: ContextArguments,
}

/// Approves a plan.
///
/// # Errors
/// It does not wait, does not delete a node that is to stay, nobody says yes, or the API server refuses.
pub(super) fn approve(arguments: &ApproveArguments, ui: Ui) -> Result<Exit, Failure> {
    let ApproveArguments { plan: id, keep, auto_approve, reason, context } = arguments;
    let found = nodeplan::proposed(id, context)?;
    found.expect_open()?;
    found.expect_undecided()?;
    let (name, plan) = (&found.name, found.plan()?);
    expect_short(reason.as_deref())?;
    let struck = kept(plan, &derived(plan).destroys, &BTreeSet::new(), keep);
    struck.map_err(|fault| not_deleted(&fault))?;
    saved::print_for_review(plan, Path::new(&format!("nodeplan/{name}")), false, ui)?;
    let hints = ["approve it as it is shown: `--auto-approve`"];
    if !auto_approve && !confirmed(&format!("Approve plan {name}?"), &hints, ui)? {
        return Err(Failure::error(format!("plan {name} is not approved: not confirmed")));
    }
    let keep = keep.iter().map(|node| node.strip_prefix("node/").unwrap_or(node).to_owned());
    let keep: Vec<String> = keep.collect::<BTreeSet<String>>().into_iter().collect();
    let spec = NodePlanApprovalSpec {
        plan: name.clone(),
        digest: found.digest.to_string(),
        decision: ApprovalDecision::Approve,
        approver: who(&found)?,
        reason: reason.clone(),
        keep: (!keep.is_empty()).then_some(keep),
    };
    let by = spec.approver.clone();
    write(&found, spec, "approved")?;
    ui.told(&format!("Plan {name} is approved by {by}. {}\n", begins(&found)?))?;
    Ok(Exit::Done)
}

/// Rejects a plan, or stops one that was approved.
///
/// # Errors
/// It has ended, or the API server refuses.
pub(super) fn reject(arguments: &RejectArguments, ui: Ui) -> Result<Exit, Failure> {
    let RejectArguments { plan: id, reason, context } = arguments;
    let found = nodeplan::proposed(id, context)?;
    let name = &found.name;
    expect_short(reason.as_deref())?;
    let is_under_way = found.phase == Phase::Applying;
    if !is_under_way {
        found.expect_open()?;
    }
    let spec = NodePlanApprovalSpec {
        plan: name.clone(),
        digest: found.digest.to_string(),
        decision: ApprovalDecision::Reject,
        approver: who(&found)?,
        reason: reason.clone(),
        keep: None,
    };
    let by = spec.approver.clone();
    write(&found, spec, "rejected")?;
    ui.told(&match is_under_way {
        true => format!(
            "Plan {name} is stopped by {by}: within a minute no further change starts, and removals are rolled back while their VMs exist.\n"
        ),
        false => format!("Plan {name} is rejected by {by}. nodeform does not propose the same changes for 24 hours.\n"),
    })?;
    Ok(Exit::Done)
}

/// Expects a reason that a NodePlanApproval takes.
fn expect_short(reason: Option<&str>) -> Result<(), Failure> {
    let letters = reason.map_or(0, |reason| reason.chars().count());
    match letters <= REASON_LETTERS_MAX {
        true => Ok(()),
        false => Err(Failure::error(format!(
            "`--reason` has {letters} letters, and a NodePlanApproval holds {REASON_LETTERS_MAX}"
        ))),
    }
}

/// Says when the controller begins a plan that is approved.
fn begins(found: &Proposed) -> Result<&'static str, Failure> {
    let fleets = found.wait_for(found.cluster.list(FLEETS, "")).map_err(|failure| refused(&failure))?.items();
    let Some(fleet) = fleets.first() else { return Ok("It will not start: there is no NodeFleet.") };
    let spec = &fleet["spec"];
    Ok(if spec["git"]["repository"].is_string() {
        "It will not start: the NodeFleet sets `git.repository`, so plans are reviewed there."
    } else if !["auto", "review"].contains(&spec["mode"].as_str().unwrap_or_default()) {
        "Waiting: the NodeFleet is in mode `observe`."
    } else if spec["suspend"] == true {
        "Waiting: the NodeFleet has `suspend: true`."
    } else {
        "The controller starts it within a minute; see `nodeform status`."
    })
}

/// Asks the API server who the caller is.
fn who(found: &Proposed) -> Result<String, Failure> {
    let asked = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let writer = found.cluster.writing(&WriteGate::always_open());
    let answer = found.wait_for(writer.create(WHO, &asked)).map_err(|failure| refused(&failure))?;
    let name = answer.pointer("/status/userInfo/username").and_then(Value::as_str);
    name.filter(|name| !name.is_empty()).map(str::to_owned).ok_or_else(|| {
        Failure::error("the API server does not report your user name").hint("see `kubectl auth whoami`")
    })
}

fn write(found: &Proposed, spec: NodePlanApprovalSpec, done: &str) -> Result<(), Failure> {
    let writer = found.cluster.writing(&WriteGate::always_open());
    let path = format!("{PLANS}/{}", found.name);
    let stored = found.wait_for(found.cluster.get_optional(&path)).map_err(|failure| refused(&failure))?;
    let uid = stored.as_ref().and_then(|stored| stored["metadata"]["uid"].as_str());
    let uid = uid.ok_or_else(|| Failure::error(format!("NodePlan `{}` is gone", found.name)))?;
    match found.wait_for(writer.create(APPROVALS, &decision(spec, uid))) {
        Ok(_) => Ok(()),
        Err(failure) if failure.kind == ClusterFailureKind::Conflict => {
            let fault = Failure::error(format!("plan {} was {done} by you before", found.name));
            Err(fault.hint("follow it with `nodeform status`"))
        }
        Err(failure) => Err(refused(&failure)),
    }
}

fn refused(failure: &ClusterFailure) -> Failure {
    Failure::errors(Vec::new()).and(&failure.what, Some(&failure.hint))
}
