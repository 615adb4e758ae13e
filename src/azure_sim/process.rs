//! nodeform's processes in an in-memory world: they observe it as `plan --live` does, and apply a plan as `apply` does,
//! with the same reader and executor.
//!
//! Must never plan, check or approve: that is up to the caller.

use std::sync::Arc;

use jiff::Timestamp;

use super::in_memory::{InMemory, Line};
use crate::apply::{Actor, Book, By, Driver, Means, NotBegun, Reader};
use crate::arm::ResourceId;
use crate::cluster::WriteGate;
use crate::launch::Materials;
use crate::observe::{KarpenterVariables, Named, Observation, ObserveFault, observe};
use crate::review::ApprovedPlan;
use crate::sim::{SimulatedAzure, World};

impl InMemory {
    /// Runs processes in a world from a time on. Time jumps to the next event and stops while they work; `world` and
    /// `now` receive the final state.
    ///
    /// # Errors
    /// The runtime cannot be started.
    pub fn work<T>(
        world: &mut World,
        now: &mut Timestamp,
        work: impl AsyncFnOnce(&Self) -> T,
    ) -> anyhow::Result<T> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
        runtime.block_on(async {
            let memory = Self::of(world.clone(), *now, None)?;
            let done = work(&memory).await;
            *now = memory.clock().now();
            *world = memory.seen(World::clone);
            Ok(done)
        })
    }
}

/// Returns the identifiers of a world's managed cluster.
#[must_use]
pub fn named(settings: &SimulatedAzure) -> Named {
    Named {
        subscription: Some(settings.subscription.clone()),
        resource_group: Some(settings.cluster.resource_group.clone()),
        cluster: Some(settings.cluster.name.clone()),
        karpenter: KarpenterVariables::default(),
    }
}

impl Line {
    /// Observes the world as `plan --live` does.
    pub async fn observe(&self) -> Result<Observation, Vec<ObserveFault>> {
        let cannot = |what: String| vec![ObserveFault { what, hint: None, unread: None }];
        let cluster = self.cluster().map_err(|failure| cannot(failure.what))?;
        let azure = self.azure().map_err(|fault| cannot(fault.to_string()))?;
        observe(&cluster, &azure, &self.world(|world| named(world.settings()))).await
    }

    /// Starts applying a plan as `apply` does, without a Lease.
    ///
    /// # Errors
    /// The plan was already applied, or cannot be recorded.
    pub async fn driver(&self, plan: &Arc<ApprovedPlan>, materials: Materials) -> Result<Driver, NotBegun> {
        let cannot = |what: String| NotBegun::Cluster(what, "look at the settings of the world".to_owned());
        let cluster = self.cluster()?;
        let azure = self.azure().map_err(|fault| cannot(fault.to_string()))?;
        let settings = self.world(|world| world.settings().clone());
        let group = ResourceId::of_group(&settings.subscription, &settings.node_resource_group())
            .map_err(|fault| cannot(fault.to_string()))?;
        let gate = WriteGate::always_open();
        let writer = cluster.writing(&gate);
        let book = Book::open(writer.clone(), plan, By::Person(None), cluster.clock().now()).await?;
        let actor = Actor::new(Arc::clone(plan), Means { writer, gate, azure: azure.clone(), materials });
        let reader = Reader { cluster, azure, group };
        Ok(Driver::new(Arc::clone(plan), (reader, actor, book), 1))
    }
}
