//! The cluster that a round plays in: what is created in it, and how it is emptied for the next.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::documents::namespace_of;
use super::http::{Answer, Api};
use super::stories::Planned;
use super::{storage, wire};

/// Between two looks at the pods.
pub(crate) const POLL: Duration = Duration::from_millis(30);

/// The longest that the scheduler may take to see a node, on a machine that is busy with other things.
const SEEN_WAIT_MAX: Duration = Duration::from_secs(60);

/// Marks a node for one pod: once that is bound, the scheduler has seen everything that was created before.
const LAST: &str = "nodeform.test/last";

/// What every cluster has.
const PRESENT: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// A cluster that is filled and emptied again.
pub(crate) struct Stage<'a> {
    pub(crate) api: &'a Api,
    filled: RefCell<BTreeSet<String>>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(api: &'a Api) -> Self {
        Self { api, filled: RefCell::default() }
    }

    /// Creates an object in a collection.
    pub(crate) fn create(&self, collection: &str, object: &Value) -> Answer {
        self.filled.borrow_mut().insert(collection.to_owned());
        self.api.create(collection, object)
    }

    /// Creates an object that nothing speaks against.
    fn must_create(&self, collection: &str, object: &Value) {
        let answer = self.create(collection, object);
        assert!(answer.is_done(), "{}\n{object}", answer.why());
    }

    /// Creates an object of the input, with nothing but its content.
    fn written(&self, collection: &str, object: &Value) {
        let mut object = object.clone();
        let metadata = &object["metadata"];
        let kept = ["name", "labels", "annotations"].map(|key| (key.to_owned(), metadata[key].clone()));
        object["metadata"] = Value::Object(kept.into_iter().filter(|(_, value)| !value.is_null()).collect());
        if let Some(fields) = object.as_object_mut() {
            fields.remove("status");
        }
        self.must_create(collection, &object);
    }

    /// Empties the cluster.
    pub(crate) fn clear(&self) {
        let filled = std::mem::take(&mut *self.filled.borrow_mut());
        for collection in filled {
            self.api.delete_all(&collection);
        }
    }

    /// Gives the namespaces of a world their labels.
    pub(crate) fn name_spaces(&self, planned: &Planned) {
        let mut namespaces: BTreeMap<String, Value> =
            PRESENT.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        for pod in &planned.after.pods {
            namespaces.entry(pod.key.namespace.as_str().to_owned()).or_insert(json!({}));
        }
        for kind in ["LimitRange", "PersistentVolumeClaim"] {
            for object in planned.documents.of_kind(kind) {
                namespaces.entry(namespace_of(object).to_owned()).or_insert(json!({}));
            }
        }
        for object in planned.documents.of_kind("Namespace") {
            let name = object["metadata"]["name"].as_str().expect("a namespace has a name");
            namespaces.insert(name.to_owned(), object["metadata"]["labels"].clone());
        }
        for (name, labels) in namespaces {
            let metadata = json!({"name": name, "labels": labels});
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
            if self.api.create("/api/v1/namespaces", &object).status == 409 {
                self.api.replace(&format!("/api/v1/namespaces/{name}"), &object);
            }
        }
    }

    /// Creates everything of a world but its pods.
    pub(crate) fn furnish(&self, planned: &Planned) {
        for object in planned.documents.of_kind("LimitRange") {
            self.written(&format!("/api/v1/namespaces/{}/limitranges", namespace_of(object)), object);
        }
        for object in planned.documents.of_kind("RuntimeClass") {
            self.written("/apis/node.k8s.io/v1/runtimeclasses", object);
        }
        for class in storage::classes(planned) {
            self.written("/apis/storage.k8s.io/v1/storageclasses", &class);
        }
        for volume in storage::volumes(planned) {
            self.written("/api/v1/persistentvolumes", &volume);
        }
        for claim in storage::claims(planned) {
            let collection = format!("/api/v1/namespaces/{}/persistentvolumeclaims", namespace_of(&claim));
            self.written(&collection, &claim);
        }
        storage::bind_claims(self);
        for object in planned.documents.of_kind("CSINode") {
            self.written("/apis/storage.k8s.io/v1/csinodes", object);
        }
        for node in &planned.after.nodes {
            self.must_create("/api/v1/nodes", &wire::node(node));
        }
    }

    /// Returns when the scheduler has seen what was created so far.
    pub(crate) fn seen(&self) {
        let amount = json!({"cpu": "1", "memory": "1Gi", "pods": "1"});
        let taints = json!([{"key": LAST, "value": "", "effect": "NoSchedule"}]);
        let node = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "last", "labels": {LAST: "true"}},
            "spec": {"taints": taints}, "status": {"capacity": amount, "allocatable": amount},
        });
        self.must_create("/api/v1/nodes", &node);
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "last", "namespace": "kube-public"},
            "spec": {
                "containers": [{"name": "last", "image": "example.com/last:1"}],
                "nodeSelector": {LAST: "true"}, "tolerations": [{"key": LAST, "operator": "Exists"}],
            },
        });
        self.must_create("/api/v1/namespaces/kube-public/pods", &pod);
        let start = Instant::now();
        while self.api.get("/api/v1/namespaces/kube-public/pods/last")["spec"]["nodeName"].is_null() {
            assert!(start.elapsed() < SEEN_WAIT_MAX, "the scheduler binds nothing");
            thread::sleep(POLL);
        }
    }
}
