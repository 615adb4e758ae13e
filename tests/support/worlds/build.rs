//! Builders of pods, daemonsets and worlds.

use std::collections::BTreeSet;
use std::sync::Arc;

use nodeform::model::{
    BufferName, Effect, Fleet, HostPort, LabelKey, LabelSelector, Namespace, Node, Operator, Pod,
    PodAffinityTerm, PodKey, PodPlace, PodSpec, PodState, Pool, Preferred, Protocol, Quantity, Requirement,
    Requirements, ResourceName, SchedulingRule, SpreadConstraint, Strength, Toleration, Workload, label,
};
use nodeform::policy::Policy;
use nodeform::snapshot::{Daemon, Gap, GapKind, Snapshot};

use super::fleet::{NodeBuilder, PoolBuilder, class};
use super::sizes;

/// A pod that waits and asks for half a core and 1 GiB.
pub(crate) fn pod(name: &str) -> PodBuilder {
    let pod = Pod {
        key: PodKey::new("default", name),
        workload: None,
        spec: Arc::default(),
        place: PodPlace::Waiting,
        is_daemon: false,
        is_do_not_disrupt: false,
        is_terminating: false,
        state: PodState::default(),
    };
    let mut spec = PodSpec::default();
    spec.requests.set(ResourceName::Pods, 1);
    PodBuilder { pod, spec }.cpu("500m").memory("1Gi")
}

/// A pod to be.
#[derive(Clone, Debug)]
pub(crate) struct PodBuilder {
    pod: Pod,
    spec: PodSpec,
}

impl PodBuilder {
    pub(crate) fn cpu(self, amount: &str) -> Self {
        self.asking("cpu", amount)
    }

    pub(crate) fn memory(self, amount: &str) -> Self {
        self.asking("memory", amount)
    }

    /// Any resource.
    pub(crate) fn asking(mut self, resource: &str, amount: &str) -> Self {
        let name = ResourceName::parse(resource);
        let amount = name.request(&Quantity::parse(amount).expect("tests write quantities"));
        self.spec.requests.set(name, amount);
        self
    }

    /// Only in this zone, by its number.
    pub(crate) fn zone(self, short: &str) -> Self {
        let zone = sizes::zone(short);
        self.selecting(label::ZONE, &zone)
    }

    /// A node selector.
    pub(crate) fn selecting(mut self, key: &str, value: &str) -> Self {
        self.spec.node_selector.add(LabelKey::new(key), Requirement::one(value));
        self
    }

    /// One more term of required node affinity; one of them must hold.
    pub(crate) fn or_term(mut self, requirements: &[(&str, Operator, &[&str])]) -> Self {
        let mut term = Requirements::none();
        for (key, operator, values) in requirements {
            term.add(LabelKey::new(key), Requirement::new(*operator, *values));
        }
        self.spec.node_affinity.required.get_or_insert_default().push(term);
        self
    }

    /// Prefers nodes that meet these requirements.
    pub(crate) fn preferring(mut self, requirements: &[(&str, Operator, &[&str])], weight: u32) -> Self {
        let term = requirements.iter().fold(Requirements::none(), |term, (key, operator, values)| {
            term.with(key, Requirement::new(*operator, values.iter().copied()))
        });
        self.spec.node_affinity.preferred.push(Preferred { weight, term });
        self
    }

    /// Tolerates every taint of this key.
    pub(crate) fn tolerating(mut self, key: &str) -> Self {
        self.spec.tolerations.push(Toleration {
            key: Some(Arc::from(key)),
            value: None,
            effect: None,
            seconds: None,
        });
        self.spec.tolerations.sort();
        self
    }

    /// Takes a TCP port of the node, on every address.
    pub(crate) fn port(mut self, port: u16) -> Self {
        self.spec.host_ports.insert(HostPort { port, protocol: Protocol::Tcp, address: None });
        self
    }

