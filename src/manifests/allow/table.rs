//! Table of all kinds that are read: their scope, and the fields to keep.
//!
//! Only holds fields that the readers of this module use, never fields that might be useful.

use super::Rule::{self, But, Each, Fields, Keys, Nothing, PodSpec, Presence, Refusal, Scalar, Whole};

/// Scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Its objects have a namespace.
    Namespaced,
    /// Its objects are cluster-scoped.
    Cluster,
}

/// Group, kind, scope, and the parts to keep besides `apiVersion` and `kind`.
const TABLE: &[(&str, &str, Scope, Rule)] = &[
    ("", "Event", Scope::Namespaced, EVENT),
    ("", "LimitRange", Scope::Namespaced, LIMIT_RANGE),
    ("", "Namespace", Scope::Cluster, Fields(&[API, KIND, METADATA])),
    ("", "Node", Scope::Cluster, NODE),
    ("", "PersistentVolume", Scope::Cluster, VOLUME),
    ("", "PersistentVolumeClaim", Scope::Namespaced, VOLUME_CLAIM),
    ("", "Pod", Scope::Namespaced, POD),
    ("", "PodTemplate", Scope::Namespaced, Fields(&[API, KIND, METADATA, TEMPLATE])),
    ("", "ReplicationController", Scope::Namespaced, WORKLOAD),
    ("apps", "DaemonSet", Scope::Namespaced, WORKLOAD),
    ("apps", "Deployment", Scope::Namespaced, WORKLOAD),
    ("apps", "ReplicaSet", Scope::Namespaced, WORKLOAD),
    ("apps", "StatefulSet", Scope::Namespaced, WORKLOAD),
    ("argoproj.io", "Rollout", Scope::Namespaced, WORKLOAD),
    ("autoscaling", "HorizontalPodAutoscaler", Scope::Namespaced, AUTOSCALER),
    ("autoscaling.x-k8s.io", "CapacityBuffer", Scope::Namespaced, OURS),
    ("batch", "CronJob", Scope::Namespaced, WORKLOAD),
    ("batch", "Job", Scope::Namespaced, WORKLOAD),
    ("events.k8s.io", "Event", Scope::Namespaced, EVENT),
    ("karpenter.azure.com", "AKSNodeClass", Scope::Cluster, OURS),
    ("karpenter.sh", "NodeClaim", Scope::Cluster, OURS),
    ("karpenter.sh", "NodeOverlay", Scope::Cluster, OURS),
    ("karpenter.sh", "NodePool", Scope::Cluster, OURS),
    ("keda.sh", "ScaledJob", Scope::Namespaced, WORKLOAD),
    ("keda.sh", "ScaledObject", Scope::Namespaced, AUTOSCALER),
    ("node.k8s.io", "RuntimeClass", Scope::Cluster, RUNTIME_CLASS),
    ("nodeform.dev", "NodeFleet", Scope::Cluster, OURS),
    ("policy", "PodDisruptionBudget", Scope::Namespaced, BUDGET),
    ("scheduling.k8s.io", "PodGroup", Scope::Namespaced, POD_GROUP),
    ("scheduling.k8s.io", "PriorityClass", Scope::Cluster, PRIORITY_CLASS),
    ("scheduling.k8s.io", "Workload", Scope::Namespaced, GROUPS),
    ("scheduling.volcano.sh", "PodGroup", Scope::Namespaced, VOLCANO_GROUP),
    ("storage.k8s.io", "CSINode", Scope::Cluster, CSI_NODE),
    ("storage.k8s.io", "StorageClass", Scope::Cluster, STORAGE_CLASS),
    ("storage.k8s.io", "VolumeAttachment", Scope::Cluster, ATTACHMENT),
];

/// Returns the rule for the objects of a kind; `None` if the kind is not read.
#[must_use]
pub fn rule_of(group: &str, kind: &str) -> Option<Rule> {
    line(group, kind).map(|(_, rule)| rule)
}

/// Returns the scope of a kind; an unknown kind counts as namespaced.
#[must_use]
pub fn scope_of(group: &str, kind: &str) -> Scope {
    line(group, kind).map_or(Scope::Namespaced, |(scope, _)| scope)
}

