//! `nodeform status`: the current activity of the fleet, from cluster objects only.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use serde_json::Value;

use super::context::ContextArguments;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::api::node_fleet::{
    FleetHold, FleetReview, FleetWaiting, LastPlan, NodeFleetStatus, PlanInFlight, ReviewState,
};
use crate::api::node_plan::{ChangeOutcome, OutcomeKind, Phase};
use crate::clock::Clock;
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind, Settings};
use crate::ledger::{self, APPROVALS, CHUNKS, Decisions, Ledger, PLANS, PlanSummary, Recorded, Rejection};
use crate::model::label;
use crate::plan::{Change, ChangeId, Plan, file};
use crate::render::words::{count, verb};

const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";
const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const NODES: &str = "/api/v1/nodes";

/// How many plans that have ended are listed.
const ENDED_MAX: usize = 5;

/// How many changes of a plan are listed.
const CHANGES_MAX: usize = 20;

/// Shows what the fleet is doing: mode, plans in flight, what is held, what stops.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform status\n")]
pub(super) struct StatusArguments {
    #[command(flatten)]
    context: ContextArguments,
}

/// What stands in the cluster.
struct Found {
    fleets: Vec<Value>,
    ledger: Ledger,
    /// What the plans that are shown hold, by name, as far as it can be read.
    plans: BTreeMap<String, Plan>,
    /// What people decided about plans; `Err` says why it cannot be listed.
    decided: Result<Vec<Value>, String>,
    claims: Vec<Value>,
    nodes: Vec<Value>,
}

/// Shows it.
///
/// # Errors
/// The cluster cannot be read.
pub(super) fn run(arguments: &StatusArguments, ui: Ui) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::error(format!("the program cannot wait for answers: {error}")))?;
    let ContextArguments { context, kubeconfig } = arguments.context.clone();
    let found = runtime.block_on(async {
        let cluster = Cluster::of(&Settings { context, kubeconfig }, Clock::of_this_machine()).await?;
        let fleets = items(&cluster, FLEETS, "").await?;
        let ledger = ledger::read(&items(&cluster, PLANS, "").await?);
        let mut plans = BTreeMap::new();
        for recorded in shown(&ledger).iter().map(|shown| shown.plan) {
            let chunks = items(&cluster, CHUNKS, &ledger::chunks_of(&recorded.name)).await?;
            // Without its text, changes are shown by their ids.
            let text = ledger::text(recorded, &chunks).ok();
            let plan = text.and_then(|text| file::read_spec(&text).ok());
            plans.extend(plan.map(|plan| (recorded.name.clone(), plan)));
        }
        let (claims, nodes) = (items(&cluster, CLAIMS, "").await?, items(&cluster, NODES, "").await?);
        let decided = items(&cluster, APPROVALS, "").await.map_err(|failure| failure.what);
        Ok(Found { fleets, ledger, plans, decided, claims, nodes })
    });
    let found = found.map_err(|failure: ClusterFailure| {
        Failure::errors(Vec::new()).and(&failure.what, Some(&failure.hint))
    })?;
    ui.told(&text(&found))?;
    Ok(Exit::Done)
}

/// Lists objects; of a kind that is not installed there are none.
async fn items(cluster: &Cluster, path: &str, query: &str) -> Result<Vec<Value>, ClusterFailure> {
    match cluster.list(path, query).await {
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => Ok(Vec::new()),
        other => Ok(other?.items()),
    }
}

fn text(found: &Found) -> String {
    let Found { fleets, ledger, plans, decided, claims, nodes } = found;
    let mut lines: Vec<String> = Vec::new();
    if fleets.is_empty() {
        lines.push("No NodeFleet found; the controller only logs its plans.".to_owned());
    }
    for fleet in fleets {
        of_fleet(fleet, &mut lines);
    }
    let waits = waits(fleets);
    for plan in &ledger.proposed {
        lines.extend(of_proposal(plan, decided.as_deref().unwrap_or_default()));
    }
    if let Some(because) = decided.as_ref().err().filter(|_| !ledger.proposed.is_empty()) {
        lines.push(format!("warning: cannot list NodePlanApprovals: {because}"));
    }
    for shown in shown(ledger) {
        lines.push(shown.line());
        lines.extend(shown.plan.approvers().iter().map(|approver| format!("  approved by {approver}")));
        by_change(shown.plan, (plans.get(&shown.plan.name), &waits), &mut lines);
    }
    lines.extend(ledger.faults.iter().map(|fault| format!("warning: {fault}; {}", fault.hint())));
    lines.push(of_claims((claims, nodes), ledger));
    lines.push(String::new());
    lines.join("\n")
}

