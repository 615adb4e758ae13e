//! Performs actions that need no plan: reads, writes and deletions of existing resources, each through the gate.
//!
//! Must never delete a resource that is not known to be this cluster's, nor repeat a write whose answer was lost: the
//! next read shows whether it was applied.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::performed::{GATE_WAIT, of_azure, of_cluster};
use crate::arm::fault::FaultKind;
use crate::arm::{Api, Request, ResourceId};
use crate::azure::{Azure, Permit};
use crate::cluster::{ClusterFailureKind, Deletion, Eviction, Preconditions, ThisPod, WriteGate, Writer};
use crate::model::NodeName;
use crate::plan::execution::ClusterIdentity;
use crate::plan::{ChangeId, Choice};
use crate::render::requests;
use crate::rollout::{
    Absent, Effect, InterfaceRef, OPERATION_WAIT, Object, ObjectPatch, ObjectRef, Performed, PodRef, TagRef,
    VmRef, foreign,
};
use crate::world::Listing;

pub(super) const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const NODES: &str = "/api/v1/nodes";

/// Delay before an eviction that a PodDisruptionBudget blocks is retried.
const BLOCKED_WAIT: SignedDuration = SignedDuration::from_secs(5);

/// How long to wait for a list to show an existing resource.
const LISTED_WAIT: SignedDuration = SignedDuration::from_secs(5);

/// Performs actions that need no plan.
pub struct Hand {
    pub(super) writer: Writer,
    gate: WriteGate,
    pub(super) azure: Azure,
    /// The cluster whose resources may be deleted.
    cluster: Arc<ClusterIdentity>,
}

impl Hand {
    /// Returns a hand that writes through this gate, for this cluster.
    #[must_use]
    pub fn new((writer, gate): (Writer, WriteGate), azure: &Azure, cluster: Arc<ClusterIdentity>) -> Self {
        let asked = gate.clone();
        let permit = Permit::new(move || asked.check().map_err(|closed| closed.to_string()));
        Self { writer, gate, azure: azure.permitted_by(permit), cluster }
    }

    /// Returns the time by which failures are classified.
    pub(super) fn now(&self) -> Timestamp {
        self.writer.cluster().clock().now()
    }

    /// Performs an effect. Effects that need the plan's description fail: see `Actor`.
    pub async fn perform(&self, effect: &Effect) -> Performed {
        match effect {
            Effect::DeleteVm(vm) => self.delete_vm(vm).await,
            Effect::DeleteInterface(nic) => self.delete_interface(nic).await,
            Effect::Confirm(absent) => self.confirm(absent).await,
            Effect::Tag(tag) => self.tag(tag).await,
            Effect::Patch(patch) => self.patch(patch).await,
            Effect::Nominate(pod) => self.nominate(pod).await,
            Effect::Evict(pod) => self.evict(pod).await,
            Effect::DeletePod(pod) => self.delete_pod(pod).await,
            Effect::DeleteObject(object) => self.delete_object(object).await,
            Effect::Record(_) => Performed::Done,
            Effect::CreateClaim(_)
            | Effect::CreateToken
            | Effect::DeleteToken(_)
            | Effect::PutInterface(_)
            | Effect::CreateVm(_)
            | Effect::PutExtension(_) => Performed::given_up("NotInPlan", "no plan describes what to create"),
        }
    }

    /// Sends a write and follows it to its end.
    pub(super) async fn to_its_end(&self, request: &Request, choice: Option<Choice>) -> Performed {
        self.sent(request, choice.as_ref(), FaultKind::AlreadyExists).await
    }

    /// Sends a write that succeeds without effect if the resource does not exist.
    async fn if_there(&self, request: &Request) -> Performed {
        self.sent(request, None, FaultKind::NotFound).await
    }

    /// Sends a write, unless the gate is closed, and follows it to its end. A fault of kind `as_wanted` means that the
    /// desired state already exists: an earlier run created it, or this one did and the answer was lost.
    async fn sent(&self, request: &Request, choice: Option<&Choice>, as_wanted: FaultKind) -> Performed {
        if let Err(closed) = self.gate.check() {
            return Performed::later(GATE_WAIT, closed.to_string());
        }
        let ended = async {
            let operation = self.azure.begin(request).await?;
            self.azure.finish(&operation, OPERATION_WAIT.unsigned_abs()).await
        };
        match ended.await {
            Ok(_) => Performed::Done,
            Err(failure) if failure.fault().is_some_and(|fault| fault.kind == as_wanted) => Performed::Done,
            Err(failure) => of_azure(&failure, choice, self.now()),
        }
    }

