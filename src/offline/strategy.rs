//! Karpenter's strategy, filtered by the checker: pods that Kubernetes would not bind and forbidden removals are not
//! planned.
//!
//! A pod whose placement the checker rejects is left out, with the finding as the reason, and the rest is planned
//! again. A node is kept if the checker rejects its removal or the new placement of its pods. The checker still checks
//! the result.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{World, plan_of};
use crate::check::{Finding, check};
use crate::manifests::Remark;
use crate::model::{
    CapacityType, DisruptionReason, Fleet, InstanceType, NetworkSetup, NodeName, PodKey, PodPlace, Prefer,
    SizeQuota,
};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::karpenter::{self, Refused, Settings};
use crate::solve::{Solution, headroom};

/// Maximum number of rounds that drop rejected pods and removals: each finds fewer, and most worlds need one.
const ROUNDS_MAX: usize = 20;

/// Number of rounds after which no node is removed any more: each kept node may cause other removals.
const ROUNDS_OF_REMOVALS: usize = 10;

/// Dissolves gangs into single pods, as Karpenter plans them, and reports it.
pub(super) fn one_by_one(snapshot: &mut Snapshot) -> Option<Remark> {
    let gangs = match snapshot.without_gangs() {
        0 => return None,
        1 => "a gang".to_owned(),
        gangs => format!("{gangs} gangs"),
    };
    Some(Remark {
        object: "strategy `karpenter`".to_owned(),
        what: format!(
            "places the pods of {gangs} one by one, as Karpenter does: of a gang only part may be placed"
        ),
        hint: None,
    })
}

/// Plans like Karpenter, without the parts that the checker rejects.
pub(super) fn as_karpenter(world: &World) -> (Solution, Plan) {
    let World { snapshot, policy, .. } = world;
    let seen = without_used_up(snapshot, policy);
    let settings = Settings::of(policy);
    // Karpenter only considers prices, whatever the fleet prefers.
    let chosen_by =
        Policy { fleet: Fleet { prefer: Prefer::Price, ..policy.fleet.clone() }, ..policy.clone() };
    let mut refused = Refused::default();
    let mut round = 0;
    loop {
        let solution =
            headroom::laid::solve(&seen, |seen| karpenter::solve(seen, &chosen_by, settings, &refused));
        let plan = plan_of(world, &solution);
        let findings = check(snapshot, policy, &plan);
        round += 1;
        let more = match blamed(world, &plan, &findings) {
            more if round < ROUNDS_OF_REMOVALS && more != Refused::default() => more,
            _ => without_removals(world, &plan, &findings),
        };
        let before = refused.clone();
        refused.extend(more);
        if refused == before || round == ROUNDS_MAX {
            return (solution, plan);
        }
    }
}

/// Returns the snapshot as Karpenter's Azure provider sees it: a size is not available on demand if one VM needs more
/// of its family's quota than is left. It checks no other quota.
fn without_used_up<'w>(snapshot: &'w Snapshot, policy: &Policy) -> Cow<'w, Snapshot> {
    let Some(quota) = snapshot.quota.as_deref() else { return Cow::Borrowed(snapshot) };
    let fits = |kind: &InstanceType| {
        let Some(SizeQuota { family, vcpus }) = quota.sizes.get(&kind.name) else { return true };
        let limit = quota.place(family).map(|place| &quota.limits[place]);
        let left = limit.and_then(|limit| Some(limit.most()?.saturating_sub(limit.used)));
        left.is_none_or(|left| *vcpus <= left)
    };
    let network = policy.fleet.network.unwrap_or(NetworkSetup::AzureOverlay { is_cilium: false });
    let mut ways = BTreeSet::new();
    for class in policy.classes.values() {
        for kind in &snapshot.catalog.offered(class, network).types {
            let fits = fits(kind);
            let sold = kind.offerings.iter().filter(|offering| {
                offering.is_available && (fits || offering.capacity_type != CapacityType::OnDemand)
            });
            ways.extend(
                sold.map(|offering| (kind.name.clone(), offering.zone.clone(), offering.capacity_type)),
            );
        }
    }
    Cow::Owned(Snapshot { catalog: snapshot.catalog.clone().with_only(ways), ..snapshot.clone() })
}