/// Where a plan is that people review in the cluster: what it waits for, or who decided what.
fn of_proposal(plan: &Recorded, decided: &[Value]) -> Vec<String> {
    let (name, of) = (&plan.name, glance(plan));
    let Decisions { approved_by, rejected, keep, faults } = ledger::decisions(plan, decided);
    let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<String>>().join(", ");
    match (plan.phase(), rejected) {
        (Phase::Proposed | Phase::Rejected, Some(Rejection { by, reason, .. })) => {
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            vec![format!(
                "Rejected by {by}{reason}: plan `{name}`{of}; nodeform does not propose the same changes for 24 hours"
            )]
        }
        (Phase::Proposed, None) if !faults.is_empty() => {
            let because = faults.iter().map(|fault| {
                format!("  {fault}; it may be a rejection: delete it with `kubectl delete nodeplanapproval`")
            });
            std::iter::once(format!("Waiting for approval: plan `{name}`{of}")).chain(because).collect()
        }
        (Phase::Proposed, None) if !approved_by.is_empty() => {
            let keeps = if keep.is_empty() { String::new() } else { format!(", but for {}", names(&keep)) };
            let approved_by: BTreeSet<String> = approved_by.into_keys().collect();
            vec![format!("Approved by {}{keeps}: plan `{name}`{of}, not started yet", names(&approved_by))]
        }
        (Phase::Proposed, None) => vec![
            format!("Waiting for approval: plan `{name}`{of}"),
            format!("  `nodeform show nodeplan/{name}`, then `nodeform approve {name}`"),
        ],
        (Phase::Rejected, None) => vec![format!("Rejected: plan `{name}`{of}")],
        (
            Phase::Applying
            | Phase::Done
            | Phase::Partial
            | Phase::Failed
            | Phase::Withdrawn
            | Phase::Expired,
            _,
        ) => Vec::new(),
    }
}

/// Where a plan is that is reviewed in Git.
fn of_review(FleetReview { folder, state, branch, page, because }: &FleetReview) -> String {
    let state = format!("{state:?}");
    let branch = branch.as_ref().map_or_else(String::new, |branch| format!(" on branch `{branch}`"));
    let page = page.as_ref().map_or_else(String::new, |page| format!(", {page}"));
    let because = because.as_ref().map_or_else(String::new, |because| format!(": {because}"));
    format!("{state}: `{folder}`{branch}{page}{because}")
}

fn of_fleet(fleet: &Value, lines: &mut Vec<String>) {
    let name = fleet["metadata"]["name"].as_str().unwrap_or_default();
    let status: NodeFleetStatus = serde_json::from_value(fleet["status"].clone()).unwrap_or_default();
    let suspended = if fleet["spec"]["suspend"] == true { ", suspended" } else { "" };
    match status.mode {
        Some(mode) => {
            lines.push(format!("NodeFleet `{name}`: mode {}{suspended}", format!("{mode:?}").to_lowercase()));
        }
        None => lines.push(format!("NodeFleet `{name}`: no controller has looked at it yet{suspended}")),
    }
    if let Some(LastPlan { id, seen_at, add, change, destroy, pending, monthly_before, monthly_after }) =
        status.plan
    {
        lines.push(format!(
            "Plan `{id}` of {seen_at}: {add} to add, {change} to change, {destroy} to destroy"
        ));
        lines.push(format!("Monthly cost ${monthly_before} → ${monthly_after}"));
        if pending > 0 {
            let pods = pending.unsigned_abs() as usize;
            lines.push(format!("{} {} Pending", count(pods, "pod"), verb(pods, "stays", "stay")));
        }
    }
    for FleetWaiting { pods, example, because, since } in status.waiting.into_iter().flatten() {
        let pods = count(pods.unsigned_abs() as usize, "pod");
        lines.push(format!("Pending: {pods}, such as `{example}`{}: {because}", since_of(since)));
    }
    for PlanInFlight { plan, changes, add, change, destroy } in status.in_flight.into_iter().flatten() {
        let changes = count(changes.unsigned_abs() as usize, "change");
        lines.push(format!(
            "In progress: plan `{plan}`, {changes} not finished: {add} to add, {change} to change, {destroy} to destroy"
        ));
    }
    for FleetHold { node, class, because, since, until } in status.holds.into_iter().flatten() {
        let until = until.map(|until| format!(", until {until}")).unwrap_or_default();
        lines.push(format!("Held: {class} of node `{node}`{}: {because}{until}", since_of(since)));
    }
    // Plans waiting in the cluster are shown from their NodePlans.
    let reviews = status.reviews.into_iter().flatten();
    let reviews = reviews.filter(|review| review.state != ReviewState::Proposed || review.branch.is_some());
    lines.extend(reviews.map(|review| of_review(&review)));
    lines.extend(status.stops.into_iter().flatten().map(|stop| format!("Stopped: {stop}")));
}

