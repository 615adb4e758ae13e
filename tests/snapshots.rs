//! What a snapshot keeps: everything that a plan follows from, and nothing else.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::{Path, PathBuf};

use nodeform::manifests::Source;
use nodeform::model::Region;
use nodeform::offline::{self, Laid, Problem, Request};
use nodeform::plan;
use nodeform::snapshot::file;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_assert_eq, proptest};
use proptest::sample::subsequence;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every world of the fixtures: its name and its manifests.
fn worlds() -> Vec<(String, String)> {
    let mut worlds: Vec<(String, String)> = fs::read_dir(fixtures().join("worlds"))
        .expect("fixtures/worlds is there")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), read(&entry.path().join("world.yaml")))
        })
        .collect();
    worlds.sort();
    worlds
}

fn request(manifests: &str) -> Request {
    Request {
        sources: vec![Source::new("world.yaml", manifests)],
        catalogs: vec![("catalog.json".into(), read(&fixtures().join("catalog.json")))],
        location: Some(Region::new("eastus")),
        ..Request::default()
    }
}

/// The plan's file, or what is wrong with the input.
fn planned(request: Request) -> Result<String, Vec<Problem>> {
    let world = offline::world(request)?;
    let planned =
        offline::plan(&world).unwrap_or_else(|refused| panic!("the judge: {:#?}", refused.findings));
    Ok(plan::write(planned.plan.plan()))
}

/// The plan that is made from the snapshot of this input, with nothing but the snapshot's file.
fn planned_from_snapshot(request: Request) -> Result<String, Vec<Problem>> {
    let text = file::write(&offline::snapshot(request)?);
    planned(from(&text))
}

fn from(snapshot: &str) -> Request {
    let laid = Laid { snapshot: Source::new("snapshot.json", snapshot), ..Laid::default() };
    Request { laid: Some(laid), ..Request::default() }
}

fn messages(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_world_plans_alike_from_its_snapshot() {
    for (name, manifests) in worlds() {
        let dump = planned(request(&manifests)).unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
        let snapshot = planned_from_snapshot(request(&manifests));
        assert!(snapshot.as_deref() == Ok(&dump), "{name}: the plans differ");
    }
}

#[test]
fn a_world_on_the_embedded_catalogue_plans_alike_from_its_snapshot() {
    let (_, manifests) = worlds().swap_remove(0);
    let embedded = || Request { catalogs: Vec::new(), ..request(&manifests) };
    assert!(planned_from_snapshot(embedded()) == planned(embedded()));
}

#[test]
fn a_snapshot_that_is_read_and_written_again_is_the_same() {
    for (name, manifests) in worlds() {
        let text = file::write(&offline::snapshot(request(&manifests)).expect("a world can be read"));
        let again = file::read(&Source::new("s", text.as_str())).expect("a snapshot can be read");
        assert!(file::write(&again) == text, "{name}");
    }
}

#[test]
fn a_catalogue_that_was_changed_is_refused_and_one_of_another_region_too() {
    let (_, manifests) = worlds().swap_remove(0);
    let text = file::write(&offline::snapshot(request(&manifests)).expect("a world can be read"));
    let changed = text.replacen("Standard_D", "Standard_E", 1);
    assert_ne!(text, changed);
    let said = messages(&planned(from(&changed)).expect_err("it was changed")).join("\n");
    assert!(said.contains("`catalog` was changed"), "{said}");
    let elsewhere = Request { location: Some(Region::new("westeurope")), ..from(&text) };
    let said = messages(&planned(elsewhere).expect_err("it has one region")).join("\n");
    assert!(said.contains("the snapshot holds the sizes of region `eastus`"), "{said}");
}

#[test]
fn another_embedded_catalogue_is_said_and_planned_with() {
    let (_, manifests) = worlds().swap_remove(0);
    let embedded = Request { catalogs: Vec::new(), ..request(&manifests) };
    let text = file::write(&offline::snapshot(embedded).expect("a world can be read"));
    let digest = nodeform::catalog::embedded_digest().to_string();
    let older = text.replacen(&digest, &format!("sha256:{}", "0".repeat(64)), 1);
    assert_ne!(text, older);
    let world = offline::world(from(&older)).expect("an older snapshot is planned from");
    let said = |assumption: &nodeform::snapshot::Assumption| assumption.why.contains("was made with another");
    assert!(world.snapshot.assumptions.iter().any(said), "{:#?}", world.snapshot.assumptions);
}

#[test]
fn what_is_no_snapshot_is_refused_with_the_reason() {
    let head = r#""apiVersion": "nodeform.dev/v1alpha1", "kind": "Snapshot""#;
    let rest = r#""at": null, "documents": 0, "finishedPods": 0, "gaps": [], "location": null, "passedOver": {}, "unread": [], "unrendered": []"#;
    let catalog = format!(
        r#""catalog": {{"embedded": {{"digest": "{}", "pricesOf": "x"}}}}"#,
        nodeform::catalog::embedded_digest()
    );
    let table = [
        (String::new(), "is not the JSON of a snapshot: EOF"),
        ("[]".into(), "is not the JSON of a snapshot"),
        ("{}".into(), "is `` of ``, not `Snapshot`"),
        (
            r#"{"apiVersion": "nodeform.dev/v9", "kind": "Snapshot"}"#.into(),
            "is `Snapshot` of `nodeform.dev/v9`",
        ),
        (format!("{{{head}}}"), "missing field"),
        (format!(r#"{{{head}, {rest}, {catalog}, "objects": [], "more": 1}}"#), "unknown field `more`"),
        (format!(r#"{{{head}, {rest}, {catalog}, "objects": {{}}}}"#), "`objects` must be a list"),
        (format!(r#"{{{head}, {rest}, {catalog}, "objects": [5]}}"#), "a document must be an object"),
        (format!(r#"{{{head}, {rest}, "catalog": {{}}, "objects": []}}"#), "`catalog` cannot be read"),
        (
            format!(r#"{{{head}, {rest}, {catalog}, "objects": [{{"apiVersion": "v1", "kind": "Node"}}]}}"#),
            "metadata: is missing",
        ),
        (format!("{{{head}, {rest}, {catalog}, \"objects\": {}", "[".repeat(100_000)), "is not the JSON"),
    ];
    for (text, expected) in table {
        let said = messages(&planned(from(&text)).expect_err("it is no snapshot")).join("\n");
        assert!(said.contains(expected), "{said}\nfor {}", text.chars().take(300).collect::<String>());
    }
    let bytes = Laid { snapshot: Source::new("s", vec![0xff, 0xfe, 0]), ..Laid::default() };
    assert!(offline::world(Request { laid: Some(bytes), ..Request::default() }).is_err());
}

/// Documents of all worlds, a few of them in any order.
fn documents() -> impl Strategy<Value = Vec<String>> {
    let all: Vec<String> = worlds()
        .iter()
        .flat_map(|(_, text)| text.split("\n---\n").map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let count = all.len();
    subsequence(all, 0..count.min(30)).prop_shuffle()
}

fn shuffled() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    documents().prop_flat_map(|documents| (Just(documents.clone()), Just(documents).prop_shuffle()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_snapshot_of_any_documents_in_any_order_plans_as_they_do((one, other) in shuffled()) {
        let dump = planned(request(&one.join("\n---\n")));
        let snapshot = planned_from_snapshot(request(&other.join("\n---\n")));
        match (dump, snapshot) {
            (Ok(dump), Ok(snapshot)) => prop_assert_eq!(dump, snapshot),
            (dump, snapshot) => prop_assert_eq!(dump.is_err(), snapshot.is_err()),
        }
    }
}
