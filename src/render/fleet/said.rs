//! Statements of others about nodes: status of nodeform's NodeFleet and NodePlans, and conditions and annotations that
//! Karpenter and the cluster autoscaler read and write.
//!
//! The content of these objects is only text to show. Must never be read to decide anything.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::node_fleet::{FleetHold, FleetWaiting, LastPlan, NodeFleetStatus};
use crate::api::node_plan::{ChangeOutcome, NodePlanStatus, OutcomeKind, Phase};
use crate::model::{CapacityType, label};
use crate::plan::{Change, ChangeId, ClaimSpec, Plan};
use crate::render::words::{count, verb};

/// Annotation that keeps the cluster autoscaler from removing a node.
const KEPT_FROM_AUTOSCALER: &str = "cluster-autoscaler.kubernetes.io/scale-down-disabled";

/// Statements about a fleet and its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Activity of nodeform's controller, one line per NodeFleet.
    pub fleets: Vec<String>,
    /// Why no change starts, and why pods stay Pending.
    pub warnings: Vec<String>,
    /// Planned changes by name of the node.
    pub planned: BTreeMap<String, Vec<Planned>>,
    /// Holds by name of the node or NodeClaim.
    pub held: BTreeMap<String, Vec<String>>,
    /// Nodes that plans create.
    pub creates: Vec<Planned>,
}

/// A planned change of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The node; for a new one, the VM of its first attempt.
    pub node: String,
    /// Its NodeClaim, if named.
    pub claim: Option<String>,
    /// The change and its reason.
    pub text: String,
    /// For a new node: pool, size, zone and capacity type.
    pub machine: Option<Machine>,
}

/// Machine of a new node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its NodePool.
    pub pool: String,
    /// Size of its first choice.
    pub size: String,
    /// Its zone.
    pub zone: String,
    /// Its capacity type.
    pub bought: CapacityType,
}

/// A NodePlan that has not finished.
#[derive(Clone, Copy, Debug)]
pub struct PlanSaid<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its phase.
    pub phase: Phase,
    /// Its status.
    pub status: Option<&'a NodePlanStatus>,
    /// Its plan, if its text can be read.
    pub plan: Option<&'a Plan>,
}

impl Said {
    /// Adds the NodeFleets.
    pub fn of_fleets(&mut self, fleets: &[Value]) {
        for fleet in fleets {
            let name = fleet["metadata"]["name"].as_str().unwrap_or_default();
            let status = serde_json::from_value::<NodeFleetStatus>(fleet["status"].clone());
            let is_faulty = status.is_err() && !fleet["status"].is_null();
            if is_faulty {
                self.warnings.push(format!("the status of NodeFleet `{name}` cannot be read"));
            }
            let status = status.unwrap_or_default();
            self.fleets.push(fleet_line(name, &status, fleet["spec"]["suspend"] == true, is_faulty));
            self.warnings.extend(status.stops.into_iter().flatten().map(|stop| format!("stopped: {stop}")));
            for FleetWaiting { pods, example, because, .. } in status.waiting.into_iter().flatten() {
                let pods = count(pods.unsigned_abs() as usize, "pod");
                self.warnings.push(format!("Pending: {pods}, such as `{example}`: {because}"));
            }
            for FleetHold { node, class, because, until, .. } in status.holds.into_iter().flatten() {
                let until = until.map(|until| format!(", until {until}")).unwrap_or_default();
                self.held.entry(node).or_default().push(format!("{class}: {because}{until}"));
            }
        }
    }

    /// Adds a NodePlan.
    pub fn of_plan(&mut self, said: PlanSaid<'_>) {
        let Some(plan) = said.plan else {
            self.warnings
                .push(format!("the text of plan `{}` cannot be read: its changes are unknown", said.name));
            return;
        };
        for (id, planned) in &plan.spec.changes {
            let outcome = said.status.and_then(|status| status.outcomes.as_ref()?.get(&*id.0));
            if outcome.is_some_and(|known| known.outcome != OutcomeKind::Waiting) {
                continue;
            }
            match planned_by(&planned.change, (plan, said), (id, outcome)) {
                Some(create) if create.machine.is_some() => self.creates.push(create),
                Some(other) => self.planned.entry(other.node.clone()).or_default().push(other),
                None => {}
            }
        }
    }

    /// Adds the NodeClaims: what Karpenter is about to do, and what it waits for.
    pub fn of_claims(&mut self, claims: &[Value]) {
        for claim in claims {
            let Some(name) = claim["metadata"]["name"].as_str() else { continue };
            let node = claim["status"]["nodeName"].as_str().unwrap_or(name);
            if let Some(disrupted) = condition(claim, "DisruptionReason").filter(|it| it["status"] == "True")
            {
                let why = disrupted["reason"].as_str().unwrap_or("unknown reason");
                let text = format!("- delete: {why}");
                let planned = Planned { node: node.into(), claim: Some(name.into()), text, machine: None };
                self.planned.entry(node.to_owned()).or_default().push(planned);
            }
            let is_deleted = claim["metadata"]["deletionTimestamp"].is_string();
            let drains = condition(claim, "Drained").filter(|it| is_deleted && it["status"] != "True");
            if let Some(drains) = drains {
                let text = ["message", "reason"].iter().filter_map(|field| drains[*field].as_str());
                let text = text.filter(|text| !text.is_empty()).map(str::to_owned).next();
                self.held.entry(name.to_owned()).or_default().extend(text);
            }
            let launch = condition(claim, "Launched").filter(|it| it["status"] == "False");
            if let Some(message) = launch.and_then(|it| it["message"].as_str()) {
                self.held.entry(name.to_owned()).or_default().push(format!("not launched: {message}"));
            }
        }
    }

