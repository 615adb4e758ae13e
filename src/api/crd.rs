//! Builds the CustomResourceDefinitions from the wire types.
//!
//! Must only be used to write and check `crds/` and `schemas/`: everything else reads the written files.

use serde_json::{Value, json};

use super::Kind;
use super::aks_node_class::{AksNodeClassSpec, AksNodeClassStatus};
use super::capacity_buffer::{CapacityBufferSpec, CapacityBufferStatus};
use super::node_claim::{NodeClaimSpec, NodeClaimStatus};
use super::node_fleet::{NodeFleetSpec, NodeFleetStatus};
use super::node_overlay::{NodeOverlaySpec, NodeOverlayStatus};
use super::node_plan::{NodePlanChunkSpec, NodePlanSpec, NodePlanStatus};
use super::node_plan_approval::NodePlanApprovalSpec;
use super::node_pool::{NodePoolSpec, NodePoolStatus};
use super::structural::schema_of;

/// Returns the OpenAPI schema of a kind's objects.
pub fn schema(kind: Kind) -> Value {
    let (description, spec, status) = match kind {
        Kind::AksNodeClass => (
            "AKSNodeClass describes the VMs of a NodePool.",
            schema_of::<AksNodeClassSpec>(),
            Some(schema_of::<AksNodeClassStatus>()),
        ),
        Kind::CapacityBuffer => (
            "CapacityBuffer is capacity that is kept free for future pods.",
            schema_of::<CapacityBufferSpec>(),
            Some(schema_of::<CapacityBufferStatus>()),
        ),
        Kind::NodeClaim => (
            "NodeClaim is a request for one node.",
            schema_of::<NodeClaimSpec>(),
            Some(schema_of::<NodeClaimStatus>()),
        ),
        Kind::NodeFleet => (
            "NodeFleet says how nodeform treats one cluster as a whole. There is at most one in a cluster.",
            schema_of::<NodeFleetSpec>(),
            Some(schema_of::<NodeFleetStatus>()),
        ),
        Kind::NodeOverlay => (
            "NodeOverlay changes prices and resources of sizes.",
            schema_of::<NodeOverlaySpec>(),
            Some(schema_of::<NodeOverlayStatus>()),
        ),
        Kind::NodePlan => (
            "NodePlan is a plan with effects and what has become of it.",
            schema_of::<NodePlanSpec>(),
            Some(schema_of::<NodePlanStatus>()),
        ),
        Kind::NodePlanApproval => (
            "NodePlanApproval is what one person decided about one NodePlan, where plans are reviewed without Git.",
            schema_of::<NodePlanApprovalSpec>(),
            None,
        ),
        Kind::NodePlanChunk => {
            ("NodePlanChunk is a chunk of the text of a NodePlan.", schema_of::<NodePlanChunkSpec>(), None)
        }
        Kind::NodePool => (
            "NodePool is a pool of nodes that are created when pods need them.",
            schema_of::<NodePoolSpec>(),
            Some(schema_of::<NodePoolStatus>()),
        ),
    };
    let mut object = json!({
        "description": description,
        "properties": {
            "apiVersion": {"description": "Group and version of the object.", "type": "string"},
            "kind": {"description": "Kind of the object.", "type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
        },
        "type": "object",
    });
    if let Some(status) = status {
        object["properties"]["status"] = status;
    }
    if is_spec_required(kind) {
        object["required"] = json!(["spec"]);
    }
    object
}

fn is_spec_required(kind: Kind) -> bool {
    match kind {
        Kind::CapacityBuffer
        | Kind::NodeClaim
        | Kind::NodeOverlay
        | Kind::NodePlan
        | Kind::NodePlanApproval
        | Kind::NodePlanChunk
        | Kind::NodePool => true,
        Kind::AksNodeClass | Kind::NodeFleet => false,
    }
}

/// Returns the CustomResourceDefinition of a kind.
pub fn definition(kind: Kind) -> Value {
    let facts = kind.facts();
    let mut names = json!({
        "kind": facts.kind,
        "listKind": format!("{}List", facts.kind),
        "plural": facts.plural,
        "singular": facts.singular,
    });
    if !facts.categories.is_empty() {
        names["categories"] = json!(facts.categories);
    }
    if !facts.short_names.is_empty() {
        names["shortNames"] = json!(facts.short_names);
    }
    let mut versions = Vec::new();
    if let Some(older) = facts.version_deprecated {
        let mut version = version_of(kind, older);
        version["deprecated"] = json!(true);
        version["deprecationWarning"] = json!(format!("use {}.{} instead", facts.version, facts.kind));
        version["storage"] = json!(false);
        versions.push(version);
    }
    versions.push(version_of(kind, facts.version));
    let scope = if facts.is_namespaced { "Namespaced" } else { "Cluster" };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{}", facts.plural, facts.group)},
        "spec": {"group": facts.group, "names": names, "scope": scope, "versions": versions},
    })
}

fn version_of(kind: Kind, name: &str) -> Value {
    let mut subresources = json!({});
    if !matches!(kind, Kind::NodePlanApproval | Kind::NodePlanChunk) {
        subresources["status"] = json!({});
    }
    if kind == Kind::NodePool {
        subresources["scale"] =
            json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.nodes"});
    }
    json!({
        "additionalPrinterColumns": columns(kind),
        "name": name,
        "schema": {"openAPIV3Schema": schema(kind)},
        "served": true,
        "storage": true,
        "subresources": subresources,
    })
}

