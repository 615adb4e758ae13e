//! One look: reads the repository and the results of merged plans, then the cluster and Azure, then updates proposals.
//!
//! The order matters: a merged plan counts as waiting until its NodePlan is settled, and the world that is read
//! afterwards shows its effects. So changes in progress are never proposed again, although only NodePlans and
//! NodeClaims are known. Must never write to the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::desk::{Desk, Earlier, Identity, Repository};
use super::super::proposing::Progress;
use super::super::reviewing::{self, Asked, Done};
use super::super::round::{self, NoRound};
use super::phase::Phase;
use crate::cluster::Writer;
use crate::observe::Unread;

/// Inputs of a look.
pub(super) struct Look {
    pub(super) world: round::Asked,
    pub(super) repository: Repository,
    /// A writer whose gate never opens.
    pub(super) writer: Writer,
    /// The cluster's identity; `None` before the first look.
    pub(super) identity: Option<Identity>,
    pub(super) earlier: Earlier,
    pub(super) progress: Progress,
    pub(super) phase: Phase,
}

/// Result of a look.
pub(super) struct Looked {
    pub(super) found: Found,
    /// What could not be read of the cluster and Azure.
    pub(super) unread: Vec<Unread>,
}

/// Findings of a look.
pub(super) enum Found {
    /// The cluster's identity, which later looks need to find its plans in the repository.
    Cluster(Option<Identity>),
    /// The NodeFleet names no repository.
    NoRepository,
    /// The proposals, if any.
    Reviewed(Box<Done>),
    /// Why nothing could be proposed, one line each.
    Hindered(Vec<String>),
}

impl From<Found> for Looked {
    fn from(found: Found) -> Self {
        Self { found, unread: Vec::new() }
    }
}

impl Look {
    /// Reads, and proposes what is due.
    pub(super) async fn run(self) -> Looked {
        let phase = self.phase.clone();
        let looked = self.looked().await;
        phase.ends();
        looked
    }

    async fn looked(self) -> Looked {
        let Self { world, repository, writer, identity, earlier, progress, phase } = self;
        let Some(identity) = identity else {
            phase.begins("reading the cluster and Azure");
            return match round::seen(world).await {
                Ok((world, unread)) => Looked { unread, ..Found::Cluster(Identity::of(&world)).into() },
                Err(none) => hindered(none),
            };
        };
        phase.begins("reading the repository");
        let speaks = repository.clone();
        let reading = move || {
            tokio::runtime::Handle::current().block_on(Desk::of_repository(
                &speaks,
                (&writer, earlier),
                &identity,
            ))
        };
        let desk = match tokio::task::spawn_blocking(reading).await {
            Ok(Ok(Some(desk))) => desk,
            Ok(Ok(None)) => return Found::NoRepository.into(),
            Ok(Err(fault)) => {
                let because = fault.told();
                let line = format!("nothing is proposed until the repository can be read: {because}");
                return Found::Hindered(vec![line]).into();
            }
            Err(error) => return bug(&world, &error),
        };
        phase.begins("reading the cluster and Azure");
        // The controller may have created and deleted VMs since.
        world.azure.wrote();
        let (planner, clock_speed) = (Arc::clone(&world.planner), world.clock_speed);
        let (seen, unread) = match round::seen(world.clone()).await {
            Ok(seen) => seen,
            Err(none) => return hindered(none),
        };
        phase.begins("planning and proposing");
        let (begun, passed_over) = (BTreeMap::new(), BTreeSet::new());
        let asked =
            Asked { world: seen, desk, begun, passed_over, progress, planner, repository, clock_speed };
        match tokio::task::spawn_blocking(move || reviewing::step(asked)).await {
            Ok(done) => Looked { found: Found::Reviewed(Box::new(done)), unread },
            Err(error) => bug(&world, &error),
        }
    }
}

fn hindered(NoRound { because, unread }: NoRound) -> Looked {
    let lines = because.iter().map(|because| format!("no plan, so nothing is proposed: {because}"));
    Looked { unread, ..Found::Hindered(lines.collect()).into() }
}

fn bug(world: &round::Asked, error: &tokio::task::JoinError) -> Looked {
    world.metrics.panicked();
    Found::Hindered(vec![format!("nothing is proposed: nodeform has a bug, report it with the log: {error}")])
        .into()
}
