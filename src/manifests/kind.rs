//! Classifies kinds: those that are read, nodeform's own, and those that are not understood.

use std::collections::BTreeMap;

use super::renders;
use super::tree::{Tree, Value, shortened};

/// What is done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// A workload whose pods are made up.
    Workload(WorkloadKind),
    /// Something that sets the replicas of a workload.
    Autoscaler,
    /// A LimitRange.
    LimitRange,
    /// A RuntimeClass.
    RuntimeClass,
    /// A pod.
    Pod,
    /// A node.
    Node,
    /// A NodeClaim.
    NodeClaim,
    /// An Event: read only where it tells what Azure refused.
    Event,
    /// A PriorityClass.
    PriorityClass,
    /// A namespace.
    Namespace,
    /// Something of storage.
    Storage(StorageKind),
    /// A PodDisruptionBudget.
    Budget,
    /// Something that declares groups of pods which are bound together.
    Group(GroupKind),
    /// NodePool, AKSNodeClass, NodeFleet, NodeOverlay or CapacityBuffer, for `policy`.
    Ours,
    /// A version that is not served, or not read, any more; the one to write instead.
    OtherVersion(&'static str),
    /// It stands for objects that a controller renders in the cluster.
    Renders,
    /// Anything else: passed over, unless it holds a pod template.
    Other,
}

/// The kinds of storage that scheduling reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageKind {
    /// A PersistentVolumeClaim.
    Claim,
    /// A PersistentVolume.
    Volume,
    /// A StorageClass.
    Class,
    /// A CSINode.
    CsiNode,
    /// A VolumeAttachment.
    Attachment,
}

/// The kinds that declare groups of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKind {
    /// A PodGroup of `scheduling.k8s.io`.
    PodGroup,
    /// A Workload of `scheduling.k8s.io/v1alpha1`, whose pods name it; that of later versions is a template of PodGroups.
    Workload,
    /// A PodGroup of Volcano.
    Volcano,
}

/// The kinds whose pods are made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkloadKind {
    /// A Deployment.
    Deployment,
    /// A StatefulSet.
    StatefulSet,
    /// A DaemonSet.
    DaemonSet,
    /// A ReplicaSet that no other workload made.
    ReplicaSet,
    /// A ReplicationController.
    ReplicationController,
    /// A Job.
    Job,
    /// A CronJob, at its peak.
    CronJob,
    /// A Rollout of Argo.
    Rollout,
    /// A ScaledJob of KEDA.
    ScaledJob,
    /// A PodTemplate, of which nobody makes pods by itself: CapacityBuffers name it.
    Template,
    /// Any other kind with `spec.replicas` and a pod template.
    Other,
}

/// Why an object that is not understood matters to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// It holds a pod template: its pods are not planned for.
    PodTemplate,
}

/// Objects of one kind that are not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// Why they matter.
    pub why: Why,
    /// Their names as `namespace/name`, or the name alone where there is no namespace; each with the number
    /// of objects that have it.
    pub names: BTreeMap<String, usize>,
}

