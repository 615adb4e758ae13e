//! A world in memory, and the way from it to an approved plan and to its end: the calls of the command line, through the
//! real clients, in time that jumps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use nodeform::api::node_plan::NodePlanStatus;
use nodeform::apply::{NotBegun, ended};
use nodeform::automatic::{self, ByHand, Definition};
use nodeform::azure_sim::{Delivery, InMemory, Line};
use nodeform::catalog::Catalog;
use nodeform::launch::Materials;
use nodeform::ledger;
use nodeform::model::{Mode, Region, Wishes};
use nodeform::offline::{self, Catalogs, Request};
use nodeform::plan::ChangeId;
use nodeform::review::{ApprovedPlan, Now, Terms, approve};
use nodeform::rollout::{Event, Outcome};
use nodeform::sim::{self, Start, World, WorldDocuments};
use serde_json::Value;
use tokio::sync::Notify;

use crate::invariants::Watch;

/// How long an answer takes.
const LATENCY: Duration = Duration::from_millis(20);

/// The answers to who reads.
const AT_ONCE: Delivery = Delivery::Answered(Duration::ZERO);

/// How long a rollout may take, of the world's clock.
const PATIENCE: Duration = Duration::from_secs(8 * 3_600);

/// What is sold in a world: it is planned in a tenth of the time.
const SIZES: [&str; 8] = [
    "Standard_D2s_v5",
    "Standard_D4s_v5",
    "Standard_D8s_v5",
    "Standard_D16s_v5",
    "Standard_D8s_v3",
    "Standard_D8as_v5",
    "Standard_D8ls_v5",
    "Standard_D8ds_v5",
];

const START: &str = "2026-01-05T09:00:00Z";

/// A look at each step: when, what happened, and the world.
type Look<'l> = dyn FnMut(Timestamp, &Event, &World) + 'l;

/// A world and its time.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) now: Timestamp,
    catalogs: Catalogs,
}

/// A plan that may be carried out.
pub(crate) struct Ready {
    pub(crate) plan: Arc<ApprovedPlan>,
    pub(crate) materials: Materials,
}

impl Stage {
    /// Begins with these documents.
    pub(crate) fn of(documents: &str, seed: u64) -> Self {
        let documents: Vec<Value> = serde_saphyr::from_multiple(documents).unwrap();
        let WorldDocuments { settings, faults, manifests } = WorldDocuments::read(documents).unwrap();
        let now: Timestamp = START.parse().unwrap();
        let region = Region::new(&settings.location);
        let mut skus = Catalog::embedded(&region).unwrap().skus();
        skus.retain(|sku| SIZES.iter().any(|name| sku["name"] == *name));
        let sold = serde_json::json!({"value": skus}).to_string();
        let catalogs = Catalogs::from(vec![("skus.json".to_owned(), sold)]);
        let start = Start { settings, skus, manifests, faults, seed, time: now, ..Start::default() };
        let mut stage = Self { world: World::new(start).unwrap(), now, catalogs };
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
        let request = request_of(&self.world, method, target, body);
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
        Some(Ready { plan: Arc::new(plan), materials })
    }

    /// Returns the world as `plan --live` sees it.
    pub(crate) fn observed(&mut self, wishes: Wishes) -> offline::World {
        let at = self.now;
        let seen = self.in_memory(async |memory| memory.line(|_| AT_ONCE).observe().await);
        let laid = seen.unwrap().laid(Request::default(), at).unwrap();
        let catalogs = self.catalogs.clone();
        offline::world(Request { laid: Some(laid), catalogs, wishes, ..Request::default() }).unwrap()
    }

    /// Lets processes work in the world, in time that jumps; it is as they leave it.
    fn in_memory<T>(&mut self, work: impl AsyncFnOnce(&InMemory) -> T) -> T {
        InMemory::work(&mut self.world, &mut self.now, work).unwrap()
    }

    /// Carries a plan out with trouble, under watch, as `apply` does.
    pub(crate) fn apply(&mut self, ready: &Ready, trouble: Trouble) -> Applied {
        self.watched(ready, trouble, |_, _, _| ())
    }

