//! Karpenter's own provisioning: first fit, the largest pods first, one claim after the other.
//!
//! Written anew from what Karpenter core v1.14 is known to do. [`first_pass`] is what one pass of its scheduler
//! decides, whether kube-scheduler would agree or not; [`solve`] gives the fleet that it comes to in the end. Where
//! Karpenter takes any of several, the first by name is taken here. In reading order: the pods (`roll`, `wish`,
//! `volumes`), what there is (`nodes`, `template`, `shelf`, `store`), what they demand of each other (`topology`), the pass
//! itself (`claims`, `pass`), what may go (`disruption`), and all of it one after the other (`passes`, `course`) as a
//! fleet (`desk`, `late`, `fleet`, `report`). Nothing is done in the cluster.

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

/// What is made of preferences (`--preference-policy` of Karpenter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preferences {
    /// They are taken for required and given up one by one.
    #[default]
    Respect,
    /// They are not looked at.
    Ignore,
}

/// What is done where everything that is reserved is held by other claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReservedMode {
    /// The pod waits for a later pass: so Karpenter provisions.
    #[default]
    Strict,
    /// It is done without: so Karpenter simulates disruption.
    Fallback,
}

/// What is made of burstable (B) and HPC (H) sizes that nobody names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnnamedFamilies {
    /// They are sizes like any other: so Karpenter has it.
    #[default]
    Use,
    /// They are left to pods and pools that name them, as in every plan of nodeform: their credits and interconnect
    /// cannot be planned.
    LeaveOut,
}

/// What is made of NodeOverlays (feature gate `NodeOverlay` of Karpenter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverlayGate {
    /// They are not looked at.
    #[default]
    Closed,
    /// They change prices and add resources.
    Open,
}

/// What is made of spot nodes that another spot node could replace (feature gate `SpotToSpotConsolidation` of Karpenter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpotToSpot {
    /// They stay, unless they can go without a replacement.
    #[default]
    Closed,
    /// They are replaced where there are enough cheaper sizes.
    Open,
}

/// How Karpenter is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What is made of preferences.
    pub preferences: Preferences,
    /// What is made of `minValues`.
    pub min_values: MinValuesPolicy,
    /// What is done where reserved capacity is held by others.
    pub reserved: ReservedMode,
    /// What is made of burstable and HPC sizes.
    pub unnamed: UnnamedFamilies,
    /// What is made of NodeOverlays.
    pub overlays: OverlayGate,
    /// What is made of spot nodes that another spot node could replace.
    pub spot_to_spot: SpotToSpot,
}

impl Settings {
    /// Returns the settings under which nodeform plans as Karpenter does for this policy.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        Self {
            unnamed: UnnamedFamilies::LeaveOut,
            min_values: policy.fleet.min_values_policy,
            // Whoever has NodeOverlays has opened Karpenter's gate for them.
            overlays: OverlayGate::Open,
            ..Self::default()
        }
    }
}

/// What a pass of the scheduler decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The claims to make, in the order in which they were opened.
    pub claims: Vec<Claim>,
    /// The nodes that exist and get pods, with those, in the order in which they are tried.
    pub existing: Vec<(NodeName, Vec<PodKey>)>,
    /// The pods that no pool takes, by key.
    pub errors: Vec<PodError>,
    /// The pods that are not scheduled at all, by key.
    pub ignored: Vec<Ignored>,
}

/// A claim to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its pool.
    pub pool: PoolName,
    /// What is asked of its labels, without those that stand for pool, class and stage.
    pub requirements: Requirements,
    /// The sizes that it may become, the cheapest first.
    pub sizes: Vec<SkuName>,
    /// The cheapest way to have it.
    pub cheapest: Option<Chosen>,
    /// Its pods, sorted.
    pub pods: Vec<PodKey>,
    /// What they ask for, with the least that daemonsets do on any of the sizes.
    pub requests: Resources,
    /// Whether it offers fewer distinct values than `minValues` asks for.
    pub is_min_values_relaxed: bool,
}

/// A way to have a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The size.
    pub size: SkuName,
    /// The zone.
    pub zone: Zone,
    /// How it is bought.
    pub capacity_type: CapacityType,
    /// What the VM costs by the list.
    pub price: Price,
}

/// A pod that no pool takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodError {
    /// The pod.
    pub pod: PodKey,
    /// For each pool that was tried its name, the rule that says no, and why; nothing where there is no pool.
    pub reasons: Vec<(String, &'static str, String)>,
}

/// A pod that is not scheduled at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ignored {
    /// The pod.
    pub pod: PodKey,
    /// Why.
    pub because: String,
}

/// Returns what one pass of Karpenter's scheduler decides.
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
