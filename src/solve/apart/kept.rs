//! Plan of the running pods, as if none were pending, and the parts of it that later plans can reuse.
//!
//! All of it follows from the world without pending pods. Decides only whether inputs are unchanged.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::model::eviction::Evictions;
use crate::model::{LabelKey, Namespace, Pod};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::capped::Capped;
use crate::solve::daemons::Daemons;
use crate::solve::demand::{self, Demand};
use crate::solve::impossible::Impossible;
use crate::solve::ledger::{self, Limiting};
use crate::solve::market::Market;
use crate::solve::memo::{Memos, Supplied, held};
use crate::solve::price::PriceBook;
use crate::solve::shrink::due::Due;
use crate::solve::shrink::imagined;
use crate::solve::shrink::moment::Moment;
use crate::solve::shrink::needed::Needs;
use crate::solve::shrink::trial::Scene;
use crate::solve::solution::{Solution, Target};
use crate::solve::topology::Topology;
use crate::solve::topology::group::{self, Group, Namespaces};
use crate::solve::{fleet, steps};

use super::condensed::{condensed, without_leaving};
use super::{busy, joined, waits};

/// Running pods, and their plan.
pub(in crate::solve) struct Kept {
    /// World without pending pods.
    world: Snapshot,
    policy: Policy,
    /// Decisions that depend on its time.
    moment: Moment,
    /// Fleet for it, without due nodes.
    solution: Solution,
    due: Due,
    /// World with that fleet in place. It still has the empty nodes, because pending pods may use them.
    after: Snapshot,
    /// Namespaces of the running pods.
    namespaces: BTreeSet<Namespace>,
    /// Inputs for the last pending pods; `None` while in use.
    looked_at: Mutex<Option<LookedAt>>,
}

/// Inputs for placing pending pods that follow from the running pods and from what the pending pods ask about.
struct LookedAt {
    asked: Asked,
    /// World without its pods: they are in it only while it is in use, because it is too large to be copied each time.
    world: Snapshot,
    pods: Vec<Pod>,
    supplied: Arc<Supplied>,
}

/// Labels and rules that pending pods ask about.
#[derive(PartialEq, Eq)]
struct Asked {
    /// The labels.
    keys: BTreeSet<LabelKey>,
    /// Rules between pods that bind them.
    rules: BTreeSet<Group>,
}

impl Kept {
    /// Plans the running pods.
    pub(in crate::solve) fn of(snapshot: &Snapshot, policy: &Policy, memos: &Memos) -> Self {
        let world = snapshot.with_pods(snapshot.pods.iter().filter(|pod| !waits(pod)).cloned().collect());
        let (solution, due, after) = steps::planned(&world, policy, memos, |scene, world, solution, due| {
            let after = imagined::after(scene, world, &with_empty(&solution.target));
            (solution, due, after)
        });
        let namespaces: BTreeSet<&Namespace> = world.pods.iter().map(|pod| &pod.key.namespace).collect();
        let namespaces = namespaces.into_iter().cloned().collect();
        let policy = policy.clone();
        let moment = Moment::of(&world, &policy, world.at);
        Self { policy, moment, solution, due, after, namespaces, looked_at: Mutex::new(None), world }
    }

    /// Returns whether this is the running part of a world, at a time with the same decisions.
    pub(in crate::solve) fn is(&self, snapshot: &Snapshot, policy: &Policy) -> bool {
        let Snapshot {
            at,
            cluster,
            nodes,
            pods,
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
            quota,
            // Follows from where the pods are.
            preemptions: _,
            azure: _,
        } = &self.world;
        (cluster, gaps, assumptions) == (&snapshot.cluster, &snapshot.gaps, &snapshot.assumptions)
            && *assumes_system_node == snapshot.assumes_system_node
            && (daemons, namespaces, storage, budgets)
                == (&snapshot.daemons, &snapshot.namespaces, &snapshot.storage, &snapshot.budgets)
            && (refusals, supposed, quota) == (&snapshot.refusals, &snapshot.supposed, &snapshot.quota)
            && *groups == snapshot.groups
            && *nodes == snapshot.nodes
            && are_same(pods, &snapshot.pods)
            && *catalog == snapshot.catalog
            && self.policy == *policy
            && (*at == snapshot.at || Moment::of(&self.world, policy, snapshot.at) == self.moment)
    }

