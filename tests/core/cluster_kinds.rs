//! One list of kinds for a dump of a cluster, in hints, help and docs.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::{Path, PathBuf};

use nodeform::manifests::listed::{CLUSTER_KINDS, KARPENTER_KINDS};

/// As many kinds in one command are a dump, and not a few objects to add.
const DUMP_KINDS_MIN: usize = 5;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("an entry").path();
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => files(&path, found),
            Some("md" | "rs" | "yaml" | "yml" | "sh" | "txt") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn every_dump_of_a_cluster_asks_for_the_same_kinds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![root.join("README.md")];
    ["docs", "src"].iter().for_each(|folder| files(&root.join(folder), &mut found));
    let of_any_cluster: Vec<&str> =
        CLUSTER_KINDS.split(',').filter(|kind| !KARPENTER_KINDS.contains(kind)).collect();
    let lists = [CLUSTER_KINDS.to_owned(), of_any_cluster.join(",")];
    let (mut dumps, mut faults) = (0, Vec::new());
    for file in found {
        let text = fs::read_to_string(&file).expect("readable");
        for (_, rest) in text.match_indices("kubectl get ").map(|(at, get)| text.split_at(at + get.len())) {
            let kinds = rest.split([' ', '`', '"', '\n', '{']).next().unwrap_or_default();
            let is_dump = kinds.split(',').count() >= DUMP_KINDS_MIN;
            dumps += usize::from(is_dump);
            if is_dump && !lists.iter().any(|list| list == kinds) {
                faults.push(format!("{}: {kinds}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(dumps >= 2, "the docs have {dumps} dumps");
}