/// Splits `apps/v1` into group and version; the core group is empty.
#[must_use]
pub fn group_and_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Returns what is done with objects of this API version and kind.
#[must_use]
pub fn treatment(api_version: &str, kind: &str) -> Treatment {
    let (group, version) = group_and_version(api_version);
    // Both versions are served, with the same fields.
    let both = [
        ("karpenter.azure.com/v1alpha2", "AKSNodeClass"),
        ("autoscaling.x-k8s.io/v1alpha1", "CapacityBuffer"),
    ];
    if both.contains(&(api_version, kind)) {
        return Treatment::Ours;
    }
    // The relevant fields are the same in every version that was ever served.
    match (group, kind) {
        ("scheduling.k8s.io", "PodGroup") => return Treatment::Group(GroupKind::PodGroup),
        ("scheduling.volcano.sh", "PodGroup") => return Treatment::Group(GroupKind::Volcano),
        ("scheduling.k8s.io", "Workload") if version == "v1alpha1" => {
            return Treatment::Group(GroupKind::Workload);
        }
        (_, _) => {}
    }
    // Any version: an unreadable Event is simply ignored.
    if matches!(group, "" | "events.k8s.io") && kind == "Event" {
        return Treatment::Event;
    }
    let known = match (group, kind) {
        ("apps" | "extensions", "Deployment") => (Treatment::Workload(WorkloadKind::Deployment), "apps/v1"),
        ("apps" | "extensions", "StatefulSet") => (Treatment::Workload(WorkloadKind::StatefulSet), "apps/v1"),
        ("apps" | "extensions", "DaemonSet") => (Treatment::Workload(WorkloadKind::DaemonSet), "apps/v1"),
        ("apps" | "extensions", "ReplicaSet") => (Treatment::Workload(WorkloadKind::ReplicaSet), "apps/v1"),
        ("", "PodTemplate") => (Treatment::Workload(WorkloadKind::Template), "v1"),
        ("", "ReplicationController") => (Treatment::Workload(WorkloadKind::ReplicationController), "v1"),
        ("batch", "Job") => (Treatment::Workload(WorkloadKind::Job), "batch/v1"),
        ("batch", "CronJob") => (Treatment::Workload(WorkloadKind::CronJob), "batch/v1"),
        ("argoproj.io", "Rollout") => (Treatment::Workload(WorkloadKind::Rollout), "argoproj.io/v1alpha1"),
        ("keda.sh", "ScaledJob") => (Treatment::Workload(WorkloadKind::ScaledJob), "keda.sh/v1alpha1"),
        ("keda.sh", "ScaledObject") => (Treatment::Autoscaler, "keda.sh/v1alpha1"),
        ("autoscaling", "HorizontalPodAutoscaler") if version == "v1" => {
            (Treatment::Autoscaler, "autoscaling/v1")
        }
        ("autoscaling", "HorizontalPodAutoscaler") => (Treatment::Autoscaler, "autoscaling/v2"),
        ("", "LimitRange") => (Treatment::LimitRange, "v1"),
        ("node.k8s.io", "RuntimeClass") => (Treatment::RuntimeClass, "node.k8s.io/v1"),
        ("", "Pod") => (Treatment::Pod, "v1"),
        ("", "Node") => (Treatment::Node, "v1"),
        ("", "Namespace") => (Treatment::Namespace, "v1"),
        ("", "PersistentVolumeClaim") => (Treatment::Storage(StorageKind::Claim), "v1"),
        ("", "PersistentVolume") => (Treatment::Storage(StorageKind::Volume), "v1"),
        ("storage.k8s.io", "StorageClass") => (Treatment::Storage(StorageKind::Class), "storage.k8s.io/v1"),
        ("storage.k8s.io", "CSINode") => (Treatment::Storage(StorageKind::CsiNode), "storage.k8s.io/v1"),
        ("storage.k8s.io", "VolumeAttachment") => {
            (Treatment::Storage(StorageKind::Attachment), "storage.k8s.io/v1")
        }
        ("policy", "PodDisruptionBudget") => (Treatment::Budget, "policy/v1"),
        ("scheduling.k8s.io", "PriorityClass") => (Treatment::PriorityClass, "scheduling.k8s.io/v1"),
        ("karpenter.sh", "NodeClaim") => (Treatment::NodeClaim, "karpenter.sh/v1"),
        ("karpenter.sh", "NodePool") => (Treatment::Ours, "karpenter.sh/v1"),
        ("karpenter.sh", "NodeOverlay") => (Treatment::Ours, "karpenter.sh/v1alpha1"),
        ("autoscaling.x-k8s.io", "CapacityBuffer") => (Treatment::Ours, "autoscaling.x-k8s.io/v1beta1"),
        ("karpenter.azure.com", "AKSNodeClass") => (Treatment::Ours, "karpenter.azure.com/v1beta1"),
        ("nodeform.dev", "NodeFleet") => (Treatment::Ours, "nodeform.dev/v1alpha1"),
        _ if renders::renders(api_version, kind) => return Treatment::Renders,
        _ => return Treatment::Other,
    };
    let (treatment, wanted) = known;
    if wanted == api_version || (group.is_empty() && version == wanted) {
        treatment
    } else {
        Treatment::OtherVersion(wanted)
    }
}

/// The kinds of Karpenter's groups, of ours, and of the groups of workloads that exist and are not read.
const OTHER_KINDS: [(&str, &[&str]); 4] = [
    ("karpenter.sh", &[]),
    ("karpenter.azure.com", &[]),
    ("nodeform.dev", &["NodePlan", "NodePlanApproval", "NodePlanChunk", "SimulatedAzure", "SimulatedFaults"]),
    ("apps", &["ControllerRevision"]),
];

