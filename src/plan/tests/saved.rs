//! The plan file: what the digest covers, and what is rejected.

use super::world::{example, example_plan, keys, planned};
use crate::plan::file::spelt;
use crate::plan::identity::digest_of;
use crate::plan::{Plan, PlanFileFault, read, write};
use crate::solve::{Kept, Solution};

#[test]
fn a_file_is_read_as_it_was_written_and_holds_what_the_judge_needs() {
    let plan = example_plan();
    let text = write(&plan);
    let read = read(&text).expect("the file is as it was written");
    assert_eq!(read, plan);
    assert_eq!(write(&read), text);
    assert_eq!(read.id(), plan.id());
    let (snapshot, policy, _) = example();
    assert_eq!((read.policy(), read.snapshot().pods), (policy, snapshot.pods));
    assert_eq!(read.snapshot().nodes, snapshot.nodes);
    assert!(text.contains("\"nodesMax\": \"18446744073709551615\""), "wide integers are text");
}

#[test]
fn the_digest_is_of_decisions_alone() {
    let (snapshot, policy, solution) = example();
    let digest = |solution: &Solution| planned(&snapshot, &policy, solution).digest();
    let mut said_otherwise = solution.clone();
    said_otherwise.report.without_requests = 3;
    for (node, pods) in said_otherwise.target.new.iter_mut().zip([["web-1", "web-3"], ["web-2", "web-4"]]) {
        (node.opened_for, node.pods) = (Some(keys(&pods)[0].clone()), keys(&pods));
    }
    assert_eq!(digest(&solution), digest(&said_otherwise));
    let mut other = solution.clone();
    other.target.new.pop();
    other.target.kept.push(Kept { node: "aks-general-zzz".into(), pods: keys(&["web-3", "web-4"]) });
    assert_ne!(digest(&solution), digest(&other));
}

#[test]
fn a_file_that_was_touched_is_refused() {
    let text = write(&example_plan());
    let refused = |text: &str| read(text).expect_err("the file was touched").to_string();
    for (touched, fault) in [
        (text.replace("  ", "\t"), "line 2 is not written as nodeform writes it"),
        (text.trim_end().to_owned(), "is not written as nodeform writes it"),
        (text.replace('\n', "\r\n"), "line 1 is not written as nodeform writes it"),
        (text.replace("\"cpu\": 2100", "\"cpu\": 2101"), "the plan was changed after it was made"),
        (
            text.replace("nodeform.dev/v1alpha2", "nodeform.dev/v1alpha1"),
            "in the format `nodeform.dev/v1alpha1`",
        ),
        (text.replace("\"kind\": \"Plan\"", "\"kind\": \"Plant\""), "not `Plan` of `nodeform.dev/v1alpha2`"),
        (text.replacen("\"withoutRequests\":0", "\"withoutRequests\":1", 1), "`evidence` was modified"),
        (text.replace("\"cpu\": 2100", "\"cpu\": 9007199254740993"), "beyond 2^53-1"),
        ("{".to_owned(), "the plan is not JSON"),
        (String::new(), "there is nothing in it"),
        ("{}\n".to_owned(), "it has no `apiVersion` and `kind`"),
        ("[]".to_owned(), "it has no `apiVersion` and `kind`"),
    ] {
        let found = refused(&touched);
        assert!(found.contains(fault), "{found}");
    }
}

#[test]
fn figures_that_are_not_the_plans_are_refused() {
    let mut value: serde_json::Value = serde_json::from_str(&write(&example_plan())).expect("is JSON");
    assert_eq!(value["summary"]["monthlyDelta"], "146.00");
    value["summary"]["destroy"] = serde_json::json!(0);
    let refused = read(&spelt(value.clone())).expect_err("one node goes").to_string();
    assert!(refused.contains("`summary.destroy` is not what follows from the rest of the file"), "{refused}");
    value.as_object_mut().expect("is an object").remove("summary");
    let refused = read(&spelt(value)).expect_err("the figures are gone").to_string();
    assert_eq!(refused, "`summary`: these figures are missing");
}

#[test]
fn rows_that_are_not_the_plans_are_refused() {
    let value: serde_json::Value = serde_json::from_str(&write(&example_plan())).expect("is JSON");
    let refused = |path: &str, other: serde_json::Value| {
        let mut touched = value.clone();
        *touched.pointer_mut(path).expect("is in the file") = other;
        read(&spelt(touched)).expect_err("the rows were touched").to_string()
    };
    let name = value.pointer("/nodes/0/name").cloned().expect("has a name");
    for (pointer, path) in [
        ("/nodes/0/monthly", "nodes[0].monthly"),
        ("/pools/0/monthlySaving", "pools[0].monthlySaving"),
        ("/cost/monthlyWorstCase", "cost.monthlyWorstCase"),
        ("/evictions", "evictions"),
        ("/nodes", "nodes"),
    ] {
        let found = refused(pointer, name.clone());
        assert!(
            found.contains(&format!("`{path}` is not what follows from the rest of the file")),
            "{found}"
        );
    }
    let text = write(&example_plan());
    let joined = text.replacen("},\n    {\"action\"", "}, {\"action\"", 1);
    assert_ne!(joined, text, "each row has its line");
    assert!(matches!(read(&joined), Err(PlanFileFault::Respelt { .. })));
}

