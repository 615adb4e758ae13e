//! Every world of `fixtures/worlds/` shows one thing, which its `about.md` says, and plans to exactly the
//! text beside it. The plan passes the judge, and the world after it is settled. `UPDATE=1` rewrites the
//! texts: read the diff.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::fs;
use std::path::{Path, PathBuf};

use nodeform::manifests::Source;
use nodeform::model::Region;
use nodeform::offline::{self, Planner, Request, World};
use nodeform::plan::HeldChange;
use nodeform::render::{Detail, PlanView, plain_text, plan_text};
use nodeform::sim;
use similar::TextDiff;

/// The most lines and columns of an expected text; a larger one shows too much at once.
const LINES_MAX: usize = 150;
const COLUMNS_MAX: usize = 100;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn worlds() -> Vec<PathBuf> {
    let mut worlds: Vec<PathBuf> = fs::read_dir(fixtures().join("worlds"))
        .expect("fixtures/worlds is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    worlds.sort();
    worlds
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn world(folder: &Path) -> World {
    let text = read(&folder.join("world.yaml"));
    // A world that depends on the time says it in its first line.
    let time = text.lines().next().and_then(|line| line.strip_prefix("# at: "));
    let request = Request {
        at: time.map(|time| time.parse().expect("is a time")),
        // A world with a daemonset of its own there stands for all that AKS has.
        without_system_daemons: text.contains("namespace: kube-system"),
        sources: vec![Source::new("world.yaml", text)],
        catalogs: vec![("catalog.json".into(), read(&fixtures().join("catalog.json")))].into(),
        location: Some(Region::new("eastus")),
        ..Request::default()
    };
    offline::world(request).unwrap_or_else(|problems| panic!("{}: {problems:#?}", folder.display()))
}

/// Plans a world, and shows by a second plan that the first one settles it.
fn planned(folder: &Path, planner: &Planner) -> String {
    let world = world(folder);
    let objected = |findings: &[nodeform::check::Finding]| -> String {
        findings.iter().map(|finding| format!("{finding}\n")).collect()
    };
    let planned = planner.plan(&world).unwrap_or_else(|refused| {
        panic!("{}: the judge objects:\n{}", folder.display(), objected(&refused.findings))
    });
    let plan = planned.plan.plan();
    let after = World { snapshot: sim::after(&world.snapshot, plan), ..world.clone() };
    let again = planner.plan(&after).unwrap_or_else(|refused| {
        panic!("{}: judge, second plan:\n{}", folder.display(), objected(&refused.findings))
    });
    let second = plain_text(&plan_text(&PlanView::new(again.plan.plan(), None), Detail::Brief));
    assert!(again.plan.plan().spec.waves.is_empty(), "{} is not settled:\n{second}", folder.display());
    // What was just made may be kept back as well by then.
    let was_there = |held: &&HeldChange| world.snapshot.nodes.iter().any(|node| node.name == held.node);
    let held: Vec<&HeldChange> = again.plan.plan().evidence.held.iter().filter(was_there).collect();
    let before: Vec<&HeldChange> = plan.evidence.held.iter().collect();
    assert_eq!(held, before, "{}: the same is held back", folder.display());
    plain_text(&plan_text(&PlanView::new(plan, None), Detail::Brief))
}

#[test]
fn every_world_plans_to_the_text_beside_it_and_is_settled_then() {
    let worlds = worlds();
    assert!(worlds.len() >= 20, "the worlds are there");
    let mut faults = Vec::new();
    // One for all: what it keeps of one world changes the plan of no other.
    let planner = Planner::default();
    for folder in worlds {
        assert!(!read(&folder.join("about.md")).trim().is_empty(), "{} says what it shows", folder.display());
        let printed = planned(&folder, &planner);
        assert!(printed.lines().count() <= LINES_MAX, "{} prints too many lines", folder.display());
        for line in printed.lines() {
            assert!(line.chars().count() <= COLUMNS_MAX, "{}: too wide: {line}", folder.display());
        }
        let file = folder.join("expected.txt");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&file, &printed).expect("the text can be written");
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if expected != printed {
            let diff = TextDiff::from_lines(&expected, &printed)
                .unified_diff()
                .header("expected", "printed")
                .to_string();
            faults.push(format!("{}:\n{diff}", folder.display()));
        }
    }
    assert!(faults.is_empty(), "{}\naccept with UPDATE=1 after reading", faults.join("\n"));
}

#[test]
fn a_world_has_nothing_that_no_test_reads() {
    for folder in worlds() {
        let mut names: Vec<String> = fs::read_dir(&folder)
            .expect("a world is a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["about.md", "expected.txt", "world.yaml"], "{}", folder.display());
    }
}