    /// Places the pending pods of a world with this running part; `None` if all must be planned together.
    pub(super) fn with_waiting(&self, snapshot: &Snapshot, memos: &Memos) -> Option<Solution> {
        let waiting: Vec<&Pod> = snapshot.pods.iter().filter(|pod| waits(pod)).collect();
        let mut looked_at = self.looked_at((snapshot, &waiting), memos);
        let LookedAt { world, pods, supplied, .. } = &mut looked_at;
        world.at = snapshot.at;
        world.pods = pods.iter().chain(waiting).cloned().collect();
        world.pods.sort();
        let joined = self.placed(world, supplied, memos);
        world.pods.clear();
        *held(&self.looked_at) = Some(looked_at);
        Some(steps::with_due(joined?, self.due.clone()))
    }

    /// Places the pending pods of this world.
    fn placed(&self, world: &Snapshot, supplied: &Arc<Supplied>, memos: &Memos) -> Option<Solution> {
        let topology = &Topology::of(world);
        let daemons = &Daemons::of(world, topology);
        let (policy, market) = (&self.policy, supplied.market());
        let supplied = match supplied.has(daemons) {
            true => supplied.clone(),
            false => memos.beside(policy, market, daemons),
        };
        let scene = Scene {
            policy,
            market,
            book: &PriceBook::new(&policy.fleet.prices),
            topology,
            supply: supplied.supply(),
            memo: supplied.memo(),
            memos,
            daemons,
            lets_go: &BTreeSet::new(),
            stuck: &BTreeSet::new(),
            asked: &BTreeSet::new(),
            evictions: &Evictions::of(&[], &[]),
            room: &Demand::default(),
            slack: &Demand::default(),
            impossible: &Impossible::default(),
            capped: &Capped::default(),
            needs: &Needs::default(),
            looks_further: false,
        };
        let (demand, nodes) = fleet::read(&scene, world);
        let second = fleet::of(&scene, world, (&demand, &nodes));
        joined::joined(&scene, &demand, (&self.world, &self.solution), second)
    }

    /// Returns the inputs for these pods; the caller puts them back.
    fn looked_at(&self, (snapshot, waiting): (&Snapshot, &[&Pod]), memos: &Memos) -> LookedAt {
        let asked = self.asked(snapshot, waiting);
        let last = held(&self.looked_at).take();
        let last = match last {
            Some(last) if last.asked == asked => return last,
            other => other,
        };
        let mut world = condensed(self.after.clone(), &asked.rules);
        let limiting = Limiting { policy: &self.policy, quota: self.world.quota.as_ref() };
        if !ledger::has_limits(limiting) && self.policy.fleet.prices.commitments.is_empty() {
            without_leaving(&mut world);
        }
        // Pending pods change the market only by the labels that they ask about.
        let supplied = last.filter(|last| last.asked.keys == asked.keys).map_or_else(
            || {
                let market = Market::of(snapshot, &self.policy);
                memos.beside(&self.policy, &market, &Daemons::of(snapshot, &Topology::of(snapshot)))
            },
            |last| last.supplied,
        );
        LookedAt { asked, pods: std::mem::take(&mut world.pods), world, supplied }
    }

    /// Returns what these ask about.
    fn asked(&self, snapshot: &Snapshot, waiting: &[&Pod]) -> Asked {
        let mut contents: Vec<&&Pod> = waiting.iter().collect();
        let content = |pod: &Pod| (Arc::as_ptr(&pod.spec).addr(), pod.key.namespace.clone());
        contents.sort_by_cached_key(|pod| content(pod));
        contents.dedup_by(|one, other| {
            Arc::ptr_eq(&one.spec, &other.spec) && one.key.namespace == other.key.namespace
        });
        let own = contents.iter().map(|pod| &pod.key.namespace);
        let names = own.chain(&self.namespaces).chain(snapshot.namespaces.keys()).collect();
        let namespaces = &Namespaces { names, labels: &snapshot.namespaces };
        let rules = contents
            .iter()
            .flat_map(|pod| group::groups_of(&pod.spec, &pod.key.namespace, namespaces, false));
        Asked { rules: rules.collect(), keys: demand::keys_of(contents.iter().map(|pod| &*pod.spec)) }
    }
}

/// Returns whether exactly these pods run.
fn are_same(running: &[Pod], pods: &[Pod]) -> bool {
    let others: Vec<&Pod> = pods.iter().filter(|pod| !waits(pod)).collect();
    running.len() == others.len() && running.par_iter().zip(&others).all(|(one, other)| one == *other)
}

/// Returns the target with empty nodes kept.
fn with_empty(target: &Target) -> Target {
    Target { removed: busy(target).cloned().collect(), ..target.clone() }
}