/// Adds a field to one part of the file and writes it like nodeform, with the resulting digest.
fn with_field(part: &str) -> Result<Plan, PlanFileFault> {
    let mut value: serde_json::Value = serde_json::from_str(&write(&example_plan())).expect("is JSON");
    let fields = if part.is_empty() { &mut value } else { &mut value[part] };
    fields["surprise"] = serde_json::json!(true);
    for (digest, part) in [("digest", "spec"), ("evidenceDigest", "evidence")] {
        value[digest] = serde_json::to_value(digest_of(&value[part])).expect("has a form");
    }
    read(&spelt(value))
}

#[test]
fn unknown_fields_are_refused_in_the_spec_and_ignored_in_evidence() {
    let refused = with_field("spec").expect_err("the field is not known").to_string();
    assert_eq!(refused, "`spec.surprise`: this is not known, or not written as nodeform writes it");
    let refused = with_field("").expect_err("the field is not known").to_string();
    assert_eq!(refused, "`surprise`: this field is not known");
    assert_eq!(with_field("evidence"), Ok(example_plan()));
}

#[test]
fn what_sizes_share_is_written_once_and_an_offering_without_its_labels_is_refused() {
    let mut value: serde_json::Value = serde_json::from_str(&write(&example_plan())).expect("is JSON");
    let sizes = value["evidence"]["world"]["sizes"].as_object_mut().expect("sizes by class");
    assert!(!sizes.is_empty());
    for sizes in sizes.values_mut() {
        let types = sizes["types"].as_array().expect("a list");
        let offerings: usize =
            types.iter().map(|kind| kind["offerings"].as_array().map_or(0, Vec::len)).sum();
        assert!(sizes["offered"].as_array().expect("a list").len() <= offerings);
        for entry in sizes["common"].as_array().expect("a list") {
            let key = entry["key"].as_str().expect("a label");
            assert!(types.iter().all(|kind| kind["labels"].get(key).is_none()), "{key} stands twice");
        }
        sizes["types"][0]["offerings"][0]["labels"] = serde_json::json!(99);
    }
    value["evidenceDigest"] = serde_json::to_value(digest_of(&value["evidence"])).expect("has a form");
    let refused = read(&spelt(value)).expect_err("there are no such labels").to_string();
    assert!(refused.contains("has an offering with labels 99, of which there are none"), "{refused}");
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_names_every_part_of_the_file() {
    let schema = crate::plan::file::schema();
    let mut plan = example_plan();
    let assumed =
        crate::snapshot::Assumption { what: "the base as rewritten".into(), why: "it is old".into() };
    let comparison = crate::plan::comparison::Comparison { assumptions: vec![assumed], ..Default::default() };
    plan.evidence.comparison = Some(comparison);
    plan.evidence.strategies.push(crate::plan::strategies::StrategyFleet::default());
    // Empty fields are not written.
    plan.evidence.beside.push(crate::plan::beside::Beside {
        node: "kept-1".into(),
        plan: "2026-11/move-pods-aaaaaaaaaa".to_owned(),
        is_merged: false,
        does: crate::plan::beside::OtherEffect::Deletes,
    });
    plan.spec.wishes.replace.insert("kept-1".into());
    plan.spec.execution = Some(crate::plan::Execution {
        cluster: crate::plan::execution::ClusterIdentity {
            uid: "u".into(),
            id: "i".into(),
            node_resource_group: "g".into(),
            location: "l".into(),
        },
        seen_at: plan.evidence.seen_at,
        machines: std::collections::BTreeMap::new(),
        launches: std::collections::BTreeMap::new(),
        nodes: std::collections::BTreeMap::new(),
        removals: std::collections::BTreeMap::new(),
        nominations: std::collections::BTreeMap::new(),
        made_for: std::collections::BTreeMap::new(),
    });
    let world = &mut plan.evidence.world;
    world.namespaces.insert("shop".into(), std::collections::BTreeMap::new());
    world.overlays.push(crate::model::Overlay {
        name: "cheap".into(),
        weight: 1,
        requirements: crate::model::Requirements::none(),
        price: None,
        capacity: crate::model::Resources::none(),
    });
    world.budgets.push(super::world::web_budget(1));
    world.assumes_system_node = true;
    let (pod, victims) = (crate::model::PodKey::new("default", "web"), Vec::new());
    world.preemptions.push(crate::model::Preemption { pod, node: "kept-1".into(), victims });
    world.storage.drivers.insert("node".into(), std::collections::BTreeMap::new());
    world.quota = Some(crate::model::Quota::default());
    let name = crate::model::GroupRef::PodGroup("training".into());
    world.groups.push(crate::model::Group { namespace: "default".into(), name, least: Some(4) });
    let text = write(&plan);
    assert_eq!(read(&text), Ok(plan), "what was compared is read again");
    let file: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    let parts = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    assert_eq!(parts(&schema["properties"]), parts(&file));
    for (name, part) in [("PlanSpec", "spec"), ("Evidence", "evidence")] {
        assert_eq!(parts(&schema["$defs"][name]["properties"]), parts(&file[part]));
    }
    assert_eq!(parts(&schema["$defs"]["World"]["properties"]), parts(&file["evidence"]["world"]));
    let compared = &file["evidence"]["comparison"];
    assert_eq!(parts(&schema["$defs"]["Comparison"]["properties"]), parts(compared));
    let strategy = &file["evidence"]["strategies"][0];
    assert_eq!(parts(&schema["$defs"]["StrategyFleet"]["properties"]), parts(strategy));
}
