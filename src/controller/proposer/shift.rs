//! The proposer's term of leadership: reads the NodeFleet every second, runs a look every half minute, and reports
//! problems.
//!
//! Looks run beside the loop, so their waits are reported. Must never start two looks at the same time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::desk::{Earlier, Identity};
use super::super::looks::{self, FoundFleet};
use super::super::once::Once;
use super::super::proposing::{Progress, Proposed};
use super::super::reviewing::Done;
use super::super::round;
use super::super::run::{Controller, stopped};
use super::super::session::NODE_FLEETS;
use super::super::told;
use super::look::{Found, Look, Looked};
use super::notice::Notice;
use super::phase::Phase;
use crate::automatic::BackOff;
use crate::cluster::{WriteGate, Writer};
use crate::model::Mode;
use crate::observe::Remembered;
use crate::offline::Planner;

/// Interval between reads of the NodeFleet.
const LOOK: Duration = Duration::from_secs(1);

/// How long Azure may throttle or not answer before it is reported, by Azure's clock.
const PATIENCE: Duration = Duration::from_secs(30);

/// State while the Lease is held.
pub(super) struct Shift<'a> {
    controller: &'a Controller,
    clock_speed: u32,
    /// For reads: its gate never opens.
    writer: Writer,
    notice: Notice,
    once: Once,
    /// Azure, cached, for planning.
    remembered: Remembered,
    planner: Arc<Planner>,
    identity: Option<Identity>,
    earlier: Earlier,
    progress: Progress,
    looking: Option<JoinHandle<Looked>>,
    phase: Phase,
    woken: Arc<Notify>,
    /// Start of the last look.
    looked: Option<Instant>,
    /// Problems of the last look, one line each.
    hindered: Vec<String>,
    /// Last logged problems.
    said: BTreeSet<String>,
    /// Why no look runs, if none does.
    idle: Option<&'static str>,
}

impl Drop for Shift<'_> {
    /// Aborts the look with the Lease, at its next await.
    fn drop(&mut self) {
        self.looking.iter().for_each(JoinHandle::abort);
    }
}

impl<'a> Shift<'a> {
    pub(super) fn new(controller: &'a Controller, gate: &WriteGate) -> Self {
        let cluster = &controller.cluster;
        Self {
            controller,
            clock_speed: controller.azure.cloud().clock_speed.max(1),
            writer: cluster.writing(&WriteGate::never_open(*cluster.clock())),
            notice: Notice::new(cluster.writing(gate)),
            once: Once::default(),
            remembered: Remembered::new(controller.azure.clone()),
            planner: Arc::default(),
            identity: None,
            earlier: Earlier::default(),
            progress: Progress::default(),
            looking: None,
            phase: Phase::default(),
            woken: Arc::default(),
            looked: None,
            hindered: Vec::new(),
            said: BTreeSet::new(),
            idle: None,
        }
    }

