//! Pools of older versions.

use super::{Sort, one, said, written};

const GUIDE: &str = include_str!("../../../fixtures/guides/v1alpha5.yaml");
const EXPECTED: &str = include_str!("../../../fixtures/guides/v1alpha5.expected.yaml");

#[test]
fn a_whole_guide_is_rewritten_with_its_comments() {
    let new = written(GUIDE);
    assert!(new == EXPECTED, "{}", similar::TextDiff::from_lines(EXPECTED, &new).unified_diff());
}

fn provisioner(spec: &str) -> String {
    format!("apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata:\n  name: p\nspec:\n{spec}")
}

#[test]
fn times_of_a_provisioner_become_disruption_in_words() {
    let table = [
        ("ttlSecondsAfterEmpty: 90", "WhenEmpty", "90s", "Never"),
        ("ttlSecondsAfterEmpty: 0", "WhenEmpty", "0s", "Never"),
        ("consolidation: {enabled: true}", "WhenEmptyOrUnderutilized", "0s", "Never"),
        ("consolidation: {enabled: false}", "WhenEmpty", "Never", "Never"),
        ("weight: 3", "WhenEmpty", "Never", "Never"),
        ("ttlSecondsUntilExpired: 604800", "WhenEmpty", "Never", "168h"),
        ("ttlSecondsUntilExpired: 5400", "WhenEmpty", "Never", "90m"),
        ("ttlSecondsUntilExpired: 61", "WhenEmpty", "Never", "61s"),
    ];
    for (field, policy, after, expire) in table {
        let new = written(&provisioner(&format!("  {field}\n")));
        assert!(new.contains(&format!("consolidationPolicy: {policy}\n")), "{field}: {new}");
        assert!(new.contains(&format!("consolidateAfter: {after}\n")), "{field}: {new}");
        assert!(new.contains(&format!("expireAfter: {expire}\n")), "{field}: {new}");
    }
}

#[test]
fn a_pool_of_v1beta1_changes_where_it_must_and_nowhere_else() {
    let old = "\
apiVersion: karpenter.sh/v1beta1
kind:   NodePool
metadata: {name: p}
spec:
    # Odd indentation stays.
    template:
        spec:
            requirements:
            -   key: kubernetes.io/arch   # both
                operator: In
                values: ['amd64', \"arm64\"]
            nodeClassRef:
                apiVersion: karpenter.k8s.aws/v1beta1
                kind: EC2NodeClass
                name: d   # the class
            # Bins are packed tightly.
            kubelet:
                maxPods: 500
                podsPerCore: 4
    disruption:
        consolidationPolicy: WhenUnderutilized
        # A month.
        expireAfter: 720h
        budgets:
        - nodes: 10%
          reasons: [underutilized, expired]
        - {nodes: '0', reasons: [expired]}
    limits: {cpu: 100}
";
    let new = "\
apiVersion: karpenter.sh/v1
kind:   NodePool
metadata: {name: p}
spec:
    # Odd indentation stays.
    template:
        spec:
            requirements:
            -   key: kubernetes.io/arch   # both
                operator: In
                values: ['amd64', \"arm64\"]
            nodeClassRef:
                group: karpenter.azure.com
                kind: AKSNodeClass
                name: d   # the class
            # A month.
            expireAfter: 720h
    disruption:
        consolidationPolicy: WhenEmptyOrUnderutilized
        budgets:
        - nodes: 10%
          reasons: [Underutilized]
    limits: {cpu: 100}
";
    assert_eq!(written(old), new);
    let lost = [
        "18 spec.template.spec.kubelet.maxPods: is outside of what an AKSNodeClass takes",
        "19 spec.template.spec.kubelet.podsPerCore: has no counterpart on AKS",
        "26 spec.disruption.budgets[0].reasons[1]: is no longer a reason: expiry ignores budgets",
        "27 spec.disruption.budgets[1].reasons[0]: is no longer a reason: expiry ignores budgets",
    ];
    assert_eq!(said(old, Sort::Lost), lost);
}

#[test]
fn settings_of_the_kubelet_go_to_the_class_that_is_there_or_to_a_new_one() {
    let pool = provisioner("  kubeletConfiguration:\n    cpuCFSQuota: false\n  providerRef: {name: c}\n");
    let class = "---\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata:\n  name: c\n";
    let made = written(&pool);
    assert!(made.ends_with(&format!("{class}spec:\n  kubelet:\n    cpuCFSQuota: false\n")), "{made}");
    let given = written(&format!("{pool}{class}spec:\n  imageFamily: AzureLinux\n"));
    assert!(
        given.ends_with("spec:\n  imageFamily: AzureLinux\n  kubelet:\n    cpuCFSQuota: false\n"),
        "{given}"
    );
    let other = pool.replace("name: p", "name: q").replace("false", "true");
    let two = format!("{pool}---\n{other}");
    assert_eq!(
        said(&two, Sort::Lost),
        [
            "15 spec.kubeletConfiguration: another pool asks other settings of the AKSNodeClass `c`, which has one set for all"
        ]
    );
}

#[test]
fn claims_and_machines_become_node_claims() {
    let machine = "\
apiVersion: karpenter.sh/v1alpha5
kind: Machine
metadata:
  name: m
  labels:
    karpenter.sh/provisioner-name: p
spec:
  machineTemplateRef:
    name: c
  kubelet:
    maxPods: 20
";
    let new = "\
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: m
  labels:
    karpenter.sh/nodepool: p
spec:
  nodeClassRef:
    group: karpenter.azure.com
    kind: AKSNodeClass
    name: c
  requirements: []
";
    assert_eq!(written(machine), new);
}

#[test]
fn a_pool_without_a_class_gets_the_one_that_there_is_and_of_several_none() {
    let pool = |reference: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: p\nspec:\n  template:\n    spec:\n      \
             requirements: [] # any\n{reference}"
        )
    };
    let class = |name: &str| {
        format!(
            "---\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {{name: {name}}}\n"
        )
    };
    let whole = "      nodeClassRef:\n        group: karpenter.azure.com\n        kind: AKSNodeClass\n        name: gpu\n";
    let both = pool("") + &class("gpu");
    assert_eq!(written(&both), pool(whole) + &class("gpu"));
    let message = "is missing: it is `gpu`, the one class of the input";
    assert_eq!(said(&both, Sort::Moved), [format!("8 spec.template.spec.nodeClassRef: {message}")]);
    let nameless = pool(&whole.replace("        name: gpu\n", "")) + &class("gpu");
    assert_eq!(written(&nameless), pool(whole) + &class("gpu"));
    for others in [String::new(), class("gpu") + &class("web")] {
        assert_eq!(one(&(pool("") + &others)).text, None, "{others}");
    }
}
