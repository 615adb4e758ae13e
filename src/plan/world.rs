//! World: what a plan was made from, small enough to travel with it. The checker reads it instead of the input.
//!
//! Identical pods are grouped, and the catalogue holds only sizes that NodeClaims list or that run. A snapshot rebuilt
//! from it is for checking and display, never for planning again: most sizes are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::owner::{self, PodOwner};
use super::propose::network;
use super::spec::PlanSpec;
use super::{ClaimSpec, Plan, storage};
use crate::catalog::Catalog;
use crate::model::disruption_budget::DisruptionBudget;
use crate::model::eviction::Evictions;
use crate::model::storage::Storage;
use crate::model::{
    AbsentNode, CapacityType, ClassName, Fleet, Group, GroupRef, InstanceType, LabelKey, Namespace,
    NamespaceLabels, Node, NodeClass, NodeName, Overlay, Pod, PodKey, PodPlace, PodSpec, PodState, Pool,
    Preemption, Price, Quota, Region, SkuName, Supposed, Workload, label,
};
use crate::policy::Policy;
use crate::snapshot::{Assumption, Daemon, Gap, Snapshot};
use crate::solve::market::Offers;
use crate::solve::price::bought_as;

/// What a plan was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct World {
    /// How many documents were read, where the reader said it.
    #[serde(default)]
    pub documents: Option<usize>,
    /// The region of the catalogue.
    pub region: Region,
    /// Where the catalogue comes from, for people.
    pub catalog: String,
    /// Instance types by class: those that NodeClaims list and those of running nodes.
    #[serde(with = "super::sizes")]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<ClassName, super::sizes::WireSizes>"))]
    pub sizes: BTreeMap<ClassName, Vec<InstanceType>>,
    /// What the VMs cost that nodes have today, offered to a class or not.
    #[serde(default)]
    pub prices: Vec<VmPrice>,
    /// The subscription's quotas, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quota>,
    /// Labels that pods may ask for without their pool naming them, of those that pods ask for.
    pub well_known: BTreeSet<LabelKey>,
    /// NodePools.
    pub pools: Vec<Pool>,
    /// AKSNodeClasses.
    pub classes: Vec<NodeClass>,
    /// NodeOverlays that count, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// The NodeFleet or its defaults.
    pub fleet: Fleet,
    /// Nodes by name.
    pub nodes: Vec<Node>,
    /// Nodes that exist and that the plan supposes not to, by name.
    #[serde(default)]
    pub absent: Vec<AbsentNode>,
    /// DaemonSets.
    pub daemons: Vec<Daemon>,
    /// Labels of namespaces that some pod's selector of namespaces reads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub namespaces: NamespaceLabels,
    /// Claims of the pods, and what those are made of.
    #[serde(default, skip_serializing_if = "storage::is_empty")]
    pub storage: Storage,
    /// PodDisruptionBudgets that are about any of the pods, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<DisruptionBudget>,
    /// Groups of pods that are bound together, of those that the pods name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    /// What the scheduler reads of pods; equal ones once.
    pub pod_specs: Vec<Arc<PodSpec>>,
    /// Pods, those alike but for their name together.
    pub pods: Vec<PodGroup>,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
    /// Whether a system node is assumed that counts for spreads over hosts.
    #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
    pub assumes_system_node: bool,
    /// Pending pods that take the place of pods of a lower priority, in the order in which they do: all stand in
    /// [`World::pods`] where they do afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<Preemption>,
}

/// What a VM costs by the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct VmPrice {
    /// The size.
    pub size: SkuName,
    /// How it was bought.
    pub capacity_type: CapacityType,
    /// The price, without a disk.
    pub price: Price,
    /// What its OS disk is taken to cost where no class says it.
    pub disk: Price,
}

