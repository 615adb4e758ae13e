//! Which kinds are read, ignored, or reported as not understood.

use super::{faults, file, objects};
use crate::manifests::Segment;

#[test]
fn kinds_that_matter_and_are_not_understood_are_named_and_others_counted() {
    let text = "
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: run, namespace: shop}
spec: {templates: [{containerSet: {containers: [{name: c, image: x}]}}]}
---
apiVersion: example.com/v1
kind: Fleet
metadata: {name: own}
spec: {servers: [{pod: {spec: {containers: [{name: c, image: x}]}}}]}
---
apiVersion: elasticsearch.k8s.elastic.co/v1
kind: Elasticsearch
metadata: {name: logs}
spec: {nodeSets: [{count: 3, podTemplate: {spec: {containers: [{name: elasticsearch, resources: {requests: {cpu: 4}}}]}}}]}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: chart}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: fn}
spec: {template: {spec: {containers: [{image: x}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: svc}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: v1
kind: Secret
metadata: {name: t}
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec: {pattern: {spec: {containers: [{image: '*'}]}}}
---
replicaCount: 1
";
    let read = objects(text);
    let named: Vec<String> = read
        .not_understood
        .iter()
        .map(|(kind, what)| format!("{kind} {:?} {:?}", what.why, what.names))
        .collect();
    assert_eq!(
        named,
        [
            "Elasticsearch PodTemplate {\"logs\": 1}",
            "Fleet PodTemplate {\"own\": 1}",
            "Service (serving.knative.dev) PodTemplate {\"fn\": 1}",
            "Workflow PodTemplate {\"shop/run\": 1}",
        ]
    );
    let passed: Vec<String> =
        read.passed_over.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    assert_eq!(passed, ["ClusterPolicy 1", "Secret 2", "Service 1", "documents without a kind 1"]);
    assert_eq!((read.documents, read.sources, read.pods.len()), (9, 1, 0), "values of a chart are no object");
}

#[test]
fn our_kinds_are_kept_with_the_line_of_every_field() {
    let text = "
# The pool.
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      requirements:
      - key: kubernetes.io/arch
        operator: In
        values: [amd64]
      - key: karpenter.sh/capacity-type
        operator: Inn
";
    let read = objects(text);
    let ours = &read.ours[0];
    assert_eq!((&*ours.kind, &*ours.name, &*ours.file), ("NodePool", "general", "a.yaml"));
    assert_eq!(ours.value["spec"]["template"]["spec"]["requirements"][1]["operator"], "Inn");
    let key = |text: &str| Segment::Key(text.to_owned());
    let path =
        [key("spec"), key("template"), key("spec"), key("requirements"), Segment::Index(1), key("operator")];
    assert_eq!(ours.line(&path), 14);
    assert_eq!(ours.line(&[key("spec"), key("limits")]), 6);
    assert_eq!(ours.line(&[]), 3);
    let old = text.replace("karpenter.sh/v1", "karpenter.sh/v1beta1");
    assert!(faults(&old)[0].contains("hint: `nodeform validate --fix a.yaml` rewrites it"));
}

#[test]
fn priority_classes_give_their_value_to_pods() {
    let pod = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{spec} containers: [{{name: c}}]}}}}\n"
        )
    };
    let class = |name: &str, rest: &str| {
        format!(
            "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, {rest}}}\n"
        )
    };
    let read = objects(&file(&[
        pod("a", "priorityClassName: high,"),
        pod("b", "priorityClassName: system-node-critical,"),
        pod("c", "priorityClassName: elsewhere,"),
        pod("d", "priority: 7, priorityClassName: high,"),
        pod("e", ""),
        class("high", "value: 1000"),
        class("usual", "value: 5, globalDefault: true"),
    ]));
    let priorities: Vec<i32> = read.pods.iter().map(|pod| pod.spec.priority).collect();
    assert_eq!(priorities, [1000, 2_000_001_000, 0, 7, 5]);
    assert_eq!(read.unknown_priority_classes.into_iter().collect::<Vec<_>>(), ["elsewhere".into()]);
}

