//! Comparison of two target fleets: existing nodes by name, new nodes by their properties.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{CapacityType, LabelKey, MicroUsdPerHour, Node, NodeName, PoolName, SkuName, Zone, label};
use crate::plan::{Change, ClaimSpec, Plan, Update};

/// How two target fleets differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Nodes {
    /// How many nodes are more, others and fewer.
    pub counts: Counts,
    /// Nodes that exist and fare otherwise, by name.
    pub existing: Vec<ExistingDifference>,
    /// Nodes to make, by what they are, where there are more, fewer or others.
    pub groups: Vec<GroupDifference>,
}

/// How many nodes the second fleet has more, others and fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Only in the second fleet.
    pub add: usize,
    /// In both, with other labels, taints or settings.
    pub change: usize,
    /// Only in the first fleet.
    pub destroy: usize,
}

/// What a node is, as it is grouped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeKind {
    /// The pool; of an existing node, where it has one.
    pub pool: Option<PoolName>,
    /// The size; of an existing node, where a label says it.
    pub size: Option<SkuName>,
    /// The zone, likewise; `0` is Azure's "no zone".
    pub zone: Option<Zone>,
    /// How it is bought, likewise.
    pub capacity_type: Option<CapacityType>,
}

/// Nodes to make that look alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GroupDifference {
    /// What they are.
    pub kind: NodeKind,
    /// How many the first plan makes.
    pub before: usize,
    /// How many the second plan makes.
    pub after: usize,
    /// What those of the first plan cost the user by the hour, as far as prices are known.
    pub price_before: MicroUsdPerHour,
    /// What those of the second plan cost.
    pub price_after: MicroUsdPerHour,
    /// Whether a price is an estimate.
    pub is_estimate: bool,
    /// Whether a price is not known.
    pub is_unpriced: bool,
    /// The VMs that only the first plan creates.
    pub removed: Vec<Arc<str>>,
    /// The VMs that only the second plan creates.
    pub added: Vec<Arc<str>>,
    /// The VMs of the second plan whose counterparts in the first have other labels, taints or settings.
    pub otherwise: Vec<Arc<str>>,
    /// How many of those in both are made otherwise.
    pub changed: usize,
    /// What of their NodeClaims differs, in the words of the field.
    pub changed_fields: BTreeSet<Arc<str>>,
}

/// A node that exists and fares otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExistingDifference {
    /// The node.
    pub node: NodeName,
    /// What it is.
    pub kind: NodeKind,
    /// What the first plan does with it.
    pub before: Fate,
    /// What the second plan does with it.
    pub after: Fate,
    /// Why the plan that changes it, the second one first, does so.
    pub because: Option<String>,
}

/// What a plan does with a node that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// The input does not hold it.
    Absent,
    /// It stays as it is.
    Stays,
    /// It stays and is changed in place.
    Updated,
    /// It goes.
    Removed,
}

impl Fate {
    /// Returns whether the node is there when the plan is done.
    #[must_use]
    pub const fn is_there(self) -> bool {
        matches!(self, Self::Stays | Self::Updated)
    }
}

impl Nodes {
    /// Holds two target fleets against each other.
    pub(super) fn between(before: &Plan, after: &Plan) -> Self {
        let existing = existing(before, after);
        let groups = groups(before, after);
        let mut counts = Counts::default();
        for difference in &existing {
            match (difference.before.is_there(), difference.after.is_there()) {
                (false, true) => counts.add += 1,
                (true, false) => counts.destroy += 1,
                (true, true) => counts.change += 1,
                (false, false) => {}
            }
        }
        for group in &groups {
            counts.add += group.after.saturating_sub(group.before);
            counts.destroy += group.before.saturating_sub(group.after);
            counts.change += group.changed;
        }
        Self { counts, existing, groups }
    }
}

/// What a plan does with each node that its input holds.
struct Fates<'a> {
    plan: &'a Plan,
    updates: BTreeMap<&'a NodeName, &'a Update>,
    removed: BTreeSet<&'a NodeName>,
    nodes: BTreeMap<&'a NodeName, &'a Node>,
    reasons: BTreeMap<&'a NodeName, String>,
}

