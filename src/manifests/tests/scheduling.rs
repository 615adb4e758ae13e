//! Scheduling-relevant fields of a pod besides its requests.

use std::sync::Arc;

use crate::model::{PodSpec, SchedulingRule, Strength};

use super::objects;

fn spec(labels: &str, spec: &str) -> Arc<PodSpec> {
    let text = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: a, labels: {{{labels}}}}}, spec: {{{spec}, containers: [{{name: c}}]}}}}"
    );
    objects(&text).pods.remove(0).spec
}

#[test]
fn node_selectors_and_affinity_ask_for_stable_labels() {
    let read = spec(
        "",
        "nodeSelector: {beta.kubernetes.io/arch: arm64}, affinity: {nodeAffinity: {\
         requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\
           {matchExpressions: [{key: failure-domain.beta.kubernetes.io/zone, operator: In, values: [a, b]}, \
                               {key: karpenter.azure.com/sku-cpu, operator: Gt, values: ['7']}]}, \
           {}, {matchExpressions: [{key: team, operator: DoesNotExist}]}]}, \
         preferredDuringSchedulingIgnoredDuringExecution: [{weight: 10, preference: {matchExpressions: [{key: x, operator: Exists}]}}]}}",
    );
    let show = |requirements: &crate::model::Requirements| {
        requirements.iter().map(|(key, wanted)| format!("{key} {wanted}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(show(&read.node_selector), "kubernetes.io/arch In [arm64]");
    let terms: Vec<String> = read.node_affinity.required.iter().flatten().map(show).collect();
    assert_eq!(
        terms,
        ["karpenter.azure.com/sku-cpu >= 8, topology.kubernetes.io/zone In [a, b]", "team DoesNotExist"]
    );
    assert_eq!(
        (read.node_affinity.preferred[0].weight, show(&read.node_affinity.preferred[0].term)),
        (10, "x Exists".to_owned())
    );
    assert_eq!(read.rules().get(&SchedulingRule::PreferredNodeAffinity), Some(&Strength::Preferred));
}

#[test]
fn an_affinity_of_empty_terms_can_never_be_met() {
    let required = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}";
    assert_eq!(spec("", required).node_affinity.required, Some(Vec::new()));
}

#[test]
fn label_keys_of_pod_affinity_are_folded_into_the_selector() {
    let read = spec(
        "app: web, track: blue",
        "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, \
         labelSelector: {matchLabels: {tier: web}}, matchLabelKeys: [track, absent], mismatchLabelKeys: [app]}]}, \
         podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {\
         topologyKey: kubernetes.io/hostname, namespaces: [b, a], namespaceSelector: {}}}]}}",
    );
    let selector = read.affinity[0].selector.as_ref().expect("selects pods");
    let shown: Vec<String> = selector.0.iter().map(|(key, wanted)| format!("{key} {wanted}")).collect();
    assert_eq!(shown, ["app NotIn [web]", "tier In [web]", "track In [blue]"]);
    let away = &read.preferred_anti_affinity[0].term;
    assert_eq!(
        (away.selector.is_none(), away.namespaces.len(), away.namespace_selector.is_some()),
        (true, 2, true)
    );
}

#[test]
fn spread_constraints_have_kubernetes_defaults() {
    let read = spec(
        "",
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}, \
         {maxSkew: 2, topologyKey: host, whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeAffinityPolicy: Ignore, \
         nodeTaintsPolicy: Honor, matchLabelKeys: [pod-template-hash], labelSelector: {}}]",
    );
    let [first, second] = &*read.spread else { panic!("has two") };
    assert!(first.honors_node_affinity && !first.honors_node_taints && first.selector.is_none());
    assert!(!second.honors_node_affinity && second.honors_node_taints && second.selector.is_some());
    assert_eq!(
        (first.strength, second.strength, second.min_domains),
        (Strength::Preferred, Strength::Required, Some(3))
    );
}

#[test]
fn tolerations_and_gates_and_schedulers_and_systems_are_read() {
    let read = spec(
        "",
        "tolerations: [{operator: Exists}, {key: a, effect: NoSchedule}, {key: b, operator: Exists}], \
         schedulingGates: [{name: quota}], schedulerName: volcano",
    );
    let shown: Vec<(Option<&str>, Option<&str>)> =
        read.tolerations.iter().map(|t| (t.key.as_deref(), t.value.as_deref())).collect();
    assert_eq!(shown, [(None, None), (Some("a"), Some("")), (Some("b"), None)]);
    assert_eq!((read.gates.len(), read.scheduler.as_deref()), (1, Some("volcano")));
    assert_eq!(spec("", "schedulerName: default-scheduler").scheduler, None);
    assert_eq!(spec("", "os: {name: windows}").os.as_deref(), Some("windows"));
}

