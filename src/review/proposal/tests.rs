//! Plan folders and their files, as values.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Content, DESTROYS, Derived, DestroyLine, Files, FolderName, PLAN, Proposal, ProposalFault, SIGNATURE,
    Template, branches, class, class_of_branch, is_month, is_month_over, read, struck,
};
use crate::manifests::folder::holds_a_plan;
use crate::model::{ChangeClass, Digest, DisruptionReason};
use crate::plan::execution::ClusterIdentity;
use crate::plan::tests::world::example_plan;
use crate::plan::{Change, ChangeId, Execution, Plan, file};

/// Returns a live plan with two creates and one removal.
fn example() -> Plan {
    let mut plan = example_plan();
    let cluster = ClusterIdentity {
        uid: "uid".into(),
        id: "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/demo"
            .into(),
        node_resource_group: "n".into(),
        location: "westeurope".into(),
    };
    plan.spec.execution = Some(Execution {
        cluster,
        seen_at: "2026-11-30T23:59:59Z".parse().ok(),
        machines: BTreeMap::new(),
        launches: BTreeMap::new(),
        nodes: BTreeMap::new(),
        removals: BTreeMap::new(),
        nominations: BTreeMap::new(),
        made_for: BTreeMap::new(),
    });
    plan.evidence.seen_at = "2026-11-30T23:59:59Z".parse().ok();
    plan
}

fn derived_by(plan: &Plan, _: Template) -> Derived {
    derived(plan)
}

fn derived(plan: &Plan) -> Derived {
    let lines = plan.spec.deletes().map(|(id, delete)| DestroyLine {
        change: id.clone(),
        text: format!("- node/{}  # small", delete.target.node),
    });
    Derived {
        markdown: format!("# A page\nof three lines\n{}\n", Template::NEWEST.line()),
        destroys: lines.collect(),
    }
}

fn files(plan: &Plan) -> Vec<(String, Content)> {
    let derived = derived(plan);
    let destroys = derived.destroys_text().map(|text| ("destroy.txt", text));
    let files =
        [("PLAN.md", derived.markdown), ("plan.jsonc", file::write(plan))].into_iter().chain(destroys);
    files.map(|(name, text)| (name.to_owned(), Content::Bytes(text.into_bytes()))).collect()
}

fn with(plan: &Plan, name: &str, content: Option<Content>) -> Result<Proposal, ProposalFault> {
    let mut files: BTreeMap<String, Content> = files(plan).into_iter().collect();
    match content {
        Some(content) => drop(files.insert(name.to_owned(), content)),
        None => drop(files.remove(name)),
    }
    read(FolderName::of(plan).as_ref(), Files::of(files.into_iter().collect())?, derived_by)
}

fn said(result: Result<Proposal, ProposalFault>) -> String {
    result.map_or_else(|fault| fault.to_string(), |proposal| format!("{} struck", proposal.struck.len()))
}

#[test]
fn a_folder_is_named_by_month_class_and_plan() {
    let plan = example();
    let name = FolderName::of(&plan).expect("it has changes");
    assert_eq!(name.to_string(), format!("2026-11/create-{}", plan.id()));
    assert_eq!(FolderName::parse("2026-11", &name.folder()), Ok(name));
    for (month, folder) in [
        ("2026-13", "create-aaaaaaaaaa"),
        ("2026-1", "create-aaaaaaaaaa"),
        ("..", "create-aaaaaaaaaa"),
        ("2026-11", "create-aaaaaaaaa"),
        ("2026-11", "create-aaaaaaaaa1"),
        ("2026-11", "create-AAAAAAAAAA"),
        ("2026-11", "adopt-aaaaaaaaaa"),
        ("2026-11", "aaaaaaaaaa"),
        ("2026-11", "../create-aaaaaaaaaa"),
        ("2026-11", ""),
    ] {
        assert!(FolderName::parse(month, folder).is_err(), "{month}/{folder}");
    }
    assert!(is_month("0000-12") && !is_month("2026-00") && !is_month("+026-11") && !is_month("2026-+1"));
}

#[test]
fn a_folder_in_the_place_of_another_plan_is_misplaced_and_a_copy_elsewhere_is_not() {
    let name = FolderName::parse("2026-11", "move-pods-k3v2q2m7xa").expect("a name");
    for (month, folder) in
        [("2026-11", "move-pods-k3v2q2m7xa"), ("tmp", "move-pods-k3v2q2m7xa"), ("tmp", "x")]
    {
        assert!(!name.is_misplaced(month, folder), "{month}/{folder}");
    }
    for (month, folder) in [
        ("2026-12", "move-pods-k3v2q2m7xa"),
        ("2026-13", "move-pods-k3v2q2m7xa"),
        ("2026-1", "move-pods-k3v2q2m7xa"),
        ("2026-11", "create-k3v2q2m7xa"),
        ("2026-11", "move-pods-aaaaaaaaaa"),
        ("2026-11", "x"),
        ("tmp", "move-pods-aaaaaaaaaa"),
    ] {
        assert!(name.is_misplaced(month, folder), "{month}/{folder}");
    }
    let fault = FolderName::parse("2026-13", "move-pods-k3v2q2m7xa").expect_err("there is no such month");
    assert!(fault.to_string().contains("is in `2026-13`, which is not a month"), "{fault}");
}

