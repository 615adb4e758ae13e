//! Flags of `plan` and `catalog` that ask for something else than the plan of the input: shell sessions with what they say.
#![expect(clippy::disallowed_methods, reason = "tests read files and start programs")]

use std::path::PathBuf;

use crate::shell::{aside, empty_folder, nodeform, out, root, start};

/// A folder with the example of a fleet that runs.
fn fleet(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    std::fs::create_dir_all(folder.join("now")).expect("the folder can be made");
    for entry in std::fs::read_dir(root().join("examples/existing-fleet")).expect("the example is there") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            std::fs::copy(&path, folder.join("now").join(path.file_name().expect("has a name")))
                .expect("copied");
        }
    }
    folder
}

#[test]
fn a_plan_that_destroys_is_saved_and_verified_like_any_other() {
    let folder = empty_folder("destroyed");
    let example = root().join("examples/existing-fleet").display().to_string();
    let plan = start(&["plan", &example, "--destroy", "--out", "plan.json", "-v"], &folder, "");
    assert!(plan.status.success(), "{}", aside(&plan));
    assert!(out(&plan).starts_with("Plan: 0 to add, 0 to change, 4 to destroy."), "{}", out(&plan));
    assert!(out(&plan).contains("Destroy: all nodes of NodePools go and none is created"), "{}", out(&plan));
    assert!(
        aside(&plan).contains("No lower bound of the cost: the pods are left without nodes."),
        "{}",
        aside(&plan)
    );
    let verified = start(&["verify", "plan.json"], &folder, "");
    assert!(verified.status.success(), "{}", aside(&verified));
    let one = nodeform(&[
        "plan",
        "examples/existing-fleet",
        "--destroy",
        "--target",
        "node/aks-general-purpose-4xk2p",
    ]);
    assert!(
        out(&one).starts_with("Plan: 0 to add, 0 to change, 1 to destroy."),
        "{}{}",
        out(&one),
        aside(&one)
    );
    assert!(out(&one).contains("Destroy: the nodes that `--target` names go"), "{}", out(&one));
    let foreign = ["--destroy", "--target", "node/aks-system-12345678-vmss000000"];
    let refused = nodeform(&[&["plan", "examples/existing-fleet"], &foreign[..]].concat());
    assert_eq!(refused.status.code(), Some(1), "{}", out(&refused));
    assert!(aside(&refused).contains("not managed by a NodePool; never deleted"), "{}", aside(&refused));
    assert!(aside(&refused).contains("hint: nodes of agent pools go by AKS"), "{}", aside(&refused));
    for other in [&["--replace", "a"][..], &["--forget", "a"], &["--before", "examples"], &["--from-scratch"]]
    {
        let refused = nodeform(&[&["plan", "examples/existing-fleet", "--destroy"], other].concat());
        assert_eq!(refused.status.code(), Some(1), "{other:?}");
        assert!(aside(&refused).contains("cannot be used with"), "{}", aside(&refused));
    }
}

#[test]
fn what_moved_since_a_snapshot_is_shown_and_kept_and_nothing_is_proposed() {
    let folder = fleet("refreshed");
    let made = start(&["snapshot", "now", "--at", "2026-11-21T09:00:00Z", "--out", "seen.json"], &folder, "");
    assert!(made.status.success(), "{}", aside(&made));
    let before = std::fs::read_to_string(folder.join("seen.json")).expect("was saved");
    let refresh = |more: &[&str]| {
        start(&[&["plan", "--refresh-only", "--snapshot", "seen.json", "now"], more].concat(), &folder, "")
    };
    let same = refresh(&["--at", "2026-11-21T10:00:00Z", "--detailed-exitcode"]);
    assert_eq!(
        (same.status.code(), out(&same).as_str()),
        (Some(0), "No difference but when they were seen: 2026-11-21T09:00:00Z → 2026-11-21T10:00:00Z.\n")
    );
    assert!(aside(&same).contains("nothing was saved"), "{}", aside(&same));
    let web = folder.join("now/web.yaml");
    let text = std::fs::read_to_string(&web).expect("is there");
    std::fs::write(&web, text.replace("replicas: 6", "replicas: 4")).expect("written");
    let moved = refresh(&["--detailed-exitcode", "--out", "seen.json"]);
    assert_eq!(moved.status.code(), Some(2), "{}", aside(&moved));
    assert!(out(&moved).starts_with("The snapshots differ: "), "{}", out(&moved));
    assert!(aside(&moved).contains("Nothing is proposed."), "{}", aside(&moved));
    let now = std::fs::read_to_string(folder.join("seen.json")).expect("was saved");
    assert_ne!(now, before);
    assert_eq!(out(&refresh(&[])), "No difference.\n");
    for (arguments, said) in [
        (&["plan", "--refresh-only", "now"][..], "--snapshot"),
        (&["plan", "--refresh-only", "--snapshot", "seen.json"], "nothing of now was named"),
        (&["plan", "--refresh-only", "--snapshot", "seen.json", "now", "-o", "md"], "creates no plan"),
        (&["plan", "--refresh-only", "--snapshot", "seen.json", "now", "--destroy"], "cannot be used with"),
    ] {
        let refused = start(arguments, &folder, "");
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        assert!(aside(&refused).contains(said), "{}", aside(&refused));
    }
}

