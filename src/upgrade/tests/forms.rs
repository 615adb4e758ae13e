//! Formatting: parts that stay byte for byte, and forms that are refused.

use super::{one, upgrade, written};
use crate::manifests::Source;

const POOL: &str = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: p}\nspec:\n  template:\n    spec:\n      requirements: []\n      nodeClassRef: {name: c}\n";

#[test]
fn documents_that_are_fine_stay_byte_for_byte() {
    let other = "\u{feff}# head\n%YAML 1.2\n---\napiVersion:   v1\nkind: ConfigMap   # odd\nmetadata:\n    name: \"a\"\ndata: {a: |-\n b}\n\n\n";
    let other = other.replace("%YAML 1.2\n", "").replace("data: {a: |-\n b}", "data:\n  a: |+\n   text\n\n");
    let tail = "---\n# nothing\n---\n{apiVersion: v1, kind: Secret, metadata: {name: s}}";
    let new = written(&format!("{other}---\n{POOL}{tail}"));
    assert!(new.starts_with(&format!("{other}---\n")), "{new}");
    assert!(new.ends_with(tail), "{new}");
}

#[test]
fn line_ends_of_windows_stay() {
    let new = written(&POOL.replace('\n', "\r\n"));
    assert_eq!(new.matches('\n').count(), new.matches("\r\n").count());
    assert_eq!(new.replace("\r\n", "\n"), written(POOL));
}

#[test]
fn items_of_lists_are_rewritten_in_their_place() {
    let items: String = POOL.lines().enumerate().fold(String::new(), |text, (place, line)| {
        text + if place == 0 { "  - " } else { "    " } + line + "\n"
    });
    let new = written(&format!("apiVersion: v1\nkind: List\nitems:\n{items}  # the end\nmetadata: {{}}\n"));
    assert!(
        new.starts_with(
            "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: karpenter.sh/v1\n    kind: NodePool\n"
        ),
        "{new}"
    );
    assert!(new.ends_with("  # the end\nmetadata: {}\n"), "{new}");
}

#[test]
fn lists_that_are_not_indented_stay_so_with_items_in_brackets_too() {
    let pool = |version: &str, class: &str, category: &str| {
        format!(
            "apiVersion: karpenter.sh/{version}\nkind: NodePool\nmetadata: {{name: p}}\nspec:\n  template:\n    \
             spec:\n      requirements:\n      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}} # one\n      \
             - {{{category}}}\n      taints:\n      - {{key: a, effect: NoSchedule}}\n      nodeClassRef: {class}\n"
        )
    };
    let old = "key: karpenter.k8s.aws/instance-category, operator: In, values: [c]";
    let new = "key: karpenter.azure.com/sku-family, operator: In, values: [F]";
    let class = "{name: c, group: karpenter.azure.com, kind: AKSNodeClass}";
    assert_eq!(written(&pool("v1beta1", "{name: c}", old)), pool("v1", class, new));
}

#[test]
fn json_stays_json() {
    let old = "{\n    \"apiVersion\": \"karpenter.sh/v1beta1\",\n    \"kind\": \"NodePool\",\n    \"metadata\": {\"name\": \"p\"},\n    \"spec\": {\n        \"template\": {\n            \"spec\": {\n                \"requirements\": [],\n                \"nodeClassRef\": {\"name\": \"c\"}\n            }\n        },\n        \"disruption\": {\"expireAfter\": \"24h\", \"consolidationPolicy\": \"WhenUnderutilized\"}\n    }\n}\n";
    let new = written(old);
    let value: serde_json::Value = serde_json::from_str(&new).expect("is JSON");
    assert_eq!(value["spec"]["template"]["spec"]["expireAfter"], "24h");
    assert_eq!(value["spec"]["template"]["spec"]["nodeClassRef"]["kind"], "AKSNodeClass");
    assert!(new.contains("    \"metadata\": {\"name\": \"p\"},\n"), "{new}");
}

#[test]
fn what_cannot_be_rewritten_is_refused_with_a_way_out() {
    let table = [
        (POOL.replace("[]", "&r []"), "anchors"),
        (POOL.replace("{name: c}", "{ # the class\n        name: c}"), "comments"),
        (POOL.replace("requirements: []", "requirements: !!seq []"), "form"),
    ];
    for (text, why) in table {
        let upgraded = one(&text);
        assert_eq!(upgraded.text, None, "{text}");
        assert!(upgraded.refused[0].message.contains(why), "{:?}", upgraded.refused);
        assert!(upgraded.refused[0].hint.is_some());
        assert!(!upgraded.remarks.is_empty(), "what moved is said all the same");
    }
}

#[test]
fn files_with_nothing_to_say_are_not_taken_apart() {
    assert!(
        upgrade(&[Source::new("a.yaml", "kind: Secret\n"), Source::new("b", vec![0xff, 0xfe])]).is_empty()
    );
}

#[test]
fn older_versions_of_kubernetes_own_kinds_get_the_one_that_is_served() {
    let old = "apiVersion: extensions/v1beta1 # old\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  \
               template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, image: x}]}\n";
    let new = written(old);
    assert!(new.starts_with("apiVersion: apps/v1 # old\nkind: Deployment\n"), "{new}");
    assert!(new.contains("selector:\n    matchLabels:\n      app: web"), "{new}");
    assert!(crate::manifests::read(vec![crate::manifests::Source::new("a.yaml", new)]).is_ok());
    let budget = |selector: &str| {
        format!(
            "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {{name: b}}\nspec: {{minAvailable: 1{selector}}}\n"
        )
    };
    let selecting = budget(", selector: {matchLabels: {app: web}}");
    assert_eq!(written(&selecting), selecting.replace("v1beta1", "v1"));
    assert_eq!(one(&budget("")).text, None, "it selected no pod and would select all of them");
}
