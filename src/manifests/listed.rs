//! The kinds that a dump of a cluster holds, as `kubectl get` names them: one list, for hints, help and docs.

/// The list as a literal, for texts that are put together when the program is built.
macro_rules! cluster_kinds {
    () => {
        "nodes,nodeclaims,nodepools,aksnodeclasses,namespaces,priorityclasses,runtimeclasses,limitranges,\
         daemonsets,deployments,statefulsets,jobs,cronjobs,hpa,pdb,pvc,pv,storageclasses,csinodes,\
         volumeattachments,pods"
    };
}
pub(crate) use cluster_kinds;

/// What `kubectl get` is asked for, of a cluster with node auto provisioning.
pub const CLUSTER_KINDS: &str = cluster_kinds!();

/// The kinds of [`CLUSTER_KINDS`] that a cluster without node auto provisioning does not know.
pub const KARPENTER_KINDS: [&str; 3] = ["nodeclaims", "nodepools", "aksnodeclasses"];

/// A kind that every cluster of AKS has objects of: a dump without any did not ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Everywhere {
    /// PodDisruptionBudgets: AKS guards its own pods with some.
    Budgets,
    /// PriorityClasses: Kubernetes makes two.
    PriorityClasses,
    /// StorageClasses: AKS makes its own.
    StorageClasses,
}

impl Everywhere {
    /// All of them, by name.
    pub const ALL: [Self; 3] = [Self::Budgets, Self::PriorityClasses, Self::StorageClasses];

    /// Returns the kind, of several objects.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Budgets => "PodDisruptionBudgets",
            Self::PriorityClasses => "PriorityClasses",
            Self::StorageClasses => "StorageClasses",
        }
    }

    /// Returns what `kubectl get` calls it.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Budgets => "pdb",
            Self::PriorityClasses => "priorityclasses",
            Self::StorageClasses => "storageclasses",
        }
    }
}