#[test]
fn pods_that_moved_and_budgets_that_changed_are_differences_too() {
    let folder = empty_folder("moved");
    let world = |node: &str, least: u32| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web, namespace: shop, labels: {{app: web}}}}\nspec:\n  nodeName: {node}\n  \
             containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]\n---\n\
             apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: web, namespace: shop}}\n\
             spec: {{minAvailable: {least}, selector: {{matchLabels: {{app: web}}}}}}\n"
        )
    };
    let written = |name: &str, text: String| std::fs::write(folder.join(name), text).expect("written");
    written("before.yaml", world("n1", 1));
    let made = start(&["snapshot", "before.yaml", "--out", "seen.json"], &folder, "");
    assert!(made.status.success(), "{}", aside(&made));
    let differs = |text: String| {
        written("now.yaml", text);
        out(&start(&["plan", "--refresh-only", "--snapshot", "seen.json", "now.yaml"], &folder, ""))
    };
    assert_eq!(differs(world("n1", 1)), "No difference.\n");
    assert_eq!(
        differs(world("n2", 1)),
        "The snapshots differ: pods of 1 workload.\n\nPods by workload:\n  ~ Pod/shop/web  1 pod, 1 in another place\n"
    );
    assert_eq!(
        differs(world("n1", 2)),
        "The snapshots differ: 1 other object.\n\nBudgets, volumes and the rest:\n  ~ PodDisruptionBudget/shop/web  minAvailable or maxUnavailable\n"
    );
}

#[test]
fn a_fleet_names_its_strategy_and_the_flag_wins() {
    let folder = empty_folder("strategy");
    let example = root().join("examples/consolidation").display().to_string();
    let fleet = "apiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {name: default}\nspec: {strategy: karpenter}\n";
    std::fs::write(folder.join("fleet.yaml"), fleet).expect("written");
    let said = |more: &[&str]| {
        let plan = start(&[&["plan", &example], more].concat(), &folder, "");
        assert!(plan.status.success(), "{}", aside(&plan));
        out(&plan).lines().take(2).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(said(&["fleet.yaml"]), said(&["--strategy", "karpenter"]));
    assert_eq!(said(&["fleet.yaml", "--strategy", "cheapest"]), said(&[]));
    assert_ne!(said(&["fleet.yaml"]), said(&[]));
}

#[test]
fn a_workload_of_one_side_can_be_scaled_and_the_other_is_named() {
    let folder = fleet("scaled");
    std::fs::create_dir_all(folder.join("before")).expect("the folder can be made");
    for entry in std::fs::read_dir(folder.join("now")).expect("is there") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, folder.join("before").join(path.file_name().expect("has a name")))
            .expect("copied");
    }
    let new = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: fresh, namespace: shop}\nspec:\n  replicas: 1\n  \
               selector: {matchLabels: {app: fresh}}\n  template:\n    metadata: {labels: {app: fresh}}\n    \
               spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 2}}}]}\n";
    std::fs::write(folder.join("now/fresh.yaml"), new).expect("written");
    let scaled = |name: &str| start(&["plan", "now", "--before", "before", "--scale", name], &folder, "");
    let came = scaled("fresh=5");
    assert!(came.status.success(), "{}", aside(&came));
    assert_eq!(aside(&came), "note: `--scale fresh=5`: the input before has no such workload\n");
    let both = scaled("web=5");
    assert!(both.status.success() && aside(&both).is_empty(), "{}", aside(&both));
    let neither = scaled("other=5");
    assert_eq!(neither.status.code(), Some(1));
    assert!(aside(&neither).contains("names no workload of the input"), "{}", aside(&neither));
}

