//! Many nodes at once.

use serde_json::{Value, json};

use crate::sim::bodies::Vm;
use crate::sim::client::{Client, settings};

/// Nodes; what a rollout at once may make (`--parallelism` and waves keep it lower).
const NODES: usize = 60;

#[test]
fn many_nodes_join_and_their_pods_run() {
    let quotas = [("standardDSv3Family".to_owned(), 1_000_000), ("cores".to_owned(), 1_000_000)].into();
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": NODES * 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "tolerations": [{"key": "karpenter.sh/unregistered", "operator": "Exists"}],
                    "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
                },
            },
        },
    });
    let mut client =
        Client::with(nodeform::sim::SimulatedAzure { quotas, ..settings() }, vec![deployment], Vec::new());
    client.put_secret();
    for at in 0..NODES {
        if at % 100 == 0 {
            client.sign_in();
        }
        let vm = Vm::new(&client.world, &format!("aks-apps-{at}"));
        assert_eq!(client.ask_for(&vm).status, 201);
    }
    client.sign_in();
    for _ in 0..600 {
        client.pass(1);
    }
    let state = client.world.state();
    let ready = |list: &str| {
        state[list].as_array().expect("a list").iter().filter(|entry| entry["ready"] == "True").count()
    };
    assert_eq!((ready("nodes"), ready("pods")), (NODES, NODES * 3), "{}", Value::clone(&state["notJoined"]));
}
