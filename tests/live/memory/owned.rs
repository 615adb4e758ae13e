//! Whatever fails, each NodeClaim, VM and network interface has an owner, and what is not ours stays.

use std::time::Duration;

use serde_json::{Value, json};

use nodeform::azure_sim::Delivery;

use super::{CLAIMS, Story, names, running};

const VERSION: &str = "api-version=2024-07-01";
const MINUTE: Duration = Duration::from_secs(60);

/// Every NodeClaim has its VM and its network interface, and there are no others.
fn one_of_each(story: &Story, nodes: usize) {
    let state = story.state();
    let counts = ["virtualMachines", "networkInterfaces"].map(|kind| state[kind].as_array().map(Vec::len));
    assert_eq!((counts, story.claims().len()), ([Some(nodes); 2], nodes), "{state:#}\n{}", story.said());
}

fn node_of(story: &Story) -> Value {
    let nodes = story.listed("/api/v1/nodes").into_iter();
    let mut ours = nodes.filter(|node| node["metadata"]["labels"]["karpenter.sh/nodepool"].is_string());
    ours.next().expect("a node of the pool")
}

#[tokio::test(start_paused = true)]
async fn a_role_that_is_narrowed_and_widened_again_leaves_nothing_and_holds_nothing_up() {
    let cases = [
        json!({"method": "PATCH", "resource": "nodeclaims/status"}),
        json!({"method": "PUT", "resource": "virtualMachines"}),
        json!({"method": "POST", "resource": "secrets"}),
    ];
    for when in cases {
        let mut story = Story::of("auto", 5).await;
        story.fault(&json!({"kind": "Refused", "times": 10, "code": "AuthorizationFailed", "when": when}));
        story.runs(5).await;
        story.rests().await;
        one_of_each(&story, 1);
        story.scale(0);
        story.is_empty().await;
        story.terminated().await;
    }
}

/// The only VM that there is, by its id in Azure.
fn vm_id(story: &Story) -> String {
    let name = story.vms().remove(0);
    let group = story.world.seen(|world| {
        let settings = world.settings();
        let (cluster, location) = (&settings.cluster, &settings.location);
        let group = format!("MC_{}_{}_{location}", cluster.resource_group, cluster.name);
        format!("/subscriptions/{}/resourceGroups/{group}", settings.subscription)
    });
    format!("{group}/providers/Microsoft.Compute/virtualMachines/{name}")
}

