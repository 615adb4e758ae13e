//! The world of the demo, and its plans.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::super::exit::Failure;
use super::super::world as described;
use crate::azure_sim::{Delivery, InMemory};
use crate::catalog::Catalog;
use crate::model::Region;
use crate::offline::{self, Request, World};
use crate::review::CheckedPlan;
use crate::sim::{self, Start, WorldDocuments};

const DOCUMENTS: [&str; 3] = [
    include_str!("../../../examples/demo/cluster.yaml"),
    include_str!("../../../examples/demo/azure.yaml"),
    include_str!("../../../examples/demo/faults.yaml"),
];

/// Start time of the world, fixed so that every demo is the same.
const START: Timestamp = Timestamp::constant(1_767_603_600, 0);

/// Requests are answered without delay: the world's own waits are long enough.
pub(super) const AT_ONCE: Delivery = Delivery::Answered(Duration::ZERO);

/// A world and its time.
pub(super) struct Stage {
    pub(super) world: sim::World,
    pub(super) now: Timestamp,
}

impl Stage {
    /// Creates the demo's world.
    pub(super) fn new(seed: u64) -> Result<Self, Failure> {
        let read = |text: &str| serde_saphyr::from_multiple::<Value>(text);
        let documents: Result<Vec<Vec<Value>>, _> = DOCUMENTS.into_iter().map(read).collect();
        let documents = documents.map_err(|error| Failure::bug(vec![error.to_string()]))?;
        let faults =
            |faults: Vec<sim::FaultsFault>| Failure::bug(faults.iter().map(ToString::to_string).collect());
        let WorldDocuments { settings, faults: wrong, manifests } =
            WorldDocuments::read(documents.into_iter().flatten().collect()).map_err(faults)?;
        let region = Region::new(&settings.location);
        let skus = Catalog::embedded(&region).map(|catalog| catalog.skus()).unwrap_or_default();
        let start = Start { settings, skus, manifests, faults: wrong, seed, time: START, ..Start::default() };
        let mut stage = Self { world: sim::World::new(start).map_err(faults)?, now: START };
        stage.pass(30);
        Ok(stage)
    }

    /// Advances the time by seconds.
    pub(super) fn pass(&mut self, seconds: i64) {
        self.now = self.now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
        self.world.advance(self.now);
    }

    /// Runs processes in the world while its time continues.
    pub(super) fn worked<T>(&mut self, work: impl AsyncFnOnce(&InMemory) -> T) -> Result<T, Failure> {
        InMemory::work(&mut self.world, &mut self.now, work)
            .map_err(|error| Failure::error(format!("the program cannot wait for answers: {error}")))
    }

    /// Returns the elapsed minutes.
    pub(super) fn minutes(&self) -> i64 {
        self.now.duration_since(START).as_secs() / 60
    }

    /// Observes the world and plans it.
    pub(super) fn planned(&mut self) -> Result<(World, CheckedPlan), Failure> {
        let at = self.now;
        let seen = self.worked(async |memory| memory.line(|_| AT_ONCE).observe().await)?;
        let seen =
            seen.map_err(|faults| Failure::errors(faults.iter().map(ToString::to_string).collect()))?;
        let laid = seen.laid(Request::default(), at).map_err(described::failure)?;
        let world =
            offline::world(Request { laid: Some(laid), ..Request::default() }).map_err(described::failure)?;
        let checked = described::planned(&world)?.plan;
        Ok((world, checked))
    }

    /// Scales a Deployment, as `kubectl scale` does.
    pub(super) fn scale(&mut self, namespace: &str, name: &str, replicas: u32) -> Result<(), Failure> {
        let token = self.world.credentials().cluster_token.reveal().to_owned();
        let target = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
        let request = sim::Request::new("PATCH", &target)
            .header("authorization", &format!("Bearer {token}"))
            .json(&json!({"spec": {"replicas": replicas}}))
            .header("content-type", "application/merge-patch+json");
        match self.world.request(self.now, &request) {
            sim::Response::Answer(answer) if answer.status == 200 => {
                self.pass(60);
                Ok(())
            }
            sim::Response::Answer(_)
            | sim::Response::Lost
            | sim::Response::Silent
            | sim::Response::Late(..)
            | sim::Response::Watch(_) => {
                Err(Failure::bug(vec![format!("Deployment {namespace}/{name} could not be scaled")]))
            }
        }
    }

    /// Returns the remaining resources of nodeform: VMs, NICs, disks, NodeClaims.
    pub(super) fn left_over(&self) -> String {
        let state = self.world.state();
        let count = |list: &str| state[list].as_array().map_or(0, Vec::len);
        let lists = [
            ("virtualMachines", "VM"),
            ("networkInterfaces", "NIC"),
            ("disks", "disk"),
            ("nodeClaims", "NodeClaim"),
        ];
        let parts = lists.map(|(list, one)| match count(list) {
            1 => format!("1 {one}"),
            many => format!("{many} {one}s"),
        });
        parts.join(", ")
    }
}
