use super::{Operated, by_kind};
use crate::manifests::tests::objects;

/// Returns the reported lines for objects given as `group kind: spec`.
fn said(objects_of: &[(&str, &str, &str)]) -> Vec<String> {
    let text: String = objects_of
        .iter()
        .enumerate()
        .map(|(index, (group, kind, rest))| {
            format!("---\napiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: x{index}}}\n{rest}\n")
        })
        .collect();
    by_kind(&objects(&text).operated)
}

#[test]
fn what_operators_make_pods_of_is_named_with_its_replicas() {
    let kinds = [
        ("kafka.strimzi.io", "KafkaNodePool", "spec: {replicas: 3}"),
        ("kafka.strimzi.io", "Kafka", "spec: {kafka: {replicas: 3}, zookeeper: {replicas: 3}}"),
        ("monitoring.coreos.com", "Prometheus", "spec: {resources: {}}"),
        ("monitoring.coreos.com", "Alertmanager", "spec: {replicas: 1}"),
        ("kaito.sh", "Workspace", "resource: {count: 2}"),
        ("postgresql.cnpg.io", "Cluster", "spec: {instances: 3}"),
        ("elasticsearch.k8s.elastic.co", "Elasticsearch", "spec: {nodeSets: [{count: 3}, {count: 2}]}"),
        ("sparkoperator.k8s.io", "SparkApplication", "spec: {executor: {instances: 5}}"),
        ("argoproj.io", "Workflow", "spec: {templates: [{container: {image: x}}]}"),
        ("psmdb.percona.com", "PerconaServerMongoDB", "spec: {replsets: [{size: 3, arbiter: {size: 1}}]}"),
        ("operator.victoriametrics.com", "VMCluster", "spec: {a: {replicaCount: 2}, b: {replicaCount: 2}}"),
        ("argoproj.io", "CronWorkflow", "spec: {workflowSpec: {templates: [{script: {image: x}}]}}"),
        ("tekton.dev", "TaskRun", "spec: {taskSpec: {steps: [{name: s, image: x}]}}"),
        ("tekton.dev", "PipelineRun", "spec: {pipelineRef: {name: build}}"),
        ("redis.redis.opstreelabs.in", "RedisCluster", "spec: {clusterSize: 3}"),
        ("k8ssandra.io", "K8ssandraCluster", "spec: {cassandra: {datacenters: [{size: 3}, {size: 2}]}}"),
        ("trainer.kubeflow.org", "TrainJob", "spec: {trainer: {numNodes: 4}}"),
        ("kubevirt.io", "VirtualMachine", "spec: {running: true, template: {spec: {domain: {}}}}"),
        ("temporal.io", "TemporalCluster", "spec: {numHistoryShards: 1}"),
        ("example.com", "Build", "spec: {phases: [{sidecars: [{name: s, image: x}]}]}"),
        ("example.com", "Render", "spec: {jobs: {a: {renderScript: {image: x}}}}"),
        ("example.com", "Shop", "spec: {replicas: 4}"),
        ("example.com", "Cache", "spec: {tiers: [{nodes: {replicaCount: 7}}]}"),
    ];
    assert_eq!(
        said(&kinds),
        [
            "1 Alertmanager (1 replica)",
            "1 Build",
            "1 Cache (7 replicas)",
            "1 Cluster (3 replicas)",
            "1 CronWorkflow",
            "1 Elasticsearch (5 replicas)",
            "1 K8ssandraCluster (5 replicas)",
            "1 Kafka (6 replicas)",
            "1 KafkaNodePool (3 replicas)",
            "1 PerconaServerMongoDB (3 replicas)",
            "1 PipelineRun",
            "1 Prometheus",
            "1 RedisCluster (3 replicas)",
            "1 Render",
            "1 Shop (4 replicas)",
            "1 SparkApplication (5 replicas)",
            "1 TaskRun",
            "1 TemporalCluster",
            "1 TrainJob (4 replicas)",
            "1 VMCluster (4 replicas)",
            "1 VirtualMachine",
            "1 Workflow",
            "1 Workspace (2 replicas)",
        ]
    );
}

#[test]
fn the_same_words_of_others_name_nothing() {
    let kinds = [
        ("kafka.strimzi.io", "KafkaTopic", "spec: {replicas: 3}"),
        ("jetstream.nats.io", "Stream", "spec: {replicas: 3}"),
        ("cert-manager.io", "Certificate", "spec: {replicas: 1}"),
        ("acme.cert-manager.io", "Order", "spec: {replicas: 1}"),
        ("kyverno.io", "ClusterPolicy", "spec: {pattern: {spec: {replicas: 3}}}"),
        ("constraints.gatekeeper.sh", "Most", "spec: {parameters: {replicas: 3}}"),
        ("cache.azure.com", "Redis", "spec: {replicas: 1}"),
        ("apiextensions.crossplane.io", "Composition", "spec: {resources: [{base: {spec: {replicas: 2}}}]}"),
        ("cluster.x-k8s.io", "MachineDeployment", "spec: {replicas: 3}"),
        ("machine.openshift.io", "MachineSet", "spec: {replicas: 3}"),
        ("argoproj.io", "WorkflowTemplate", "spec: {templates: [{container: {image: x}}]}"),
        ("argoproj.io", "ClusterWorkflowTemplate", "spec: {templates: [{script: {image: x}}]}"),
        ("argoproj.io", "Workflow", "spec: {templates: []}\nstatus: {finishedAt: '2026-01-01T00:00:00Z'}"),
        ("tekton.dev", "Task", "spec: {steps: [{name: s, image: x}]}"),
        ("kubevirt.io", "VirtualMachine", "spec: {runStrategy: Halted}"),
        (
            "kyverno.io",
            "ClusterPolicy",
            "spec: {rules: [{mutate: {containers: [{image: x}]}, steps: [{image: x}]}]}",
        ),
        ("example.com", "Catalog", "spec: {image: x, steps: [{name: a}], tiles: [{image: x}]}"),
        ("example.com", "Shop", "spec: {replicas: 0}"),
        ("example.com", "Shop", "spec: {count: 3, size: 2, replicas: three}"),
        ("example.com", "Shop", "status: {replicas: 3}"),
        ("networking.k8s.io", "Ingress", "spec: {replicas: 3}"),
    ];
    assert_eq!(said(&kinds), Vec::<String>::new());
}

#[test]
fn what_made_something_that_the_input_holds_is_planned_with() {
    let made = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: main\n  namespace: watch\n  \
                ownerReferences: [{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, name: main, controller: true}]\n\
                spec:\n  replicas: 2\n  selector: {matchLabels: {a: b}}\n  \
                template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}\n";
    let of = |name: &str| {
        format!(
            "---\napiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {{name: {name}, namespace: watch}}\n\
             spec: {{replicas: 2}}\n"
        )
    };
    let read = objects(&format!("{made}{}{}", of("main"), of("other")));
    let names: Vec<&str> = read.operated.iter().map(|Operated { name, .. }| name.as_str()).collect();
    assert_eq!((names, read.pods.len()), (vec!["watch/other"], 2));
}