#[test]
fn pods_preempt_nobody_by_their_own_word_or_their_class() {
    let pod = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{spec} containers: [{{name: c}}]}}}}\n"
        )
    };
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: calm}, value: 9, preemptionPolicy: Never}\n";
    let read = objects(&file(&[
        pod("a", "priorityClassName: calm,"),
        pod("b", "priorityClassName: calm, preemptionPolicy: PreemptLowerPriority,"),
        pod("c", "preemptionPolicy: Never,"),
        pod("d", ""),
        class.to_owned(),
    ]));
    let never: Vec<bool> = read.pods.iter().map(|pod| pod.spec.never_preempts).collect();
    assert_eq!(never, [true, false, true, false]);
    let wrong = faults(&pod("a", "preemptionPolicy: Sometimes,"));
    assert!(wrong[0].contains("must be `Never` or `PreemptLowerPriority`"), "{wrong:?}");
}

#[test]
fn a_waiting_pod_has_the_node_that_it_is_promised() {
    let pod = |node: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a, uid: u}}, spec: {{{node} containers: [{{name: c}}]}}, status: {{phase: Pending, nominatedNodeName: n1}}}}"
        )
    };
    let nominated = |node: &str| objects(&pod(node)).pods.remove(0).state.nominated;
    assert_eq!(nominated(""), Some("n1".into()));
    assert_eq!(nominated("nodeName: n1,"), None, "it is there");
}

#[test]
fn the_cluster_is_known_by_its_namespace() {
    let read =
        objects("{apiVersion: v1, kind: Namespace, metadata: {name: kube-system, uid: u-1, labels: {a: b}}}");
    assert_eq!(read.cluster, Some("u-1".into()));
    assert_eq!(read.namespaces.len(), 1);
}

#[test]
fn names_may_be_generated_and_stay_the_same() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {generateName: run-}, spec: {containers: [{name: c}]}}";
    let name = objects(text).pods[0].key.name.clone();
    assert!(name.starts_with("run-") && name.len() == 9, "{name}");
    assert_eq!(objects(text).pods[0].key.name, name);
}

#[test]
fn overlays_and_buffers_are_kept_for_judging() {
    let text = "
{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: o}, spec: {requirements: []}}
---
{apiVersion: autoscaling.x-k8s.io/v1beta1, kind: CapacityBuffer, metadata: {name: b, namespace: shop}, spec: {}}
---
{apiVersion: autoscaling.x-k8s.io/v1alpha1, kind: CapacityBuffer, metadata: {name: b}, spec: {}}
";
    let read = objects(text);
    let ours: Vec<_> = read.ours.iter().map(super::super::OurObject::identity).collect();
    assert_eq!(
        ours,
        [("CapacityBuffer", "", "b"), ("CapacityBuffer", "shop", "b"), ("NodeOverlay", "", "o")]
    );
    assert!(read.not_understood.is_empty());
}

#[test]
fn templates_are_kept_where_a_buffer_may_name_them_and_make_no_pods() {
    let template = "
{apiVersion: v1, kind: PodTemplate, metadata: {name: job, namespace: shop}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}
";
    let buffer = "---
{apiVersion: autoscaling.x-k8s.io/v1beta1, kind: CapacityBuffer, metadata: {name: b, namespace: shop}, spec: {}}
";
    let alone = objects(template);
    assert_eq!((alone.templates.len(), alone.pods.len(), alone.not_understood.len()), (0, 0, 0));
    let read = objects(&format!("{template}{buffer}"));
    let known: Vec<String> = read
        .templates
        .iter()
        .map(|(of, (spec, count))| {
            format!("{}/{} {} {count}", of.kind, of.name, spec.requests.get(&crate::model::ResourceName::Cpu))
        })
        .collect();
    assert_eq!((known, read.pods.len()), (vec!["PodTemplate/job 2000 0".to_owned()], 0));
}

#[test]
fn a_dump_without_what_every_cluster_has_says_so_and_manifests_do_not() {
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: 4}, allocatable: {cpu: 4}}\n";
    let missing =
        |text: &str| -> Vec<&str> { objects(text).missing.iter().map(|kind| kind.short()).collect() };
    assert_eq!(missing(node), ["pdb", "priorityclasses", "storageclasses"]);
    assert_eq!(missing("apiVersion: v1\nkind: Namespace\nmetadata: {name: n1}\n"), Vec::<&str>::new());
    let others = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\n\
                  spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}\n\
                  ---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 5\n";
    assert_eq!(missing(&format!("{node}{others}")), ["storageclasses"]);
}
