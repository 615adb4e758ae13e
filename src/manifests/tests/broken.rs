//! Unreadable text: a clear fault, bounded work, no panic.

use std::fmt::Write as _;

use super::{deployment, faults, faults_of, objects};
use crate::manifests::Source;

fn first(bytes: impl Into<Vec<u8>>) -> String {
    faults_of(vec![Source::new("a.yaml", bytes)]).swap_remove(0)
}

#[test]
fn keys_that_stand_twice_are_refused_in_yaml_and_json() {
    let yaml = deployment("web", 1).replace("  replicas: 1\n", "  replicas: 1\n  replicas: 2\n");
    assert!(faults(&yaml)[0].starts_with("a.yaml:6: duplicate key `replicas`"));
    let json = "{\n  \"kind\": \"Pod\",\n  \"kind\": \"Pod\"\n}";
    assert!(faults(json)[0].starts_with("a.yaml:3: duplicate key `kind`"));
    let many: String = (0..20).map(|number| format!("k{number}: 1\n")).collect();
    assert!(faults(&format!("{many}k7: 2\n"))[0].starts_with("a.yaml:21: duplicate key `k7`"));
}

#[test]
fn a_bomb_of_aliases_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(text, "a{level}: &a{level} [{aliases}]").expect("text takes text");
    }
    let fault = first(text);
    assert!(fault.contains("holds more than 1000000 values, aliases written out"), "{fault}");
    let fault = first("a: &a\n  b: *a\n");
    assert!(fault.contains("an alias is inside the value that it repeats"), "{fault}");
}

#[test]
fn nesting_is_refused_in_every_style() {
    let blocks: String = (0..300).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    let chain: String = (1..200).map(|level| format!("a{level}: &a{level} [*a{}]\n", level - 1)).collect();
    let table = [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        blocks,
        "{\"a\":".repeat(100_000),
        format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200)),
        format!("a0: &a0 [x]\n{chain}"),
    ];
    for text in table {
        let fault = first(text.as_str());
        assert!(fault.starts_with("a.yaml:"), "{fault}");
    }
}

#[test]
fn a_large_document_that_is_deep_throughout_is_refused() {
    let deep = format!("{}[{}1]{}", "{\"a\":".repeat(100), "1,".repeat(500_000), "}".repeat(100));
    assert!(first(deep).contains("is nested too deeply for its size"));
}

#[test]
fn tabs_are_named_with_their_line() {
    for (text, line) in [
        ("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n", 4),
        ("apiVersion: v1\n\tkind: Pod\n", 2),
        ("apiVersion: v1\nkind: Pod\n\tmetadata:\n  name: x\n", 3),
        ("metadata:\n  name: x\n  \tlabels: {}\n", 3),
        ("a:\n  - b\n\t- c\n", 3),
        ("a: x\n\n\n\tb: y\n", 4),
        ("a: \"x\n\ty\"\nb: 1\n", 2),
        ("a: |\n\tx\n", 2),
        ("a: x\n---\na: y\n\tb: z\n", 4),
    ] {
        let fault = first(text);
        assert!(fault.starts_with(&format!("a.yaml:{line}:")), "{text:?}: {fault}");
        assert!(fault.contains("replace the tab"), "{text:?}: {fault}");
    }
    let fault = first("a: b\nc: d: e\nf:\n\t- g\n");
    assert!(fault.starts_with("a.yaml:2:") && !fault.contains("replace the tab"), "{fault}");
}

#[test]
fn bytes_that_are_no_text_are_told_with_their_line() {
    assert_eq!(
        first(b"a: b\nc: \xff\n"),
        "a.yaml:2: is not UTF-8 text: the byte 0xff is not part of it\n\
         hint: save the file as UTF-8, or leave it out if it is not a manifest"
    );
    assert!(first(b"\xff\xfea\0:\0").contains("it looks like UTF-16"));
    assert!(first(b"a: \0\n").starts_with("a.yaml:1: is not valid YAML"));
}

#[test]
fn templates_that_are_not_rendered_are_told() {
    let fault = first("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\n");
    assert!(fault.starts_with("a.yaml:4:"), "{fault}");
    for text in [
        "{{- if .Values.on }}\nkind: Pod\n{{- end }}\n",
        "kind: Pod\n{{- if .Values.on }}\na: b\n{{ end }}\n",
    ] {
        let fault = first(text);
        assert!(fault.contains("`helm template`") && !fault.contains("JSON"), "{fault}");
    }
}

#[test]
fn lists_of_anything_and_tags_of_programs_are_no_manifests() {
    assert!(first("- a\n- b\n").starts_with("a.yaml:1: a document must be an object and is a list"));
    assert!(first("[1, 2]\n").contains("hint: write objects one after another"));
    for text in ["a: !!python/object x\n", "!!python/object:os.system\na: b\n", "a: !vault [x]\n"] {
        assert!(first(text).contains("which Kubernetes does not know"), "{}", first(text));
    }
    assert!(objects("kind: ConfigMap\napiVersion: v1\na: !!binary eA==\nb: !!str 5\n").pods.is_empty());
}

#[test]
fn json_that_stops_being_json_is_told_with_its_line() {
    let text = "{\n  \"kind\": \"Pod\",\n  \"metadata\": {\"name\": \"a\",}\n}";
    let fault = faults_of(vec![Source::new("a.json", text)]).swap_remove(0);
    assert!(fault.starts_with("a.json:3: is not valid JSON: key must be a string (column 28)"), "{fault}");
    let fault = first("{\n  \"kind\": \"Pod\",\n  \"metadata\": [}\n}");
    assert!(fault.starts_with("a.yaml:3: is not valid JSON: "), "{fault}");
}

#[test]
fn a_document_over_the_limit_is_refused() {
    let large = format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: {}\n", "x".repeat(33 << 20));
    let fault = first(large);
    assert!(fault.contains("is one document of") && fault.contains("hint: split it"), "{fault}");
    let large = format!("{{\"kind\": \"ConfigMap\", \"a\": \"{}\"}}", "x".repeat(33 << 20));
    assert!(first(large).contains("is one document of"));
}

#[test]
fn tags_must_fit_and_keys_must_be_text() {
    assert!(first("a: !!int x\n").contains("has the tag !!int, and is the text \"x\""));
    assert!(first("? [a]\n: b\n").contains("a key must be text and is a list"));
    assert!(first("<<: 3\n").contains("`<<` merges maps"));
}

#[test]
fn faults_stop_at_a_thousand() {
    let many: String = (0..1500).map(|_| "---\nkind: Pod\nmetadata: {name: a}\n").collect();
    let found = faults(&many);
    assert_eq!(found.len(), 1001);
    assert!(found[1000].contains("reading stopped after 1000 faults"), "{}", found[1000]);
}
