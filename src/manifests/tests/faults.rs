//! Faults are reported with file, line and field, all together.

use super::{deployment, faults, faults_of, file, objects};
use crate::manifests::Source;

#[test]
fn every_fault_of_every_document_is_told_at_its_own_line() {
    let text = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: -1
  template:
    spec:
      containers:
      - name: c
        resources:
          requests:
            cpu: 500x
            memory: -1Gi
---
apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  nodeSelector:
    spot: true
  tolerations:
  - {operator: exists}
  containers:
  - name: c
    ports:
    - {containerPort: 80, hostPort: 70000}
";
    let expected = [
        "a.yaml:6: spec.replicas: must be from 0 to 2147483647 and is -1 (in `Deployment/web`)\n\
         hint: the nearest that can be is `replicas: 0`",
        "a.yaml:13: spec.template.spec.containers[0].resources.requests.cpu: must be a quantity and is the text \
         \"500x\" (in `Deployment/web`)\nhint: write a number with a unit, such as `500m`, `2`, `1.5Gi`",
        "a.yaml:14: spec.template.spec.containers[0].resources.requests.memory: must not be negative, and is `-1Gi` \
         (in `Deployment/web`)\nhint: write a number with a unit, such as `500m`, `2`, `1.5Gi`",
        "a.yaml:22: spec.nodeSelector.spot: must be a string: unquoted `true` is a boolean in YAML (in `Pod/a`)\nhint: write `\"true\"`",
        "a.yaml:24: spec.tolerations[0].operator: must be one of `Exists`, `Equal` and is \"exists\" (in `Pod/a`)\n\
         hint: did you mean `Exists`?",
        "a.yaml:28: spec.containers[0].ports[0].hostPort: must be from 0 to 65535 and is 70000 (in `Pod/a`)\n\
         hint: the nearest that can be is `hostPort: 65535`",
    ];
    assert_eq!(faults(text), expected);
}

/// Returns the only fault of a pod with this spec in flow style, without file, line and object.
fn of_spec(spec: &str) -> String {
    let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {spec}\n");
    let found = faults(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    let first = found[0].lines().next().expect("has a line");
    first.strip_prefix("a.yaml:4: spec.").expect("is of the spec").replace(" (in `Pod/a`)", "")
}

/// Returns the faults of a pod with these fields and one container, without file, line and object, each with its hint.
fn all_of(fields: &str) -> Vec<String> {
    let text = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [{{name: c}}], {fields}}}\n"
    );
    let short = |fault: String| fault.replace("a.yaml:4: spec.", "").replace(" (in `Pod/a`)\nhint: ", " -> ");
    faults(&text).into_iter().map(short).collect()
}

#[test]
fn fields_that_are_nearly_those_which_are_read_are_told_and_unknown_ones_are_not() {
    let fields = "nodeSelectr: {a: b}, Tolerations: [], shinyNewField: {}, hostname: x, os: {name: linux}";
    let expected = [
        "Tolerations: is no field of a pod -> did you mean `tolerations`?",
        "nodeSelectr: is no field of a pod -> did you mean `nodeSelector`?",
    ];
    assert_eq!(all_of(fields), expected);
}

#[test]
fn all_that_the_api_server_refuses_of_spread_constraints_is_told() {
    let zone = "topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}";
    let fields = format!(
        "topologySpreadConstraints: [{{{zone}, maxSkew: 0, whenUnsatisfiable: ScheduleAnyway, minDomains: 2, nodeTaintsPolicy: honor}}, \
         {{{zone}, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [app, track]}}, \
         {{topologyKey: x, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [track]}}]"
    );
    let expected = [
        "topologySpreadConstraints[0].maxSkew: must be from 1 to 2147483647 and is 0 -> \
         the nearest that can be is `maxSkew: 1`",
        "topologySpreadConstraints[0].minDomains: is only for what is required -> \
         remove it, or write `whenUnsatisfiable: DoNotSchedule`",
        "topologySpreadConstraints[0].nodeTaintsPolicy: must be one of `Honor`, `Ignore` and is \"honor\" -> \
         did you mean `Honor`?",
        "topologySpreadConstraints[1]: says for the second time how to spread over this label -> \
         Kubernetes takes one constraint for each `topologyKey` and `whenUnsatisfiable`",
        "topologySpreadConstraints[1].matchLabelKeys[0]: is in `labelSelector` as well -> name each label in one of them",
        "topologySpreadConstraints[2].matchLabelKeys[0]: needs a `labelSelector` that it narrows -> \
         add one; `{}` selects all pods",
    ];
    assert_eq!(all_of(&fields), expected);
}

