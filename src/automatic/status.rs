//! The status of a NodeFleet: mode, last plan, plans in flight, holds and stops, in kstatus conventions.
//!
//! Only builds the body to send, from values. An unchanged status is not written again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::back_off::{NeverJoined, NotDone};
use super::by_hand::Waits;
use super::conditions;
use super::fights::Fought;
use super::standing::FleetRef;
use super::waiting::PodWaits;
use crate::api::node_fleet::{
    self as wire, FleetHold, FleetReview, FleetWaiting, LastPlan, NodeFleetStatus, PlanInFlight, TriedNode,
};
use crate::api::text::Quantity;
use crate::model::{ChangeClass, DisruptionReason, LearnedNode, Mode, NodeName, Tried};
use crate::plan::summary::pending;
use crate::plan::{Change, ChangeId, Counts, Plan, PlanSpec, Summary};

/// Maximum numbers of listed entries, and of characters per line.
const HOLDS_MAX: usize = 100;
const STOPS_MAX: usize = 20;
const REVIEWS_MAX: usize = 50;
const WAITING_MAX: usize = 10;
const TAINTS_MAX: usize = 64;
const PURPOSES_MAX: usize = 256;
const LETTERS_MAX: usize = 512;

/// A waiting change of a plan that is being applied: brakes, budgets, running drains or the circuit breaker keep it
/// from starting, or a started change is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paced {
    /// The change.
    pub change: Change,
    /// Its reason for waiting.
    pub because: String,
    /// Start of the wait, if known.
    pub since: Option<Timestamp>,
    /// Latest end of the wait, if known.
    pub until: Option<Timestamp>,
}

impl Paced {
    fn hold(&self) -> Option<FleetHold> {
        let (node, class) = match &self.change {
            Change::Create(create) => (create.vm.to_string(), ChangeClass::Create),
            Change::Delete(delete) => (delete.target.node.to_string(), ChangeClass::of(delete.reason)),
            Change::Update(update) => (update.target.node.to_string(), ChangeClass::Update),
            Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => return None,
        };
        Some(FleetHold {
            node,
            class: class.to_string(),
            because: short(&format!("waits for {}", self.because)),
            since: self.since.map(|since| format!("{since:.0}")),
            until: self.until.map(|until| format!("{until:.0}")),
        })
    }
}

/// Counts the unfinished changes of a plan: nodes to add, change and destroy.
#[must_use]
pub fn in_flight((id, spec): (&str, &PlanSpec), unsettled: &BTreeSet<ChangeId>) -> PlanInFlight {
    let changes = unsettled.iter().filter_map(|id| spec.changes.get(id)).map(|it| &it.change);
    let Counts { add, change, destroy, import, forget } = Counts::of_changes(changes);
    PlanInFlight {
        plan: id.to_owned(),
        changes: count(add + change + destroy + import + forget),
        add: count(add),
        change: count(change),
        destroy: count(destroy),
    }
}

/// A wait that belongs to no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaiting {
    /// The object.
    pub object: Arc<str>,
    /// The awaited condition.
    pub what: String,
    /// Start of the wait.
    pub since: Timestamp,
}

/// The contents of the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The mode.
    pub mode: Mode,
    /// The last plan.
    pub plan: Option<LastPlan>,
    /// Plans in progress.
    pub in_flight: Vec<PlanInFlight>,
    /// Held-back changes.
    pub holds: Vec<FleetHold>,
    /// Nodes that users delete and that have to wait.
    pub deletions: Vec<FleetHold>,
    /// Configurations that are not created because their VMs never joined.
    pub silent: Vec<FleetHold>,
    /// Recent failures.
    pub failed: Vec<FleetHold>,
    /// Waits that belong to no plan.
    pub kept: Vec<FleetHold>,
    /// Changes of plans in progress that have not started yet.
    pub paced: Vec<FleetHold>,
    /// Started changes that are blocked.
    pub begun: Vec<FleetHold>,
    /// Pods that stay Pending, by reason.
    pub waiting: Vec<FleetWaiting>,
    /// Actual resources of nodes; `None` until determined.
    pub learned: Option<Vec<wire::LearnedNode>>,
    /// Nodes that run none of the pods that they were created for; `None` until determined, so the entries of an
    /// earlier process remain until then.
    pub tried: Option<Vec<TriedNode>>,
    /// Plans under review in Git.
    pub reviews: Vec<FleetReview>,
    /// Why no change is started.
    pub stops: Vec<String>,
}

