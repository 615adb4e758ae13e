//! A world in memory, and the way from it to an approved plan: the calls of the command line.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use nodeform::automatic::{self, ByHand, Definition};
use nodeform::catalog::Catalog;
use nodeform::launch::Materials;
use nodeform::model::{Mode, Region, Wishes};
use nodeform::observe::rehearsed;
use nodeform::offline::{self, Request};
use nodeform::plan::ChangeId;
use nodeform::review::{ApprovedPlan, Now, Terms, approve};
use nodeform::rollout::Outcome;
use nodeform::sim::rehearsal::{End, Rehearsal, Trouble};
use nodeform::sim::{self, Start, World, WorldDocuments};
use serde_json::Value;

use crate::invariants::Watch;

const START: &str = "2026-01-05T09:00:00Z";

/// A world and its time.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) now: Timestamp,
}

/// A plan that may be carried out.
pub(crate) struct Ready {
    pub(crate) plan: ApprovedPlan,
    pub(crate) materials: Materials,
}

impl Stage {
    /// Begins with these documents.
    pub(crate) fn of(documents: &str, seed: u64) -> Self {
        let documents: Vec<Value> = serde_saphyr::from_multiple(documents).unwrap();
        let WorldDocuments { settings, faults, manifests } = WorldDocuments::read(documents).unwrap();
        let now: Timestamp = START.parse().unwrap();
        let region = Region::new(&settings.location);
        let skus = Catalog::embedded(&region).unwrap().skus();
        let start = Start { settings, skus, manifests, faults, seed, time: now, ..Start::default() };
        let mut stage = Self { world: World::new(start).unwrap(), now };
        // Workload controllers make their pods, and the scheduler tries them.
        stage.pass(30);
        stage
    }

    /// Lets seconds pass.
    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.world.advance(self.now);
    }

    /// Sends a request to the API server, as a person would.
    pub(crate) fn kube(&mut self, method: &str, target: &str, body: &Value) -> Value {
        let token = self.world.credentials().cluster_token.reveal().to_owned();
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = sim::Request::new(method, target)
            .header("authorization", &format!("Bearer {token}"))
            .json(body)
            .header("content-type", kind);
        match self.world.request(self.now, &request) {
            sim::Response::Answer(answer) => {
                assert!((200..300).contains(&answer.status), "{method} {target}: {}", answer.value());
                answer.value()
            }
            other @ (sim::Response::Lost
            | sim::Response::Silent
            | sim::Response::Late(..)
            | sim::Response::Watch(_)) => panic!("{method} {target}: {other:?}"),
        }
    }

    /// Plans, has the plan judged, and approves it; nothing where there is nothing to do.
    pub(crate) fn ready(&mut self, wishes: Wishes) -> Option<Ready> {
        let world = self.observed(wishes);
        Self::approved(&world)
    }

    /// What follows from nodes that somebody deletes.
    pub(crate) fn by_hand(&mut self, definition: &Definition, mode: Mode) -> ByHand {
        automatic::by_hand(&self.observed(Wishes::default()), definition, mode)
    }

    /// Has a world planned, judged and approved.
    pub(crate) fn approved(world: &offline::World) -> Option<Ready> {
        let planned = offline::plan(world).unwrap();
        if planned.plan.plan().spec.waves.is_empty() {
            return None;
        }
        let begun = BTreeSet::new();
        let now = Now { snapshot: &world.snapshot, policy: &world.policy, begun: &begun };
        let plan = approve(planned.plan, now, Terms::default()).unwrap();
        let materials = Materials::of((&world.snapshot, &world.policy), plan.spec());
        Some(Ready { plan, materials })
    }

    /// Returns the world as `plan --live` sees it.
    pub(crate) fn observed(&mut self, wishes: Wishes) -> offline::World {
        let seen = rehearsed::observe(&mut self.world, self.now).unwrap();
        let laid = seen.laid(Request::default(), self.now).unwrap();
        offline::world(Request { laid: Some(laid), wishes, ..Request::default() }).unwrap()
    }

    /// Carries a plan out with trouble, under watch; returns how it ended and what the ledger holds then.
    pub(crate) fn apply(
        &mut self,
        ready: &Ready,
        trouble: Trouble,
        recorded: BTreeMap<ChangeId, Outcome>,
    ) -> Applied {
        let mut watch = Watch::new(&ready.plan);
        let mut rehearsal = Rehearsal::new(&mut self.world, &ready.plan, &ready.materials, self.now)
            .with(trouble)
            .recorded(recorded);
        let end =
            rehearsal.run(SignedDuration::from_hours(3), |now, event, seen| watch.look(now, event, seen));
        let applied = Applied { recorded: rehearsal.outcomes().clone(), effects: rehearsal.effects(), end };
        self.now = rehearsal.now();
        applied
    }

    /// Everything that nodeform makes, by kind and name; times and ids aside.
    pub(crate) fn left(&mut self) -> Value {
        self.pass(120);
        let state = self.world.state();
        let names = |list: &str| -> Vec<String> {
            let items = state[list].as_array().unwrap().iter();
            items.filter_map(|item| item["name"].as_str()).map(str::to_owned).collect()
        };
        let running: usize =
            state["pods"].as_array().unwrap().iter().filter(|pod| pod["phase"] == "Running").count();
        serde_json::json!({
            "vms": names("virtualMachines"), "nics": names("networkInterfaces"), "disks": names("disks"),
            "claims": names("nodeClaims"), "nodes": names("nodes"), "running": running,
        })
    }
}

/// How a rollout ended.
pub(crate) struct Applied {
    pub(crate) end: End,
    pub(crate) recorded: BTreeMap<ChangeId, Outcome>,
    pub(crate) effects: usize,
}

impl Applied {
    /// The words for what became of the changes, in their order.
    pub(crate) fn words(&self) -> Vec<String> {
        match &self.end {
            End::Finished(next) => {
                next.standings.values().map(|standing| standing.outcome().unwrap().to_string()).collect()
            }
            other @ (End::Stopped | End::TimedOut(_)) => panic!("it did not end: {other:#?}"),
        }
    }
}
