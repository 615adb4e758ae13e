//! Objects are judged alike by `policy`, by our CustomResourceDefinitions and by Karpenter's.
//!
//! The second and third judge share nothing with the first: see `support/structural.rs`. Karpenter's definitions are
//! beside the checkout; without them two judges remain.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read files and fail")]

use crate::structural::Judge;
use nodeform::api::Kind;
use nodeform::policy;
use serde_json::{Map, Value};

/// What is expected of an object.
enum Verdict<'a> {
    Accepted,
    /// Refused, with a fault at this path.
    Rejected(&'a str),
}

fn corpus(kind: Kind) -> Value {
    let path = format!("{}/fixtures/api/{}.yaml", env!("CARGO_MANIFEST_DIR"), kind.facts().singular);
    serde_saphyr::from_str(&std::fs::read_to_string(&path).unwrap())
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn definition_schema(text: &str, version: &str) -> Value {
    let definition: Value = serde_saphyr::from_str(text).unwrap();
    let versions = definition["spec"]["versions"].as_array().unwrap();
    versions.iter().find(|candidate| candidate["name"] == version).unwrap()["schema"]["openAPIV3Schema"]
        .clone()
}

/// The kinds that are nodeform's own.
const OURS: [Kind; 4] = [Kind::NodeFleet, Kind::NodePlan, Kind::NodePlanApproval, Kind::NodePlanChunk];

fn karpenters(kind: Kind) -> Option<String> {
    let facts = kind.facts();
    (!OURS.contains(&kind))
        .then(|| crate::shared::shared(&format!("data/crds/{}_{}.yaml", facts.group, facts.plural)))
        .flatten()
}

/// The schemas that judge an object, each with the name of its owner.
fn judges(kind: Kind) -> Vec<(&'static str, Judge)> {
    let facts = kind.facts();
    let of = |text: &str| Judge::new(definition_schema(text, facts.version));
    let ours = ("our definition", of(facts.crd));
    let theirs = karpenters(kind).map(|text| ("Karpenter's definition", of(&text)));
    std::iter::once(ours).chain(theirs).collect()
}

/// The base with the fields of a case in it.
fn changed(base: &Value, case: &Map<String, Value>) -> Value {
    let mut object = base.clone();
    for (pointer, value) in case.iter().filter(|(pointer, _)| pointer.starts_with('/')) {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} has no parent"));
        let parent = parent.as_object_mut().unwrap();
        if value.is_null() {
            parent.remove(name)
        } else {
            parent.insert(name.to_owned(), value.clone())
        };
    }
    object
}

fn verdict(case: &Map<String, Value>) -> Verdict<'_> {
    case.get("at").and_then(Value::as_str).map_or(Verdict::Accepted, Verdict::Rejected)
}

fn disagreement(who: &str, name: &str, verdict: &Verdict<'_>, said: &[String]) -> Option<String> {
    match verdict {
        Verdict::Accepted => (!said.is_empty()).then(|| format!("{who} refuses \"{name}\": {said:?}")),
        Verdict::Rejected(_) => said.is_empty().then(|| format!("{who} accepts \"{name}\"")),
    }
}

fn cases<'a>(corpus: &'a Value, pointers: [&str; 2]) -> Vec<(&'a String, &'a Map<String, Value>)> {
    let cases = pointers.map(|pointer| corpus.pointer(pointer).unwrap().as_object().unwrap());
    cases.into_iter().flatten().map(|(name, case)| (name, case.as_object().unwrap())).collect()
}

fn judge_all(kind: Kind) -> (usize, Vec<String>) {
    let corpus = corpus(kind);
    let judges = judges(kind);
    let mut wrong = Vec::new();
    let found = cases(&corpus, ["/accepted", "/rejected"]);
    for (name, case) in &found {
        let object = changed(&corpus["base"], case);
        let verdict = verdict(case);
        let faults = policy::admission_faults(kind, &object);
        let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
        wrong.extend(disagreement("policy", name, &verdict, &said));
        if let Verdict::Rejected(at) = verdict
            && !faults.iter().any(|fault| fault.path_text() == at)
        {
            wrong.push(format!("policy names not `{at}` for \"{name}\": {said:?}"));
        }
        for (who, judge) in &judges {
            wrong.extend(disagreement(who, name, &verdict, &judge.refusals(&object, None)));
        }
    }
    (found.len(), wrong)
}