/// Pods that differ in nothing but their name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodGroup {
    /// What the scheduler reads of them: a place in [`World::pod_specs`].
    pub spec: usize,
    /// Their namespace.
    pub namespace: Namespace,
    /// The workload that made them, if one did.
    pub workload: Option<Workload>,
    /// Where they are.
    pub place: PodPlace,
    /// Whether they belong to a DaemonSet or are static pods.
    pub is_daemon: bool,
    /// Whether they ask not to be disrupted.
    pub is_do_not_disrupt: bool,
    /// Whether they are being deleted.
    pub is_terminating: bool,
    /// What else matters before they are evicted.
    #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
    pub state: PodState,
    /// Their names, sorted.
    pub names: Vec<Arc<str>>,
}

impl World {
    /// Returns the world of a plan of which nothing but its decisions is known.
    pub(super) fn unseen(region: Region) -> Self {
        Self {
            documents: None,
            region,
            catalog: String::new(),
            sizes: BTreeMap::new(),
            prices: Vec::new(),
            quota: None,
            well_known: BTreeSet::new(),
            pools: Vec::new(),
            classes: Vec::new(),
            overlays: Vec::new(),
            fleet: Fleet::default(),
            nodes: Vec::new(),
            absent: Vec::new(),
            daemons: Vec::new(),
            namespaces: NamespaceLabels::default(),
            storage: Storage::default(),
            budgets: Vec::new(),
            groups: Vec::new(),
            pod_specs: Vec::new(),
            pods: Vec::new(),
            gaps: Vec::new(),
            assumptions: Vec::new(),
            assumes_system_node: false,
            preemptions: Vec::new(),
        }
    }

    /// Returns what the plan needs of what it was made from.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy, spec: &PlanSpec) -> Self {
        let (pod_specs, pods) = grouped(&snapshot.pods);
        let (mut nodes, mut daemons) = (snapshot.nodes.clone(), snapshot.daemons.clone());
        let sizes = sizes(snapshot, policy, spec);
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        // The identity that a change is bound to is stored with the change.
        nodes.iter_mut().for_each(|node| (node.uid, node.claim_uid) = (None, None));
        daemons.sort();
        Self {
            documents: None,
            region: snapshot.catalog.region.clone(),
            catalog: snapshot.catalog.source().to_owned(),
            quota: quota(snapshot, &sizes),
            sizes,
            prices: prices(snapshot),
            well_known: well_known(snapshot),
            pools: policy.pools.values().cloned().collect(),
            classes: policy.classes.values().cloned().collect(),
            overlays: overlays(snapshot, policy),
            fleet: policy.fleet.clone(),
            nodes,
            absent: snapshot.supposed.absent.clone(),
            namespaces: read_by_selectors(snapshot, &pod_specs),
            storage: storage::of_pods(&snapshot.storage, &snapshot.pods),
            budgets: budgets(snapshot),
            groups: groups(snapshot),
            daemons,
            pod_specs,
            pods,
            gaps: snapshot.gaps.clone(),
            assumptions: snapshot.assumptions.clone(),
            assumes_system_node: snapshot.assumes_system_node,
            preemptions: snapshot.preemptions.clone(),
        }
    }

    /// Returns how many pods were seen, without the room that CapacityBuffers keep.
    #[must_use]
    pub fn pod_count(&self) -> usize {
        let is_pods = |group: &&PodGroup| {
            let name = || {
                group
                    .names
                    .first()
                    .map(|name| PodKey { namespace: group.namespace.clone(), name: name.clone() })
            };
            !name().is_some_and(|key| key.is_placeholder())
        };
        self.pods.iter().filter(is_pods).map(|group| group.names.len()).sum()
    }

    /// Returns whose pods have to be evicted where a node goes; an owner may be named more than once.
    pub fn evicted_owners<'w>(&'w self, node: &'w NodeName) -> impl Iterator<Item = PodOwner> + 'w {
        let is_here =
            move |group: &&PodGroup| matches!(&group.place, PodPlace::Bound(place) if place == node);
        let groups = self.pods.iter().filter(is_here);
        groups.flat_map(|group| owner::owners(&self.pods_of(group)))
    }

    fn pods_of(&self, group: &PodGroup) -> Vec<Pod> {
        // An index out of range, which no written plan has, requests nothing.
        let spec = self.pod_specs.get(group.spec).cloned().unwrap_or_default();
        let pod = |name: &Arc<str>| Pod {
            key: PodKey { namespace: group.namespace.clone(), name: name.clone() },
            workload: group.workload.clone(),
            spec: spec.clone(),
            place: group.place.clone(),
            is_daemon: group.is_daemon,
            is_do_not_disrupt: group.is_do_not_disrupt,
            is_terminating: group.is_terminating,
            state: group.state.clone(),
        };
        group.names.iter().map(pod).collect()
    }

    fn pod_list(&self) -> Vec<Pod> {
        let mut pods = Vec::with_capacity(self.pod_count());
        for group in &self.pods {
            pods.extend(self.pods_of(group));
        }
        pods.sort_by(|one, other| one.key.cmp(&other.key));
        pods
    }
}

