//! Classes and labels of other clouds.

use super::{Sort, one, said, written};

fn class(kind: &str, spec: &str) -> String {
    format!("apiVersion: {kind}\nmetadata: {{name: c}}\nspec:\n{spec}")
}

#[test]
fn a_class_of_google_keeps_its_disk_and_its_tags() {
    let old = class(
        "karpenter.k8s.gcp/v1alpha1\nkind: GCENodeClass",
        "  serviceAccount: a@b.iam.gserviceaccount.com\n  imageSelectorTerms: [{alias: Ubuntu@latest}]\n  disks:\n    - {category: pd-balanced, sizeGiB: 60, boot: true}\n  tags: {env: dev}\n",
    );
    let new =
        class("karpenter.azure.com/v1beta1\nkind: AKSNodeClass", "  osDiskSizeGB: 60\n  tags: {env: dev}\n");
    assert_eq!(written(&old), new);
    assert_eq!(
        said(&old, Sort::Lost),
        [
            "5 spec.serviceAccount: has no counterpart on AKS",
            "6 spec.imageSelectorTerms: has no counterpart on AKS",
            "8 spec.disks[0].category: has no counterpart on AKS",
        ]
    );
}

#[test]
fn a_class_without_anything_to_keep_says_nothing() {
    let old = class("karpenter.k8s.aws/v1\nkind: EC2NodeClass", "  role: KarpenterNodeRole\n");
    let new = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: c}\nspec: {}\n";
    assert_eq!(written(&old), new);
}

#[test]
fn v1alpha2_of_azure_becomes_v1beta1() {
    let old =
        class("karpenter.azure.com/v1alpha2\nkind: AKSNodeClass", "  imageFamily: AzureLinux # small\n");
    assert_eq!(written(&old), old.replace("v1alpha2", "v1beta1"));
    assert_eq!(
        said(&old, Sort::Foreign),
        [
            "1 apiVersion: `karpenter.azure.com/v1alpha2` is older than `karpenter.azure.com/v1beta1`, which has the \
             same fields"
        ]
    );
}

#[test]
fn what_the_cluster_says_of_a_class_of_azure_stays() {
    let old = class(
        "karpenter.azure.com/v1alpha2\nkind: AKSNodeClass",
        "  imageFamily: AzureLinux\nstatus: {kubernetesVersion: 1.34.2}\n",
    );
    let new = old.replace("v1alpha2", "v1beta1");
    assert_eq!(written(&old), new);
    let pool = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\n";
    assert_eq!(one(&format!("{new}{pool}")).text, None);
}

#[test]
fn an_older_buffer_gets_the_present_version() {
    let old = "apiVersion: autoscaling.x-k8s.io/v1alpha1\nkind: CapacityBuffer\nmetadata: {name: b}\nspec: {replicas: 2} # two\n";
    assert_eq!(written(old), old.replace("v1alpha1", "v1beta1"));
}

/// Returns the rewritten requirement; empty if it is removed.
fn requirement(text: &str) -> String {
    let pool = format!(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p}}\nspec: {{template: {{spec: {{requirements: [{{{text}}}], \
         nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: c}}}}}}}}\n"
    );
    let new = one(&pool).text.map_or(pool, |text| String::from_utf8(text).expect("UTF-8"));
    let (_, rest) = new.split_once("requirements: [").expect("the list stays");
    rest.split_once("], nodeClassRef").expect("the list ends").0.trim_matches(['{', '}']).to_owned()
}

