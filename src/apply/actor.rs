//! Performs one action: one write to Kubernetes or to Azure, through the gate.
//!
//! A write whose answer got lost is not repeated here: the next look at the world says whether it was carried out.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::performed::{of_azure, of_cluster};
use super::token;
use crate::arm::fault::FaultKind;
use crate::arm::{Api, Request, ResourceId};
use crate::azure::{Azure, Permit};
use crate::bootstrap::BootstrapToken;
use crate::cluster::{ClusterFailureKind, Deletion, Eviction, Preconditions, ThisPod, WriteGate, Writer};
use crate::launch::Materials;
use crate::plan::Choice;
use crate::render::requests;
use crate::review::ApprovedPlan;
use crate::rollout::{
    Action, Attempt, Effect, OPERATION_WAIT, Object, ObjectPatch, ObjectRef, Performed, PodRef, TagRef, VmRef,
};

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const NODES: &str = "/api/v1/nodes";

/// How long an eviction waits that a PodDisruptionBudget refuses.
const BLOCKED_WAIT: SignedDuration = SignedDuration::from_secs(5);

/// How long a closed gate is waited for.
const GATE_WAIT: SignedDuration = SignedDuration::from_secs(2);

/// Performs actions.
pub struct Actor {
    plan: Arc<ApprovedPlan>,
    materials: Materials,
    writer: Writer,
    gate: WriteGate,
    azure: Azure,
    token: Mutex<Option<BootstrapToken>>,
}

/// What an action is performed with.
pub struct Means {
    /// Writes to the cluster.
    pub writer: Writer,
    /// Asked before each write to Azure.
    pub gate: WriteGate,
    /// Sends to Azure.
    pub azure: Azure,
    /// What VMs start with.
    pub materials: Materials,
}

impl Actor {
    /// Performs actions of this plan.
    #[must_use]
    pub fn new(plan: Arc<ApprovedPlan>, means: Means) -> Self {
        let Means { writer, gate, azure, materials } = means;
        let asked = gate.clone();
        let permit = Permit::new(move || asked.check().map_err(|closed| closed.to_string()));
        let azure = azure.permitted_by(permit);
        Self { plan, materials, writer, gate, azure, token: Mutex::new(None) }
    }

    /// Performs an action.
    pub async fn perform(&self, action: &Action) -> Performed {
        match &action.effect {
            Effect::CreateClaim(_) => self.create_claim(action).await,
            Effect::CreateToken => self.create_token().await,
            Effect::PutInterface(attempt) => match self.interface(action, attempt) {
                Ok(request) => self.to_its_end(&request, self.choice(action, attempt)).await,
                Err(performed) => performed,
            },
            Effect::CreateVm(attempt) => self.create_vm(action, attempt).await,
            // Only public, government and China clouds have it.
            Effect::PutExtension(_) if !self.azure.cloud().has_billing_extension() => Performed::Done,
            Effect::PutExtension(attempt) => match self.extension(action, attempt) {
                Ok(request) => self.to_its_end(&request, None).await,
                Err(performed) => performed,
            },
            Effect::DeleteVm(vm) => self.delete_vm(vm).await,
            Effect::DeleteInterface(id) => self.delete_interface(id).await,
            Effect::Tag(tag) => self.tag(tag).await,
            Effect::Patch(patch) => self.patch(patch).await,
            Effect::Nominate(pod) => self.nominate(pod).await,
            Effect::Evict(pod) => self.evict(pod).await,
            Effect::DeletePod(pod) => self.delete_pod(pod).await,
            Effect::DeleteObject(object) => self.delete_object(object).await,
            Effect::Record(_) => Performed::Done,
        }
    }

