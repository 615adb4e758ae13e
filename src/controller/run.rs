//! From Lease to Lease: which mode, whose Lease, a session while it is held.

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

/// How long is waited after what failed.
const AGAIN: Duration = Duration::from_secs(2);

/// How long a session may take to end in order once the controller is to end.
const ENDING_MAX: Duration = Duration::from_millis(1_200);

/// What is said where the Lease cannot be had.
pub(super) const NOT_OURS: &str = "cannot become leader";

/// What the controller works with.
pub struct Controller {
    /// The cluster.
    pub cluster: Cluster,
    /// Azure.
    pub azure: Azure,
    /// Which managed cluster it is.
    pub named: Named,
    /// Lists of sizes and prices to use instead of the embedded ones.
    pub catalogs: Catalogs,
    /// Who speaks to the repository that plans are reviewed in.
    pub repository: Repository,
    /// Who holds the Lease: of this process alone.
    pub identity: String,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// What the probes ask.
    pub health: Arc<Health>,
    /// Whether to end.
    pub stop: Stop,
}

/// Runs until it is stopped: nothing new begins then, and the Lease is let go.
pub async fn run(controller: &Controller) {
    match controller.repository.role {
        // Each is large, and whoever waits for it has a stack of two megabytes.
        Role::All | Role::Controller => Box::pin(leads(controller)).await,
        Role::Proposer => Box::pin(proposer::run(controller)).await,
    }
}

/// Looks and applies, from Lease to Lease.
async fn leads(controller: &Controller) {
    let (mut standby, mut once) = (Standby::default(), Once::default());
    // Whether anything may have begun that nobody has ended.
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
        tracing::info!(?mode, beside, winds_down, "holding the Lease");
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

/// Reads the mode. The first time that the API server answers, it is asked as well whether it serves the kinds.
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

/// Whoever else holds the Lease, and is none of the replicas.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    /// The namespace of the Lease.
    pub(super) namespace: String,
    /// The holder.
    pub(super) holder: String,
    /// Whether it reports the state of the fleet itself: nobody else does then.
    pub(super) reports: bool,
}

/// A replica that does not lead: it says once who does.
#[derive(Default)]
pub(super) struct Standby {
    leader: String,
}

impl Standby {
    pub(super) fn behind(&mut self, holder: &str) {
        if self.leader != holder {
            tracing::info!(leader = holder, "standing by");
            holder.clone_into(&mut self.leader);
        }
    }
}

/// What is done while a Lease is held.
pub(super) struct Doing {
    /// The mode.
    pub(super) mode: Mode,
    /// Who else holds the Lease: it is observed then, whatever the NodeFleet says.
    pub(super) beside: Option<Beside>,
    /// Whether what has begun is ended first, though the mode is `observe`.
    pub(super) winds_down: bool,
}

impl Doing {
    const fn of(mode: Mode) -> Self {
        Self { mode, beside: None, winds_down: false }
    }
}

/// What is held, and what is done meanwhile.
struct Leading {
    held: lease::Held,
    doing: Doing,
}

/// Gets the Lease under which things are done, where something has begun that nobody has ended, else that of who only looks.
/// Where somebody holds the former who is none of the replicas, what has begun is theirs.
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

/// Gets the Lease of a mode; nothing where another replica has it, or where the controller is to end. Where somebody holds it
/// who is none of the replicas, it is only observed beside them.
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
    // It may have been let go by now.
    let Some(holder) = lease::holder(&controller.cluster, (&namespace, name)).await? else { return Ok(None) };
    let held = acquired(controller, lease::OBSERVE, standby).await?;
    let reports = lease::reports(&controller.cluster, (&namespace, name)).await?;
    let beside = Some(Beside { namespace, holder, reports });
    let doing = Doing { beside, ..Doing::of(Mode::Observe) };
    Ok(held.map(|held| Leading { held, doing }))
}

/// Gets a Lease; nothing where another replica has it, or where the controller is to end.
pub(super) async fn acquired(
    controller: &Controller,
    name: &'static str,
    standby: &mut Standby,
) -> Result<Option<lease::Held>, ClusterFailure> {
    // Karpenter's stands where Karpenter was installed; the other ones are nodeform's own.
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

/// Waits until the controller is to end.
pub(super) async fn stopped(controller: &Controller) {
    while !controller.stop.is_asked() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until the controller is to end and what it was doing has had its time: whoever is told to end lets the Lease go
/// within two seconds, whatever is under way.
pub(super) async fn out_of_time(controller: &Controller) {
    stopped(controller).await;
    tokio::time::sleep(ENDING_MAX).await;
}

pub(super) async fn pause(controller: &Controller) {
    let _ = tokio::time::timeout(AGAIN, stopped(controller)).await;
}
