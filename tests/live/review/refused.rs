//! Folders that are not as they were proposed, or of another time or cluster: nothing of them is done.

use super::{CREATE, Stage, WORLD};
use crate::program::Ran;

/// Expects a refusal of one plan, by this cause, without an effect.
async fn refused(stage: &Stage, because: &str) -> Ran {
    let ran = stage.apply().await;
    assert_eq!(ran.code, Some(3), "{because}: {ran:?}");
    assert!(ran.said.contains("is not applied: ") && ran.said.contains(because), "{because}: {}", ran.said);
    assert!(ran.said.contains("\nhint: "), "{}", ran.said);
    assert_eq!(stage.machines().await, (0, 0), "{because}");
    ran
}

#[tokio::test]
async fn whatever_is_edited_but_struck_lines_makes_a_plan_invalid() {
    let stage = Stage::start().await;
    let folder = stage.propose(&["--class", "create"]).await;
    stage.forge.squash(CREATE);
    let file = |name: &str| format!("{folder}/{name}");
    let (plan, page) = (stage.forge.read(&file("plan.jsonc")), stage.forge.read(&file("PLAN.md")));
    let edits: [(&str, String, &str); 7] = [
        (
            "plan.jsonc",
            plan.replacen("\"expiresAt\": \"20", "\"expiresAt\": \"21", 1),
            "`plan.jsonc` holds no plan",
        ),
        ("plan.jsonc", plan.replacen("general-purpose", "general-purposf", 1), "`plan.jsonc` holds no plan"),
        (
            "plan.jsonc",
            plan.replacen("\"evidence\": {", "\"evidence\": {\"aaa\":1,", 1),
            "`evidence` was modified after the plan was created",
        ),
        ("plan.jsonc", "{".to_owned(), "`plan.jsonc` holds no plan"),
        ("PLAN.md", page.replacen("1 is created", "none is created", 1), "line 3 of `PLAN.md`"),
        ("destroy.txt", "- node/aks-system-12345678-vmss000000\n".to_owned(), "line 1 of `destroy.txt`"),
        ("create.yaml", String::new(), "`create.yaml` does not belong in a plan folder"),
    ];
    for (name, text, because) in edits {
        stage.forge.write(&file(name), &text);
        stage.forge.commit("Edited");
        refused(&stage, because).await;
        stage.forge.git(&["revert", "--no-edit", "HEAD"]);
    }
    let parts: Vec<&str> = folder.rsplit('/').collect();
    let month = |month: &str| folder.replace(parts[1], month);
    for (there, because) in [
        (folder.replace("create-", "replace-"), "the folder is called"),
        (month("2999-01"), "the folder is called"),
        (month("2026-13"), "is in `2026-13`, which is not a month"),
        (format!("nodeform/plans/{}", parts[0]), "is in `plans`, which is not a month"),
    ] {
        let local = stage.forge.path(&there);
        std::fs::create_dir_all(local.parent().expect("a folder")).expect("it can be made");
        std::fs::rename(stage.forge.path(&folder), &local).expect("it can be moved");
        stage.forge.commit("Moved");
        refused(&stage, because).await;
        let verified = stage.program.nodeform(&["verify", &local.display().to_string()], &[]).await;
        let is_in_place = there.ends_with(&format!("plans/{}", parts[0]));
        assert_eq!(verified.code, Some(if is_in_place { 0 } else { 3 }), "{there}: {verified:?}");
        assert!(is_in_place || verified.said.contains("the folder is called"), "{there}: {verified:?}");
        stage.forge.git(&["revert", "--no-edit", "HEAD"]);
    }
    stage.forge.git(&["push", "--quiet", "origin", "main"]);
    let applied = stage.apply().await;
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(stage.machines().await, (1, 1));
}

#[tokio::test]
async fn a_plan_of_another_cluster_is_counted_and_one_that_is_late_is_refused_once() {
    let stage = Stage::start().await;
    let world = WORLD
        .replace("  location: westeurope\n", "  location: westeurope\n  cluster: {name: other}\n")
        .replace("_demo_westeurope", "_other_westeurope");
    let own = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, uid: 2b0d7b3d-3c1f-4f3e-9d1a-5a6b7c8d9e0f}\n";
    let world = format!("{world}\n{own}");
    let other = crate::program::Program::of(&world, &["--speed", "60"]).await;
    stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    let elsewhere = Stage { program: other, forge: stage.forge, cache: stage.cache };
    let skipped = elsewhere.apply().await;
    assert_eq!(skipped.code, Some(0), "{skipped:?}");
    assert!(skipped.said.contains("Skipped: 1 plan, of other clusters"), "{skipped:?}");
    assert_eq!(elsewhere.machines().await.0, 0, "{skipped:?}");

    let stage = Stage::start().await;
    let folder = stage.propose(&["--class", "create", "--valid-for", "1s"]).await;
    stage.forge.merge(CREATE);
    let proposed = std::time::Instant::now();
    stage.program.wait(async || proposed.elapsed().as_secs() >= 1).await;
    let late = refused(&stage, "the plan expired at").await;
    let hint = "hint: propose again with `nodeform propose --live --class create`, and remove the folder";
    assert!(late.said.contains(hint), "{}", late.said);
    assert!(!late.said.contains("plan --live"), "{}", late.said);
    let folder = stage.forge.path(&folder).display().to_string();
    let verified = stage.program.nodeform(&["verify", &folder], &[]).await;
    assert_eq!((verified.code, verified.printed.as_str()), (Some(3), ""), "{verified:?}");
    assert!(verified.said.contains("the plan expired at 20") && verified.said.contains(hint), "{verified:?}");
    let again = stage.apply().await;
    assert_eq!(again.code, Some(0), "it is told once: {again:?}");
    assert!(again.said.contains("Skipped: 1 plan, expired"), "{again:?}");
}
