//! The world: Azure, the cluster, the controllers that act in it, and its clock.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::agenda::{Agenda, Event};
use super::azure::{Azure, Stage};
use super::cluster::{Cluster, Store, Watch, WatchEvents};
use super::draw::Draw;
use super::faults::{Faults, FaultsFile, Occasion};
use super::http::{Answer, Request, Response};
use super::load;
use super::play::{Play, Scene};
use super::possible::Known;
use super::sensitive::Sensitive;
use super::settings::{SettingsFault, SimulatedAzure};
use super::state;
use super::unkind::{self, Asked};

/// Time that controllers wait for further changes before they reconcile, in milliseconds of the simulated clock.
const SETTLE_MILLIS: i64 = 200;

/// Initial state of a world.
#[derive(Debug, Clone)]
pub struct Start {
    /// Azure settings.
    pub settings: SimulatedAzure,
    /// SKUs as ARM lists them, if the settings have none.
    pub skus: Vec<Value>,
    /// Cluster objects of any kind.
    pub manifests: Vec<Value>,
    /// The faults that are active from the start.
    pub faults: FaultsFile,
    /// The seed of all random draws.
    pub seed: u64,
    /// Factor by which every wait is divided, at least 1: at 60, a VM that takes a minute takes a second. Timestamps in
    /// objects and tokens are those of the caller's clock.
    pub speed: u32,
    /// The time at which the world starts.
    pub time: Timestamp,
    /// The certificate authority of the API server, PEM. If set, kubelets require it.
    pub ca_certificate: Option<String>,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            settings: SimulatedAzure::default(),
            skus: Vec::new(),
            manifests: Vec::new(),
            faults: FaultsFile::default(),
            seed: 0,
            speed: 1,
            time: Timestamp::UNIX_EPOCH,
            ca_certificate: None,
        }
    }
}

/// Credentials for Azure and the API server.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// Client secret for Azure.
    pub client_secret: Sensitive,
    /// The bearer token of the kubeconfig.
    pub cluster_token: Sensitive,
    /// Client secret of the read-only identity, for Azure.
    pub reader_secret: Sensitive,
    /// Bearer token of the read-only identity.
    pub reader_token: Sensitive,
}

/// A simulated Azure and a small cluster.
#[derive(Clone, Debug)]
pub struct World {
    clock: Timestamp,
    azure: Azure,
    cluster: Cluster,
    play: Play,
    agenda: Agenda,
    faults: Faults,
    draw: Draw,
    credentials: Credentials,
    is_settling: bool,
}

impl World {
    /// Creates a world.
    ///
    /// # Errors
    /// All faults of its settings and manifests.
    pub fn new(start: Start) -> Result<Self, Vec<SettingsFault>> {
        let draw = Draw::new(start.seed);
        let secret = |about: &str| Sensitive::new(draw.guid(about).replace('-', ""));
        let credentials = Credentials {
            client_secret: secret("client secret"),
            cluster_token: secret("cluster token"),
            reader_secret: secret("reader secret"),
            reader_token: secret("reader token"),
        };
        let settings = start.settings;
        let mut skus = settings.skus.clone().unwrap_or(start.skus);
        load::relocate(&mut skus, &settings);
        let play = Play::new(&settings, draw);
        let version = settings.cluster.kubernetes_version.clone();
        let mut azure = Azure::new(settings, skus, credentials.client_secret.clone());
        azure.ca_certificate = start.ca_certificate;
        azure.reader_secret = credentials.reader_secret.clone();
        let mut cluster = Cluster::new(Store::new(draw), credentials.cluster_token.clone(), version);
        cluster.reader_token = credentials.reader_token.clone();
        let faults = Faults::new(start.time, start.speed.max(1));
        let mut world = Self {
            clock: start.time,
            azure,
            cluster,
            play,
            agenda: Agenda::new(start.speed),
            faults,
            draw,
            credentials,
            is_settling: false,
        };
        world.add_faults(&start.faults);
        let mut faults = load::manifests(&mut world.cluster.store, start.manifests, start.time);
        let known = Known::of(&world.azure, &world.cluster.store);
        faults.extend(known.impossible_settings(&world.azure.settings));
        faults.extend(known.impossible_faults(&start.faults));
        if !faults.is_empty() {
            return Err(faults);
        }
        for machine in load::machines(&mut world.azure, &world.cluster.store, start.time, draw) {
            world.play.has_joined(&machine.vm_id, &machine.name, &machine.node);
        }
        // The cluster existed before, so the first request already sees the pods of its workloads.
        world.happen(Event::Reconcile);
        world.settle();
        Ok(world)
    }

    /// Answers a request at a time, after all events that are due by then.
    pub fn request(&mut self, now: Timestamp, request: &Request) -> Response {
        self.advance(now);
        let path = request.path();
        let response = if let Some(rest) = path.strip_prefix("/sim/") {
            Response::Answer(self.own(request, rest))
        } else if ["/api", "/apis", "/version", "/healthz", "/livez", "/readyz", "/openapi"]
            .iter()
            .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        {
            let occasion = Occasion::of_cluster(request);
            unkind::answered(&mut self.faults, (Asked::ApiServer, &occasion), self.clock, |_| {
                self.cluster.request(self.clock, request)
            })
        } else {
            let (now, draw, agenda, azure) = (self.clock, self.draw, &mut self.agenda, &mut self.azure);
            let occasion = azure.occasion(request);
            unkind::answered(&mut self.faults, (Asked::Azure, &occasion), now, |faults| {
                azure.request(request, Stage { now, agenda, faults, draw })
            })
        };
        self.settle();
        response
    }