fn judge_changes(kind: Kind) -> Vec<String> {
    let corpus = corpus(kind);
    let judges = judges(kind);
    let mut wrong = Vec::new();
    for (name, case) in cases(&corpus, ["/changes/accepted", "/changes/rejected"]) {
        let object = changed(&corpus["base"], case);
        let verdict = verdict(case);
        let faults = policy::rules::faults_of_change(kind, &corpus["base"], &object);
        let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
        wrong.extend(disagreement("policy", name, &verdict, &said));
        for (who, judge) in &judges {
            wrong.extend(disagreement(who, name, &verdict, &judge.refusals(&object, Some(&corpus["base"]))));
        }
    }
    wrong
}

#[test]
fn objects_are_judged_alike() {
    let mut count = 0;
    for kind in Kind::ALL {
        let (cases, wrong) = judge_all(kind);
        count += cases;
        assert!(wrong.is_empty(), "{}:\n{}", kind.facts().kind, wrong.join("\n"));
    }
    assert!(count >= 120, "only {count} objects");
}

#[test]
fn changes_are_judged_alike() {
    for kind in Kind::ALL {
        let wrong = judge_changes(kind);
        assert!(wrong.is_empty(), "{}:\n{}", kind.facts().kind, wrong.join("\n"));
    }
}

/// Every difference between two definitions but descriptions, as a path and what both say.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let mut names: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let both = (ours.get(name), theirs.get(name));
                // A description is text; a field of this name would be a schema.
                if name == "description" && both.0.or(both.1).is_some_and(Value::is_string) {
                    continue;
                }
                let absent = Value::Null;
                differences(
                    &format!("{path}/{name}"),
                    both.0.unwrap_or(&absent),
                    both.1.unwrap_or(&absent),
                    found,
                );
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                differences(&format!("{path}/{index}"), ours, theirs, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path}: ours {ours}, theirs {theirs}")),
    }
}

/// The field that a later provider has than that of the definitions beside the checkout.
const LATER: &str = "workloadRuntime";

/// Takes what is only of a later provider out of a schema: the field, and the rules that name it.
fn take_later(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove(LATER);
            map.values_mut().for_each(take_later);
        }
        Value::Array(list) => {
            list.retain(|item| !item["rule"].as_str().is_some_and(|rule| rule.contains(LATER)));
            list.iter_mut().for_each(take_later);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn our_definitions_differ_from_karpenters_in_words_only() {
    for kind in Kind::ALL.into_iter().filter(|kind| !OURS.contains(kind)) {
        let Some(text) = karpenters(kind) else { return };
        let theirs: Value = serde_saphyr::from_str(&text).unwrap();
        let mut ours: Value = serde_saphyr::from_str(kind.facts().crd).unwrap();
        take_later(&mut ours);
        let mut found = Vec::new();
        differences("", &ours, &theirs, &mut found);
        // The annotation names the program that wrote their file.
        found.retain(|difference| !difference.starts_with("/metadata/annotations:"));
        assert!(found.is_empty(), "{}:\n{}", kind.facts().kind, found.join("\n"));
    }
}

#[test]
fn the_examples_have_no_faults() {
    let mut count = 0;
    let mut folders = vec![format!("{}/examples", env!("CARGO_MANIFEST_DIR"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path().to_str().unwrap().to_owned();
            if entry.path().is_dir() {
                folders.push(path);
                continue;
            }
            if !path.ends_with(".yaml") {
                continue;
            }
            let documents: Vec<Value> =
                serde_saphyr::from_multiple(&std::fs::read_to_string(&path).unwrap()).unwrap();
            for document in documents {
                let (Some(version), Some(kind)) =
                    (document["apiVersion"].as_str(), document["kind"].as_str())
                else {
                    continue;
                };
                let Some(kind) = Kind::of(version, kind) else { continue };
                count += 1;
                assert_eq!(policy::faults(kind, &document), [], "{path}");
            }
        }
    }
    assert!(count >= 4, "only {count} objects of ours in the examples");
}
