//! Nodes and NodeClaims: matching, stages and resources.

use jiff::SignedDuration;

use crate::model::{Claimed, ExpireAfter, Lack, Node, NodeStage, ResourceName};

use super::objects;

const CLAIM: &str = "
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: general-x1
  labels: {karpenter.sh/nodepool: general, topology.kubernetes.io/zone: westeurope-1}
spec:
  nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
  taints: [{key: team, value: a, effect: NoSchedule}]
  startupTaints: [{key: cilium, effect: NoExecute}]
  requirements:
  - {key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}
  - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
status:
  providerID: azure:///subscriptions/s/resourceGroups/RG/providers/vm/aks-general-x1
  capacity: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}
  allocatable: {cpu: 3900m, memory: 13Gi, nvidia.com/gpu: 1}
";

fn node(name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: {name}\n  {metadata}\nspec: {{{spec}}}\n\
         status: {{capacity: {{cpu: 4, memory: 15Gi, pods: 110, nvidia.com/gpu: 0}}, allocatable: {{cpu: 3800m}}}}\n"
    )
}

fn only(text: &str) -> Node {
    let mut nodes = objects(text).nodes;
    assert_eq!(nodes.len(), 1, "{nodes:?}");
    nodes.remove(0)
}

fn labels(node: &Node) -> String {
    node.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

fn taints(node: &Node) -> Vec<String> {
    node.taints.iter().map(ToString::to_string).collect()
}

#[test]
fn a_claim_without_a_node_is_a_node_on_its_way() {
    let node = only(CLAIM);
    assert_eq!(node.stage, NodeStage::Launching);
    assert_eq!(node.name.as_str(), "general-x1");
    assert_eq!(node.pool.as_ref().map(|pool| pool.as_str()), Some("general"));
    assert_eq!(node.class.as_ref().map(|class| class.as_str()), Some("default"));
    assert_eq!(
        labels(&node),
        "karpenter.sh/nodepool=general node.kubernetes.io/instance-type=Standard_D4s_v5 \
         topology.kubernetes.io/zone=westeurope-1"
    );
    assert_eq!(taints(&node), ["team=a:NoSchedule"]);
    assert_eq!(node.allocatable.get(&ResourceName::Cpu), 3900);
}

const PROVIDER: &str = "providerID: 'azure:///subscriptions/s/resourceGroups/rg/providers/vm/aks-general-x1'";

#[test]
fn a_claim_is_joined_by_provider_id_by_status_and_by_name() {
    let by_provider = format!("{CLAIM}{}", node("n1", "labels: {}", PROVIDER));
    let by_status = format!("{CLAIM}  nodeName: n1\n{}", node("n1", "labels: {}", ""));
    let by_name = format!("{CLAIM}{}", node("aks-general-x1", "labels: {}", ""));
    for text in [by_provider, by_status, by_name] {
        let node = only(&text);
        assert_eq!(node.claim.as_ref().map(|claim| claim.as_str()), Some("general-x1"), "{text}");
        assert_ne!(node.name.as_str(), "general-x1");
    }
    let apart = format!("{CLAIM}{}", node("n1", "labels: {}", ""));
    assert_eq!(objects(&apart).nodes.len(), 2);
}

#[test]
fn before_it_is_registered_a_node_is_what_its_claim_says() {
    let taints_now = "taints: [{key: karpenter.sh/unregistered, effect: NoExecute}, {key: node.kubernetes.io/not-ready, effect: NoSchedule}, \
                      {key: cilium, effect: NoExecute}]";
    let node =
        only(&format!("{CLAIM}{}", node("n1", "labels: {own: x}", &format!("{PROVIDER}, {taints_now}"))));
    assert_eq!(node.stage, NodeStage::Registered);
    assert_eq!(node.pool.as_ref().map(|pool| pool.as_str()), Some("general"));
    assert_eq!(taints(&node), ["team=a:NoSchedule"]);
    assert_eq!(node.labels.len(), 4);
    // Resources that the node does not report yet come from its claim.
    assert_eq!(node.capacity.get(&ResourceName::parse("nvidia.com/gpu")), 1);
    assert_eq!(
        (node.allocatable.get(&ResourceName::Cpu), node.allocatable.get(&ResourceName::Memory)),
        (3800, 13 << 30)
    );
}

#[test]
fn after_it_is_initialized_a_node_is_what_it_says_itself() {
    let initialized = "labels: {karpenter.sh/nodepool: general, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'}";
    let spec = format!("{PROVIDER}, taints: [{{key: cilium, effect: NoExecute}}], unschedulable: true");
    let node = only(&format!("{CLAIM}{}", node("n1", initialized, &spec)));
    assert_eq!(node.stage, NodeStage::Initialized);
    assert_eq!(taints(&node), ["cilium:NoExecute"]);
    assert_eq!(node.capacity.get(&ResourceName::parse("nvidia.com/gpu")), 0);
    assert!(node.is_unschedulable);
}

#[test]
fn a_node_without_a_claim_is_judged_by_karpenters_labels() {
    let of = |metadata: &str| only(&node("n1", metadata, "")).stage;
    assert_eq!(of("labels: {agentpool: system}"), NodeStage::Initialized);
    assert_eq!(of("labels: {karpenter.sh/nodepool: general}"), NodeStage::Initialized);
    let registered = "labels: {karpenter.sh/nodepool: general, karpenter.sh/registered: 'true'}";
    assert_eq!(of(registered), NodeStage::Registered);
    assert_eq!(only(&node("n1", "labels: {agentpool: system}", "")).pool, None);
}

#[test]
fn deletion_and_disruption_are_read_from_node_and_claim() {
    let deleting = CLAIM
        .replace("  name: general-x1\n", "  name: general-x1\n  deletionTimestamp: '2026-11-21T09:00:00Z'\n");
    assert!(only(&deleting).is_deleting);
    assert!(only(&format!("{deleting}{}", node("n1", "labels: {}", PROVIDER))).is_deleting);
    let annotated = "annotations: {karpenter.sh/do-not-disrupt: 'true'}";
    assert!(only(&node("n1", annotated, "")).is_do_not_disrupt);
    assert!(!only(&node("n1", "annotations: {karpenter.sh/do-not-disrupt: 5m}", "")).is_do_not_disrupt);
}

#[test]
fn old_label_keys_become_the_stable_ones_and_lose_against_them() {
    let both = "labels: {beta.kubernetes.io/arch: arm64, kubernetes.io/arch: amd64, failure-domain.beta.kubernetes.io/zone: z1}";
    assert_eq!(
        labels(&only(&node("n1", both, ""))),
        "kubernetes.io/arch=amd64 topology.kubernetes.io/zone=z1"
    );
}

#[test]
fn without_allocatable_the_capacity_counts() {
    let node = only("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {cpu: 2}}}");
    assert_eq!(node.allocatable.get(&ResourceName::Cpu), 2000);
}

#[test]
fn a_claim_says_that_it_drifted_how_old_it_may_become_and_what_it_was_made_from() {
    let claim = "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1, annotations: {karpenter.sh/nodepool-hash: '12', karpenter.sh/nodepool-hash-version: v3, karpenter.azure.com/aksnodeclass-hash: '34'}}, spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: d}, requirements: [], expireAfter: 720h, terminationGracePeriod: 1h30m}, status: {providerID: 'azure:///vm/n1', conditions: [{type: Drifted, status: 'True', reason: NodePoolDrifted, lastTransitionTime: '2026-11-21T09:00:00Z'}]}}";
    let claimed = only(claim).claimed;
    let drift = claimed.drift.as_ref().expect("it drifted");
    assert_eq!(
        (&*drift.reason, drift.since.map(|at| at.to_string())),
        ("NodePoolDrifted", Some("2026-11-21T09:00:00Z".to_owned()))
    );
    let stamp = claimed.pool_stamp.as_ref().expect("a stamp");
    assert_eq!((&*stamp.hash, &*stamp.version), ("12", "v3"));
    assert_eq!(claimed.class_stamp, None, "a hash without its version says nothing");
    assert_eq!(claimed.expire_after, Some(ExpireAfter::Age(SignedDuration::from_hours(720))));
    assert_eq!(claimed.termination_grace_period, Some(SignedDuration::from_mins(90)));
    let steady = claim.replace("status: 'True', reason", "status: 'False', reason").replace("720h", "Never");
    assert_eq!(
        (only(&steady).claimed.drift, only(&steady).claimed.expire_after),
        (None, Some(ExpireAfter::Never))
    );
    let joined = only(&format!("{claim}\n---\n{}", node("n1", "labels: {}", "providerID: 'azure:///vm/n1'")));
    assert_eq!(joined.claimed, Claimed { lacks: vec![Lack::Registration], ..claimed });
}

#[test]
fn a_node_tells_what_is_not_as_on_a_healthy_one() {
    let of = |conditions: &str| {
        let node = only(&format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, status: {{conditions: [{conditions}]}}}}"
        ));
        let troubles: Vec<String> =
            node.troubles.iter().map(|trouble| format!("{}={}", trouble.kind, trouble.status)).collect();
        (troubles.join(" "), node.is_ready())
    };
    let sound = "{type: Ready, status: 'True'}, {type: DiskPressure, status: 'False'}";
    assert_eq!(of(sound), (String::new(), true));
    assert_eq!(of(""), (String::new(), true));
    let ill = "{type: Ready, status: Unknown}, {type: DiskPressure, status: 'True'}";
    assert_eq!(of(ill), ("DiskPressure=True Ready=Unknown".to_owned(), false));
}