fn since_of(since: Option<String>) -> String {
    since.map_or_else(String::new, |since| format!(", since {since}"))
}

fn counts(plan: &Recorded) -> String {
    let counts = plan.status.as_ref().and_then(|status| status.counts.as_ref());
    counts.map_or_else(String::new, |counts| {
        let counted = [
            (counts.done + counts.already_so, "done"),
            (counts.waiting, "waiting"),
            (counts.no_longer_holds + counts.no_longer_needed, "outdated"),
            (counts.struck, "struck in review"),
            (counts.failed, "failed"),
        ];
        let counted = counted.iter().filter(|(changes, _)| *changes > 0);
        let counted: Vec<String> = counted.map(|(changes, what)| format!("{changes} {what}")).collect();
        if counted.is_empty() { String::new() } else { format!(": {}", counted.join(", ")) }
    })
}

/// A plan that is told of, and the ones before it that ended alike.
struct Shown<'l> {
    plan: &'l Recorded,
    /// The first of those that ended alike in a row, where there are several.
    alike: Option<(usize, &'l Recorded)>,
}

impl Shown<'_> {
    fn line(&self) -> String {
        let Self { plan, alike } = self;
        let (name, of, counts) = (&plan.name, glance(plan), counts(plan));
        match (plan.phase(), alike) {
            (Phase::Applying, _) => format!("In progress: plan `{name}`{of}{counts}"),
            (phase, None) => format!("Ended: plan `{name}`{of}, {phase:?}{counts}"),
            (phase, Some((times, first))) => {
                let since = first.status.as_ref().and_then(|status| status.started_at.as_deref());
                let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
                format!("Ended: {times} similar plans{since}, {phase:?}; the last is `{name}`{of}{counts}")
            }
        }
    }
}

/// Says of a plan what `kubectl get nodeplans` says: class, folder, nodes, money, expiry.
fn glance(plan: &Recorded) -> String {
    let PlanSummary { class, folder, nodes, monthly_delta } = &plan.summary;
    let monthly = monthly_delta.as_ref().map(|delta| match delta.strip_prefix('-') {
        Some(less) => format!("-${less}/month"),
        None => format!("+${delta}/month"),
    });
    let folder = folder.as_ref().map(|folder| format!("folder `{folder}`"));
    // A finished plan has no relevant expiry.
    let expires = plan.expires_at.filter(|_| !plan.is_spent()).map(|at| format!("expires {at:.0}"));
    let said = [class.clone(), folder, nodes.clone(), monthly, expires].into_iter().flatten();
    said.map(|said| format!(", {said}")).collect()
}

/// The plans that are told of: those under way, and the last that ended; failures that are alike and follow one another are
/// one.
fn shown(ledger: &Ledger) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = ledger.unfinished().map(|plan| Shown { plan, alike: None }).collect();
    let under_way = shown.len();
    for plan in ledger.plans.iter().rev().filter(|plan| plan.phase() != Phase::Applying) {
        let ended = shown.len() - under_way;
        match shown.last_mut().filter(|last| ended > 0 && is_failure(plan) && ends_alike(last.plan, plan)) {
            Some(last) => last.alike = Some((last.alike.map_or(1, |(times, _)| times) + 1, plan)),
            None if ended == ENDED_MAX => break,
            None => shown.push(Shown { plan, alike: None }),
        }
    }
    shown
}

fn is_failure(plan: &Recorded) -> bool {
    matches!(plan.phase(), Phase::Failed | Phase::Partial)
}

