//! What may go, as Karpenter decides it: the first of its methods that finds something to do gives one command.
//!
//! In reading order: what can be disrupted (`candidate`) at what cost (`cost`), how many at once (`allowance`), what
//! would be without some nodes (`probe`) and whether that pays (`replacement`, `balanced`), and the methods in their
//! order: `empty`, `drift`, `multi`, `single`; then all commands one after the other (`sequence`). Nothing here waits;
//! Karpenter's limits on its own time are left out, so that the same world always gives the same command.

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

/// How Karpenter comes to disrupt nodes, in the order in which it tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Empty nodes go, as many as budgets let.
    Emptiness,
    /// A drifted node of a static pool is replaced.
    StaticDrift,
    /// A drifted node goes, and what its pods need is made.
    Drift,
    /// Several nodes go, and at most one is made for them.
    MultiNode,
    /// One node goes, and at most one cheaper is made for it.
    SingleNode,
}

impl Method {
    const ALL: [Self; 5] =
        [Self::Emptiness, Self::StaticDrift, Self::Drift, Self::MultiNode, Self::SingleNode];

    /// Returns the reason that nodes are disrupted for.
    #[must_use]
    pub const fn reason(self) -> DisruptionReason {
        match self {
            Self::Emptiness => DisruptionReason::Empty,
            Self::StaticDrift | Self::Drift => DisruptionReason::Drifted,
            Self::MultiNode | Self::SingleNode => DisruptionReason::Underutilized,
        }
    }
}

/// What is done first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// How it was found.
    pub method: Method,
    /// The nodes that go, by name.
    pub nodes: Vec<NodeName>,
    /// What is made before.
    pub replacements: Vec<Claim>,
    /// The nodes that stay and get pods, with those, in the order in which they are tried.
    pub moved: Vec<(NodeName, Vec<PodKey>)>,
    /// What is saved by list prices: those of the nodes that go, less the least that the replacements may cost; a
    /// price that is not known counts as nothing.
    pub savings: MicroUsdPerHour,
}

/// Returns what Karpenter does first to nodes that exist; `None` where it leaves all as they are.
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
