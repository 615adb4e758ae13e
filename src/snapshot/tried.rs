//! Stops creating nodes that do not help: outcomes of nodes created for pods of one owner and template.
//!
//! Two such nodes that joined and run none of these pods prove that a third would not either: until something changes,
//! none is created for them. Derived from objects alone, so every planner gets the same result: NodeClaims record their
//! purpose and template, pods their owner and how long they are pending, and the NodeFleet remembers deleted nodes.
//! Pure; must never be used to remove anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::catalog::Catalog;
use crate::model::purpose::Purposes;
use crate::model::{
    LabelKey, NetworkSetup, Node, NodeName, NodeStage, Pod, PodKey, PodPlace, Purpose, ResourceName,
    Resources, SkuName, Tried, label,
};
use crate::policy::Policy;

/// Number of nodes without any of their intended pods that stops the creation of more.
const ENOUGH: usize = 2;

/// Time for which such a node counts.
const COUNTS: SignedDuration = SignedDuration::from_hours(24);

/// Age from which a node that is not Ready counts.
const PATIENCE: SignedDuration = SignedDuration::from_mins(15);

/// Maximum number of nodes to remember.
const REMEMBERED_MAX: usize = 100;

/// Inputs, before any planning.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The nodes.
    pub nodes: &'a [Node],
    /// The pods, where kube-scheduler placed them.
    pub pods: &'a [Pod],
    /// Creation times of pending pods.
    pub waiting_since: &'a BTreeMap<PodKey, Timestamp>,
    /// The policy.
    pub policy: &'a Policy,
    /// The catalogue, and the network set-up of the nodes.
    pub sold: (&'a Catalog, NetworkSetup),
    /// Remembered nodes.
    pub known: &'a [Tried],
    /// The current time.
    pub at: Timestamp,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    /// Nodes that run none of the pods they were created for, oldest first, to be remembered.
    pub tried: Vec<Tried>,
    /// Purposes for which no more nodes are created, with the reason.
    pub held: BTreeMap<Purpose, Arc<str>>,
}

/// Pending pods of one purpose.
struct Waiting<'a> {
    example: &'a Pod,
    /// Creation time of the oldest one.
    since: Timestamp,
}

/// Returns the outcome of nodes that were created for pods which are still pending.
#[must_use]
pub fn tries(scene: Scene<'_>) -> Tries {
    let made: Vec<&Node> = scene.nodes.iter().filter(|node| !node.claimed.made_for.is_empty()).collect();
    if made.is_empty() && scene.known.is_empty() {
        return Tries::default();
    }
    let mut purposes = Purposes::default();
    let waiting = waiting(scene, &mut purposes);
    let running = running(scene, &made, &mut purposes);
    let has_taken = |node: &Node, purpose: &Purpose| {
        running.get(&node.name).is_some_and(|(taken, _)| taken.contains(purpose))
    };
    let mut tried: Vec<Tried> = Vec::new();
    for node in &made {
        let Some(joined) = joined(scene, node) else { continue };
        let in_vain = |purpose: &&Purpose| {
            waiting.get(*purpose).is_some_and(|pods| pods.since <= joined) && !has_taken(node, purpose)
        };
        let pods: BTreeSet<Purpose> = node.claimed.made_for.iter().filter(in_vain).cloned().collect();
        let example = pods.first().and_then(|purpose| waiting.get(purpose)).map(|pods| pods.example);
        if let (Some(example), Some(pool), Some(made_from)) = (example, &node.pool, made_from(node)) {
            let used = running.get(&node.name).map(|(_, used)| used);
            let because = why(scene, (node, used), example).into();
            tried.push(Tried {
                node: node.name.clone(),
                pods,
                pool: pool.clone(),
                made_from,
                joined,
                because,
            });
        }
    }
    let there: BTreeSet<&NodeName> = scene.nodes.iter().map(|node| &node.name).collect();
    tried.extend(scene.known.iter().filter(|known| !there.contains(&known.node)).cloned());
    tried.retain(|tried| counts(scene, tried));
    tried.sort_by(|one, other| (one.joined, &one.node).cmp(&(other.joined, &other.node)));
    let held = waiting.iter().filter_map(|(purpose, pods)| {
        let taken = made.iter().filter(|node| has_taken(node, purpose)).filter_map(|node| node.created).max();
        let in_vain = |tried: &&Tried| {
            tried.pods.contains(purpose)
                && tried.joined >= pods.since
                && taken.is_none_or(|at| at < tried.joined)
        };
        let tried: Vec<&Tried> = tried.iter().filter(in_vain).collect();
        let last = tried.len().checked_sub(ENOUGH).map(|first| &tried[first..])?;
        Some((purpose.clone(), said(last)?.into()))
    });
    let held = held.collect();
    tried.drain(..tried.len().saturating_sub(REMEMBERED_MAX));
    Tries { tried, held }
}

/// Returns the pending pods by purpose.
fn waiting<'a>(scene: Scene<'a>, purposes: &mut Purposes<'a>) -> BTreeMap<Purpose, Waiting<'a>> {
    let mut waiting: BTreeMap<Purpose, Waiting<'_>> = BTreeMap::new();
    let waits = |pod: &&Pod| pod.place == PodPlace::Waiting && !pod.is_daemon && !pod.is_terminating;
    for pod in scene.pods.iter().filter(waits) {
        let Some(since) = scene.waiting_since.get(&pod.key).copied() else { continue };
        let first = waiting.entry(purposes.of(pod)).or_insert(Waiting { example: pod, since });
        first.since = first.since.min(since);
    }
    waiting
}