    /// Is no pod but room that the buffer `room` keeps for one.
    pub(crate) fn placeholder(mut self, ordinal: u32) -> Self {
        let namespace = self.pod.key.namespace.clone();
        self.pod.key = PodKey::placeholder(&namespace, &BufferName::new("room"), ordinal);
        self.spec.priority = i32::MIN;
        self.spec.labels.clear();
        let soft =
            Toleration { key: None, value: None, effect: Some(Effect::PreferNoSchedule), seconds: None };
        self.spec.tolerations.push(soft);
        self.spec.tolerations.sort();
        self
    }

    /// Another name.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.pod.key = PodKey::new(self.pod.key.namespace.as_str(), name);
        self
    }

    pub(crate) fn priority(mut self, priority: i32) -> Self {
        self.spec.priority = priority;
        self
    }

    pub(crate) fn gate(mut self, name: &str) -> Self {
        self.spec.gates.insert(Arc::from(name));
        self
    }

    pub(crate) fn label(mut self, key: &str, value: &str) -> Self {
        self.spec.labels.insert(LabelKey::new(key), Arc::from(value));
        self
    }

    /// Anything else that the scheduler reads.
    pub(crate) fn specified(mut self, change: impl FnOnce(&mut PodSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// A spread over zones of pods with `app: web`.
    pub(crate) fn spread(mut self, strength: Strength) -> Self {
        self.spec.spread.push(SpreadConstraint {
            topology_key: LabelKey::new(label::ZONE),
            max_skew: 1,
            strength,
            selector: Some(LabelSelector(Requirements::none().with("app", Requirement::one("web")))),
            min_domains: None,
            honors_node_affinity: true,
            honors_node_taints: false,
            match_label_keys: Vec::new(),
        });
        self
    }

    /// Required anti-affinity by host against pods with this `app` in its own namespace.
    pub(crate) fn apart_from(mut self, app: &str) -> Self {
        self.spec.anti_affinity.push(PodAffinityTerm {
            topology_key: LabelKey::new(label::HOSTNAME),
            selector: Some(LabelSelector(Requirements::none().with("app", Requirement::one(app)))),
            namespaces: BTreeSet::new(),
            namespace_selector: None,
        });
        self
    }

    /// Uses a rule that is not planned with.
    pub(crate) fn using(mut self, rule: SchedulingRule) -> Self {
        self.spec.other_rules.insert(rule, Strength::Required);
        self
    }

    /// Runs on this node.
    pub(crate) fn on(mut self, node: &str) -> Self {
        self.pod.place = PodPlace::Bound(node.into());
        self
    }

    /// Belongs to this DaemonSet of its namespace.
    pub(crate) fn of_daemonset(mut self, name: &str) -> Self {
        let namespace = self.pod.key.namespace.clone();
        self.pod.workload = Some(Workload { kind: Arc::from("DaemonSet"), namespace, name: Arc::from(name) });
        self.pod.is_daemon = true;
        self
    }

    pub(crate) fn in_namespace(mut self, namespace: &str) -> Self {
        self.pod.key.namespace = Namespace::new(namespace);
        self
    }

    pub(crate) fn do_not_disrupt(mut self) -> Self {
        self.pod.is_do_not_disrupt = true;
        self
    }

    pub(crate) fn terminating(mut self) -> Self {
        self.pod.is_terminating = true;
        self
    }

    /// Returns the pod.
    pub(crate) fn build(self) -> Pod {
        Pod { spec: Arc::new(self.spec), ..self.pod }
    }

    /// Returns so many pods that differ in their name, from `-1` on.
    pub(crate) fn times(self, count: usize) -> Vec<Pod> {
        let one = self.build();
        let named = |number: usize| {
            let name = format!("{}-{number}", one.key.name);
            Pod { key: PodKey::new(one.key.namespace.as_str(), name), ..one.clone() }
        };
        (1..=count).map(named).collect()
    }
}

/// A DaemonSet of `kube-system` that asks for a tenth of a core and 128 MiB and tolerates everything.
pub(crate) fn daemon(name: &str) -> DaemonBuilder {
    let everything = Toleration { key: None, value: None, effect: None, seconds: None };
    let mut pod = pod(name).cpu("100m").memory("128Mi");
    pod.spec.tolerations.push(everything);
    DaemonBuilder { name: Arc::from(name), pod }
}

/// A DaemonSet to be.
#[derive(Clone, Debug)]
pub(crate) struct DaemonBuilder {
    name: Arc<str>,
    pod: PodBuilder,
}

impl DaemonBuilder {
    /// Changes what its pods ask for.
    pub(crate) fn with(mut self, change: impl FnOnce(PodBuilder) -> PodBuilder) -> Self {
        self.pod = change(self.pod);
        self
    }

    /// Tolerates no taint.
    pub(crate) fn intolerant(mut self) -> Self {
        self.pod.spec.tolerations.clear();
        self
    }

    /// Returns its pod on a node.
    pub(crate) fn on(&self, node: &str) -> Pod {
        let Self { name, pod } = self.clone();
        let mut pod = pod.in_namespace("kube-system").of_daemonset(&name).on(node);
        pod.pod.key = PodKey::new("kube-system", format!("{name}-on-{node}"));
        pod.build()
    }

    /// Returns the DaemonSet.
    pub(crate) fn build(self) -> Daemon {
        let Self { name, pod } = self;
        let namespace = Namespace::new("kube-system");
        Daemon { namespace, name, spec: pod.build().spec, is_assumed: false }
    }
}

/// A snapshot and what the user asks for.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    pub(crate) policy: Policy,
}

