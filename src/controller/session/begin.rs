//! From a planned round to plans in progress: chosen changes are approved, recorded in the ledger and started.
//!
//! Must never choose changes itself: `automatic` does, and `review` approves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::flights::{Approval, Wanted};
use super::super::round::{self, Creates, First, Planning, Seen};
use super::super::tell::Teller;
use super::Session;
use crate::apply::{Actor, Book, By, Carrying, Means};
use crate::automatic::{self, Choosing, Tried, fights};
use crate::launch::Materials;
use crate::model::DisruptionReason;
use crate::offline::World;
use crate::plan::{Change, ChangeId, Plan, PlanSpec, figures};
use crate::policy::Policy;
use crate::review::{self, ApprovedPlan, Brakes, CheckedPlan, NotApproved, Terms};
use crate::snapshot::Snapshot;

impl Session<'_> {
    /// Starts the urgent changes; if there are none, plans everything else.
    pub(super) async fn of_seen(&mut self, mut seen: Seen) {
        let (at, world) = (seen.at, &seen.world);
        self.controller.metrics.started(&self.startups.note(&world.snapshot.pods, at));
        let is_known = !self.leads() || self.takes_up(world).await;
        if self.leads() && is_known {
            self.write_down(world, at).await;
        }
        self.tell_left(world);
        self.note_identity(world);
        let Some(mut first) = seen.first.take() else { return self.review(seen.world).await };
        self.rest = None;
        if !is_known {
            return;
        }
        let mut deleted = BTreeSet::new();
        if let Some(creates) = &first.creates {
            self.look_after(creates.plan.plan());
            deleted = self.begin_deleted(world, first.deleted.take()).await;
            let new = self.chosen(&creates.plan.plan().spec, &self.flights.unsettled());
            if !new.wanted.is_empty() {
                return self.begin_creates(seen, first, (deleted, new.left_out)).await;
            }
        }
        let rest = round::rest(self.asked(), seen, (first, deleted));
        self.plan(rest);
    }

    /// Starts new nodes for pending pods.
    async fn begin_creates(
        &mut self,
        seen: Seen,
        first: First,
        (deleted, left_out): (BTreeSet<ChangeId>, BTreeMap<ChangeId, Arc<str>>),
    ) {
        let Some(Creates { plan, policy }) = first.creates else { return };
        self.bulletin.planned((plan.plan(), plan.plan()), (seen.at, seen.took));
        self.flights.keep_only(&Wanted { changes: deleted, ..Wanted::default() });
        self.begin(&seen.world, &policy, (plan, left_out)).await;
    }

    /// Starts the wanted changes of a round without urgent ones.
    pub(super) async fn of_rest(&mut self, planning: Planning) {
        let plans = (planning.rest.plan(), planning.with_waiting());
        self.bulletin.planned(plans, (planning.at, planning.took));
        let Planning { at, world, creates, deleted, rest, took: _, at_rest } = planning;
        self.rest = at_rest.map(Arc::new);
        if creates.is_none() {
            return;
        }
        let uids = rest.plan().spec.execution.iter().flat_map(|execution| execution.nodes.values());
        self.wants.note(uids.filter_map(|node| node.node_uid.clone()).collect(), at);
        let spec = &rest.plan().spec;
        let is_create = |id: &ChangeId| spec.changes.get(id).is_some_and(|it| it.change.create().is_some());
        let mut under_way = self.flights.unsettled();
        self.flights.keep_only(&wanted(rest.plan(), &deleted));
        under_way.extend(self.flights.pending());
        for (id, because) in review::not_allowed(rest.plan(), &world.snapshot) {
            let Some(Change::Update(update)) = spec.changes.get(&id).map(|it| &it.change) else { continue };
            let node = &update.target.node;
            self.back_off.failed(
                &Tried::ToUpdate(node.clone()),
                (&node.to_string().into(), &because),
                self.now(),
            );
        }
        self.name_who_fights(spec).await;
        let new = self.chosen(spec, &under_way);
        // A plan with creates only serves removals that do not start yet, or pending pods.
        if !new.wanted.iter().all(is_create) {
            let mut left_out = new.left_out;
            leave_out_waiting(spec, &mut left_out);
            return self.begin(&world, &world.policy, (rest, left_out)).await;
        }
        self.review(world).await;
    }

    /// Finds out which field managers reset labels that plans set.
    async fn name_who_fights(&mut self, spec: &PlanSpec) {
        let at = self.now();
        let updates = spec.changes.values().filter_map(|planned| match &planned.change {
            Change::Update(update) => Some(update),
            Change::Create(_)
            | Change::Delete(_)
            | Change::Adopt(_)
            | Change::Forget(_)
            | Change::NoOp(_) => None,
        });
        for update in updates.filter(|update| self.fights.is_set_back(update, at)).collect::<Vec<_>>() {
            let node = &update.target.node;
            match self.controller.cluster.get_optional(&format!("/api/v1/nodes/{node}")).await {
                Ok(Some(found)) => self.fights.named(node, fights::managers(&found, &fights::keys(update))),
                Ok(None) => {}
                // The conflict is reported even without a name.
                Err(failure) => tracing::debug!(%node, "its field managers cannot be read: {}", failure.what),
            }
        }
    }

    /// Starts to drain and delete the nodes that users are deleting; returns those changes.
    async fn begin_deleted(&mut self, world: &World, plan: Option<CheckedPlan>) -> BTreeSet<ChangeId> {
        let Some(plan) = plan else { return BTreeSet::new() };
        let spec = &plan.plan().spec;
        let deleted = spec.deletes().map(|(id, _)| id.clone()).collect();
        let new = self.chosen(spec, &self.flights.unsettled());
        if !new.wanted.is_empty() {
            self.begin(world, &world.policy, (plan, new.left_out)).await;
        }
        deleted
    }

    fn chosen(&self, spec: &PlanSpec, in_flight: &BTreeSet<ChangeId>) -> Chosen {
        let Self { wants, back_off, fights, .. } = self;
        let (making, awaiting) = (&self.flights.making(), &self.flights.awaiting());
        let choosing = Choosing { wants, back_off, fights, in_flight, making, awaiting, at: self.now() };
        let left_out = automatic::left_out(spec, choosing);
        let wanted = spec.changes.keys().filter(|id| !left_out.contains_key(*id)).cloned().collect();
        Chosen { wanted, left_out }
    }

    /// Starts a plan except for its left-out changes. `policy`, by which it was made, may request less than users do.
    async fn begin(
        &mut self,
        world: &World,
        policy: &Policy,
        (checked, left_out): (CheckedPlan, BTreeMap<ChangeId, Arc<str>>),
    ) {
        let snapshot = &world.snapshot;
        let now = review::Now { snapshot, policy, begun: &BTreeSet::new() };
        let approved = review::approve(checked, now, Terms::default());
        match approved {
            Ok(approved) => {
                let approved = approved.under(Brakes::of(&world.policy)).withholding(left_out);
                self.carry((snapshot, policy), approved).await;
            }
            Err(faults) => self.not_approved(&faults),
        }
    }

    pub(super) fn not_approved(&mut self, faults: &[NotApproved]) {
        let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
        self.bulletin.not_approved(faults, self.said != said);
        self.said = said;
    }

    /// Starts a plan automatically.
    pub(super) async fn carry(&mut self, by: (&Snapshot, &Policy), approved: ApprovedPlan) {
        self.carry_out((by, By::Controller), approved, None).await;
    }

    /// Starts a plan that people approved in Git or in the cluster.
    pub(super) async fn carry_merged(
        &mut self,
        by: (&Snapshot, &Policy),
        approved: ApprovedPlan,
        approval: Approval,
    ) {
        let place = approval.place.clone();
        self.carry_out((by, place.by()), approved, Some(approval)).await;
    }

    async fn carry_out(
        &mut self,
        ((snapshot, policy), by): ((&Snapshot, &Policy), By<'_>),
        approved: ApprovedPlan,
        approval: Option<Approval>,
    ) {
        let plan = Arc::new(approved);
        let book = match Book::open(self.writer.clone(), &plan, by, self.now()).await {
            Ok(book) => book,
            Err(fault) => {
                tracing::warn!(plan = plan.id(), hint = fault.hint(), "{fault}");
                self.bulletin.not_begun(fault.to_string());
                return;
            }
        };
        let means = Means {
            writer: self.writer.clone(),
            gate: self.gate.clone(),
            azure: self.controller.azure.clone(),
            materials: Materials::of((snapshot, policy), plan.spec()),
        };
        let (adds, removes) = (plan.spec().creates().count(), plan.spec().deletes().count());
        let changes =
            plan.spec().changes.values().filter(|it| matches!(it.change, Change::Update(_))).count();
        tracing::info!(
            plan = plan.id(),
            adds,
            changes,
            removes,
            held = plan.left_out().len(),
            "applying the plan"
        );
        let actor = Actor::new(Arc::clone(&plan), means);
        let metrics = Arc::clone(&self.controller.metrics);
        let carrying = Carrying::new(Arc::clone(&plan), (actor, book), self.clock_speed);
        let described = Arc::new(figures::described(plan.plan()));
        self.flights.add(carrying, Teller { plan, metrics, described }, approval);
    }
}

