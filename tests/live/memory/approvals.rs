//! Plans that wait in the cluster: what people approve is carried out, without the nodes that they keep, and nothing else of its
//! class is.

use std::time::Duration;

use nodeform::api::node_plan_approval::{ApprovalDecision, NodePlanApprovalSpec};
use nodeform::ledger::{APPROVALS, CHUNKS, PLANS, decision};
use serde_json::{Value, json};

use super::{FLEET, POOLS, Story, names};

/// Nodes without pods go once people have approved it.
const REVIEWED: &str = "auto, approve: {remove-empty: review}";

/// A world with some nodes that have become empty, and the plan that waits to remove them.
async fn with_empty_nodes(pods: usize) -> (Story, Value) {
    let story = Story::of(REVIEWED, pods).await;
    story.runs(pods).await;
    story.rests().await;
    assert!(story.claims().len() > 2, "{}", story.said());
    story.scale(0);
    story.wait(|| in_phase(&story, "Proposed").len() == 1).await;
    let plan = in_phase(&story, "Proposed").remove(0);
    (story, plan)
}

fn in_phase(story: &Story, phase: &str) -> Vec<Value> {
    let plans = story.listed(PLANS).into_iter();
    plans.filter(|plan| plan["spec"]["needsApproval"] == true && plan["status"]["phase"] == *phase).collect()
}

fn name_of(plan: &Value) -> &str {
    plan["metadata"]["name"].as_str().expect("a name")
}

/// Writes what somebody decides; `change` makes it another.
fn decides(story: &Story, plan: &Value, who: &str, change: impl FnOnce(&mut NodePlanApprovalSpec)) -> Value {
    let mut spec = NodePlanApprovalSpec {
        plan: name_of(plan).to_owned(),
        digest: plan["spec"]["digest"].as_str().expect("a digest").to_owned(),
        decision: ApprovalDecision::Approve,
        approver: who.to_owned(),
        reason: None,
        keep: None,
    };
    change(&mut spec);
    let uid = plan["metadata"]["uid"].as_str().expect("a UID");
    let (status, stored) = story.kube("POST", APPROVALS, &decision(spec, uid));
    assert_eq!(status, 201, "{stored}");
    stored
}

fn rejects(spec: &mut NodePlanApprovalSpec) {
    spec.decision = ApprovalDecision::Reject;
    spec.reason = Some("not before the sale ends".to_owned());
}

/// Waits until the plan has ended so, and returns it.
async fn ends(story: &Story, plan: &Value, phase: &str) -> Value {
    let path = format!("{PLANS}/{}", name_of(plan));
    story.wait(|| story.kube("GET", &path, &Value::Null).1["status"]["phase"] == *phase).await;
    story.kube("GET", &path, &Value::Null).1
}