/// A world with the catalogue of all tests, one class and nothing else.
pub(crate) fn world() -> World {
    let snapshot = Snapshot {
        at: None,
        cluster: None,
        nodes: Vec::new(),
        pods: Vec::new(),
        daemons: Vec::new(),
        catalog: sizes::catalog(),
        namespaces: std::collections::BTreeMap::new(),
        storage: nodeform::model::storage::Storage::default(),
        budgets: Vec::new(),
        groups: Vec::new(),
        refusals: Vec::new(),
        gaps: Vec::new(),
        assumptions: Vec::new(),
        assumes_system_node: true,
        supposed: nodeform::model::Supposed::default(),
        preemptions: Vec::new(),
        quota: None,
        azure: None,
    };
    let mut policy = Policy::default();
    let class = class();
    policy.classes.insert(class.name.clone(), class);
    World { snapshot, policy }
}

impl World {
    pub(crate) fn pod(self, pod: PodBuilder) -> Self {
        self.pods(vec![pod.build()])
    }

    pub(crate) fn pods(mut self, pods: impl IntoIterator<Item = Pod>) -> Self {
        self.snapshot.pods.extend(pods);
        self.snapshot.pods.sort();
        self
    }

    pub(crate) fn pool(mut self, pool: PoolBuilder) -> Self {
        let pool: Pool = pool.build();
        self.policy.pools.insert(pool.name.clone(), pool);
        self
    }

    pub(crate) fn node(mut self, node: NodeBuilder) -> Self {
        let node: Node = node.build();
        self.snapshot.nodes.push(node);
        self.snapshot.assumes_system_node = false;
        self.snapshot.nodes.sort_by(|one, two| one.name.cmp(&two.name));
        self
    }

    pub(crate) fn daemon(mut self, daemon: DaemonBuilder) -> Self {
        self.snapshot.daemons.push(daemon.build());
        self.snapshot.daemons.sort();
        self
    }

    pub(crate) fn fleet(mut self, change: impl FnOnce(&mut Fleet)) -> Self {
        change(&mut self.policy.fleet);
        self
    }

    /// Seen at this time.
    pub(crate) fn at(mut self, time: &str) -> Self {
        self.snapshot.at = Some(time.parse().expect("tests write times"));
        self
    }

    pub(crate) fn gap(mut self, what: &str) -> Self {
        self.snapshot.gaps.push(Gap {
            kind: GapKind::Unread,
            what: what.to_owned(),
            consequence: "unknown".to_owned(),
        });
        self
    }
}