#[test]
fn a_month_is_over_once_no_plan_of_its_last_day_may_begin_or_is_told_of() {
    let over = |month: &str, now: &str| is_month_over(month, now.parse().expect("a time"));
    // 30 days and a week after the end of November.
    assert!(!over("2026-11", "2027-01-07T00:00:00Z"));
    assert!(over("2026-11", "2027-01-07T00:00:01Z"));
    assert!(over("2025-12", "2027-01-07T00:00:00Z") && !over("2027-02", "2027-01-07T00:00:00Z"));
    assert!(!over("2020-13", "2027-01-07T00:00:00Z") && !over("0000", "2027-01-07T00:00:00Z"));
}

#[test]
fn a_plan_of_several_classes_goes_under_the_weightiest() {
    let mut plan = example();
    // One empty node is removed, two are created.
    assert_eq!(class(&plan), Some(ChangeClass::Create));
    for planned in plan.spec.changes.values_mut() {
        if let Change::Delete(delete) = &mut planned.change {
            delete.reason = DisruptionReason::Underutilized;
        }
    }
    assert_eq!(class(&plan), Some(ChangeClass::MovePods));
    plan.spec.changes.clear();
    assert_eq!(class(&plan), None);
}

#[test]
fn branches_are_named_by_cluster_class_and_plan() {
    let name = FolderName::parse("2026-11", "move-pods-k3v2q2m7xa").expect("a name");
    assert_eq!(name.branch("prod-weu"), "nodeform/prod-weu/move-pods-k3v2q2m7xa");
    assert_eq!(class_of_branch("move-pods-k3v2q2m7xa"), Some(ChangeClass::MovePods));
    assert_eq!(["move-pods", "own-k3v2q2m7xa", "create-1"].map(class_of_branch), [None; 3]);
    assert_eq!(branches("a b/../c~"), "nodeform/a-b----c/");
    assert_eq!(branches("…"), "nodeform/cluster/");
}

#[test]
fn files_that_belong_together_are_a_plan_and_removals_may_be_struck() {
    let plan = example();
    let bytes = |text: &str| Some(Content::Bytes(text.as_bytes().to_vec()));
    let line = derived(&plan).destroys_text().expect("one goes");
    assert_eq!(said(with(&plan, "destroy.txt", bytes(&line))), "0 struck");
    for kept in ["", "\n", "[]\n"] {
        assert_eq!(said(with(&plan, "destroy.txt", bytes(kept))), "1 struck", "{kept:?}");
    }
    assert_eq!(said(with(&plan, "destroy.txt", None)), "1 struck");
}

/// Returns the file as written by a later version, with an additional evidence field.
fn newer(text: &str) -> String {
    let mut file: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let before = file["evidenceDigest"].as_str().expect("text").to_owned();
    file["evidence"]["aaa"] = serde_json::json!(1);
    let after = Digest::of_json(&file["evidence"]).expect("it has a form").to_string();
    text.replacen("\"evidence\": {", "\"evidence\": {\"aaa\":1,", 1).replacen(&before, &after, 1)
}

#[test]
fn any_other_edit_is_a_fault_that_names_it() {
    let plan = example();
    let bytes = |text: &str| Some(Content::Bytes(text.as_bytes().to_vec()));
    let (line, page) = (derived(&plan).destroys_text().expect("one goes"), derived(&plan).markdown);
    let text = file::write(&plan);
    for (name, content, because) in [
        ("PLAN.md", bytes(&page.replace("three", "four")), "line 2 of `PLAN.md`"),
        ("PLAN.md", bytes(page.trim_end()), "line 4 of `PLAN.md`"),
        ("PLAN.md", bytes("# A page\n"), "`PLAN.md` was written by template `none`"),
        ("PLAN.md", None, "`PLAN.md` is missing"),
        ("plan.jsonc", None, "`plan.jsonc` is missing"),
        (
            "plan.jsonc",
            bytes(&text.replacen("\"scope\": [", "\"scope\": [ ", 1)),
            "`plan.jsonc` holds no plan",
        ),
        ("plan.jsonc", bytes(&newer(&text)), "as this version"),
        (
            "plan.jsonc",
            bytes(&text.replacen("\"evidence\": {", "\"evidence\": {\"aaa\":1,", 1)),
            "holds no plan",
        ),
        ("plan.jsonc", Some(Content::Bytes(vec![0xff])), "`plan.jsonc` is not UTF-8 text"),
        ("plan.jsonc", Some(Content::TooLarge), "`plan.jsonc` has more than 16 MiB"),
        ("PLAN.md", Some(Content::NoFile), "`PLAN.md` is not a plain file"),
        ("plan.json", bytes(""), "`plan.json` is a file name of an older version of nodeform"),
        ("destroy.yaml", bytes(""), "`destroy.yaml` is a file name of an older version of nodeform"),
        ("create.yaml", bytes(""), "`create.yaml` does not belong in a plan folder"),
        ("destroy.txt", bytes(&format!("{line}{line}")), "line 2 of `destroy.txt`"),
        ("destroy.txt", bytes("- node/other\u{1b}\n"), "line 1 of `destroy.txt`"),
        ("destroy.txt", bytes(&line.replace("small", "tiny")), "line 1 of `destroy.txt`"),
    ] {
        let told = said(with(&plan, name, content));
        assert!(told.contains(because), "{told}");
        assert!(!told.contains('\u{1b}'), "{told}");
    }
    let other = FolderName { class: ChangeClass::MovePods, ..FolderName::of(&plan).expect("a name") };
    let files = Files::of(files(&plan)).expect("they are a plan's");
    assert!(said(read(Some(&other), files, derived_by)).contains("the folder is called"));
    let offline = Plan { spec: crate::plan::PlanSpec { execution: None, ..plan.spec.clone() }, ..plan };
    assert!(said(with(&offline, "x", None)).contains("no changes that can be applied"));
}