impl Plan {
    /// Rebuilds what the plan was made from, as far as it travels with the plan: enough to judge it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { pods: self.evidence.world.pod_list(), ..self.snapshot_without_pods() }
    }

    /// Rebuilds the same but for the pods, of which there may be many: what nodes are and cost does not depend on them.
    pub(super) fn snapshot_without_pods(&self) -> Snapshot {
        let world = &self.evidence.world;
        Snapshot {
            at: self.evidence.seen_at,
            cluster: self.spec.cluster.clone(),
            nodes: world.nodes.clone(),
            pods: Vec::new(),
            daemons: world.daemons.clone(),
            namespaces: world.namespaces.clone(),
            storage: world.storage.clone(),
            budgets: world.budgets.clone(),
            groups: world.groups.clone(),
            // The choices made because of them are in the plan; no check reads them.
            refusals: Vec::new(),
            catalog: Catalog::recorded(world.region.clone(), world.sizes.clone(), world.well_known.clone())
                .with_prices(
                    world.prices.iter().map(|vm| ((vm.size.clone(), vm.capacity_type), (vm.price, vm.disk))),
                ),
            gaps: world.gaps.clone(),
            assumptions: world.assumptions.clone(),
            assumes_system_node: world.assumes_system_node,
            preemptions: world.preemptions.clone(),
            quota: world.quota.clone().map(Arc::new),
            azure: None,
            supposed: Supposed {
                what_if: self.spec.what_if.clone(),
                absent: world.absent.clone(),
                wishes: self.spec.wishes.clone(),
            },
        }
    }

    /// Rebuilds the policy that the plan follows from.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let World { pools, classes, overlays, fleet, .. } = &self.evidence.world;
        Policy {
            pools: pools.iter().map(|pool| (pool.name.clone(), pool.clone())).collect(),
            classes: classes.iter().map(|class| (class.name.clone(), class.clone())).collect(),
            overlays: overlays.iter().map(|overlay| (overlay.name.clone(), overlay.clone())).collect(),
            fleet: fleet.clone(),
            ..Policy::default()
        }
    }
}

/// Returns the budgets that are about any pod.
fn budgets(snapshot: &Snapshot) -> Vec<DisruptionBudget> {
    let evictions = Evictions::of(&snapshot.budgets, &snapshot.pods);
    let about: BTreeSet<usize> = snapshot.pods.iter().flat_map(|pod| evictions.about(pod)).collect();
    let known = about.into_iter().filter_map(|place| evictions.guard(place));
    let mut budgets: Vec<DisruptionBudget> = known.map(|guard| guard.budget.clone()).collect();
    budgets.sort();
    budgets
}

/// Returns the groups that pods name.
fn groups(snapshot: &Snapshot) -> Vec<Group> {
    let named = snapshot.pods.iter().filter_map(|pod| Some((&pod.key.namespace, pod.spec.group.as_ref()?)));
    let named: BTreeSet<(&Namespace, GroupRef)> =
        named.map(|(namespace, group)| (namespace, group.declared())).collect();
    let is_named = |group: &&Group| named.contains(&(&group.namespace, group.name.clone()));
    snapshot.groups.iter().filter(is_named).cloned().collect()
}

