//! What scripts rely on: the rows of `-o json`, the questions of the book, exit codes and the size of the help.
#![expect(
    clippy::disallowed_methods,
    reason = "tests read files, start programs, and say what they leave out"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::pages::blocks;
use crate::shell::{aside, empty_folder, nodeform, out, root, start};

/// Plans with creates, deletes, evictions, spot, volumes of pods and none at all.
const STORIES: [&str; 6] =
    ["quickstart", "existing-fleet", "consolidation", "spot-with-fallback", "zone-spread", "gpu"];

fn planned(story: &str) -> Value {
    let output = nodeform(&["plan", &format!("examples/{story}"), "-o", "json"]);
    assert!(output.status.success(), "{}", aside(&output));
    serde_json::from_str(&out(&output)).expect("the plan file is JSON")
}

fn list<'a>(plan: &'a Value, name: &str) -> &'a Vec<Value> {
    plan[name].as_array().unwrap_or_else(|| panic!("`{name}` is no list"))
}

fn cents(value: &Value) -> i64 {
    let text = value.as_str().expect("dollars are text");
    let (whole, rest) = text.split_once('.').expect("a decimal");
    assert_eq!(rest.len(), 2, "{text}");
    format!("{whole}{rest}").parse().expect("digits")
}

#[test]
fn the_rows_of_a_plan_agree_with_its_summary_and_its_page() {
    for story in STORIES {
        let plan = planned(story);
        let count = |action: &str| {
            let rows = list(&plan, "nodes").iter().filter(|row| row["action"] == action).count();
            Value::from(rows)
        };
        assert_eq!(count("create"), plan["summary"]["add"], "{story}");
        assert_eq!(count("delete"), plan["summary"]["destroy"], "{story}");
        for row in list(&plan, "nodes") {
            for field in ["name", "pool", "size", "zone", "capacityType", "monthly"] {
                assert!(row.get(field).is_some(), "{story}: {row} has no `{field}`");
            }
        }
        // Each row is rounded to the cent by itself.
        let rows = i64::try_from(list(&plan, "nodes").len() + list(&plan, "pools").len()).expect("few rows");
        let near = |sum: i64, whole: i64| (sum - whole).abs() <= rows;
        for (pool, of_plan) in [("monthlyBefore", "monthlyBefore"), ("monthlyAfter", "monthlyAfter")] {
            let sum: i64 = list(&plan, "pools").iter().map(|row| cents(&row[pool])).sum();
            assert!(near(sum, cents(&plan["summary"][of_plan])), "{story}: {pool}");
        }
        assert_eq!(
            cents(&plan["cost"]["monthlySaving"]),
            -cents(&plan["summary"]["monthlyDelta"]),
            "{story}"
        );
        let page = out(&nodeform(&["plan", &format!("examples/{story}")]));
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let evicted = match list(&plan, "evictions").len() {
            0 => {
                assert!(!page.contains("Evicts "), "{page}");
                continue;
            }
            1 => "Evicts 1 running pod ".to_owned(),
            pods => format!("Evicts {pods} running pods "),
        };
        assert!(page.contains(&evicted), "{story}: {page}");
    }
}

#[test]
fn the_questions_of_the_book_have_an_answer_for_every_plan() {
    let page = fs::read_to_string(root().join("docs/in-ci.md")).expect("the page is there");
    let asked: Vec<String> = blocks(&page)
        .into_iter()
        .filter(|block| block.language == "sh" && block.text.starts_with("jq -r '"))
        .map(|block| block.text)
        .collect();
    assert!(asked.len() >= 10, "{} questions", asked.len());
    if Command::new("jq").arg("--version").output().is_err() {
        assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "jq is missing");
        eprintln!("skipped: the questions need jq");
        return;
    }
    for story in STORIES {
        let folder = empty_folder(&format!("questions-{story}"));
        let plan = planned(story);
        fs::write(folder.join("plan.json"), plan.to_string()).expect("written");
        let mut answers = BTreeMap::new();
        for question in &asked {
            let output = Command::new("sh").args(["-euc", question]).current_dir(&folder).output();
            let output = output.expect("there is a shell");
            assert!(output.status.success(), "{story}: {question}{}", aside(&output));
            answers.insert(question.as_str(), out(&output));
        }
        let answer = |part: &str| {
            let (_, answer) = answers.iter().find(|(question, _)| question.contains(part)).expect("is asked");
            answer.lines().count()
        };
        assert_eq!(
            answer("== \"create\""),
            list(&plan, "nodes").iter().filter(|row| row["action"] == "create").count()
        );
        assert_eq!(answer(".evictions[]"), list(&plan, "evictions").len(), "{story}");
        assert_eq!(answer("monthlyWorstCase"), 1, "{story}");
    }
}

