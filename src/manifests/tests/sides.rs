//! A dump and manifests beside it: which is laid over which.

use super::{deployment, faults_of, pod};
use crate::manifests::{Objects, Overlay, ReadOptions, Source, keep, read, read_laid, sides};

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: node-uid}\nstatus: {allocatable: {cpu: 64, memory: 64Gi, pods: 110}}\n---\n";

/// `web` as in a cluster, with two pods.
fn dump() -> String {
    let web = deployment("web", 2).replacen("{name: web}", "{name: web, uid: web-uid}", 1);
    let pods = ["web-abc-1", "web-abc-2"].map(|name| pod(name, "ReplicaSet/web-abc", ""));
    format!("{NODE}{web}---\n{}---\n{}", pods[0], pods[1])
}

fn sources(texts: &[(&str, String)]) -> Vec<Source> {
    texts.iter().map(|(name, text)| Source::new(*name, text.clone().into_bytes())).collect()
}

fn objects(texts: &[(&str, String)]) -> Objects {
    read(sources(texts)).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

fn notes(objects: &Objects) -> Vec<String> {
    objects.said.assumed.iter().map(|note| format!("{} ({})", note.what, note.why)).collect()
}

#[test]
fn manifests_without_a_uid_are_laid_over_the_dump_beside_them_and_that_is_said() {
    let manifests = [("deploy/web.yaml", deployment("web", 5)), ("deploy/new.yaml", deployment("new", 1))];
    let inputs = [&[("dump.yaml", dump())][..], &manifests].concat();
    let both = objects(&inputs);
    assert_eq!(
        notes(&both),
        [
            "`deploy/new.yaml`, `deploy/web.yaml` laid over what runs (their objects have no `metadata.uid`, and those of \
          `dump.yaml` do)"
        ]
    );
    let (base, _) = keep(sources(&[("dump.yaml", dump())]));
    let (with, _) = keep(sources(&manifests));
    let (laid, faults) = read_laid(base, Overlay { with, ..Overlay::default() }, &ReadOptions::default());
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(both.pods, laid.pods, "as `--with` does");
    let of = |name: &str| both.pods.iter().filter(|pod| pod.key.name.starts_with(name)).count();
    assert_eq!((of("web-"), of("new-")), (5, 1));
}

#[test]
fn what_says_the_same_or_nothing_of_the_dump_is_not_laid_over_it() {
    let alone = objects(&[("dump.yaml", dump()), ("new.yaml", deployment("new", 1))]);
    assert_eq!(notes(&alone), [""; 0]);
    let sides = sides(sources(&[("dump.yaml", dump()), ("new.yaml", deployment("new", 1))]));
    assert_eq!((sides.made.len(), sides.written.len()), (2, 0));
}

#[test]
fn two_definitions_stay_an_error_where_uids_do_not_tell_them_apart() {
    let written = deployment("web", 5);
    let other_made = dump().replacen("replicas: 2", "replicas: 4", 1);
    for (what, inputs) in [
        ("one file", vec![("all.yaml", format!("{}---\n{written}", dump()))]),
        ("two dumps", vec![("a.yaml", dump()), ("b.yaml", other_made)]),
        ("two manifests", vec![("a.yaml", written.clone()), ("b.yaml", deployment("web", 3))]),
        (
            "two manifests beside a dump",
            vec![("a.yaml", written.clone()), ("b.yaml", deployment("web", 3)), ("dump.yaml", dump())],
        ),
        (
            "a manifest with a node of the cluster",
            vec![("a.yaml", format!("{}{written}", NODE.replace("n1", "n2"))), ("dump.yaml", dump())],
        ),
    ] {
        let faults = faults_of(sources(&inputs));
        assert!(
            faults.iter().any(|fault| fault.contains("is defined twice with different content (also ")),
            "{what}: {faults:#?}"
        );
    }
    let (_, faults) = keep(sources(&[("a.yaml", dump()), ("b.yaml", written)]));
    assert_eq!(faults.len(), 1, "what is kept has one definition: {faults:#?}");
}

#[test]
fn every_fault_of_a_manifest_that_is_laid_over_a_dump_is_told_once() {
    let wrong = deployment("web", 5).replace("{cpu: 1}", "{cpu: much}");
    let faults = faults_of(sources(&[("dump.yaml", dump()), ("web.yaml", wrong)]));
    assert_eq!(faults.len(), 1, "{faults:#?}");
    assert!(faults.iter().all(|fault| fault.contains("web.yaml")), "{faults:#?}");
}
