//! Tests of reading manifests.

mod admission;
mod broken;
mod bulk;
mod cases;
mod counting;
mod faults;
mod gangs;
mod kinds;
mod laid;
mod nodes;
mod properties;
mod renders;
mod requests;
mod scaling;
mod scheduling;
mod sides;
mod storage;
mod stray;
mod text;
mod workloads;

use super::{Objects, Source, read};

/// Reads one file.
pub(in crate::manifests) fn objects(text: &str) -> Objects {
    read(vec![Source::new("a.yaml", text)]).unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// Returns the faults of one file, each on its lines.
fn faults(text: &str) -> Vec<String> {
    faults_of(vec![Source::new("a.yaml", text)])
}

fn faults_of(sources: Vec<Source>) -> Vec<String> {
    match read(sources) {
        Ok(objects) => panic!("nothing is wrong with {objects:?}"),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

/// Writes a short Deployment with one container.
fn deployment(name: &str, replicas: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {replicas}\n  \
         selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
         spec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]}}\n"
    )
}

/// Writes a pod of a cluster, with its owner and node.
fn pod(name: &str, owner: &str, more: &str) -> String {
    let (kind, owner_name) = owner.split_once('/').expect("is kind and name");
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n  uid: {name}\n  labels: {{pod-template-hash: abc}}\n  \
         ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner_name}, controller: true}}]\n\
         {more}\nspec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: 2}}}}}}], nodeName: n1}}\n"
    )
}

/// Joins documents into a file.
fn file(documents: &[String]) -> String {
    documents.join("---\n")
}

/// Formats the pods as `name place`.
fn places(objects: &Objects) -> Vec<String> {
    let place = |pod: &crate::model::Pod| match &pod.place {
        crate::model::PodPlace::Waiting => format!("{} waits", pod.key.name),
        crate::model::PodPlace::Bound(node) => format!("{} on {node}", pod.key.name),
    };
    objects.pods.iter().map(place).collect()
}
