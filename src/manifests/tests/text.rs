//! All syntaxes for a document.

use super::{deployment, faults, objects, places};
use crate::manifests::{Source, read};

fn names(text: &str) -> Vec<String> {
    places(&objects(text))
}

#[test]
fn marks_ends_and_empty_documents_are_no_documents() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c}]}\n";
    let table = [
        pod.to_owned(),
        format!("\u{feff}{pod}"),
        pod.replace('\n', "\r\n"),
        format!("---\n---\n# nothing\n---\n{pod}---\n...\n---\n"),
        format!("%YAML 1.2\n---\n{pod}...\n"),
        format!("--- # the pod\n{pod}"),
        format!("# only\n\n{pod}\n# end"),
        pod.trim_end().to_owned(),
    ];
    for text in table {
        assert_eq!(names(&text), ["a waits"], "{text:?}");
    }
    for nothing in ["", "\n", "# only a comment\n", "---\n", "---\n---\n", "null\n", "\u{feff}"] {
        assert_eq!(objects(nothing).documents, 0, "{nothing:?}");
    }
}

#[test]
fn json_is_read_with_tabs_and_as_a_stream() {
    let one = "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Pod\",\n\t\"metadata\": {\"name\": \"\\u0061\\ud83d\\ude00\"},\n\t\"spec\": {}\n}";
    assert!(faults(one)[0].starts_with("a.yaml:4: metadata.name: is not a name"), "{:?}", faults(one));
    let two = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":0.1}}}]}}";
    let both = format!("{two}\n{}", two.replace("\"a\"", "\"b\""));
    assert_eq!(names(&both), ["a waits", "b waits"]);
    assert_eq!(objects(two).pods[0].spec.requests.get(&crate::model::ResourceName::Cpu), 100);
    assert!(
        faults(&two.replace("0.1", "-0.1"))[0]
            .starts_with("a.yaml:1: spec.containers[0].resources.requests.cpu: must not")
    );
}

#[test]
fn yaml_in_flow_style_is_not_taken_for_json() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}\n---\n{\"apiVersion\": v1, \"kind\": Secret, metadata: {name: s}}\n";
    assert_eq!(names(text), ["a waits"]);
}

#[test]
fn merge_keys_and_aliases_are_written_out() {
    let text = "
apiVersion: v1
kind: List
items:
- &first
  apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec: &spec
    nodeName: n1
    containers: [{name: c, image: x}]
- <<: *first
  metadata: {name: b}
- apiVersion: v1
  kind: Pod
  metadata: {name: c}
  spec:
    <<: [{nodeName: n9}, *spec]
    schedulerName: mine
";
    assert_eq!(names(text), ["a on n1", "b on n1", "c on n9"]);
}

#[test]
fn lists_of_lists_and_typed_lists_are_unfolded() {
    let text = "
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: PodList
  items:
  - metadata: {name: a}
    spec: {containers: [{name: c}]}
- apiVersion: v1
  kind: List
  items: []
- apiVersion: v1
  kind: List
  items:
";
    assert_eq!(names(text), ["a waits"]);
    assert!(
        faults("apiVersion: v1\nkind: List\nitems: {}\n")[0]
            .starts_with("a.yaml:3: `items` must be a list and is a map")
    );
}

#[test]
fn an_item_of_a_list_keeps_its_own_lines() {
    let text = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n    hostNetwork: 3\n    containers: [{name: c}]\nkind: List\n";
    assert!(faults(text)[0].starts_with("a.yaml:7: spec.hostNetwork:"));
}

#[test]
fn files_are_told_apart_and_read_once() {
    let web = Source::new("web.yaml", deployment("web", 1));
    let objects = read(vec![web.clone(), Source::new("-", deployment("api", 1)), web]).expect("is right");
    assert_eq!(
        (objects.sources, places(&objects)),
        (2, vec!["api-0 waits".to_owned(), "web-0 waits".to_owned()])
    );
}

#[test]
fn scalars_are_what_kubectl_reads() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {a: \"yes\", b: 'no', c: !!str 1}}, spec: {hostNetwork: on, containers: [{name: c, ports: [{containerPort: 010}]}]}}";
    assert_eq!(
        objects(text).pods[0].spec.host_ports.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["8/TCP"]
    );
}