    /// Creates a network interface unless one of its name exists; Azure has no condition for that. An existing one that
    /// was created for this change counts as done, as after a lost answer.
    pub(super) async fn put_interface(
        &self,
        change: &ChangeId,
        request: &Request,
        choice: Option<Choice>,
    ) -> Performed {
        let id: ResourceId = match request.path.parse() {
            Ok(id) => id,
            Err(_) => return Performed::given_up("BadId", format!("`{}` is no id of a NIC", request.path)),
        };
        match self.owned(&id, Api::Network, Some(change)).await {
            Ok(None) => self.to_its_end(request, choice).await,
            Ok(Some(_)) => Performed::Done,
            Err(performed) => performed,
        }
    }

    /// Reads a resource before it is created or deleted; fails if it is not this cluster's. `change` is the change that
    /// it must have been created for.
    async fn owned(
        &self,
        id: &ResourceId,
        api: Api,
        change: Option<&ChangeId>,
    ) -> Result<Option<Value>, Performed> {
        let found = self.azure.get_optional(&Request::read(id, api)).await;
        let Some(found) = found.map_err(|failure| of_azure(&failure, None, self.now()))? else {
            return Ok(None);
        };
        let tags = found["tags"].as_object().into_iter().flatten();
        let tags = tags.filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into())));
        match foreign(&tags.collect(), &self.cluster, change) {
            None => Ok(Some(found)),
            Some(why) => Err(Performed::given_up(
                "NotOurs",
                format!("`{}` is not known to be this cluster's, and is kept: {why}", id.name()),
            )),
        }
    }

    /// Deletes a VM, after checking again that it is the planned one and that its node is drained.
    async fn delete_vm(&self, vm: &VmRef) -> Performed {
        let id: ResourceId = match vm.id.parse() {
            Ok(id) => id,
            Err(_) => return Performed::given_up("BadId", format!("`{}` is no id of a VM", vm.id)),
        };
        let found = match self.owned(&id, Api::Compute, vm.made_for.as_ref()).await {
            Ok(Some(found)) => found,
            Ok(None) => return Performed::Done,
            Err(performed) => return performed,
        };
        let vm_id = found["properties"]["vmId"].as_str();
        if vm.vm_id.is_some() && vm_id != vm.vm_id.as_deref() {
            return Performed::given_up("OtherVm", format!("VM `{}` is not the planned one", id.name()));
        }
        if let Some(node) = &vm.drained
            && let Some(performed) = self.has_pods(node).await
        {
            return performed;
        }
        self.if_there(&Request::delete_machine(&id)).await
    }

    /// Lists the pods of a node by its name: an incomplete list would let its VM be deleted undrained.
    async fn has_pods(&self, node: &NodeName) -> Option<Performed> {
        let query = format!("fieldSelector=spec.nodeName%3D{node}");
        let listed = match self.writer.cluster().list("/api/v1/pods", &query).await {
            Ok(listed) => listed,
            Err(failure) => return Some(of_cluster(&failure)),
        };
        let listing = match Listing::of(&listed.pages) {
            Ok(listing) => listing,
            Err(fault) => return Some(Performed::again(format!("pods of node `{node}`: {fault}"))),
        };
        let pods = listing.pods().bound;
        let mut left = pods.iter().filter(|pod| pod.is_drained() && pod.gone_by.is_none());
        left.next().map(|pod| Performed::again(format!("pod `{}` is on node `{node}`", pod.key)))
    }

    async fn delete_interface(&self, nic: &InterfaceRef) -> Performed {
        let Ok(id) = nic.id.parse::<ResourceId>() else {
            return Performed::given_up("BadId", format!("`{}` is no id of a NIC", nic.id));
        };
        match self.owned(&id, Api::Network, nic.made_for.as_ref()).await {
            Ok(Some(_)) => self.if_there(&Request::delete_network_interface(&id)).await,
            Ok(None) => Performed::Done,
            Err(performed) => performed,
        }
    }

    /// Reads an object by its id; done if it does not exist.
    async fn confirm(&self, absent: &Absent) -> Performed {
        let is_there = match absent {
            Absent::Vm(id) => self.is_there(id, Api::Compute).await,
            Absent::Interface(id) => self.is_there(id, Api::Network).await,
            Absent::Node(name) => {
                let found = self.writer.cluster().get_optional(&format!("{NODES}/{name}")).await;
                found.map(|found| found.is_some()).map_err(|failure| of_cluster(&failure))
            }
        };
        match is_there {
            Ok(false) => Performed::Done,
            Ok(true) => {
                Performed::later(LISTED_WAIT, format!("{absent} exists, but is missing from Azure's list"))
            }
            Err(performed) => performed,
        }
    }

    async fn is_there(&self, id: &str, api: Api) -> Result<bool, Performed> {
        let Ok(id) = id.parse::<ResourceId>() else {
            return Err(Performed::given_up("BadId", format!("`{id}` is no id of a resource")));
        };
        let found = self.azure.get_optional(&Request::read(&id, api)).await;
        found.map(|found| found.is_some()).map_err(|failure| of_azure(&failure, None, self.now()))
    }

    async fn tag(&self, tag: &TagRef) -> Performed {
        match requests::tags(&tag.id, &tag.tags) {
            Ok(request) if tag.may_be_missing => self.if_there(&request).await,
            Ok(request) => self.to_its_end(&request, None).await,
            Err(_) => Performed::given_up("BadId", format!("`{}` is no id of a resource", tag.id)),
        }
    }

    async fn patch(&self, patch: &ObjectPatch) -> Performed {
        let object = path(&patch.object);
        let path = if patch.is_status { format!("{object}/status") } else { object };
        match self.writer.json_patch(&path, patch.operations.as_slice()).await {
            Ok(_) => Performed::Done,
            Err(failure) => of_cluster(&failure),
        }
    }

    /// Nominates the node for a pod. If the API server refuses, the node gets its pods without nomination; if it does
    /// not answer, nothing else of the node proceeds either, and the nomination is retried.
    async fn nominate(&self, pod: &PodRef) -> Performed {
        let path = format!("/api/v1/namespaces/{}/pods/{}", pod.key.namespace, pod.key.name);
        match self.writer.patch_status(&path, &pod.nomination()).await {
            Ok(_) => Performed::Done,
            // The pod was deleted or replaced: skipped.
            Err(failure)
                if matches!(failure.kind, ClusterFailureKind::NotFound | ClusterFailureKind::Conflict) =>
            {
                Performed::Done
            }
            Err(failure) => of_cluster(&failure),
        }
    }

    async fn evict(&self, pod: &PodRef) -> Performed {
        let this = ThisPod { namespace: pod.key.namespace.as_str(), name: &pod.key.name, uid: &pod.uid };
        match self.writer.evict(this, None).await {
            Ok(Eviction::Accepted | Eviction::Gone) => Performed::Done,
            Ok(Eviction::Blocked { budget, why }) => {
                let because = budget.map_or(why, |budget| {
                    format!(
                        "PodDisruptionBudget `{}/{budget}` allows no more disruptions now",
                        pod.key.namespace
                    )
                });
                Performed::later(BLOCKED_WAIT, because)
            }
            Err(failure) => of_cluster(&failure),
        }
    }

    async fn delete_pod(&self, pod: &PodRef) -> Performed {
        let path = format!("/api/v1/namespaces/{}/pods/{}", pod.key.namespace, pod.key.name);
        let grace = pod.grace_seconds.and_then(|seconds| u32::try_from(seconds).ok());
        self.delete(&path, &pod.uid, grace).await
    }

    async fn delete_object(&self, object: &ObjectRef) -> Performed {
        self.delete(&path(&object.object), &object.uid, None).await
    }

    async fn delete(&self, path: &str, uid: &str, grace: Option<u32>) -> Performed {
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        match self.writer.delete(path, &preconditions, grace).await {
            Ok(Deletion::Accepted | Deletion::Gone) => Performed::Done,
            Err(failure) => of_cluster(&failure),
        }
    }
}

fn path(object: &Object) -> String {
    match object {
        Object::Claim(name) => format!("{CLAIMS}/{name}"),
        Object::Node(name) => format!("{NODES}/{name}"),
    }
}
