//! Every story of `examples/` plans to exactly the text that stands beside it, passes the judge, and is
//! settled. `UPDATE=1` rewrites the texts: read the diff.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use similar::TextDiff;

/// The most lines and columns of an expected text; a larger one shows too much at once.
const LINES_MAX: usize = 150;
const COLUMNS_MAX: usize = 120;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn stories() -> Vec<PathBuf> {
    let mut stories: Vec<PathBuf> = fs::read_dir(root().join("examples"))
        .expect("examples/ is there")
        .map(|entry| entry.expect("an entry").path())
        // What has to be rendered first is planned in `tools.rs`, a change of two sides in `git.rs`.
        .filter(|path| {
            path.is_dir()
                && !path.ends_with("ci")
                // The demo's world is no story of its own: `nodeform demo` plays it.
                && !path.ends_with("demo")
                && !path.join("rendered").is_dir()
                && !path.join("base/pools.yaml").is_file()
                && !path.join(SCRIPT).is_file()
        })
        .collect();
    stories.sort();
    stories
}

/// The commands of a story that takes more than one.
const SCRIPT: &str = "run.sh";

/// Returns what is wrong with a story's expected text; with `UPDATE`, writes it.
fn fault(story: &Path, printed: &str) -> Option<String> {
    let file = story.join("expected.txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, printed).expect("the text can be written");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    let diff = TextDiff::from_lines(expected.as_str(), printed);
    let diff = diff.unified_diff().header("expected", "printed").to_string();
    (expected != printed).then(|| format!("{}:\n{diff}", name(story)))
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the target folder takes folders");
    for entry in fs::read_dir(from).expect("the story is there") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, to.join(path.file_name().expect("has a name"))).expect("can be copied");
    }
}

#[test]
fn every_story_with_a_script_prints_the_text_beside_it() {
    let program = Path::new(env!("CARGO_BIN_EXE_nodeform")).parent().expect("is in a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("there is a path"));
    let mut faults = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(root().join("examples")).expect("examples/ is there") {
        let story = entry.expect("an entry").path();
        if !story.join(SCRIPT).is_file() {
            continue;
        }
        count += 1;
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stories").join(name(&story));
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("is ours");
        }
        copy_files(&story, &folder);
        let output = Command::new("sh")
            .args(["-eu", "-c", "exec 2>&1; . ./run.sh"])
            .current_dir(&folder)
            .env("PATH", &path)
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("there is a shell");
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{}: {printed}", name(&story));
        assert!(printed.lines().count() <= LINES_MAX, "{} prints too many lines", name(&story));
        faults.extend(fault(&story, &printed));
    }
    assert!(count >= 1, "the stories with scripts are there");
    assert!(faults.is_empty(), "{}\naccept with UPDATE=1 after reading", faults.join("\n"));
}

fn nodeform(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nodeform"))
        .args(arguments)
        .current_dir(root())
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

fn name(story: &Path) -> String {
    format!("examples/{}", story.file_name().expect("a folder has a name").to_string_lossy())
}

/// Plans a story as it is meant to be asked: with the flags of its `flags.txt`, where it has one.
fn asked(story: &Path, more: &[&str]) -> Output {
    let flags = fs::read_to_string(story.join("flags.txt")).unwrap_or_default();
    let name = name(story);
    let words: Vec<&str> =
        ["plan", &name].into_iter().chain(flags.split_whitespace()).chain(more.iter().copied()).collect();
    nodeform(&words)
}

#[test]
fn agent_pools_become_the_manifests_that_stand_beside_them() {
    let from = "examples/agent-pools/az/nodepools.json";
    let output = nodeform(&["init", "-", "--from", from, "--location", "westeurope"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let file = root().join("examples/agent-pools/nodeform.yaml");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, text(&output.stdout)).expect("the text can be written");
    }
    assert_eq!(text(&output.stdout), fs::read_to_string(file).expect("it stands there"));
    let said = text(&output.stderr);
    assert!(said.contains("agent pool `web`: `minCount` 3"), "{said}");
}

#[test]
fn every_story_plans_to_the_text_beside_it() {
    let stories = stories();
    assert!(stories.len() >= 4, "the stories are there");
    let mut faults = Vec::new();
    for story in stories {
        let output = asked(&story, &[]);
        assert!(output.status.success(), "{}: {}", name(&story), text(&output.stderr));
        let printed = text(&output.stdout);
        let too_wide = printed.lines().filter(|line| line.chars().count() > COLUMNS_MAX).count();
        assert_eq!(too_wide, 0, "{} has lines of more than {COLUMNS_MAX} columns:\n{printed}", name(&story));
        assert!(printed.lines().count() <= LINES_MAX, "{} prints too many lines", name(&story));
        faults.extend(fault(&story, &printed));
    }
    assert!(faults.is_empty(), "{}\naccept with UPDATE=1 after reading", faults.join("\n"));
}

#[test]
fn a_saved_plan_of_every_story_is_shown_alike_and_verified() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for story in stories() {
        let file = folder.join(format!("{}.json", story.file_name().expect("a name").to_string_lossy()));
        let file = file.to_str().expect("the folder is UTF-8");
        let planned = asked(&story, &["--out", file, "--detailed-exitcode"]);
        assert_eq!(planned.status.code(), Some(2), "{}: {}", name(&story), text(&planned.stderr));
        let shown = nodeform(&["show", file]);
        assert_eq!(text(&shown.stdout), text(&planned.stdout), "{}", name(&story));
        let verified = nodeform(&["verify", file]);
        assert_eq!(verified.status.code(), Some(0), "{}{}", text(&verified.stdout), text(&verified.stderr));
        let again = asked(&story, &["-o", "json"]);
        assert_eq!(text(&again.stdout), fs::read_to_string(file).expect("the plan was saved"));
    }
}