impl<'a> Fates<'a> {
    fn of(plan: &'a Plan) -> Self {
        let nodes = plan.evidence.world.nodes.iter().map(|node| (&node.name, node)).collect();
        let mut fates = Self {
            plan,
            updates: BTreeMap::new(),
            removed: BTreeSet::new(),
            nodes,
            reasons: BTreeMap::new(),
        };
        for (id, planned) in &plan.spec.changes {
            let Some(target) = planned.change.target() else { continue };
            match &planned.change {
                Change::Delete(_) => {
                    fates.removed.insert(&target.node);
                }
                Change::Update(update) => {
                    fates.updates.insert(&target.node, update);
                }
                Change::Create(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => continue,
            }
            let reason = fates.plan.evidence.reasons.get(id).map(ToString::to_string);
            fates.reasons.extend(reason.map(|reason| (&target.node, reason)));
        }
        fates
    }

    fn fate(&self, name: &NodeName) -> Fate {
        let Some(node) = self.nodes.get(name) else { return Fate::Absent };
        if node.is_deleting || self.removed.contains(name) {
            Fate::Removed
        } else if self.updates.contains_key(name) {
            Fate::Updated
        } else {
            Fate::Stays
        }
    }
}

fn existing(before: &Plan, after: &Plan) -> Vec<ExistingDifference> {
    let (old, new) = (Fates::of(before), Fates::of(after));
    let names: BTreeSet<&NodeName> = old.nodes.keys().chain(new.nodes.keys()).copied().collect();
    let difference = |name: &NodeName| {
        let (before, after) = (old.fate(name), new.fate(name));
        let is_same = before == after && old.updates.get(name) == new.updates.get(name);
        let node = new.nodes.get(name).or_else(|| old.nodes.get(name))?;
        (!is_same && (before.is_there() || after.is_there())).then(|| ExistingDifference {
            node: name.clone(),
            kind: NodeKind::of(node),
            before,
            after,
            because: new.reasons.get(name).or_else(|| old.reasons.get(name)).cloned(),
        })
    };
    names.into_iter().filter_map(difference).collect()
}

impl NodeKind {
    fn of(node: &Node) -> Self {
        let value = |key: &str| node.labels.get(&LabelKey::new(key)).map(|value| &**value);
        Self {
            pool: node.pool.clone(),
            size: value(label::INSTANCE_TYPE).map(SkuName::new),
            zone: value(label::ZONE).map(Zone::new),
            capacity_type: value(label::CAPACITY_TYPE).and_then(CapacityType::parse),
        }
    }
}

/// The nodes of one kind that a plan makes.
#[derive(Clone, Debug, Default)]
struct Made<'a> {
    nodes: Vec<MadeNode<'a>>,
    price: MicroUsdPerHour,
    is_estimate: bool,
    is_unpriced: bool,
}

/// A node that a plan makes.
#[derive(Clone, Copy, Debug)]
struct MadeNode<'a> {
    vm: &'a Arc<str>,
    claim: &'a ClaimSpec,
}

fn made(plan: &Plan) -> BTreeMap<NodeKind, Made<'_>> {
    let mut kinds: BTreeMap<NodeKind, Made<'_>> = BTreeMap::new();
    for (id, create, claim) in plan.spec.creates() {
        let kind = NodeKind {
            pool: Some(claim.pool.clone()),
            size: Some(claim.primary.size.clone()),
            zone: Some(claim.primary.zone.clone()),
            capacity_type: Some(claim.primary.capacity_type),
        };
        let made = kinds.entry(kind).or_default();
        let price = plan.evidence.placements.get(id).map(|placement| placement.effective_price);
        made.nodes.push(MadeNode { vm: &create.vm, claim });
        made.price += price.and_then(|price| price.known()).unwrap_or_default();
        made.is_estimate |= price.is_some_and(|price| price.is_estimate());
        made.is_unpriced |= price.is_none_or(|price| price.known().is_none());
    }
    kinds
}

