//! Holds the layers: which module may use which, and what a pure module must never mention.
//!
//! A new edge is a line in [`EDGES`], with the reason in the commit.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module and the modules that it may use, in reading order.
const EDGES: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("api", &["model"]),
    ("policy", &["model", "api"]),
    ("manifests", &["model", "api"]),
    // The fields of a class, by which slips in the case of letters are mended.
    ("upgrade", &["model", "api", "manifests"]),
    ("catalog", &["model"]),
    ("snapshot", &["model", "manifests", "catalog", "policy"]),
    ("solve", &["model", "policy", "catalog", "snapshot"]),
    ("plan", &["model", "policy", "catalog", "snapshot", "solve"]),
    ("check", &["model", "policy", "catalog", "snapshot", "plan"]),
    // NodePlan objects, built and read and not sent.
    ("ledger", &["model", "api"]),
    ("review", &["model", "policy", "snapshot", "plan", "check"]),
    // What was last seen of a cluster, for planning and for carrying plans out.
    ("world", &["model", "arm", "snapshot"]),
    // When an approved plan is carried out.
    ("rollout", &["model", "plan", "review", "arm", "world"]),
    (
        "render",
        &[
            "model",
            "api",
            "policy",
            "manifests",
            "catalog",
            "snapshot",
            "solve",
            "plan",
            "check",
            "review",
            "arm",
            "bootstrap",
            "launch",
        ],
    ),
    // What `az` prints or a dump of Nodes, to manifests: the sizes say what they hold.
    ("agent_pools", &["model", "api", "manifests", "catalog"]),
    // Azure's bodies and answers, built with its models and not sent.
    ("arm", &["model"]),
    ("bootstrap", &["model", "api"]),
    // What a plan leaves to be made of a class: the VM, its image, and what it starts with.
    ("launch", &["model", "api", "policy", "catalog", "snapshot", "plan", "bootstrap"]),
    ("sim", &["model", "snapshot", "plan"]),
    (
        "offline",
        &[
            "model",
            "api",
            "policy",
            "manifests",
            // What is refused in older words is told in those of today.
            "upgrade",
            "catalog",
            "snapshot",
            "solve",
            "plan",
            "check",
            "review",
            "launch",
            "sim",
        ],
    ),
    // The rounds: plans are made by `offline`, and what of them begins is decided here.
    // An open proposal stands while it covers what would be proposed now: `review` says whether it does.
    ("automatic", &["model", "api", "policy", "snapshot", "plan", "review", "offline"]),
];

/// Modules where things may happen: repositories, files, the terminal.
const EFFECTS: &[&str] = &[
    "git",
    "gitops",
    "forge",
    "cli",
    "clock",
    "azure",
    "azure_sim",
    "cluster",
    "observe",
    "apply",
    "controller",
];

/// What a pure module must not mention, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    ("tokio", "nothing above the line waits"),
    ("async ", "nothing above the line waits"),
    (".await", "nothing above the line waits"),
    ("std::fs", "files are read and written in `cli`"),
    ("std::env", "the environment is read in `cli`"),
    ("std::net", "nothing above the line talks to the world"),
    ("std::process", "nothing above the line starts a program"),
    ("std::thread", "nothing above the line starts a thread of its own"),
    ("::now(", "time is a value"),
    ("HashMap", "its order differs from run to run"),
    ("HashSet", "its order differs from run to run"),
    ("println!", "only `cli` prints"),
    ("eprintln!", "only `cli` prints"),
    ("tracing::", "what is left out is reported, not logged"),
    ("rand::", "nothing is random"),
    (" f32", "amounts are integers with units"),
    (" f64", "amounts are integers with units"),
];

/// The one file that calculates in floating point: what leaves it is rounded, and proven in integers.
const FLOATING: &str = "src/solve/bound/simplex.rs";

/// Narrower than an edge: a module, and a path that it must not use, and why.
const FORBIDDEN_PATHS: &[(&str, &str, &str)] = &[
    ("check", "plan::order", "the judge shares no reasoning with what it judges"),
    ("review", "plan::order", "what covers a plan shares no reasoning with what makes one"),
    ("review", "plan::propose", "what covers a plan shares no reasoning with what makes one"),
];

/// Where a solution is made into a plan, each time on the way to the judge (`unjudged` gives it a plan that it
/// is to refuse). Everybody else asks one of these.
const PLANNERS: [&str; 5] = [
    "src/offline/live.rs",
    "src/plan/mod.rs",
    "src/plan/tests/world.rs",
    "tests/support/worlds/by_hand.rs",
    "tests/support/worlds/judged.rs",
];

