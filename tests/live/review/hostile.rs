//! Servers and repositories that mean harm: one message with object, cause and next step, and no token where it is not due.

use super::forge::{Forge, TOKEN};
use super::{CREATE, Stage};

#[tokio::test]
async fn credentials_stay_with_their_server() {
    let stage = Stage::start().await;
    let other = Forge::start().await;
    let ran = stage.run_on(&stage.forge.url_that_leads_to(&other), &["propose", "--live"]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.said.contains("leads to another address, which is not followed"), "{}", ran.said);
    assert!(other.asked().is_empty(), "{:?}", other.asked());
    assert!(stage.forge.asked().iter().any(|asked| asked.authorization.is_some()));

    let strange = [("NODEFORM_GIT_TOKEN", "canary-other")];
    let ran = stage.run_with(&stage.forge.url(), &["propose", "--live"], &strange).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.said.contains("refuses to ls-remote") && ran.said.contains("hint: set NODEFORM_GIT_TOKEN"),
        "{}",
        ran.said
    );
    assert!(!ran.said.contains("canary-other"), "{}", ran.said);
    let ran = stage.run_on(&format!("{}x", stage.forge.url()), &["propose", "--live"]).await;
    assert!(ran.said.contains("is not there, or not for these credentials"), "{}", ran.said);
    for asked in stage.forge.asked() {
        assert!(!asked.path.contains(TOKEN), "{asked:?}");
    }
}

#[tokio::test]
async fn what_lies_beside_plans_is_left_alone_and_strange_folders_are_refused_by_name() {
    let stage = Stage::start().await;
    stage.forge.write("nodeform/plans/README.md", "Plans\n");
    stage.forge.write("nodeform/plans/2026-11/notes.txt", "What is this?\n");
    stage.forge.write("nodeform/plans/2026-11/create-aaaaaaaaaa/PLAN.md", "# ok\n");
    std::os::unix::fs::symlink(
        "/etc/passwd",
        stage.forge.path("nodeform/plans/2026-11/create-aaaaaaaaaa/plan.jsonc"),
    )
    .expect("a link");
    stage.forge.commit("Strange");
    let ran = stage.apply().await;
    assert_eq!(ran.code, Some(3), "{ran:?}");
    for said in ["`2026-11/notes.txt` is not a plan folder name", "`plan.jsonc` is no plain file"] {
        assert!(ran.said.contains(said), "{}", ran.said);
    }
    assert!(!ran.said.contains("root:"), "{}", ran.said);
    assert_eq!(stage.machines().await, (0, 0));
}

#[tokio::test]
async fn a_branch_that_somebody_else_committed_to_is_left_alone_until_it_is_merged() {
    let stage = Stage::start().await;
    stage.propose(&["--class", "create"]).await;
    let branch = stage.forge.proposed(CREATE);
    stage.forge.git(&["checkout", "--quiet", "-b", "own", &format!("origin/{branch}")]);
    stage.forge.git(&["commit", "--quiet", "--allow-empty", "--message", "Mine"]);
    stage.forge.git(&["push", "--quiet", "origin", &format!("own:{branch}")]);
    stage.forge.git(&["checkout", "--quiet", "main"]);
    let before = stage.forge.branches();
    stage.scale(9).await;
    let ran = stage.run(&["propose", "--live", "--class", "create"]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.said.contains("has a commit that nodeform did not make"), "{}", ran.said);
    assert_eq!(stage.forge.branches(), before);
    stage.forge.merge(CREATE);
    stage.propose(&["--class", "create"]).await;
}