impl News {
    /// Sets the figures and holds of a plan; an equal plan keeps its time. The pods that stay Pending are those of
    /// `with_waiting`, the earlier plan that included all pending pods.
    pub fn take(&mut self, plan: &Plan, with_waiting: &Plan, at: Timestamp) {
        let Summary { add, change, destroy, monthly_before, monthly_after, .. } = Summary::of(plan);
        let pending = pending(with_waiting).len();
        let next = LastPlan {
            id: plan.id(),
            seen_at: format!("{at:.0}"),
            add: count(add),
            change: count(change),
            destroy: count(destroy),
            pending: count(pending),
            monthly_before,
            monthly_after,
        };
        let is_same = self.plan.as_ref().is_some_and(|known| {
            LastPlan { id: next.id.clone(), seen_at: next.seen_at.clone(), ..known.clone() } == next
        });
        // Plans without changes differ only in their expiry.
        if !is_same
            || add + change + destroy > 0 && self.plan.as_ref().is_some_and(|known| known.id != next.id)
        {
            self.plan = Some(next);
        }
        let held = plan.evidence.held.iter().map(|held| FleetHold {
            node: held.node.to_string(),
            class: held.class.to_string(),
            because: short(&held.because),
            since: None,
            until: held.until.map(|until| until.to_string()),
        });
        // Nodes that would be removed if no budget or pod protected them.
        let nodes = plan.evidence.world.nodes.iter().filter(|node| node.pool.is_some());
        let of_pools: BTreeSet<&NodeName> = nodes.map(|node| &node.name).collect();
        let staying = plan.evidence.report.staying.iter().filter(|(node, _)| of_pools.contains(node));
        let world = plan.evidence.world.nodes.iter();
        let drifted: BTreeSet<&NodeName> =
            world.filter(|node| node.claimed.drift.is_some()).map(|node| &node.name).collect();
        let class = |node: &NodeName| match drifted.contains(node) {
            true => ChangeClass::of(DisruptionReason::Drifted),
            false => ChangeClass::MovePods,
        };
        let staying = staying.map(|(node, because)| FleetHold {
            node: node.to_string(),
            class: class(node).to_string(),
            because: short(because),
            since: None,
            until: None,
        });
        self.holds = held.chain(staying).take(HOLDS_MAX).collect();
    }

    /// Sets the nodes that approved plans change, each with its reason for waiting, if known: no plan of a round
    /// contains it.
    pub fn take_approved(&mut self, approved: &BTreeMap<String, Option<String>>) {
        let told = self.kept.iter().chain(&self.paced).chain(&self.begun).chain(&self.failed);
        let told: BTreeSet<String> = told.map(|hold| hold.node.clone()).collect();
        self.holds.retain_mut(|hold| match approved.get(&hold.node) {
            None => true,
            Some(Some(_)) if told.contains(&hold.node) => false,
            Some(None) => false,
            Some(Some(because)) => {
                hold.because = short(because);
                hold.until = None;
                true
            }
        });
    }

    /// Sets the pods that stay Pending; returns the new entries.
    pub fn take_waiting(&mut self, waiting: &[PodWaits]) -> Vec<FleetWaiting> {
        let wire = |waits: &PodWaits| {
            Some(FleetWaiting {
                pods: count(waits.pods.len()),
                example: waits.pods.first()?.to_string(),
                because: short(&waits.because),
                since: waits.since.map(|since| format!("{since:.0}")),
            })
        };
        let next: Vec<FleetWaiting> = waiting.iter().filter_map(wire).take(WAITING_MAX).collect();
        let before = std::mem::replace(&mut self.waiting, next.clone());
        let is_known = |waiting: &FleetWaiting| {
            let mut same = before.iter().filter(|known| known.because == waiting.because);
            same.any(|known| known.pods == waiting.pods && known.example == waiting.example)
        };
        next.into_iter().filter(|waiting| !is_known(waiting)).collect()
    }

