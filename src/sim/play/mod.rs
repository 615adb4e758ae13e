//! Everything that acts on its own: kubelets, workload controllers, the scheduler.

mod budgets;
mod daemons;
mod garbage;
mod index;
mod jobs;
mod kubelet;
mod pod;
mod quantity;
mod replicas;
mod scheduler;
mod sets;
mod taints;
mod topology;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub(crate) use kubelet::Kubelet;
pub(crate) use pod::{condition, is_ready};

use super::agenda::Agenda;
use super::cluster::Store;
use super::draw::Draw;
use super::settings::{Durations, SimulatedAzure};
use index::Index;

/// The controllers and their state.
#[derive(Clone, Debug)]
pub(crate) struct Play {
    /// The kubelets of VMs by `vmId`.
    pub(crate) kubelets: BTreeMap<String, Kubelet>,
    /// The `vmId` of the VM of each node.
    machine_of_node: BTreeMap<String, String>,
    index: Index,
    durations: Durations,
    draw: Draw,
}

/// Context of a controller.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) now: Timestamp,
    pub(crate) store: &'a mut Store,
    pub(crate) agenda: &'a mut Agenda,
}

impl Play {
    pub(crate) fn new(settings: &SimulatedAzure, draw: Draw) -> Self {
        Self {
            kubelets: BTreeMap::new(),
            machine_of_node: BTreeMap::new(),
            index: Index::default(),
            durations: settings.durations,
            draw,
        }
    }

    /// Runs all controllers on the changed objects until nothing changes any more.
    pub(crate) fn reconcile(&mut self, scene: &mut Scene<'_>) {
        // In each pass, controllers react to the changes of the others; workloads settle after a few passes.
        const PASSES_MAX: usize = 20;
        for _ in 0..PASSES_MAX {
            if !scene.store.is_dirty() {
                return;
            }
            garbage::collect(scene);
            let dirty = scene.store.take_dirty();
            let seen = self.index.update(scene.store, &dirty);
            if seen.workloads || seen.pods {
                sets::reconcile(&self.index, scene);
                replicas::reconcile(&self.index, scene);
                jobs::reconcile(&self.index, scene);
            }
            if seen.workloads || seen.pods || seen.nodes {
                daemons::reconcile(&self.index, scene);
            }
            if seen.nodes || seen.pods {
                garbage::pods_of_lost_nodes(&self.index, scene);
                taints::evict(&self.index, scene, &dirty);
                scheduler::schedule(&mut self.index, scene);
            }
            if seen.pods {
                self.start_and_stop(scene, &dirty);
            }
            if seen.pods || seen.workloads {
                budgets::reconcile(&self.index, scene);
            }
        }
    }
}
