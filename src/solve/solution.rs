//! Result of solving: the target fleet, and the reasons for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{
    CapacityType, DisruptionReason, ExtraCost, Form, InstanceType, LabelKey, MicroUsdPerHour, NodeName,
    PodKey, PoolName, Preference, Price, Resources, SchedulingRule, SkuName, Workload, Zone,
};

use super::caution::Weighed;
use super::ledger::Vm;

/// The fleet that should exist, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solution {
    /// The fleet.
    pub target: Target,
    /// Why it is so, and what it leaves out.
    pub report: Report,
}

/// The fleet that should exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Nodes that exist and stay, by name, with the waiting pods that go there.
    pub kept: Vec<Kept>,
    /// Nodes to make; equal ones stand beside each other, in a defined order.
    pub new: Vec<NewNode>,
    /// Nodes to remove, by name.
    pub removed: Vec<Removal>,
}

impl Target {
    /// Returns whether nothing is to be done. To keep room where there is some is nothing to do.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        let is_quiet = |kept: &Kept| kept.pods.iter().all(PodKey::is_placeholder);
        self.new.is_empty() && self.removed.is_empty() && self.kept.iter().all(is_quiet)
    }

    /// Returns where each pod is placed that waits or moves.
    pub(super) fn places(&self) -> BTreeMap<&PodKey, NodeRef> {
        let kept = self.kept.iter();
        let kept =
            kept.flat_map(|kept| kept.pods.iter().map(|pod| (pod, NodeRef::Existing(kept.node.clone()))));
        let new = self.new.iter().enumerate();
        kept.chain(
            new.flat_map(|(number, node)| node.pods.iter().map(move |pod| (pod, NodeRef::New(number)))),
        )
        .collect()
    }

    /// Returns the names of the nodes that go.
    #[must_use]
    pub fn removed_names(&self) -> BTreeSet<NodeName> {
        self.removed.iter().map(|removal| removal.node.clone()).collect()
    }
}

/// A node that exists, or is on its way, and stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The node.
    pub node: NodeName,
    /// The waiting pods that are placed there, sorted; those that run there are not repeated.
    pub pods: Vec<PodKey>,
}

/// A node to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNode {
    /// Its pool.
    pub pool: PoolName,
    /// Its size.
    pub size: SkuName,
    /// Its zone; `0` is Azure's "no zone".
    pub zone: Zone,
    /// How it is bought.
    pub capacity_type: CapacityType,
    /// What it costs by the list: VM and managed OS disk.
    pub list_price: Price,
    /// What it costs the user: with discounts, and `costPerNode`.
    pub effective_price: Price,
    /// What choosing counted beside that, where availability is preferred: nobody pays it.
    pub premium: MicroUsdPerHour,
    /// What its pods and daemonsets ask for together.
    pub requests: Resources,
    /// What of it daemonsets ask for.
    pub daemon_requests: Resources,
    /// What pods and daemonsets may use.
    pub allocatable: Resources,
    /// What the VM has in all.
    pub capacity: Resources,
    /// The labels that its pods asked for and that the pool leaves open: one value each.
    pub labels: BTreeMap<crate::model::LabelKey, std::sync::Arc<str>>,
    /// The pods that are placed there, sorted.
    pub pods: Vec<PodKey>,
    /// The pod for whose sake a node of this pool, and of no heavier one, was opened; none where the pool asks for a
    /// number of nodes (`replicas`).
    pub opened_for: Option<PodKey>,
    /// The other ways to have a node that holds the same pods, cheapest first.
    pub substitutes: Vec<Substitute>,
    /// What `minValues` of its pool asks of what it may become.
    pub variety: Variety,
    /// Whether its shape or zones are estimated from the size's name.
    pub is_estimate: bool,
}

impl NewNode {
    /// Returns its VM, of this size, as limits count it.
    #[must_use]
    pub fn vm<'k>(&self, kind: &'k InstanceType) -> Vm<'k> {
        Vm { kind, capacity_type: self.capacity_type, price: self.effective_price.known() }
    }

    /// Returns what it costs and what it counts as.
    #[must_use]
    pub fn weighed(&self) -> Weighed {
        let price = self.effective_price.known();
        (price, price.map(|price| price + self.premium))
    }
}