/// Changes of a plan that may start, and those that may not.
struct Chosen {
    wanted: BTreeSet<ChangeId>,
    left_out: BTreeMap<ChangeId, Arc<str>>,
}

/// Returns what a plan still wants of the plans in progress: its changes except new nodes, whose names differ in each
/// plan; and nodes that have drifted or expired and that wait for their turn or for replacement nodes.
fn wanted(plan: &Plan, deleted: &BTreeSet<ChangeId>) -> Wanted {
    let changes = plan.spec.changes.iter().filter(|(_, planned)| planned.change.create().is_none());
    let staying = plan.evidence.report.staying.iter().map(|(node, _)| node);
    let waiting = staying.chain(plan.evidence.held.iter().map(|held| &held.node));
    let reasons = [DisruptionReason::Drifted, DisruptionReason::Expired];
    Wanted {
        changes: changes.map(|(id, _)| id).chain(deleted).cloned().collect(),
        due: waiting.flat_map(|node| reasons.map(|reason| (node.clone(), reason))).collect(),
    }
}

/// Leaves out creates that no removal depends on: the other plan has those for pending pods.
fn leave_out_waiting(spec: &PlanSpec, left_out: &mut BTreeMap<ChangeId, Arc<str>>) {
    let removals = spec.execution.iter().flat_map(|execution| execution.removals.values());
    let needed: BTreeSet<&ChangeId> = removals.flat_map(|removal| &removal.after).collect();
    for (id, _, _) in spec.creates().filter(|(id, _, _)| !needed.contains(id)) {
        left_out
            .entry(id.clone())
            .or_insert_with(|| "no longer needed: no planned removal depends on it".into());
    }
}