    /// The same, with a look at the world at each step.
    pub(crate) fn watched(
        &mut self,
        ready: &Ready,
        trouble: Trouble,
        mut look: impl FnMut(Timestamp, &Event, &World),
    ) -> Applied {
        self.in_memory(async |memory| {
            let (effects, dies) = (Arc::<AtomicUsize>::default(), Arc::<Notify>::default());
            let line = memory.line(trouble.deliveries(Arc::clone(&effects), Arc::clone(&dies)));
            let end = tokio::select! {
                end = carried_out(memory, &line, ready, &mut look) => end,
                () = dies.notified() => End::Stopped,
                () = tokio::time::sleep(PATIENCE) => End::TimedOut,
            };
            Applied { end, effects: effects.load(Ordering::SeqCst) }
        })
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

/// Carries a plan out by the real reader and executor.
async fn carried_out(memory: &InMemory, line: &Line, ready: &Ready, look: &mut Look<'_>) -> End {
    let driver = match line.driver(&ready.plan, ready.materials.clone()).await {
        Ok(driver) => driver,
        Err(NotBegun::Spent { .. }) => return End::Finished(outcomes(memory, &ready.plan)),
        // It ends with an error, and somebody runs it again.
        Err(_) => return End::Stopped,
    };
    let watch = Watch::new(&ready.plan, memory);
    let step = |event: Event| {
        watch.look(&event);
        let now = memory.clock().now();
        memory.seen(|world| look(now, &event, world));
    };
    let ended = driver.run(step).await;
    if !ended.open.is_empty() {
        return End::Open(ended.open.into_iter().map(|(change, what)| (change, what.to_string())).collect());
    }
    End::Finished(ended.outcomes.into_iter().map(|(change, outcome)| (change, outcome.to_string())).collect())
}

/// What became of the changes of a plan that has ended, by the ledger.
fn outcomes(memory: &InMemory, plan: &ApprovedPlan) -> BTreeMap<ChangeId, String> {
    let path = format!("/apis/nodeform.dev/v1alpha1/nodeplans/{}", ledger::name(&plan.plan().digest()));
    let (_, object) = asked(memory, "GET", &path, &Value::Null);
    let status: NodePlanStatus = serde_json::from_value(object["status"].clone()).unwrap();
    let ended = ended(&status);
    let words = status.outcomes.unwrap_or_default().into_keys().map(|change| {
        let change = ChangeId(change.as_str().into());
        let word = ended.get(&change).unwrap_or(&Outcome::Done).to_string();
        (change, word)
    });
    words.collect()
}

/// Asks the API server, as a person would, while processes work.
pub(crate) fn asked(memory: &InMemory, method: &str, target: &str, body: &Value) -> (u16, Value) {
    let request = memory.seen(|world| request_of(world, method, target, body));
    match memory.request(&request) {
        sim::Response::Answer(answer) => (answer.status, answer.value()),
        other @ (sim::Response::Lost
        | sim::Response::Silent
        | sim::Response::Late(..)
        | sim::Response::Watch(_)) => panic!("{method} {target}: {other:?}"),
    }
}

fn request_of(world: &World, method: &str, target: &str, body: &Value) -> sim::Request {
    let token = world.credentials().cluster_token.reveal().to_owned();
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = sim::Request::new(method, target).header("authorization", &format!("Bearer {token}"));
    if body.is_null() { request } else { request.json(body).header("content-type", kind) }
}

/// What is to go wrong. Every write is a side effect, to the cluster and to Azure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The process ends after so many side effects.
    pub(crate) stops_after: Option<usize>,
    /// The answer to this side effect, counted from 0, gets lost.
    pub(crate) loses: Option<usize>,
}

impl Trouble {
    /// What becomes of requests; counts side effects, and says when the process ends.
    fn deliveries(
        self,
        effects: Arc<AtomicUsize>,
        dies: Arc<Notify>,
    ) -> impl FnMut(&sim::Request) -> Delivery + Send + 'static {
        move |request| {
            let so_far = effects.load(Ordering::SeqCst);
            if self.stops_after.is_some_and(|most| so_far >= most) {
                return Delivery::Swallowed;
            }
            if request.method == "GET" || request.target.ends_with("/oauth2/v2.0/token") {
                return Delivery::Answered(LATENCY);
            }
            effects.store(so_far + 1, Ordering::SeqCst);
            if self.stops_after == Some(so_far + 1) {
                dies.notify_one();
                return Delivery::Unanswered;
            }
            if self.loses == Some(so_far) { Delivery::Cut } else { Delivery::Answered(LATENCY) }
        }
    }
}

/// How a rollout ended: what became of each change, where it came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Every change has ended.
    Finished(BTreeMap<ChangeId, String>),
    /// For a while nothing went on with these changes, each with what it waits for: somebody runs it again.
    Open(BTreeMap<ChangeId, String>),
    /// The process was stopped, as [`Trouble`] has it, or could not begin.
    Stopped,
    /// Time is over and changes have not ended.
    TimedOut,
}

/// How a rollout ended, and how many side effects there were.
pub(crate) struct Applied {
    pub(crate) end: End,
    pub(crate) effects: usize,
}

impl Applied {
    /// The words for what became of the changes, in their order.
    pub(crate) fn words(&self) -> Vec<String> {
        match &self.end {
            End::Finished(outcomes) => outcomes.values().cloned().collect(),
            other @ (End::Open(_) | End::Stopped | End::TimedOut) => panic!("it did not end: {other:#?}"),
        }
    }
}
