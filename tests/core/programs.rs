//! Every test file is part of a test program: one that is part of none would be read and never run.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What is built apart: the fuzz targets, and the control plane and the forge, which are of Go.
const APART: [&str; 3] = ["tests/fuzz", "tests/e2e/control-plane", "tests/e2e/forge"];

/// The most programs that CI has time to link.
const PROGRAMS_MAX: usize = 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The paths of the `[[test]]` sections, and the names of all targets that turn the discovery of more off.
fn programs() -> Vec<PathBuf> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest is readable");
    assert!(manifest.contains("autotests = false"), "programs are those that the manifest lists");
    let sections = manifest.split("\n[[test]]\n").skip(1);
    let paths = sections.map(|section| {
        let path = section.lines().find_map(|line| line.strip_prefix("path = "));
        root().join(path.expect("a program has a path").trim_matches('"'))
    });
    paths.collect()
}

/// Adds a file and the files of the modules that it declares.
fn add_modules(file: &Path, found: &mut BTreeSet<PathBuf>) {
    if !found.insert(file.to_owned()) {
        return;
    }
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let folder = file.parent().expect("a file is in a folder");
    let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("has a name");
    let inner = if ["main", "mod"].contains(&stem) { folder.to_owned() } else { folder.join(stem) };
    let mut path = None;
    for line in text.lines().map(str::trim) {
        if let Some(told) = line.strip_prefix("#[path = \"") {
            path = Some(folder.join(told.trim_end_matches("\"]")));
        }
        let declared = line.strip_prefix("pub(crate) ").unwrap_or(line).strip_prefix("mod ");
        if let Some(name) = declared.and_then(|rest| rest.strip_suffix(';')) {
            let beside = inner.join(format!("{name}.rs"));
            let within = inner.join(name).join("mod.rs");
            let file = path.take().unwrap_or(if beside.exists() { beside } else { within });
            add_modules(&file.canonicalize().unwrap_or(file), found);
        }
    }
}

fn add_files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("an entry").path();
        let is_apart = APART.iter().any(|apart| path.ends_with(apart));
        match path.is_dir() {
            true if !is_apart => add_files(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                found.insert(path.canonicalize().expect("is there"));
            }
            true | false => {}
        }
    }
}

#[test]
fn every_test_file_is_part_of_a_program_and_programs_are_few() {
    let programs = programs();
    assert!((2..=PROGRAMS_MAX).contains(&programs.len()), "{programs:?}");
    let mut linked = BTreeSet::new();
    for program in &programs {
        add_modules(&program.canonicalize().expect("is there"), &mut linked);
    }
    let mut files = BTreeSet::new();
    add_files(&root().join("tests"), &mut files);
    let lost: Vec<&PathBuf> = files.difference(&linked).collect();
    assert!(lost.is_empty(), "no program has {lost:?}: declare it in the `main.rs` beside it");
    assert!(files.len() > 50, "{} files are all that was found", files.len());
}

/// The words of a list of arguments in `.ci/run`, such as `first=(--lib --test core)`.
fn listed<'a>(script: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("{name}=(");
    let line = script.lines().find_map(|line| line.strip_prefix(&start));
    let words = line.and_then(|line| line.strip_suffix(')')).unwrap_or_else(|| panic!("no list `{name}`"));
    words.split_whitespace().filter(|word| *word != "--test").collect()
}

#[test]
fn the_lists_of_continuous_integration_are_all_that_cargo_test_runs() {
    let script = fs::read_to_string(root().join(".ci/run")).expect("the script is there");
    let mut run = ["unit", "first", "second", "third"].map(|list| listed(&script, list)).concat();
    run.sort_unstable();
    let folders = programs().into_iter().map(|path| {
        let folder = path.parent().and_then(Path::file_name).expect("is in a folder of its own");
        folder.to_string_lossy().into_owned()
    });
    let mut all: Vec<String> = ["--lib".to_owned()].into_iter().chain(folders).collect();
    all.sort_unstable();
    assert_eq!(run, all);
    assert!(script.contains("\ncargo test --locked --doc "), "examples in the documentation are run");
}