    /// Removes what only the rollout itself needed.
    pub async fn clean(&self) -> Result<(), String> {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner).take();
        match token {
            Some(token) => token::remove(&self.writer, &token).await.map_err(|failure| failure.what),
            None => Ok(()),
        }
    }

    fn create<'a>(&'a self, action: &Action) -> Option<&'a crate::plan::Create> {
        self.plan.spec().changes.get(&action.change)?.change.create()
    }

    fn choice(&self, action: &Action, attempt: &Attempt) -> Option<Choice> {
        let spec = &self.create(action)?.spec;
        Some(self.plan.execution().choices(spec).get(attempt.choice)?.choice.clone())
    }

    fn launch<'a>(&'a self, action: &'a Action, attempt: &Attempt) -> requests::Attempt<'a> {
        requests::Attempt {
            spec: self.plan.spec(),
            plan: self.plan.id(),
            change: &action.change,
            choice: attempt.choice,
            number: attempt.number,
        }
    }

    async fn create_claim(&self, action: &Action) -> Performed {
        let claim = match requests::claim(self.plan.spec(), &action.change, self.plan.id()) {
            Ok(claim) => claim,
            Err(fault) => return not_in_plan(&fault),
        };
        match self.writer.create(CLAIMS, &claim).await {
            Ok(_) => Performed::Done,
            Err(failure) => of_cluster(&failure),
        }
    }

    async fn create_token(&self) -> Performed {
        let token = match token::make() {
            Ok(token) => token,
            Err(because) => return Performed::given_up("NoRandomness", because),
        };
        let performed = token::write(&self.writer, &token, self.plan.id()).await;
        if performed == Performed::Done {
            *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        }
        performed
    }

    fn interface(&self, action: &Action, attempt: &Attempt) -> Result<Request, Performed> {
        requests::nic(&self.launch(action, attempt)).map_err(|fault| not_in_plan(&fault))
    }

    fn extension(&self, action: &Action, attempt: &Attempt) -> Result<Request, Performed> {
        requests::billing(&self.launch(action, attempt)).map_err(|fault| not_in_plan(&fault))
    }

    async fn create_vm(&self, action: &Action, attempt: &Attempt) -> Performed {
        let Some(create) = self.create(action) else {
            return Performed::given_up("NotInPlan", "the plan has no such create");
        };
        let ready = match self.materials.ready(&create.spec, attempt.choice) {
            Ok(ready) => ready,
            Err(why) => return Performed::given_up("Changed", why.to_string()),
        };
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(token) = token else { return Performed::again("the bootstrap token is not made yet") };
        match requests::vm(&self.launch(action, attempt), &requests::Start::of(ready, &token)) {
            Ok(request) => self.to_its_end(&request, self.choice(action, attempt)).await,
            Err(fault) => not_in_plan(&fault),
        }
    }

    /// Sends a write and follows it to its end.
    async fn to_its_end(&self, request: &Request, choice: Option<Choice>) -> Performed {
        self.sent(request, choice.as_ref(), FaultKind::AlreadyExists).await
    }

    /// Sends a write that has nothing to do where the resource is not there.
    async fn if_there(&self, request: &Request) -> Performed {
        self.sent(request, None, FaultKind::NotFound).await
    }

    /// Sends a write, unless the gate is closed, and follows it to its end. A fault of kind `as_wanted` says that the world
    /// is so already: an earlier run did it, or this one whose answer got lost.
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
            Err(failure) => of_azure(&failure, choice, now()),
        }
    }

    /// Deletes a VM, after looking once more whether it is the one that is meant.
    async fn delete_vm(&self, vm: &VmRef) -> Performed {
        let id: ResourceId = match vm.id.parse() {
            Ok(id) => id,
            Err(_) => return Performed::given_up("BadId", format!("`{}` is no id of a VM", vm.id)),
        };
        let found: Option<Value> = match self.azure.get_optional(&Request::read(&id, Api::Compute)).await {
            Ok(found) => found,
            Err(failure) => return of_azure(&failure, None, now()),
        };
        let Some(found) = found else { return Performed::Done };
        let vm_id = found["properties"]["vmId"].as_str();
        if vm.vm_id.is_some() && vm_id != vm.vm_id.as_deref() {
            return Performed::given_up(
                "OtherVm",
                format!("VM `{}` is another than the one that is meant", id.name()),
            );
        }
        self.if_there(&Request::delete_machine(&id)).await
    }

    async fn delete_interface(&self, id: &str) -> Performed {
        match id.parse::<ResourceId>() {
            Ok(id) => self.if_there(&Request::delete_network_interface(&id)).await,
            Err(_) => Performed::given_up("BadId", format!("`{id}` is no id of a NIC")),
        }
    }

    async fn tag(&self, tag: &TagRef) -> Performed {
        match requests::tags(&tag.id, &tag.tags) {
            Ok(request) if tag.may_be_missing => self.if_there(&request).await,
            Ok(request) => self.to_its_end(&request, None).await,
            Err(_) => Performed::given_up("BadId", format!("`{}` is no id of a resource", tag.id)),
        }
    }

    async fn patch(&self, patch: &ObjectPatch) -> Performed {
        let path = path(&patch.object);
        let wrote = match patch.is_status {
            true => self.writer.patch_status(&path, &patch.body).await,
            false => self.writer.merge_patch(&path, &patch.body).await,
        };
        match wrote {
            Ok(_) => Performed::Done,
            Err(failure) => of_cluster(&failure),
        }
    }

    /// Where the API server refuses, the node takes its pods without their being told; where nobody answers, nothing else
    /// of the node goes on either, and it is tried again.
    async fn nominate(&self, pod: &PodRef) -> Performed {
        let path = format!("/api/v1/namespaces/{}/pods/{}", pod.key.namespace, pod.key.name);
        match self.writer.patch_status(&path, &pod.nomination()).await {
            Ok(_) => Performed::Done,
            // It is gone, or another by now: passed over.
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

fn not_in_plan(fault: &requests::RequestFault) -> Performed {
    Performed::given_up("NotInPlan", fault.to_string())
}

fn path(object: &Object) -> String {
    match object {
        Object::Claim(name) => format!("{CLAIMS}/{name}"),
        Object::Node(name) => format!("{NODES}/{name}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "what Azure refuses is refused until a time")]
fn now() -> Timestamp {
    Timestamp::now()
}