/// Returns the pods and removals of findings, each with its first finding.
fn blamed(world: &World, plan: &Plan, findings: &[Finding]) -> Refused {
    let mut blamed = Refused::default();
    if findings.is_empty() {
        return blamed;
    }
    let places = places(plan);
    let moving = Moving::of(world, plan);
    let homeless = homeless(plan);
    for Finding { object, message, .. } in findings {
        let pods = places.get(object).map_or(&[][..], Vec::as_slice);
        let mut going: BTreeSet<&NodeName> =
            pods.iter().filter_map(|pod| moving.pods.get(*pod).copied()).collect();
        going.extend(moving.titles.get(object));
        let because = match homeless.get(object) {
            Some(because) => {
                format!("Karpenter would remove it, and {object} would have no place: {because}")
            }
            None => format!("Karpenter would remove it, and the checker rejects: {object} {message}"),
        };
        for node in &going {
            blamed.removal(node, moving.removed[node], &because);
        }
        // If nodes are kept, they may have capacity for the other pods.
        for pod in pods.iter().filter(|_| going.is_empty()) {
            blamed.pods.entry((*pod).clone()).or_insert_with(|| message.clone());
        }
    }
    blamed
}

/// Returns the pods and removals of findings, and all other removals.
fn without_removals(world: &World, plan: &Plan, findings: &[Finding]) -> Refused {
    let mut refused = blamed(world, plan, findings);
    if let Some(Finding { object, message, .. }) = findings.first() {
        let because =
            format!("Karpenter would remove it, and the checker rejects the result: {object} {message}");
        for (_, delete) in plan.spec.deletes() {
            refused.removal(&delete.target.node, delete.reason, &because);
        }
        refused.keeps_nodes = true;
    }
    refused
}

/// Returns why pods are unplaced, by their name in findings.
fn homeless(plan: &Plan) -> BTreeMap<String, &str> {
    let unplaced = plan.evidence.report.unplaced.iter();
    let each = unplaced.flat_map(|unplaced| unplaced.pods.iter().map(move |pod| (pod, &*unplaced.because)));
    each.map(|(pod, because)| (format!("pod `{pod}`"), because)).collect()
}

/// Returns the placed pods by the name of their node or pod in findings.
pub(super) fn places(plan: &Plan) -> BTreeMap<String, Vec<&PodKey>> {
    let mut places: BTreeMap<String, Vec<&PodKey>> = BTreeMap::new();
    for (id, create, _) in plan.spec.creates() {
        let pods = plan.evidence.placements.get(id).map_or(&[][..], |placement| &placement.pods);
        places.insert(format!("new node `{}`", create.claim), pods.iter().collect());
    }
    for (node, pods) in &plan.evidence.kept {
        places.insert(format!("node `{node}`"), pods.iter().collect());
    }
    let pods: Vec<&PodKey> = places.values().flatten().copied().collect();
    places.extend(pods.into_iter().map(|pod| (format!("pod `{pod}`"), vec![pod])));
    places
}

/// The nodes that a plan removes, and their pods.
struct Moving<'a> {
    removed: BTreeMap<&'a NodeName, DisruptionReason>,
    /// The node of each pod.
    pods: BTreeMap<&'a PodKey, &'a NodeName>,
    /// The node by its own name or one of its pods' names in findings.
    titles: BTreeMap<String, &'a NodeName>,
}

impl<'a> Moving<'a> {
    fn of(world: &'a World, plan: &'a Plan) -> Self {
        let removed: BTreeMap<&NodeName, DisruptionReason> =
            plan.spec.deletes().map(|(_, delete)| (&delete.target.node, delete.reason)).collect();
        let pods: BTreeMap<&PodKey, &NodeName> = world
            .snapshot
            .pods
            .iter()
            .filter_map(|pod| match &pod.place {
                PodPlace::Bound(node) => removed.contains_key(node).then_some((&pod.key, node)),
                PodPlace::Waiting => None,
            })
            .collect();
        let nodes = removed.keys().map(|node| (format!("node `{node}`"), *node));
        let titles = nodes.chain(pods.iter().map(|(pod, node)| (format!("pod `{pod}`"), *node))).collect();
        Self { removed, pods, titles }
    }
}
