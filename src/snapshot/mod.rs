//! A snapshot: nodes, pods, DaemonSets and the catalogue at one point in time, with all gaps.
//!
//! A snapshot is a value. It never reads more data; unreadable data is recorded as a [`Gap`], and assumed data as an
//! [`Assumption`], so nothing downstream mistakes unknown for empty.

pub mod abandoned;
pub mod assemble;
pub mod azure;
pub mod bound_first;
pub mod coming;
pub mod difference;
pub mod file;
pub mod headroom;
pub mod learned;
pub mod obstacles;
pub mod quota;
pub mod storage_classes;
pub mod suppose;
pub mod system_daemons;
pub mod system_node;
pub mod tried;
pub mod wish;
mod written;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

pub use abandoned::Abandoned;
pub use assemble::{AssembleOptions, assemble};
pub use azure::AzureFacts;
pub use suppose::{Question, suppose};
pub use wish::wish;

use crate::catalog::Catalog;
use crate::manifests::tree::shortened_within;
use crate::model::disruption_budget::DisruptionBudget;
use crate::model::eviction::Evictions;
use crate::model::storage::Storage;
use crate::model::{
    Gangs, Group, Namespace, NamespaceLabels, Node, Pod, PodPlace, PodSpec, Preemption, Quota, Refusal,
    Supposed,
};

/// A DaemonSet: what it adds to every node that it may run on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Daemon {
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
    /// What the scheduler reads of its pods.
    pub spec: Arc<PodSpec>,
    /// Whether it is assumed rather than read.
    pub is_assumed: bool,
}

/// Something that could not be read; what depends on it is held back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// What sort of gap it is.
    #[serde(default)]
    pub kind: GapKind,
    /// What could not be read, such as `2 objects of kind Widget that are not understood`.
    pub what: String,
    /// What follows from it for the plan.
    pub consequence: String,
}

/// What sort of gap it is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GapKind {
    /// It was not read, or not understood.
    #[default]
    Unread,
    /// A kind that every cluster has objects of was not asked for.
    Unlisted,
    /// Kinds of the cluster could not be listed.
    Unlistable,
    /// It stands for objects that are rendered elsewhere.
    Unrendered,
    /// It was read, and plans do not follow what it asks for yet.
    WithoutEffect,
}

impl Gap {
    /// What stands behind the kinds that could not be listed.
    const OF_CLUSTER: &str = " of the cluster";

    /// Returns the gap that kinds leave which could not be listed, in kubectl's words.
    #[must_use]
    pub fn of_kinds(words: &[&str]) -> Option<Self> {
        (!words.is_empty()).then(|| Self {
            kind: GapKind::Unlistable,
            what: format!("{}{}", words.join(", "), Self::OF_CLUSTER),
            consequence: "they could not be listed, and are planned as if there were none".to_owned(),
        })
    }

    /// Returns whether it is of a kind that could not be listed, in kubectl's word.
    #[must_use]
    pub fn is_of_kind(&self, word: &str) -> bool {
        let words = self.what.strip_suffix(Self::OF_CLUSTER).filter(|_| self.kind == GapKind::Unlistable);
        words.is_some_and(|words| words.split(", ").any(|known| known == word))
    }
}

impl Gap {
    /// The most items of a list that are named where room is short.
    const ITEMS_MAX: usize = 6;

    /// The most characters of a consequence where room is short: two lines.
    const CONSEQUENCE_MAX: usize = 200;

    /// Returns the gap as it is said where room is short: the end of a long list is counted, and a long consequence is cut
    /// in its middle.
    #[must_use]
    pub fn brief(&self) -> Self {
        let items: Vec<&str> = self.what.split(", ").collect();
        let what = match items.len().saturating_sub(Self::ITEMS_MAX) {
            0 => self.what.clone(),
            more => format!("{} and {more} more kinds", items[..Self::ITEMS_MAX].join(", ")),
        };
        let consequence = shortened_within(&self.consequence, Self::CONSEQUENCE_MAX);
        Self { kind: self.kind, what, consequence }
    }
}

impl std::fmt::Display for Gap {
    /// Writes the gap as it stands in the head of a plan.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, what, consequence } = self;
        let lead = match kind {
            GapKind::Unread | GapKind::Unlistable => "Not read",
            GapKind::Unlisted => "Assumed",
            GapKind::Unrendered => "Not in this plan",
            GapKind::WithoutEffect => "Not planned with",
        };
        write!(formatter, "{lead}: {what}: {consequence}")
    }
}

/// Something that the input did not say and that was taken to be so; shown in the head of the plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Assumption {
    /// What was assumed, such as ``region `eastus` ``.
    pub what: String,
    /// Why, and how to say otherwise.
    pub why: String,
}

impl Assumption {
    /// How an assumed region is written at its start.
    pub const REGION: &str = "region ";

    /// How a region other than that of the nodes is written at its start.
    pub const OTHER_REGION: &str = "prices and sizes of region ";

    /// Returns whether all prices of the plan hang on it.
    #[must_use]
    pub fn moves_prices(&self) -> bool {
        [Self::REGION, Self::OTHER_REGION].iter().any(|start| self.what.starts_with(start))
    }
}

impl std::fmt::Display for Assumption {
    /// Writes the assumption as it stands on the page of a plan.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, why } = self;
        // Consecutive parentheses are hard to read.
        if what.ends_with(')') {
            let mut letters = why.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            return write!(formatter, "Assumed: {what}. {}{}", first.collect::<String>(), letters.as_str());
        }
        write!(formatter, "Assumed: {what} ({why})")
    }
}