/// Whether two plans came to the same end for the same reasons, whatever the names of their nodes.
fn ends_alike(one: &Recorded, other: &Recorded) -> bool {
    let nameless = |text: &str| text.split('`').step_by(2).collect::<String>();
    let ends = |plan: &Recorded| {
        let outcomes = plan.status.iter().flat_map(|status| status.outcomes.iter().flatten());
        let mut ends: Vec<(&str, Option<String>, String)> = outcomes
            .map(|(_, known)| {
                let message = nameless(known.message.as_deref().unwrap_or_default());
                (word(known.outcome), known.code.clone(), message)
            })
            .collect();
        ends.sort();
        ends
    };
    one.phase() == other.phase() && ends(one) == ends(other)
}

/// What changes of nodes wait for, as the NodeFleet says it.
fn waits(fleets: &[Value]) -> BTreeMap<String, String> {
    let holds = fleets.iter().flat_map(|fleet| {
        let status: NodeFleetStatus = serde_json::from_value(fleet["status"].clone()).unwrap_or_default();
        status.holds.unwrap_or_default()
    });
    holds
        .map(|FleetHold { node, because, since, .. }| (node, format!("{because}{}", since_of(since))))
        .collect()
}

/// Says what became of each change, those first that are not done; of a plan that has ended, of those alone.
fn by_change(
    recorded: &Recorded,
    (plan, waits): (Option<&Plan>, &BTreeMap<String, String>),
    lines: &mut Vec<String>,
) {
    let outcomes = recorded.status.iter().flat_map(|status| status.outcomes.iter().flatten());
    let outcomes = outcomes.filter(|(_, known)| !recorded.is_over() || !is_so(known.outcome));
    let mut outcomes: Vec<(&String, &ChangeOutcome)> = outcomes.collect();
    outcomes.sort_by_key(|(id, known)| (is_so(known.outcome), (*id).clone()));
    for (id, ChangeOutcome { outcome, code, message, change }) in outcomes.iter().take(CHANGES_MAX) {
        let is_told = message.is_some() || *outcome != OutcomeKind::Waiting;
        let for_what = node(id, plan).filter(|_| !is_told);
        let for_what = for_what.and_then(|node| waits.get(node)).map(String::as_str);
        // Most messages contain their code.
        let is_in = |code: &&String| message.as_ref().is_some_and(|message| message.contains(code.as_str()));
        let said: Vec<&str> = code
            .iter()
            .filter(|code| !is_in(code))
            .chain(message)
            .map(String::as_str)
            .chain(for_what)
            .collect();
        let because = if said.is_empty() { String::new() } else { format!(": {}", said.join(": ")) };
        let change = change.as_ref().map(|change| format!(" ({change})")).unwrap_or_default();
        lines.push(format!("  {}: {}{because}{change}", object(id, plan), word(*outcome)));
    }
    if let Some(more) = outcomes.len().checked_sub(CHANGES_MAX).filter(|more| *more > 0) {
        lines.push(format!("  {more} more"));
    }
}

/// The name of a change's node.
fn node<'p>(id: &str, plan: Option<&'p Plan>) -> Option<&'p str> {
    Some(match &plan?.spec.changes.get(&ChangeId(id.into()))?.change {
        Change::Create(create) => &create.vm,
        Change::Delete(delete) => delete.target.node.as_str(),
        Change::Update(update) => update.target.node.as_str(),
        Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => return None,
    })
}

fn object(id: &str, plan: Option<&Plan>) -> String {
    let planned = plan.and_then(|plan| plan.spec.changes.get(&ChangeId(id.into())));
    match planned.map(|planned| &planned.change) {
        Some(Change::Create(create)) => format!("+ node `{}`", create.vm),
        Some(Change::Delete(delete)) => format!("- node `{}`", delete.target.node),
        Some(Change::Update(update)) => format!("~ node `{}`", update.target.node),
        Some(Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_)) | None => format!("~ change `{id}`"),
    }
}

const fn is_so(outcome: OutcomeKind) -> bool {
    matches!(outcome, OutcomeKind::Done | OutcomeKind::AlreadySo)
}

