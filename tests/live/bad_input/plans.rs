//! Plans that are not as they were made, or not for this cluster, or not any more.

use super::{Told, nothing_is_written};
use crate::program::Program;

const AGAIN: &str = "plan again: `nodeform plan --live --out plan.json`";

/// A plan of a cluster, and its text.
async fn saved(program: &Program, folder: &std::path::Path, arguments: &[&str]) -> (String, String) {
    let file = folder.join("plan.json").display().to_string();
    let ran = program.nodeform(&[&["plan", "--live", "--out", &file], arguments].concat(), &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = std::fs::read_to_string(&file).expect("it was saved");
    (file, text)
}

#[tokio::test]
async fn a_file_that_is_no_plan_or_was_edited_is_refused_with_what_is_wrong_with_it() {
    let program = Program::of(super::WORLD, &[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let (_, plan) = saved(&program, folder.path(), &[]).await;
    let edited = |from: &str, to: &str| {
        assert!(plan.contains(from), "{from}");
        plan.replacen(from, to, 1).into_bytes()
    };
    let (made, give) = ("make the plan again with ", "give a file that `nodeform plan");
    let cases: [(&str, Vec<u8>, i32, &str, &str); 9] = [
        ("edited", edited("Standard_D", "Standard_E"), 3, "the plan was changed after it was made: ", made),
        (
            "evidence",
            edited("\"evidence\": {", "\"evidence\": {\"aaa\":1,"),
            3,
            "`evidence` was modified after the plan was created",
            made,
        ),
        (
            "longer",
            edited("\"expiresAt\": \"20", "\"expiresAt\": \"21"),
            3,
            "the plan was changed after it was made: ",
            made,
        ),
        (
            "older",
            edited("nodeform.dev/v1alpha2", "nodeform.dev/v1alpha1"),
            1,
            "it is a plan in the format `nodeform.dev/v1alpha1`, and this version of nodeform reads `nodeform.dev/v1alpha2`",
            "",
        ),
        ("cut", plan.as_bytes()[..plan.len() / 2].to_vec(), 1, "the plan is not JSON: EOF while parsing", ""),
        ("empty", Vec::new(), 1, "there is nothing in it", give),
        (
            "bytes",
            vec![0xff, 0xfe, b'{', b'}'],
            1,
            "it is not UTF-8 text",
            "name a file that `nodeform plan --out` has written",
        ),
        ("list", b"[]".to_vec(), 1, "it is JSON and no plan", give),
        (
            "pod",
            b"{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}".to_vec(),
            1,
            "the document is `Pod` of `v1`, not `Plan` of",
            give,
        ),
    ];
    for (name, bytes, exit, says, hint) in cases {
        let file = folder.path().join(format!("{name}.json")).display().to_string();
        std::fs::write(&file, bytes).expect("it can be written");
        let told = Told { exit, says: &[&format!("`{file}`"), says], hint };
        told.by(&program, &["apply", &file], &[]).await;
    }
    nothing_is_written(&program).await;
}

#[tokio::test]
async fn a_plan_of_another_cluster_is_refused_before_anything_of_that_is_read() {
    let here = Program::of(super::WORLD, &[]).await;
    let elsewhere =
        super::world("  cluster: {name: other}\n").replace("_demo_westeurope", "_other_westeurope");
    let elsewhere = Program::of(&elsewhere, &[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let (file, _) = saved(&here, folder.path(), &[]).await;
    let told = Told {
        exit: 3,
        says: &[
            "the plan is of cluster `",
            "/managedClusters/demo",
            "and this one is `",
            "/managedClusters/other",
        ],
        hint: "name the cluster of the plan by `--context`, `-g` and `--cluster-name`",
    };
    told.by(&elsewhere, &["apply", &file], &[]).await;
    nothing_is_written(&elsewhere).await;
    nothing_is_written(&here).await;
}

#[tokio::test]
async fn a_plan_that_is_late_spent_or_not_of_a_live_cluster_is_refused() {
    let program = Program::of(super::WORLD, &["--speed", "600"]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let (file, _) = saved(&program, folder.path(), &["--valid-for", "1s"]).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let late = Told { exit: 3, says: &["the plan expired at 20"], hint: AGAIN };
    late.by(&program, &["apply", &file], &[]).await;
    let offline = folder.path().join("offline.json").display().to_string();
    let root =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart").display().to_string();
    let ran = program.nodeform(&["plan", &root, "--out", &offline], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = Told {
        exit: 3,
        says: &["the plan was not made from a live cluster, so it does not say which VMs are meant"],
        hint: "plan from the cluster: `nodeform plan --live --out plan.json`",
    };
    told.by(&program, &["apply", &offline], &[]).await;
    nothing_is_written(&program).await;
    let (file, _) = saved(&program, folder.path(), &[]).await;
    let ran = program.nodeform(&["apply", &file], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let spent = Told { exit: 3, says: &["was already applied (result: Done)"], hint: AGAIN };
    spent.by(&program, &["apply", &file], &[]).await;
}
