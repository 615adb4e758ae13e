//! Well-known kinds of operators, with the paths of their pod counts; and groups and kinds that are never treated as
//! one.

use super::super::kind::READ_KINDS;

/// Paths of pod counts in an object, besides `replicas`, `instances` and `replicaCount` in its spec, which are found
/// without a path; `*` is every item of a list or value of a map.
type Paths = &'static [&'static [&'static str]];

/// Group, kind and paths. A kind without a path belongs to an operator whether or not it states a number.
const KNOWN: [(&str, &str, Paths); 55] = [
    ("acid.zalan.do", "postgresql", &[&["spec", "numberOfInstances"]]),
    ("apm.k8s.elastic.co", "ApmServer", &[&["spec", "count"]]),
    ("argoproj.io", "CronWorkflow", &[]),
    ("argoproj.io", "Workflow", &[]),
    ("cassandra.datastax.com", "CassandraDatacenter", &[&["spec", "size"]]),
    ("ceph.rook.io", "CephCluster", &[&["spec", "mon", "count"], &["spec", "mgr", "count"]]),
    ("ceph.rook.io", "CephFilesystem", &[&["spec", "metadataServer", "activeCount"]]),
    ("clickhouse.altinity.com", "ClickHouseInstallation", &[]),
    ("couchbase.com", "CouchbaseCluster", &[&["spec", "servers", "*", "size"]]),
    ("databases.spotahome.com", "RedisFailover", &[]),
    ("elasticsearch.k8s.elastic.co", "Elasticsearch", &[&["spec", "nodeSets", "*", "count"]]),
    ("etcd.database.coreos.com", "EtcdCluster", &[&["spec", "size"]]),
    ("flink.apache.org", "FlinkDeployment", &[]),
    ("grafana.integreatly.org", "Grafana", &[]),
    ("hazelcast.com", "Hazelcast", &[&["spec", "clusterSize"]]),
    ("jaegertracing.io", "Jaeger", &[]),
    ("k8s.keycloak.org", "Keycloak", &[]),
    ("k8ssandra.io", "K8ssandraCluster", &[&["spec", "cassandra", "datacenters", "*", "size"]]),
    ("kafka.strimzi.io", "Kafka", &[]),
    ("kafka.strimzi.io", "KafkaConnect", &[]),
    ("kafka.strimzi.io", "KafkaNodePool", &[]),
    ("kaito.sh", "RAGEngine", &[&["spec", "compute", "count"]]),
    ("kaito.sh", "Workspace", &[&["resource", "count"]]),
    ("kibana.k8s.elastic.co", "Kibana", &[&["spec", "count"]]),
    ("logstash.k8s.elastic.co", "Logstash", &[&["spec", "count"]]),
    ("kubevirt.io", "VirtualMachine", &[]),
    ("kubevirt.io", "VirtualMachineInstance", &[]),
    ("loki.grafana.com", "LokiStack", &[]),
    ("minio.min.io", "Tenant", &[&["spec", "pools", "*", "servers"]]),
    ("mongodb.com", "MongoDB", &[&["spec", "members"]]),
    ("mongodbcommunity.mongodb.com", "MongoDBCommunity", &[&["spec", "members"]]),
    ("monitoring.coreos.com", "Alertmanager", &[]),
    ("monitoring.coreos.com", "Prometheus", &[]),
    ("monitoring.coreos.com", "PrometheusAgent", &[]),
    ("monitoring.coreos.com", "ThanosRuler", &[]),
    ("mysql.oracle.com", "InnoDBCluster", &[&["spec", "router", "instances"]]),
    ("opentelemetry.io", "OpenTelemetryCollector", &[]),
    ("operator.victoriametrics.com", "VMCluster", &[]),
    ("operator.victoriametrics.com", "VMSingle", &[]),
    ("postgresql.cnpg.io", "Cluster", &[]),
    ("ps.percona.com", "PerconaServerMySQL", &[&["spec", "*", "size"], &["spec", "*", "*", "size"]]),
    (
        "psmdb.percona.com",
        "PerconaServerMongoDB",
        &[&["spec", "replsets", "*", "size"], &["spec", "sharding", "*", "size"]],
    ),
    ("pxc.percona.com", "PerconaXtraDBCluster", &[&["spec", "*", "size"]]),
    ("rabbitmq.com", "RabbitmqCluster", &[]),
    ("redis.redis.opstreelabs.in", "RedisCluster", &[&["spec", "clusterSize"]]),
    ("redis.redis.opstreelabs.in", "RedisReplication", &[&["spec", "clusterSize"]]),
    ("scylla.scylladb.com", "ScyllaCluster", &[&["spec", "datacenter", "racks", "*", "members"]]),
    (
        "serving.kserve.io",
        "InferenceService",
        &[&["spec", "predictor", "minReplicas"], &["spec", "transformer", "minReplicas"]],
    ),
    ("sparkoperator.k8s.io", "ScheduledSparkApplication", &[]),
    ("sparkoperator.k8s.io", "SparkApplication", &[]),
    ("tekton.dev", "PipelineRun", &[]),
    ("tekton.dev", "TaskRun", &[]),
    ("tempo.grafana.com", "TempoStack", &[]),
    ("temporal.io", "TemporalCluster", &[]),
    ("trainer.kubeflow.org", "TrainJob", &[&["spec", "trainer", "numNodes"]]),
];

/// Suffixes of groups whose objects never create pods themselves: policies, certificates, and cloud resources.
const NEVER: [&str; 10] = [
    "azure.com",
    "cert-manager.io",
    "cluster.x-k8s.io",
    "cnrm.cloud.google.com",
    "crossplane.io",
    "gatekeeper.sh",
    "jetstream.nats.io",
    "kyverno.io",
    "services.k8s.aws",
    "upbound.io",
];

/// Returns the paths of the pod counts of a well-known kind; `None` for other kinds.
pub(super) fn paths(group: &str, kind: &str) -> Option<Paths> {
    KNOWN.iter().find(|(of, known, _)| *of == group && *known == kind).map(|(_, _, paths)| *paths)
}

/// Returns whether a kind that is not well known may belong to an operator.
pub(super) fn may_be_operated(group: &str, kind: &str) -> bool {
    let is_within = |of: &str| group == of || group.strip_suffix(of).is_some_and(|rest| rest.ends_with('.'));
    // Groups of Kubernetes and its special interest groups: their kinds are read, or create no unknown pods.
    let is_own = !group.contains('.') || is_within("k8s.io") || is_within("x-k8s.io");
    let is_read = READ_KINDS.contains(&(group, kind)) || matches!(group, "karpenter.sh" | "nodeform.dev");
    // Replicas of a topic are copies of its data; those of a machine set are machines.
    let is_of_another_sense = kind.ends_with("Topic") || kind.starts_with("Machine");
    // Definitions do not run by themselves: Tekton only creates pods for runs.
    let is_definition = is_within("tekton.dev") || kind.ends_with("Template");
    !is_own && !is_definition && !is_read && !is_of_another_sense && !NEVER.iter().any(|of| is_within(of))
}