/// The world as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// When it was seen; `None` for manifests alone, where nothing that depends on time is decided.
    pub at: Option<Timestamp>,
    /// The cluster's identity (the UID of its `kube-system` namespace); `None` offline.
    pub cluster: Option<Arc<str>>,
    /// Nodes, sorted by name.
    pub nodes: Vec<Node>,
    /// Pods that run or should run, sorted by key.
    pub pods: Vec<Pod>,
    /// DaemonSets, sorted by namespace and name.
    pub daemons: Vec<Daemon>,
    /// Labels of namespaces, for selectors of namespaces; those that the input does not hold have only their name.
    pub namespaces: NamespaceLabels,
    /// Claims, volumes and what else storage is made of.
    pub storage: Storage,
    /// PodDisruptionBudgets, sorted by namespace and name.
    pub budgets: Vec<DisruptionBudget>,
    /// Groups of pods that are bound together, sorted.
    pub groups: Vec<Group>,
    /// What Azure refused, sorted; also what is over by now.
    pub refusals: Vec<Refusal>,
    /// What Azure sells.
    pub catalog: Catalog,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
    /// Whether a system node is assumed that counts for spreads over hosts ([`system_node`]).
    pub assumes_system_node: bool,
    /// What is supposed that is not so, where a question is asked.
    pub supposed: Supposed,
    /// What kube-scheduler makes of the pods that were seen, in the order in which it happens: the pods stand where they do
    /// afterwards ([`crate::solve::preempted`]).
    pub preemptions: Vec<Preemption>,
    /// The subscription's quotas, where they were given or read; without them nothing is limited by any.
    pub quota: Option<Arc<Quota>>,
    /// What Azure said of the cluster; only of a live one.
    pub azure: Option<Arc<AzureFacts>>,
}

impl Snapshot {
    /// Returns whether it is known what runs on nodes: pods were read that do, or a live cluster, whose pods are always
    /// read. A dump without any was likely made without asking for pods.
    #[must_use]
    pub fn knows_running_pods(&self) -> bool {
        self.azure.is_some() || self.pods.iter().any(|pod| matches!(pod.place, PodPlace::Bound(_)))
    }

    /// Returns how many pods may be evicted, by PodDisruptionBudgets and gangs.
    #[must_use]
    pub fn evictions(&self) -> Evictions<'_> {
        Evictions::of(&self.budgets, &self.pods).with_gangs(&self.gangs(), &self.nodes)
    }

    /// Returns the gangs of its pods.
    #[must_use]
    pub fn gangs(&self) -> Gangs<'_> {
        Gangs::of(&self.groups, &self.pods)
    }

    /// Has every pod bound by itself, whatever group it is of; returns how many gangs there were.
    pub fn without_gangs(&mut self) -> usize {
        let count = self.gangs().all().len();
        self.groups.clear();
        let mut known: BTreeMap<Arc<PodSpec>, Arc<PodSpec>> = BTreeMap::new();
        for pod in self.pods.iter_mut().filter(|pod| pod.spec.group.is_some()) {
            let alone = known
                .entry(Arc::clone(&pod.spec))
                .or_insert_with(|| Arc::new(PodSpec { group: None, ..PodSpec::clone(&pod.spec) }));
            pod.spec = Arc::clone(alone);
        }
        count
    }

    /// Returns every node that there is today by name, also those that are supposed not to be there.
    pub fn nodes_today(&self) -> impl Iterator<Item = &Node> {
        let absent = self.supposed.absent.iter().map(|absent| &absent.node);
        let mut nodes: Vec<&Node> = self.nodes.iter().chain(absent).collect();
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        nodes.into_iter()
    }

    /// Returns the same world with these pods instead of its own.
    #[must_use]
    pub fn with_pods(&self, pods: Vec<Pod>) -> Self {
        let Self {
            at,
            cluster,
            nodes,
            pods: _,
            daemons,
            namespaces,
            storage,
            budgets,
            groups,
            refusals,
            catalog,
            gaps,
            assumptions,
            assumes_system_node,
            supposed,
            preemptions,
            quota,
            azure,
        } = self;
        Self {
            at: *at,
            cluster: cluster.clone(),
            nodes: nodes.clone(),
            pods,
            daemons: daemons.clone(),
            namespaces: namespaces.clone(),
            storage: storage.clone(),
            budgets: budgets.clone(),
            groups: groups.clone(),
            refusals: refusals.clone(),
            catalog: catalog.clone(),
            gaps: gaps.clone(),
            assumptions: assumptions.clone(),
            assumes_system_node: *assumes_system_node,
            supposed: supposed.clone(),
            preemptions: preemptions.clone(),
            quota: quota.clone(),
            azure: azure.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gap, GapKind};

    #[test]
    fn a_brief_gap_keeps_the_cause_at_the_end_and_counts_the_kinds_beyond_six() {
        let kinds: Vec<String> = (0..9).map(|kind| format!("1 Kind{kind}")).collect();
        let consequence = format!(
            "`kustomize build ov` failed: {}: open lost.yaml: no such file",
            "on the way ".repeat(40)
        );
        let whole = Gap { kind: GapKind::Unread, what: kinds.join(", "), consequence };
        let brief = whole.brief();
        assert_eq!(brief.what, "1 Kind0, 1 Kind1, 1 Kind2, 1 Kind3, 1 Kind4, 1 Kind5 and 3 more kinds");
        assert!(brief.consequence.starts_with("`kustomize build ov` failed: "), "{brief}");
        assert!(brief.consequence.ends_with(": open lost.yaml: no such file"), "{brief}");
        assert!(brief.consequence.chars().count() <= Gap::CONSEQUENCE_MAX + 1, "{brief}");
        assert_eq!(brief.brief(), brief);
    }
}
