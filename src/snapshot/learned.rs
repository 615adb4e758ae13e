//! Learns the actual resources of nodes from Ready ones: the smallest allocatable among nodes with the same pool, size,
//! image and `maxPods`, and the taints that third parties put on all of them.
//!
//! Values computed from a size are an estimate; values reported by a node are evidence, valid for a week after the node
//! is deleted, or until its class changes. Pure: takes nodes, earlier rows and a time, and returns rows. Must never
//! assume more of a node than it reported.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::model::{
    Alike, LabelKey, LearnedNode, LearnedSize, Node, NodeClass, NodeStage, Pool, ResourceName, Resources,
    SkuName, Taint, label,
};
use crate::policy::Policy;

use super::AzureFacts;

/// Time for which a row stays valid after the last node that shows it.
const BELIEVED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Interval at which `seen` of an unchanged row is updated.
const NOTED: SignedDuration = SignedDuration::from_hours(1);

/// Maximum number of rows.
const ROWS_MAX: usize = 200;

/// Path of AKS's own image galleries. New nodes get the newest version of these images.
const GALLERIES: &str = "/communitygalleries/";

/// Returns the updated rows, sorted.
#[must_use]
pub fn learned(nodes: &[Node], policy: &Policy, known: &[LearnedNode], at: Timestamp) -> Vec<LearnedNode> {
    let mut rows: BTreeMap<Alike, LearnedNode> = BTreeMap::new();
    let is_believed = |row: &&LearnedNode| {
        let class = class_of(policy, &row.alike);
        class.is_some_and(|class| class.hash == row.class_hash) && at.duration_since(row.seen) < BELIEVED
    };
    for row in known.iter().filter(is_believed) {
        rows.insert(row.alike.clone(), row.clone());
    }
    for (alike, shown) in shown(nodes, policy, at) {
        let row = match rows.remove(&alike) {
            Some(before) => merged(&before, shown),
            None => shown,
        };
        rows.insert(alike, row);
    }
    let mut rows: Vec<LearnedNode> = rows.into_values().collect();
    if rows.len() > ROWS_MAX {
        rows.sort_by_key(|row| std::cmp::Reverse(row.seen));
        rows.truncate(ROWS_MAX);
        rows.sort_by(|one, other| one.alike.cmp(&other.alike));
    }
    rows
}

/// Returns the learned allocatable of sizes, for images that new nodes would get.
#[must_use]
pub fn sizes(rows: &[LearnedNode], policy: &Policy, facts: &AzureFacts) -> Vec<LearnedSize> {
    let is_of_today = |row: &&LearnedNode| {
        let image = &row.alike.image;
        let is_newest = facts.images.is_empty() || facts.images.values().any(|newest| newest == image);
        is_newest || !image.to_ascii_lowercase().starts_with(GALLERIES)
    };
    let size = |row: &LearnedNode| {
        let Alike { size, max_pods, .. } = &row.alike;
        let class = class_of(policy, &row.alike)?.name.clone();
        let allocatable = row.allocatable.clone();
        Some(LearnedSize { class, size: size.clone(), max_pods: *max_pods, allocatable })
    };
    rows.iter().filter(is_of_today).filter_map(size).collect()
}

fn class_of<'p>(policy: &'p Policy, alike: &Alike) -> Option<&'p NodeClass> {
    policy.classes.get(&policy.pools.get(&alike.pool)?.class)
}

/// Returns the rows shown by existing nodes: the minimum over each group of alike nodes.
fn shown(nodes: &[Node], policy: &Policy, at: Timestamp) -> BTreeMap<Alike, LearnedNode> {
    let mut shown: BTreeMap<Alike, LearnedNode> = BTreeMap::new();
    for row in nodes.iter().filter_map(|node| of_node(node, policy, at)) {
        match shown.get_mut(&row.alike) {
            Some(least) => {
                least.allocatable = least_of_both(&least.allocatable, &row.allocatable);
                least.taints.retain(|taint| row.taints.contains(taint));
            }
            None => drop(shown.insert(row.alike.clone(), row)),
        }
    }
    shown
}

