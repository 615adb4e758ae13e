//! What the real kubectl makes of plans: their files beside manifests, and their objects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::bed::Bed;

const PLANS: [&str; 3] =
    ["2026-10/replace-aaaaaaaaaa", "2026-11/create-bbbbbbbbbb", "2026-11/move-pods-cccccccccc"];
const FILES: [(&str, &str); 4] = [
    ("PLAN.md", "# Plan\n"),
    ("plan.jsonc", "{\"apiVersion\": \"nodeform.dev/v1alpha1\", \"kind\": \"Plan\", \"spec\": {}}\n"),
    ("destroy.txt", "- node/aks-a-1  # small, ~$10/month, no pods\n"),
    ("plan.jsonc.sig", "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n"),
];

/// What kubectl prints of a command that is to succeed.
pub(super) fn ran(bed: &Bed, kubectl: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(kubectl);
    let output = command.arg("--kubeconfig").arg(bed.path("kubeconfig")).args(arguments).output();
    let output = output.expect("kubectl starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository of manifests and merged plans is applied by the folder, and no plan is taken for a manifest.
pub(super) fn takes_no_plan_for_a_manifest(bed: &Bed, kubectl: &Path) {
    let folder = bed.path("repository");
    for plan in PLANS {
        let folder = folder.join("nodeform/plans").join(plan);
        fs::create_dir_all(&folder).expect("it can be made");
        for (name, text) in FILES {
            fs::write(folder.join(name), text).expect("it can be written");
        }
    }
    let example = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart");
    for name in ["inflate.yaml", "nodepool.yaml"] {
        fs::copy(example.join(name), folder.join(name)).expect("an example");
    }
    let folder = folder.display().to_string();
    let apply = ["apply", "-R", "--server-side", "--force-conflicts", "--validate=strict"];
    let names = ran(bed, kubectl, &[&apply[..], &["--dry-run=server", "-o", "name", "-f", &folder]].concat());
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    let manifests = [
        "aksnodeclass.karpenter.azure.com/default",
        "deployment.apps/inflate",
        "nodepool.karpenter.sh/general-purpose",
    ];
    assert_eq!(names, manifests);
}

/// A plan is one row, with what is asked of it first.
pub(super) fn shows_a_plan_in_a_row(bed: &Bed, kubectl: &Path) {
    let shown = ran(bed, kubectl, &["get", "nodeplans"]);
    let mut lines = shown.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(head, ["NAME", "CLASS", "FOLDER", "NODES", "$/MONTH", "EXPIRES", "OUTCOME", "AGE"], "{shown}");
    let rows: Vec<&str> = lines.collect();
    let plans = bed.eyes().items("/apis/nodeform.dev/v1alpha1/nodeplans").len();
    assert!(plans > 0 && rows.len() == plans, "{shown}");
    for row in rows {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let is_told = ["create", "remove-empty", "move-pods"].contains(&cells[1]);
        assert!(is_told && row.contains(" Done "), "{shown}");
    }
}