#[test]
fn host_ports_are_those_asked_for_or_all_on_the_hosts_network() {
    let ports = |host: bool| {
        let text = format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{hostNetwork: {host}, \
             initContainers: [{{name: s, restartPolicy: Always, ports: [{{containerPort: 1, hostPort: 1}}]}}, \
                              {{name: i, ports: [{{containerPort: 2, hostPort: 2}}]}}], \
             containers: [{{name: c, ports: [{{containerPort: 80}}, {{containerPort: 53, hostPort: 53, protocol: UDP, hostIP: 10.0.0.1}}, \
                          {{containerPort: 9, hostPort: 0, hostIP: 0.0.0.0}}]}}]}}}}"
        );
        objects(&text).pods[0].spec.host_ports.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(ports(false), ["1/TCP", "10.0.0.1:53/UDP"]);
    assert_eq!(ports(true), ["1/TCP", "9/TCP", "10.0.0.1:53/UDP", "80/TCP"]);
}

#[test]
fn volumes_that_may_tie_a_pod_are_a_rule() {
    let uses = |written: &str| spec("", written).rules().contains_key(&SchedulingRule::Volumes);
    for tying in ["persistentVolumeClaim: {claimName: p}", "ephemeral: {}", "azureDisk: {diskName: d}"] {
        assert!(uses(&format!("volumes: [{{name: v, {tying}}}]")), "{tying}");
    }
    for free in [
        "emptyDir: {medium: Memory}",
        "configMap: {name: x}",
        "hostPath: {path: /}",
        "nfs: {}",
        "csi: {driver: secrets-store.csi.k8s.io}",
    ] {
        assert!(!uses(&format!("volumes: [{{name: v, {free}}}]")), "{free}");
    }
    let set = super::deployment("db", 1).replace("Deployment", "StatefulSet");
    let set =
        set.replace("  replicas: 1\n", "  replicas: 1\n  volumeClaimTemplates: [{metadata: {name: data}}]\n");
    assert_eq!(objects(&set).pods[0].spec.rules().get(&SchedulingRule::Volumes), Some(&Strength::Required));
    assert!(spec("", "resourceClaims: [{name: g}]").rules().contains_key(&SchedulingRule::ResourceClaims));
}

#[test]
fn pods_that_ask_not_to_be_disrupted_are_marked() {
    let marked = |value: &str| {
        let text = format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a, annotations: {{karpenter.sh/do-not-disrupt: '{value}'}}}}, spec: {{containers: [{{name: c}}]}}}}"
        );
        objects(&text).pods[0].is_do_not_disrupt
    };
    assert!(marked("true") && marked("30m") && !marked("false") && !marked(""));
    assert!(!marked("0s"), "a duration that is over at once keeps nothing away");
    assert!(marked("1.5h"), "a duration that is not understood keeps disruption away for good");
}

#[test]
fn what_matters_before_a_pod_is_evicted_is_read() {
    let pod = |value: &str, ready: &str| {
        let text = format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a, annotations: {{karpenter.sh/do-not-disrupt: '{value}', controller.kubernetes.io/pod-deletion-cost: '-5'}}}}, spec: {{nodeName: n1, containers: [{{name: c}}]}}, status: {{startTime: '2026-11-21T09:00:00Z', conditions: [{{type: Ready, status: '{ready}'}}]}}}}"
        );
        objects(&text).pods[0].clone()
    };
    let at = |text: &str| Some(text.parse::<jiff::Timestamp>().expect("a time"));
    let timed = pod("30m", "False");
    assert_eq!((timed.state.deletion_cost, timed.state.is_unready), (-5, true));
    assert!(
        timed.is_protected(at("2026-11-21T09:29:59Z")) && !timed.is_protected(at("2026-11-21T09:30:00Z"))
    );
    assert!(timed.is_protected(None), "where no time is known it is protected");
    let always = pod("true", "True");
    assert!(always.is_protected(at("2030-01-01T00:00:00Z")) && !always.state.is_unready);
}