/// Returns the row shown by a node that is initialized, Ready, and created from its current class.
fn of_node(node: &Node, policy: &Policy, at: Timestamp) -> Option<LearnedNode> {
    let is_up = node.stage == NodeStage::Initialized && node.is_ready() && !node.is_deleting;
    let pool = policy.pools.get(node.pool.as_ref().filter(|_| is_up && node.claimed.is_own)?)?;
    let class = policy.classes.get(&pool.class)?;
    let stamp = node.claimed.class_stamp.as_ref().filter(|stamp| stamp.hash == class.hash)?;
    let alike = Alike {
        pool: pool.name.clone(),
        size: SkuName::new(&**node.labels.get(&LabelKey::new(label::INSTANCE_TYPE))?),
        image: node.claimed.image.clone()?,
        max_pods: node.capacity.get(&ResourceName::Pods),
    };
    // The disk of a node does not follow from its size; disks are learned elsewhere.
    let is_of_size = |name: &ResourceName| *name != ResourceName::EphemeralStorage;
    let allocatable = node.allocatable.iter().filter(|(name, amount)| *amount > 0 && is_of_size(name));
    Some(LearnedNode {
        alike,
        class_hash: stamp.hash.clone(),
        allocatable: allocatable.map(|(name, amount)| (name.clone(), amount)).collect(),
        taints: of_others(node, pool),
        seen: at,
    })
}

/// Returns the taints of a node that were not set by its pool, Kubernetes or nodeform.
fn of_others(node: &Node, pool: &Pool) -> Vec<Taint> {
    let is_asked = |taint: &Taint| {
        let mut own = pool.taints.iter().chain(&pool.startup_taints);
        own.any(|own| own.key == taint.key && own.effect == taint.effect)
    };
    let is_passing = |taint: &Taint| {
        taint.is_ephemeral()
            || taint.key.starts_with("node.kubernetes.io/")
            || &*taint.key == label::DISRUPTED
    };
    let mut taints: Vec<Taint> =
        node.taints.iter().filter(|taint| !is_asked(taint) && !is_passing(taint)).cloned().collect();
    taints.sort();
    taints
}

/// Merges a row with a newly shown one. A new minimum is stored immediately, an unchanged row is refreshed
/// periodically, and larger values only take over once the old row expires.
fn merged(before: &LearnedNode, shown: LearnedNode) -> LearnedNode {
    let mut allocatable = least_of_both(&before.allocatable, &shown.allocatable);
    let only = |(one, other): (&Resources, &Resources)| -> Vec<(ResourceName, i64)> {
        let alone = one.iter().filter(|(name, _)| other.get(name) == 0);
        alone.map(|(name, amount)| (name.clone(), amount)).collect()
    };
    let sides = [(&before.allocatable, &shown.allocatable), (&shown.allocatable, &before.allocatable)];
    for (name, amount) in sides.into_iter().flat_map(only) {
        allocatable.set(name, amount);
    }
    let is_shown = allocatable.iter().all(|(name, amount)| shown.allocatable.get(name) == amount);
    let is_new = allocatable != before.allocatable || shown.taints != before.taints;
    let is_due = is_shown && shown.seen.duration_since(before.seen) >= NOTED;
    let seen = if is_new || is_due { shown.seen } else { before.seen };
    LearnedNode { allocatable, seen, ..shown }
}