#[test]
fn a_small_amount_of_memory_without_a_unit_is_not_taken_for_bytes() {
    for (flag, amount) in [("--memory-min", "16"), ("--memory-max", "0.5")] {
        let refused = nodeform(&["catalog", flag, amount]);
        assert_eq!((refused.status.code(), out(&refused).as_str()), (Some(1), ""));
        assert_eq!(
            aside(&refused),
            format!(
                "error: `{amount}` without a unit is a number of bytes\nhint: did you mean `{amount}Gi`?\n"
            )
        );
    }
    for fine in ["16Gi", "17179869184", "0", "16G"] {
        let listed = nodeform(&["catalog", "--memory-min", fine]);
        assert!(listed.status.success(), "{fine}: {}", aside(&listed));
    }
}

#[test]
fn the_quotas_of_a_subscription_limit_what_is_planned_and_explained() {
    let folder = empty_folder("quotas");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("it can be written");
    write(
        "all.yaml",
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n  template:\n    spec:\n      \
         nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}\n      requirements: [{key: \
         node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}]\n---\napiVersion: v1\nkind: Pod\n\
         metadata: {name: web}\nspec: {containers: [{name: web, resources: {requests: {cpu: '3'}}}]}\n",
    );
    write(
        "usage.json",
        "[\n  {\"currentValue\": \"8\", \"limit\": \"10\", \"name\": {\"value\": \"STANDARDDSv5Family\"}},\n  \
         {\"currentValue\": 8, \"limit\": 3000000000, \"name\": {\"value\": \"cores\"}},\n  \
         {\"currentValue\": 0, \"limit\": 0, \"name\": {\"value\": \"lowPriorityCores\"}}\n]\n",
    );
    let asked = ["--location", "westeurope", "--no-system-daemonsets", "--usage", "usage.json"];
    let plan = start(&[&["plan", "all.yaml", "--out", "plan.json"], &asked[..]].concat(), &folder, "");
    assert!(plan.status.success(), "{}", aside(&plan));
    let said = "quota `STANDARDDSv5Family` is 10 vCPUs, 8 used, and a node needs 4";
    assert!(
        out(&plan).starts_with("No node changes possible: 1 of 1 pod stays Pending.")
            && unfolded(&out(&plan)).contains(said),
        "{}",
        out(&plan)
    );
    let verified = start(&["verify", "plan.json"], &folder, "");
    assert!(verified.status.success(), "{}", aside(&verified));
    for what in ["pod/web", "size/Standard_D4s_v5"] {
        let explained = start(&[&["explain", what, "all.yaml"], &asked[..]].concat(), &folder, "");
        assert!(
            unfolded(&out(&explained)).contains(said),
            "{what}: {}{}",
            out(&explained),
            aside(&explained)
        );
    }
    write(
        "usage.json",
        "[\n  {\"currentValue\": 1,\n   \"limit\": \"many\", \"name\": {\"value\": \"cores\"}}\n]\n",
    );
    let refused = start(&[&["plan", "all.yaml"], &asked[..]].concat(), &folder, "");
    assert_eq!(refused.status.code(), Some(1), "{}", out(&refused));
    let said = "`usage.json` at line 3: this is no usage of a quota: `many` is no whole number\nhint: give the output of";
    assert!(aside(&refused).contains(said), "{}", aside(&refused));
    std::fs::remove_file(folder.join("usage.json")).expect("it was written");
    let refused = start(&[&["plan", "all.yaml"], &asked[..]].concat(), &folder, "");
    assert_eq!(refused.status.code(), Some(1), "{}", out(&refused));
    assert!(aside(&refused).contains("`--usage usage.json` cannot be read"), "{}", aside(&refused));
}

/// Returns a text with its lines joined.
fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