/// Returns what strategies of a plan in JSON come to: the name, pods that fit nowhere, and dollars by the hour in millionths.
fn fleets(plan: &serde_json::Value) -> Vec<(&str, u64, i64)> {
    let fleets = plan["evidence"]["strategies"].as_array().expect("several strategies were asked");
    let fleet = |fleet: &serde_json::Value| fleet["cost"]["effective"].as_i64().expect("a number");
    let all = fleets.iter().map(|one| {
        let strategy = one["strategy"].as_str().expect("a name");
        (strategy, one["unplacedPods"].as_u64().expect("a number"), fleet(one))
    });
    all.collect()
}

#[test]
fn both_strategies_of_every_story_stand_side_by_side_above_what_any_fleet_costs() {
    let mut count = 0;
    for story in stories() {
        let [output, again, alone] = [
            &["--strategy", "both", "-o", "json"][..],
            &["--strategy", "both", "-o", "json"],
            &["-o", "json"],
        ]
        .map(|more| asked(&story, more));
        assert!(output.status.success(), "{}: {}", name(&story), text(&output.stderr));
        assert_eq!(text(&output.stdout), text(&again.stdout), "{}", name(&story));
        assert!(text(&output.stderr).contains("Karpenter strategy"), "{}", text(&output.stderr));
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("is JSON");
        let alone: serde_json::Value = serde_json::from_slice(&alone.stdout).expect("is JSON");
        assert_eq!(plan["spec"], alone["spec"], "{}: the plan is the one without a comparison", name(&story));
        let [(ours, unplaced, cost), (theirs, others, dearer)] = fleets(&plan)[..] else {
            panic!("{}: two strategies", name(&story));
        };
        assert_eq!([ours, theirs], ["cheapest", "karpenter"]);
        assert_eq!(Some(cost), plan["evidence"]["report"]["costAfter"]["effective"].as_i64());
        if unplaced == others {
            assert!(cost <= dearer, "{}: {cost} is dearer than {dearer}", name(&story));
        }
        if let Some(least) = plan["evidence"]["report"]["bound"]["least"].as_i64() {
            assert!(least <= cost, "{}: {cost} is below {least}", name(&story));
            count += 1;
        }
    }
    assert!(count > 0, "some bound is known");
}

#[test]
fn two_strategies_are_not_compared_over_two_inputs_or_a_part_of_a_fleet() {
    for more in [&["--before", "examples/quickstart"][..], &["--target", "pool/default"]] {
        let words = ["plan", "examples/consolidation", "--strategy", "both"];
        let output = nodeform(&words.iter().chain(more).copied().collect::<Vec<_>>());
        assert!(!output.status.success());
        let said = text(&output.stderr);
        assert!(said.contains("compares whole fleets of one input"), "{said}");
    }
}

#[test]
fn a_plan_that_was_edited_is_refused() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("edited.json");
    let path = file.to_str().expect("the folder is UTF-8");
    assert!(nodeform(&["plan", "examples/quickstart", "--out", path]).status.success());
    let plan = fs::read_to_string(&file).expect("the plan was saved");
    let edited = plan.replacen("general-purpose", "general-purposf", 1);
    assert_ne!(plan, edited);
    fs::write(&file, edited).expect("the plan can be edited");
    let verified = nodeform(&["verify", path]);
    assert!(matches!(verified.status.code(), Some(1 | 3)), "{}", text(&verified.stdout));
    assert!(text(&verified.stderr).contains("hint:"), "{}", text(&verified.stderr));
}