fn line(group: &str, kind: &str) -> Option<(Scope, Rule)> {
    let found = TABLE.iter().find(|(of, known, ..)| *of == group && *known == kind)?;
    Some((found.2, found.3))
}

const API: (&str, Rule) = ("apiVersion", Scalar);
const KIND: (&str, Rule) = ("kind", Scalar);
const METADATA: (&str, Rule) = ("metadata", META);

/// Annotations that planning reads; each holds only a word or a time.
const ANNOTATIONS: (&str, Rule) = (
    "annotations",
    Keys(&[
        "autoscaling.keda.sh/paused",
        "autoscaling.keda.sh/paused-replicas",
        "controller.kubernetes.io/pod-deletion-cost",
        "helm.sh/hook",
        "karpenter.sh/do-not-disrupt",
        "kubernetes.io/config.mirror",
        "scheduling.k8s.io/group-name",
        "scheduling.volcano.sh/group-name",
        "storageclass.beta.kubernetes.io/is-default-class",
        "storageclass.kubernetes.io/is-default-class",
        "volume.beta.kubernetes.io/storage-class",
    ]),
);

const META: Rule = Fields(&[
    ("name", Scalar),
    ("generateName", Scalar),
    ("namespace", Scalar),
    ("uid", Scalar),
    ("labels", Whole),
    ANNOTATIONS,
    (
        "ownerReferences",
        Each(&Fields(&[("apiVersion", Scalar), KIND, ("name", Scalar), ("controller", Scalar)])),
    ),
    ("creationTimestamp", Scalar),
    ("deletionTimestamp", Scalar),
]);

const CONDITIONS: (&str, Rule) =
    ("conditions", Each(&Fields(&[("type", Scalar), ("status", Scalar), ("lastTransitionTime", Scalar)])));

/// Conditions of a pod, with the reason: it marks a resize that the node can never perform.
const POD_CONDITIONS: (&str, Rule) = (
    "conditions",
    Each(&Fields(&[
        ("type", Scalar),
        ("status", Scalar),
        ("reason", Scalar),
        ("lastTransitionTime", Scalar),
    ])),
);

const CONTAINERS: Rule = Each(&Fields(&[
    ("name", Scalar),
    ("resources", Fields(&[("requests", Whole), ("limits", Whole)])),
    ("restartPolicy", Scalar),
    (
        "ports",
        Each(&Fields(&[
            ("containerPort", Scalar),
            ("hostPort", Scalar),
            ("hostIP", Scalar),
            ("protocol", Scalar),
        ])),
    ),
]));

/// Volumes of a pod: the types that may tie it to a place, and the name of the claim.
const VOLUMES: Rule = Each(&Fields(&[
    ("name", Scalar),
    ("persistentVolumeClaim", Fields(&[("claimName", Scalar)])),
    ("ephemeral", Fields(&[("volumeClaimTemplate", OWN_CLAIM)])),
    ("azureDisk", Fields(&[("diskName", Scalar)])),
]));

const OWN_CLAIM: Rule =
    Fields(&[("metadata", Fields(&[("name", Scalar)])), ("spec", Fields(&[("storageClassName", Scalar)]))]);

const POD_SPEC: Rule = PodSpec(&[
    ("affinity", Whole),
    ("containers", CONTAINERS),
    ("hostNetwork", Scalar),
    ("initContainers", CONTAINERS),
    ("nodeName", Scalar),
    ("nodeSelector", Whole),
    ("os", Fields(&[("name", Scalar)])),
    ("overhead", Whole),
    ("preemptionPolicy", Scalar),
    ("priority", Scalar),
    ("priorityClassName", Scalar),
    ("resourceClaims", Each(&Fields(&[("name", Scalar)]))),
    ("resources", Fields(&[("requests", Whole), ("limits", Whole)])),
    ("runtimeClassName", Scalar),
    ("schedulerName", Scalar),
    ("schedulingGates", Each(&Fields(&[("name", Scalar)]))),
    ("schedulingGroup", Fields(&[("podGroupName", Scalar)])),
    ("tolerations", Whole),
    ("topologySpreadConstraints", Whole),
    ("volumes", VOLUMES),
    ("workloadRef", Fields(&[("name", Scalar), ("podGroup", Scalar), ("podGroupReplicaKey", Scalar)])),
]);

