//! Main loop over terms of leadership: reads the mode, acquires its Lease, and runs a session while it is held.

use std::sync::Arc;
use std::time::Duration;

use super::desk::Repository;
use super::looks;
use super::metrics::Metrics;
use super::once::Once;
use super::proposer;
use super::resume;
use super::role::Role;
use super::serve::Health;
use super::session::{NODE_FLEETS, Session, Why};
use crate::apply::Stop;
use crate::automatic::Standing;
use crate::azure::Azure;
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind, lease};
use crate::model::Mode;
use crate::observe::Named;
use crate::offline::Catalogs;

/// Delay after a failure.
const AGAIN: Duration = Duration::from_secs(2);

/// Time for a session to end in order once the controller is stopped.
const ENDING_MAX: Duration = Duration::from_millis(1_200);

/// Log message if the Lease cannot be acquired.
pub(super) const NOT_OURS: &str = "cannot become leader";

/// The controller's clients and settings.
pub struct Controller {
    /// The cluster.
    pub cluster: Cluster,
    /// Azure.
    pub azure: Azure,
    /// Names of the managed cluster.
    pub named: Named,
    /// Lists of sizes and prices to use instead of the embedded ones.
    pub catalogs: Catalogs,
    /// Access to the repository in which plans are reviewed.
    pub repository: Repository,
    /// Identity for the Lease, unique to this process.
    pub identity: String,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// State for the probes.
    pub health: Arc<Health>,
    /// Stop signals.
    pub stop: Stop,
}

/// Runs until it is stopped: then no new changes start, and the Lease is released.
pub async fn run(controller: &Controller) {
    match controller.repository.role {
        // These futures are large, and the waiting thread has a stack of 2 MB.
        Role::All | Role::Controller => Box::pin(leads(controller)).await,
        Role::Proposer => Box::pin(proposer::run(controller)).await,
    }
}

/// Plans and applies while a Lease is held, and acquires it again when it is lost.
async fn leads(controller: &Controller) {
    let (mut standby, mut once) = (Standby::default(), Once::default());
    // Whether started changes may exist that have not ended.
    let mut may_have_begun = true;
    while !controller.stop.is_asked() {
        controller.health.progressed();
        let found = tokio::select! {
            found = standing(controller) => found,
            () = stopped(controller) => continue,
        };
        let standing = match found {
            Ok(found) => found,
            Err(failure) => {
                once.failed(NODE_FLEETS, &failure);
                pause(controller).await;
                continue;
            }
        };
        once.works(NODE_FLEETS);
        let mode = standing.mode;
        let leading = match (mode, may_have_begun) {
            (Mode::Observe, true) => winding(controller, &mut standby).await,
            (Mode::Observe, false) | (Mode::Auto | Mode::Review, _) => {
                leading(controller, mode, &mut standby).await
            }
        };
        let Leading { held, doing } = match leading {
            Ok(Some(leading)) => leading,
            Ok(None) => {
                pause(controller).await;
                continue;
            }
            Err(failure) => {
                once.failed(NOT_OURS, &failure);
                pause(controller).await;
                continue;
            }
        };
        once.works(NOT_OURS);
        let Doing { mode, beside, winds_down } = &doing;
        let beside = beside.as_ref().map(|beside| &*beside.holder);
        tracing::info!(?mode, beside, winds_down, "acquired the Lease");
        controller.metrics.leading(true);
        let session = Session::new(controller, doing, held.gate().clone());
        let why = tokio::select! {
            why = Box::pin(session.run()) => why,
            lost = held.lost() => Why::Lost(lost.to_string()),
            () = out_of_time(controller) => Why::Stopped,
        };
        controller.metrics.leading(false);
        match why {
            Why::Stopped => {
                tracing::info!("stopped; the next leader resumes started changes");
            }
            Why::OtherMode => tracing::info!("the mode has changed"),
            Why::WoundDown => {
                may_have_begun = false;
                tracing::info!("the mode has changed: stopping");
            }
            Why::Lost(because) => {
                may_have_begun = true;
                tracing::warn!("lost leadership, stopped writing: {because}");
            }
        }
        if let Err(failure) = held.release().await {
            once.failed("could not release the Lease", &failure);
        }
    }
}

/// Reads the mode. Until the API server is ready, also checks whether it serves the required kinds.
pub(super) async fn standing(controller: &Controller) -> Result<Standing, ClusterFailure> {
    let found = looks::standing(&controller.cluster).await?;
    if !controller.health.is_ready() {
        match looks::missing_kinds(&controller.cluster).await?.as_slice() {
            [] => controller.health.is_served(),
            missing => tracing::warn!(
                hint = "install the CRDs: `nodeform crds | kubectl apply --server-side -f -`",
                "the API server does not serve {}",
                missing.join(", ")
            ),
        }
    }
    Ok(found.standing)
}

/// A holder of the Lease that is not a replica.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    /// The namespace of the Lease.
    pub(super) namespace: String,
    /// The holder.
    pub(super) holder: String,
    /// Whether it alone reports the state of the fleet.
    pub(super) reports: bool,
}

