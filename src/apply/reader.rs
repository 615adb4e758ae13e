//! Reads the world for a rollout: lists of the kinds that it touches, each complete or absent.

use crate::arm::answer::{self, Answer, Machine, NetworkInterface};
use crate::arm::{Request, ResourceId};
use crate::azure::Azure;
use crate::cluster::{Cluster, ClusterFailure};
use crate::world::read::ReadFault;
use crate::world::{Listing, Seen, azure};

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

impl Reader {
    /// Reads all lists once, concurrently. Those that failed are absent and reported.
    pub async fn read(&self) -> (Seen, Vec<ReadFailure>) {
        let at = self.cluster.clock().now();
        let (claims, nodes, pods, attached, vms, interfaces) = tokio::join!(
            self.cluster.look(CLAIMS),
            self.cluster.look(NODES),
            self.cluster.look(PODS),
            self.cluster.look(ATTACHMENTS),
            self.resources::<Machine>(Request::list_machines(&self.group)),
            self.resources::<NetworkInterface>(Request::list_network_interfaces(&self.group)),
        );
        let mut failures = Vec::new();
        let mut seen = Seen { at, ..Seen::default() };
        seen.claims = taken(read(claims, Listing::claims), &mut failures);
        seen.nodes = taken(read(nodes, Listing::nodes), &mut failures);
        if let Some(pods) = taken(read(pods, |listing| Ok(listing.pods())), &mut failures) {
            (seen.pods, seen.waiting) = (Some(pods.bound), Some(pods.waiting));
        }
        seen.attached = taken(read(attached, Listing::attached), &mut failures);
        let vms = taken(vms, &mut failures);
        seen.vms = vms.map(|vms| azure::seen_vms(vms.into_iter().map(azure::vm)));
        let interfaces = taken(interfaces, &mut failures);
        seen.interfaces =
            interfaces.map(|found| azure::seen_interfaces(found.into_iter().map(azure::interface)));
        (seen, failures)
    }

    async fn resources<A: Answer>(&self, request: Request) -> Result<Vec<A>, ReadFailure> {
        let items = self.azure.list(&request).await.map_err(|failure| failure.to_string())?;
        let items = items.into_iter().map(answer::read::<A>).collect::<Result<_, _>>();
        items.map_err(|fault| fault.to_string())
    }
}

fn read<T>(
    listing: Result<Listing, ClusterFailure>,
    of: impl Fn(&Listing) -> Result<T, ReadFault>,
) -> Result<T, ReadFailure> {
    of(&listing.map_err(|failure| failure.what)?).map_err(|fault| fault.to_string())
}

fn taken<T>(read: Result<T, ReadFailure>, failures: &mut Vec<ReadFailure>) -> Option<T> {
    read.map_err(|failure| failures.push(failure)).ok()
}
