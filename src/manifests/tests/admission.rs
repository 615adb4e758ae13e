//! Effects of LimitRanges and RuntimeClasses on pods that no API server has admitted.

use super::{deployment, file, objects, pod};
use crate::manifests::Objects;
use crate::model::{LabelKey, ResourceName, SchedulingRule};

fn range(limits: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: LimitRange, metadata: {{name: limits}}, spec: {{limits: [{limits}]}}}}\n"
    )
}

fn with(resources: &str) -> String {
    deployment("web", 1).replace("resources: {requests: {cpu: 1}}", &format!("resources: {{{resources}}}"))
}

fn cpu(objects: &Objects) -> i64 {
    objects.pods[0].spec.requests.get(&ResourceName::Cpu)
}

fn remarks(objects: &Objects) -> Vec<&str> {
    objects.said.remarks.iter().map(|remark| &*remark.what).collect()
}

#[test]
fn containers_get_the_requests_that_a_limit_range_gives() {
    let table = [
        // Resources of the container, the LimitRange, the resulting request in millicores.
        ("", "type: Container, defaultRequest: {cpu: 200m}, default: {cpu: 1}", 200),
        ("", "type: Container, default: {cpu: 1}", 1000),
        ("", "type: Container, max: {cpu: 2}", 2000),
        ("", "type: Container, min: {cpu: 50m}", 50),
        ("limits: {cpu: 500m}", "type: Container, defaultRequest: {cpu: 200m}", 500),
        ("requests: {cpu: 300m}", "type: Container, defaultRequest: {cpu: 200m}", 300),
        ("", "type: PersistentVolumeClaim, max: {storage: 1Gi}", 0),
        ("", "type: Pod, max: {cpu: 4}", 0),
    ];
    for (resources, limits, expected) in table {
        let read = objects(&file(&[with(resources), range(&format!("{{{limits}}}"))]));
        assert_eq!(cpu(&read), expected, "{resources} {limits}");
        assert_eq!(read.pods[0].spec.is_without_requests, expected == 0);
    }
    let init = with("").replace("containers: [", "initContainers: [{name: i}], containers: [");
    let init =
        init.replace("{name: c, image: x, resources: {}}", "{name: c, resources: {requests: {cpu: 100m}}}");
    let read = objects(&file(&[init, range("{type: Container, defaultRequest: {cpu: 700m}}")]));
    assert_eq!(cpu(&read), 700);
}

#[test]
fn a_limit_range_means_its_own_namespace_and_no_pod_that_runs() {
    let range = range("{type: Container, default: {cpu: 3}}");
    let elsewhere = range.replace("{name: limits}", "{name: limits, namespace: other}");
    assert_eq!(cpu(&objects(&file(&[with(""), elsewhere]))), 0);
    let live = pod("web-abc-x", "ReplicaSet/web-abc", "")
        .replace("resources: {requests: {cpu: 2}}", "resources: {}");
    assert_eq!(cpu(&objects(&file(&[live, range.clone()]))), 0);
    let written = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}\n";
    assert_eq!(cpu(&objects(&file(&[written.to_owned(), range]))), 3000);
}

#[test]
fn what_the_api_server_would_refuse_is_told_and_planned() {
    let table = [
        (
            "requests: {cpu: 3}",
            "{type: Container, max: {cpu: 2}}",
            "container `c` may take 3 cpu, more than 2 (LimitRange `limits`)",
        ),
        (
            "requests: {cpu: 100m}",
            "{type: Container, min: {cpu: 200m}}",
            "container `c` asks for 100m cpu, less than 200m (LimitRange `limits`)",
        ),
        (
            "requests: {cpu: 1}, limits: {cpu: 4}",
            "{type: Container, maxLimitRequestRatio: {cpu: 1.5}}",
            "container `c` has a limit of cpu that is more than its request times 1.5 (LimitRange `limits`)",
        ),
        (
            "requests: {cpu: 1}",
            "{type: Pod, max: {cpu: 4}}",
            "the pod has no limit of cpu, and at most 4 is allowed (LimitRange `limits`)",
        ),
    ];
    for (resources, limits, expected) in table {
        let read = objects(&file(&[with(resources), range(limits)]));
        assert_eq!(remarks(&read), [format!("the API server would refuse its pods: {expected}")]);
        assert_eq!((&*read.said.remarks[0].object, read.pods.len()), ("`Deployment/default/web`", 1));
    }
    let fine = objects(&file(&[
        with("requests: {cpu: 1}, limits: {cpu: 2}"),
        range("{type: Container, max: {cpu: 2}}"),
    ]));
    assert!(remarks(&fine).is_empty());
}

#[test]
fn a_runtime_class_adds_overhead_and_says_where_its_runtime_is() {
    let class = "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: kata, overhead: {podFixed: \
                 {cpu: 250m}}, scheduling: {nodeSelector: {runtime: kata}, tolerations: [{key: kata, operator: Exists}]}}\n";
    let named =
        deployment("web", 1).replace("spec: {containers", "spec: {runtimeClassName: kata, containers");
    let read = objects(&file(&[named.clone(), class.to_owned()]));
    let spec = &read.pods[0].spec;
    assert_eq!((cpu(&read), spec.tolerations.len()), (1250, 1));
    assert!(spec.node_selector.get("runtime").is_some_and(|wanted| wanted.accepts("kata")));
    assert!(!spec.rules().contains_key(&SchedulingRule::RuntimeClass));

    let alone = objects(&named);
    assert_eq!(cpu(&alone), 1000);
    assert!(alone.pods[0].spec.rules().contains_key(&SchedulingRule::RuntimeClass));
    let two = objects(&file(&[named.clone(), named.replace("name: web", "name: api")]));
    assert_eq!(
        remarks(&two),
        ["is not in the input: the overhead and the node selector of `Deployment/default/api`, \
             `Deployment/default/web` are unknown"]
    );

    let other = named.replace("{runtimeClassName", "{nodeSelector: {runtime: runc}, runtimeClassName");
    let read = objects(&file(&[other, class.to_owned()]));
    assert_eq!(
        remarks(&read),
        [
            "the API server would refuse its pods: its node selector of `runtime` is not that of RuntimeClass `kata`"
        ]
    );
    assert!(read.pods[0].spec.node_selector.get(LabelKey::new("runtime").as_str()).is_some());
}

#[test]
fn a_device_that_is_asked_for_without_a_limit_of_it_is_told() {
    let said = |resources: &str| {
        let read = objects(&with(resources));
        remarks(&read)
            .iter()
            .map(|what| what.rsplit(": container").next().unwrap_or_default().to_owned())
            .collect::<Vec<String>>()
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(
        said("requests: {nvidia.com/gpu: 1}"),
        [" `c` asks for `nvidia.com/gpu: 1` and has no limit of it"]
    );
    assert_eq!(
        said("requests: {hugepages-2Mi: 4Mi, memory: 1Gi}"),
        [" `c` asks for `hugepages-2Mi: 4Mi` and has no limit of it"]
    );
    assert_eq!(
        said("requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}"),
        [" `c` asks for `nvidia.com/gpu: 1` and is limited to 2, which must be the same"]
    );
    for fine in [
        "limits: {nvidia.com/gpu: 1}",
        "requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}",
        "requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}",
    ] {
        assert_eq!(said(fine), none, "{fine}");
    }
}
