//! The objects of a world as they are written, for the API server: not as nodeform understood them, so that
//! what it misread is seen, too.

use nodeform::manifests::Source;
use nodeform::model::{PodKey, Workload};
use serde::Deserialize as _;
use serde_json::Value;

/// The objects of a world, in the order written.
pub(crate) struct Documents(Vec<Value>);

impl Documents {
    /// Takes files apart.
    pub(crate) fn of(sources: &[Source]) -> Self {
        let mut objects = Vec::new();
        for source in sources {
            let text = std::str::from_utf8(&source.bytes).expect("manifests are UTF-8");
            for document in serde_yaml::Deserializer::from_str(text) {
                let document =
                    Value::deserialize(document).unwrap_or_else(|error| panic!("{}: {error}", source.name));
                take(document, &mut objects);
            }
        }
        Self(objects)
    }

    /// Returns the objects of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |object| object["kind"] == kind)
    }

    /// Returns an object; of several, the last counts.
    pub(crate) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        self.of_kind(kind)
            .filter(|object| object["metadata"]["name"] == name && namespace_of(object) == namespace)
            .last()
    }

    /// Returns a pod, or the template that it is made of, with metadata and spec.
    pub(crate) fn pod(&self, key: &PodKey, workload: Option<&Workload>) -> Option<&Value> {
        let written = self.find("Pod", key.namespace.as_str(), &key.name);
        written.or_else(|| self.template(workload?))
    }

    /// Returns the template of a workload, or of the one that it takes its pods from.
    fn template(&self, workload: &Workload) -> Option<&Value> {
        let Workload { kind, namespace, name } = workload;
        let spec = &self.find(kind, namespace.as_str(), name)?["spec"];
        let reference = &spec["workloadRef"];
        let places = [&spec["template"], &spec["jobTemplate"]["spec"]["template"]];
        match places.into_iter().find(|template| template["spec"].is_object()) {
            Some(template) => Some(template),
            None => self.template(&Workload {
                kind: reference["kind"].as_str()?.into(),
                namespace: namespace.clone(),
                name: reference["name"].as_str()?.into(),
            }),
        }
    }

    /// Returns the templates of the claims that each pod of a StatefulSet has for itself.
    pub(crate) fn claim_templates(&self, workload: Option<&Workload>) -> &[Value] {
        let set = workload.filter(|workload| &*workload.kind == "StatefulSet");
        let set = set.and_then(|set| self.find("StatefulSet", set.namespace.as_str(), &set.name));
        set.and_then(|set| set["spec"]["volumeClaimTemplates"].as_array()).map_or(&[], Vec::as_slice)
    }
}

/// Returns the namespace of an object.
pub(crate) fn namespace_of(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or("default")
}

fn take(document: Value, objects: &mut Vec<Value>) {
    match document {
        Value::Object(mut object) if object.get("items").is_some_and(Value::is_array) => {
            if let Some(Value::Array(items)) = object.remove("items") {
                items.into_iter().for_each(|item| take(item, objects));
            }
        }
        Value::Object(object) => objects.push(Value::Object(object)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}