#[tokio::test(start_paused = true)]
async fn empty_nodes_wait_for_an_approval_and_those_that_somebody_keeps_stay() {
    let (mut story, plan) = with_empty_nodes(20).await;
    let before = names(&story.claims());
    tokio::time::sleep(Duration::from_secs(30 * 60)).await;
    assert_eq!(names(&story.claims()), before, "{}", story.said());
    assert_eq!(in_phase(&story, "Proposed"), std::slice::from_ref(&plan), "the same plan stands");
    assert_eq!(plan["status"]["startedAt"], Value::Null, "{plan}");
    let told = plan["status"]["outcomes"].as_object().expect("changes").values();
    assert!(
        told.clone().count() == before.len() && told.clone().all(|it| it["change"].is_string()),
        "{plan}"
    );
    let review = story.fleet()["status"]["reviews"][0].clone();
    assert_eq!(review["state"], "Proposed", "{review}");
    let next = format!("`nodeform approve {}`", name_of(&plan));
    assert!(review["because"].as_str().is_some_and(|because| because.ends_with(&next)), "{review}");
    let keeps = format!("aks-{}", before[0]);
    decides(&story, &plan, "ann", |spec| spec.keep = Some(vec![keeps.clone()]));
    let done = ends(&story, &plan, "Done").await;
    assert_eq!(done["status"]["counts"]["struck"], 1, "{done}");
    story.wait(|| names(&story.claims()) == before[..1]).await;
    assert_eq!(story.vms().len(), 1);
    assert!(story.said().contains("approved by ann"), "{}", story.said());
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn what_somebody_rejects_does_not_happen_and_is_not_proposed_again() {
    let (mut story, plan) = with_empty_nodes(20).await;
    let before = names(&story.claims());
    decides(&story, &plan, "ann", |_| {});
    decides(&story, &plan, "bob", rejects);
    let rejected = ends(&story, &plan, "Rejected").await;
    let ready = &rejected["status"]["conditions"][0];
    assert_eq!(ready["message"], "rejected by bob: not before the sale ends", "{rejected}");
    // Also by a controller that has just started.
    for restarts in [false, true] {
        if restarts {
            story.killed();
            story.starts();
        }
        tokio::time::sleep(Duration::from_secs(1_800)).await;
        assert_eq!((in_phase(&story, "Proposed"), names(&story.claims())), (Vec::new(), before.clone()));
    }
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn an_approved_plan_goes_on_after_its_controller_has_died_and_stops_once_somebody_rejects_it() {
    let (mut story, plan) = with_empty_nodes(40).await;
    let all = story.claims().len();
    let one = json!({"spec": {"disruption": {"budgets": [{"nodes": "1"}]}}});
    assert_eq!(story.patch(&format!("{POOLS}/general-purpose"), &one).0, 200);
    decides(&story, &plan, "ann", |_| {});
    story.wait(|| story.claims().len() < all).await;
    story.killed();
    let left = story.claims().len();
    story.starts();
    story.wait(|| story.claims().len() < left).await;
    decides(&story, &plan, "ann", rejects);
    let withdrawn = ends(&story, &plan, "Withdrawn").await;
    story.rests().await;
    let (left, outcomes) = (story.claims().len(), withdrawn["status"]["outcomes"].to_string());
    assert!(left > 0 && outcomes.contains("ann rejected it"), "{left} nodes, {withdrawn}");
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(story.claims().len(), left, "{}", story.said());
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn a_decision_about_another_plan_or_by_words_of_its_own_lets_nothing_begin() {
    let (mut story, plan) = with_empty_nodes(20).await;
    let before = names(&story.claims());
    decides(&story, &plan, "ann", |_| {});
    let other = plan["spec"]["digest"].as_str().expect("a digest").replace(['1', '2', '3', '4'], "0");
    let stored = decides(&story, &plan, "bob", |spec| spec.digest = other);
    let said = |word: &str| story.fleet()["status"]["reviews"].to_string().contains(word);
    story.wait(|| said("has the digest of another plan")).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(names(&story.claims()), before, "{}", story.said());
    let name = stored["metadata"]["name"].as_str().expect("a name");
    assert_eq!(story.kube("DELETE", &format!("{APPROVALS}/{name}"), &Value::Null).0, 200);
    ends(&story, &plan, "Done").await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_nobody_can_look_at_any_more_is_not_carried_out_whoever_approves_it() {
    let (mut story, plan) = with_empty_nodes(20).await;
    let before = names(&story.claims());
    // The controller has read it by then.
    tokio::time::sleep(Duration::from_secs(120)).await;
    let chunks = story.listed(CHUNKS).into_iter();
    let own = chunks.filter(|chunk| chunk["metadata"]["labels"]["nodeform.dev/plan"] == *name_of(&plan));
    let own: Vec<Value> = own.collect();
    assert!(!own.is_empty());
    for chunk in own {
        let path = format!("{CHUNKS}/{}", chunk["metadata"]["name"].as_str().expect("a name"));
        assert_eq!(story.kube("DELETE", &path, &Value::Null).0, 200);
    }
    decides(&story, &plan, "ann", |_| {});
    let withdrawn = ends(&story, &plan, "Withdrawn").await;
    assert!(
        withdrawn["status"]["conditions"][0].to_string().contains("its NodePlanChunks cannot be read"),
        "{withdrawn}"
    );
    assert_eq!(names(&story.claims()), before, "{}", story.said());
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_longer_reviewed_happens_by_itself_and_nobody_is_asked_any_more() {
    let (mut story, plan) = with_empty_nodes(20).await;
    assert_eq!(story.patch(FLEET, &json!({"spec": {"approve": null}})).0, 200);
    story.is_empty().await;
    let withdrawn = ends(&story, &plan, "Withdrawn").await;
    assert!(withdrawn["status"]["conditions"][0].to_string().contains("no longer reviewed"), "{withdrawn}");
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_rejection_counts_though_the_plan_has_ended_in_the_same_moment() {
    let (mut story, plan) = with_empty_nodes(20).await;
    let before = names(&story.claims());
    let status = json!({"status": {"phase": "Withdrawn", "finishedAt": "2026-01-05T09:30:00Z"}});
    assert_eq!(story.patch(&format!("{PLANS}/{}/status", name_of(&plan)), &status).0, 200);
    decides(&story, &plan, "bob", rejects);
    ends(&story, &plan, "Rejected").await;
    tokio::time::sleep(Duration::from_secs(1_800)).await;
    assert_eq!((in_phase(&story, "Proposed"), names(&story.claims())), (Vec::new(), before));
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn an_approved_plan_that_is_rejected_before_a_freeze_lets_it_begin_does_not_come_back() {
    let (mut story, plan) = with_empty_nodes(20).await;
    let before = names(&story.claims());
    let freeze = |freeze: Value| assert_eq!(story.patch(FLEET, &json!({"spec": {"freeze": freeze}})).0, 200);
    freeze(json!([{"name": "friday"}]));
    decides(&story, &plan, "ann", |_| {});
    ends(&story, &plan, "Applying").await;
    decides(&story, &plan, "bob", rejects);
    ends(&story, &plan, "Withdrawn").await;
    freeze(Value::Null);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!((in_phase(&story, "Proposed"), names(&story.claims())), (Vec::new(), before));
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_hangs_is_taken_back_once_somebody_rejects_its_plan() {
    let (mut story, plan) = with_empty_nodes(20).await;
    let claims = story.claims();
    for claim in &claims {
        let attachment = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": claim["metadata"]["name"]},
            "spec": {
                "attacher": "disk.csi.azure.com", "nodeName": claim["status"]["nodeName"],
                "source": {"persistentVolumeName": "stuck"},
            },
            "status": {"attached": true},
        });
        let (status, said) = story.kube("POST", "/apis/storage.k8s.io/v1/volumeattachments", &attachment);
        assert_eq!(status, 201, "{said}");
    }
    decides(&story, &plan, "ann", |_| {});
    let nothing = [Value::Null, Value::Null, json!([])];
    let is_tainted = |claim: &Value| story.begun_removal(claim)[2] != json!([]);
    story.wait(|| claims.iter().any(is_tainted)).await;
    decides(&story, &plan, "bob", rejects);
    let withdrawn = ends(&story, &plan, "Withdrawn").await;
    assert!(withdrawn["status"]["outcomes"].to_string().contains("bob rejected it"), "{withdrawn}");
    tokio::time::sleep(Duration::from_secs(1_200)).await;
    assert_eq!(names(&story.claims()), names(&claims), "{}", story.said());
    for claim in &claims {
        assert_eq!(story.begun_removal(claim), nothing, "{}", story.said());
    }
    story.terminated().await;
    story.judged();
}
