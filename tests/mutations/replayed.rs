//! The seeds of the fuzz targets, and every input that fuzzing found, tried once each. `.ci/fuzz` looks for more by hand.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::{Path, PathBuf};

use nodeform::manifests::Source;
use nodeform::offline::{self, Request};
use nodeform::plan;

use super::manifests_below;
use super::targets::{manifest, plan as plan_file, quantity, selector};

/// Examples whose plans are seeds of the plan reader.
const PLANNED: [&str; 3] = ["quickstart", "existing-fleet", "consolidation"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn seeds(name: &str) -> String {
    fs::read_to_string(root().join("tests/fuzz/seeds").join(name)).expect("the seeds are there")
}

/// Inputs that a target failed on, which are kept beside its seeds: none where it never failed.
fn found(target: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(root().join("tests/fuzz/found").join(target)) else { return Vec::new() };
    entries.map(|entry| fs::read(entry.expect("an entry").path()).expect("readable")).collect()
}

fn found_text(target: &str) -> Vec<String> {
    found(target).iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

#[test]
fn quantities_hold_of_every_seed() {
    let seeds = seeds("quantity.txt");
    assert!(seeds.lines().count() > 10, "the seeds are there");
    seeds.lines().map(str::to_owned).chain(found_text("quantity")).for_each(|line| quantity::holds(&line));
}

#[test]
fn selectors_and_requirements_hold_of_every_seed() {
    let (selectors, requirements) = (seeds("selector.txt"), seeds("requirement.txt"));
    assert!(selectors.lines().count() >= 4, "the seeds are there");
    let whole = selectors.lines().map(|line| format!("{line}\n{requirements}"));
    whole.chain(found_text("selector")).for_each(|text| selector::holds(&text));
}

#[test]
fn manifests_hold_of_every_seed() {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for folder in ["fixtures/worlds", "examples"] {
        manifests_below(&root().join(folder), &mut files);
    }
    assert!(files.len() > 50, "the seeds are there");
    files.iter().for_each(|(_, text)| manifest::holds(text.as_bytes()));
    found("manifest").iter().for_each(|bytes| manifest::holds(bytes));
}

#[test]
fn plan_files_hold_of_every_seed() {
    for name in PLANNED {
        let mut files = Vec::new();
        manifests_below(&root().join("examples").join(name), &mut files);
        let sources = files.into_iter().map(|(path, text)| Source::new(path.display().to_string(), text));
        let world = offline::world(Request { sources: sources.collect(), ..Request::default() });
        let world = world.unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
        let planned =
            offline::plan(&world).unwrap_or_else(|refused| panic!("{name}: {:#?}", refused.findings));
        plan_file::holds(&plan::write(planned.plan.plan()));
    }
    found_text("plan").iter().for_each(|text| plan_file::holds(text));
}
