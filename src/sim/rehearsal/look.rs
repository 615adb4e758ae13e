//! What a rollout in memory sees: the lists of the world, read as those of a live cluster are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Rehearsal;
use super::client::{Call, Client};
use crate::arm::{Request, ResourceId};
use crate::rollout::read;
use crate::rollout::seen::{Provisioning, Seen, SeenInterface, SeenVm};

impl Rehearsal<'_> {
    /// Looks at the world.
    pub(super) fn look(&mut self) -> Seen {
        let claims = self.objects("/apis/karpenter.sh/v1/nodeclaims");
        let nodes = self.objects("/api/v1/nodes");
        let pods = self.objects("/api/v1/pods");
        let attachments = self.objects("/apis/storage.k8s.io/v1/volumeattachments");
        let group = self.group();
        let vms = group.as_ref().and_then(|group| self.resources(&Request::list_machines(group)));
        let nics = group.as_ref().and_then(|group| self.resources(&Request::list_network_interfaces(group)));
        let all = |objects: Vec<Value>| objects.iter().map(read::claim).collect::<Result<_, _>>().ok();
        Seen {
            at: self.now,
            claims: claims.and_then(all),
            nodes: nodes.and_then(|objects| objects.iter().map(read::node).collect::<Result<_, _>>().ok()),
            waiting: pods.as_ref().map(|objects| objects.iter().filter_map(read::waiting).collect()),
            pods: pods.and_then(|objects| {
                let pods = objects.iter().map(read::pod).collect::<Result<Vec<_>, _>>().ok()?;
                let mut pods: Vec<_> = pods.into_iter().flatten().collect();
                pods.sort();
                Some(pods)
            }),
            attached: attachments.and_then(|objects| {
                let nodes = objects.iter().map(read::attachment).collect::<Result<Vec<_>, _>>().ok()?;
                Some(nodes.into_iter().flatten().collect())
            }),
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

    fn objects(&mut self, path: &str) -> Option<Vec<Value>> {
        let answer = self.client.cluster(self.world, self.now, Call::get(path));
        let is_whole = answer.status == 200;
        is_whole.then(|| answer.value()["items"].as_array().cloned().unwrap_or_default())
    }

    /// All pages of a list, or nothing.
    fn resources(&mut self, request: &Request) -> Option<Vec<Value>> {
        let mut target = request.target().replace(' ', "%20");
        let mut items = Vec::new();
        loop {
            let answer = self.client.azure(self.world, self.now, Call::get(&target))?;
            let value = answer.value();
            items.extend(value["value"].as_array().filter(|_| answer.status == 200)?.iter().cloned());
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
