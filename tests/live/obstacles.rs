//! What stands in the way is said before anything is written, all of it at once, each with the command that repairs it.

use serde_json::{Value, json};

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");

const SETTINGS: &str = "  location: westeurope
  cluster: {nodeProvisioning: Auto}
  agentPools:
  - {name: system, mode: System}
  - {name: users, mode: User, enableAutoScaling: true, minCount: 0, maxCount: 5, nodeTaints: []}
  - {name: gpus, mode: User, enableAutoScaling: true, minCount: 0, maxCount: 5, nodeTaints: [\"gpu=yes:NoSchedule\"]}
  permissions: [\"*/read\", \"Microsoft.Network/networkInterfaces/*\", \"Microsoft.Compute/virtualMachines/write\"]
";

const KARPENTER: &str = "---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system, labels: {app.kubernetes.io/name: karpenter}}
spec:
  replicas: 1
  selector: {matchLabels: {app: karpenter}}
  template:
    metadata: {labels: {app: karpenter}}
    spec: {containers: [{name: controller, image: \"mcr.microsoft.com/aks/karpenter/controller:1.6.2\"}]}
";

#[tokio::test]
async fn permissions_that_cannot_be_read_are_a_warning_since_nothing_checks_them() {
    let settings = "  location: westeurope
  permissions: [\"Microsoft.Compute/*\", \"Microsoft.Network/*\", \"Microsoft.ContainerService/*\"]
";
    let world = WORLD.replacen("  location: westeurope\n", settings, 1);
    let program = Program::of(&world, &["--speed", "60"]).await;
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = "permissions in the node resource group could not be read, so they are not checked before the first write:";
    assert!(ran.said.contains(said), "{}", ran.said);
}

#[tokio::test]
async fn everything_that_stands_in_the_way_is_said_at_once_and_nothing_is_written() {
    let world = WORLD.replacen("  location: westeurope\n", SETTINGS, 1) + KARPENTER;
    let program = Program::of(&world, &["--speed", "60"]).await;
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    assert_eq!(ran.code, Some(3), "{ran:?}");
    for said in [
        "the caller may not do this in the resource group of the nodes: \
         Microsoft.Compute/virtualMachines/delete, Microsoft.Compute/virtualMachines/extensions/write",
        "its node auto-provisioning is `Auto`",
        "--node-provisioning-mode Manual`",
        "Karpenter is up in this cluster: Deployment `kube-system/karpenter`",
        "`kubectl scale deployment karpenter -n kube-system --replicas 0`",
        "the cluster autoscaler sizes agent pool `users`, which could take pod `default/inflate-",
        "/agentPools/users --disable-cluster-autoscaler`",
    ] {
        assert!(ran.said.contains(said), "{said}\n{}", ran.said);
    }
    assert!(!ran.said.contains("gpus"), "its taint keeps the pods away: {}", ran.said);
    let state = program.own("GET", "/sim/state", &Value::Null).await.1;
    assert_eq!(
        (&state["virtualMachines"], &state["networkInterfaces"]),
        (&json!([]), &json!([])),
        "nothing was made"
    );
    for path in ["/apis/nodeform.dev/v1alpha1/nodeplans", "/apis/coordination.k8s.io/v1/leases"] {
        let (_, listed) = program.kube("GET", path, &Value::Null).await;
        assert_eq!(listed["items"], json!([]), "{path}");
    }
}
