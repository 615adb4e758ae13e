//! Parses NodePlan objects into ledger entries. Any malformed content gives a fault, never a panic, and never a text
//! that does not match its digest.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::{LedgerFault, Lost, NeverJoined, name};
use crate::api::node_plan::{
    BY_ANNOTATION, BY_CONTROLLER, CHUNKS_MAX, FOLDER_ANNOTATION, LostNode, NodePlanChunkSpec, NodePlanSpec,
    NodePlanStatus, OutcomeKind, PLAN_LABEL, Phase, PlanApprover, PlanRefusal, PlannedChanges, RefusalPlace,
    SilentVm,
};
use crate::model::{
    Approver, CapacityType, ClaimName, Digest, PoolName, Refusal, RefusedBecause, RefusedPlace, SkuName, Zone,
};

/// The contents of the ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Plans with effects, oldest first.
    pub plans: Vec<Recorded>,
    /// Plans that wait for approval or ended before they started, oldest first.
    pub proposed: Vec<Recorded>,
    /// Entries that cannot be parsed.
    pub faults: Vec<LedgerFault>,
}

/// Summary of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanSummary {
    /// The change class under which it is reviewed.
    pub class: Option<String>,
    /// The folder in which it was merged, as month and name.
    pub folder: Option<String>,
    /// Nodes to add, change and destroy, as `+1 ~0 -3`.
    pub nodes: Option<String>,
    /// Change of the monthly cost, in decimal dollars.
    pub monthly_delta: Option<String>,
}

/// A recorded plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its name.
    pub name: String,
    /// Its digest.
    pub digest: Digest,
    /// The previous plan with effects.
    pub parent: Option<Digest>,
    /// The UID of the cluster.
    pub cluster: Option<String>,
    /// Its summary.
    pub summary: PlanSummary,
    /// Time until which it may start.
    pub expires_at: Option<Timestamp>,
    /// The folder in which it was merged, if it was reviewed in Git.
    pub folder: Option<String>,
    /// Whether it needs a NodePlanApproval before it starts.
    pub needs_approval: bool,
    /// Whether the controller applies it; otherwise a person does, with a command.
    pub is_automatic: bool,
    /// Time when it was recorded.
    pub created: Option<Timestamp>,
    /// Number of chunks of its text.
    pub chunks: usize,
    /// Its status; `None` before the first one, which may be written before or after the first effect.
    pub status: Option<NodePlanStatus>,
}

impl Recorded {
    /// Returns its phase; a plan without a status may have had effects, unless it needs approval.
    #[must_use]
    pub fn phase(&self) -> Phase {
        let unsaid = if self.needs_approval { Phase::Proposed } else { Phase::Applying };
        self.status.as_ref().and_then(|status| status.phase).unwrap_or(unsaid)
    }

    /// Returns whether it needs approval and has not started.
    #[must_use]
    pub fn is_proposal(&self) -> bool {
        self.needs_approval && self.status.as_ref().is_none_or(|status| status.started_at.is_none())
    }

    /// Returns whether no process continues it: it has ended, and none of its changes is waiting.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let mut outcomes = self.status.iter().flat_map(|status| status.outcomes.iter().flatten());
        self.is_spent() && outcomes.all(|(_, known)| known.outcome != OutcomeKind::Waiting)
    }

    /// Returns whether it has ended: a digest settles once and is never applied again.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        !matches!(self.phase(), Phase::Applying | Phase::Proposed)
    }

    /// Returns the people whose approvals counted before it started.
    #[must_use]
    pub fn approvers(&self) -> Vec<Approver> {
        let wire = self.status.iter().flat_map(|status| status.approvals.iter().flatten());
        wire.map(|PlanApprover { by, record }| Approver { by: by.clone(), record: record.clone() }).collect()
    }

    /// Returns Azure's refusals while it was applied. Refusals that this version does not know are skipped.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        let refusals = self.status.iter().flat_map(|status| status.refusals.iter().flatten());
        refusals.filter_map(refusal).collect()
    }

    /// Returns the VMs that started but did not join while it was applied, earliest first.
    #[must_use]
    pub fn never_joined(&self) -> Vec<NeverJoined> {
        let wire = self.status.iter().flat_map(|status| status.never_joined.iter().flatten());
        let mut read: Vec<NeverJoined> = wire
            .filter_map(|SilentVm { at, vm, pool, size, image }| {
                Some(NeverJoined {
                    at: at.parse().ok()?,
                    vm: vm.as_str().into(),
                    pool: PoolName::new(pool.as_str()),
                    size: SkuName::new(size.as_str()),
                    image: image.as_str().into(),
                })
            })
            .collect();
        read.sort();
        read
    }

    /// Returns the nodes with pods that it removes or has removed, earliest first.
    #[must_use]
    pub fn lost(&self) -> Vec<Lost> {
        let wire = self.status.iter().flat_map(|status| status.lost.iter().flatten());
        let mut read: Vec<Lost> = wire
            .filter_map(|LostNode { at, node_claim, pool }| {
                let (claim, pool) = (ClaimName::new(node_claim.as_str()), pool.as_deref().map(PoolName::new));
                Some(Lost { at: at.parse().ok()?, claim, pool })
            })
            .collect();
        read.sort();
        read
    }
}