#[test]
fn what_the_api_server_refuses_of_ports_tolerations_and_labels_is_told() {
    let fields = "nodeSelector: {a b: c, '${KEY}': d, x.io/ok: e}, \
         tolerations: [{key: t, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}, \
         {key: u, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]";
    let expected = [
        "nodeSelector[\"a b\"]: is of a label that cannot be: \"a b\" -> \
         a label's key is at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, \
         after a DNS name and `/` if wanted",
        "tolerations[0].tolerationSeconds: is only for taints that put running pods out -> \
         remove it, or write `effect: NoExecute`",
    ];
    assert_eq!(all_of(fields), expected);
    let value = "gives label `app` a value that cannot be: \"x y\" -> \
         a label's value is empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends";
    assert_eq!(
        all_of("nodeSelector: {app: x y, empty: '', tier: '${TIER}', zone: '{{ zone }}', ok: a.b_C-1}"),
        [format!("nodeSelector.app: {value}")]
    );
    let selecting = |labels: &str| {
        format!(
            "affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: x, labelSelector: {{matchLabels: {labels}}}}}]}}}}"
        )
    };
    assert_eq!(
        all_of(&selecting("{app: x y, tier: '${TIER}', empty: ''}")),
        [format!(
            "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels.app: {value}"
        )]
    );
    let labelled = |labels: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a, labels: {labels}}}\nspec: {{containers: [{{name: c}}]}}\n"
        );
        faults(&text)
    };
    let told = labelled("{app: x y, tier: '${TIER}', a.io/zone: '{{ zone }}', ok: a.b_C-1, empty: ''}");
    assert!(
        told.len() == 1 && told[0].contains("metadata.labels.app: gives label `app` a value that cannot be"),
        "{told:?}"
    );
    let ports = "[{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80}, \
         {containerPort: 82, hostPort: 80, protocol: UDP}]";
    let text = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [{{name: c, ports: {ports}}}]}}\n"
    );
    assert_eq!(
        faults(&text),
        [
            "a.yaml:4: spec.containers[0].ports[1]: takes a port of the node for the second time (in `Pod/a`)\n\
          hint: take each `hostPort` once in a pod"
        ]
    );
}

#[test]
fn all_that_the_api_server_refuses_of_affinity_is_told() {
    let fields = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}, \
         podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: x, labelSelector: {}, \
         matchLabelKeys: [app], mismatchLabelKeys: [app]}]}}";
    let expected = [
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: is empty -> \
         list at least one term, or remove the affinity",
        "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys[0]: \
         is in `matchLabelKeys` as well -> name each label in one of them",
    ];
    assert_eq!(all_of(fields), expected);
}

#[test]
fn numbers_out_of_range_are_told() {
    let table = [
        ("cpu: 1e308", "cpu: must be a quantity and is the number 1e308"),
        (
            "memory: 9223372036854775808",
            "memory: is more than any node can have: it must be below 2^63 of its unit, and is `9223372036854775808`",
        ),
        (
            "memory: 12E",
            "memory: is more than any node can have: it must be below 2^63 of its unit, and is `12E`",
        ),
        ("cpu: .nan", "cpu: must be a quantity and is the number .nan"),
        ("cpu: [1]", "cpu: must be a quantity and is a list"),
        (
            "nvidia.com/gpu: 500m",
            "[\"nvidia.com/gpu\"]: must be a whole number: Kubernetes does not share such a resource in parts, and is `500m`",
        ),
    ];
    for (requests, expected) in table {
        let found = of_spec(&format!("{{containers: [{{resources: {{requests: {{{requests}}}}}}}]}}"));
        let found = found.strip_prefix("containers[0].resources.requests").expect("is of the requests");
        assert_eq!(found.trim_start_matches('.'), expected);
    }
}

#[test]
fn scheduling_fields_that_make_no_sense_are_told() {
    let affinity = |rest: &str| format!("{{containers: [{{name: c}}], affinity: {{{rest}}}}}");
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let table = [
        (
            affinity(&format!("nodeAffinity: {{{required}: {{nodeSelectorTerms: [{{matchExpressions: [{{key: a, operator: in, values: [b]}}]}}]}}}}")),
            "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: \
             must be one of `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt` and is \"in\"",
        ),
        (
            affinity(&format!("podAntiAffinity: {{{required}: [{{labelSelector: {{matchLabels: {{a: b}}}}}}]}}")),
            "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: is missing",
        ),
        (
            "{containers: [{name: c}], topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]}".to_owned(),
            "topologySpreadConstraints[0].maxSkew: must be from 1 to 2147483647 and is 0",
        ),
        ("{containers: []}".to_owned(), "containers: is empty"),
        ("{containers: {name: c}}".to_owned(), "containers: must be a list and is a map"),
        ("{containers: [{name: c}], priority: 3000000000}".to_owned(), "priority: must be from -2147483648 to 2147483647 and is 3000000000"),
        ("{containers: [{name: c}], priority: 99999999999999999999}".to_owned(), "priority: must be from -2147483648 to 2147483647 and is 99999999999999999999"),
        ("{containers: [{name: c}], hostNetwork: 'true'}".to_owned(), "hostNetwork: must be `true` or `false` and is the text \"true\""),
    ];
    for (spec, expected) in table {
        assert_eq!(of_spec(&spec), expected, "{spec}");
    }
}

