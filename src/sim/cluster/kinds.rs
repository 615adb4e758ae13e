//! The kinds that the API server serves: built-in ones, and those of CustomResourceDefinitions.

use serde_json::Value;

use crate::sim::json::{is_true, list, text, text_or_empty};

/// Index of a kind in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindId(usize);

/// A kind of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The API group; empty for the core group.
    pub(crate) group: String,
    /// Served versions, the preferred one first.
    pub(crate) versions: Vec<String>,
    pub(crate) plural: String,
    pub(crate) kind: String,
    pub(crate) is_namespaced: bool,
    pub(crate) has_status: bool,
    pub(crate) has_scale: bool,
    pub(crate) short_names: Vec<String>,
    /// Whether it is defined by a CustomResourceDefinition; strategic merge patches are refused then.
    pub(crate) is_custom: bool,
    /// Whether its definition makes the spec immutable with the CEL rule `self == oldSelf`.
    pub(crate) is_spec_immutable: bool,
}

impl Kind {
    /// Returns the `apiVersion` of a version of this kind.
    pub(crate) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    /// Returns the plural with its group, as error messages name a resource.
    pub(crate) fn resource(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }
}

pub(crate) const PODS: KindId = KindId(0);
pub(crate) const NODES: KindId = KindId(1);
pub(crate) const NAMESPACES: KindId = KindId(2);
pub(crate) const SECRETS: KindId = KindId(3);
pub(crate) const DEPLOYMENTS: KindId = KindId(4);
pub(crate) const REPLICA_SETS: KindId = KindId(5);
pub(crate) const STATEFUL_SETS: KindId = KindId(6);
pub(crate) const DAEMON_SETS: KindId = KindId(7);
pub(crate) const JOBS: KindId = KindId(8);
pub(crate) const BUDGETS: KindId = KindId(9);
pub(crate) const DEFINITIONS: KindId = KindId(10);

/// `group version plural Kind scope subresources short-names`: `N` is namespaced, `C` cluster-scoped; `s` is a status
/// subresource, `c` a scale subresource. The first eleven have constants.
const BUILT_IN: &str = "\
- v1 pods Pod N s po
- v1 nodes Node C s no
- v1 namespaces Namespace C s ns
- v1 secrets Secret N - -
apps v1 deployments Deployment N sc deploy
apps v1 replicasets ReplicaSet N sc rs
apps v1 statefulsets StatefulSet N sc sts
apps v1 daemonsets DaemonSet N s ds
batch v1 jobs Job N s -
policy v1 poddisruptionbudgets PodDisruptionBudget N s pdb
apiextensions.k8s.io v1 customresourcedefinitions CustomResourceDefinition C s crd
- v1 configmaps ConfigMap N - cm
- v1 endpoints Endpoints N - ep
- v1 events Event N - ev
- v1 limitranges LimitRange N - limits
- v1 persistentvolumeclaims PersistentVolumeClaim N s pvc
- v1 persistentvolumes PersistentVolume C s pv
- v1 replicationcontrollers ReplicationController N sc rc
- v1 resourcequotas ResourceQuota N s quota
- v1 serviceaccounts ServiceAccount N - sa
- v1 services Service N s svc
admissionregistration.k8s.io v1 mutatingwebhookconfigurations MutatingWebhookConfiguration C - -
admissionregistration.k8s.io v1 validatingwebhookconfigurations ValidatingWebhookConfiguration C - -
apps v1 controllerrevisions ControllerRevision N - -
autoscaling v2 horizontalpodautoscalers HorizontalPodAutoscaler N s hpa
batch v1 cronjobs CronJob N s cj
coordination.k8s.io v1 leases Lease N - -
discovery.k8s.io v1 endpointslices EndpointSlice N - -
events.k8s.io v1 events Event N - ev
networking.k8s.io v1 ingresses Ingress N s ing
networking.k8s.io v1 networkpolicies NetworkPolicy N - netpol
node.k8s.io v1 runtimeclasses RuntimeClass C - -
rbac.authorization.k8s.io v1 clusterroles ClusterRole C - -
rbac.authorization.k8s.io v1 clusterrolebindings ClusterRoleBinding C - -
rbac.authorization.k8s.io v1 roles Role N - -
rbac.authorization.k8s.io v1 rolebindings RoleBinding N - -
resource.k8s.io v1 deviceclasses DeviceClass C - -
resource.k8s.io v1 resourceclaims ResourceClaim N s -
resource.k8s.io v1 resourceclaimtemplates ResourceClaimTemplate N - -
resource.k8s.io v1 resourceslices ResourceSlice C - -
scheduling.k8s.io v1 priorityclasses PriorityClass C - pc
storage.k8s.io v1 csidrivers CSIDriver C - -
storage.k8s.io v1 csinodes CSINode C - -
storage.k8s.io v1 csistoragecapacities CSIStorageCapacity N - -
storage.k8s.io v1 storageclasses StorageClass C - sc
storage.k8s.io v1 volumeattachments VolumeAttachment C s -
";

