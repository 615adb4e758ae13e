//! The proposer: a process of its own that proposes what people review, and says under pull requests what became of it.
//!
//! ```text
//!  Lease `nodeform-proposer` ─▶ shift ─▶ look: repository, then cluster and Azure ─▶ reviewing ─▶ proposing ─▶ Git, forge
//!                                 └─▶ notice: what hinders it, on that Lease ─▶ the controller ─▶ NodeFleet's status
//! ```
//!
//! It decides by the same functions as the controller, which applies what is merged. Must never write to Azure, nor to the
//! cluster but for its own Lease.

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

/// Proposes, from Lease to Lease, until it is stopped.
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
        tracing::info!(lease = lease::PROPOSER, "holding the Lease");
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

/// Gets the Lease; nothing where another has it, or where it cannot be had.
async fn held(controller: &Controller, (standby, once): (&mut Standby, &mut Once)) -> Option<Held> {
    let failure = match acquired(controller, lease::PROPOSER, standby).await {
        Ok(held) => {
            once.works(NOT_OURS);
            return held;
        }
        Err(failure) => failure,
    };
    // Whoever it is, one proposes at a time.
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
