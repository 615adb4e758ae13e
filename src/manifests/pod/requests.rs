//! Resource requests of a pod, computed as in Kubernetes.
//!
//! Limits replace missing requests. Init containers run one after another, each beside the sidecars started before it;
//! the pod's request is the maximum of that and of the sum of its containers. Pod-level requests replace that; overhead
//! is added.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{ResourceName, Resources};

use crate::manifests::cursor::{Amounts, Cursor};

/// Requests of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// Requests of its containers, or of the pod as a whole.
    pub asked: Resources,
    /// The same plus overhead and the pod itself: the resources required on a node.
    pub total: Resources,
}

/// When a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Before the main containers, until it completes.
    Init,
    /// From its turn among the init containers until the pod ends.
    Sidecar,
    /// For the whole life of the pod.
    Main,
}

/// A container with its requests; limits have replaced missing requests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Container {
    /// Its name; empty if it has none.
    pub name: Arc<str>,
    /// When it runs.
    pub stage: Stage,
    /// Its requests.
    pub requests: Resources,
    /// Its limits.
    pub limits: Resources,
}

/// Resources of a pod, as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// Its containers, in starting order.
    pub containers: Vec<Container>,
    /// Pod-level requests.
    pub pod_requests: Resources,
    /// Pod-level limits.
    pub pod_limits: Resources,
    /// Overhead of the pod besides its containers.
    pub overhead: Resources,
}

impl Written {
    /// Reads the resources of a pod. `status` is that of an existing pod: while a container is resized, the maximum of
    /// the desired and the actual resources counts; only the actual ones count if its node can never resize it
    /// (condition `PodResizePending`, reason `Infeasible`).
    #[must_use]
    pub fn read(spec: Cursor<'_>, status: Option<Cursor<'_>>) -> Self {
        let held = status.map(Held::read).unwrap_or_default();
        let init = spec
            .items("initContainers")
            .into_iter()
            .map(|container| (container, if is_sidecar(container) { Stage::Sidecar } else { Stage::Init }));
        let main = spec.items("containers").into_iter().map(|container| (container, Stage::Main));
        let containers = init.chain(main).map(|(container, stage)| of_container(container, stage, &held));
        let whole = |key: &str| {
            let resources = spec.get("resources");
            resources.map(|resources| resources.resources(key, Amounts::Requests)).unwrap_or_default()
        };
        Self {
            containers: containers.collect(),
            pod_requests: whole("requests"),
            pod_limits: whole("limits"),
            overhead: spec.resources("overhead", Amounts::Requests),
        }
    }

    /// Returns the resulting requests.
    #[must_use]
    pub fn requests(&self) -> Requests {
        let mut asked = self.sum(|container| &container.requests);
        // Pod-level limits only apply to resources that no container requests, as in the API server's defaulting.
        for (name, amount) in self.pod_limits.iter() {
            if !asked.names(name) {
                asked.set(name.clone(), amount);
            }
        }
        for (name, amount) in self.pod_requests.iter() {
            asked.set(name.clone(), amount);
        }
        let mut total = asked.plus(&self.overhead);
        total.set(ResourceName::Pods, 1);
        Requests { asked, total }
    }

    /// Returns why the API server would reject the pod: resources that cannot be overcommitted, such as GPUs and huge
    /// pages, need a container limit equal to the request.
    #[must_use]
    pub fn overcommitted(&self) -> Option<String> {
        self.containers.iter().find_map(|container| {
            let Container { name: own, requests, limits, .. } = container;
            let (name, amount) =
                requests.iter().find(|(name, amount)| name.is_whole() && *amount != limits.get(name))?;
            let asked = name.show(amount);
            Some(match limits.names(name) {
                true => format!(
                    "container `{own}` asks for `{name}: {asked}` and is limited to {}, which must be the same",
                    name.show(limits.get(name))
                ),
                false => format!("container `{own}` asks for `{name}: {asked}` and has no limit of it"),
            })
        })
    }

    /// Sums amounts of containers as Kubernetes does for a pod.
    #[must_use]
    pub fn sum(&self, of: impl Fn(&Container) -> &Resources) -> Resources {
        let (mut main, mut sidecars, mut starting) =
            (Resources::none(), Resources::none(), Resources::none());
        for container in &self.containers {
            let amounts = of(container);
            match container.stage {
                Stage::Main => main.add(amounts),
                Stage::Sidecar => {
                    sidecars.add(amounts);
                    starting = Resources::max(&starting, &sidecars);
                }
                Stage::Init => starting = Resources::max(&starting, &sidecars.plus(amounts)),
            }
        }
        Resources::max(&main.plus(&sidecars), &starting)
    }
}

/// Returns whether an init container keeps running beside the main containers.
#[must_use]
pub fn is_sidecar(container: Cursor<'_>) -> bool {
    // `Always` is first; the others are from Kubernetes 1.34 and terminate like any init container.
    container.choice("restartPolicy", &["Always", "OnFailure", "Never"]) == Some(0)
}

fn of_container(container: Cursor<'_>, stage: Stage, held: &Held) -> Container {
    let resources = container.get("resources");
    let limits =
        resources.map(|resources| resources.resources("limits", Amounts::Requests)).unwrap_or_default();
    let mut requests =
        resources.map_or_else(Resources::none, |resources| requests_or_limits(resources, &limits));
    let name = container.text("name").cloned().unwrap_or_default();
    if let Some(own) = held.containers.get(&name) {
        requests = if held.is_infeasible { own.clone() } else { Resources::max(&requests, own) };
    }
    Container { name, stage, requests, limits }
}

fn requests_or_limits(resources: Cursor<'_>, limits: &Resources) -> Resources {
    let mut requests = resources.resources("requests", Amounts::Requests);
    for (name, limit) in limits.iter() {
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

/// Actual resources of the containers of an existing pod.
#[derive(Default)]
struct Held {
    /// Maximum of the allocated and the running resources of each container, by name.
    containers: BTreeMap<Arc<str>, Resources>,
    /// Whether its node can never provide the desired resources.
    is_infeasible: bool,
}

impl Held {
    fn read(status: Cursor<'_>) -> Self {
        let mut held = Self::default();
        for list in ["containerStatuses", "initContainerStatuses"] {
            for container in status.items(list) {
                let Some(name) = container.text("name") else { continue };
                let allocated = container.resources("allocatedResources", Amounts::Requests);
                let actual =
                    container.get("resources").map(|has| has.resources("requests", Amounts::Requests));
                let both = Resources::max(&allocated, &actual.unwrap_or_default());
                if both != Resources::none() {
                    held.containers.insert(Arc::clone(name), both);
                }
            }
        }
        let is_infeasible = |item: &Cursor<'_>| {
            let is = |key: &str, wanted: &str| item.text(key).is_some_and(|text| &**text == wanted);
            is("type", "PodResizePending") && is("status", "True") && is("reason", "Infeasible")
        };
        held.is_infeasible = status.items("conditions").iter().any(is_infeasible);
        held
    }
}