const CONTAINER_STATUSES: Rule = Each(&Fields(&[
    ("name", Scalar),
    ("allocatedResources", Whole),
    ("restartCount", Scalar),
    ("resources", Fields(&[("requests", Whole)])),
]));

const POD: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    ("spec", POD_SPEC),
    (
        "status",
        Fields(&[
            ("nominatedNodeName", Scalar),
            ("phase", Scalar),
            ("startTime", Scalar),
            POD_CONDITIONS,
            ("containerStatuses", CONTAINER_STATUSES),
            ("initContainerStatuses", CONTAINER_STATUSES),
        ]),
    ),
]);

/// Rule for objects of any kind with the full shape of a workload.
pub const ANY_WORKLOAD: Rule = WORKLOAD;

const TEMPLATE: (&str, Rule) =
    ("template", Fields(&[("metadata", Fields(&[("labels", Whole), ANNOTATIONS])), ("spec", POD_SPEC)]));

const JOB_SPEC: Rule = Fields(&[
    ("activeDeadlineSeconds", Scalar),
    ("completions", Scalar),
    ("parallelism", Scalar),
    ("suspend", Scalar),
    TEMPLATE,
]);

/// Workloads of all kinds; fields that only some kinds have do no harm.
const WORKLOAD: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[
            ("activeDeadlineSeconds", Scalar),
            ("completions", Scalar),
            ("concurrencyPolicy", Scalar),
            ("jobTargetRef", JOB_SPEC),
            ("jobTemplate", Fields(&[("spec", JOB_SPEC)])),
            ("maxReplicaCount", Scalar),
            ("minReplicaCount", Scalar),
            ("ordinals", Fields(&[("start", Scalar)])),
            ("parallelism", Scalar),
            ("replicas", Scalar),
            ("schedule", Scalar),
            ("selector", Whole),
            ("suspend", Scalar),
            TEMPLATE,
            ("volumeClaimTemplates", Each(&OWN_CLAIM)),
            ("workloadRef", Fields(&[("apiVersion", Scalar), KIND, ("name", Scalar), ("scaleDown", Scalar)])),
        ]),
    ),
    ("status", Fields(&[("succeeded", Scalar), CONDITIONS])),
]);

const LIMIT_RANGE: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[(
            "limits",
            Each(&Fields(&[
                ("type", Scalar),
                ("default", Whole),
                ("defaultRequest", Whole),
                ("min", Whole),
                ("max", Whole),
                ("maxLimitRequestRatio", Whole),
            ])),
        )]),
    ),
]);

const RUNTIME_CLASS: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    ("overhead", Fields(&[("podFixed", Whole)])),
    ("scheduling", Fields(&[("nodeSelector", Whole), ("tolerations", Whole)])),
]);

const NODE: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    ("spec", Fields(&[("providerID", Scalar), ("taints", Whole), ("unschedulable", Scalar)])),
    ("status", Fields(&[("capacity", Whole), ("allocatable", Whole), CONDITIONS])),
]);

const AUTOSCALER: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[
            ("advanced", Fields(&[("horizontalPodAutoscalerConfig", Fields(&[("name", Scalar)]))])),
            ("idleReplicaCount", Scalar),
            ("maxReplicaCount", Scalar),
            ("maxReplicas", Scalar),
            ("minReplicaCount", Scalar),
            ("minReplicas", Scalar),
            ("scaleTargetRef", Fields(&[("apiVersion", Scalar), KIND, ("name", Scalar)])),
        ]),
    ),
    ("status", Fields(&[("currentReplicas", Scalar), ("desiredReplicas", Scalar), ("hpaName", Scalar)])),
]);

const VOLUME_CLAIM: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[
            ("accessModes", Each(&Scalar)),
            ("resources", Fields(&[("requests", Fields(&[("storage", Scalar)]))])),
            ("selector", Whole),
            ("storageClassName", Scalar),
            ("volumeMode", Scalar),
            ("volumeName", Scalar),
        ]),
    ),
    ("status", Fields(&[("phase", Scalar)])),
]);

