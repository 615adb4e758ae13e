//! The proposer: a separate process that proposes plans for review, and comments on pull requests with their results.
//!
//! ```text
//!  Lease `nodeform-proposer` ─▶ shift ─▶ look: repository, then cluster and Azure ─▶ reviewing ─▶ proposing ─▶ Git, forge
//!                                 └─▶ notice: what hinders it, on that Lease ─▶ the controller ─▶ NodeFleet's status
//! ```
//!
//! It decides with the same functions as the controller, which applies merged plans. Must never write to Azure, nor to the
//! cluster except for its own Lease.

mod look;
mod notice;
mod phase;
mod shift;

use super::once::Once;
use super::run::{Controller, NOT_OURS, Standby, acquired, out_of_time, pause, standing, stopped};
use super::session::NODE_FLEETS;
use crate::cluster::ClusterFailureKind;
use crate::cluster::lease::{self, Held};
pub(super) use notice::Watched;
pub use notice::forge_account;
use shift::Shift;

/// Proposes plans while its Lease is held, and acquires it again when it is lost, until it is stopped.
pub(super) async fn run(controller: &Controller) {
    let (mut standby, mut once) = (Standby::default(), Once::default());
    while !controller.stop.is_asked() {
        controller.health.progressed();
        let found = tokio::select! {
            found = standing(controller) => found,
            () = stopped(controller) => continue,
        };
        if let Err(failure) = found {
            once.failed(NODE_FLEETS, &failure);
            pause(controller).await;
            continue;
        }
        once.works(NODE_FLEETS);
        let Some(held) = held(controller, (&mut standby, &mut once)).await else {
            pause(controller).await;
            continue;
        };
        tracing::info!(lease = lease::PROPOSER, "acquired the Lease");
        controller.metrics.leading(true);
        tokio::select! {
            () = Shift::new(controller, held.gate()).run() => {}
            lost = held.lost() => tracing::warn!("lost leadership, nothing more is proposed: {lost}"),
            () = out_of_time(controller) => {}
        }
        controller.metrics.leading(false);
        if let Err(failure) = held.release().await {
            once.failed("could not release the Lease", &failure);
        }
    }
}

/// Acquires the Lease; `None` if another process has it, or it cannot be acquired.
async fn held(controller: &Controller, (standby, once): (&mut Standby, &mut Once)) -> Option<Held> {
    let failure = match acquired(controller, lease::PROPOSER, standby).await {
        Ok(held) => {
            once.works(NOT_OURS);
            return held;
        }
        Err(failure) => failure,
    };
    // Any other holder counts as leader: only one process proposes at a time.
    if failure.kind == ClusterFailureKind::LeaseHeld {
        let own = (lease::NAMESPACE, lease::PROPOSER);
        if let Ok(Some(holder)) = lease::holder(&controller.cluster, own).await {
            standby.behind(&holder);
            return None;
        }
    }
    once.failed(NOT_OURS, &failure);
    None
}