#[tokio::test(start_paused = true)]
async fn a_vm_whose_tags_somebody_replaces_while_it_is_made_is_never_deleted() {
    let mut story = Story::of("auto", 5).await;
    story.wait(|| !story.vms().is_empty()).await;
    let name = story.vms().remove(0);
    let claim = story.claims().remove(0);
    let tags = json!({"tags": {"owner": "somebody"}});
    let (status, answer) = story.arm("PATCH", &format!("{}?{VERSION}", vm_id(&story)), &tags);
    assert!(status < 300, "{answer} of {claim}");
    story.runs(5).await;
    tokio::time::sleep(30 * MINUTE).await;
    assert!(story.vms().contains(&name), "it stays: {}", story.said());
    story.scale(0);
    story.wait(|| story.claims().is_empty()).await;
    tokio::time::sleep(30 * MINUTE).await;
    assert_eq!(story.vms(), [name], "{}", story.said());
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_vm_whose_tags_somebody_writes_in_capitals_while_it_is_made_joins_and_goes_like_any_other() {
    let mut story = Story::of("auto", 5).await;
    story.wait(|| !story.vms().is_empty()).await;
    let (name, vm) = (story.vms().remove(0), format!("{}?{VERSION}", vm_id(&story)));
    let (_, found) = story.arm("GET", &vm, &Value::Null);
    let tags = found["tags"].as_object().expect("it has tags").iter();
    let tags: serde_json::Map<String, Value> =
        tags.map(|(key, value)| (key.to_ascii_uppercase(), value.clone())).collect();
    // Azure keeps the case of a tag that exists: the old ones go first.
    for tags in [json!({}), Value::Object(tags)] {
        let (status, answer) = story.arm("PATCH", &vm, &json!({"tags": tags}));
        assert!(status < 300, "{answer}");
    }
    story.runs(5).await;
    tokio::time::sleep(30 * MINUTE).await;
    assert_eq!(story.vms(), [name], "{}", story.said());
    one_of_each(&story, 1);
    story.scale(0);
    story.is_empty().await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_vm_whose_node_claim_and_node_somebody_removed_by_force_is_collected() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    let vm = story.vms().remove(0);
    let node = node_of(&story);
    let claim = story.claims().remove(0);
    story.forced_away(&format!("{CLAIMS}/{}", claim["metadata"]["name"].as_str().expect("a name")));
    story.forced_away(&format!("/api/v1/nodes/{}", node["metadata"]["name"].as_str().expect("a name")));
    tokio::time::sleep(MINUTE).await;
    assert!(story.vms().contains(&vm), "it has had no NodeClaim for a minute only");
    story.wait(|| !story.vms().contains(&vm)).await;
    story.runs(5).await;
    story.rests().await;
    one_of_each(&story, 1);
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_somebody_removed_by_force_is_no_room_and_its_vm_goes() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    let vm = story.vms().remove(0);
    let node = node_of(&story);
    story.forced_away(&format!("/api/v1/nodes/{}", node["metadata"]["name"].as_str().expect("a name")));
    story.wait(|| !story.vms().contains(&vm)).await;
    story.runs(5).await;
    story.rests().await;
    // The claim goes once it is sure that nothing of its VM is left.
    story.wait(|| story.claims().len() == 1).await;
    one_of_each(&story, 1);
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_startup_taint_goes_late_is_initialized_then_and_can_be_removed() {
    let mut story = Story::of("auto", 0).await;
    let taint = json!({"key": "example.com/agent", "value": "true", "effect": "NoSchedule"});
    let pool = "/apis/karpenter.sh/v1/nodepools/general-purpose";
    let spec = json!({"spec": {"template": {"spec": {"startupTaints": [taint]}}}});
    assert_eq!(story.patch(pool, &spec).0, 200);
    story.scale(5);
    story.wait(|| !story.vms().is_empty()).await;
    tokio::time::sleep(25 * MINUTE).await;
    story.rests().await;
    one_of_each(&story, 1);
    assert!(
        story.fleet()["status"].to_string().contains("example.com/agent"),
        "{:#}",
        story.fleet()["status"]
    );
    let node = node_of(&story);
    let path = format!("/api/v1/nodes/{}", node["metadata"]["name"].as_str().expect("a name"));
    assert_eq!(story.patch(&path, &json!({"spec": {"taints": []}})).0, 200);
    story.runs(5).await;
    story.wait(|| node_of(&story)["metadata"]["labels"]["karpenter.sh/initialized"] == "true").await;
    one_of_each(&story, 1);
    story.scale(0);
    story.is_empty().await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_others_write_to_all_the_time_joins_and_goes_all_the_same() {
    const BEAT: Duration = Duration::from_millis(400);
    let mut story = Story::of("auto", 5).await;
    // Answers take so long that what they say is never the newest.
    story.process().line.deliver(|_| Delivery::Answered(Duration::from_millis(1_500)));
    let beats = |story: &Story, beat: usize| {
        for node in names(&story.listed("/api/v1/nodes")) {
            let beat = json!({"metadata": {"annotations": {"agent/beat": beat.to_string()}}});
            story.patch(&format!("/api/v1/nodes/{node}"), &beat);
        }
    };
    let is_busy = |story: &Story| running(&story.state()) < 5;
    for beat in (0..1_500).take_while(|_| is_busy(&story)) {
        beats(&story, beat);
        tokio::time::sleep(BEAT).await;
    }
    assert_eq!(running(&story.state()), 5, "{}", story.said());
    story.scale(0);
    for beat in (0..4_500).take_while(|_| !story.claims().is_empty()) {
        beats(&story, beat);
        tokio::time::sleep(BEAT).await;
    }
    assert_eq!(story.claims(), [] as [Value; 0], "{}", story.said());
    story.terminated().await;
    story.judged();
}