/// A standby replica, which logs each leader once.
#[derive(Default)]
pub(super) struct Standby {
    leader: String,
}

impl Standby {
    pub(super) fn behind(&mut self, holder: &str) {
        if self.leader != holder {
            tracing::info!(leader = holder, "standby");
            holder.clone_into(&mut self.leader);
        }
    }
}

/// What to do while a Lease is held.
pub(super) struct Doing {
    /// The mode.
    pub(super) mode: Mode,
    /// The other holder of the Lease: while there is one, this process only observes, whatever the NodeFleet sets.
    pub(super) beside: Option<Beside>,
    /// Whether started changes are ended first, although the mode is `observe`.
    pub(super) winds_down: bool,
}

impl Doing {
    const fn of(mode: Mode) -> Self {
        Self { mode, beside: None, winds_down: false }
    }
}

/// The held Lease, and what to do meanwhile.
struct Leading {
    held: lease::Held,
    doing: Doing,
}

/// Acquires the leader's Lease if started changes have not ended, else the observer's Lease. If the holder of the
/// former is not a replica, the started changes are left to it.
async fn winding(controller: &Controller, standby: &mut Standby) -> Result<Option<Leading>, ClusterFailure> {
    if !resume::has_begun(&controller.cluster).await? {
        return leading(controller, Mode::Observe, standby).await;
    }
    match acquired(controller, lease::NAME, standby).await {
        Ok(held) => {
            let doing = Doing { winds_down: true, ..Doing::of(Mode::Observe) };
            Ok(held.map(|held| Leading { held, doing }))
        }
        Err(failure) if failure.kind == ClusterFailureKind::LeaseHeld => {
            leading(controller, Mode::Observe, standby).await
        }
        Err(failure) => Err(failure),
    }
}

/// Acquires the Lease of a mode; `None` if another replica has it, or the controller is stopped. If its holder is not a
/// replica, acquires the observer's Lease instead.
async fn leading(
    controller: &Controller,
    mode: Mode,
    standby: &mut Standby,
) -> Result<Option<Leading>, ClusterFailure> {
    let name = match mode {
        Mode::Auto | Mode::Review => lease::NAME,
        Mode::Observe => lease::OBSERVE,
    };
    let failure = match acquired(controller, name, standby).await {
        Ok(held) => return Ok(held.map(|held| Leading { held, doing: Doing::of(mode) })),
        Err(failure) => failure,
    };
    if !mode.acts() || failure.kind != ClusterFailureKind::LeaseHeld {
        return Err(failure);
    }
    let namespace = lease::namespace(&controller.cluster).await?;
    // It may have been released meanwhile.
    let Some(holder) = lease::holder(&controller.cluster, (&namespace, name)).await? else { return Ok(None) };
    let held = acquired(controller, lease::OBSERVE, standby).await?;
    let reports = lease::reports(&controller.cluster, (&namespace, name)).await?;
    let beside = Some(Beside { namespace, holder, reports });
    let doing = Doing { beside, ..Doing::of(Mode::Observe) };
    Ok(held.map(|held| Leading { held, doing }))
}

/// Acquires a Lease; `None` if another replica has it, or the controller is stopped.
pub(super) async fn acquired(
    controller: &Controller,
    name: &'static str,
    standby: &mut Standby,
) -> Result<Option<lease::Held>, ClusterFailure> {
    // Karpenter's Lease is in its installation namespace; the others are nodeform's own.
    let namespace = match name {
        lease::OBSERVE | lease::PROPOSER => lease::NAMESPACE.to_owned(),
        _ => lease::namespace(&controller.cluster).await?,
    };
    let settings = lease::Settings {
        identity: controller.identity.clone(),
        namespace: namespace.clone(),
        terms: lease::Terms::default(),
        reports: name != lease::PROPOSER,
    };
    let waits = |other: &lease::Other| standby.behind(&other.holder);
    let asking = lease::Asking { waits, attempted: || controller.health.progressed() };
    let failure = tokio::select! {
        held = lease::acquire_named((&controller.cluster, name), &settings, asking) => match held {
            Ok(held) => return Ok(Some(held)),
            Err(failure) => failure,
        },
        () = stopped(controller) => return Ok(None),
    };
    if failure.kind != ClusterFailureKind::LeaseHeld {
        return Err(failure);
    }
    match lease::holder(&controller.cluster, (&namespace, name)).await? {
        Some(holder) if !lease::are_replicas(&controller.identity, &holder) => Err(failure),
        Some(_) | None => Ok(None),
    }
}

/// Waits until the controller is stopped.
pub(super) async fn stopped(controller: &Controller) {
    while !controller.stop.is_asked() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until the controller is stopped and its grace period is over: a stopped process releases the Lease within two
/// seconds, whatever is in progress.
pub(super) async fn out_of_time(controller: &Controller) {
    stopped(controller).await;
    tokio::time::sleep(ENDING_MAX).await;
}

pub(super) async fn pause(controller: &Controller) {
    let _ = tokio::time::timeout(AGAIN, stopped(controller)).await;
}