impl Ledger {
    /// Returns the last plan with effects, the parent of the next one: the plan that is no other's parent, and of
    /// several the one recorded last.
    #[must_use]
    pub fn last(&self) -> Option<&Recorded> {
        let parents: BTreeSet<Digest> = self.plans.iter().filter_map(|plan| plan.parent).collect();
        let tip = self.plans.iter().rev().find(|plan| !parents.contains(&plan.digest));
        tip.or(self.plans.last())
    }

    /// Returns the plan with an id: the start of its digest in base32.
    #[must_use]
    pub fn of_id(&self, id: &str) -> Option<&Recorded> {
        self.plans.iter().find(|plan| plan.digest.base32(id.len()) == id)
    }

    /// Returns the plan with a digest.
    #[must_use]
    pub fn of_digest(&self, digest: &Digest) -> Option<&Recorded> {
        self.plans.iter().find(|plan| plan.digest == *digest)
    }

    /// Returns the plans that are being applied or were interrupted.
    pub fn unfinished(&self) -> impl Iterator<Item = &Recorded> {
        self.plans.iter().filter(|plan| plan.phase() == Phase::Applying)
    }

    /// Returns the VMs of all plans that started but did not join, earliest first, for a new process.
    #[must_use]
    pub fn never_joined(&self) -> Vec<NeverJoined> {
        let mut all: Vec<NeverJoined> = self.plans.iter().flat_map(Recorded::never_joined).collect();
        all.sort();
        all
    }

    /// Returns Azure's refusals that are active at a time, sorted; of equal ones the one that ends last.
    #[must_use]
    pub fn refusals_at(&self, at: Timestamp) -> Vec<Refusal> {
        let all = self.plans.iter().flat_map(Recorded::refusals).filter(|refusal| refusal.until > at);
        let mut latest: BTreeMap<_, Refusal> = BTreeMap::new();
        for refusal in all {
            let of = (refusal.size.clone(), refusal.place.clone(), refusal.capacity_type, refusal.because);
            match latest.get(&of) {
                Some(known) if known.until >= refusal.until => {}
                Some(_) | None => {
                    latest.insert(of, refusal);
                }
            }
        }
        latest.into_values().collect()
    }
}

/// Parses a list of NodePlans.
#[must_use]
pub fn read<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Ledger {
    let mut ledger = Ledger::default();
    for object in objects {
        match recorded(object, &mut ledger.faults) {
            Ok(plan) if plan.is_proposal() => ledger.proposed.push(plan),
            Ok(plan) => ledger.plans.push(plan),
            Err(fault) => ledger.faults.push(fault),
        }
    }
    for plans in [&mut ledger.plans, &mut ledger.proposed] {
        plans.sort_by(|one, other| (one.created, &one.name).cmp(&(other.created, &other.name)));
    }
    ledger
}

