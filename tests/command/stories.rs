//! Real input that once led to a wrong plan: each folder of `fixtures/found/` holds it, and sessions with what is right.
//!
//! A session is a text `*.session` of commands, each on a line `$ …`, and of what they print, standard error
//! included; a last line `[exit N]` says another exit code than 0, and lines that start with `#` say what is right. The
//! commands run one after the other, by `sh`, in a copy of the folder, with the program as `nodeform`. Two that end in
//! other words on another machine may be cut by a pipe. `UPDATE=1` rewrites what is printed: read the diff.
//! `NODEFORM_FOUND=claims` tries only the folders with that in their name.
#![expect(clippy::disallowed_methods, reason = "tests read and write files, and start programs")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use similar::TextDiff;

use crate::shell::{empty_folder, root};

/// The most lines and columns of a session; a larger one shows too much at once.
const LINES_MAX: usize = 150;
const COLUMNS_MAX: usize = 400;

/// The fewest cases that are there.
const CASES_MIN: usize = 25;

fn cases() -> Vec<PathBuf> {
    let only = std::env::var("NODEFORM_FOUND").unwrap_or_default();
    let entries = fs::read_dir(root().join("fixtures/found")).expect("the cases are there");
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    cases.retain(|case| case.is_dir() && case.display().to_string().contains(&only));
    cases.sort();
    assert!(!only.is_empty() || cases.len() >= CASES_MIN, "{} cases are there", cases.len());
    cases
}

fn sessions(case: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(case).expect("readable").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "session"));
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("has a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else if path.extension().is_none_or(|extension| extension != "session") {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

/// What a command prints, and its exit code where that is another than 0.
fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_nodeform")).parent().expect("is in a folder");
    let tools = root().join("target/tools/kubernetes");
    let path = format!(
        "{}:{}:{}",
        program.display(),
        tools.display(),
        std::env::var("PATH").expect("there is a path")
    );
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.com")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.com")])
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .output()
        .expect("`sh` starts");
    let mut said = String::from_utf8(output.stdout).expect("UTF-8");
    if !said.is_empty() && !said.ends_with('\n') {
        said.push('\n');
    }
    if let Some(code) = output.status.code().filter(|code| *code != 0) {
        let _ = writeln!(said, "[exit {code}]");
    }
    said
}

/// The commands of a session, and the comments right before each; what a command prints may look like one.
fn written(session: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut comments = Vec::new();
    for line in session.lines() {
        if line.starts_with('#') {
            comments.push(line);
        } else if line.starts_with("$ ") {
            lines.append(&mut comments);
            lines.push(line);
        } else {
            comments.clear();
        }
    }
    lines
}

/// The session as it goes today: its comments and commands, and what they print.
fn played(session: &Path) -> (String, String) {
    let expected = fs::read_to_string(session).expect("readable");
    let case = session.parent().expect("is in a folder");
    let name = |path: &Path| path.file_stem().and_then(|name| name.to_str()).expect("has a name").to_owned();
    let folder = empty_folder(&format!("found-{}-{}", name(case), name(session)));
    copy(case, &folder);
    let mut played = String::new();
    for line in written(&expected) {
        played.push_str(line);
        played.push('\n');
        if let Some(command) = line.strip_prefix("$ ") {
            played.push_str(&run(command, &folder));
        }
    }
    (expected, played)
}

#[test]
fn every_case_that_was_found_goes_as_its_sessions_say() {
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    assert!(has_jq || std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "jq is missing");
    let mut faults = Vec::new();
    for case in cases() {
        let sessions = sessions(&case);
        assert!(!sessions.is_empty(), "{} has no session", case.display());
        for session in sessions {
            if !has_jq && fs::read_to_string(&session).expect("readable").contains("| jq ") {
                eprintln!("skipped: 1 session, {}, needs jq", session.display());
                continue;
            }
            let (expected, played) = played(&session);
            assert!(played.contains("$ "), "{} has a command", session.display());
            let is_small = played.lines().count() <= LINES_MAX
                && played.lines().all(|line| line.chars().count() <= COLUMNS_MAX);
            if !is_small {
                faults.push(format!("{} is too large:\n{played}", session.display()));
            }
            if expected != played && std::env::var_os("UPDATE").is_some() {
                fs::write(&session, &played).expect("written");
            } else if expected != played {
                let diff = TextDiff::from_lines(&expected, &played);
                let diff = diff.unified_diff().header("expected", "played").to_string();
                faults.push(format!("{}:\n{diff}", session.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