/// Returns the smaller amount of each resource that both have.
fn least_of_both(one: &Resources, other: &Resources) -> Resources {
    let both = one.iter().filter(|(name, _)| other.get(name) > 0);
    both.map(|(name, amount)| (name.clone(), amount.min(other.get(name)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::Source;

    const POOL: &str = "
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {imageFamily: Ubuntu}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
      startupTaints: [{key: example.com/starts, effect: NoSchedule}]
";

    /// Returns the rows learned from these nodes, given earlier rows and an hour.
    fn rows(nodes: &[String], known: &[LearnedNode], hour: i64) -> Vec<LearnedNode> {
        let text = std::iter::once(POOL.to_owned()).chain(nodes.iter().cloned()).collect::<String>();
        let (objects, policy) = crate::offline::read(vec![Source::new("a.yaml", text)]).expect("it is right");
        learned(&objects.nodes, &policy, known, at(hour))
    }

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + hour * 3600).unwrap()
    }

    fn node(name: &str, memory: &str, rest: &str) -> String {
        let (_, policy) =
            crate::offline::read(vec![Source::new("a.yaml", POOL.to_owned())]).expect("is right");
        let hash = policy.classes.values().next().map(|class| class.hash.clone()).unwrap();
        format!(
            "---\napiVersion: v1\nkind: Node\nmetadata: {{name: aks-{name}, labels: {{karpenter.sh/nodepool: general, \
             karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', node.kubernetes.io/instance-type: \
             Standard_D2s_v5}}}}\nspec: {{providerID: 'azure:///{name}'{rest}}}\nstatus: {{capacity: {{cpu: '2', memory: 8Gi, \
             pods: '110'}}, allocatable: {{cpu: 1900m, memory: {memory}, pods: '110', nvidia.com/gpu: '0'}}, conditions: \
             [{{type: Ready, status: 'True'}}]}}\n---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: {name}, \
             labels: {{karpenter.sh/nodepool: general}}, annotations: {{nodeform.dev/cluster: uid, \
             karpenter.azure.com/aksnodeclass-hash: '{hash}', karpenter.azure.com/aksnodeclass-hash-version: v3}}}}\nspec: \
             {{requirements: [], nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}}}\nstatus: \
             {{providerID: 'azure:///{name}', imageID: image-1}}\n"
        )
    }

    fn memory(rows: &[LearnedNode]) -> Vec<String> {
        rows.iter().map(|row| ResourceName::Memory.show(row.allocatable.get(&ResourceName::Memory))).collect()
    }

    #[test]
    fn of_nodes_that_are_alike_the_smallest_is_learnt_and_stays_when_it_is_gone() {
        let both = rows(&[node("a", "5Gi", ""), node("b", "6Gi", "")], &[], 0);
        assert_eq!(memory(&both), ["5Gi"]);
        let gpu = ResourceName::parse("nvidia.com/gpu");
        assert!(!both[0].allocatable.names(&gpu), "what is not registered yet is not learnt");
        let (max_pods, image) = (both[0].alike.max_pods, &*both[0].alike.image);
        assert_eq!((max_pods, image), (110, "image-1"));
        let one = rows(&[node("b", "6Gi", "")], &both, 10);
        assert_eq!((memory(&one), one[0].seen), (vec!["5Gi".to_owned()], at(0)), "it is gone since");
        assert_eq!(memory(&rows(&[], &both, 24 * 7 - 1)), ["5Gi"]);
        assert_eq!(rows(&[], &both, 24 * 7), [], "after a week nobody believes it");
        assert_eq!(memory(&rows(&[node("b", "6Gi", "")], &both, 24 * 7)), ["6Gi"]);
    }

    #[test]
    fn rows_are_not_written_anew_while_nodes_show_the_same() {
        let first = rows(&[node("a", "5Gi", "")], &[], 0);
        let again = learned_after_minutes(&first, 30);
        assert_eq!(again, first);
        assert_eq!(rows(&[node("a", "5Gi", "")], &first, 2)[0].seen, at(2), "now and then it is noted");
    }

    fn learned_after_minutes(known: &[LearnedNode], minutes: i64) -> Vec<LearnedNode> {
        let text = format!("{POOL}{}", node("a", "5Gi", ""));
        let (objects, policy) = crate::offline::read(vec![Source::new("a.yaml", text)]).expect("it is right");
        learned(&objects.nodes, &policy, known, at(0) + SignedDuration::from_mins(minutes))
    }

    #[test]
    fn taints_of_others_are_those_that_all_nodes_have() {
        let tainted = ", taints: [{key: example.com/q, effect: NoSchedule}, {key: example.com/starts, effect: NoSchedule}]";
        let found = rows(&[node("a", "5Gi", tainted), node("b", "5Gi", tainted)], &[], 0);
        let taints: Vec<String> = found[0].taints.iter().map(ToString::to_string).collect();
        assert_eq!(taints, ["example.com/q:NoSchedule"]);
        assert_eq!(rows(&[node("a", "5Gi", tainted), node("b", "5Gi", "")], &[], 0)[0].taints, []);
    }

    #[test]
    fn what_is_not_ready_or_of_another_class_teaches_nothing() {
        let unready =
            node("a", "5Gi", "").replace("type: Ready, status: 'True'", "type: Ready, status: 'False'");
        assert_eq!(rows(&[unready], &[], 0), []);
        let known = rows(&[node("a", "5Gi", "")], &[], 0);
        let other = vec![LearnedNode { class_hash: "other".into(), ..known[0].clone() }];
        assert_eq!(rows(&[], &other, 1), [], "its class has changed");
        let foreign = node("a", "5Gi", "").replace("nodeform.dev/cluster: uid, ", "");
        assert_eq!(rows(&[foreign], &[], 0), [], "nodeform did not make it");
    }
}