#[test]
fn requirements_are_carried_over_where_they_say_the_same() {
    let table = [
        (
            "key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['3']",
            "key: karpenter.azure.com/sku-cpu, operator: Gt, values: ['3']",
        ),
        (
            "key: karpenter.k8s.aws/instance-memory, operator: Lt, values: ['65537']",
            "key: karpenter.azure.com/sku-memory, operator: Lt, values: ['65537']",
        ),
        (
            "key: karpenter.k8s.aws/instance-size, operator: In, values: [xlarge, large]",
            "key: karpenter.azure.com/sku-cpu, operator: In, values: [\"2\", \"4\"]",
        ),
        ("key: karpenter.k8s.aws/instance-size, operator: NotIn, values: [metal]", ""),
        (
            "key: karpenter.k8s.aws/instance-gpu-name, operator: Exists",
            "key: karpenter.azure.com/sku-gpu-name, operator: Exists",
        ),
        (
            "key: karpenter.k8s.aws/instance-gpu-name, operator: In, values: [t4]",
            "key: karpenter.azure.com/sku-gpu-name, operator: In, values: [T4]",
        ),
        ("key: karpenter.k8s.aws/instance-hypervisor, operator: In, values: [nitro]", ""),
        ("key: cloud.google.com/gke-spot, operator: Exists", ""),
        ("key: cloud.google.com/gke-spot, operator: DoesNotExist", ""),
        (
            "key: eks.amazonaws.com/instance-category, operator: In, values: [m]",
            "key: karpenter.azure.com/sku-family, operator: In, values: [D]",
        ),
        ("key: topology.kubernetes.io/zone, operator: In, values: [us-central1-a]", ""),
        (
            "key: topology.kubernetes.io/zone, operator: In, values: [westeurope-1]",
            "key: topology.kubernetes.io/zone, operator: In, values: [westeurope-1]",
        ),
        ("key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]", ""),
        (
            "key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]",
            "key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]",
        ),
    ];
    for (old, new) in table {
        assert_eq!(requirement(old), new, "{old}");
    }
}

#[test]
fn pods_keep_what_has_no_counterpart() {
    let pod = |selector: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  nodeSelector: {{{selector}}}\n  containers: [{{name: c}}]\n"
        )
    };
    let table = [
        ("cloud.google.com/gke-spot: \"true\"", "karpenter.sh/capacity-type: spot"),
        ("eks.amazonaws.com/capacityType: SPOT", "karpenter.sh/capacity-type: spot"),
        ("cloud.google.com/gke-accelerator: nvidia-tesla-t4", "karpenter.azure.com/sku-gpu-name: T4"),
        ("karpenter.sh/provisioner-name: p", "karpenter.sh/nodepool: p"),
    ];
    for (old, new) in table {
        assert_eq!(written(&pod(old)), pod(new));
    }
    let left = pod("eks.amazonaws.com/nodegroup: web");
    assert_eq!(one(&left).text, None);
    assert_eq!(
        said(&left, Sort::Left),
        [
            "5 spec.nodeSelector[\"eks.amazonaws.com/nodegroup\"]: is another cloud's label; the nearest on AKS is `karpenter.sh/nodepool`"
        ]
    );
}

#[test]
fn annotations_of_service_accounts_are_none_of_our_business() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: a\n  annotations: {eks.amazonaws.com/role-arn: x}\n";
    assert!(one(account).remarks.is_empty());
}

#[test]
fn fields_of_an_own_class_are_renamed_where_only_their_case_differs_and_never_taken_out() {
    let old = class(
        "karpenter.azure.com/v1beta1\nkind: AKSNodeClass",
        "  LocalDNS: {Mode: Required} # on\n  osDiskSizeGb: 256\n  osDisk: big\n  kubelet: {cpucfsQuota: true, maxPods: 3}\n  \
         amiFamily: x\n",
    );
    let new = class(
        "karpenter.azure.com/v1beta1\nkind: AKSNodeClass",
        "  localDNS: {mode: Required} # on\n  osDiskSizeGB: 256\n  osDisk: big\n  kubelet: {cpuCFSQuota: true, maxPods: 3}\n  \
         amiFamily: x\n",
    );
    assert_eq!(written(&old), new);
    assert_eq!(
        said(&old, Sort::Moved),
        [
            "5 spec.LocalDNS: is now `localDNS`",
            "5 spec.localDNS.Mode: is now `mode`",
            "6 spec.osDiskSizeGb: is now `osDiskSizeGB`",
            "8 spec.kubelet.cpucfsQuota: is now `cpuCFSQuota`",
        ]
    );
    assert!(said(&old, Sort::Lost).is_empty());
}

#[test]
fn a_field_that_is_there_in_both_spellings_is_left_to_the_check() {
    let both = class(
        "karpenter.azure.com/v1beta1\nkind: AKSNodeClass",
        "  osDiskSizeGB: 128\n  osdisksizegb: 256\n",
    );
    assert_eq!(one(&both).text, None);
}
