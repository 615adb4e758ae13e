//! Plans that people review lie in repositories beside manifests: whoever reads those reads no plan.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{aside, empty_folder, out, root, start};

const PLANS: [&str; 3] =
    ["2026-10/replace-aaaaaaaaaa", "2026-11/create-bbbbbbbbbb", "2026-11/move-pods-cccccccccc"];

/// A repository of one application, with three plans that were merged.
fn repository(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = empty_folder(name);
    for example in ["inflate.yaml", "nodepool.yaml"] {
        let from = root().join("examples/quickstart").join(example);
        std::fs::copy(from, folder.join(example)).expect("an example");
    }
    for plan in PLANS {
        let folder = folder.join("nodeform/plans").join(plan);
        std::fs::create_dir_all(&folder).expect("it can be made");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("it can be written");
        }
    }
    folder
}

const PLAN: &str = "{\"apiVersion\": \"nodeform.dev/v1alpha1\", \"kind\": \"Plan\", \"spec\": {}}\n";
const PAGE: &str = "# Plan\n";
const DESTROYS: &str = "- node/aks-a-1  # small, ~$10/month, no pods\n";
const FILES: [(&str, &str); 3] = [("PLAN.md", PAGE), ("plan.jsonc", PLAN), ("destroy.txt", DESTROYS)];
const OLD: [(&str, &str); 3] = [("PLAN.md", PAGE), ("plan.json", PLAN), ("destroy.yaml", DESTROYS)];

fn has(program: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output()
        .is_ok_and(|ran| ran.status.success())
}

fn ran(program: &str, arguments: &[&str], folder: &Path) -> String {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .env("KUBECONFIG", "/dev/null")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    out(&command.output().expect("it starts"))
}

#[test]
fn nodeform_skips_plans_beside_manifests_in_one_line() {
    for (name, files) in [("neighbours", FILES), ("neighbours-old", OLD)] {
        let folder = repository(name, &files);
        for arguments in [&["plan", "-R", "."][..], &["validate", "-R", "."]] {
            let output = start(arguments, &folder, "");
            out(&output);
            let said = aside(&output);
            let lines: Vec<&str> = said.lines().filter(|line| line.contains("nodeform/plans")).collect();
            let [line] = *lines.as_slice() else { panic!("{arguments:?}: {said}") };
            assert!(line.starts_with("note: skipped 3 folders of reviewed plans: "), "{line}");
        }
        for arguments in [
            &["init", "-q"][..],
            &["add", "-A"],
            &["-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", "a"],
        ] {
            ran("git", arguments, &folder);
        }
        let output = start(&["plan", "--git", "HEAD", "-R"], &folder, "");
        out(&output);
        let said = aside(&output);
        assert!(said.contains("note: skipped 3 folders of reviewed plans: `HEAD:nodeform/plans/"), "{said}");
    }
}

#[test]
fn a_folder_of_plans_alone_is_told_to_be_one() {
    let folder = repository("neighbours-alone", &FILES);
    let output = start(&["plan", "-R", "nodeform"], &folder, "");
    assert!(!output.status.success());
    let said = aside(&output);
    assert!(said.contains("3 folders of reviewed plans, skipped"), "{said}");
}

/// The manifests that Flux lists in the kustomization that it makes of a folder.
fn listed_by_flux(folder: &Path, found: &mut Vec<String>, top: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            listed_by_flux(&path, found, top);
        } else if path
            .extension()
            .is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|read| ending == *read))
        {
            found.push(path.strip_prefix(top).expect("it is below").display().to_string());
        }
    }
}

#[test]
fn kustomize_as_flux_runs_it_and_kubectl_take_no_plan_for_a_manifest() {
    if !has("kubectl") {
        return;
    }
    let folder = repository("neighbours-kubectl", &FILES);
    // The client's reading of `kubectl apply -R`, without a server.
    let local = ["label", "--local", "-R", "-f", ".", "read=yes", "-o", "name"];
    let names = ran("kubectl", &local, &folder);
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "aksnodeclass.karpenter.azure.com/default",
            "deployment.apps/inflate",
            "nodepool.karpenter.sh/general-purpose"
        ]
    );
    let mut listed = Vec::new();
    listed_by_flux(&folder, &mut listed, &folder);
    let resources: String = listed.iter().map(|file| format!("- {file}\n")).collect();
    std::fs::write(folder.join("kustomization.yaml"), format!("resources:\n{resources}")).expect("written");
    let built = ran("kubectl", &["kustomize", "."], &folder);
    assert_eq!(built.matches("\nkind: ").count(), 3, "{built}");
}