    /// Processes all events that are due by a time, in order. Time never runs backwards.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some((time, event)) = self.agenda.take(now) {
            self.clock = self.clock.max(time);
            self.happen(event);
            self.settle();
        }
        self.clock = self.clock.max(now);
    }

    /// Returns the time of the next event if no further request arrives.
    #[must_use]
    pub fn next_event(&self) -> Option<Timestamp> {
        self.agenda.next()
    }

    /// Returns the events that a watch must send by now.
    pub fn watch(&self, watch: &mut Watch) -> WatchEvents {
        watch.take(&self.cluster.store)
    }

    /// Returns the resource version of the cluster; it increases with every change of an object.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.cluster.store.revision()
    }

    /// Adds faults.
    pub fn add_faults(&mut self, file: &FaultsFile) {
        for at in self.faults.add(file) {
            self.agenda.at(self.faults.first_time(at).max(self.clock), Event::Fault(at));
        }
    }

    /// Returns a summary for people and tests: resources, nodes, pods, and why nodes did not join. Never secrets.
    #[must_use]
    pub fn state(&self) -> Value {
        let mut state = state::of(&self.azure, &self.cluster.store, &self.play, self.clock);
        // Refused writes of the read-only identity.
        state["refused"] = self.azure.refused.iter().chain(&self.cluster.refused).cloned().collect();
        state
    }

    /// Returns the credentials.
    #[must_use]
    pub const fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Returns the Azure settings.
    #[must_use]
    pub const fn settings(&self) -> &SimulatedAzure {
        &self.azure.settings
    }

    /// Answers `/sim/…`, which needs no token: it exposes nothing that the simulator's operator may not see or do.
    fn own(&mut self, request: &Request, rest: &str) -> Answer {
        match (request.method.as_str(), rest) {
            ("GET", "state") => Answer::json(200, &self.state()),
            ("POST", "faults") => {
                let body = serde_json::from_slice::<Value>(&request.body).unwrap_or(Value::Null);
                // A whole document, or only its `spec`.
                let spec = body.get("spec").unwrap_or(&body);
                let known = Known::of(&self.azure, &self.cluster.store);
                let read = FaultsFile::read(spec).and_then(|file| {
                    let faults = known.impossible_faults(&file);
                    if faults.is_empty() { Ok(file) } else { Err(faults) }
                });
                match read {
                    Ok(file) => {
                        self.add_faults(&file);
                        Answer::json(200, &json!({"added": file.faults.len()}))
                    }
                    Err(faults) => {
                        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                        Answer::json(400, &json!({"faults": faults}))
                    }
                }
            }
            _ => Answer::json(
                404,
                &json!({"faults": ["the simulator answers GET /sim/state and POST /sim/faults"]}),
            ),
        }
    }

    fn happen(&mut self, event: Event) {
        let now = self.clock;
        let mut scene = Scene { now, store: &mut self.cluster.store, agenda: &mut self.agenda };
        match event {
            Event::Reconcile => {
                self.is_settling = false;
                self.play.reconcile(&mut scene);
            }
            Event::Boots(vm_id) => {
                let machine = self.azure.machine_by_id(&vm_id).map(Occasion::of_machine);
                let never = machine.is_some_and(|occasion| self.faults.never_joins(&occasion, now));
                self.play.boot(&self.azure, &mut scene, &vm_id, never);
            }
            Event::NodeReady(vm_id) => self.play.node_ready(&mut scene, &vm_id),
            Event::NodeInitialized(vm_id) => self.play.node_initialized(&self.azure, &mut scene, &vm_id),
            Event::NodeSilent(vm_id) => self.play.node_silent(&mut scene, &vm_id),
            Event::NodeRemoved(vm_id) => self.play.node_removed(&mut scene, &vm_id),
            Event::PodRuns(uid) => self.play.pod_runs(&mut scene, &uid),
            Event::PodSucceeds(uid) => self.play.pod_succeeds(&mut scene, &uid),
            Event::PodGone(uid) => self.play.pod_gone(&mut scene, &uid),
            Event::OperationEnds(id) => self.in_azure(|azure, stage| azure.end_operation(stage, &id)),
            Event::LateVm(name) => self.in_azure(|azure, stage| azure.appears_late(stage, &name)),
            Event::SpotEviction(vm_id) => self.in_azure(|azure, stage| azure.reclaimed(stage, &vm_id)),
            Event::Fault(at) => self.in_azure(|azure, stage| azure.evict_running(stage, at)),
        }
    }

    fn in_azure(&mut self, act: impl FnOnce(&mut Azure, &mut Stage<'_>)) {
        let mut stage =
            Stage { now: self.clock, agenda: &mut self.agenda, faults: &mut self.faults, draw: self.draw };
        act(&mut self.azure, &mut stage);
        for vm_id in self.azure.take_gone() {
            self.play.stop(&vm_id);
        }
    }

    /// Schedules the next reconciliation if anything has changed.
    fn settle(&mut self) {
        if self.cluster.store.is_dirty() && !self.is_settling {
            self.is_settling = true;
            self.agenda.after(self.clock, SignedDuration::from_millis(SETTLE_MILLIS), Event::Reconcile);
        }
    }
}