/// Returns the purposes of the pods running on each of these nodes, and the resources that all its pods use.
fn running<'a>(
    scene: Scene<'a>,
    made: &[&'a Node],
    purposes: &mut Purposes<'a>,
) -> BTreeMap<&'a NodeName, (BTreeSet<Purpose>, Resources)> {
    let mut running: BTreeMap<&NodeName, (BTreeSet<Purpose>, Resources)> =
        made.iter().map(|node| (&node.name, <_>::default())).collect();
    for pod in scene.pods {
        if let PodPlace::Bound(node) = &pod.place
            && let Some((there, used)) = running.get_mut(node)
        {
            used.add(&pod.spec.requests);
            if !pod.is_daemon {
                there.insert(purposes.of(pod));
            }
        }
    }
    running
}

/// Returns the creation time of a node that counts as joined: it is Ready, or should be by now.
fn joined(scene: Scene<'_>, node: &Node) -> Option<Timestamp> {
    let created = node.created.filter(|_| node.stage != NodeStage::Launching)?;
    (node.is_ready() || scene.at.duration_since(created) >= PATIENCE).then_some(created)
}

/// Returns the hashes of the pool and class that a node was created from.
fn made_from(node: &Node) -> Option<Arc<str>> {
    let claimed = &node.claimed;
    let (pool, class) = (claimed.pool_stamp.as_ref()?, claimed.class_stamp.as_ref()?);
    let requirements = claimed.requirements_hash.as_deref()?;
    Some(format!("{}/{requirements}/{}", pool.hash, class.hash).into())
}

/// Returns whether a node still predicts the next one: it is recent, and the next would have the same template.
fn counts(scene: Scene<'_>, tried: &Tried) -> bool {
    let pool = scene.policy.pools.get(&tried.pool);
    let class = pool.and_then(|pool| scene.policy.classes.get(&pool.class));
    let is_same = pool.zip(class).is_some_and(|(pool, class)| {
        *tried.made_from == *format!("{}/{}/{}", pool.template_hash(), pool.requirements_hash(), class.hash)
    });
    is_same && scene.at.duration_since(tried.joined) < COUNTS
}

/// Explains why a pod does not run on a node that was created for it.
fn why(scene: Scene<'_>, (node, used): (&Node, Option<&Resources>), pod: &Pod) -> String {
    if node.is_deleting {
        return "it is being deleted".to_owned();
    }
    if node.is_unschedulable {
        return "cordoned".to_owned();
    }
    if !node.claimed.lacks.is_empty() {
        let lacks: Vec<String> = node.claimed.lacks.iter().map(ToString::to_string).collect();
        return lacks.join(", ");
    }
    if let Some(taint) = pod.spec.stance().first_untolerated(&node.taints) {
        return format!("taint `{taint}` is not tolerated");
    }
    let room = used.map_or_else(|| node.allocatable.clone(), |used| node.allocatable.minus(used));
    match pod.spec.requests.lacking_in(&room).first() {
        Some(lacking) => too_little(scene, node, lacking, pod.spec.requests.get(lacking)),
        None => "kube-scheduler has not bound them to it".to_owned(),
    }
}

/// Explains the shortage of a resource on a node: less than computed for its size, or less than other pods leave.
fn too_little(scene: Scene<'_>, node: &Node, lacking: &ResourceName, wanted: i64) -> String {
    let (catalog, network) = scene.sold;
    let size = node.labels.get(&LabelKey::new(label::INSTANCE_TYPE)).map(|size| SkuName::new(&**size));
    let class = node.class.as_ref().and_then(|class| scene.policy.classes.get(class));
    let offered = class.map(|class| catalog.offered(class, network));
    let kind = offered
        .as_ref()
        .and_then(|offered| offered.types.iter().find(|kind| Some(&kind.name) == size.as_ref()));
    let (has, computed) = (node.allocatable.get(lacking), kind.map(|kind| kind.allocatable.get(lacking)));
    match (computed.filter(|computed| *computed > has), size) {
        (Some(computed), Some(size)) => {
            let (has, computed) = (lacking.show(has), lacking.show(computed));
            format!("`{size}` has {has} {lacking} allocatable, {computed} were computed")
        }
        (Some(_) | None, _) => {
            format!("{} {lacking} do not fit beside what runs there", lacking.show(wanted))
        }
    }
}

/// Explains which nodes prove that another would not help, and until when no other is created.
fn said(tried: &[&Tried]) -> Option<String> {
    let until = tried.first()?.joined.checked_add(COUNTS).ok()?;
    let nodes: Vec<String> =
        tried.iter().map(|Tried { node, because, .. }| format!("`{node}` ({because})")).collect();
    Some(format!(
        "nodes {} were made for these pods and run none of them: no other is made for them until {until:.0}, unless the \
         pods' template, the NodePool, its AKSNodeClass or these nodes change",
        nodes.join(" and ")
    ))
}

#[cfg(test)]
mod tests;