    /// Sets the actual resources of nodes.
    pub fn take_learned(&mut self, nodes: &[LearnedNode]) {
        let row = |node: &LearnedNode| wire::LearnedNode {
            pool: node.alike.pool.to_string(),
            size: node.alike.size.to_string(),
            image: node.alike.image.to_string(),
            max_pods: i32::try_from(node.alike.max_pods).unwrap_or(i32::MAX),
            class_hash: node.class_hash.to_string(),
            allocatable: node
                .allocatable
                .iter()
                .map(|(name, amount)| (name.to_string(), Quantity::Text(name.exact(amount))))
                .collect(),
            taints: node.taints.iter().take(TAINTS_MAX).map(ToString::to_string).collect(),
            seen: node.seen.to_string(),
        };
        self.learned = Some(nodes.iter().map(row).collect());
    }

    /// Sets the nodes that run none of the pods that they were created for.
    pub fn take_tried(&mut self, tried: &[Tried]) {
        let row = |tried: &Tried| TriedNode {
            node: tried.node.to_string(),
            pods: tried.pods.iter().take(PURPOSES_MAX).map(ToString::to_string).collect(),
            pool: tried.pool.to_string(),
            made_from: tried.made_from.to_string(),
            joined: tried.joined.to_string(),
            because: short(&tried.because),
        };
        self.tried = Some(tried.iter().map(row).collect());
    }

    /// Sets the changes of plans in progress that have not started yet.
    pub fn take_paced<'p>(&mut self, paced: impl Iterator<Item = &'p Paced>) {
        self.paced = paced.filter_map(Paced::hold).collect();
    }

    /// Sets the started changes that are blocked. Nodes already reported as failed are not repeated.
    pub fn take_begun<'p>(&mut self, begun: impl Iterator<Item = &'p Paced>) {
        let is_told = |hold: &FleetHold| self.failed.iter().any(|failed| failed.node == hold.node);
        self.begun = begun.filter_map(Paced::hold).filter(|hold| !is_told(hold)).collect();
    }

    /// Sets the recent failures.
    pub fn take_failed(&mut self, failed: impl Iterator<Item = NotDone>) {
        let hold = |failed: NotDone| FleetHold {
            node: failed.node.to_string(),
            class: failed.class().to_string(),
            because: short(&failed.because()),
            since: Some(format!("{:.0}", failed.since)),
            until: Some(format!("{:.0}", failed.until)),
        };
        self.failed = failed.map(hold).collect();
    }

    /// Adds updates that others reset to the failures.
    pub fn take_fought<'f>(&mut self, fought: impl Iterator<Item = &'f Fought>) {
        let hold = |fought: &Fought| FleetHold {
            node: fought.node.to_string(),
            class: ChangeClass::Update.to_string(),
            because: short(&fought.because()),
            since: Some(format!("{:.0}", fought.since)),
            until: Some(format!("{:.0}", fought.until)),
        };
        self.failed.extend(fought.map(hold));
    }

    /// Sets the waits that belong to no plan.
    pub fn take_kept(&mut self, kept: Vec<Awaiting>) {
        let hold = |Awaiting { object, what, since }: Awaiting| FleetHold {
            node: object.to_string(),
            class: ChangeClass::Create.to_string(),
            because: short(&format!("waits for {what}")),
            since: Some(format!("{since:.0}")),
            until: None,
        };
        self.kept = kept.into_iter().map(hold).collect();
    }

    /// Sets the nodes that users delete and that have to wait; returns the new entries.
    pub fn take_deletions(&mut self, waits: &[Waits]) -> Vec<FleetHold> {
        let hold = |waits: &Waits| FleetHold {
            node: waits.node.to_string(),
            class: ChangeClass::of(DisruptionReason::Deleted).to_string(),
            because: short(&waits.because),
            since: None,
            until: None,
        };
        let next: Vec<FleetHold> = waits.iter().map(hold).collect();
        let before = std::mem::replace(&mut self.deletions, next.clone());
        next.into_iter().filter(|hold| !before.contains(hold)).collect()
    }

    /// Sets the configurations that are not created because their VMs never joined.
    pub fn take_silent(&mut self, silent: impl Iterator<Item = NeverJoined>) {
        let hold = |silent: NeverJoined| FleetHold {
            node: silent.vm.to_string(),
            class: ChangeClass::Create.to_string(),
            because: short(&silent.because()),
            since: None,
            until: Some(format!("{:.0}", silent.until)),
        };
        self.silent = silent.map(hold).collect();
    }

    /// Returns the merge patch of the NodeFleet's status; `None` if nothing changes. `before` is the current object.
    #[must_use]
    pub fn patch(&self, fleet: &FleetRef, before: &Value, at: Timestamp) -> Option<Value> {
        let known: NodeFleetStatus = serde_json::from_value(before["status"].clone()).unwrap_or_default();
        let Self {
            mode,
            plan,
            in_flight,
            holds,
            deletions,
            silent,
            failed,
            kept,
            paced,
            begun,
            waiting,
            learned,
            tried,
            reviews,
            stops,
        } = self.clone();
        let holds = deletions
            .into_iter()
            .chain(failed)
            .chain(begun)
            .chain(kept)
            .chain(silent)
            .chain(paced)
            .chain(holds)
            .take(HOLDS_MAX)
            .collect();
        let status = NodeFleetStatus {
            observed_generation: Some(fleet.generation),
            conditions: Some(conditions::conditions(self, &known, fleet, at)),
            mode: Some(match mode {
                Mode::Observe => wire::Mode::Observe,
                Mode::Auto => wire::Mode::Auto,
                Mode::Review => wire::Mode::Review,
            }),
            plan: plan.or_else(|| known.plan.clone()),
            in_flight: Some(in_flight),
            holds: Some(holds),
            waiting: Some(waiting),
            learned: learned.or_else(|| known.learned.clone()),
            tried: tried.or_else(|| known.tried.clone()),
            // Reviews are omitted if there have never been any.
            reviews: (!reviews.is_empty() || known.reviews.is_some())
                .then(|| reviews.into_iter().take(REVIEWS_MAX).collect()),
            stops: Some(stops.iter().take(STOPS_MAX).map(|stop| short(stop)).collect()),
            last_applied_revision: known.last_applied_revision.clone(),
            last_handled_reconcile_at: known.last_handled_reconcile_at.clone(),
        };
        (status != known).then(|| json!({ "status": status }))
    }
}