/// The kinds of the core group that exist and are not read.
pub const CORE_KINDS: [&str; 8] = [
    "Binding",
    "ComponentStatus",
    "ConfigMap",
    "Endpoints",
    "ResourceQuota",
    "Secret",
    "Service",
    "ServiceAccount",
];

/// The kinds that are read, with their groups.
pub const READ_KINDS: [(&str, &str); 35] = [
    ("", "Event"),
    ("", "LimitRange"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "PodTemplate"),
    ("", "ReplicationController"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("argoproj.io", "Rollout"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("autoscaling.x-k8s.io", "CapacityBuffer"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("events.k8s.io", "Event"),
    ("karpenter.azure.com", "AKSNodeClass"),
    ("karpenter.sh", "NodeClaim"),
    ("karpenter.sh", "NodeOverlay"),
    ("karpenter.sh", "NodePool"),
    ("keda.sh", "ScaledJob"),
    ("keda.sh", "ScaledObject"),
    ("node.k8s.io", "RuntimeClass"),
    ("nodeform.dev", "NodeFleet"),
    ("policy", "PodDisruptionBudget"),
    ("scheduling.k8s.io", "PodGroup"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("scheduling.k8s.io", "Workload"),
    ("scheduling.volcano.sh", "PodGroup"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
];

/// What is wrong with a kind that no API server has: a slip in the name of one that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misspelt {
    /// The kind that was probably meant.
    pub nearest: Option<&'static str>,
}

/// Returns whether an object's kind is a slip. In Karpenter's groups and in ours every kind is known, so an
/// unknown one is wrong; in the groups of Kubernetes it is only where it is near to one that is read.
#[must_use]
pub fn misspelt(api_version: &str, kind: &str) -> Option<Misspelt> {
    const SLIPS_MAX: usize = 2;
    const LENGTH_MAX: usize = 100;
    let (group, _) = group_and_version(api_version);
    let is_read = READ_KINDS.contains(&(group, kind));
    let is_core = group.is_empty() && CORE_KINDS.contains(&kind);
    let others = OTHER_KINDS.iter().find(|(other, _)| *other == group);
    if is_read || is_core || others.is_some_and(|(_, kinds)| kinds.contains(&kind)) {
        return None;
    }
    let nearest = READ_KINDS
        .iter()
        .filter(|(of, _)| *of == group && kind.len() <= LENGTH_MAX)
        .map(|(_, known)| (strsim::damerau_levenshtein(&known.to_lowercase(), &kind.to_lowercase()), *known))
        .min();
    if matches!(group, "karpenter.sh" | "karpenter.azure.com" | "nodeform.dev") {
        return Some(Misspelt { nearest: nearest.map(|(_, known)| known) });
    }
    let is_near = |(distance, known): &(usize, &str)| *distance <= SLIPS_MAX && *distance * 2 < known.len();
    let is_understood = matches!(
        group,
        "" | "apps"
            | "argoproj.io"
            | "autoscaling"
            | "batch"
            | "keda.sh"
            | "node.k8s.io"
            | "scheduling.k8s.io"
    );
    let near = nearest.filter(is_near).filter(|_| is_understood);
    near.map(|(_, known)| Misspelt { nearest: Some(known) })
}

/// Returns what people call a kind: with its group where Kubernetes has another kind of that name.
#[must_use]
pub fn told(api_version: &str, kind: &str) -> String {
    let (group, _) = group_and_version(api_version);
    let is_own = |of: &str| !of.contains('.') || of.ends_with(".k8s.io");
    let is_known = CORE_KINDS.contains(&kind)
        || READ_KINDS.iter().any(|(of, known)| *known == kind && is_own(of) && *of != group);
    if is_known && !is_own(group) {
        format!("{} ({})", shortened(kind), shortened(group))
    } else {
        shortened(kind)
    }
}

/// Returns whether an object looks like a workload whatever its kind: `spec.replicas`, and the containers of
/// a pod template at `spec.template.spec`.
#[must_use]
pub fn is_like_a_workload(object: &Tree) -> bool {
    let containers = object.at(&["spec", "template", "spec", "containers"]);
    object.at(&["spec", "replicas"]).is_some() && containers.is_some_and(|items| items.as_list().is_some())
}

/// Returns whether an object holds a pod template: it is like a workload, or somewhere below it, beside
/// `status`, stands a list `containers` with an image or requests. Rules about manifests only look like one.
#[must_use]
pub fn holds_pod_template(api_version: &str, object: &Tree) -> bool {
    let (group, _) = group_and_version(api_version);
    if group == "kyverno.io" || group.ends_with("gatekeeper.sh") || group == "apiextensions.k8s.io" {
        return false;
    }
    let entries = object.as_map().unwrap_or_default();
    is_like_a_workload(object)
        || entries.iter().any(|entry| &*entry.key != "status" && holds_containers(&entry.value))
}

fn holds_containers(tree: &Tree) -> bool {
    match &tree.value {
        Value::Map(entries) => entries.iter().any(|entry| match (&*entry.key, &entry.value.value) {
            // Operators with a built-in image accept a template without one.
            ("containers", Value::List(items)) => {
                items.iter().any(|item| item.get("image").is_some() || item.get("resources").is_some())
            }
            (_, _) => holds_containers(&entry.value),
        }),
        Value::List(items) => items.iter().any(holds_containers),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Treatment, WorkloadKind, misspelt, treatment};

    #[test]
    fn a_slip_in_a_kind_is_seen_and_other_kinds_are_left_alone() {
        let table = [
            ("karpenter.sh/v1", "Nodepool", Some(Some("NodePool"))),
            ("karpenter.sh/v1alpha1", "NodeOverlay", None),
            ("karpenter.sh/v1", "NodeClaim", None),
            ("karpenter.azure.com/v1beta1", "AKSNodeclass", Some(Some("AKSNodeClass"))),
            ("nodeform.dev/v1alpha1", "NodeFlet", Some(Some("NodeFleet"))),
            ("nodeform.dev/v1alpha1", "Something", Some(Some("NodeFleet"))),
            ("apps/v1", "Deploymnet", Some(Some("Deployment"))),
            ("apps/v1", "ControllerRevision", None),
            ("apps/v1", "Whatever", None),
            ("batch/v1", "CronJob", None),
            ("batch/v1", "CronJobs", Some(Some("CronJob"))),
            ("argoproj.io/v1alpha1", "Rolout", Some(Some("Rollout"))),
            ("argoproj.io/v1alpha1", "Workflow", None),
            ("batch/v1", "job", Some(Some("Job"))),
            ("v1", "Pods", Some(Some("Pod"))),
            ("v1", "PodTemplate", None),
            ("v1", "Secret", None),
            ("v1", "Service", None),
            ("example.com/v1", "Deploymnet", None),
        ];
        for (version, kind, expected) in table {
            assert_eq!(misspelt(version, kind).map(|found| found.nearest), expected, "{version} {kind}");
        }
    }

    #[test]
    fn kinds_are_told_apart_by_their_group() {
        let table = [
            ("apps/v1", "Deployment", Treatment::Workload(WorkloadKind::Deployment)),
            ("extensions/v1beta1", "Deployment", Treatment::OtherVersion("apps/v1")),
            ("apps/v1beta2", "StatefulSet", Treatment::OtherVersion("apps/v1")),
            ("karpenter.sh/v1beta1", "NodePool", Treatment::OtherVersion("karpenter.sh/v1")),
            ("karpenter.azure.com/v1alpha2", "AKSNodeClass", Treatment::Ours),
            (
                "karpenter.azure.com/v1",
                "AKSNodeClass",
                Treatment::OtherVersion("karpenter.azure.com/v1beta1"),
            ),
            ("v1", "Pod", Treatment::Pod),
            ("metrics.k8s.io/v1beta1", "Node", Treatment::Other),
            ("serving.knative.dev/v1", "Service", Treatment::Other),
            ("argoproj.io/v1alpha1", "Rollout", Treatment::Workload(WorkloadKind::Rollout)),
            ("batch/v1beta1", "CronJob", Treatment::OtherVersion("batch/v1")),
            ("v1", "ReplicationController", Treatment::Workload(WorkloadKind::ReplicationController)),
            ("autoscaling/v1", "HorizontalPodAutoscaler", Treatment::Autoscaler),
            ("autoscaling/v2", "HorizontalPodAutoscaler", Treatment::Autoscaler),
            ("autoscaling/v2beta2", "HorizontalPodAutoscaler", Treatment::OtherVersion("autoscaling/v2")),
        ];
        for (version, kind, expected) in table {
            assert_eq!(treatment(version, kind), expected, "{version} {kind}");
        }
    }
}