    /// Proposes until the controller is stopped.
    pub(super) async fn run(mut self) {
        while !self.controller.stop.is_asked() {
            self.progressed();
            match looks::standing(&self.controller.cluster).await {
                Ok(found) => {
                    self.once.works(NODE_FLEETS);
                    self.take_in_ended().await;
                    self.begin_look(&found);
                }
                Err(failure) => self.once.failed(NODE_FLEETS, &failure),
            }
            self.progressed();
            let troubles = self.troubles();
            self.log(&troubles);
            self.notice.say(&troubles, self.earlier.account.as_deref()).await;
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.woken.notified() => {}
                () = stopped(self.controller) => {}
            }
        }
    }

    /// Records progress for the probe, unless a look is stuck. Azure may throttle for long, which is reported.
    fn progressed(&self) {
        if !self.phase.is_stuck() || !self.controller.azure.troubles().is_empty() {
            self.controller.health.progressed();
        }
    }

    /// Starts a look if it is due and the NodeFleet names a repository.
    fn begin_look(&mut self, found: &FoundFleet) {
        let is_named = |fleet: &serde_json::Value| fleet["spec"]["git"]["repository"].is_string();
        let idle = match (found.standing.mode, found.objects.iter().any(is_named)) {
            (Mode::Observe, _) => Some("the mode is `observe`"),
            (Mode::Auto | Mode::Review, false) => Some("the NodeFleet names no `spec.git.repository`"),
            (Mode::Auto | Mode::Review, true) => None,
        };
        if self.idle != idle {
            idle.into_iter().for_each(|because| tracing::info!("nothing is proposed: {because}"));
            self.idle = idle;
        }
        if idle.is_some() {
            self.hindered.clear();
            return;
        }
        let every = Identity::reads_every(self.identity.as_ref()) / self.clock_speed;
        let is_due = self.looked.is_none_or(|looked| looked.elapsed() >= every);
        if self.looking.is_some() || !is_due {
            return;
        }
        self.looked = Some(Instant::now());
        let look = Look {
            world: self.asked(found.standing.mode),
            repository: self.controller.repository.clone(),
            writer: self.writer.clone(),
            identity: self.identity.clone(),
            earlier: self.earlier.clone(),
            progress: self.progress.clone(),
            phase: self.phase.clone(),
        };
        let woken = Arc::clone(&self.woken);
        self.looking = Some(tokio::spawn(async move {
            let looked = look.run().await;
            woken.notify_one();
            looked
        }));
    }

    /// Returns the inputs for reading and planning: everything known about plans in progress is in the cluster.
    fn asked(&self, mode: Mode) -> round::Asked {
        let Controller { cluster, named, catalogs, metrics, .. } = self.controller;
        round::Asked {
            cluster: cluster.clone(),
            azure: self.remembered.clone(),
            named: named.clone(),
            catalogs: catalogs.clone(),
            mode,
            back_off: BackOff::new(self.clock_speed),
            resting: Vec::new(),
            planner: Arc::clone(&self.planner),
            in_flight: BTreeSet::new(),
            rest: None,
            clock_speed: self.clock_speed,
            metrics: Arc::clone(metrics),
        }
    }

    /// Takes in the result of a look.
    async fn take_in_ended(&mut self) {
        let Some(looking) = self.looking.take_if(|looking| looking.is_finished()) else { return };
        let Looked { found, unread } = match looking.await {
            Ok(looked) => looked,
            Err(error) => {
                self.controller.metrics.panicked();
                let line =
                    format!("nothing is proposed: nodeform has a bug, report it with the log: {error}");
                Found::Hindered(vec![line]).into()
            }
        };
        self.controller.metrics.unread(unread.iter().map(|unread| unread.source.clone()).collect());
        let unread = unread.iter().map(ToString::to_string);
        match found {
            Found::Cluster(identity) => {
                self.hindered = unread.collect();
                match identity {
                    Some(_) => self.looked = None,
                    None => self.hindered.push(
                        "cannot identify the cluster, so nothing is proposed: its id in Azure or the UID of namespace \
                         `kube-system` is unknown"
                            .to_owned(),
                    ),
                }
                self.identity = identity;
            }
            Found::NoRepository => self.hindered.clear(),
            Found::Hindered(lines) => {
                let known: BTreeSet<&String> = lines.iter().collect();
                let unread: Vec<String> = unread.filter(|line| !known.contains(line)).collect();
                self.hindered = lines.into_iter().chain(unread).collect();
            }
            Found::Reviewed(done) => {
                self.hindered = unread.collect();
                self.of_reviewed(*done);
            }
        }
    }

    fn of_reviewed(&mut self, done: Done) {
        let Done { mut desk, proposed, progress, .. } = done;
        let Proposed { placed, gone, troubles } = proposed;
        self.progress = progress;
        self.earlier = std::mem::take(&mut desk.earlier);
        self.hindered.extend(desk.forge_fault.take());
        self.hindered.extend(troubles);
        if placed.is_some() || !gone.is_empty() {
            // A pushed branch gets its pull request immediately.
            self.looked = None;
        }
        told::proposed(placed, &gone);
    }

    /// Returns the current problems, one line each.
    fn troubles(&self) -> Vec<String> {
        let long = PATIENCE / self.clock_speed;
        let troubles = self.controller.azure.troubles().into_iter().filter(|trouble| trouble.lasts >= long);
        let azure = troubles.map(|trouble| format!("Azure: {} {}", trouble.who, trouble.what));
        self.phase.slow().into_iter().chain(azure).chain(self.hindered.iter().cloned()).collect()
    }

    /// Logs new problems, and when all are resolved.
    fn log(&mut self, troubles: &[String]) {
        let now: BTreeSet<String> = troubles.iter().cloned().collect();
        now.difference(&self.said).for_each(|line| tracing::warn!("{line}"));
        if now.is_empty() && !self.said.is_empty() {
            tracing::info!("all problems are resolved");
        }
        self.said = now;
    }
}