/// Returns the labels of namespaces that selectors of namespaces read.
fn read_by_selectors(snapshot: &Snapshot, specs: &[Arc<PodSpec>]) -> NamespaceLabels {
    let daemons = snapshot.daemons.iter().map(|daemon| &daemon.spec);
    let mut keys: BTreeSet<&LabelKey> = BTreeSet::new();
    for selector in specs.iter().chain(daemons).flat_map(|spec| spec.namespace_selectors()) {
        keys.extend(selector.0.iter().map(|(key, _)| key));
    }
    if keys.is_empty() {
        return NamespaceLabels::new();
    }
    let mut namespaces = snapshot.namespaces.clone();
    for labels in namespaces.values_mut() {
        labels.retain(|key, _| keys.contains(key));
    }
    namespaces
}

fn grouped(pods: &[Pod]) -> (Vec<Arc<PodSpec>>, Vec<PodGroup>) {
    // Ordered by content, whatever the order of the pods.
    let contents: BTreeSet<&Arc<PodSpec>> = pods.iter().map(|pod| &pod.spec).collect();
    let places: BTreeMap<&PodSpec, usize> =
        contents.iter().enumerate().map(|(place, spec)| (&***spec, place)).collect();
    let mut groups: BTreeMap<_, Vec<Arc<str>>> = BTreeMap::new();
    for pod in pods {
        let Pod { key, workload, spec, place, is_daemon, is_do_not_disrupt, is_terminating, state } = pod;
        let spec = places.get(&**spec).copied().unwrap_or(0);
        let flags = (*is_daemon, *is_do_not_disrupt, *is_terminating);
        let alike = (spec, &key.namespace, workload, place, (flags, state));
        groups.entry(alike).or_default().push(key.name.clone());
    }
    let group = |((spec, namespace, workload, place, (flags, state)), mut names): (_, Vec<Arc<str>>)| {
        let (is_daemon, is_do_not_disrupt, is_terminating) = flags;
        let (namespace, workload): (&Namespace, &Option<Workload>) = (namespace, workload);
        let (place, state): (&PodPlace, &PodState) = (place, state);
        names.sort();
        PodGroup {
            spec,
            namespace: namespace.clone(),
            workload: workload.clone(),
            place: place.clone(),
            is_daemon,
            is_do_not_disrupt,
            is_terminating,
            state: state.clone(),
            names,
        }
    };
    (contents.into_iter().cloned().collect(), groups.into_iter().map(group).collect())
}

/// Returns the overlays that count: which those are follows from sizes that do not travel with the plan.
fn overlays(snapshot: &Snapshot, policy: &Policy) -> Vec<Overlay> {
    if policy.overlays.is_empty() {
        return Vec::new();
    }
    let counting = Offers::of(snapshot, policy).overlaid.counting;
    policy.overlays.values().filter(|overlay| counting.contains(&overlay.name)).cloned().collect()
}

/// Returns the instance types of planned and running nodes, by class.
fn sizes(snapshot: &Snapshot, policy: &Policy, spec: &PlanSpec) -> BTreeMap<ClassName, Vec<InstanceType>> {
    let mut wanted: BTreeMap<&ClassName, Wanted<'_>> = BTreeMap::new();
    for claim in spec.claims.values() {
        wanted.entry(&claim.class).or_default().list(claim);
    }
    for node in snapshot.nodes_today() {
        let Some(size) = node.labels.get(label::INSTANCE_TYPE) else { continue };
        // If a node's own class does not have its size, any other class that does describes it.
        for class in policy.classes.keys() {
            wanted.entry(class).or_default().whole.insert(size);
        }
    }
    let network = network(policy);
    let of_class = |(name, wanted): (&ClassName, Wanted<'_>)| {
        let offered = snapshot.catalog.offered(policy.classes.get(name)?, network);
        Some((name.clone(), offered.types.iter().cloned().filter_map(|kind| wanted.cut(kind)).collect()))
    };
    wanted.into_iter().filter_map(of_class).collect()
}

