//! What a controller does of itself: nodes come and go, in mode `auto`.

use serde_json::{Value, json};

use super::Story;

#[tokio::test(start_paused = true)]
async fn pods_get_nodes_and_empty_nodes_go_without_a_command() {
    let mut story = Story::of("auto", 0).await;
    story.wait(|| story.fleet()["status"]["plan"] != Value::Null).await;
    story.scale(5);
    story.runs(5).await;
    assert_eq!(story.claims().len(), 1, "{}", story.said());
    let pods = story.listed("/api/v1/namespaces/default/pods");
    let told = pods.iter().filter(|pod| pod["status"]["nominatedNodeName"].is_string());
    assert!(told.clone().count() > 0, "they were told their node before it took any: {pods:?}");
    told.for_each(|pod| assert_eq!(pod["status"]["nominatedNodeName"], pod["spec"]["nodeName"], "{pod}"));
    story.scale(0);
    story.is_empty().await;
    story.rests().await;
    story.terminated().await;
    let leases = story.listed("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
    let holders: Vec<&Value> = leases.iter().map(|lease| &lease["spec"]["holderIdentity"]).collect();
    assert_eq!(holders, [""], "{leases:?}");
    let (_, secrets) = story.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null);
    assert!(!secrets.to_string().contains("bootstrap-token-"), "{secrets}");
    let plans = story.listed("/apis/nodeform.dev/v1alpha1/nodeplans?labelSelector=%21nodeform.dev%2Fplan");
    let phases: Vec<&Value> = plans.iter().map(|plan| &plan["status"]["phase"]).collect();
    assert_eq!(phases, ["Done", "Done"], "{plans:?}");
    story.judged();
}
