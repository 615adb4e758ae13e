//! Servers and repositories that mean harm: one message with object, cause and next step, and no token where it is not due.

use std::os::unix::fs::PermissionsExt as _;

use super::forge::{Forge, TOKEN};
use super::{CREATE, Stage, done};

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
        ran.said
            .contains(": the token was not accepted (401)\nhint: check that the token of NODEFORM_GIT_TOKEN"),
        "{}",
        ran.said
    );
    let ran = stage.run_with(&stage.forge.url(), &["apply", "--merged"], &[]).await;
    assert!(
        ran.said.contains("requires a token (401), and none is set\nhint: set NODEFORM_GIT_TOKEN"),
        "{ran:?}"
    );
    assert!(!ran.said.contains("canary-other"), "{}", ran.said);
    let ran = stage.run_on(&format!("{}x", stage.forge.url()), &["propose", "--live"]).await;
    assert!(ran.said.contains("is not there, or the token may not see it (404)"), "{}", ran.said);
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
    for said in ["`2026-11/notes.txt` is not a plan folder name", "`plan.jsonc` is not a plain file"] {
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
    assert!(ran.said.contains("has a commit by somebody else"), "{}", ran.said);
    assert_eq!(stage.forge.branches(), before);
    stage.forge.merge(CREATE);
    stage.propose(&["--class", "create"]).await;
}

#[tokio::test]
async fn a_certificate_that_is_not_known_is_told_and_trusted_by_ssl_cert_file() {
    let mut stage = Stage::start().await;
    stage.forge = Forge::with_tls().await;
    let propose = ["propose", "--live", "--class", "create"];
    let unknown = stage.run(&propose).await;
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    let told = [
        "the certificate of `https://",
        "` is not trusted: ",
        "\nhint: set SSL_CERT_FILE to a file",
        "CA certificate",
    ];
    assert!(told.iter().all(|told| unknown.said.contains(told)), "{}", unknown.said);
    assert!(stage.forge.asked().is_empty(), "{:?}", stage.forge.asked());
    let ca = stage.forge.ca().display().to_string();
    let known = [("NODEFORM_GIT_TOKEN", TOKEN), ("SSL_CERT_FILE", ca.as_str())];
    done(&stage.run_with(&stage.forge.url(), &propose, &known).await);
}

/// A `git` that writes down with which arguments it is started.
fn recorded_git(folder: &std::path::Path) -> String {
    let (path, record) = (std::env::var("PATH").expect("a path"), folder.join("arguments"));
    let script =
        format!("#!/bin/sh\nprintf '%s ' \"$@\" >>'{}'\nPATH='{path}' exec git \"$@\"\n", record.display());
    let program = folder.join("git");
    std::fs::write(&program, script).expect("it can be written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be set");
    format!("{}:{path}", folder.display())
}

/// Every object of the repositories below a folder, and every file but objects.
fn held(folder: &std::path::Path, all: &mut String) {
    if folder.join("objects").is_dir() {
        let arguments = ["cat-file", "--batch-all-objects", "--batch"];
        let output = std::process::Command::new("git").arg("--git-dir").arg(folder).args(arguments).output();
        all.push_str(&String::from_utf8_lossy(&output.expect("git starts").stdout));
    }
    for entry in std::fs::read_dir(folder).expect("it can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            held(&path, all);
        } else {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).expect("it can be read")));
        }
    }
}

#[tokio::test]
async fn neither_token_nor_header_nor_password_appears_in_what_is_said_written_started_or_stored() {
    let stage = Stage::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = recorded_git(folder.path());
    let variables = [("PATH", path.as_str()), ("NODEFORM_GIT_TOKEN", TOKEN), ("NODEFORM_LOG", "trace")];
    let mut all = String::new();
    let url = stage.forge.url();
    for arguments in [&["propose", "--live", "--class", "create"][..], &["apply", "--merged"], &["status"]] {
        let ran = match arguments {
            ["status"] => stage.program.nodeform(arguments, &variables).await,
            _ => stage.run_with(&url, arguments, &variables).await,
        };
        done(&ran);
        all.extend([ran.printed, ran.said]);
        if arguments[0] == "propose" {
            stage.forge.merge(CREATE);
        }
    }
    let bare = url.trim_start_matches("http://");
    for strange in [
        format!("http://me:canary-password@{bare}"),
        format!("{url}?token=canary-password"),
        format!("{url}?access_token=canary-password&x=y"),
        format!("me:canary-password@{bare}"),
    ] {
        let ran = stage.run_with(&strange, &["apply", "--merged"], &variables).await;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.said.contains("cannot be used as the repository: ") && ran.said.contains("hint: "),
            "{ran:?}"
        );
        all.extend([ran.printed, ran.said]);
    }
    for list in ["nodeplans", "nodeplanchunks", "nodefleets"] {
        let path = format!("/apis/nodeform.dev/v1alpha1/{list}");
        all.push_str(&stage.program.kube("GET", &path, &serde_json::Value::Null).await.1.to_string());
    }
    held(folder.path(), &mut all);
    held(stage.cache.path(), &mut all);
    held(&stage.forge.served(), &mut all);
    assert!(all.contains("ls-remote") && all.contains("PLAN.md"), "it is looked at where a secret would be");
    let header = data_encoding::BASE64.encode(format!("nodeform:{TOKEN}").as_bytes());
    for canary in [TOKEN, "canary-password", &header] {
        let at = all.find(canary);
        assert!(at.is_none(), "{canary} after {:?}", at.map(|at| all.get(at.saturating_sub(200)..at)));
    }
}
