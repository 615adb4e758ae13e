//! The worlds that were run through Karpenter: all can be read, and requests are as Karpenter counted them.

use std::path::PathBuf;

use crate::manifests::{Source, read};
use crate::model::ResourceName;

/// The folder of the worlds, if it exists.
#[expect(clippy::disallowed_methods, reason = "the worlds lie beside the repository")]
fn worlds() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/karpenter-cases"));
    let Ok(entries) = std::fs::read_dir(&folder) else {
        assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "{} is missing", folder.display());
        eprintln!("skipped: the worlds of {}", folder.display());
        return Vec::new();
    };
    let mut worlds: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| {
            let path = entry.expect("can be listed").path();
            (path.extension()? == "yaml").then(|| {
                let name = path.file_name().expect("has a name").to_string_lossy().into_owned();
                (name, std::fs::read(&path).expect("can be read"))
            })
        })
        .collect();
    worlds.sort();
    worlds
}

#[test]
fn every_world_is_read() {
    let worlds = worlds();
    for (name, bytes) in &worlds {
        if let Err(faults) = read(vec![Source::new(name, bytes.clone())]) {
            panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
        }
    }
}

#[test]
fn pods_ask_for_what_karpenter_counted() {
    let expected = [
        ("28-sidecar-before-init.yaml", 4500),
        ("29-pod-overhead.yaml", 2000),
        ("31-limits-become-requests.yaml", 3000),
    ];
    for (name, bytes) in worlds() {
        if let Some((_, cpu)) = expected.iter().find(|(world, _)| *world == name) {
            let objects = read(vec![Source::new(&name, bytes)]).expect("is right");
            assert_eq!(objects.pods[0].spec.requests.get(&ResourceName::Cpu), *cpu, "{name}");
        }
    }
}
