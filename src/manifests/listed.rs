//! The kinds in a dump of a cluster, as `kubectl get` names them: one list for hints, help and docs.

/// The list as a literal, for texts assembled at compile time.
macro_rules! cluster_kinds {
    () => {
        "nodes,nodeclaims,nodepools,aksnodeclasses,namespaces,priorityclasses,runtimeclasses,limitranges,\
         daemonsets,deployments,statefulsets,jobs,cronjobs,hpa,pdb,pvc,pv,storageclasses,csinodes,\
         volumeattachments,pods"
    };
}
pub(crate) use cluster_kinds;

/// Arguments of `kubectl get` for a cluster with node auto provisioning.
pub const CLUSTER_KINDS: &str = cluster_kinds!();

/// Kinds of [`CLUSTER_KINDS`] that do not exist in a cluster without node auto provisioning.
pub const KARPENTER_KINDS: [&str; 3] = ["nodeclaims", "nodepools", "aksnodeclasses"];

/// A kind to list from a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedKind {
    /// Its name in `kubectl get`.
    pub word: &'static str,
    /// Its unique name with the group, as in `kubectl api-resources -o name`.
    pub resource: &'static str,
}

const fn listed(word: &'static str, resource: &'static str) -> ListedKind {
    ListedKind { word, resource }
}

/// Kinds in a snapshot of a live cluster, if the cluster serves them: [`CLUSTER_KINDS`], and kinds that only some
/// clusters have. Never Secrets or ConfigMaps.
pub const SNAPSHOT_KINDS: [ListedKind; 31] = [
    listed("nodes", "nodes"),
    listed("nodeclaims", "nodeclaims.karpenter.sh"),
    listed("nodepools", "nodepools.karpenter.sh"),
    listed("aksnodeclasses", "aksnodeclasses.karpenter.azure.com"),
    listed("namespaces", "namespaces"),
    listed("priorityclasses", "priorityclasses.scheduling.k8s.io"),
    listed("runtimeclasses", "runtimeclasses.node.k8s.io"),
    listed("limitranges", "limitranges"),
    listed("daemonsets", "daemonsets.apps"),
    listed("deployments", "deployments.apps"),
    listed("statefulsets", "statefulsets.apps"),
    listed("jobs", "jobs.batch"),
    listed("cronjobs", "cronjobs.batch"),
    listed("hpa", "horizontalpodautoscalers.autoscaling"),
    listed("pdb", "poddisruptionbudgets.policy"),
    listed("pvc", "persistentvolumeclaims"),
    listed("pv", "persistentvolumes"),
    listed("storageclasses", "storageclasses.storage.k8s.io"),
    listed("csinodes", "csinodes.storage.k8s.io"),
    listed("volumeattachments", "volumeattachments.storage.k8s.io"),
    listed("pods", "pods"),
    listed("nodefleets", "nodefleets.nodeform.dev"),
    listed("nodeoverlays", "nodeoverlays.karpenter.sh"),
    listed("capacitybuffers", "capacitybuffers.autoscaling.x-k8s.io"),
    listed("podtemplates", "podtemplates"),
    listed("scaledobjects", "scaledobjects.keda.sh"),
    listed("scaledjobs", "scaledjobs.keda.sh"),
    listed("rollouts", "rollouts.argoproj.io"),
    listed("podgroups.scheduling.k8s.io", "podgroups.scheduling.k8s.io"),
    listed("workloads.scheduling.k8s.io", "workloads.scheduling.k8s.io"),
    listed("podgroups.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh"),
];

/// Kinds that every plan of a cluster needs: a node whose pods are not visible looks empty.
pub const NEEDED_KINDS: [&str; 2] = ["nodes", "pods"];

/// A kind of which every AKS cluster has objects: a dump without any did not request it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Everywhere {
    /// PodDisruptionBudgets: AKS protects its own pods with some.
    Budgets,
    /// PriorityClasses: Kubernetes creates two.
    PriorityClasses,
    /// StorageClasses: AKS creates its own.
    StorageClasses,
}

impl Everywhere {
    /// All of them, sorted by name.
    pub const ALL: [Self; 3] = [Self::Budgets, Self::PriorityClasses, Self::StorageClasses];

    /// Returns the plural of the kind.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Budgets => "PodDisruptionBudgets",
            Self::PriorityClasses => "PriorityClasses",
            Self::StorageClasses => "StorageClasses",
        }
    }

    /// Returns its name in `kubectl get`.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Budgets => "pdb",
            Self::PriorityClasses => "priorityclasses",
            Self::StorageClasses => "storageclasses",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CLUSTER_KINDS, Everywhere, NEEDED_KINDS, SNAPSHOT_KINDS};

    #[test]
    fn a_snapshot_holds_the_kinds_of_a_dump_and_no_secrets() {
        let words: Vec<&str> = SNAPSHOT_KINDS.iter().map(|kind| kind.word).collect();
        let of_dump: Vec<&str> = CLUSTER_KINDS.split(',').collect();
        assert!(words.starts_with(&of_dump), "{words:?}");
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "each once");
        let mut needed = NEEDED_KINDS.into_iter().chain(Everywhere::ALL.map(Everywhere::short));
        assert!(needed.all(|word| words.contains(&word)));
        let is_secret = |word: &&str| word.contains("secret") || word.contains("configmap");
        assert!(!SNAPSHOT_KINDS.iter().any(|kind| is_secret(&kind.word) || is_secret(&kind.resource)));
    }
}