/// Another size, zone or capacity type that holds the same pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Substitute {
    /// What it costs the user.
    pub effective_price: Price,
    /// The size.
    pub size: SkuName,
    /// The zone.
    pub zone: Zone,
    /// How it is bought.
    pub capacity_type: CapacityType,
}

/// What `minValues` asks of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variety {
    /// How many distinct values of each label its claim must list: as many as the pool asks for or, where those
    /// cannot be had and the fleet puts up with that, as many as can.
    pub asked: BTreeMap<LabelKey, u32>,
    /// The substitutes by which it has them, beside its own size; all of them are also among its substitutes.
    pub among: Vec<Substitute>,
}

/// A node to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The node.
    pub node: NodeName,
    /// Why it may go.
    pub reason: DisruptionReason,
    /// In what it is not as it should be, for people, where that is the reason.
    pub what: Option<Arc<str>>,
}

/// A node in a report: one that exists, or a new one by its place in [`Target::new`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeRef {
    /// A node that exists.
    Existing(NodeName),
    /// The new node at this place of [`Target::new`].
    New(usize),
}

/// Why the fleet is as it is, and what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Pods that fit nowhere, one entry for all pods of the same shape; sorted by the first pod.
    pub unplaced: Vec<Unplaced>,
    /// Pods that are held back because they use a rule that is not there yet, or wait for something.
    pub held: Vec<Held>,
    /// Rules that are wished for and passed over, with the number of pods that wish for them.
    pub passed_over: BTreeMap<SchedulingRule, usize>,
    /// What becomes of soft preferences, where placed pods have any and the strategy weighs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Preferences>,
    /// How many waiting pods say nothing of what they need.
    pub without_requests: usize,
    /// Requirements that nothing in the region meets, pools without a class, and the like.
    pub warnings: Vec<Warning>,
    /// Nodes that could go and stay, with the reason.
    pub staying: Vec<(NodeName, String)>,
    /// Nodes that would go but for something that is not known, by pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_decided: Vec<NotDecided>,
    /// Budgets, expiry and schedules that were not decided because the snapshot has no time.
    pub undecided: BTreeSet<String>,
    /// What today's nodes cost the user by the hour, as far as prices are known, and how many are unpriced.
    pub cost_before: Cost,
    /// What the target costs.
    pub cost_after: Cost,
    /// What any fleet costs at least that places the same pods, where that was asked for and is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// What room comes to that CapacityBuffers keep, where there is some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Headroom>,
    /// What it takes that a scheduler which does not know the plan leaves nobody over, where it takes something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack: Option<Slack>,
    /// What it would save if a workload that is spread over hosts did not count tainted nodes, where that saves something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub honoring: Option<Honoring>,
}

impl Report {
    /// Returns how many pods have no place, and for how many there is no room.
    #[must_use]
    pub fn left_over(&self) -> usize {
        self.unplaced.iter().map(|unplaced| unplaced.pods.len()).sum()
    }
}

/// Room that CapacityBuffers keep for pods to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Headroom {
    /// For how many pods there is room.
    pub pods: usize,
    /// How much dearer the fleet is by the hour than one without that room.
    pub cost: MicroUsdPerHour,
    /// Whether an estimated price has a part in it.
    pub is_estimate: bool,
}

/// Room in a small fleet for Kubernetes' scheduler, which gives each pod to the emptiest node that takes it and may leave
/// over one that fits on one node only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Slack {
    /// How many pods might be left over without it.
    pub pods: usize,
    /// How much dearer the fleet is by the hour than one without that room.
    pub cost: MicroUsdPerHour,
    /// Whether an estimated price has a part in it.
    pub is_estimate: bool,
}

/// What `nodeTaintsPolicy: Honor` would save on the workload for which nodes cost most, of those that are spread over hosts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Honoring {
    /// The workload.
    pub workload: Workload,
    /// How many new nodes would carry its pods.
    pub nodes: usize,
    /// How many do.
    pub instead_of: usize,
    /// How much less the fleet would cost by the hour, as many pods placed.
    pub saves: MicroUsdPerHour,
    /// Whether an estimated price has a part in it.
    pub is_estimate: bool,
}

