//! Four plans in Chromium, on a desktop and on a phone, light and dark: nothing is requested, nothing is said on the console,
//! nothing scrolls sideways, every node opens by keyboard, and axe-core finds nothing.
//!
//! Without Chromium, Node.js or the modules of `package-lock.json` the test says so; with `NODEFORM_REQUIRE_TOOLS` set it fails.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::Command;

use nodeform::plan::file;
use nodeform::render::{PlanView, plan_html};
use serde_json::Value;

use super::{dump, folder, planned, root};

/// What a name may hold at worst: markup, quotes, and letters that turn text around.
const HOSTILE: &str = "</style></script><img src=x onerror=alert(1)>\"'`&\u{202e}\u{200b}";

/// A cluster of 1,000 nodes.
const LARGE: dump::Cluster = dump::Cluster { nodes: 1000, running: 12_000, waiting: 100 };

/// Writes the four pages and returns where they are.
fn pages() -> Vec<PathBuf> {
    let small = ["examples/consolidation"];
    let large = folder().join("large.json");
    let mut out = BufWriter::new(File::create(&large).expect("the target folder takes files"));
    dump::json(LARGE, &mut out).expect("the dump can be written");
    drop(out);
    let large =
        ["examples/quickstart/nodepool.yaml", large.to_str().expect("a path"), "--location", "eastus"];
    let compared = ["--before", "examples/pull-request/base", "examples/pull-request/head"];
    let page = |arguments: &[&str]| planned(arguments, "html").unwrap_or_else(|| panic!("{arguments:?}"));
    let pages = [
        ("small", page(&small)),
        ("large", page(&large)),
        ("comparison", page(&compared)),
        ("hostile", hostile(&planned(&small, "json").expect("a plan"))),
    ];
    let file = |(name, text): (&str, String)| {
        let file = folder().join(format!("{name}.html"));
        fs::write(&file, text).expect("the target folder takes files");
        file
    };
    pages.into_iter().map(file).collect()
}

/// The page of a plan in which every name of others is as bad as can be.
fn hostile(plan: &str) -> String {
    let mut plan = file::read(plan).expect("our own plan");
    let world = &mut plan.evidence.world;
    world.catalog = HOSTILE.to_owned();
    for group in &mut world.pods {
        group.namespace = nodeform::model::Namespace::new(format!("{}{HOSTILE}", group.namespace));
        group.names = group.names.iter().map(|name| format!("{name}{HOSTILE}").into()).collect();
    }
    for node in &mut world.nodes {
        node.pool = Some(nodeform::model::PoolName::new(HOSTILE));
        node.labels.values_mut().for_each(|value| *value = format!("{value}{HOSTILE}").into());
    }
    plan_html(&PlanView::new(&plan, Some(HOSTILE)))
}

/// Says what is missing to open pages.
fn missing() -> Option<String> {
    let has = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success())
    };
    let modules = root().join("target/tools/report/node_modules/playwright-core/package.json");
    let mut missing: Vec<&str> = ["chromium", "node"].into_iter().filter(|program| !has(program)).collect();
    missing.extend((!modules.is_file()).then_some("`.ci/tools`"));
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[test]
fn four_plans_are_pages_that_request_nothing_and_open_by_keyboard() {
    let pages = pages();
    if let Some(missing) = missing() {
        assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "{missing} is missing");
        eprintln!("skipped: {} pages in Chromium: {missing} is missing", pages.len());
        return;
    }
    let mut command = Command::new("node");
    command.arg(root().join("tests/report/drive.mjs")).arg(root().join("target/tools/report"));
    command.args(["/usr/bin/chromium".as_ref(), folder().as_os_str()]).args(&pages);
    let output = command.output().expect("Node.js starts");
    let results: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(results.len(), pages.len());
    for result in &results {
        assert_eq!(result["faults"], serde_json::json!([]), "{}", result["name"]);
        assert!(result["nodes"].as_u64().is_some_and(|nodes| nodes > 0), "{result}");
    }
    assert!(results[1]["nodes"].as_u64().is_some_and(|nodes| nodes >= 1000), "{}", results[1]["nodes"]);
}
