//! Reads the scheduling-relevant fields of pod templates and pods.
//!
//! Reads everything that kube-scheduler reads; never decides anything.

pub mod affinity;
pub mod ports;
pub mod requests;
pub mod selector;
pub mod spread;
pub mod tolerations;
pub mod volumes;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    LabelKey, NodeName, PodSpec, Requirements, ResourceName, Resources, SchedulingRule, Strength, label,
};

use super::allow::pod_fields;
use super::cursor::Cursor;
use super::group;
use requests::Written;

/// Contents of a pod or a pod template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodBody {
    /// The scheduling-relevant fields; the priority is not resolved yet.
    pub spec: PodSpec,
    /// `priority` of an admitted pod.
    pub priority: Option<i32>,
    /// `priorityClassName`.
    pub priority_class: Option<Arc<str>>,
    /// Whether `preemptionPolicy` is `Never`, if it is set; admitted pods always have it.
    pub never_preempts: Option<bool>,
    /// Data for admission, if no API server has admitted the pod.
    pub unadmitted: Option<Unadmitted>,
}

/// Data that the API server's admission reads from a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unadmitted {
    /// Resources of its containers, as written.
    pub written: Written,
    /// `runtimeClassName`.
    pub runtime_class: Option<Arc<str>>,
}

impl PodBody {
    /// Marks the pod as admitted by an API server: admission no longer changes it.
    #[must_use]
    pub fn admitted(self) -> Self {
        Self { unadmitted: None, ..self }
    }

    /// Returns the pod with the group named in its annotations, if its `spec` names none.
    #[must_use]
    pub fn grouped<K: AsRef<str>>(mut self, annotations: &BTreeMap<K, Arc<str>>) -> Self {
        self.spec.group = self.spec.group.or_else(|| group::of_annotations(annotations));
        self
    }

    /// Removes the node name that the DaemonSet controller adds to each term of a pod, so that the pods on all nodes
    /// have equal specs. The use of match fields stays recorded.
    #[must_use]
    pub fn unpinned(mut self) -> Self {
        if self.spec.other_rules.contains_key(&SchedulingRule::MatchFields) {
            for term in self.spec.node_affinity.required.iter_mut().flatten() {
                let mut rest = Requirements::none();
                for (key, wanted) in term.iter().filter(|(key, _)| key.as_str() != label::HOSTNAME) {
                    rest.add(key.clone(), wanted.clone());
                }
                *term = rest;
            }
        }
        self
    }
}

/// Reads the node name of a pod, or of every pod of a template.
#[must_use]
pub fn node(spec: Cursor<'_>) -> Option<NodeName> {
    spec.text("nodeName").filter(|name| !name.is_empty()).map(NodeName::new)
}

/// Reads the `spec` of a pod or template with these labels. `status` is that of an existing pod.
#[must_use]
pub fn read(
    spec: Cursor<'_>,
    labels: BTreeMap<LabelKey, Arc<str>>,
    status: Option<Cursor<'_>>,
) -> Option<PodBody> {
    misspelt(spec);
    match spec.get("containers") {
        Some(containers) if containers.tree.as_list() == Some(&[]) => {
            containers.fault("is empty", Some("a pod needs at least one container"));
            return None;
        }
        Some(_) => {}
        None => {
            spec.missing("containers", "a pod needs at least one container");
            return None;
        }
    }
    let written = Written::read(spec, status);
    let requests = written.requests();
    let is_without_requests = is_silent(&requests.asked);
    let affinity = affinity::read(spec, &labels);
    let mut other_rules = affinity.other_rules;
    let volumes = volumes::read(spec);
    if !volumes.is_empty() {
        other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    }
    if !spec.items("resourceClaims").is_empty() {
        other_rules.insert(SchedulingRule::ResourceClaims, Strength::Required);
    }
    // An admitted pod has its class' overhead and node selector; a template does not.
    let runtime_class = spec.text("runtimeClassName").filter(|name| !name.is_empty()).cloned();
    if runtime_class.is_some() && spec.get("overhead").is_none() && status.is_none() {
        other_rules.insert(SchedulingRule::RuntimeClass, Strength::Preferred);
    }
    let scheduler = spec.text("schedulerName").filter(|name| !matches!(&***name, "" | "default-scheduler"));
    Some(PodBody {
        priority: spec.integer("priority", I32_RANGE).and_then(|priority| i32::try_from(priority).ok()),
        priority_class: spec.text("priorityClassName").filter(|name| !name.is_empty()).cloned(),
        never_preempts: never_preempts(spec),
        unadmitted: Some(Unadmitted { written, runtime_class }),
        spec: PodSpec {
            requests: requests.total,
            is_without_requests,
            node_selector: node_selector(spec),
            node_affinity: affinity.node,
            tolerations: tolerations::read(spec),
            refuses_soft_taints: false,
            withheld: None,
            host_ports: ports::read(spec),
            priority: 0,
            never_preempts: false,
            gates: spec
                .items("schedulingGates")
                .into_iter()
                .filter_map(|gate| gate.text("name").cloned())
                .collect(),
            spread: spread::read(spec),
            affinity: affinity.required,
            anti_affinity: affinity.required_anti,
            preferred_affinity: affinity.preferred,
            preferred_anti_affinity: affinity.preferred_anti,
            other_rules,
            volumes,
            scheduler: scheduler.cloned(),
            group: group::of_spec(spec),
            os: spec.get("os").and_then(|os| os.text("name").cloned()).filter(|name| !name.is_empty()),
            labels,
        },
    })
}

/// Reads whether the `preemptionPolicy` of a pod or PriorityClass is `Never`; `None` if it is not set.
#[must_use]
pub fn never_preempts(holder: Cursor<'_>) -> Option<bool> {
    let policy = holder.text("preemptionPolicy").filter(|policy| !policy.is_empty())?;
    match &**policy {
        "Never" => Some(true),
        "PreemptLowerPriority" => Some(false),
        _ => {
            if let Some(field) = holder.get("preemptionPolicy") {
                field.fault("must be `Never` or `PreemptLowerPriority`", None);
            }
            None
        }
    }
}

/// Adds the faults of misspelt fields.
fn misspelt(spec: Cursor<'_>) {
    for entry in spec.tree.as_map().into_iter().flatten() {
        if let Some(meant) = pod_fields::meant(&entry.key) {
            let field = Cursor { tree: &entry.value, ..spec };
            field.fault("is no field of a pod", Some(&format!("did you mean `{meant}`?")));
        }
    }
}

/// Range of 32-bit integers, which Kubernetes uses for priorities and counts.
pub const I32_RANGE: std::ops::RangeInclusive<i64> = -2_147_483_648..=2_147_483_647;

/// Returns whether these amounts include neither CPU nor memory.
#[must_use]
pub fn is_silent(asked: &Resources) -> bool {
    ![ResourceName::Cpu, ResourceName::Memory].iter().any(|name| asked.names(name))
}

/// Reads `nodeSelector`.
#[must_use]
pub fn node_selector(spec: Cursor<'_>) -> Requirements {
    selector::labels_of(spec, "nodeSelector");
    let selector = spec.text_map("nodeSelector");
    Requirements::of_labels(selector.iter().map(|(key, value)| (label::normalized(key), &**value)))
}