struct SourceLine {
    file: PathBuf,
    number: usize,
    text: String,
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is readable")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The code of a module without comments, and without the tests at the end of a file or in `tests.rs`.
fn code_of(module: &str) -> Vec<SourceLine> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let folder = source.join(module);
    if folder.is_dir() {
        rust_files(&folder, &mut files);
    }
    files.extend(Some(source.join(format!("{module}.rs"))).filter(|file| file.is_file()));
    let is_test = |file: &Path| {
        file.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
    };
    files.retain(|file| !is_test(file));
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("the file is readable");
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("#[cfg(test)]") {
                break;
            }
            if !line.trim_start().starts_with("//") {
                lines.push(SourceLine { file: file.clone(), number: index + 1, text: line.to_owned() });
            }
        }
    }
    lines
}

fn used_modules(line: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (at, found) in line.match_indices("crate::") {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|character| character.is_alphanumeric() || character == '_') {
            continue;
        }
        let rest = &line[at + found.len()..];
        let names: Vec<String> = match rest.strip_prefix('{') {
            Some(group) => group.split(',').map(first_word).collect(),
            None => vec![first_word(rest)],
        };
        used.extend(names);
    }
    used
}

fn first_word(text: &str) -> String {
    text.trim().chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

#[test]
fn every_module_uses_only_what_its_layer_allows() {
    let known: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let mut faults = Vec::new();
    for (module, allowed) in EDGES {
        for line in code_of(module) {
            for used in used_modules(&line.text) {
                let is_module = known.contains_key(used.as_str()) || EFFECTS.contains(&used.as_str());
                if is_module && used != *module && !allowed.contains(&used.as_str()) {
                    faults.push(format!(
                        "{}:{}: `{module}` must not use `{used}`",
                        line.file.display(),
                        line.number
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pure_modules_mention_nothing_that_happens() {
    let mut faults = Vec::new();
    for (module, _) in EDGES {
        for line in code_of(module) {
            for (word, why) in FORBIDDEN {
                let may_float = *word == " f64" && line.file.ends_with(FLOATING);
                if line.text.contains(word) && !may_float {
                    faults.push(format!("{}:{}: `{word}`: {why}", line.file.display(), line.number));
                }
            }
        }
    }
    for (module, path, why) in FORBIDDEN_PATHS {
        for line in code_of(module) {
            if line.text.contains(path) {
                faults.push(format!("{}:{}: `{path}`: {why}", line.file.display(), line.number));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether a line calls one of the functions that make plans, and nothing else of that name.
fn makes_a_plan(line: &str) -> bool {
    let mut calls = line.match_indices("plan(").chain(line.match_indices("plan_targets("));
    calls.any(|(at, _)| {
        let before = &line[..at];
        let is_path = before.ends_with("plan::") || before.ends_with("super::");
        let is_whole = !before.ends_with(|last: char| last.is_alphanumeric() || "_.:".contains(last));
        (is_path || is_whole) && !before.ends_with("fn ")
    })
}

#[test]
fn nobody_has_a_plan_that_was_not_judged() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests", "benches"] {
        rust_files(&root.join(folder), &mut files);
    }
    let mut planners = BTreeSet::new();
    for file in files.iter().filter(|file| !file.ends_with(file!())) {
        let text = fs::read_to_string(file).expect("the file is readable");
        if text.lines().any(makes_a_plan) {
            planners.insert(file.strip_prefix(root).expect("is inside").display().to_string());
        }
    }
    assert_eq!(planners, PLANNERS.map(str::to_owned).into());
}

#[test]
fn every_module_of_the_crate_stands_in_the_table() {
    let library =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("src/lib.rs");
    for line in library.lines().filter(|line| line.starts_with("pub mod ") || line.starts_with("mod ")) {
        let name = line.trim_start_matches("pub ").trim_start_matches("mod ").trim_end_matches(';');
        let is_known = EDGES.iter().any(|(module, _)| *module == name) || EFFECTS.contains(&name);
        assert!(is_known, "`{name}` has no line in the table of layers");
    }
}

#[test]
fn the_fence_sees_a_forbidden_edge() {
    assert_eq!(
        used_modules("use crate::{solve::pack, plan};"),
        BTreeSet::from(["plan".into(), "solve".into()])
    );
    assert_eq!(used_modules("let x = crate::cli::run();"), BTreeSet::from(["cli".into()]));
    assert_eq!(used_modules("use super::plan;"), BTreeSet::new());
    for line in ["let x = plan(&a, &b, &c);", "judged(plan(a", "crate::plan::plan(&a", "super::plan(&a"] {
        assert!(makes_a_plan(line), "{line}");
    }
    for line in ["offline::plan(&world)", "world.plan(", "pub fn plan(a: &A)", "example_plan()", "plan.x("] {
        assert!(!makes_a_plan(line), "{line}");
    }
}
