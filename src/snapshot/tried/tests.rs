use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;

use super::{Scene, Tries, tries};
use crate::catalog::Catalog;
use crate::manifests::{Objects, Source};
use crate::model::{NetworkSetup, Pool, Purpose, Region, Tried};
use crate::policy::Policy;

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
      requirements:
      - {key: karpenter.azure.com/sku-name, operator: In, values: [Standard_D2s_v5, Standard_D4s_v5]}
";

/// A pod of Deployment `web`, created at this minute; on a node, or pending.
fn pod(name: &str, minute: i64, node: Option<&str>) -> String {
    let node = node.map_or(String::new(), |node| format!("nodeName: {node}, "));
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default, uid: {name}, labels: {{app: web, \
         pod-template-hash: abc}}, creationTimestamp: '{}', ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, \
         name: web-abc, controller: true}}]}}\nspec: {{{node}containers: [{{name: c, resources: {{requests: {{cpu: 500m, \
         memory: 4200Mi}}}}}}]}}\nstatus: {{phase: Pending}}\n",
        at(minute)
    )
}

/// A node of the pool, created for pods of Deployment `web` at this minute, with this much memory for pods.
struct Made {
    name: &'static str,
    minute: i64,
    memory: &'static str,
    spec: &'static str,
}

const fn made(name: &'static str, minute: i64) -> Made {
    Made { name, minute, memory: "5Gi", spec: "" }
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + minute * 60).unwrap()
}

fn read(text: &str) -> (Objects, Policy) {
    crate::offline::read(vec![Source::new("all.yaml", text.to_owned())]).expect("it is right")
}

fn purpose() -> Purpose {
    let (objects, _) = read(&pod("web-x", 0, None));
    Purpose::of(&objects.pods[0])
}

