//! What a rollout in memory sees: the objects of its cluster as they are stored, and Azure's resources as it lists them,
//! since lists go wrong by script.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Rehearsal;
use super::client::{Call, Client};
use crate::arm::{Request, ResourceId};
use crate::rollout::read::{self, ReadFault};
use crate::rollout::seen::{Provisioning, Seen, SeenInterface, SeenVm};

impl Rehearsal<'_> {
    /// Looks at the world.
    pub(super) fn look(&mut self) -> Seen {
        self.world.advance(self.now);
        let pods = self.world.objects("Pod");
        let group = self.group();
        let vms = group.as_ref().and_then(|group| self.resources(&Request::list_machines(group)));
        let nics = group.as_ref().and_then(|group| self.resources(&Request::list_network_interfaces(group)));
        Seen {
            at: self.now,
            claims: self.read("NodeClaim", read::claim).map(|claims| claims.into_iter().collect()),
            nodes: self.read("Node", read::node).map(|nodes| nodes.into_iter().collect()),
            waiting: pods.map(|objects| objects.iter().filter_map(|pod| read::waiting(pod)).collect()),
            pods: self.read("Pod", read::pod).map(|pods| {
                let mut pods: Vec<_> = pods.into_iter().flatten().collect();
                pods.sort();
                pods
            }),
            attached: self
                .read("VolumeAttachment", read::attachment)
                .map(|nodes| nodes.into_iter().flatten().collect()),
            vms: vms.map(|items| items.iter().map(vm).collect()),
            interfaces: nics.map(|items| items.iter().map(interface).collect()),
        }
    }

    /// The resource group of the nodes.
    pub(super) fn group(&self) -> Option<ResourceId> {
        let cluster = &self.plan.execution().cluster;
        let id: ResourceId = cluster.id.parse().ok()?;
        ResourceId::of_group(id.subscription(), &cluster.node_resource_group).ok()
    }

    /// Reads all objects of a kind; nothing where one of them cannot be read.
    fn read<T>(&self, kind: &str, read: impl Fn(&Value) -> Result<T, ReadFault>) -> Option<Vec<T>> {
        self.world.objects(kind)?.iter().map(|object| read(object).ok()).collect()
    }

    /// All pages of a list, or nothing.
    fn resources(&mut self, request: &Request) -> Option<Vec<Value>> {
        let mut target = request.target().replace(' ', "%20");
        let mut items = Vec::new();
        loop {
            let answer = self.client.azure(self.world, self.now, Call::get(&target))?;
            let mut value = answer.value();
            let Value::Array(page) = value["value"].take() else { return None };
            items.extend(Some(page).filter(|_| answer.status == 200)?);
            match value["nextLink"].as_str() {
                Some(link) => target = Client::path_of(link),
                None => return Some(items),
            }
        }
    }
}

fn tags(value: &Value) -> BTreeMap<Arc<str>, Arc<str>> {
    let tags = value["tags"].as_object().into_iter().flatten();
    tags.filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into()))).collect()
}

fn vm(value: &Value) -> (Arc<str>, SeenVm) {
    let id = value["id"].as_str().unwrap_or_default();
    let seen = SeenVm {
        id: id.into(),
        vm_id: value["properties"]["vmId"].as_str().map(Arc::from),
        state: Provisioning::of(value["properties"]["provisioningState"].as_str()),
        tags: tags(value),
    };
    (id.to_ascii_lowercase().into(), seen)
}

fn interface(value: &Value) -> (Arc<str>, SeenInterface) {
    let id = value["id"].as_str().unwrap_or_default();
    let seen = SeenInterface {
        id: id.into(),
        state: Provisioning::of(value["properties"]["provisioningState"].as_str()),
        tags: tags(value),
    };
    (id.to_ascii_lowercase().into(), seen)
}
