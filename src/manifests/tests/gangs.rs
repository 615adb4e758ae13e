//! Groups of pods: their declarations, and references to them.

use super::{faults, objects};
use crate::model::gang::WorkloadGroup;
use crate::model::{Group, GroupRef};

fn workload(replica: Option<&str>) -> GroupRef {
    GroupRef::Workload(WorkloadGroup {
        workload: "w".into(),
        group: "g".into(),
        replica: replica.map(Into::into),
    })
}

#[test]
fn groups_of_every_version_are_read_and_those_of_the_same_name_are_told_apart() {
    let text = "{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: w}, spec: {podGroups: [{name: g, policy: {gang: {minCount: 2}}}, {name: b, policy: {basic: {}}}]}}
---
{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: p}, spec: {schedulingPolicy: {gang: {minCount: 3}}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: q, namespace: shop}, spec: {schedulingPolicy: {basic: {}}}}
---
{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: p}, spec: {minMember: 4}}
---
{apiVersion: scheduling.k8s.io/v1alpha2, kind: Workload, metadata: {name: later}, spec: {podGroupTemplates: []}}
";
    let group = |namespace: &str, name, least| Group { namespace: namespace.into(), name, least };
    let basic = GroupRef::Workload(WorkloadGroup { workload: "w".into(), group: "b".into(), replica: None });
    let mut wanted = [
        group("default", workload(None), Some(2)),
        group("default", basic, None),
        group("default", GroupRef::PodGroup("p".into()), Some(3)),
        group("shop", GroupRef::PodGroup("q".into()), None),
        group("default", GroupRef::Volcano("p".into()), Some(4)),
    ];
    wanted.sort();
    assert_eq!(objects(text).groups, wanted);
}

#[test]
fn pods_and_templates_name_their_group_and_an_annotation_counts_where_the_spec_names_none() {
    let of = |annotations: &str, spec: &str| {
        let pod = format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a, annotations: {{{annotations}}}}}, spec: {{{spec} \
             containers: [{{name: c}}]}}}}"
        );
        objects(&pod).pods[0].spec.group.clone()
    };
    let volcano = "scheduling.k8s.io/group-name: v";
    assert_eq!(of("", ""), None);
    assert_eq!(of(volcano, ""), Some(GroupRef::Volcano("v".into())));
    assert_eq!(of("scheduling.volcano.sh/group-name: v", ""), Some(GroupRef::Volcano("v".into())));
    let group = "schedulingGroup: {podGroupName: p},";
    assert_eq!(of(volcano, group), Some(GroupRef::PodGroup("p".into())));
    assert_eq!(of("", "workloadRef: {name: w, podGroup: g},"), Some(workload(None)));
    let replica = "workloadRef: {name: w, podGroup: g, podGroupReplicaKey: r},";
    assert_eq!(of("", replica), Some(workload(Some("r"))));
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {annotations: {scheduling.k8s.io/group-name: v}}, spec: {containers: [{name: c}]}}}}";
    assert_eq!(objects(job).pods[0].spec.group, Some(GroupRef::Volcano("v".into())));
}

#[test]
fn a_gang_without_a_least_number_is_a_fault() {
    let text = "{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: p}, spec: {schedulingPolicy: {gang: {minCount: 0}}}}
---
{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: q}, spec: {schedulingPolicy: {gang: {}}}}
---
{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: w}, spec: {podGroups: [{policy: {gang: {minCount: many}}}]}}
";
    let said = faults(text);
    assert_eq!(said.len(), 4, "{said:#?}");
    assert!(said[0].starts_with("a.yaml:1: spec.schedulingPolicy.gang.minCount: "), "{said:#?}");
    assert!(said[1].starts_with("a.yaml:3: spec.schedulingPolicy.gang.minCount: is missing"), "{said:#?}");
    assert!(said[2].starts_with("a.yaml:5: spec.podGroups[0].name: is missing"), "{said:#?}");
    assert!(said[3].starts_with("a.yaml:5: spec.podGroups[0].policy.gang.minCount: "), "{said:#?}");
}