fn node(node: &Made, pool: &Pool, class: &str) -> String {
    let Made { name, minute, memory, spec } = node;
    let (hash, version) = (pool.template_hash(), Pool::TEMPLATE_HASH_VERSION);
    let mut text = String::new();
    let (created, made_for, requirements) = (at(*minute), purpose(), pool.requirements_hash());
    write!(
        text,
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: aks-{name}, uid: {name}, creationTimestamp: '{created}', labels: \
         {{karpenter.sh/nodepool: general, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', \
         node.kubernetes.io/instance-type: Standard_D2s_v5}}}}\nspec: {{providerID: 'azure:///{name}'{spec}}}\nstatus: \
         {{capacity: {{cpu: '2', memory: 8Gi, pods: '110'}}, allocatable: {{cpu: 1900m, memory: {memory}, pods: '110'}}, \
         conditions: [{{type: Ready, status: 'True'}}]}}\n---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: \
         {{name: {name}, labels: {{karpenter.sh/nodepool: general}}, annotations: {{nodeform.dev/pods: {made_for}, \
         nodeform.dev/requirements-hash: {requirements}, karpenter.sh/nodepool-hash: {hash}, \
         karpenter.sh/nodepool-hash-version: {version}, karpenter.azure.com/aksnodeclass-hash: '{class}', \
         karpenter.azure.com/aksnodeclass-hash-version: v3}}}}\nspec: {{requirements: [], nodeClassRef: {{group: \
         karpenter.azure.com, kind: AKSNodeClass, name: default}}}}\nstatus: {{providerID: 'azure:///{name}'}}\n"
    )
    .unwrap();
    text
}

/// Returns the outcome at a minute, given these remembered nodes.
fn tried(nodes: &[Made], pods: &[String], known: &[Tried], minute: i64) -> Tries {
    let (_, policy) = read(POOL);
    let pool = policy.pools.values().next().unwrap();
    let class = policy.classes.values().next().unwrap().hash.clone();
    tried_by(&policy, (nodes.iter().map(|made| node(made, pool, &class)).collect(), pods), known, minute)
}

fn tried_by(policy: &Policy, (nodes, pods): (Vec<String>, &[String]), known: &[Tried], minute: i64) -> Tries {
    let text: Vec<String> =
        std::iter::once(POOL.to_owned()).chain(nodes).chain(pods.iter().cloned()).collect();
    let (objects, _) = read(&text.concat());
    let catalog = Catalog::embedded(&Region::new("westeurope")).expect("it is known");
    tries(Scene {
        nodes: &objects.nodes,
        pods: &objects.pods,
        waiting_since: &objects.waiting_since,
        policy,
        sold: (&catalog, NetworkSetup::AzureOverlay { is_cilium: false }),
        known,
        at: at(minute),
    })
}

fn waiting() -> Vec<String> {
    vec![pod("web-1", 0, None)]
}

fn held(tries: &Tries) -> Option<&str> {
    assert!(tries.held.keys().all(|held| *held == purpose()), "{tries:?}");
    tries.held.values().next().map(|why| &**why)
}

#[test]
fn one_node_that_runs_none_of_its_pods_is_remembered_and_holds_nothing() {
    let found = tried(&[made("a", 1)], &waiting(), &[], 5);
    assert_eq!((found.tried.len(), held(&found)), (1, None));
    let lacking = tried(&[Made { memory: "4Gi", ..made("a", 1) }], &waiting(), &[], 5);
    let said = &lacking.tried[0].because;
    let is_said = said.starts_with("`Standard_D2s_v5` has 4Gi memory allocatable, ")
        && said.ends_with(" were computed");
    assert!(is_said, "{said}");
}

#[test]
fn after_two_no_third_is_made_and_both_are_named_with_the_reason() {
    let nodes = [made("a", 1), Made { spec: ", unschedulable: true", ..made("b", 6) }];
    let found = tried(&nodes, &waiting(), &[], 10);
    let why = held(&found).expect("it is held");
    assert!(why.contains("`aks-a` (") && why.contains("`aks-b` (cordoned)"), "{why}");
    assert!(why.contains("until 2026-01-02T00:01:00Z"), "the first of them counts for a day: {why}");
    let tainted =
        [made("a", 1), Made { spec: ", taints: [{key: example.com/q, effect: NoSchedule}]", ..made("b", 6) }];
    let why = held(&tried(&tainted, &waiting(), &[], 10)).map(str::to_owned).expect("it is held");
    assert!(why.contains("`aks-b` (taint `example.com/q:NoSchedule` is not tolerated)"), "{why}");
}

#[test]
fn nodes_that_are_gone_count_as_they_are_remembered() {
    let first = tried(&[made("a", 1)], &waiting(), &[], 5);
    let second = tried(&[made("b", 6)], &waiting(), &first.tried, 10);
    assert_eq!((second.tried.len(), held(&second).is_some()), (2, true));
    let both_gone = tried(&[], &waiting(), &second.tried, 20);
    assert!(held(&both_gone).is_some_and(|why| why.contains("`aks-a`")), "{both_gone:?}");
    assert_eq!(
        held(&tried(&[], &waiting(), &second.tried, 24 * 60 + 2)),
        None,
        "a day later it is tried again"
    );
}

#[test]
fn a_scale_up_whose_nodes_take_its_pods_is_never_held() {
    let nodes = [made("a", 1), made("b", 1), made("c", 1)];
    let pods = [pod("web-1", 0, Some("aks-c")), pod("web-2", 0, None), pod("web-3", 0, None)];
    assert_eq!(held(&tried(&nodes, &pods, &[], 2)), None, "others of the same moment run theirs");
    let later = [made("a", 5), made("b", 6), made("c", 1)];
    assert!(held(&tried(&later, &pods, &[], 7)).is_some(), "the last two run none");
}

#[test]
fn pods_that_came_after_a_node_say_nothing_of_it() {
    let nodes = [made("a", 1), made("b", 2)];
    assert_eq!(held(&tried(&nodes, &[pod("web-2", 30, None)], &[], 31)), None);
    let mixed = [pod("web-1", 0, None), pod("web-2", 30, None)];
    assert!(
        held(&tried(&nodes, &mixed, &[], 31)).is_some(),
        "one that waits since then is the proof for all"
    );
}

#[test]
fn another_pool_class_or_template_is_tried_anew() {
    let nodes = [made("a", 1), made("b", 2)];
    let known = tried(&nodes, &waiting(), &[], 10).tried;
    let (_, policy) = read(&POOL.replace(", Standard_D4s_v5", ""));
    assert_eq!(held(&tried_by(&policy, (Vec::new(), &waiting()), &known, 11)), None, "other requirements");
    let (_, policy) = read(&POOL.replace("imageFamily: Ubuntu", "imageFamily: AzureLinux"));
    assert_eq!(held(&tried_by(&policy, (Vec::new(), &waiting()), &known, 11)), None, "another class");
    let other = waiting()[0].replace("4200Mi", "4100Mi");
    assert_eq!(held(&tried(&nodes, &[other], &known, 11)), None, "another template");
    assert!(held(&tried(&[], &waiting(), &known, 11)).is_some());
}

#[test]
fn a_node_that_is_not_ready_counts_after_fifteen_minutes() {
    let (_, policy) = read(POOL);
    let pool = policy.pools.values().next().unwrap();
    let class = policy.classes.values().next().unwrap().hash.clone();
    let texts = || {
        let text = |name| {
            node(&made(name, 1), pool, &class)
                .replace("type: Ready, status: 'True'", "type: Ready, status: 'False'")
        };
        vec![text("a"), text("b")]
    };
    assert_eq!(held(&tried_by(&policy, (texts(), &waiting()), &[], 15)), None);
    assert!(held(&tried_by(&policy, (texts(), &waiting()), &[], 16)).is_some());
}

#[test]
fn without_anything_made_for_pods_nothing_is_held() {
    let found = tried(&[], &waiting(), &[], 5);
    assert_eq!(found, Tries { tried: Vec::new(), held: BTreeMap::new() });
}