#[test]
fn an_object_without_what_makes_it_one_is_told() {
    let table = [
        ("kind: Pod\nmetadata: {name: a}\n", "a.yaml:1: apiVersion: is missing"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "a.yaml:1: kind: is missing"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {containers: [{name: c}]}\n",
            "a.yaml:3: metadata.name: is missing",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "a.yaml:1: spec: is missing"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n",
            "a.yaml:4: spec.containers: is missing",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: 'a b'}\nspec: {containers: [{name: c}]}\n",
            "a.yaml:3: metadata.name: is not a name",
        ),
        (
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1}\n",
            "a.yaml:4: spec.template: is missing",
        ),
        ("just-a-token\n", "a.yaml:1: a document must be an object and is text\nhint: "),
    ];
    for (text, expected) in table {
        let found = faults(text);
        assert!(found[0].starts_with(expected), "{found:?}");
    }
}

#[test]
fn versions_that_are_gone_name_the_one_to_write() {
    let old = deployment("web", 1).replace("apps/v1", "extensions/v1beta1");
    assert_eq!(
        faults(&old),
        [
            "a.yaml:1: apiVersion: version `extensions/v1beta1` of Deployment is not supported (in `Deployment/web`)\n\
          hint: write `apiVersion: apps/v1`; `kubectl convert` rewrites it"
        ]
    );
}

#[test]
fn the_same_object_twice_is_one_and_two_of_one_name_are_a_fault() {
    let two = [deployment("web", 2), deployment("web", 2)];
    assert_eq!(objects(&file(&two)).pods.len(), 2);
    let sources =
        vec![Source::new("b.yaml", deployment("web", 3)), Source::new("a.yaml", deployment("web", 2))];
    assert_eq!(
        faults_of(sources),
        [
            "b.yaml:3: metadata.name: Deployment default/web is defined twice with different content (also a.yaml:1) \
          (in `Deployment/web`)\nhint: remove one of the two, or give one another name or namespace"
        ]
    );
}

#[test]
fn a_selector_that_misses_its_own_template_is_told() {
    let wrong = deployment("web", 1).replace("matchLabels: {app: web}", "matchLabels: {app: other}");
    assert!(faults(&wrong)[0].starts_with("a.yaml:6: spec.selector: does not select the labels"));
}

#[test]
fn too_many_pods_are_refused_and_not_made() {
    let one = faults(&deployment("web", 2_000_000_000));
    assert!(
        one[0].starts_with("a.yaml:5: spec.replicas: asks for 2000000000 pods, more than 500000"),
        "{one:?}"
    );
    let sum = faults(&file(&[deployment("a", 400_000), deployment("b", 400_000)]));
    assert!(sum[0].contains("the input asks for more than 500000 pods (in `Deployment/b`)"), "{sum:?}");
}

#[test]
fn nothing_is_half_read() {
    let good_and_bad = file(&[deployment("web", 1), "a: [\n".to_owned(), deployment("api", 1)]);
    let found = faults(&good_and_bad);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("a.yaml:11: is not valid YAML: unclosed bracket"), "{found:?}");
}

#[test]
fn what_the_api_server_refuses_in_a_container_is_refused() {
    let pod = |init: &str, resources: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  initContainers:\n    - {{name: i{init}}}\n  \
             containers:\n    - name: c\n      resources: {resources}\n"
        )
    };
    let wrong = faults(&pod(", restartPolicy: Sometimes", "{}")).join("\n");
    assert!(wrong.contains("a.yaml:6: spec.initContainers[0].restartPolicy: must be one of"), "{wrong}");
    let above = "{requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}";
    let wrong = faults(&pod("", above)).join("\n");
    assert!(wrong.contains("resources.requests.cpu: must not be above the limit of 1, and is 2"), "{wrong}");
    assert!(!wrong.contains("memory"), "{wrong}");
}

#[test]
fn a_name_that_kubernetes_does_not_take_is_refused() {
    for name in ["Bad_Name", "-a", "a.", "ü"] {
        let wrong = faults(&format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: c}}]}}\n"
        ));
        assert!(wrong.join("").contains("is not a name that Kubernetes takes"), "{name}: {wrong:?}");
    }
}