/// What becomes of the soft preferences of the pods that are placed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preferences {
    /// The weights of all of them together; `ScheduleAnyway` counts 100.
    pub asked: usize,
    /// The weights of those that are held to in full.
    pub met: usize,
    /// What they may cost.
    pub limit: ExtraCost,
    /// What the fleet costs the user by the hour that holds to none of them.
    pub without: MicroUsdPerHour,
    /// What the fleet costs that holds to those which are not given up.
    pub with: MicroUsdPerHour,
    /// What the fleet costs that holds to all that can be met together; null where that is not known.
    pub all: Option<MicroUsdPerHour>,
    /// Those that are not held to, the heaviest first.
    pub given_up: Vec<GivenUp>,
}

/// A preference that is not held to as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GivenUp {
    /// What it is, in words: the field and what it is over, or asks for.
    pub what: String,
    /// Its weight.
    pub weight: u32,
    /// Which list of the pods' content it stands in, and where.
    pub preference: Preference,
    /// The weaker form that is held to instead, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Form>,
    /// Why.
    pub because: GivenUpBecause,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
}

/// Why a preference is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GivenUpBecause {
    /// It costs more than preferences may.
    TooDear,
    /// It would leave pods without a place.
    NotPossible,
    /// It contradicts what the pod requires, or a heavier preference.
    Contradicts,
    /// The pod runs where it is not met: that is no reason to buy anything for it.
    NotMetToday,
}

/// What any fleet costs at least by the hour that places the pods which this one places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Bound {
    /// The proven lower bound, for the user: discounts, commitments and `costPerNode` included.
    pub least: MicroUsdPerHour,
    /// Whether the fleet costs no more than that.
    pub is_proven_cheapest: bool,
    /// Whether an estimated price has a part in the bound.
    pub is_estimate: bool,
}

/// What a fleet costs by the hour. Nodes without a known price are counted, never summed as nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// By the list: VMs and managed OS disks.
    pub list: MicroUsdPerHour,
    /// For the user: discounts, commitments and `costPerNode` included.
    pub effective: MicroUsdPerHour,
    /// How many nodes have no known price and are in neither sum.
    pub unpriced_nodes: usize,
    /// Whether any part of the sums is an estimate.
    pub is_estimate: bool,
}

/// Pods of one shape that fit nowhere.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Unplaced {
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
    /// The rule that the nearest miss failed, in the words of a person: `cpu`, `taints`, `node affinity`.
    pub rule: String,
    /// What was wanted and what there was, at the nearest miss.
    pub because: String,
    /// The nearest miss: the pool and size, or the node, that came closest; empty when there is none.
    pub nearest: Option<String>,
    /// Every reason met on the way, by pool or node, for `explain`.
    pub details: Vec<String>,
}

/// Nodes of a pool that would go but for something that is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NotDecided {
    /// The pool.
    pub pool: PoolName,
    /// What is not known, in words about several nodes.
    pub because: String,
    /// The nodes, sorted.
    pub nodes: Vec<NodeName>,
}

/// Pods that are not planned although something might hold them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
    /// What they wait for: a rule's name, or scheduling gates.
    pub waits_for: String,
    /// Why that holds them back.
    pub because: String,
}

impl Unplaced {
    /// The rule of pods that are not placed since not enough of their gang are.
    pub const GANG: &str = "gang";
}

impl Warning {
    /// The object of the warning that a plan is the next best.
    pub const PLAN: &str = "this plan";

    /// The same at the start of a sentence.
    pub const PLAN_FIRST: &str = "This plan";
}

impl Held {
    /// What pods wait for whose node goes with all others.
    pub const DESTROY: &str = "`--destroy`";

    /// What pods wait for whose node somebody deletes.
    pub const DELETE: &str = "`kubectl delete`";

    /// What pods wait for whose node cannot be made.
    pub const LAUNCH: &str = "what their node is created from";

    /// What pods wait for whose place the plan's own check refused.
    pub const CHECK: &str = "the plan's own check";

    /// What pods wait for that run on none of the nodes that were made for them.
    pub const TRIED: &str = "another node";

    /// Returns whether the plan's own check holds them back, and nothing of the input does.
    #[must_use]
    pub fn is_by_check(&self) -> bool {
        self.waits_for == Self::CHECK
    }
}

/// Something in the input that cannot work or is likely not meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// What it is about, such as ``pool `default` ``.
    pub object: String,
    /// What is wrong.
    pub what: String,
    /// What to do, with the nearest value that would work.
    pub hint: Option<String>,
}
