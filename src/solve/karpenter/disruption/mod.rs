//! Disruption as Karpenter decides it: the first of its methods that finds something to do returns one command.
//!
//! In reading order: the candidates (`candidate`) and their cost (`cost`), how many may be disrupted at the same time
//! (`allowance`), a simulation without some nodes (`probe`) and whether that pays (`replacement`, `balanced`), and the
//! methods in their order: `empty`, `drift`, `multi`, `single`; then all commands one after the other (`sequence`).
//! Never waits; Karpenter's timeouts are left out, so the same snapshot always gives the same command.

mod allowance;
mod balanced;
mod candidate;
mod consolidation;
mod cost;
mod drift;
mod empty;
mod multi;
mod probe;
mod replacement;
mod scene;
pub(super) mod sequence;
mod single;

use crate::model::{DisruptionReason, MicroUsdPerHour, NodeName, PodKey};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::market::Market;

pub use sequence::{Made, Sequence, commands};

use super::store::Store;
use super::{Claim, Refused, Settings};
use candidate::Candidate;
use scene::Scene;

/// Karpenter's methods of disruption, in the order in which it tries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Empty nodes are removed, as many as budgets allow.
    Emptiness,
    /// A drifted node of a static pool is replaced.
    StaticDrift,
    /// A drifted node is removed, and nodes are created for its pods.
    Drift,
    /// Several nodes are removed, and at most one is created for them.
    MultiNode,
    /// One node is removed, and at most one cheaper node is created for it.
    SingleNode,
}

impl Method {
    const ALL: [Self; 5] =
        [Self::Emptiness, Self::StaticDrift, Self::Drift, Self::MultiNode, Self::SingleNode];

    /// Returns the reason of the disruption.
    #[must_use]
    pub const fn reason(self) -> DisruptionReason {
        match self {
            Self::Emptiness => DisruptionReason::Empty,
            Self::StaticDrift | Self::Drift => DisruptionReason::Drifted,
            Self::MultiNode | Self::SingleNode => DisruptionReason::Underutilized,
        }
    }
}

/// A disruption command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Method that found it.
    pub method: Method,
    /// Removed nodes, by name.
    pub nodes: Vec<NodeName>,
    /// Claims to create before.
    pub replacements: Vec<Claim>,
    /// Kept nodes that get pods, with these pods, in the order in which the nodes are tried.
    pub moved: Vec<(NodeName, Vec<PodKey>)>,
    /// Saving by list prices: those of the removed nodes, less the minimum price of the replacements; an unknown price
    /// counts as zero.
    pub savings: MicroUsdPerHour,
}

/// Returns Karpenter's first disruption of existing nodes; `None` if it changes none.
#[must_use]
pub fn first_command(snapshot: &Snapshot, policy: &Policy, settings: Settings) -> Option<Command> {
    let market = &Market::of(snapshot, policy);
    let store = &Store::of((snapshot, policy, market), settings);
    first_of(&Scene::of((snapshot, store), settings, &Refused::default()))
}

fn first_of(scene: &Scene<'_, '_>) -> Option<Command> {
    Method::ALL.into_iter().find_map(|method| match method {
        Method::Emptiness => empty::command(scene),
        Method::StaticDrift => drift::of_static_pools(scene),
        Method::Drift => drift::command(scene),
        Method::MultiNode => multi::command(scene).map(|command| replacement::ranked(scene, command)),
        Method::SingleNode => single::command(scene).map(|command| replacement::ranked(scene, command)),
    })
}

/// Returns the names of the nodes of candidates, sorted.
fn names(candidates: &[&Candidate<'_>]) -> Vec<NodeName> {
    let mut names: Vec<NodeName> = candidates.iter().map(|one| one.node.name.clone()).collect();
    names.sort();
    names
}