/// A PersistentVolume: its driver and where it can be used; never its handle, parameters or secrets.
const VOLUME: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[
            ("accessModes", Each(&Scalar)),
            ("azureDisk", Fields(&[])),
            ("azureFile", Fields(&[])),
            ("capacity", Fields(&[("storage", Scalar)])),
            ("claimRef", Fields(&[("name", Scalar), ("namespace", Scalar)])),
            ("csi", Fields(&[("driver", Scalar)])),
            ("hostPath", Fields(&[])),
            ("local", Fields(&[])),
            ("nodeAffinity", Whole),
            ("storageClassName", Scalar),
            ("volumeMode", Scalar),
        ]),
    ),
    ("status", Fields(&[("phase", Scalar)])),
]);

const STORAGE_CLASS: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    ("allowedTopologies", Whole),
    ("provisioner", Scalar),
    ("volumeBindingMode", Scalar),
]);

const CSI_NODE: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[(
            "drivers",
            Each(&Fields(&[
                ("name", Scalar),
                ("allocatable", Fields(&[("count", Scalar)])),
                ("topologyKeys", Whole),
            ])),
        )]),
    ),
]);

const ATTACHMENT: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[
            ("attacher", Scalar),
            ("nodeName", Scalar),
            ("source", Fields(&[("persistentVolumeName", Scalar)])),
        ]),
    ),
    ("status", Fields(&[("attached", Scalar)])),
]);

const BUDGET: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    (
        "spec",
        Fields(&[
            ("maxUnavailable", Scalar),
            ("minAvailable", Scalar),
            ("selector", Whole),
            ("unhealthyPodEvictionPolicy", Scalar),
        ]),
    ),
    (
        "status",
        Fields(&[
            ("currentHealthy", Scalar),
            ("desiredHealthy", Scalar),
            ("disruptionsAllowed", Scalar),
            ("expectedPods", Scalar),
        ]),
    ),
]);

const ABOUT: Rule = Fields(&[KIND, ("name", Scalar)]);

/// An Event: its object, when it was seen, and the part of its message about a refusal by Azure.
const EVENT: Rule = Fields(&[
    API,
    KIND,
    ("metadata", Fields(&[("name", Scalar), ("namespace", Scalar), ("creationTimestamp", Scalar)])),
    ("deprecatedLastTimestamp", Scalar),
    ("eventTime", Scalar),
    ("firstTimestamp", Scalar),
    ("involvedObject", ABOUT),
    ("lastTimestamp", Scalar),
    ("message", Refusal),
    ("note", Refusal),
    ("regarding", ABOUT),
    ("series", Fields(&[("lastObservedTime", Scalar)])),
]);

/// Policy of a group: its type, and the minimum number of pods.
const GROUP_POLICY: Rule = Fields(&[("gang", Fields(&[("minCount", Scalar)])), ("basic", Presence)]);

const POD_GROUP: Rule =
    Fields(&[API, KIND, METADATA, ("spec", Fields(&[("schedulingPolicy", GROUP_POLICY)]))]);

const GROUPS: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    ("spec", Fields(&[("podGroups", Each(&Fields(&[("name", Scalar), ("policy", GROUP_POLICY)])))])),
]);

const VOLCANO_GROUP: Rule = Fields(&[API, KIND, METADATA, ("spec", Fields(&[("minMember", Scalar)]))]);

const PRIORITY_CLASS: Rule = Fields(&[
    API,
    KIND,
    METADATA,
    ("value", Scalar),
    ("globalDefault", Scalar),
    ("preemptionPolicy", Scalar),
]);

/// Karpenter's and nodeform's kinds are kept whole, so that all their faults are reported, except for metadata that
/// tools add, which may repeat anything.
const OURS: Rule = But(&[
    (
        "metadata",
        But(&[
            ("managedFields", Nothing),
            ("annotations", Keys(&["karpenter.sh/", "karpenter.azure.com/", "nodeform.dev/"])),
        ]),
    ),
    ("status", But(&[("conditions", Each(&But(&[("message", Refusal)])))])),
]);
