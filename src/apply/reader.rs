//! Reads what a rollout looks at: the lists of the kinds that it touches, each whole or absent.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::arm::answer::{self, Answer, Machine, NetworkInterface};
use crate::arm::{Request, ResourceId, Tags};
use crate::azure::Azure;
use crate::cluster::Cluster;
use crate::rollout::read::{self, ReadFault};
use crate::rollout::seen::{Provisioning, Seen, SeenInterface, SeenPod, SeenVm};

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const NODES: &str = "/api/v1/nodes";
const PODS: &str = "/api/v1/pods";
const ATTACHMENTS: &str = "/apis/storage.k8s.io/v1/volumeattachments";

/// Reads the world.
pub struct Reader {
    /// The cluster.
    pub cluster: Cluster,
    /// Azure.
    pub azure: Azure,
    /// The resource group of the nodes.
    pub group: ResourceId,
}

/// What could not be read, and why.
pub type ReadFailure = String;

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    items: Vec<Value>,
}

impl Reader {
    /// Reads everything once, at once. What failed is absent, and said.
    pub async fn read(&self) -> (Seen, Vec<ReadFailure>) {
        let at = self.cluster.clock().now();
        let (claims, nodes, pods, attached, vms, interfaces) = tokio::join!(
            self.list(CLAIMS, |item| read::claim(item).map(Some)),
            self.list(NODES, |item| read::node(item).map(Some)),
            self.list(PODS, |item| Ok(Some((read::pod_or_stand_in(item), read::waiting(item))))),
            self.list(ATTACHMENTS, read::attachment),
            self.resources(Request::list_machines(&self.group), vm),
            self.resources(Request::list_network_interfaces(&self.group), interface),
        );
        let mut failures = Vec::new();
        let mut seen = Seen { at, ..Seen::default() };
        seen.claims = taken(claims, &mut failures).map(|found| found.into_iter().collect());
        seen.nodes = taken(nodes, &mut failures).map(|found| found.into_iter().collect());
        if let Some(found) = taken(pods, &mut failures) {
            let (bound, waiting): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            let mut bound: Vec<SeenPod> = bound.into_iter().flatten().collect();
            bound.sort();
            (seen.pods, seen.waiting) = (Some(bound), Some(waiting.into_iter().flatten().collect()));
        }
        seen.attached = taken(attached, &mut failures).map(read::attached);
        seen.vms = taken(vms, &mut failures);
        seen.interfaces = taken(interfaces, &mut failures);
        (seen, failures)
    }

    async fn list<T>(
        &self,
        path: &str,
        parse: impl Fn(&Value) -> Result<Option<T>, ReadFault>,
    ) -> Result<Vec<T>, ReadFailure> {
        let listed = self.cluster.list(path, "").await.map_err(|failure| failure.what)?;
        let mut found = Vec::new();
        for page in &listed.pages {
            let page: Page =
                serde_json::from_slice(page).map_err(|error| format!("`GET {path}`: {error}"))?;
            for item in &page.items {
                found.extend(parse(item).map_err(|fault| fault.to_string())?);
            }
        }
        Ok(found)
    }

    async fn resources<A: Answer, T>(
        &self,
        request: Request,
        of: impl Fn(A) -> (Arc<str>, T),
    ) -> Result<BTreeMap<Arc<str>, T>, ReadFailure> {
        let items = self.azure.list(&request).await.map_err(|failure| failure.to_string())?;
        let items = items.into_iter().map(|item| answer::read::<A>(item).map(&of)).collect::<Result<_, _>>();
        items.map_err(|fault| fault.to_string())
    }
}

fn taken<T>(read: Result<T, ReadFailure>, failures: &mut Vec<ReadFailure>) -> Option<T> {
    read.map_err(|failure| failures.push(failure)).ok()
}

fn tags(tags: &Tags) -> BTreeMap<Arc<str>, Arc<str>> {
    tags.as_map().iter().map(|(key, value)| (key.as_str().into(), value.as_str().into())).collect()
}

fn vm(machine: Machine) -> (Arc<str>, SeenVm) {
    let id = machine.id.to_string();
    let seen = SeenVm {
        vm_id: machine.vm_id.as_deref().map(Arc::from),
        state: Provisioning::of(machine.provisioning_state.as_deref()),
        tags: tags(&machine.tags),
        id: id.as_str().into(),
    };
    (id.to_ascii_lowercase().into(), seen)
}

fn interface(nic: NetworkInterface) -> (Arc<str>, SeenInterface) {
    let id = nic.id.to_string();
    let seen = SeenInterface {
        state: Provisioning::of(nic.provisioning_state.as_deref()),
        tags: tags(&nic.tags),
        id: id.as_str().into(),
    };
    (id.to_ascii_lowercase().into(), seen)
}
