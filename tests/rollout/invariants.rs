//! What must hold at each step of a rollout, whatever goes wrong.

use nodeform::azure_sim::InMemory;
use nodeform::plan::{Change, ChangeId};
use nodeform::review::ApprovedPlan;
use nodeform::rollout::action::patch::LABELS;
use nodeform::rollout::{Effect, Event, Object};
use nodeform::sim::World;
use serde_json::{Value, json};

use crate::stage::asked;

/// Looks at each step, at the world itself and not at what a process has read of it.
pub(crate) struct Watch<'p> {
    plan: &'p ApprovedPlan,
    memory: &'p InMemory,
}

impl<'p> Watch<'p> {
    pub(crate) const fn new(plan: &'p ApprovedPlan, memory: &'p InMemory) -> Self {
        Self { plan, memory }
    }

    /// An object of the cluster; null where it is not there.
    fn object(&self, path: &str) -> Value {
        let (status, object) = asked(self.memory, "GET", path, &Value::Null);
        if status == 200 { object } else { Value::Null }
    }

    /// A VM of Azure, by its name, in brief.
    fn vm(&self, name: &str) -> Option<Value> {
        let state = self.memory.seen(World::state);
        state["virtualMachines"].as_array()?.iter().find(|vm| vm["name"] == name).cloned()
    }

    /// Looks at what begins in the world.
    pub(crate) fn look(&self, event: &Event) {
        let Event::Began(action) = event else { return };
        let change = &self
            .plan
            .spec()
            .changes
            .get(&action.change)
            .expect("every effect is of an approved change")
            .change;
        match (&action.effect, change) {
            (Effect::CreateVm(attempt), Change::Create(create)) => {
                assert!(
                    attempt.name.starts_with(&*create.vm),
                    "a VM is named after its claim: {}",
                    attempt.name
                );
                assert_eq!(self.vm(&attempt.name), None, "a VM is made once");
            }
            (Effect::Nominate(pod), Change::Create(_)) => {
                let node = self.object(&format!("/api/v1/nodes/{}", pod.node));
                let mut taints = node["spec"]["taints"].as_array().into_iter().flatten();
                let is_new = taints.any(|taint| taint["key"] == "karpenter.sh/unregistered");
                assert!(is_new, "pods are told before their node takes any");
                let path = format!("/api/v1/namespaces/{}/pods/{}", pod.key.namespace, pod.key.name);
                let waits = self.object(&path);
                assert_eq!(
                    (&waits["metadata"]["uid"], &waits["spec"]["nodeName"]),
                    (&json!(*pod.uid), &Value::Null)
                );
            }
            (Effect::DeleteVm(vm), Change::Create(_)) => self.is_own(&vm.id, &action.change),
            (Effect::DeleteVm(vm), Change::Delete(_)) => {
                let planned =
                    self.plan.execution().nodes.get(&action.change).expect("the plan says which VM");
                assert_eq!(vm.vm_id, planned.vm_id, "only the VM goes that was approved");
            }
            (Effect::Evict(pod) | Effect::DeletePod(pod), Change::Delete(delete)) => {
                assert_eq!(
                    pod.node, delete.target.node,
                    "pods of the node that goes are evicted, and no others"
                );
                self.waits_for_creates(&action.change);
            }
            (Effect::Tag(tag), Change::Update(update)) => {
                let planned = &self.plan.execution().nodes[&action.change];
                let vm = planned.vm.as_deref().expect("the plan says which VM");
                let is_of_node = tag.id.starts_with(vm)
                    || planned.interfaces.contains(&tag.id)
                    || planned.os_disk.as_ref() == Some(&tag.id);
                assert!(is_of_node, "tags are set on what the node has alone: {}", tag.id);
                let wanted = update.tags.iter().map(|(name, it)| (name, it.new.as_ref()));
                assert!(wanted.eq(tag.tags.iter().map(|(name, value)| (name, Some(value)))));
            }
            (Effect::Patch(patch), Change::Update(update)) => {
                assert_eq!(patch.object, Object::Node(update.target.node.clone()));
                let set = patch.operations.as_slice().iter().filter(|operation| operation["op"] != "test");
                let set: Vec<&str> = set.filter_map(|operation| operation["path"].as_str()).collect();
                assert!(set.iter().all(|path| path.starts_with(LABELS)), "labels and no more: {set:?}");
                for (key, label) in &update.labels {
                    let is_set = patch.operations.entry(LABELS, key.as_str());
                    assert!(is_set.is_none() || is_set == label.new.as_deref(), "{key}: {set:?}");
                }
            }
            (Effect::Record(_), Change::Update(_)) => {}
            (_, Change::Create(_) | Change::Delete(_)) => {}
            other => panic!("{other:?} is carried out"),
        }
    }

    /// A VM that is deleted as failed carries the tags of its change, and its Node has not registered.
    fn is_own(&self, id: &str, change: &ChangeId) {
        let name = id.rsplit('/').next().expect("an id ends with a name");
        let Some(vm) = self.vm(name) else { return };
        assert_eq!(vm["tags"]["nodeform.dev_item"], *change.0);
        let nodes = self.object("/api/v1/nodes");
        let of_it = |node: &&Value| {
            let provider = node["spec"]["providerID"].as_str().unwrap_or_default();
            provider.to_lowercase().ends_with(&id.to_lowercase())
        };
        let mut of_it = nodes["items"].as_array().into_iter().flatten().filter(of_it);
        let registered = of_it.any(|node| node["metadata"]["labels"]["karpenter.sh/registered"] == "true");
        assert!(!registered, "a node that registered is not deleted as failed: {id}");
    }

    /// No pod is evicted before the nodes are Ready that take it.
    fn waits_for_creates(&self, change: &ChangeId) {
        for create in &self.plan.execution().removals[change].after {
            let Some(Change::Create(create)) =
                self.plan.spec().changes.get(create).map(|planned| &planned.change)
            else {
                panic!("a removal waits for a create of its plan");
            };
            let claim = self.object(&format!("/apis/karpenter.sh/v1/nodeclaims/{}", create.claim));
            let mut conditions = claim["status"]["conditions"].as_array().into_iter().flatten();
            let is_so = conditions.any(|it| it["type"] == "Initialized" && it["status"] == "True");
            assert!(is_so, "drained before {} is initialized", create.claim);
        }
    }
}
