//! The ARM API: resources, their operations, and the protocol around them.
//!
//! Names are case-insensitive and shown as first written.

mod address;
mod bucket;
mod call;
mod disk;
mod error;
mod existing;
mod gate;
mod group;
mod image;
mod managed_cluster;
mod network;
mod nic;
mod operation;
mod page;
mod route;
mod sku;
mod tags;
mod token;
mod usage;
mod vm;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

pub(crate) use address::range as address_range;
pub(crate) use call::{Call, Stage};
pub(crate) use error::ArmError;
pub(crate) use existing::Existing;
pub(crate) use operation::Operation;
pub(crate) use sku::Sku;
pub(crate) use vm::{Machine, MachineState};

use super::faults::Occasion;
use super::http::{Request, Response};
use super::sensitive::Sensitive;
use super::settings::SimulatedAzure;
use bucket::Buckets;
use disk::Disk;
use nic::Nic;

/// The simulated subscription.
#[derive(Clone, Debug)]
pub(crate) struct Azure {
    pub(crate) settings: SimulatedAzure,
    /// The SKU list as ARM shows it.
    sku_list: Vec<Value>,
    skus: BTreeMap<String, Sku>,
    /// VMs by lower-case name.
    pub(crate) machines: BTreeMap<String, Machine>,
    /// NICs by lower-case name.
    pub(crate) nics: BTreeMap<String, Nic>,
    /// Disks by lower-case name.
    pub(crate) disks: BTreeMap<String, Disk>,
    pub(crate) operations: BTreeMap<String, Operation>,
    /// Access tokens and their expiry.
    tokens: BTreeMap<String, Timestamp>,
    client_secret: Sensitive,
    /// The client secret and the access tokens of the read-only identity.
    pub(crate) reader_secret: Sensitive,
    reader_tokens: BTreeSet<String>,
    /// Refused writes of that identity.
    pub(crate) refused: Vec<String>,
    /// The certificate authority of the API server, PEM, if set.
    pub(crate) ca_certificate: Option<String>,
    buckets: Buckets,
    requests: u64,
    /// `vmId`s of VMs that have ended since the last `take_gone`.
    gone: Vec<String>,
}

impl Azure {
    pub(crate) fn new(settings: SimulatedAzure, sku_list: Vec<Value>, client_secret: Sensitive) -> Self {
        let skus = sku_list.iter().filter_map(Sku::of).map(|sku| (sku.name.to_lowercase(), sku)).collect();
        Self {
            settings,
            sku_list,
            skus,
            machines: BTreeMap::new(),
            nics: BTreeMap::new(),
            disks: BTreeMap::new(),
            operations: BTreeMap::new(),
            tokens: BTreeMap::new(),
            client_secret,
            reader_secret: Sensitive::default(),
            reader_tokens: BTreeSet::new(),
            refused: Vec::new(),
            ca_certificate: None,
            buckets: Buckets::default(),
            requests: 0,
            gone: Vec::new(),
        }
    }

    /// Returns the VM sizes of the SKU list, by name.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = &Sku> {
        self.skus.values()
    }

    /// Returns the request properties that fault rules match.
    pub(crate) fn occasion(&self, request: &Request) -> Occasion {
        Occasion::of(&Call::of(request))
    }

    /// Answers a request.
    pub(crate) fn request(&mut self, request: &Request, mut stage: Stage<'_>) -> Response {
        self.requests += 1;
        let id = stage.draw.guid(&format!("request {}", self.requests));
        if let Some(answer) = token::answer(self, request, &stage) {
            return Response::Answer(answer.with("x-ms-request-id", id));
        }
        let call = Call::of(request);
        let mut headers = Vec::new();
        let answer = match gate::pass(self, &call, &mut stage, &mut headers) {
            Ok(()) => route::answer(self, &call, &mut stage),
            Err(error) => Err(error),
        };
        let mut answer = answer.unwrap_or_else(|error| error.answer());
        answer.headers.append(&mut headers);
        let answer = answer
            .with("Cache-Control", "no-cache")
            .with("x-ms-request-id", id.clone())
            .with("x-ms-correlation-request-id", id);
        if stage.faults.loses_answer(&Occasion::of(&call), stage.now) {
            Response::Lost
        } else {
            Response::Answer(answer)
        }
    }

    /// Ends an operation.
    pub(crate) fn end_operation(&mut self, stage: &mut Stage<'_>, id: &str) {
        operation::end(self, stage, id);
    }

    /// Starts a VM whose creation was reported as failed.
    pub(crate) fn appears_late(&mut self, stage: &mut Stage<'_>, name: &str) {
        vm::appears_late(self, stage, name);
    }

    /// Evicts a spot VM.
    pub(crate) fn reclaimed(&mut self, stage: &mut Stage<'_>, vm_id: &str) {
        vm::reclaimed(self, stage, vm_id);
    }

    /// Evicts the running spot VMs that a fault rule matches, in the order of their names.
    pub(crate) fn evict_running(&mut self, stage: &mut Stage<'_>, at: usize) {
        let spot: Vec<(String, Occasion)> = self
            .machines
            .values()
            .filter(|machine| machine.is_spot && machine.state == MachineState::Succeeded)
            .map(|machine| (machine.vm_id.clone(), Occasion::of_machine(machine)))
            .collect();
        for (vm_id, occasion) in spot {
            if stage.faults.takes(at, &occasion, stage.now) {
                vm::reclaimed(self, stage, &vm_id);
            }
        }
    }

    /// Takes the `vmId`s of VMs that have ended since the last call.
    pub(crate) fn take_gone(&mut self) -> Vec<String> {
        std::mem::take(&mut self.gone)
    }

    /// Returns a summary of the operations that have not ended.
    pub(crate) fn running_operations(&self) -> Vec<Value> {
        let running = self.operations.values().filter(|operation| operation.ended.is_none());
        running
            .map(|operation| serde_json::json!({"id": operation.id, "what": format!("{:?}", operation.task)}))
            .collect()
    }

    /// Returns the SKU of a size; names are case-insensitive.
    pub(crate) fn sku(&self, size: &str) -> Option<&Sku> {
        self.skus.get(&size.to_lowercase())
    }

    /// Returns the machine of this `vmId`.
    pub(crate) fn machine_by_id(&self, vm_id: &str) -> Option<&Machine> {
        self.machines.values().find(|machine| machine.vm_id == vm_id)
    }

    /// Returns the id of a resource in the node resource group.
    pub(crate) fn id(&self, kind: &str, name: &str) -> String {
        format!(
            "/subscriptions/{}/resourceGroups/{}/providers/{kind}/{name}",
            self.settings.subscription,
            self.settings.node_resource_group()
        )
    }
}
