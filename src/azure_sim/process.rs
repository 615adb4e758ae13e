//! What commands do in a world in memory: read it as `plan --live` does, and carry a plan out as `apply` does, by the same
//! reader and executor.
//!
//! Must never plan, judge or approve: whoever asks has done so.

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
    /// Lets processes work in a world from a time on. Time jumps to whatever happens next, and stands while they work; world
    /// and time are afterwards as they leave them.
    ///
    /// # Errors
    /// The machine does not let this process wait.
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

/// Returns how the managed cluster of a world is named.
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
    /// Reads the world as `plan --live` does.
    ///
    /// # Errors
    /// As for a live cluster.
    pub async fn observe(&self) -> Result<Observation, Vec<ObserveFault>> {
        let cannot = |what: String| vec![ObserveFault { what, hint: None, unread: None }];
        let cluster = self.cluster().map_err(|failure| cannot(failure.what))?;
        let azure = self.azure().map_err(|fault| cannot(fault.to_string()))?;
        observe(&cluster, &azure, &self.world(|world| named(world.settings()))).await
    }

    /// Begins to carry a plan out as `apply` does, without a Lease.
    ///
    /// # Errors
    /// The plan is spent, or cannot be written down.
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
