//! Karpenter's own provisioning: first-fit decreasing, one claim after the other.
//!
//! Reimplements the known behaviour of Karpenter core v1.14. [`first_pass`] returns the decisions of one pass of its
//! scheduler, whether kube-scheduler would agree or not; [`solve`] returns the fleet that it reaches in the end. If
//! Karpenter takes any of several, the first by name is taken here. In reading order: the pods (`roll`, `wish`,
//! `volumes`), the nodes and sizes (`nodes`, `template`, `shelf`, `store`), constraints between pods (`topology`), the
//! pass itself (`claims`, `pass`), disruption (`disruption`), and all of it in sequence (`passes`, `course`) as a fleet
//! (`desk`, `late`, `fleet`, `report`). Never changes the cluster.

mod amounts;
mod claims;
mod course;
mod desk;
mod disruption;
mod fleet;
mod guard;
mod late;
mod leaving;
mod meeting;
mod nodes;
mod outcome;
mod pass;
mod passes;
mod refusal;
mod refused;
mod report;
mod reserved;
mod roll;
mod settle;
mod shelf;
mod store;
mod template;
mod there;
mod topology;
mod variety;
mod volumes;
mod wish;

use std::collections::BTreeMap;

use crate::model::{
    CapacityType, MinValuesPolicy, NodeName, PodKey, PoolName, Price, Requirements, Resources, SkuName, Zone,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::market::Market;
use leaving::Leaving;
use pass::{Pass, Start};
use store::Store;

pub use disruption::{Command, Made, Method, Sequence, commands, first_command};
pub(in crate::solve) use fleet::beside;
pub use fleet::solve;
pub(super) use fleet::{Provisioning, Trade};
pub use refused::Refused;

/// Treatment of preferences (`--preference-policy` of Karpenter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preferences {
    /// They count as required and are given up one by one.
    #[default]
    Respect,
    /// They are ignored.
    Ignore,
}

/// Behaviour if other claims hold all reserved capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReservedMode {
    /// The pod waits for a later pass, as in Karpenter's provisioning.
    #[default]
    Strict,
    /// The pod does without, as in Karpenter's simulation of disruption.
    Fallback,
}

/// Treatment of burstable (B) and HPC (H) sizes that are not requested by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnnamedFamilies {
    /// They are sizes like any other, as in Karpenter.
    #[default]
    Use,
    /// They are left to pods and pools that name them, as in every plan of nodeform: their credits and interconnect
    /// cannot be planned.
    LeaveOut,
}

/// Treatment of NodeOverlays (feature gate `NodeOverlay` of Karpenter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverlayGate {
    /// They are ignored.
    #[default]
    Closed,
    /// They change prices and add resources.
    Open,
}

/// Treatment of spot nodes that another spot node could replace (feature gate `SpotToSpotConsolidation` of Karpenter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpotToSpot {
    /// They are kept, unless they can be removed without a replacement.
    #[default]
    Closed,
    /// They are replaced if there are enough cheaper sizes.
    Open,
}

/// Settings of Karpenter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Treatment of preferences.
    pub preferences: Preferences,
    /// Treatment of `minValues`.
    pub min_values: MinValuesPolicy,
    /// Behaviour if other claims hold reserved capacity.
    pub reserved: ReservedMode,
    /// Treatment of burstable and HPC sizes.
    pub unnamed: UnnamedFamilies,
    /// Treatment of NodeOverlays.
    pub overlays: OverlayGate,
    /// Treatment of spot nodes that another spot node could replace.
    pub spot_to_spot: SpotToSpot,
}

impl Settings {
    /// Returns the settings with which nodeform plans as Karpenter does for this policy.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        Self {
            unnamed: UnnamedFamilies::LeaveOut,
            min_values: policy.fleet.min_values_policy,
            // Users of NodeOverlays have opened Karpenter's gate for them.
            overlays: OverlayGate::Open,
            ..Self::default()
        }
    }
}

/// Decisions of one pass of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Claims to create, in the order in which they were opened.
    pub claims: Vec<Claim>,
    /// Existing nodes that get pods, with these pods, in the order in which the nodes are tried.
    pub existing: Vec<(NodeName, Vec<PodKey>)>,
    /// Pods that no pool takes, by key.
    pub errors: Vec<PodError>,
    /// Pods that are not scheduled at all, by key.
    pub ignored: Vec<Ignored>,
}

/// A claim to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its pool.
    pub pool: PoolName,
    /// Requirements on its labels, without those for pool, class and stage.
    pub requirements: Requirements,
    /// Sizes that it may become, the cheapest first.
    pub sizes: Vec<SkuName>,
    /// Its cheapest offering.
    pub cheapest: Option<Chosen>,
    /// Its pods, sorted.
    pub pods: Vec<PodKey>,
    /// Requests of its pods, with the lowest requests of DaemonSets on any of the sizes.
    pub requests: Resources,
    /// Whether it offers fewer distinct values than `minValues` requests.
    pub is_min_values_relaxed: bool,
}

/// An offering that a claim may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The size.
    pub size: SkuName,
    /// The zone.
    pub zone: Zone,
    /// The capacity type.
    pub capacity_type: CapacityType,
    /// List price of the VM.
    pub price: Price,
}

/// A pod that no pool takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodError {
    /// The pod.
    pub pod: PodKey,
    /// Name of each pool that was tried, the rule that refuses, and the reason; empty if there is no pool.
    pub reasons: Vec<(String, &'static str, String)>,
}

/// A pod that is not scheduled at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ignored {
    /// The pod.
    pub pod: PodKey,
    /// The reason.
    pub because: String,
}

/// Returns the decisions of one pass of Karpenter's scheduler.
#[must_use]
pub fn first_pass(snapshot: &Snapshot, policy: &Policy, settings: Settings) -> Outcome {
    let market = &Market::of(snapshot, policy);
    let (placed, left_out) = (BTreeMap::new(), BTreeMap::new());
    let (placed, left_out, leaving) = (&placed, &left_out, Leaving::default());
    let store = &Store::of((snapshot, policy, market), settings);
    let start = Start { snapshot, store, settings, settled: &[], placed, left_out, leaving };
    let memory = &mut store.memory.borrow_mut();
    let mut pass = Pass::of(start, memory);
    pass.run();
    pass.outcome()
}