    /// Adds the Nodes: what keeps the cluster autoscaler from removing them.
    pub fn of_nodes(&mut self, nodes: &[Value]) {
        for node in nodes {
            let Some(name) = node["metadata"]["name"].as_str() else { continue };
            if node["metadata"]["annotations"][KEPT_FROM_AUTOSCALER] == "true" {
                let held = self.held.entry(name.to_owned()).or_default();
                held.push(format!("annotation `{KEPT_FROM_AUTOSCALER}`"));
            }
        }
    }
}

fn condition<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

fn fleet_line(name: &str, status: &NodeFleetStatus, is_suspended: bool, is_faulty: bool) -> String {
    let suspended = if is_suspended { ", suspended" } else { "" };
    let mode = match status.mode {
        Some(mode) => format!("mode {}", format!("{mode:?}").to_lowercase()),
        None if is_faulty => "mode unknown".to_owned(),
        None => "no controller has looked at it yet".to_owned(),
    };
    let plan = status.plan.as_ref().map(|plan| {
        let LastPlan { id, seen_at: _, add, change, destroy, pending: _, monthly_before, monthly_after } =
            plan;
        format!("; plan `{id}`: +{add} ~{change} -{destroy}, ${monthly_before} → ${monthly_after}/month")
    });
    let in_flight = status.in_flight.iter().flatten();
    let in_flight: usize = in_flight.map(|plan| plan.changes.unsigned_abs() as usize).sum();
    let in_flight = match in_flight {
        0 => String::new(),
        changes => format!("; {} {} in progress", count(changes, "change"), verb(changes, "is", "are")),
    };
    format!("NodeFleet `{name}`: {mode}{suspended}{}{in_flight}", plan.unwrap_or_default())
}

fn planned_by(
    change: &Change,
    (plan, said): (&Plan, PlanSaid<'_>),
    (id, outcome): (&ChangeId, Option<&ChangeOutcome>),
) -> Option<Planned> {
    // The first part is the reason; the row already shows the others.
    let told = outcome.and_then(|known| known.change.as_deref()).and_then(|text| text.split("; ").next());
    let reason = plan.evidence.reasons.get(id).map(ToString::to_string);
    let why = told.map(str::to_owned).or(reason);
    let because = |why: Option<String>| why.map(|why| format!(": {why}")).unwrap_or_default();
    let stage = match said.phase {
        Phase::Proposed => format!(" (plan `{}` waits for approval)", said.name),
        Phase::Applying
        | Phase::Done
        | Phase::Partial
        | Phase::Failed
        | Phase::Withdrawn
        | Phase::Rejected
        | Phase::Expired => String::new(),
    };
    let existing = |node: &str, claim: Option<String>, text: String| {
        Some(Planned { node: node.to_owned(), claim, text: text + &stage, machine: None })
    };
    match change {
        Change::Create(create) => {
            let ClaimSpec { pool, primary, .. } = plan.spec.claims.get(&create.spec)?;
            Some(Planned {
                node: create.vm.to_string(),
                claim: Some(create.claim.to_string()),
                text: format!("+ create{}{stage}", because(why)),
                machine: Some(Machine {
                    pool: pool.to_string(),
                    size: primary.size.to_string(),
                    zone: primary.zone.to_string(),
                    bought: primary.capacity_type,
                }),
            })
        }
        Change::Delete(delete) => {
            let why = why.or_else(|| Some(delete.reason.to_string().to_lowercase()));
            let claim = delete.target.claim.as_ref().map(ToString::to_string);
            existing(delete.target.node.as_str(), claim, format!("- delete{}", because(why)))
        }
        Change::Update(update) => {
            existing(update.target.node.as_str(), None, format!("~ update{}", because(why)))
        }
        Change::Adopt(adopt) => existing(adopt.target.node.as_str(), None, "~ adopt".to_owned()),
        Change::Forget(forget) => existing(forget.target.node.as_str(), None, "~ forget".to_owned()),
        Change::NoOp(_) => None,
    }
}

/// Describes a taint of the cluster autoscaler by its key.
pub(super) fn autoscaler(key: &str) -> Option<&'static str> {
    match key {
        "ToBeDeletedByClusterAutoscaler" => Some("- delete: by the cluster autoscaler"),
        "DeletionCandidateOfClusterAutoscaler" => Some("candidate of the cluster autoscaler for deletion"),
        _ => None,
    }
}

/// Describes a pod with `karpenter.sh/do-not-disrupt` as a hold.
pub(super) fn pod_in_the_way(pod: &str) -> String {
    format!("pod `{pod}` has `{}`", label::DO_NOT_DISRUPT)
}
