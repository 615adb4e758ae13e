//! What a rollout in memory sees: the objects of its cluster as they are stored, and Azure's resources as it lists them,
//! since lists go wrong by script.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::Rehearsal;
use super::client::{Call, Client};
use crate::arm::{Request, ResourceId};
use crate::model::{ClaimName, NodeName};
use crate::rollout::read::{self, ReadFault};
use crate::rollout::seen::{Provisioning, Seen, SeenClaim, SeenInterface, SeenNode, SeenPod, SeenVm};

/// What was read of the cluster's objects at the last look.
#[derive(Debug, Default)]
pub(super) struct LastLook {
    claims: OfKind<(ClaimName, SeenClaim)>,
    nodes: OfKind<(NodeName, SeenNode)>,
    pods: OfKind<Option<SeenPod>>,
    attached: OfKind<Option<NodeName>>,
}

/// What was read of the objects of a kind, by where they are in memory. An object is never changed where it is as long
/// as somebody holds it.
#[derive(Debug)]
struct OfKind<T>(BTreeMap<usize, (Arc<Value>, T)>);

impl<T> Default for OfKind<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Clone> OfKind<T> {
    /// Reads objects, those alone that are not as they were; nothing where one of them cannot be read.
    fn read(
        &mut self,
        objects: Option<Vec<Arc<Value>>>,
        read: impl Fn(&Value) -> Result<T, ReadFault>,
    ) -> Option<Vec<T>> {
        let mut before = std::mem::take(&mut self.0);
        let mut seen = Vec::new();
        for object in objects? {
            let place = Arc::as_ptr(&object).addr();
            let (object, found) = match before.remove(&place) {
                Some(found) => found,
                None => {
                    let found = read(&object).ok()?;
                    (object, found)
                }
            };
            seen.push(found.clone());
            self.0.insert(place, (object, found));
        }
        Some(seen)
    }
}

impl Rehearsal<'_> {
    /// Looks at the world.
    pub(super) fn look(&mut self) -> Seen {
        self.world.advance(self.now);
        let group = self.group();
        let vms = group.as_ref().and_then(|group| self.resources(&Request::list_machines(group)));
        let nics = group.as_ref().and_then(|group| self.resources(&Request::list_network_interfaces(group)));
        let of_kind = |kind| self.world.objects(kind);
        let pods = of_kind("Pod");
        let before = &mut self.last_look;
        Seen {
            at: self.now,
            claims: before
                .claims
                .read(of_kind("NodeClaim"), read::claim)
                .map(|claims| claims.into_iter().collect()),
            nodes: before.nodes.read(of_kind("Node"), read::node).map(|nodes| nodes.into_iter().collect()),
            waiting: pods
                .as_ref()
                .map(|objects| objects.iter().filter_map(|pod| read::waiting(pod)).collect()),
            pods: before.pods.read(pods, read::pod).map(|pods| {
                let mut pods: Vec<_> = pods.into_iter().flatten().collect();
                pods.sort();
                pods
            }),
            attached: before
                .attached
                .read(of_kind("VolumeAttachment"), read::attachment)
                .map(|nodes| nodes.into_iter().flatten().collect()),
            vms: vms.map(|items| items.into_iter().map(Resource::vm).collect()),
            interfaces: nics.map(|items| items.into_iter().map(Resource::interface).collect()),
        }
    }

    /// The resource group of the nodes.
    pub(super) fn group(&self) -> Option<ResourceId> {
        let cluster = &self.plan.execution().cluster;
        let id: ResourceId = cluster.id.parse().ok()?;
        ResourceId::of_group(id.subscription(), &cluster.node_resource_group).ok()
    }

    /// All pages of a list, or nothing.
    fn resources(&mut self, request: &Request) -> Option<Vec<Resource>> {
        let mut target = request.target().replace(' ', "%20");
        let mut items = Vec::new();
        loop {
            let answer = self.client.azure(self.world, self.now, Call::get(&target))?;
            let page: Page = serde_json::from_slice(&answer.body).ok().filter(|_| answer.status == 200)?;
            items.extend(page.value);
            match page.next_link {
                Some(link) => target = Client::path_of(&link),
                None => return Some(items),
            }
        }
    }
}

/// A page of a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    value: Vec<Resource>,
    next_link: Option<String>,
}

/// A VM or a network interface, with what a rollout looks at.
#[derive(Deserialize)]
struct Resource {
    id: String,
    tags: Option<BTreeMap<String, String>>,
    properties: Properties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    vm_id: Option<String>,
    provisioning_state: Option<String>,
}

impl Resource {
    fn tags(tags: Option<BTreeMap<String, String>>) -> BTreeMap<Arc<str>, Arc<str>> {
        tags.into_iter().flatten().map(|(key, value)| (key.into(), value.into())).collect()
    }

    fn vm(self) -> (Arc<str>, SeenVm) {
        let seen = SeenVm {
            id: self.id.as_str().into(),
            vm_id: self.properties.vm_id.map(Arc::from),
            state: Provisioning::of(self.properties.provisioning_state.as_deref()),
            tags: Self::tags(self.tags),
        };
        (self.id.to_ascii_lowercase().into(), seen)
    }

    fn interface(self) -> (Arc<str>, SeenInterface) {
        let seen = SeenInterface {
            id: self.id.as_str().into(),
            state: Provisioning::of(self.properties.provisioning_state.as_deref()),
            tags: Self::tags(self.tags),
        };
        (self.id.to_ascii_lowercase().into(), seen)
    }
}
