//! Performs one action on a world in memory.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::bodies::Made;
use super::client::{Call, Client};
use super::{LOST, Rehearsal, Sent};
use crate::arm::fault::{ErrorBody, Received};
use crate::arm::{Api, Fault, Method, Request, ResourceId, extension};
use crate::bootstrap::BootstrapToken;
use crate::plan::{Choice, Create, mark};
use crate::render::requests;
use crate::rollout::{
    Absent, Action, Attempt, Effect, Object, ObjectPatch, ObjectRef, Performed, PodRef, TagRef, VmRef,
    consequence,
};
use crate::sim::Answer;

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";

/// It was done.
const DONE: Sent = Sent::Ended(Performed::Done);

/// The wait where the world says none.
const RETRY: SignedDuration = SignedDuration::from_secs(5);

fn again(because: impl Into<String>) -> Sent {
    Sent::Ended(Performed::later(RETRY, because))
}

fn given_up(code: &str, because: &str) -> Sent {
    Sent::Ended(Performed::given_up(code, because))
}

impl Rehearsal<'_> {
    pub(super) fn perform(&mut self, action: &Action) -> Sent {
        match &action.effect {
            Effect::CreateClaim(_) => match requests::claim(self.plan.spec(), &action.change, self.plan.id())
            {
                Ok(claim) => self.write(Call::post(CLAIMS, &claim)),
                Err(fault) => given_up("NotInPlan", &fault.to_string()),
            },
            Effect::CreateToken => self.create_token(),
            Effect::PutInterface(attempt) => {
                let id = self.resource("Microsoft.Network/networkInterfaces", &attempt.name);
                self.put(action, attempt, (id, Api::Network, false), |made, _, _| made.interface())
            }
            Effect::CreateVm(attempt) => {
                let id = self.resource("Microsoft.Compute/virtualMachines", &attempt.name);
                self.put(action, attempt, (id, Api::Compute, true), |made, key, data| made.vm(key, data))
            }
            Effect::PutExtension(attempt) => {
                let vm = self.resource("Microsoft.Compute/virtualMachines", &attempt.name);
                let id = extension::billing_id(&vm);
                self.put(action, attempt, (id, Api::Compute, false), |made, _, _| made.extension())
            }
            Effect::DeleteVm(vm) => self.delete_vm(vm),
            Effect::DeleteInterface(nic) => match nic.id.parse() {
                Ok(id) => self.delete_resource(&Request::delete_network_interface(&id)),
                Err(_) => given_up("BadId", &nic.id),
            },
            Effect::Confirm(absent) => self.confirm(absent),
            Effect::Tag(tag) => self.tag(tag),
            Effect::Patch(patch) => self.patch(patch),
            Effect::Nominate(pod) => self.nominate(pod),
            Effect::Evict(pod) => self.evict(pod),
            Effect::DeletePod(pod) => {
                let path = format!("/api/v1/namespaces/{}/pods/{}", pod.key.namespace, pod.key.name);
                self.delete_object(&path, &pod.uid, pod.grace_seconds)
            }
            Effect::DeleteObject(ObjectRef { object, uid }) => self.delete_object(&path(object), uid, None),
            Effect::Record(_) => DONE,
        }
    }

    /// Removes what only the rollout itself needed.
    pub(super) fn clean(&mut self) {
        if let Some(token) = self.token.take() {
            let path = format!("{SECRETS}/{}", token.object_name());
            self.client.cluster(self.world, self.now, Call::delete(&path, None));
        }
    }

    fn resource(&self, kind: &str, name: &str) -> String {
        self.plan.execution().cluster.resource(kind, name)
    }

    /// The request that an action sends to Azure, as far as budgets ask.
    pub(super) fn request(&self, action: &Action) -> Option<Request> {
        const VMS: &str = "Microsoft.Compute/virtualMachines";
        let (method, path) = match &action.effect {
            Effect::PutInterface(attempt) => {
                (Method::Put, self.resource("Microsoft.Network/networkInterfaces", &attempt.name))
            }
            Effect::CreateVm(attempt) => (Method::Put, self.resource(VMS, &attempt.name)),
            Effect::PutExtension(attempt) => {
                let vm = self.resource(VMS, &attempt.name);
                (Method::Put, extension::billing_id(&vm))
            }
            Effect::DeleteVm(vm) => (Method::Delete, vm.id.to_string()),
            Effect::DeleteInterface(nic) => (Method::Delete, nic.id.to_string()),
            Effect::Tag(tag) => return requests::tags(&tag.id, &tag.tags).ok(),
            Effect::CreateClaim(_)
            | Effect::CreateToken
            | Effect::Confirm(_)
            | Effect::Patch(_)
            | Effect::Nominate(_)
            | Effect::Evict(_)
            | Effect::DeletePod(_)
            | Effect::DeleteObject(_)
            | Effect::Record(_) => return None,
        };
        Some(Request { method, path, query: Vec::new(), body: None, only_if_absent: false })
    }

    fn create(&self, action: &Action) -> Option<&Create> {
        self.plan.spec().changes.get(&action.change)?.change.create()
    }

    /// A token of numbers that differ from rollout to rollout: nothing in memory is to be guessed by anybody.
    fn create_token(&mut self) -> Sent {
        let digest = crate::model::Digest::of_bytes(format!("{}{}", self.plan.id(), self.now).as_bytes());
        let Ok(token) = BootstrapToken::from_random(digest.base32(52).repeat(2).as_bytes()) else {
            return given_up("NoRandomness", "too few numbers");
        };
        let labels = BTreeMap::from([(mark::PLAN.to_owned(), self.plan.id().to_owned())]);
        let object = token.object(&labels, self.now).reveal();
        let object: Value = serde_json::from_str(object.reveal()).unwrap_or_default();
        let performed = self.write(Call::post(SECRETS, &object));
        if matches!(performed, Sent::Ended(Performed::Done)) {
            self.token = Some(token);
        }
        performed
    }

    fn put(
        &mut self,
        action: &Action,
        attempt: &Attempt,
        (id, api, only_if_absent): (String, Api, bool),
        body: impl Fn(&Made<'_>, &str, &str) -> Value,
    ) -> Sent {
        let Some(create) = self.create(action) else { return given_up("NotInPlan", "no such create") };
        let (spec, execution) = (create.spec.clone(), self.plan.execution());
        let choice = execution.choices(&spec).get(attempt.choice);
        let machine = choice.and_then(|choice| execution.machines.get(&choice.machine));
        let (Some(choice), Some(machine)) = (choice, machine) else {
            return given_up("NotInPlan", "no such choice");
        };
        let ready = match self.materials.ready(&spec, attempt.choice) {
            Ok(ready) => ready,
            Err(why) => return given_up("Changed", &why.to_string()),
        };
        let custom_data = self.token.as_ref().map(|token| ready.template.custom_data(token));
        let ssh_key = ready.ssh_public_key.clone();
        let own = mark::marks(execution, &action.change, self.plan.id());
        let made = Made { execution, choice, machine, name: &attempt.name, own: &own };
        let body = body(&made, &ssh_key, custom_data.as_ref().map_or("", |data| data.reveal()));
        let target = format!("{id}?api-version={}", api.version());
        let call = Call { only_if_absent, ..Call::put(&target, &body) };
        let bought = choice.choice.clone();
        let answer = self.client.azure(self.world, self.now, call);
        self.begun(answer, Some(&bought))
    }

    /// What follows from the answer to a write: an operation to wait for, or an end.
    fn begun(&self, answer: Option<Answer>, choice: Option<&Choice>) -> Sent {
        let Some(answer) = answer else {
            return again(LOST);
        };
        match answer.status {
            200..=202 => {
                let operation = answer.header("Azure-AsyncOperation").or_else(|| answer.header("Location"));
                operation.map_or(DONE, |link| Sent::Begun(Client::path_of(link)))
            }
            204 => DONE,
            // What is there already was made by an earlier run, or by this one whose answer got lost.
            412 => DONE,
            status => {
                let retry_after_seconds = answer.header("Retry-After").and_then(|text| text.parse().ok());
                let fault = Fault::of_answer(Received { status, retry_after_seconds }, Some(&answer.value()));
                Sent::Ended(self.refused(&fault, choice))
            }
        }
    }

    fn refused(&self, fault: &Fault, choice: Option<&Choice>) -> Performed {
        let because = format!("{} ({}): {}", fault.what(), fault.code, fault.message);
        consequence(fault, &because, choice, self.now)
    }

    /// Returns how an operation ended, if it has.
    pub(super) fn ended(&mut self, action: &Action, operation: &str) -> Option<Performed> {
        let answer = self.client.azure(self.world, self.now, Call::get(operation))?;
        let tried = if let Effect::PutInterface(attempt) | Effect::CreateVm(attempt) = &action.effect {
            Some(attempt.choice)
        } else {
            None
        };
        let choice = tried.and_then(|choice| {
            let spec = &self.create(action)?.spec;
            Some(self.plan.execution().choices(spec).get(choice)?.choice.clone())
        });
        let value = answer.value();
        match (answer.status, value["status"].as_str()) {
            (202, _) | (200, Some("InProgress")) | (429 | 500.., _) => None,
            (200, Some("Succeeded")) | (200, None) | (204, _) => Some(Performed::Done),
            (200, Some(_)) => {
                Some(self.refused(&Fault::of_operation(ErrorBody::of(&value)), choice.as_ref()))
            }
            (404, _) => Some(Performed::later(RETRY, "the operation is not known any more")),
            (status, _) => {
                let received = Received { status, retry_after_seconds: None };
                Some(self.refused(&Fault::of_answer(received, Some(&value)), choice.as_ref()))
            }
        }
    }

    fn delete_vm(&mut self, vm: &VmRef) -> Sent {
        let Ok(id) = vm.id.parse::<ResourceId>() else { return given_up("BadId", &vm.id) };
        let read = Request::read(&id, Api::Compute).target();
        let Some(found) = self.client.azure(self.world, self.now, Call::get(&read)) else {
            return again("the VM could not be read");
        };
        if found.status == 404 {
            return DONE;
        }
        let found = found.value();
        if vm.vm_id.is_some() && found["properties"]["vmId"].as_str() != vm.vm_id.as_deref() {
            return given_up("OtherVm", "the VM is another than the one that is meant");
        }
        self.delete_resource(&Request::delete_machine(&id))
    }

    fn confirm(&mut self, absent: &Absent) -> Sent {
        let found = match absent {
            Absent::Node(name) => {
                let path = format!("/api/v1/nodes/{name}");
                Some(self.client.cluster(self.world, self.now, Call::get(&path)))
            }
            Absent::Vm(id) | Absent::Interface(id) => {
                let Ok(resource) = id.parse::<ResourceId>() else { return given_up("BadId", id) };
                let api = if matches!(absent, Absent::Vm(_)) { Api::Compute } else { Api::Network };
                let read = Request::read(&resource, api).target();
                self.client.azure(self.world, self.now, Call::get(&read))
            }
        };
        match found {
            Some(answer) if answer.status == 404 => DONE,
            _ => again("it exists, and no list shows it"),
        }
    }

    fn delete_resource(&mut self, request: &Request) -> Sent {
        let target = request.target();
        let answer = self.client.azure(self.world, self.now, Call::delete(&target, None));
        match answer {
            Some(answer) if answer.status == 404 => DONE,
            other => self.begun(other, None),
        }
    }

    fn tag(&mut self, tag: &TagRef) -> Sent {
        let Ok(request) = requests::tags(&tag.id, &tag.tags) else { return given_up("BadId", &tag.id) };
        let body = request.body.as_ref().map_or(Value::Null, |body| body.shown().clone());
        let answer = self.client.azure(self.world, self.now, Call::patch(&request.target(), &body));
        match answer {
            Some(answer) if answer.status == 404 && tag.may_be_missing => DONE,
            other => self.begun(other, None),
        }
    }

    fn patch(&mut self, patch: &ObjectPatch) -> Sent {
        let path = path(&patch.object);
        let path = if patch.is_status { format!("{path}/status") } else { path };
        self.write(Call::patch(&path, &patch.body))
    }

    fn nominate(&mut self, pod: &PodRef) -> Sent {
        let path = format!("/api/v1/namespaces/{}/pods/{}/status", pod.key.namespace, pod.key.name);
        match self.write(Call::patch(&path, &pod.nomination())) {
            // It is gone, or another by now.
            Sent::Ended(Performed::Again { because, .. }) => given_up("PodChanged", &because),
            sent @ (Sent::Ended(Performed::Done | Performed::Failed { .. }) | Sent::Begun(_)) => sent,
        }
    }

    fn evict(&mut self, pod: &PodRef) -> Sent {
        let (namespace, name) = (&pod.key.namespace, &pod.key.name);
        let target = format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction");
        let body = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": {"preconditions": {"uid": pod.uid}},
        });
        self.write(Call::post(&target, &body))
    }

    fn delete_object(&mut self, path: &str, uid: &str, grace: Option<i64>) -> Sent {
        let mut body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}});
        if let Some(grace) = grace {
            body["gracePeriodSeconds"] = json!(grace);
        }
        self.write(Call::delete(path, Some(&body)))
    }

    /// Writes to the API server. What is gone, or another by now, needs no more.
    fn write(&mut self, call: Call<'_>) -> Sent {
        let answer = self.client.cluster(self.world, self.now, call);
        let said = answer.value();
        // Of a PodDisruptionBudget the cause says which it is.
        let cause = said["details"]["causes"][0]["message"].as_str();
        let message = cause.or(said["message"].as_str()).unwrap_or_default().to_owned();
        match answer.status {
            200..=299 => DONE,
            404 | 409 if call.method == "DELETE" || call.target.ends_with("/eviction") => DONE,
            409 => Sent::Ended(Performed::again(message)),
            429 | 500.. => again(message),
            404 => again(message),
            403 => given_up("Forbidden", &message),
            _ => given_up("Invalid", &message),
        }
    }
}

fn path(object: &Object) -> String {
    match object {
        Object::Claim(name) => format!("{CLAIMS}/{name}"),
        Object::Node(name) => format!("/api/v1/nodes/{name}"),
    }
}