fn count(many: usize) -> i32 {
    i32::try_from(many).unwrap_or(i32::MAX)
}

/// Truncates a text to fit into a status.
pub(super) fn short(text: &str) -> String {
    text.chars().take(LETTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::super::back_off::{Made, Tried};
    use super::*;
    use crate::model::PodKey;

    #[test]
    fn a_status_is_written_once_and_its_conditions_keep_their_time() {
        let fleet = FleetRef { name: "prod".to_owned(), generation: 2 };
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let news = News { mode: Mode::Auto, ..News::default() };
        let first = news.patch(&fleet, &json!({}), at(0)).expect("nothing was said before");
        assert_eq!(first["status"]["mode"], "auto");
        assert_eq!(news.patch(&fleet, &first, at(60)), None);
        let stopped = News { stops: vec!["two NodeFleets".to_owned()], ..news };
        let next = stopped.patch(&fleet, &first, at(60)).expect("it stopped");
        let of = |kind: &str| {
            let conditions = next["status"]["conditions"].as_array().unwrap().iter();
            let found = conditions.clone().find(|condition| condition["type"] == kind).unwrap();
            (
                found["status"].as_str().unwrap().to_owned(),
                found["lastTransitionTime"].as_str().unwrap().to_owned(),
            )
        };
        assert_eq!(of("Ready"), ("False".to_owned(), "1970-01-01T00:01:00Z".to_owned()));
        assert_eq!(of("Stalled").0, "True");
        assert_eq!(of("Reconciling"), ("False".to_owned(), "1970-01-01T00:00:00Z".to_owned()));
    }

    #[test]
    fn pods_that_stay_pending_are_told_with_the_reason_and_are_news_once() {
        let at = Timestamp::from_second(0).unwrap();
        let mut news = News::default();
        let waits = |pods: usize| PodWaits {
            pods: (0..pods).map(|pod| PodKey::new("web", pod.to_string())).collect(),
            because: "cpu".to_owned(),
            since: Some(at),
        };
        assert_eq!(news.take_waiting(&[waits(3)]).len(), 1);
        assert_eq!(news.take_waiting(&[waits(3)]), [], "it was said before");
        let fleet = FleetRef { name: "prod".to_owned(), generation: 2 };
        let status = news.patch(&fleet, &json!({}), at).unwrap();
        assert_eq!(
            status["status"]["waiting"],
            json!([{"pods": 3, "example": "web/0", "because": "cpu", "since": "1970-01-01T00:00:00Z"}])
        );
        assert_eq!(news.take_waiting(&[waits(4)]).len(), 1, "another number is news");
    }

    #[test]
    fn a_node_that_an_approved_plan_changes_is_held_by_what_that_waits_for_alone() {
        let hold = |node: &str, because: &str| FleetHold {
            node: node.to_owned(),
            class: "replace".to_owned(),
            because: because.to_owned(),
            since: None,
            until: None,
        };
        let reviewed = "people review `replace` before it happens";
        let mut news = News {
            holds: ["a", "b", "c", "d"].map(|node| hold(node, reviewed)).into(),
            kept: vec![hold("c", "a pod is being evicted")],
            ..News::default()
        };
        let approved = [("a", None), ("b", Some("freeze `friday`")), ("c", Some("freeze `friday`"))];
        let approved = approved.map(|(node, because)| (node.to_owned(), because.map(str::to_owned)));
        news.take_approved(&approved.into());
        assert_eq!(news.holds, [hold("b", "freeze `friday`"), hold("d", reviewed)]);
    }

    #[test]
    fn what_waits_by_hand_and_what_never_joined_are_holds_with_what_to_do_and_are_news_once() {
        let fleet = FleetRef { name: "prod".to_owned(), generation: 2 };
        let at = Timestamp::from_second(0).unwrap();
        let mut news = News::default();
        let waits = [Waits { node: "aks-a".into(), because: "set `suspend: false`".to_owned() }];
        assert_eq!(news.take_deletions(&waits).len(), 1);
        assert_eq!(news.take_deletions(&waits), [], "it was said before");
        let made = Made { pool: "web".into(), size: "Standard_D4s_v5".into(), image: "i".into() };
        news.take_silent(std::iter::once(NeverJoined { made, vm: "aks-b".into(), until: at }));
        let status = news.patch(&fleet, &json!({}), at).unwrap();
        let holds = status["status"]["holds"].as_array().unwrap();
        assert_eq!((&holds[0]["node"], &holds[0]["class"]), (&json!("aks-a"), &json!("delete-pool")));
        assert_eq!(holds[0]["because"], "set `suspend: false`");
        assert_eq!(
            (&holds[1]["node"], &holds[1]["until"]),
            (&json!("aks-b"), &json!("1970-01-01T00:00:00Z"))
        );
        assert!(holds[1]["because"].as_str().unwrap().contains("did not join within 15 minutes"), "{status}");
        news.take_failed(std::iter::once(NotDone {
            tried: Tried::ToMake("web".into()),
            node: "aks-c".into(),
            what: "AuthorizationFailed".into(),
            times: 1,
            since: at,
            until: at,
        }));
        let failed = news.patch(&fleet, &json!({}), at).unwrap()["status"]["holds"][1].clone();
        assert_eq!((&failed["node"], &failed["class"]), (&json!("aks-c"), &json!("create")));
        assert_eq!(
            failed["because"],
            "next attempt for pool `web` at 1970-01-01T00:00:00Z; creating this node failed: AuthorizationFailed"
        );
        news.take_failed(std::iter::empty());
        assert_eq!(news.take_deletions(&[]), []);
        assert_eq!(news.patch(&fleet, &status, at).unwrap()["status"]["holds"].as_array().unwrap().len(), 1);
    }
}
