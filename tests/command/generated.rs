//! The files of `crds/` and `schemas/` are what the types say. `UPDATE=1 cargo test --test generated` rewrites them.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read and write files and fail")]

use std::path::{Path, PathBuf};

use nodeform::api::{Kind, crd};

/// Every generated file, by its path from the root of the repository.
fn files() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for kind in Kind::ALL {
        let facts = kind.facts();
        let schema = serde_json::to_string_pretty(&crd::schema(kind)).unwrap() + "\n";
        files.push((Path::new("schemas").join(format!("{}.json", facts.singular)), schema));
        let head = "# Generated from src/api by `UPDATE=1 cargo test --test generated`.\n---\n";
        let definition = serde_saphyr::to_string(&crd::definition(kind)).unwrap();
        let name = format!("{}_{}.yaml", facts.group, facts.plural);
        files.push((Path::new("crds").join(name), format!("{head}{definition}")));
    }
    let catalog = schemars::schema_for!(nodeform::render::catalog::CatalogDocument).to_value();
    let snapshot = nodeform::snapshot::file::schema();
    let formats = [("catalog", catalog), ("plan", nodeform::plan::file::schema()), ("snapshot", snapshot)];
    for (name, schema) in formats.into_iter().chain(nodeform::sim::schemas()) {
        let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        files.push((Path::new("schemas").join(format!("{name}.json")), schema));
    }
    files
}

#[test]
fn crds_and_schemas_are_what_the_types_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut old = Vec::new();
    for (path, text) in files() {
        if std::env::var("UPDATE").is_ok() {
            std::fs::write(root.join(&path), &text).unwrap();
        } else if std::fs::read_to_string(root.join(&path)).ok().as_deref() != Some(&text) {
            old.push(path);
        }
    }
    assert!(old.is_empty(), "not current: {old:?}\nhint: run `UPDATE=1 cargo test --test generated`");
}

#[test]
fn nothing_else_stands_in_crds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known: Vec<PathBuf> = files().into_iter().map(|(path, _)| path).collect();
    for entry in std::fs::read_dir(root.join("crds")).unwrap() {
        let path = Path::new("crds").join(entry.unwrap().file_name());
        assert!(known.contains(&path), "{} is not generated from a type", path.display());
    }
}

#[test]
fn a_definition_read_again_is_the_same() {
    for kind in Kind::ALL {
        let definition = crd::definition(kind);
        let text = serde_saphyr::to_string(&definition).unwrap();
        let again: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(again, definition, "{}", kind.facts().kind);
        let elsewhere: serde_json::Value = serde_yaml::from_str(&text).unwrap();
        assert_eq!(elsewhere, definition, "{}, by another reader", kind.facts().kind);
    }
}

#[test]
fn every_field_is_described() {
    fn walk(schema: &serde_json::Value, path: &str, silent: &mut Vec<String>) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            if field["description"].as_str().is_none_or(str::is_empty) && path != ".metadata" {
                silent.push(path.clone());
            }
            walk(field, &path, silent);
            walk(&field["items"], &format!("{path}[]"), silent);
            walk(&field["additionalProperties"], &format!("{path}[]"), silent);
        }
    }
    for kind in Kind::ALL {
        let mut silent = Vec::new();
        walk(&crd::schema(kind), "", &mut silent);
        assert!(silent.is_empty(), "{}: {silent:?}", kind.facts().kind);
    }
}

/// What the simulator's reader says of a document, and what its schema says.
fn judged(document: &str) -> (bool, bool) {
    let document: serde_json::Value = serde_saphyr::from_str(document).unwrap();
    let name = document["kind"].as_str().unwrap().to_lowercase();
    let (_, schema) = nodeform::sim::schemas().into_iter().find(|(known, _)| *known == name).unwrap();
    let is_valid = jsonschema::validator_for(&schema).unwrap().is_valid(&document);
    (nodeform::sim::WorldDocuments::read(vec![document]).is_ok(), is_valid)
}

#[test]
fn the_schemas_of_a_simulated_world_say_what_its_reader_says() {
    const AZURE: &str = "apiVersion: nodeform.dev/v1alpha1\nkind: SimulatedAzure\n";
    const FAULTS: &str = "apiVersion: nodeform.dev/v1alpha1\nkind: SimulatedFaults\n";
    for (name, holds) in [("azure", true), ("faults", true)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/demo/{name}.yaml"));
        assert_eq!(judged(&std::fs::read_to_string(path).unwrap()), (holds, holds), "{name}");
    }
    let spec = serde_json::to_string(&nodeform::sim::SimulatedAzure::default()).unwrap();
    for (kind, spec, holds) in [
        (AZURE, "{}", true),
        (AZURE, spec.as_str(), true),
        (AZURE, "{cluster: {powerState: Stopped}, network: {plugin: kubenet}, pageSize: 1}", true),
        (AZURE, "{locatoin: westeurope}", false),
        (AZURE, "{cluster: {powerState: Off}}", false),
        (AZURE, "{network: {plugin: flannel}}", false),
        (AZURE, "{pageSize: 0}", false),
        (AZURE, "{durations: {boot: {from: 1}}}", false),
        (FAULTS, "{faults: [{kind: SpotEviction, when: {nth: 1, pool: a}, seconds: 5}]}", true),
        (FAULTS, "{faults: [{kind: Rain}]}", false),
        (FAULTS, "{faults: [{kind: ZoneFull, times: 0}]}", false),
        (FAULTS, "{faults: [{kind: ZoneFull, when: {zoen: '1'}}]}", false),
    ] {
        assert_eq!(judged(&format!("{kind}spec: {spec}\n")), (holds, holds), "{spec}");
    }
}