fn recorded(object: &Value, faults: &mut Vec<LedgerFault>) -> Result<Recorded, LedgerFault> {
    let text = |at: &str| object.pointer(at).and_then(Value::as_str);
    let name = text("/metadata/name").unwrap_or_default().to_owned();
    let unreadable = |why: String| LedgerFault::Unreadable { name: name.clone(), why };
    let spec: NodePlanSpec = serde_json::from_value(object.get("spec").cloned().unwrap_or_default())
        .map_err(|error| unreadable(format!("spec: {error}")))?;
    let digest = |text: &str| text.parse::<Digest>().map_err(&unreadable);
    let chunks = usize::try_from(spec.chunks).ok().filter(|chunks| (1..=CHUNKS_MAX).contains(chunks));
    let chunks = chunks.ok_or_else(|| unreadable(format!("its text cannot have {} chunks", spec.chunks)))?;
    let known = digest(&spec.digest)?;
    if self::name(&known) != name {
        return Err(LedgerFault::OtherName { name, digest: known });
    }
    let parent = spec.parent.as_deref().map(digest).transpose()?;
    // A status that this version cannot parse does not discard the plan: its digest may be another plan's parent.
    let status = match object.get("status").filter(|status| !status.is_null()) {
        Some(status) => match serde_json::from_value(status.clone()) {
            Ok(status) => Some(status),
            Err(error) => {
                faults.push(unreadable(format!("status: {error}")));
                None
            }
        },
        None => None,
    };
    Ok(Recorded {
        digest: known,
        parent,
        cluster: spec.cluster,
        summary: PlanSummary {
            class: spec.class,
            folder: spec.folder,
            nodes: spec.changes.and_then(|PlannedChanges { nodes, .. }| nodes),
            monthly_delta: spec.monthly_delta,
        },
        expires_at: spec.expires_at.and_then(|time| time.parse().ok()),
        folder: object["metadata"]["annotations"][FOLDER_ANNOTATION].as_str().map(str::to_owned),
        needs_approval: spec.needs_approval,
        is_automatic: object["metadata"]["annotations"][BY_ANNOTATION] == BY_CONTROLLER,
        created: text("/metadata/creationTimestamp").and_then(|time| time.parse().ok()),
        chunks,
        status,
        name,
    })
}

/// Returns a plan's text, assembled from its chunks, which may be unordered and mixed with others. Of a proposed plan,
/// returns only its decisions.
///
/// # Errors
/// Chunks are missing, or the text does not match the digest.
pub fn text<'a>(
    plan: &Recorded,
    objects: impl IntoIterator<Item = &'a Value>,
) -> Result<String, LedgerFault> {
    let text = file(plan, objects)?;
    let is_its = |text: &str| Digest::of_bytes(text.as_bytes()) == plan.digest;
    if is_its(&text) {
        return Ok(text);
    }
    decisions_of(&text)
        .filter(|text| is_its(text))
        .ok_or_else(|| LedgerFault::OtherText { name: plan.name.clone() })
}

/// Returns the decisions of a plan's file, in the form that is digested.
pub(super) fn decisions_of(file: &str) -> Option<String> {
    let file = serde_json::from_str::<Value>(file).ok()?;
    serde_json_canonicalizer::to_string(file.get("spec")?).ok()
}

/// Assembles the chunks of a plan, which may be unordered and mixed with others: the decisions of a plan with effects,
/// the whole file of a proposed one. Does not check that the text belongs to this plan.
///
/// # Errors
/// Chunks are missing.
pub fn file<'a>(
    plan: &Recorded,
    objects: impl IntoIterator<Item = &'a Value>,
) -> Result<String, LedgerFault> {
    let mut chunks: BTreeMap<usize, String> = BTreeMap::new();
    for object in objects {
        let of = object.pointer("/metadata/labels").and_then(|labels| labels.get(PLAN_LABEL));
        if of.and_then(Value::as_str) != Some(plan.name.as_str()) {
            continue;
        }
        let chunk = object.get("spec").cloned().unwrap_or_default();
        let Ok(NodePlanChunkSpec { number, text, .. }) = serde_json::from_value(chunk) else { continue };
        let number = usize::try_from(number).ok().filter(|number| (1..=plan.chunks).contains(number));
        number.into_iter().for_each(|number| {
            chunks.insert(number, text.clone());
        });
    }
    if chunks.len() < plan.chunks {
        return Err(LedgerFault::Incomplete {
            name: plan.name.clone(),
            there: chunks.len(),
            of: plan.chunks,
        });
    }
    Ok(chunks.into_values().collect())
}

/// Parses a refusal; `None` if it contains a value that this version does not know.
fn refusal(wire: &PlanRefusal) -> Option<Refusal> {
    let PlanRefusal { size, place, zone, capacity_type, reason, code: _, message, until } = wire;
    let place = match place {
        RefusalPlace::Everywhere => RefusedPlace::Everywhere,
        RefusalPlace::EveryZone => RefusedPlace::EveryZone,
        RefusalPlace::Zone => RefusedPlace::Zone(Zone::new(zone.as_deref()?)),
    };
    let capacity_type = match capacity_type {
        Some(text) => Some(CapacityType::parse(text)?),
        None => None,
    };
    let because = RefusedBecause::ALL.into_iter().find(|because| because.to_string() == *reason)?;
    let size = size.as_deref().map(SkuName::new);
    let said = message.as_deref().map(Into::into);
    Some(Refusal { size, place, capacity_type, because, said, until: until.parse().ok()? })
}

#[cfg(test)]
mod tests;
