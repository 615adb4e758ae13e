//! Requests of pods.

use crate::model::{Resources, SchedulingRule, Strength};

use super::objects;

/// Reads a pod with this spec (in flow style) and returns its requests as text.
fn requests(spec: &str) -> String {
    let text = format!("{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {spec}}}");
    show(&objects(&text).pods[0].spec.requests)
}

fn show(resources: &Resources) -> String {
    resources
        .iter()
        .map(|(name, amount)| format!("{name} {}", name.show(amount)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A container with these requests.
fn container(requests: &str) -> String {
    format!("{{name: c, image: x, resources: {{requests: {{{requests}}}}}}}")
}

fn sidecar(requests: &str) -> String {
    format!("{{name: s, image: x, restartPolicy: Always, resources: {{requests: {{{requests}}}}}}}")
}

#[test]
fn containers_add_up() {
    let (one, two) = (container("cpu: 500m, memory: 1Gi"), container("cpu: 0.25, nvidia.com/gpu: 1"));
    let all = requests(&format!("{{containers: [{one}, {two}]}}"));
    assert_eq!(all, "cpu 750m, memory 1Gi, pods 1, nvidia.com/gpu 1");
}

#[test]
fn init_containers_run_one_at_a_time_beside_the_sidecars_before_them() {
    let main = container("cpu: 500m");
    let table = [
        // A plain init container counts alone.
        (format!("[{}]", container("cpu: 2")), "cpu 2, pods 1"),
        (format!("[{}]", container("cpu: 100m")), "cpu 500m, pods 1"),
        // A sidecar that starts first runs beside the init container: 1 + 3.5.
        (format!("[{}, {}]", sidecar("cpu: 1"), container("cpu: 3500m")), "cpu 4500m, pods 1"),
        // A sidecar that starts later does not.
        (format!("[{}, {}]", container("cpu: 3500m"), sidecar("cpu: 1")), "cpu 3500m, pods 1"),
        // Sidecars run beside the containers: 0.5 + 1 + 2.
        (format!("[{}, {}]", sidecar("cpu: 1"), sidecar("cpu: 2")), "cpu 3500m, pods 1"),
        // Between two sidecars only the first counts: 1 + 3 = 4 against 0.5 + 1 + 2.
        (format!("[{}, {}, {}]", sidecar("cpu: 1"), container("cpu: 3"), sidecar("cpu: 2")), "cpu 4, pods 1"),
    ];
    for (init, expected) in table {
        assert_eq!(
            requests(&format!("{{initContainers: {init}, containers: [{main}]}}")),
            expected,
            "{init}"
        );
    }
}

#[test]
fn limits_stand_in_for_requests_resource_by_resource() {
    let both = "{name: c, image: x, resources: {limits: {cpu: 3, memory: 1Gi}, requests: {cpu: 1}}}";
    assert_eq!(requests(&format!("{{containers: [{both}]}}")), "cpu 1, memory 1Gi, pods 1");
}

#[test]
fn what_the_pod_as_a_whole_says_replaces_the_sum() {
    let main = container("cpu: 500m, memory: 1Gi, nvidia.com/gpu: 1");
    let table = [
        ("{requests: {cpu: 2}}", "cpu 2, memory 1Gi, pods 1, nvidia.com/gpu 1"),
        // A pod-level limit only applies to resources that no container requests.
        (
            "{limits: {cpu: 4, hugepages-2Mi: 4Mi}}",
            "cpu 500m, memory 1Gi, pods 1, hugepages-2Mi 4Mi, nvidia.com/gpu 1",
        ),
    ];
    for (resources, expected) in table {
        assert_eq!(
            requests(&format!("{{resources: {resources}, containers: [{main}]}}")),
            expected,
            "{resources}"
        );
    }
}

#[test]
fn overhead_comes_on_top() {
    let main = container("cpu: 1500m, memory: 512Mi");
    let spec =
        format!("{{containers: [{main}], runtimeClassName: kata, overhead: {{cpu: 500m, memory: 128Mi}}}}");
    assert_eq!(requests(&spec), "cpu 2, memory 640Mi, pods 1");
    let pods = objects(&format!("{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {spec}}}")).pods;
    assert!(pods[0].spec.rules().is_empty());
    let without = "{containers: [{name: c}], runtimeClassName: kata}";
    let pods =
        objects(&format!("{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {without}}}")).pods;
    assert_eq!(pods[0].spec.rules().get(&SchedulingRule::RuntimeClass), Some(&Strength::Preferred));
}

#[test]
fn numbers_need_no_quotes_and_keep_their_digits() {
    let table = [
        ("cpu: 0.1", "cpu 100m, pods 1"),
        ("cpu: 1e1", "cpu 10, pods 1"),
        ("cpu: '2'", "cpu 2, pods 1"),
        ("cpu: 100u", "cpu 1m, pods 1"),
        ("memory: 1000000", "memory 976.6Ki, pods 1"),
        ("memory: 9223372036854775806", "memory 8192Pi, pods 1"),
        ("memory: 0.5", "memory 1, pods 1"),
    ];
    for (written, expected) in table {
        assert_eq!(requests(&format!("{{containers: [{}]}}", container(written))), expected, "{written}");
    }
}

#[test]
fn while_a_pod_is_resized_the_larger_of_wish_and_possession_counts() {
    let text = "
apiVersion: v1
kind: Pod
metadata: {name: a, uid: u}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1, memory: 2Gi}}}]}
status: {containerStatuses: [{name: c, allocatedResources: {cpu: 3, memory: 1Gi}}]}
";
    assert_eq!(show(&objects(text).pods[0].spec.requests), "cpu 3, memory 2Gi, pods 1");
}

#[test]
fn a_resize_that_the_node_never_can_do_counts_for_nothing() {
    let counted = |condition: &str, statuses: &str| {
        let text = format!(
            "
apiVersion: v1
kind: Pod
metadata: {{name: a, uid: u}}
spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: 20, memory: 2Gi}}}}}}]}}
status: {{conditions: [{condition}], containerStatuses: [{statuses}]}}
"
        );
        show(&objects(&text).pods[0].spec.requests)
    };
    let infeasible = "{type: PodResizePending, status: 'True', reason: Infeasible}";
    let allocated = "{name: c, allocatedResources: {cpu: 2, memory: 1Gi}}";
    assert_eq!(counted(infeasible, allocated), "cpu 2, memory 1Gi, pods 1");
    let runs_with = "{name: c, allocatedResources: {cpu: 2, memory: 1Gi}, resources: {requests: {cpu: 3}}}";
    assert_eq!(counted(infeasible, runs_with), "cpu 3, memory 1Gi, pods 1");
    let deferred = infeasible.replace("Infeasible", "Deferred");
    assert_eq!(counted(&deferred, allocated), "cpu 20, memory 2Gi, pods 1");
    let over = infeasible.replace("True", "False");
    assert_eq!(counted(&over, allocated), "cpu 20, memory 2Gi, pods 1");
    assert_eq!(counted(infeasible, "{name: c}"), "cpu 20, memory 2Gi, pods 1", "nobody says what it has");
}

#[test]
fn pods_that_do_not_say_what_they_need_are_counted() {
    let text = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 3
  template: {spec: {containers: [{name: c, resources: {requests: {ephemeral-storage: 1Gi}}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
";
    let objects = objects(text);
    assert_eq!(objects.pods_without_requests, 3);
    assert_eq!(show(&objects.pods[0].spec.requests), "ephemeral-storage 1Gi, pods 1");
}
