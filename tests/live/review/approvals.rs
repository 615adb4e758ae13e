//! Plans that people review in the cluster, by the real program: shown, approved in part, rejected by another person.

use serde_json::{Value, json};

use super::Stage;
use super::controller::Reviewed;

/// Whom a kubeconfig lets its owner act as.
fn acts_as(stage: &Stage, who: &str) -> String {
    let text = std::fs::read_to_string(stage.program.kubeconfig()).expect("it is there");
    let mut kubeconfig: Value = serde_json::from_str(&text).expect("JSON");
    kubeconfig["users"][0]["user"]["as"] = json!(who);
    let path = stage.cache.path().join(format!("{who}.json"));
    std::fs::write(&path, kubeconfig.to_string()).expect("it can be written");
    path.display().to_string()
}

/// Waits until a plan waits for an approval; returns its id.
async fn proposed(reviewed: &Reviewed) -> String {
    let review = reviewed.waits_for_review(|review| review["state"] == "Proposed").await;
    let folder = review["folder"].as_str().expect("a name");
    assert!(review["branch"].is_null() && review["page"].is_null(), "{review}");
    folder.rsplit('-').next().expect("an id").to_owned()
}

#[tokio::test]
async fn without_a_repository_a_plan_is_shown_approved_in_part_and_carried_out_and_another_is_rejected() {
    let approve = json!({"replace": "review"});
    let stage = Stage::of_slots().await;
    let reviewed = Reviewed::in_role(stage, json!({"mode": "auto", "approve": approve}), ("all", &[])).await;
    let (stage, program) = (&reviewed.stage, &reviewed.stage.program);
    let before = reviewed.fills(&["a", "b"]).await;
    reviewed.drifts().await;
    let id = proposed(&reviewed).await;
    let status = program.nodeform(&["status"], &[]).await;
    assert!(status.printed.contains(&format!("Waiting for approval: plan `{id}`, replace, ")), "{status:?}");
    let shown = program.nodeform(&["show", &format!("nodeplan/{id}")], &[]).await;
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for vm in &before {
        assert!(shown.printed.contains(vm), "{shown:?}");
    }
    let check = |printed: &str| {
        printed.contains("\nCheck first:\n  - One replica (down until its pod is Ready again): ")
    };
    assert!(check(&shown.printed) && !shown.printed.contains("**"), "{}", shown.printed);
    let asked = program.nodeform(&["approve", &id], &[]).await;
    assert_eq!(asked.code, Some(1), "{asked:?}");
    assert!(asked.said.contains("no terminal") && check(&asked.printed), "{asked:?}");
    let keep = format!("node/{}", before[0]);
    let ann = acts_as(stage, "ann@example.com");
    let approve = ["approve", &id, "--auto-approve", "--keep", &keep, "--kubeconfig", &ann];
    let approved = program.nodeform(&approve, &[]).await;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert!(approved.printed.contains("is approved by ann@example.com"), "{approved:?}");
    let phase = async |id: &str, phase: &str| {
        let path = format!("{}/{id}", nodeform::ledger::PLANS);
        program
            .wait(async || program.kube("GET", &path, &Value::Null).await.1["status"]["phase"] == *phase)
            .await;
    };
    phase(&id, "Done").await;
    let path = format!("{}/{id}", nodeform::ledger::PLANS);
    let plan = program.kube("GET", &path, &Value::Null).await.1;
    let [approval] = plan["status"]["approvals"].as_array().expect("a list").as_slice() else {
        panic!("{plan}")
    };
    let record = approval["record"].as_str().expect("a text");
    assert_eq!(approval["by"], "ann@example.com");
    let name = record.strip_prefix("NodePlanApproval ").expect("a NodePlanApproval");
    let path = format!("{}/{name}", nodeform::ledger::APPROVALS);
    let decided = program.kube("GET", &path, &Value::Null).await.1;
    assert_eq!((&decided["spec"]["plan"], &decided["spec"]["approver"]), (&json!(id), &approval["by"]));
    let expires = plan["spec"]["expiresAt"].as_str().expect("a time");
    assert!(expires.len() == "2026-11-30T00:00:00Z".len() && expires.ends_with('Z'), "{expires}");
    let status = program.nodeform(&["status"], &[]).await;
    assert!(status.printed.contains(&format!("  approved by ann@example.com ({record})\n")), "{status:?}");
    let after = reviewed.vms().await;
    assert!(after.contains(&before[0]) && !after.contains(&before[1]), "{before:?} {after:?}");
    let again = program.nodeform(&approve, &[]).await;
    assert_eq!(again.code, Some(3), "{again:?}");
    assert!(again.said.contains("is finished (result: Done)"), "{again:?}");

    // The node that was kept is proposed again, and this time somebody rejects it.
    let next = proposed(&reviewed).await;
    assert_ne!(next, id);
    let bob = acts_as(stage, "bob@example.com");
    let reject = ["reject", &next, "--reason", "not before the sale ends", "--kubeconfig", &bob];
    let rejected = program.nodeform(&reject, &[]).await;
    assert_eq!(rejected.code, Some(0), "{rejected:?}");
    phase(&next, "Rejected").await;
    let late = program.nodeform(&["approve", &next, "--auto-approve"], &[]).await;
    assert!(late.said.contains("rejected by bob@example.com: not before the sale ends"), "{late:?}");
    assert_eq!(reviewed.vms().await, after);
}