#[test]
fn a_folder_under_the_old_names_is_told_to_be_proposed_again() {
    let plan = example();
    let renamed = files(&plan).into_iter().map(|(name, content)| match &*name {
        PLAN => ("plan.json".to_owned(), content),
        DESTROYS => ("destroy.yaml".to_owned(), content),
        _ => (name, content),
    });
    let fault = Files::of(renamed.collect()).expect_err("they are of an older version");
    assert!(fault.hint().contains("propose again: `nodeform propose --live`"), "{}", fault.hint());
}

#[test]
fn no_file_of_a_plan_is_taken_for_a_manifest() {
    let names: Vec<String> = files(&example()).into_iter().map(|(name, _)| name).collect();
    let names: BTreeSet<&str> = names.iter().map(String::as_str).chain([SIGNATURE]).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(holds_a_plan(&names), "{names:?}");
    // Extensions that `kubectl apply -R`, Flux and Argo CD's directory source read.
    let read = [".yaml", ".yml", ".json", ".jsonnet"];
    assert!(!names.iter().any(|name| read.iter().any(|ending| name.ends_with(ending))), "{names:?}");
}

#[test]
fn lines_are_struck_in_any_number_and_never_reordered() {
    let ids = ["a", "b", "c", "d", "e"];
    let lines: Vec<DestroyLine> = ids
        .iter()
        .map(|id| DestroyLine { change: ChangeId((*id).into()), text: format!("- node/{id}") })
        .collect();
    for mask in 0_u32..32 {
        let is_kept = |place: usize| mask & (1 << place) != 0;
        let kept = lines.iter().enumerate().filter(|(place, _)| is_kept(*place));
        let text: String = kept.map(|(_, line)| format!("{}\n", line.text)).collect();
        let gone = ids.iter().enumerate().filter(|(place, _)| !is_kept(*place));
        let expected: BTreeSet<ChangeId> = gone.map(|(_, id)| ChangeId((*id).into())).collect();
        assert_eq!(struck(&lines, Some(&text)), Ok(expected), "{text}");
    }
    for text in [
        "- node/b\n- node/a\n",
        "- node/a\n- node/a\n",
        "- node/f\n",
        " - node/a\n",
        "- node/a\r\n",
        "# nothing\n",
    ] {
        assert!(struck(&lines, Some(text)).is_err(), "{text:?}");
    }
}

#[test]
fn a_line_that_strikes_nothing_is_told_with_what_differs() {
    let line =
        |name: &str| DestroyLine { change: ChangeId(name.into()), text: format!("- node/{name}  # small") };
    let lines = [line("a"), line("b")];
    for (text, what) in [
        ("- node/a  # small\r\n", "line 1 of `destroy.txt` ends with a carriage return"),
        ("- node/a  # small  \n", "line 1 of `destroy.txt` ends with spaces"),
        ("# - node/a  # small\n- node/b  # small\n", "line 1 of `destroy.txt` is commented out"),
        ("  - node/a  # small\n", "line 1 of `destroy.txt` is indented"),
        ("- node/b  # small\n- node/a  # small\n", "line 2 of `destroy.txt` is listed twice, or not in"),
        ("- node/a  # large\n", "line 1 of `destroy.txt` differs from the plan's line of its node"),
        ("- node/c  # small\n", "line 1 of `destroy.txt` is not one of the plan's"),
    ] {
        let fault = struck(&lines, Some(text)).expect_err(text);
        assert!(fault.to_string().starts_with(what), "{text:?}: {fault}");
        assert!(fault.hint().starts_with("delete the line"), "{}", fault.hint());
    }
}
