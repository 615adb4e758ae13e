//! Lives of nodes.

use serde_json::json;

use crate::sim::bodies::{self, Vm};
use crate::sim::client::{Client, settings, validate};

#[test]
fn a_node_is_made_of_its_vm_and_goes_with_it() {
    let mut client = Client::new();
    client.put_secret();
    client.kube("POST", "/api/v1/namespaces/default/pods", Some(&bodies::pod("web-1")));
    client.pass(5);
    assert_eq!(client.state("pods", "default/web-1").expect("it is there")["node"], json!(null));

    let vm = Vm::new(&client.world, "aks-apps-1");
    client.make(&vm);
    assert_eq!(client.state("nodes", "aks-apps-1"), None, "it boots first");
    client.pass(90);
    let node = client.kube("GET", "/api/v1/nodes/aks-apps-1", None).value();
    assert_eq!(node["metadata"]["labels"]["karpenter.sh/nodepool"], "apps");
    assert_eq!(node["metadata"]["labels"]["topology.kubernetes.io/zone"], "southcentralus-1");
    assert_eq!(node["metadata"]["labels"]["node.kubernetes.io/instance-type"], "Standard_D4s_v3");
    assert_eq!(
        node["spec"]["providerID"],
        "azure:///subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/mc_rg-demo_demo_southcentralus/providers/Microsoft.Compute/virtualMachines/aks-apps-1"
    );
    assert_eq!(node["spec"]["taints"], json!([{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]));
    assert_eq!(node["status"]["allocatable"]["cpu"], "3860m");
    assert_eq!(node["status"]["allocatable"]["memory"], "12313637683");
    assert_eq!(
        client.state("pods", "default/web-1").expect("it is there")["node"],
        json!(null),
        "the taint keeps it off"
    );

    client.kube("PATCH", "/api/v1/nodes/aks-apps-1", Some(&json!({"spec": {"taints": null}})));
    client.pass(20);
    let pod = client.state("pods", "default/web-1").expect("it is there");
    assert_eq!((&pod["node"], &pod["ready"]), (&json!("aks-apps-1"), &json!("True")));

    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-1", "namespace": "default"}});
    let answer = client.kube("POST", "/api/v1/namespaces/default/pods/web-1/eviction", Some(&eviction));
    assert_eq!(answer.status, 201);
    client.pass(10);
    assert_eq!(client.state("pods", "default/web-1"), None);

    let answer = client.delete_vm("aks-apps-1");
    assert_eq!(answer.status, 202);
    assert_eq!(client.finish(&answer)["status"], "Succeeded");
    let state = client.world.state();
    assert_eq!(
        (&state["virtualMachines"], &state["networkInterfaces"], &state["disks"]),
        (&json!([]), &json!([]), &json!([]))
    );
    assert!(client.state("nodes", "aks-apps-1").is_some(), "nobody has missed it yet");
    client.pass(45);
    assert_eq!(client.state("nodes", "aks-apps-1").expect("it is there")["ready"], "Unknown");
    client.pass(30);
    assert_eq!(client.state("nodes", "aks-apps-1"), None);
    validate(&client.exchanges);
}

#[test]
fn a_wrong_configuration_never_joins_and_the_state_says_why() {
    let changes: [(&str, serde_json::Value, &str); 5] = [
        ("/kubernetesVersion", json!(null), ""),
        (
            "/bootstrappingConfig/tlsBootstrappingToken",
            json!("abcdef.fedcba9876543210"),
            "Secret kube-system/bootstrap-token-abcdef: its `token-secret` is another",
        ),
        (
            "/apiServerConfig/apiServerName",
            json!("elsewhere.example"),
            "`apiServerConfig.apiServerName` is `elsewhere.example`, the cluster's is `demo-dns-",
        ),
        (
            "/clusterConfig/location",
            json!("westeurope"),
            "`clusterConfig.location` is `westeurope`, the cluster's is `southcentralus`",
        ),
        ("/version", json!("v2"), "the node controller reads version `v1` of AKSNodeConfig, not `v2`"),
    ];
    for (pointer, value, because) in changes {
        let mut client = Client::new();
        client.put_secret();
        let mut vm = Vm::new(&client.world, "aks-apps-1");
        *vm.config.pointer_mut(pointer).expect("the field is there") = value;
        client.make(&vm);
        client.pass(120);
        let state = client.world.state();
        let failures = state["notJoined"].as_array().expect("a list");
        match failures.first() {
            Some(failure) => assert!(
                !because.is_empty() && failure["because"].as_str().expect("a reason").starts_with(because),
                "{failure}"
            ),
            None => assert!(because.is_empty(), "{pointer}"),
        }
        assert_eq!(client.state("nodes", "aks-apps-1").is_some(), because.is_empty(), "{pointer}");
    }
}

#[test]
fn a_field_that_the_node_controller_does_not_have_never_joins() {
    let mut client = Client::new();
    client.put_secret();
    let mut vm = Vm::new(&client.world, "aks-apps-1");
    vm.config["kubeletConfig"]["kubeletNodeLabel"] = json!({});
    client.make(&vm);
    client.pass(600);
    assert_eq!(
        client.world.state()["notJoined"][0]["because"],
        "AKSNodeConfig has no field `kubeletConfig.kubeletNodeLabel`"
    );
    assert_eq!(client.world.state()["nodes"], json!([]));
}

#[test]
fn a_kubelet_joins_once_its_token_is_there_and_not_after_its_end() {
    let mut client = Client::new();
    let vm = Vm::new(&client.world, "aks-apps-1");
    client.make(&vm);
    client.pass(120);
    assert_eq!(
        client.world.state()["notJoined"][0]["because"],
        "Secret kube-system/bootstrap-token-abcdef does not exist"
    );
    client.put_secret();
    client.pass(60);
    assert!(client.state("nodes", "aks-apps-1").is_some());
    client.pass(2 * 3600);
    client.sign_in();
    let late = Vm::new(&client.world, "aks-apps-2");
    client.make(&late);
    client.pass(120);
    assert_eq!(
        client.world.state()["notJoined"][0]["because"],
        "Secret kube-system/bootstrap-token-abcdef: it has expired"
    );
}

#[test]
fn nodes_that_stand_on_vms_bring_them_along() {
    let provider = "azure:///subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/mc_rg-demo_demo_southcentralus/providers/Microsoft.Compute/virtualMachines/aks-old";
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "aks-old", "labels": {
            "karpenter.sh/nodepool": "apps", "karpenter.sh/capacity-type": "spot",
            "node.kubernetes.io/instance-type": "Standard_D4s_v3", "topology.kubernetes.io/zone": "southcentralus-2",
        }},
        "spec": {"providerID": provider},
        "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
    });
    let claim = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "old", "annotations": {"nodeform.dev/item": "abc"}}, "status": {"providerID": provider},
    });
    let mut client = Client::with(settings(), vec![node, claim], Vec::new());
    let listed = client
        .arm(
            "GET",
            &format!(
                "{}?api-version=2024-07-01",
                bodies::id(&client.world, "Microsoft.Compute/virtualMachines", "").trim_end_matches('/')
            ),
        )
        .value();
    let vm = &listed["value"][0];
    assert_eq!(
        (&vm["name"], &vm["zones"], &vm["properties"]["priority"]),
        (&json!("aks-old"), &json!(["2"]), &json!("Spot"))
    );
    assert_eq!(
        (&vm["tags"]["karpenter.sh_nodepool"], &vm["tags"]["nodeform.dev_item"]),
        (&json!("apps"), &json!("abc"))
    );
    let answer = client.delete_vm("aks-old");
    client.finish(&answer);
    client.pass(90);
    assert_eq!(client.world.state()["nodes"], json!([]));
    validate(&client.exchanges);
}
