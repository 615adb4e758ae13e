//! Properties of every input.

use proptest::prelude::*;

use super::{deployment, pod};
use crate::manifests::{Objects, Source, read};

fn samples() -> Vec<String> {
    vec![
        deployment("web", 3),
        deployment("db", 2).replace("Deployment", "StatefulSet"),
        deployment("agent", 1).replace("Deployment", "DaemonSet").replace("  replicas: 1\n", ""),
        deployment("web", 2).replace("Deployment", "StatefulSet"),
        pod("web-abc-x", "ReplicaSet/web-abc", ""),
        pod("db-1", "StatefulSet/db", ""),
        pod("other-x", "DaemonSet/other", ""),
        pod("other-y", "DaemonSet/other", "").replace("cpu: 2", "cpu: 3"),
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {providerID: azure:///x}\nstatus: {capacity: {cpu: 4}}\n".to_owned(),
        "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c1}\nspec: {requirements: []}\nstatus: {providerID: azure:///X}\n".to_owned(),
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: p}\nvalue: 5\nglobalDefault: true\n".to_owned(),
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: b}\nspec: {weight: 1}\n".to_owned(),
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {weight: 2}\n".to_owned(),
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: n}\n".to_owned(),
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: web}\nspec: {parallelism: 2, template: {spec: {containers: [{name: c}]}}}\n".to_owned(),
    ]
}

/// Hand-written samples: no Node.
fn manifests() -> Vec<String> {
    samples().into_iter().filter(|sample| !sample.contains("kind: Node\n")).collect()
}

/// Distributes documents over this many files.
fn spread(documents: &[String], files: usize) -> Objects {
    let mut texts = vec![String::new(); files];
    for (place, document) in documents.iter().enumerate() {
        texts[place % files].push_str("---\n");
        texts[place % files].push_str(document);
    }
    let sources = texts.into_iter().enumerate().map(|(n, text)| Source::new(format!("{n}.yaml"), text));
    read(sources.collect()).expect("is right")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_documents_does_not_matter(shuffled in Just(samples()).prop_shuffle()) {
        prop_assert_eq!(spread(&shuffled, 1), spread(&samples(), 1));
    }

    // A manifest in its own file beside a dump is laid over it; without a Node, there is no dump.
    #[test]
    fn files_do_not_matter_where_no_cluster_is(shuffled in Just(manifests()).prop_shuffle(), files in 1usize..5) {
        let expected = spread(&manifests(), 1);
        let found = spread(&shuffled, files);
        prop_assert_eq!(Objects { sources: 1, ..found }, expected);
    }
}

/// A change of a text's bytes.
#[derive(Clone, Debug)]
enum Change {
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let bits = prop_oneof![
        Just(b"\t".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"- ".to_vec()),
        Just(b": ".to_vec()),
        Just(b"{".to_vec()),
        Just(b"[".to_vec()),
        Just(b"]}".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"&a ".to_vec()),
        Just(b"*a".to_vec()),
        Just(b"<<: ".to_vec()),
        Just(b"---\n".to_vec()),
        Just(b"|".to_vec()),
        Just(b"!!int ".to_vec()),
        Just(b"? ".to_vec()),
        Just(b"null".to_vec()),
        Just(b"-1".to_vec()),
        Just(b"1e308".to_vec()),
        Just(b"9223372036854775808".to_vec()),
        Just("\u{85}\u{feff}é".as_bytes().to_vec()),
        Just(b"\0\xff".to_vec()),
        Just(b"%YAML 1.1\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 1..6),
    ];
    prop_oneof![
        (any::<usize>(), bits).prop_map(|(place, bytes)| Change::Insert(place, bytes)),
        (any::<usize>(), 1usize..40).prop_map(|(place, length)| Change::Remove(place, length)),
        (any::<usize>(), 1usize..200).prop_map(|(place, length)| Change::Repeat(place, length)),
    ]
}

fn changed(text: &str, changes: &[Change]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for change in changes {
        let place = |at: usize| at % (bytes.len() + 1);
        match change {
            Change::Insert(at, more) => {
                let at = place(*at);
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Remove(at, length) => {
                let at = place(*at);
                let end = (at + length).min(bytes.len());
                bytes.drain(at..end);
            }
            Change::Repeat(at, length) => {
                let at = place(*at);
                let end = (at + length).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

fn json() -> String {
    serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c",
         "resources": {"requests": {"cpu": 1.5, "memory": "1Gi"}}}]}}]})
    .to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_text_is_read_or_refused_and_never_panics(
        sample in proptest::sample::select([samples(), vec![json(), samples().join("---\n")]].concat()),
        changes in proptest::collection::vec(change(), 1..6),
        name in proptest::sample::select(vec!["a.yaml", "a.json"]),
    ) {
        let bytes = changed(&sample, &changes);
        match read(vec![Source::new(name, bytes)]) {
            Ok(objects) => prop_assert!(objects.pods.len() <= 500_000),
            Err(faults) => {
                prop_assert!(!faults.is_empty() && faults.len() <= 1001);
                prop_assert!(faults.is_sorted_by_key(|fault| (fault.file.clone(), fault.line)));
            }
        }
    }
}