/// All kinds.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    all: Vec<Kind>,
}

impl Kinds {
    /// Returns the built-in kinds.
    pub(crate) fn built_in() -> Self {
        Self { all: BUILT_IN.lines().filter_map(built_in).collect() }
    }

    pub(crate) fn get(&self, id: KindId) -> &Kind {
        &self.all[id.0]
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (KindId, &Kind)> {
        self.all.iter().enumerate().map(|(at, kind)| (KindId(at), kind))
    }

    /// Returns the kind of a resource, if this version of its group is served.
    pub(crate) fn by_plural(&self, group: &str, version: &str, plural: &str) -> Option<KindId> {
        self.find(|kind| {
            kind.group == group && kind.plural == plural && kind.versions.iter().any(|v| v == version)
        })
    }

    /// Returns the kind of an object and the version in which it is written.
    pub(crate) fn of_object(&self, object: &Value) -> Option<(KindId, String)> {
        let api_version = text(object, "/apiVersion")?;
        let name = text(object, "/kind")?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let id = self.find(|kind| {
            kind.group == group && kind.kind == name && kind.versions.iter().any(|v| v == version)
        })?;
        Some((id, version.to_owned()))
    }

    fn find(&self, holds: impl Fn(&Kind) -> bool) -> Option<KindId> {
        self.all.iter().position(holds).map(KindId)
    }

    /// Adds or updates the kind of a CustomResourceDefinition. Kinds are never removed: their objects may still be
    /// requested.
    pub(crate) fn define(&mut self, definition: &Value) {
        let Some(kind) = custom(definition) else { return };
        match self.all.iter_mut().find(|known| known.group == kind.group && known.plural == kind.plural) {
            Some(known) => *known = kind,
            None => self.all.push(kind),
        }
    }
}

fn built_in(line: &str) -> Option<Kind> {
    let mut words = line.split(' ');
    let group = words.next()?;
    let version = words.next()?;
    let plural = words.next()?;
    let kind = words.next()?;
    let scope = words.next()?;
    let subresources = words.next()?;
    let short = words.next()?;
    Some(Kind {
        group: if group == "-" { String::new() } else { group.to_owned() },
        versions: vec![version.to_owned()],
        plural: plural.to_owned(),
        kind: kind.to_owned(),
        is_namespaced: scope == "N",
        has_status: subresources.contains('s'),
        has_scale: subresources.contains('c'),
        short_names: if short == "-" { Vec::new() } else { vec![short.to_owned()] },
        is_custom: false,
        is_spec_immutable: false,
    })
}

fn custom(definition: &Value) -> Option<Kind> {
    let spec = definition.get("spec")?;
    let served: Vec<&Value> =
        list(spec, "/versions").iter().filter(|version| is_true(version, "/served")).collect();
    // The storage version is preferred. Kubernetes orders by version priority instead, which is the same for kinds with
    // one version.
    let mut versions: Vec<(bool, String)> = served
        .iter()
        .map(|version| (!is_true(version, "/storage"), text_or_empty(version, "/name").to_owned()))
        .collect();
    versions.sort();
    Some(Kind {
        group: text(spec, "/group")?.to_owned(),
        versions: versions.into_iter().map(|(_, name)| name).collect(),
        plural: text(spec, "/names/plural")?.to_owned(),
        kind: text(spec, "/names/kind")?.to_owned(),
        is_namespaced: text(spec, "/scope") == Some("Namespaced"),
        has_status: served.iter().any(|version| version.pointer("/subresources/status").is_some()),
        has_scale: served.iter().any(|version| version.pointer("/subresources/scale").is_some()),
        short_names: list(spec, "/names/shortNames")
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        is_custom: true,
        is_spec_immutable: served.iter().any(|version| is_spec_immutable(version)),
    })
}

/// The only CEL rule that is enforced here.
const IMMUTABLE: &str = "self == oldSelf";

fn is_spec_immutable(version: &Value) -> bool {
    let rules = "/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations";
    list(version, rules).iter().any(|rule| text(rule, "/rule") == Some(IMMUTABLE))
}

/// Kinds that nodeform and Karpenter define, for worlds without CustomResourceDefinitions: `group version plural Kind
/// short-name rule`; all are cluster-scoped and have a status. Rule `i`: the spec is immutable.
const USUAL_CUSTOM: [&str; 7] = [
    "karpenter.sh v1 nodepools NodePool - -",
    "karpenter.sh v1 nodeclaims NodeClaim - i",
    "karpenter.azure.com v1beta1 aksnodeclasses AKSNodeClass aksnc -",
    "nodeform.dev v1alpha1 nodefleets NodeFleet nf -",
    "nodeform.dev v1alpha1 nodeplans NodePlan np i",
    "nodeform.dev v1alpha1 nodeplanchunks NodePlanChunk - i",
    "nodeform.dev v1alpha1 nodeplanapprovals NodePlanApproval npa i",
];

/// Returns the definitions of the kinds that nodeform and Karpenter define.
pub(crate) fn usual_definitions() -> Vec<Value> {
    USUAL_CUSTOM
        .iter()
        .filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let &[group, version, plural, kind, short, rule] = words.as_slice() else { return None };
            let short: Vec<&str> = if short == "-" { Vec::new() } else { vec![short] };
            let mut schema =
                serde_json::json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            if rule == "i" {
                schema["properties"]["spec"] = serde_json::json!({
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "x-kubernetes-validations": [{"message": "spec is immutable", "rule": IMMUTABLE}],
                });
            }
            Some(serde_json::json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": format!("{plural}.{group}")},
                "spec": {
                    "group": group,
                    "scope": "Cluster",
                    "names": {
                        "plural": plural, "kind": kind, "singular": kind.to_lowercase(),
                        "listKind": format!("{kind}List"), "shortNames": short,
                    },
                    "versions": [{
                        "name": version, "served": true, "storage": true, "subresources": {"status": {}},
                        "additionalPrinterColumns": [
                            {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
                            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                        ],
                        "schema": {"openAPIV3Schema": schema},
                    }],
                },
            }))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_name_the_kinds_that_they_say() {
        let kinds = Kinds::built_in();
        let named =
            [PODS, NODES, NAMESPACES, SECRETS, DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS]
                .map(|id| kinds.get(id).kind.clone());
        assert_eq!(
            named,
            [
                "Pod",
                "Node",
                "Namespace",
                "Secret",
                "Deployment",
                "ReplicaSet",
                "StatefulSet",
                "DaemonSet",
                "Job"
            ]
        );
        assert_eq!(kinds.get(BUDGETS).kind, "PodDisruptionBudget");
        assert_eq!(kinds.get(DEFINITIONS).kind, "CustomResourceDefinition");
        assert_eq!(kinds.all().count(), BUILT_IN.lines().count());
    }
}
