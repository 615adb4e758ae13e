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

/// When a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Before the others, to its end.
    Init,
    /// From its turn before the others to the end of the pod.
    Sidecar,
    /// As long as the pod.
    Main,
}

/// A container with what it asks for; a limit has made the request that was not said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Container {
    /// Its name; empty where it has none.
    pub name: Arc<str>,
    /// When it runs.
    pub stage: Stage,
    /// What it asks for.
    pub requests: Resources,
    /// The most that it may take.
    pub limits: Resources,
}

/// What a pod says about its resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// Its containers, those first that start first.
    pub containers: Vec<Container>,
    /// What it asks for as a whole.
    pub pod_requests: Resources,
    /// The most that it may take as a whole.
    pub pod_limits: Resources,
    /// What the pod takes beside its containers.
    pub overhead: Resources,
}

impl Written {
    /// Reads what a pod says. `status` is that of a pod that exists: while a container is resized, the larger
    /// of what is wanted and of what it has counts; what it has alone where its node never can do it
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

    /// Returns what it comes to.
    #[must_use]
    pub fn requests(&self) -> Requests {
        let mut asked = self.sum(|container| &container.requests);
        // Its limits stand in only for what no container asks for, as the API server fills them in.
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

    /// Returns why the API server would refuse the pod: what it counts whole, such as GPUs and huge pages, cannot be
    /// shared out beyond what there is, so that a container's limit of it has to be there and what it asks for.
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

/// Returns whether an init container keeps running beside the containers.
#[must_use]
pub fn is_sidecar(container: Cursor<'_>) -> bool {
    // `Always` stands first; the others are those of Kubernetes 1.34 and end like any init container.
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

/// What the containers of a pod that exists have.
#[derive(Default)]
struct Held {
    /// What was allocated to each, or it runs with: the larger, by its name.
    containers: BTreeMap<Arc<str>, Resources>,
    /// Whether its node never can give it what it asks for now.
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