const fn word(outcome: OutcomeKind) -> &'static str {
    match outcome {
        OutcomeKind::Done => "done",
        OutcomeKind::AlreadySo => "already so",
        OutcomeKind::Waiting => "waits",
        OutcomeKind::NoLongerNeeded => "no longer needed",
        OutcomeKind::Struck => "struck in review",
        OutcomeKind::NoLongerHolds => "no longer holds",
        OutcomeKind::Failed => "failed",
    }
}

/// Counts NodeClaims; one is ready only while its Node says so. A removal that a plan began which is gone or over counts for
/// nothing.
fn of_claims((claims, nodes): (&[Value], &[Value]), ledger: &Ledger) -> String {
    let is = |object: &Value, kind: &str| {
        let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    let is_whole = ledger.faults.is_empty();
    let goes_on = |known: &Recorded, plan: &str| *known.name == *plan && !known.is_over();
    let is_known = |plan: &str| !is_whole || ledger.plans.iter().any(|known| goes_on(known, plan));
    let leaves = |claim: &&Value| {
        let mark = claim["metadata"]["annotations"][label::REMOVAL].as_str();
        claim["metadata"]["deletionTimestamp"].is_string()
            || mark.and_then(|mark| mark.split('/').next()).is_some_and(is_known)
    };
    let ready_nodes: BTreeSet<&str> = nodes
        .iter()
        .filter(|node| is(node, "Ready"))
        .filter_map(|node| node["metadata"]["name"].as_str())
        .collect();
    let has_ready_node = |claim: &Value| {
        let node = claim["status"]["nodeName"].as_str();
        node.is_some_and(|node| ready_nodes.contains(node))
    };
    let leaving = claims.iter().filter(leaves).count();
    let staying: Vec<&Value> = claims.iter().filter(|claim| !leaves(claim)).collect();
    let (joined, starting): (Vec<&Value>, Vec<&Value>) =
        staying.into_iter().partition(|claim| is(claim, "Initialized") || is(claim, "Ready"));
    let ready = joined.iter().filter(|claim| is(claim, "Ready") && has_ready_node(claim)).count();
    let not_ready = match joined.len() - ready {
        0 => String::new(),
        lost => format!(", {lost} not ready"),
    };
    format!("NodeClaims: {ready} ready{not_ready}, {} starting, {leaving} terminating", starting.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_status_of_fleet_and_claims_is_told_in_lines() {
        let fleet = json!({
            "metadata": {"name": "prod"}, "spec": {"mode": "auto", "suspend": true},
            "status": {
                "mode": "auto", "stops": ["the judge refuses the plan"],
                "plan": {"id": "p1", "seenAt": "2026-01-01T00:00:00Z", "add": 1, "destroy": 2, "pending": 3,
                    "monthlyBefore": "10.00", "monthlyAfter": "8.00"},
                "waiting": [{"pods": 3, "example": "web/a", "because": "no pool has 900 GiB",
                    "since": "2026-01-01T00:00:00Z"}],
                "inFlight": [{"plan": "p0", "changes": 2, "add": 1, "change": 0, "destroy": 1}],
                "holds": [{"node": "n1", "class": "replace", "because": "freeze `week`", "until": "2026-01-02T00:00:00Z"}],
            },
        });
        let is_ready = json!([{"type": "Ready", "status": "True"}]);
        let claim = |node: &str| json!({"status": {"nodeName": node, "conditions": is_ready}});
        let node = |name: &str, status: &str| {
            let conditions = json!([{"type": "Ready", "status": status}]);
            json!({"metadata": {"name": name}, "status": {"conditions": conditions}})
        };
        let nodes = vec![node("n1", "True"), node("n2", "Unknown")];
        let leaving = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
        // The plan of this mark no longer exists, so the mark is ignored.
        let marked = json!({"metadata": {"annotations": {"nodeform.dev/removal": "p/c/t"}}});
        let claims = vec![claim("n1"), claim("n2"), marked, leaving];
        let (ledger, plans, decided) = (Ledger::default(), BTreeMap::new(), Ok(Vec::new()));
        let found = Found { fleets: vec![fleet], ledger, plans, decided, claims, nodes };
        assert_eq!(
            text(&found),
            "NodeFleet `prod`: mode auto, suspended\nPlan `p1` of 2026-01-01T00:00:00Z: 1 to add, 0 to change, 2 to destroy\n\
             Monthly cost $10.00 → $8.00\n3 pods stay Pending\n\
             Pending: 3 pods, such as `web/a`, since 2026-01-01T00:00:00Z: no pool has 900 GiB\nIn progress: plan `p0`, 2 changes not finished: 1 to add, 0 to change, 1 to destroy\n\
             Held: replace of node `n1`: freeze `week`, until 2026-01-02T00:00:00Z\nStopped: the judge refuses the plan\n\
             NodeClaims: 1 ready, 1 not ready, 1 starting, 1 terminating\n"
        );
    }

    #[test]
    fn a_plan_that_people_review_here_says_what_it_waits_for_or_who_decided_what() {
        let digest = crate::model::Digest::of_bytes(b"a plan");
        let name = ledger::name(&digest);
        let spec =
            json!({"digest": digest.to_string(), "chunks": 1, "needsApproval": true, "class": "replace"});
        let read = ledger::read(&[json!({"metadata": {"name": name}, "spec": spec})]);
        let decision = |who: &str, decision: &str| {
            json!({"metadata": {"name": format!("of-{who}")}, "spec": {"plan": name, "digest": digest.to_string(),
                "decision": decision, "approver": who, "reason": "sale", "keep": ["aks-a"]}})
        };
        let said = |decided: &[Value]| of_proposal(&read.proposed[0], decided).join("\n");
        assert_eq!(
            said(&[]),
            format!(
                "Waiting for approval: plan `{name}`, replace\n  `nodeform show nodeplan/{name}`, then `nodeform approve {name}`"
            )
        );
        let (ann, bob) = (decision("ann", "Approve"), decision("bob", "Reject"));
        assert_eq!(
            said(std::slice::from_ref(&ann)),
            format!("Approved by ann, but for aks-a: plan `{name}`, replace, not started yet")
        );
        assert_eq!(
            said(&[ann, bob]),
            format!(
                "Rejected by bob: sale: plan `{name}`, replace; nodeform does not propose the same changes for 24 hours"
            )
        );
        let odd = said(&[decision("eve", "Perhaps")]);
        assert!(odd.contains("NodePlanApproval `of-eve` cannot be read"), "{odd}");
        assert!(odd.ends_with("delete it with `kubectl delete nodeplanapproval`"), "{odd}");
    }

    #[test]
    fn plans_that_failed_alike_in_a_row_are_told_once_with_how_often_and_since_when() {
        let recorded = |number: u8, outcomes: Value| {
            let digest = crate::model::Digest::of_bytes(&[number]);
            json!({
                "metadata": {"name": ledger::name(&digest), "creationTimestamp": format!("2026-01-01T00:0{number}:00Z")},
                "spec": {"digest": digest.to_string(), "chunks": 1, "class": "create", "expiresAt": "2026-01-02T00:00:00Z",
                    "folder": "2026-01/create-x", "monthlyDelta": "-412.05",
                    "changes": {"add": 1, "change": 0, "destroy": 3, "nodes": "+1 ~0 -3"}},
                "status": {"phase": "Failed", "startedAt": format!("2026-01-01T00:0{number}:00Z"), "outcomes": outcomes},
            })
        };
        let failed = |node: &str| json!({"c": {"outcome": "failed", "code": "Quota", "message": format!("no VM `{node}`")}});
        let objects = [recorded(1, failed("a")), recorded(2, failed("b")), recorded(3, failed("c"))];
        let ledger = ledger::read(&objects);
        assert_eq!(ledger.faults.len(), 0, "{:?}", ledger.faults);
        let lines: Vec<String> = shown(&ledger).iter().map(Shown::line).collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("Ended: 3 similar plans since 2026-01-01T00:01:00Z, Failed"),
            "{lines:?}"
        );
        assert!(
            lines[0].ends_with("`, create, folder `2026-01/create-x`, +1 ~0 -3, -$412.05/month"),
            "{lines:?}"
        );
        let mut under_way = recorded(5, json!({}));
        under_way["status"]["phase"] = json!("Applying");
        let line = shown(&ledger::read([&under_way]))[0].line();
        assert!(line.ends_with(", +1 ~0 -3, -$412.05/month, expires 2026-01-02T00:00:00Z"), "{line}");
        let other = recorded(4, json!({"c": {"outcome": "failed", "code": "Other", "message": "m"}}));
        let ledger = ledger::read(objects.iter().chain([&other]));
        assert_eq!(shown(&ledger).len(), 2);
    }
}