/// What a plan needs of what a class is offered.
#[derive(Default)]
struct Wanted<'a> {
    /// The sizes that are needed with all their offerings.
    whole: BTreeSet<&'a str>,
    /// What else claims list: size, zone and capacity type.
    listed: BTreeMap<&'a str, BTreeSet<(&'a str, &'a str)>>,
}

impl<'a> Wanted<'a> {
    /// Whether each choice of a claim holds what the first one does shows only with all that it lists.
    fn list(&mut self, claim: &'a ClaimSpec) {
        self.whole.insert(claim.primary.size.as_str());
        let values = |key: &str| {
            let listed = claim.requirements.get(key).and_then(|wanted| wanted.listed());
            listed.into_iter().flatten().map(|value| &**value)
        };
        // For a claim with `minValues`, everything that it might have been is checked.
        let must_be_choice = claim.requirements.iter().any(|(_, wanted)| wanted.min_values().is_some());
        for size in values(label::INSTANCE_TYPE) {
            if must_be_choice {
                self.whole.insert(size);
                continue;
            }
            let there = self.listed.entry(size).or_default();
            for zone in values(label::ZONE) {
                there.extend(values(label::CAPACITY_TYPE).map(|capacity_type| (zone, capacity_type)));
            }
        }
    }

    /// Returns what is needed of an instance type.
    fn cut(&self, mut kind: InstanceType) -> Option<InstanceType> {
        if self.whole.contains(kind.name.as_str()) {
            return Some(kind);
        }
        let listed = self.listed.get(kind.name.as_str())?;
        kind.offerings
            .retain(|offering| listed.contains(&(offering.zone.as_str(), offering.capacity_type.as_str())));
        (!kind.offerings.is_empty()).then_some(kind)
    }
}

/// Returns the quotas, with what VMs of these sizes take of them and those of the nodes that there are.
fn quota(snapshot: &Snapshot, sizes: &BTreeMap<ClassName, Vec<InstanceType>>) -> Option<Quota> {
    let quota = snapshot.quota.as_deref()?.clone();
    let bought = snapshot.nodes_today().filter_map(bought_as).map(|(size, _)| size);
    let listed = sizes.values().flatten().map(|kind| kind.name.clone());
    let claimed = snapshot.nodes_today().flat_map(|node| &node.claimed.sizes).map(SkuName::new);
    let needed: BTreeSet<SkuName> = bought.chain(listed).chain(claimed).collect();
    Some(quota.with_only(|size| needed.contains(size)))
}

/// Returns what today's VMs cost.
fn prices(snapshot: &Snapshot) -> Vec<VmPrice> {
    let bought: BTreeSet<(SkuName, CapacityType)> = snapshot.nodes_today().filter_map(bought_as).collect();
    let price = |(size, capacity_type): (SkuName, CapacityType)| {
        let price = snapshot.catalog.price(&size, capacity_type);
        let disk = snapshot.catalog.assumed_os_disk(&size);
        VmPrice { size, capacity_type, price, disk }
    };
    bought.into_iter().map(price).collect()
}

/// Returns the labels that pods ask for and that the catalogue gives a meaning.
fn well_known(snapshot: &Snapshot) -> BTreeSet<LabelKey> {
    let mut specs: BTreeSet<&PodSpec> = snapshot.pods.iter().map(|pod| &*pod.spec).collect();
    specs.extend(snapshot.daemons.iter().map(|daemon| &*daemon.spec));
    let mut keys = BTreeSet::new();
    for spec in specs {
        let affinity = &spec.node_affinity;
        let required = affinity.required.iter().flatten();
        let preferred = affinity.preferred.iter().map(|preferred| &preferred.term);
        for term in required.chain(preferred).chain([&spec.node_selector]) {
            keys.extend(term.iter().map(|(key, _)| key).filter(|key| snapshot.catalog.is_well_known(key)));
        }
    }
    keys.into_iter().cloned().collect()
}