fn groups(before: &Plan, after: &Plan) -> Vec<GroupDifference> {
    let (old, new) = (made(before), made(after));
    let kinds: BTreeSet<&NodeKind> = old.keys().chain(new.keys()).collect();
    let none = Made::default();
    let difference = |kind: &NodeKind| {
        let (old, new) = (old.get(kind).unwrap_or(&none), new.get(kind).unwrap_or(&none));
        let Pairs { removed, added, otherwise, changed_fields } = Pairs::of(&old.nodes, &new.nodes);
        let changed = otherwise.len();
        let differs = old.nodes.len() != new.nodes.len() || changed > 0 || old.price != new.price;
        differs.then(|| GroupDifference {
            kind: kind.clone(),
            before: old.nodes.len(),
            after: new.nodes.len(),
            price_before: old.price,
            price_after: new.price,
            is_estimate: old.is_estimate || new.is_estimate,
            is_unpriced: old.is_unpriced || new.is_unpriced,
            removed,
            added,
            otherwise,
            changed,
            changed_fields,
        })
    };
    kinds.into_iter().filter_map(difference).collect()
}

/// The nodes of one kind of two plans, each with its counterpart in the other.
#[derive(Default)]
struct Pairs {
    removed: Vec<Arc<str>>,
    added: Vec<Arc<str>>,
    otherwise: Vec<Arc<str>>,
    changed_fields: BTreeSet<Arc<str>>,
}

/// What a pool and its class say of a node, each field with its value as text.
type Terms = Vec<(&'static str, String)>;

/// A node by its VM's name.
type Named = (Arc<str>, Terms);

impl Pairs {
    /// Pairs nodes that are alike, those of one name first; then as many as there are on both sides. What may be had
    /// instead of the first choice depends on the pods and does not count.
    fn of(old: &[MadeNode<'_>], new: &[MadeNode<'_>]) -> Self {
        let with_terms = |nodes: &[MadeNode<'_>]| -> Vec<Named> {
            nodes.iter().map(|node| (Arc::clone(node.vm), terms(node.claim))).collect()
        };
        let (mut old, mut new) = (with_terms(old), with_terms(new));
        drop_pairs(&mut old, &mut new, Named::clone);
        drop_pairs(&mut old, &mut new, |(_, terms)| terms.clone());
        let both = old.len().min(new.len());
        let values = |nodes: &[Named], place: usize| -> BTreeSet<String> {
            nodes.iter().filter_map(|(_, terms)| terms.get(place)).map(|(_, value)| value.clone()).collect()
        };
        let fields = old.first().filter(|_| both > 0).into_iter().flat_map(|(_, terms)| terms).enumerate();
        let differing = fields.filter(|(place, _)| values(&old, *place) != values(&new, *place));
        let changed_fields = differing.map(|(_, (name, _))| Arc::from(*name)).collect();
        let names = |nodes: &[Named]| nodes.iter().map(|(vm, _)| Arc::clone(vm)).collect();
        Self {
            removed: names(&old[both..]),
            added: names(&new[both..]),
            otherwise: names(&new[..both]),
            changed_fields,
        }
    }
}

/// Takes nodes out that have a counterpart of the same key, each with its own.
fn drop_pairs<K: Ord>(old: &mut Vec<Named>, new: &mut Vec<Named>, key: impl Fn(&Named) -> K) {
    let mut counterparts: BTreeMap<K, usize> = BTreeMap::new();
    for node in &*new {
        *counterparts.entry(key(node)).or_default() += 1;
    }
    let mut paired: BTreeMap<K, usize> = BTreeMap::new();
    old.retain(|node| match counterparts.get_mut(&key(node)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            *paired.entry(key(node)).or_default() += 1;
            false
        }
        Some(_) | None => true,
    });
    new.retain(|node| match paired.get_mut(&key(node)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        Some(_) | None => true,
    });
}

/// What a pool and its class say of a node, each field with its value as text.
fn terms(claim: &ClaimSpec) -> Terms {
    let ClaimSpec {
        pool: _,
        class,
        primary: _,
        requirements: _,
        price_max: _,
        labels,
        annotations,
        taints,
        startup_taints,
        expire_after,
        termination_grace_period,
    } = claim;
    vec![
        ("AKSNodeClass", format!("{class:?}")),
        ("annotations", format!("{annotations:?}")),
        ("expireAfter", format!("{expire_after:?}")),
        ("labels", format!("{labels:?}")),
        ("startupTaints", format!("{startup_taints:?}")),
        ("taints", format!("{taints:?}")),
        ("terminationGracePeriod", format!("{termination_grace_period:?}")),
    ]
}
