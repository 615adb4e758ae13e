//! Plans that people approve in the cluster: nobody in another's name, and only who may.

use std::process::Output;

use nodeform::ledger::{APPROVALS, PLANS};
use serde_json::{Value, json};

use super::bed::{Bed, FLEETS};
use super::workload::Workload;

const ANN: &str = "ann@example.com";
const BOB: &str = "bob@example.com";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// Nodes that have become empty wait until somebody approves that they go.
pub(super) fn count_of_who_may_and_says_who(bed: &Bed, inflate: &Workload) {
    let eyes = &inflate.eyes;
    let fleet = format!("{FLEETS}/main");
    eyes.api.merge(&fleet, &json!({"spec": {"approve": {"remove-empty": "review"}}}));
    inflate.scaled(5);
    inflate.scaled(0);
    let waiting = || {
        let mut plans = eyes.items(PLANS).into_iter();
        plans.find(|plan| plan["status"]["phase"] == "Proposed")
    };
    eyes.wait("a plan waits for an approval", || waiting().is_some());
    let plan = waiting().expect("it waits");
    let id = plan["metadata"]["name"].as_str().expect("a name").to_owned();

    // An administrator may create any object, and still in nobody else's name.
    let spec = json!({"plan": id, "digest": plan["spec"]["digest"], "decision": "Approve", "approver": BOB});
    let forged = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodePlanApproval",
        "metadata": {"name": format!("{id}-forged")}, "spec": spec});
    let answer = eyes.api.ask("POST", APPROVALS, Some(&forged)).expect("it answers");
    assert!(!answer.is_done() && answer.body.to_string().contains("and you are "), "{}", answer.body);

    // Who is bound to no role may not even see it; who is bound to the chart's approves it.
    let refused = approves(bed, (BOB, &id));
    assert!(!refused.status.success() && said(&refused).contains("forbidden"), "{}", said(&refused));
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "approvers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "nodeform-approver"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ANN}]});
    eyes.make(BINDINGS, &binding);
    let approved = approves(bed, (ANN, &id));
    assert!(approved.status.success(), "{}", said(&approved));
    eyes.only_the_system_node_is_left();
    let decided: Vec<Value> = eyes.items(APPROVALS);
    assert_eq!(decided.len(), 1, "{decided:?}");
    assert_eq!(decided[0]["spec"]["approver"], ANN);
    eyes.api.merge(&fleet, &json!({"spec": {"approve": null}}));
}

/// Has somebody approve a plan by the command.
fn approves(bed: &Bed, (who, id): (&str, &str)) -> Output {
    let text = std::fs::read_to_string(bed.path("kubeconfig")).expect("it is there");
    let mut kubeconfig: Value = serde_saphyr::from_str(&text).expect("YAML");
    kubeconfig["users"][0]["user"]["as"] = json!(who);
    let path = bed.path(&format!("{who}.json"));
    std::fs::write(&path, kubeconfig.to_string()).expect("it can be written");
    let path = path.display().to_string();
    let arguments = ["approve", id, "--auto-approve", "--kubeconfig", &path];
    bed.command(&arguments).output().expect("it starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
