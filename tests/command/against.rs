//! `plan --against`: what happens by itself, what people review, and what is held.
#![expect(clippy::disallowed_methods, reason = "tests write files")]

use crate::shell::{aside, empty_folder, nodeform, out, root, start};

fn fleet(spec: &str) -> String {
    format!("apiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: prod}}\nspec: {spec}\n")
}

/// What is said of the example, by a NodeFleet in a file of this name with this text.
fn said(name: &str, text: &str) -> String {
    let folder = empty_folder(name);
    std::fs::write(folder.join("fleet.yaml"), text).expect("it can be written");
    let example = root().join("examples/existing-fleet").display().to_string();
    let plan = ["plan", &example, "--at", "2026-11-21T09:00:00Z", "--against", "fleet.yaml"];
    let plan = start(&plan, &folder, "");
    assert!(plan.status.success(), "{}", aside(&plan));
    let text = out(&plan);
    let (_, section) = text.split_once("\nBy NodeFleet").unwrap_or_else(|| panic!("{text}"));
    section.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn each_change_says_whose_it_is_by_the_fleet_of_a_file() {
    let nodes = "`node/aks-general-purpose-7dq9m`, `node/aks-general-purpose-k3v6z`";
    let all = format!("`remove-empty` in pool `general-purpose`, {nodes}");
    let by_itself = said("against-auto", &fleet("{mode: auto}"));
    assert_eq!(by_itself, format!("`prod` (mode `auto`): by itself: {all}"));
    let reviewed = said("against-review", &fleet("{mode: auto, approve: {remove-empty: review}}"));
    assert!(reviewed.contains(&format!("after a review: {all}")), "{reviewed}");
    assert!(reviewed.contains("`nodeform approve ID`"), "{reviewed}");
    let held = said("against-freeze", &fleet("{mode: auto, freeze: [{name: friday}]}"));
    assert!(held.contains("held: `remove-empty`") && held.contains("(freeze `friday`"), "{held}");
    let shown = said("against-observe", &fleet("{}"));
    assert_eq!(shown, format!("`prod` (mode `observe`): shown, not applied: {all}"));
}

#[test]
fn a_file_without_one_valid_fleet_is_refused_with_what_is_wrong() {
    let folder = empty_folder("against-bad");
    let example = root().join("examples/existing-fleet").display().to_string();
    let two = [fleet("{}"), fleet("{}")].join("---\n");
    let files = [
        ("none.yaml", None, "cannot be read"),
        ("text.yaml", Some("- [".to_owned()), "is not YAML"),
        ("two.yaml", Some(two), "holds 2 NodeFleets"),
        ("mode.yaml", Some(fleet("{mode: autopilot}")), "spec.mode"),
        ("class.yaml", Some(fleet("{approve: {delete-pool: auto}}")), "never happens by itself"),
    ];
    for (name, text, wrong) in files {
        if let Some(text) = text {
            std::fs::write(folder.join(name), text).expect("it can be written");
        }
        let refused = start(&["plan", &example, "--against", name], &folder, "");
        assert_eq!(refused.status.code(), Some(1), "{name}: {}", out(&refused));
        assert!(aside(&refused).contains(wrong), "{name}: {}", aside(&refused));
    }
    let refused = nodeform(&["plan", "examples/existing-fleet", "--against", "fleet", "-o", "json"]);
    assert!(aside(&refused).contains("leave out `--output`"), "{}", aside(&refused));
}
