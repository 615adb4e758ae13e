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
