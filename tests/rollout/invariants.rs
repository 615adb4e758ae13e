//! What must hold at each step of a rollout, whatever goes wrong.

use std::collections::BTreeSet;

use jiff::Timestamp;
use nodeform::plan::{Change, ChangeId};
use nodeform::review::ApprovedPlan;
use nodeform::rollout::{Effect, Event, Object, Seen};

/// Looks at each step.
pub(crate) struct Watch<'p> {
    plan: &'p ApprovedPlan,
    evicted: BTreeSet<String>,
}

impl<'p> Watch<'p> {
    pub(crate) fn new(plan: &'p ApprovedPlan) -> Self {
        Self { plan, evicted: BTreeSet::new() }
    }

    /// Looks at what begins in a world as it was seen.
    pub(crate) fn look(&mut self, _: Timestamp, event: &Event, seen: &Seen) {
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
                let id = self
                    .plan
                    .execution()
                    .cluster
                    .resource("Microsoft.Compute/virtualMachines", &attempt.name);
                let vms = seen.vms.as_ref().expect("nothing is made on a list that was not read");
                assert!(!vms.contains_key(id.to_lowercase().as_str()), "a VM is made once: {id}");
            }
            (Effect::Nominate(pod), Change::Create(_)) => {
                let node = &seen.nodes.as_ref().expect("it was read")[&pod.node];
                let is_new = node.taints.iter().any(|taint| &*taint.key == "karpenter.sh/unregistered");
                assert!(is_new, "pods are told before their node takes any");
                assert_eq!(seen.waiting.as_ref().expect("it was read").get(&pod.key), Some(&pod.uid));
            }
            (Effect::DeleteVm(vm), Change::Create(_)) => self.is_own(&vm.id, &action.change, seen),
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
                self.waits_for_creates(&action.change, seen);
                self.evicted.insert(pod.uid.to_string());
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
                let wanted: Vec<_> =
                    update.labels.iter().map(|(key, it)| (key.to_string(), it.new.clone())).collect();
                let labels = patch.body["metadata"]["labels"].as_object().expect("labels and no more").iter();
                assert!(labels.map(|(key, it)| (key.clone(), it.as_str().map(Into::into))).eq(wanted));
            }
            (Effect::Record(_), Change::Update(_)) => {}
            (_, Change::Create(_) | Change::Delete(_)) => {}
            other => panic!("{other:?} is carried out"),
        }
    }

    /// A VM that is deleted as failed carries the tags of its change, and its Node has not registered.
    fn is_own(&self, id: &str, change: &ChangeId, seen: &Seen) {
        let vm = &seen.vms.as_ref().expect("it was read")[id.to_lowercase().as_str()];
        assert_eq!(vm.tags.get("nodeform.dev_item").map(|item| &**item), Some(&*change.0));
        let nodes = seen.nodes.as_ref().expect("it was read").values();
        let of_it = |provider: &str| provider.to_lowercase().ends_with(&id.to_lowercase());
        let registered = nodes
            .filter(|node| node.provider_id.as_deref().is_some_and(of_it))
            .any(|node| node.labels.get("karpenter.sh/registered").is_some_and(|value| &**value == "true"));
        assert!(!registered, "a node that registered is not deleted as failed: {id}");
    }

    /// No pod is evicted before the nodes are Ready that take it.
    fn waits_for_creates(&self, change: &ChangeId, seen: &Seen) {
        for create in &self.plan.execution().removals[change].after {
            let Some(Change::Create(create)) =
                self.plan.spec().changes.get(create).map(|planned| &planned.change)
            else {
                panic!("a removal waits for a create of its plan");
            };
            let claim =
                seen.claims.as_ref().expect("it was read").get(&create.claim).expect("it was made first");
            assert!(claim.is("Initialized"), "drained before {} is initialized", create.claim);
        }
    }
}
