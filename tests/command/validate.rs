//! `nodeform validate`: everything at once, and nothing lost where it rewrites.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

use crate::shell::{aside, empty_folder, out, start};

const MISSPELT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replica: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}
";

const CLASS: &str = "\
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: a}
spec:
  imageFamily: Ubuntu
  fancyOption: true
";

#[test]
fn an_error_does_not_silence_the_warnings_of_unknown_fields() {
    let pool = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}, requirements: []}}, weight: 1000}
";
    let folder = empty_folder("validate-at-once");
    let input = format!("{MISSPELT}---\n{CLASS}---\n{pool}");
    let checked = start(&["validate", "-"], &folder, &input);
    let said = aside(&checked);
    assert_eq!(checked.status.code(), Some(1), "{said}");
    for told in ["unknown field \"spec.replica\"", "unknown field \"spec.fancyOption\"", "spec.weight"] {
        assert!(said.contains(told), "{told}: {said}");
    }
    let annotated = out(&start(&["validate", "-", "-o", "github"], &folder, &input));
    let count = |level: &str| annotated.lines().filter(|line| line.starts_with(level)).count();
    assert_eq!((count("::warning::"), count("::error ")), (2, 1), "{annotated}");
}

#[test]
fn misspelt_fields_of_an_older_pool_are_named_at_once_where_they_stand() {
    let older = "\
# A comment, so that no line is the first.
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef: {name: a, kind: AKSNodeClass, apiVersion: karpenter.azure.com/v1alpha2}
      requirements:
        - {key: karpenter.azure.com/sku-familly, operator: In, values: [D]}
  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 720h}
  weigth: 3
";
    let folder = empty_folder("validate-older");
    let said = aside(&start(&["validate", "-"], &folder, older));
    for told in [
        ":2: apiVersion: NodePool (v1beta1) was replaced by NodePool (v1)",
        ":10: spec.template.spec.requirements[0].key: `karpenter.azure.com/sku-familly`",
        ":12: spec.weigth: ",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn a_field_of_a_class_that_nobody_knows_is_left_and_ends_a_rewriting_with_1() {
    let folder = empty_folder("validate-left");
    let file = folder.join("class.yaml");
    std::fs::write(&file, CLASS).expect("it is written");
    let plain = start(&["validate", "class.yaml"], &folder, "");
    assert_eq!(plain.status.code(), Some(0), "{}", aside(&plain));
    let fixed = start(&["validate", "--fix", "class.yaml"], &folder, "");
    assert_eq!(fixed.status.code(), Some(1), "{}", out(&fixed));
    for told in ["warning: AKSNodeClass/a: unknown field \"spec.fancyOption\"", "error: 1 unknown field"] {
        assert!(aside(&fixed).contains(told), "{told}: {}", aside(&fixed));
    }
    assert_eq!(std::fs::read_to_string(&file).expect("readable"), CLASS);

    let older = CLASS.replace("v1beta1", "v1alpha2").replace("fancyOption: true", "osDiskSizeGb: 128");
    std::fs::write(&file, older).expect("it is written");
    let renamed = start(&["validate", "--fix", "class.yaml"], &folder, "");
    assert_eq!(renamed.status.code(), Some(0), "{}", aside(&renamed));
    assert!(std::fs::read_to_string(&file).expect("readable").contains("osDiskSizeGB: 128"));
}