fn columns(kind: Kind) -> Vec<Value> {
    let age = column("Age", ".metadata.creationTimestamp", "date");
    match kind {
        Kind::AksNodeClass => vec![
            column("Ready", ".status.conditions[?(@.type=='Ready')].status", "string"),
            age,
            wide(column("ImageFamily", ".spec.imageFamily", "string")),
        ],
        Kind::CapacityBuffer => columns_of_buffer(age),
        Kind::NodeClaim => vec![
            column("Type", r".metadata.labels.node\.kubernetes\.io/instance-type", "string"),
            column("Capacity", r".metadata.labels.karpenter\.sh/capacity-type", "string"),
            column("Zone", r".metadata.labels.topology\.kubernetes\.io/zone", "string"),
            column("Node", ".status.nodeName", "string"),
            column("Ready", r#".status.conditions[?(@.type=="Ready")].status"#, "string"),
            age,
            wide(column("ImageID", ".status.imageID", "string")),
            wide(column("ID", ".status.providerID", "string")),
            wide(column("NodePool", r".metadata.labels.karpenter\.sh/nodepool", "string")),
            wide(column("NodeClass", ".spec.nodeClassRef.name", "string")),
            wide(column("Drifted", r#".status.conditions[?(@.type=="Drifted")].status"#, "string")),
        ],
        Kind::NodeFleet => vec![
            column("Mode", ".spec.mode", "string"),
            column("Suspended", ".spec.suspend", "boolean"),
            column("Ready", r#".status.conditions[?(@.type=="Ready")].status"#, "string"),
            age,
            wide(column("Strategy", ".spec.strategy", "string")),
            wide(column("Revision", ".status.lastAppliedRevision", "string")),
        ],
        Kind::NodeOverlay => vec![
            column("Ready", r#".status.conditions[?(@.type=="Ready")].status"#, "string"),
            age,
            wide(column("Weight", ".spec.weight", "integer")),
        ],
        Kind::NodePlan => columns_of_plan(age),
        Kind::NodePlanApproval => columns_of_approval(age),
        Kind::NodePlanChunk => vec![
            column("Chunk", ".spec.number", "integer"),
            described(column("Of", ".spec.of", "integer"), "How many chunks the plan's text has."),
            age,
        ],
        Kind::NodePool => vec![
            column("NodeClass", ".spec.template.spec.nodeClassRef.name", "string"),
            column("Nodes", ".status.nodes", "string"),
            column("Ready", r#".status.conditions[?(@.type=="Ready")].status"#, "string"),
            age,
            wide(column("Weight", ".spec.weight", "integer")),
            wide(column("CPU", ".status.resources.cpu", "string")),
            wide(column("Memory", ".status.resources.memory", "string")),
        ],
    }
}

/// Returns the columns of CapacityBuffers, as in the original CRD.
fn columns_of_buffer(age: Value) -> Vec<Value> {
    vec![
        described(column("Strategy", ".spec.provisioningStrategy", "string"), "How the headroom is kept."),
        described(column("PodTemplate", ".status.podTemplateRef.name", "string"), "The PodTemplate in use."),
        described(column("Replicas", ".status.replicas", "integer"), "How many pods headroom is kept for."),
        described(column("ConditionsType", ".status.conditions[*].type", "string"), "The conditions."),
        described(column("ConditionsStatus", ".status.conditions[*].status", "string"), "Whether they hold."),
        described(column("ConditionsReason", ".status.conditions[*].reason", "string"), "Why."),
        described(age, "How old the buffer is."),
    ]
}

/// Returns the columns of NodePlanApprovals.
fn columns_of_approval(age: Value) -> Vec<Value> {
    vec![
        described(column("Plan", ".spec.plan", "string"), "The NodePlan."),
        described(column("Decision", ".spec.decision", "string"), "What was decided."),
        described(column("By", ".spec.approver", "string"), "Who decided."),
        age,
        wide(column("Reason", ".spec.reason", "string")),
    ]
}

/// Returns the columns of NodePlans: the most requested facts.
fn columns_of_plan(age: Value) -> Vec<Value> {
    let monthly = "By how many dollars a month it changes what the fleet costs.";
    vec![
        column("Class", ".spec.class", "string"),
        described(column("Folder", ".spec.folder", "string"), "The folder in which it was merged."),
        described(column("Nodes", ".spec.changes.nodes", "string"), "Nodes to add, change and destroy."),
        described(column("$/Month", ".spec.monthlyDelta", "string"), monthly),
        described(column("Expires", ".spec.expiresAt", "string"), "Until when it may begin."),
        described(column("Outcome", ".status.phase", "string"), "How far it is, or how it ended."),
        age,
        wide(column("Ready", r#".status.conditions[?(@.type=="Ready")].status"#, "string")),
        wide(column("Done", ".status.counts.done", "integer")),
        wide(column("Waiting", ".status.counts.waiting", "integer")),
        wide(column("Failed", ".status.counts.failed", "integer")),
    ]
}

fn column(name: &str, path: &str, of_type: &str) -> Value {
    json!({"jsonPath": path, "name": name, "type": of_type})
}

/// Adds a description to a column.
fn described(mut column: Value, description: &str) -> Value {
    column["description"] = json!(description);
    column
}

/// Shows a column only with `kubectl get -o wide`.
fn wide(mut column: Value) -> Value {
    column["priority"] = json!(1);
    column
}
