//! The forms of a plan that other programs read: Markdown, NodeClaims, names, and Terraform's JSON, each judged by
//! something that shares nothing with its writer.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read files and fail")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::shell::{aside, empty_folder, out, start};
use crate::structural::Judge;
use nodeform::api::Kind;
use regorus::Engine;
use serde_json::Value;

const STORIES: [&str; 4] = ["arm64-beside-amd64", "existing-fleet", "gpu", "quickstart"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A story's plan in a form.
fn printed(story: &str, form: &str) -> String {
    let input = format!("examples/{story}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
    let output = command.args(["plan", &input, "-o", form]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{story}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn tf_json(story: &str) -> Value {
    serde_json::from_str(&printed(story, "tf-json")).unwrap()
}

fn definition(text: &str) -> Judge {
    let definition: Value = serde_saphyr::from_str(text).unwrap();
    Judge::new(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone())
}

#[test]
fn node_claims_are_what_karpenters_definition_takes() {
    let ours = definition(Kind::NodeClaim.facts().crd);
    let theirs =
        crate::shared::shared("data/crds/karpenter.sh_nodeclaims.yaml").map(|text| definition(&text));
    for story in STORIES {
        let text = printed(story, "yaml");
        let documents: Vec<Value> = serde_yaml::Deserializer::from_str(&text)
            .map(|document| serde::Deserialize::deserialize(document).unwrap())
            .filter(|document: &Value| !document.is_null())
            .collect();
        let names = printed(story, "name");
        let named = |document: &Value| {
            let name = document["metadata"]["name"].as_str().unwrap();
            names.lines().any(|line| line == format!("+ nodeclaim/{name}"))
        };
        assert!(documents.iter().all(named), "{story}:\n{names}\n{text}");
        let summary = &serde_json::from_str::<Value>(&printed(story, "json")).unwrap()["summary"];
        let changed = ["add", "destroy"].map(|what| summary[what].as_u64().unwrap());
        assert_eq!(u64::try_from(documents.len()).unwrap(), changed[0], "{story}:\n{text}");
        assert_eq!(
            u64::try_from(names.lines().count()).unwrap(),
            changed[0] + changed[1],
            "{story}:\n{names}"
        );
        for claim in documents {
            for judge in [Some(&ours), theirs.as_ref()].into_iter().flatten() {
                assert_eq!(judge.refusals(&claim, None), Vec::<String>::new(), "{story}:\n{text}");
            }
            let faults = nodeform::policy::faults(Kind::NodeClaim, &claim);
            assert!(faults.is_empty(), "{story}: {faults:?}\n{text}");
        }
    }
}

#[test]
fn kubectl_reads_the_node_claims_that_are_written() {
    let text = printed("quickstart", "yaml");
    let kubectl = Command::new("kubectl")
        .args(["label", "--local", "-f", "-", "a=b", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut kubectl) = kubectl else { return };
    std::io::Write::write_all(&mut kubectl.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = kubectl.wait_with_output().unwrap();
    assert!(output.status.success());
    let mut read: Value = serde_json::from_slice(&output.stdout).unwrap();
    read["metadata"]["labels"].as_object_mut().unwrap().remove("a");
    let written: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(read, written);
}

#[test]
fn names_are_printed_and_nothing_else() {
    let fleet = printed("existing-fleet", "name");
    assert_eq!(fleet, "- nodeclaim/general-purpose-7dq9m\n- nodeclaim/general-purpose-k3v6z\n");
    let quickstart = printed("quickstart", "name");
    assert!(quickstart.starts_with("+ nodeclaim/general-purpose-"), "{quickstart}");
    assert_eq!((quickstart.lines().count(), quickstart.matches(' ').count()), (1, 1), "{quickstart}");
}

#[test]
fn tf_json_is_what_terraforms_documentation_says() {
    let schema = std::fs::read_to_string(root().join("fixtures/policies/plan.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let judge = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    for story in STORIES {
        let plan = tf_json(story);
        let errors: Vec<String> =
            judge.iter_errors(&plan).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(errors, Vec::<String>::new(), "{story}");
        let addresses = |list: &Value| -> BTreeSet<String> {
            let list = list.as_array().unwrap();
            let found: BTreeSet<String> =
                list.iter().map(|resource| resource["address"].as_str().unwrap().to_owned()).collect();
            assert_eq!(found.len(), list.len(), "{story}: an address stands twice");
            found
        };
        let with = |side: &str| -> Value {
            let changes = plan["resource_changes"].as_array().unwrap();
            changes.iter().filter(|change| !change["change"][side].is_null()).cloned().collect()
        };
        let planned = addresses(&plan["planned_values"]["root_module"]["resources"]);
        assert_eq!(planned, addresses(&with("after")), "{story}");
        let prior = addresses(&plan["prior_state"]["values"]["root_module"]["resources"]);
        assert_eq!(prior, addresses(&with("before")), "{story}");
        let configured = addresses(&plan["configuration"]["root_module"]["resources"]);
        let pools = planned.union(&prior).map(|address| address.split('[').next().unwrap().to_owned());
        assert_eq!(pools.collect::<BTreeSet<_>>(), configured, "{story}");
    }
}

/// What a policy says against a plan, sorted.
fn denied(policy: &str, plan: &Value) -> Vec<String> {
    let mut engine = Engine::new();
    engine.add_policy_from_file(root().join("fixtures/policies").join(policy)).unwrap();
    engine.set_input_json(&plan.to_string()).unwrap();
    let denied = engine.eval_rule("data.main.deny".to_owned()).unwrap();
    let denied: Value = serde_json::from_str(&denied.to_json_str().unwrap()).unwrap();
    let denied = denied.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned());
    denied.collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn policies_for_terraform_read_the_plan() {
    let (fleet, quickstart, gpu) = (tf_json("existing-fleet"), tf_json("quickstart"), tf_json("gpu"));
    let name = |claim: &str| {
        format!(
            "azurerm_linux_virtual_machine.general-purpose[\"aks-general-purpose-{claim}\"] would be destroyed"
        )
    };
    assert_eq!(denied("deletes.rego", &fleet), ["7dq9m", "k3v6z"].map(name));
    assert_eq!(denied("deletes.rego", &quickstart), Vec::<String>::new());
    let untagged = denied("tags.rego", &quickstart);
    assert!(untagged.len() == 1 && untagged[0].contains("cost-center"), "{untagged:?}");
    assert_eq!(denied("sizes.rego", &quickstart), Vec::<String>::new());
    let other = denied("sizes.rego", &gpu);
    assert!(!other.is_empty() && other[0].contains("has size Standard_N"), "{other:?}");
    assert_eq!(denied("cost.rego", &quickstart), Vec::<String>::new());
    let dear = denied("cost.rego", &gpu);
    assert!(dear.len() == 1 && dear[0].starts_with("the fleet would cost "), "{dear:?}");
}

#[test]
fn a_plan_that_was_changed_after_it_was_made_exits_with_3() {
    let folder = empty_folder("tampered");
    let quickstart = root().join("examples/quickstart").display().to_string();
    assert!(start(&["plan", &quickstart, "--out", "plan.json"], &folder, "").status.success());
    let plan = std::fs::read_to_string(folder.join("plan.json")).expect("was saved");
    let changed = |from: &str, to: &str| {
        assert!(plan.contains(from), "{from}");
        plan.replacen(from, to, 1)
    };
    let digest_at = plan.find("\"digest\": \"sha256:").expect("there is a digest");
    let (before, digest) = plan.split_at(digest_at + "\"digest\": \"sha256:".len());
    let other = if digest.starts_with('0') { "1" } else { "0" };
    for (what, text, said) in [
        ("a price", changed("\"priceMax\": ", "\"priceMax\": 1"), "the plan was changed after it was made"),
        ("the digest", format!("{before}{other}{}", &digest[1..]), "the plan was changed after it was made"),
        ("its spelling", changed("  \"kind\"", " \"kind\""), "the file was edited or reformatted"),
        ("its lines", plan.replace('\n', "\r\n"), "the file was edited or reformatted"),
        ("a part", changed("\"evidence\": {", "\"evidence\": {\n    \"aaa\": 1.5,"), "are not exact in JSON"),
    ] {
        std::fs::write(folder.join("tampered.json"), text).expect("written");
        for command in [
            &["verify", "tampered.json"][..],
            &["show", "tampered.json"],
            &["diff", "plan.json", "tampered.json"],
        ] {
            let output = start(command, &folder, "");
            assert_eq!(
                (output.status.code(), out(&output).as_str()),
                (Some(3), ""),
                "{what}: {}",
                aside(&output)
            );
            assert!(
                aside(&output).contains(said) && aside(&output).contains("\nhint: "),
                "{what}: {}",
                aside(&output)
            );
        }
    }
    assert_eq!(start(&["verify", "plan.json"], &folder, "").status.code(), Some(0));
}

#[test]
fn the_plan_of_the_quickstart_is_small_enough_to_review_and_verifies() {
    const BYTES_MAX: usize = 80_000;
    let folder = empty_folder("small");
    let quickstart = root().join("examples/quickstart").display().to_string();
    assert!(start(&["plan", &quickstart, "--out", "plan.json"], &folder, "").status.success());
    let plan = std::fs::read_to_string(folder.join("plan.json")).expect("was saved");
    assert!(plan.len() < BYTES_MAX, "{} bytes", plan.len());
    let verified = start(&["verify", "plan.json"], &folder, "");
    assert!(out(&verified).starts_with("OK: digest matches"), "{}", aside(&verified));
}