#[test]
fn a_plan_file_with_other_rows_is_refused() {
    let folder = empty_folder("rows");
    let fleet = root().join("examples/existing-fleet").display().to_string();
    assert!(start(&["plan", &fleet, "--out", "plan.json"], &folder, "").status.success());
    let text = fs::read_to_string(folder.join("plan.json")).expect("saved");
    let row = text.lines().find(|line| line.contains("\"action\":\"delete\"")).expect("a node is deleted");
    let dearer = row.replace("\"monthlySaving\":\"", "\"monthlySaving\":\"9");
    assert_ne!(row, dearer);
    fs::write(folder.join("plan.json"), text.replacen(row, &dearer, 1)).expect("written");
    let shown = start(&["show", "plan.json"], &folder, "");
    assert_eq!(shown.status.code(), Some(3), "{}", aside(&shown));
    assert!(aside(&shown).contains(".monthlySaving` is not what follows from the rest"), "{}", aside(&shown));
}

/// The exit codes that the program has, as its source says.
fn exit_codes() -> BTreeSet<u8> {
    let source = fs::read_to_string(root().join("src/cli/exit.rs")).expect("the source is there");
    let codes = source.lines().filter_map(|line| line.trim().strip_prefix("Exit::")?.split_once(" => "));
    codes.filter_map(|(_, code)| code.trim_end_matches(',').parse().ok()).collect()
}

/// The codes in the first cells of a table of exit codes.
fn codes_of(page: &str) -> BTreeSet<u8> {
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()?.parse().ok());
    rows.collect()
}

#[test]
fn the_exit_codes_of_the_book_are_those_of_the_program() {
    let codes = exit_codes();
    assert!(codes.len() >= 7, "{codes:?}: is the source still read?");
    assert_eq!(codes_of("docs/reference/exit-codes.md"), codes);
    assert!(codes_of("docs/applying.md").is_subset(&codes));
    // What the help of a command says of them, in the help and in the man pages, which are made of it.
    for command in ["plan", "diff"] {
        let help = out(&nodeform(&[command, "--help"]));
        let line = help.lines().find_map(|line| line.strip_prefix("Exit codes: ")).expect("says its codes");
        let said = line.split([' ', ',']).filter_map(|word| word.parse::<u8>().ok()).collect::<BTreeSet<_>>();
        assert!(said.len() >= 3 && said.is_subset(&codes), "{line}");
    }
}

#[test]
fn the_help_of_plan_has_its_flags_in_groups_on_a_hundred_lines() {
    for flag in ["--help", "-h"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
        let output = command.args(["plan", flag]).env("COLUMNS", "100").output().expect("the program ends");
        let help = out(&output);
        assert!(help.lines().count() <= 100, "{} lines:\n{help}", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut group = "";
        for line in help.lines() {
            match line.strip_suffix(':') {
                Some(heading) if !line.starts_with(' ') => group = heading,
                Some(_) | None => {
                    let flag = line.split_whitespace().find(|word| word.starts_with("--"));
                    let is_flag = line.trim_start().starts_with('-');
                    groups.entry(group).or_default().extend(flag.filter(|_| is_flag));
                }
            }
        }
        for heading in ["Input", "Live cluster", "What if", "Changes", "Output", "Gates"] {
            assert!(groups.get(heading).is_some_and(|flags| flags.len() >= 3), "{heading}: {groups:?}");
        }
        assert_eq!(groups["Options"], ["--no-color", "--help", "--version"], "every other flag has a group");
    }
    let at_length = out(&nodeform(&["help", "plan"]));
    assert!(at_length.contains("Never hidden: names of nodes"), "{at_length}");
}

/// The long flags in a text.
fn flags_of(text: &str) -> BTreeSet<String> {
    let flag = regex_lite::Regex::new("--[a-z][a-z-]+").expect("the pattern is right");
    flag.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

#[test]
fn the_ways_in_of_the_book_are_those_of_the_program() {
    let page = fs::read_to_string(root().join("docs/ways-in.md")).expect("the page is there");
    let told = aside(&nodeform(&["plan"]));
    let ways = flags_of(&told);
    assert!(ways.len() >= 3, "{told}");
    let unnamed: Vec<&String> =
        ways.iter().filter(|flag| !page.contains(*flag)).filter(|flag| *flag != "--out").collect();
    assert!(unnamed.is_empty(), "told where there is no input, and not in ways-in.md: {unnamed:?}");
    let known: BTreeSet<String> = ["plan", "snapshot", "validate", "apply"]
        .iter()
        .flat_map(|command| flags_of(&out(&nodeform(&["help", command]))))
        .collect();
    // Quoted text and commands of other programs are not ours.
    let own: Vec<&str> = page.split('`').skip(1).step_by(2).filter(|quoted| quoted.contains("--")).collect();
    let strange: BTreeSet<String> =
        own.iter().filter(|quoted| !quoted.contains('\n')).flat_map(|quoted| flags_of(quoted)).collect();
    let strange: Vec<&String> = strange.iter().filter(|flag| !known.contains(*flag)).collect();
    assert!(strange.is_empty(), "in ways-in.md, and no flag: {strange:?}");
}
