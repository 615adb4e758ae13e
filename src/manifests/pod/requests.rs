//! What a pod asks for, counted as Kubernetes counts it.
//!
//! Limits stand in for requests that are not said. Init containers run one after another, each beside the
//! sidecars that were started before it; the pod takes the larger of that and of its containers together.
//! What the pod as a whole says replaces that; overhead comes on top.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{ResourceName, Resources};

use crate::manifests::cursor::{Amounts, Cursor};

/// What a pod asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// What its containers, or it as a whole, ask for.
    pub asked: Resources,
    /// That with overhead and the pod itself: what a node must have.
    pub total: Resources,
}

/// Reads the requests of a pod. `status` is that of a pod that exists: while a container is resized, the
/// larger of what is wanted and of what it has counts.
#[must_use]
pub fn read(spec: Cursor<'_>, status: Option<Cursor<'_>>) -> Requests {
    let held = status.map(held).unwrap_or_default();
    let mut containers = Resources::none();
    for container in spec.items("containers") {
        containers.add(&of_container(container, &held));
    }
    let mut sidecars = Resources::none();
    let mut starting = Resources::none();
    for container in spec.items("initContainers") {
        let requests = of_container(container, &held);
        if is_sidecar(container) {
            sidecars.add(&requests);
            starting = Resources::max(&starting, &sidecars);
        } else {
            starting = Resources::max(&starting, &sidecars.plus(&requests));
        }
    }
    let asked = of_pod(spec, Resources::max(&containers.plus(&sidecars), &starting));
    let overhead = spec.resources("overhead", Amounts::Requests);
    let mut total = asked.plus(&overhead);
    total.set(ResourceName::Pods, 1);
    Requests { asked, total }
}

/// Returns whether an init container keeps running beside the containers.
#[must_use]
pub fn is_sidecar(container: Cursor<'_>) -> bool {
    // `Always` stands first; the others are those of Kubernetes 1.34 and end like any init container.
    container.choice("restartPolicy", &["Always", "OnFailure", "Never"]) == Some(0)
}

fn of_container(container: Cursor<'_>, held: &BTreeMap<Arc<str>, Resources>) -> Resources {
    let mut requests = container.get("resources").map_or_else(Resources::none, requests_or_limits);
    if let Some(held) = container.text("name").and_then(|name| held.get(name)) {
        requests = Resources::max(&requests, held);
    }
    requests
}

fn requests_or_limits(resources: Cursor<'_>) -> Resources {
    let mut requests = resources.resources("requests", Amounts::Requests);
    for (name, limit) in resources.resources("limits", Amounts::Requests).iter() {
        let amount = requests.get(name);
        if !requests.names(name) {
            requests.set(name.clone(), limit);
        } else if amount > limit
            && let Some(field) = resources.get("requests").and_then(|requests| requests.get(name.as_str()))
        {
            let (amount, limit) = (name.show(amount), name.show(limit));
            let message = format!("must not be above the limit of {limit}, and is {amount}");
            field.fault(message, Some("lower the request, or raise the limit"));
        }
    }
    requests
}

/// Returns the requests of the pod as a whole where it says them (`spec.resources`), the others as counted.
/// Its limits stand in only for what no container asks for, as the API server fills them in.
fn of_pod(spec: Cursor<'_>, counted: Resources) -> Resources {
    let Some(resources) = spec.get("resources") else { return counted };
    let mut asked = counted;
    for (name, amount) in resources.resources("limits", Amounts::Requests).iter() {
        if !asked.names(name) {
            asked.set(name.clone(), amount);
        }
    }
    for (name, amount) in resources.resources("requests", Amounts::Requests).iter() {
        asked.set(name.clone(), amount);
    }
    asked
}

/// Returns what each container of a pod that exists has, by its name.
fn held(status: Cursor<'_>) -> BTreeMap<Arc<str>, Resources> {
    let mut held = BTreeMap::new();
    for list in ["containerStatuses", "initContainerStatuses"] {
        for container in status.items(list) {
            let Some(name) = container.text("name") else { continue };
            let allocated = container.resources("allocatedResources", Amounts::Requests);
            let actual = container.get("resources").map(|has| has.resources("requests", Amounts::Requests));
            held.insert(Arc::clone(name), Resources::max(&allocated, &actual.unwrap_or_default()));
        }
    }
    held
}
