//! Real kubectl, kustomize and helm: what they write is planned like the files that it was made of, and what
//! nodeform writes means the same to them. `.ci/tools` puts them into `target/tools/kubernetes`; without them
//! these tests say what they leave out, and with `NODEFORM_REQUIRE_TOOLS` set they fail.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use similar::TextDiff;

use crate::shell::{aside, fed, folder_of, out, root, with_path};

const STORY: &str = "examples/kustomize-overlays";
const OVERLAYS: [&str; 2] = ["staging", "prod"];

/// The path of a tool; without it, says on the standard error what is left out.
pub(crate) fn tool(name: &str, what: &str) -> Option<PathBuf> {
    static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);
    let path = root().join("target/tools/kubernetes").join(name);
    if path.is_file() {
        return Some(path);
    }
    let missing = format!("there is no {}: `.ci/tools` puts it there", path.display());
    assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "{missing}");
    let count = LEFT_OUT.fetch_add(1, Ordering::Relaxed) + 1;
    // Written to the stream itself: what a test that passes prints is not shown.
    let _ = writeln!(std::io::stderr(), "left out, {count} so far: {what}: {missing}");
    None
}

fn said(program: &Path, arguments: &[&str], input: &str) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).env_remove("CLICOLOR_FORCE");
    let output = fed(command.env("KUBECONFIG", "/dev/null").env("HELM_NO_PLUGINS", "1"), input);
    assert!(output.status.success(), "{} {arguments:?}: {}", program.display(), aside(&output));
    out(&output)
}

fn nodeform(arguments: &[&str], input: &str) -> String {
    said(Path::new(env!("CARGO_BIN_EXE_nodeform")), arguments, input)
}

fn planned(input: &str) -> String {
    nodeform(&["plan", "-", "-o", "json"], input)
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Fails with a diff, or accepts what was printed where `UPDATE=1` says so.
fn is_as_committed(file: &str, printed: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(root().join(file), printed).expect("the text can be written");
    }
    let expected = read(file);
    let diff = TextDiff::from_lines(expected.as_str(), printed);
    assert!(expected == printed, "{file}:\n{}", diff.unified_diff().header("committed", "printed"));
}

#[test]
fn overlays_that_are_piped_in_plan_to_the_texts_beside_them() {
    for overlay in OVERLAYS {
        let rendered = read(&format!("{STORY}/rendered/{overlay}.yaml"));
        is_as_committed(&format!("{STORY}/expected-{overlay}.txt"), &nodeform(&["plan", "-"], &rendered));
    }
}

#[test]
fn kubectl_renders_the_overlays_to_the_texts_beside_them() {
    let Some(kubectl) = tool("kubectl", "rendering of the example's overlays") else { return };
    for overlay in OVERLAYS {
        let rendered = said(&kubectl, &["kustomize", &format!("{STORY}/overlays/{overlay}")], "");
        is_as_committed(&format!("{STORY}/rendered/{overlay}.yaml"), &rendered);
    }
}

const STORIES: [&str; 4] = ["quickstart", "gpu", "arm64-beside-amd64", "existing-fleet"];

/// The manifests of a story.
fn manifests(story: &str) -> Vec<(String, String)> {
    let folder = format!("examples/{story}");
    let entries = fs::read_dir(root().join(&folder)).expect("the story is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".yaml")).collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), read(&format!("{folder}/{name}")))).collect()
}

#[test]
fn what_kubectl_prints_as_json_plans_like_the_files() {
    let Some(kubectl) = tool("kubectl", "plans of kubectl's JSON") else { return };
    for story in STORIES {
        let files: Vec<String> =
            manifests(story).iter().map(|(name, _)| format!("examples/{story}/{name}")).collect();
        // Takes a label away that nothing has: reads and prints, without a cluster.
        let mut arguments = vec!["label", "--local", "-o", "json", "no-such-label-"];
        arguments.extend(files.iter().flat_map(|file| ["-f", file.as_str()]));
        let own = nodeform(&["plan", &format!("examples/{story}"), "-o", "json"], "");
        assert!(planned(&said(&kubectl, &arguments, "")) == own, "{story} plans otherwise");
    }
}

#[test]
fn what_kustomize_prints_plans_like_the_files() {
    let Some(kubectl) = tool("kubectl", "plans of kustomize's YAML") else { return };
    for story in STORIES {
        let mut files = manifests(story);
        let resources: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let definition = json!({"resources": resources}).to_string();
        files.push(("kustomization.yaml".to_owned(), definition));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let folder = folder_of(&format!("kustomize-{story}"), &files);
        let rendered = said(&kubectl, &["kustomize", folder.to_str().expect("UTF-8")], "");
        let own = nodeform(&["plan", &format!("examples/{story}"), "-o", "json"], "");
        assert!(planned(&rendered) == own, "{story} plans otherwise");
    }
}

#[test]
fn what_kubectl_creates_plans_like_the_file_that_says_the_same() {
    let Some(kubectl) = tool("kubectl", "plans of what kubectl creates") else { return };
    let pool = read("examples/quickstart/nodepool.yaml");
    let arguments =
        ["create", "deployment", "web", "--image=x", "--replicas=3", "--dry-run=client", "-o", "yaml"];
    let created = said(&kubectl, &arguments, "");
    let by_hand = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n  \
                   selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    \
                   spec: {containers: [{name: x, image: x}]}\n";
    assert!(planned(&format!("{created}---\n{pool}")) == planned(&format!("{by_hand}---\n{pool}")));
}

const TEMPLATE: &str = "{{- range .Values.apps }}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .name }}}
spec:
  replicas: {{ .replicas }}
  selector: {matchLabels: {app: {{ .name }}}}
  template:
    metadata: {labels: {app: {{ .name }}}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: {{ .name }}, image: {{ .image | quote }}, resources: {{ toJson .resources }}}]
{{- end }}
{{- if .Values.pool.enabled }}
---
{{ .Files.Get \"pool.yaml\" }}
{{- end }}
";

#[test]
fn what_helm_renders_plans_like_the_files() {
    let Some(helm) = tool("helm", "plans of helm's output") else { return };
    let app = json!({"name": "inflate", "image": "mcr.microsoft.com/oss/kubernetes/pause:3.6", "replicas": 5,
                     "resources": {"requests": {"cpu": "1", "memory": "256M"}}});
    let folder = folder_of(
        "chart",
        &[
            ("Chart.yaml", "apiVersion: v2\nname: inflate\nversion: 0.1.0\n"),
            ("values.yaml", "pool: {enabled: false}\napps: []\n"),
            ("prod.yaml", &json!({"pool": {"enabled": true}, "apps": [app]}).to_string()),
            ("pool.yaml", &read("examples/quickstart/nodepool.yaml")),
            ("templates/all.yaml", TEMPLATE),
            ("templates/NOTES.txt", "Thank you."),
            (
                "templates/test.yaml",
                "apiVersion: v1\nkind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n\
                 spec: {containers: [{name: c, image: x}]}\n",
            ),
        ],
    );
    let folder = folder.to_str().expect("UTF-8");
    let values = format!("{folder}/prod.yaml");
    let arguments = ["template", "inflate", folder, "--include-crds", "--skip-tests", "-f", &values];
    let own = nodeform(&["plan", "examples/quickstart", "-o", "json"], "");
    assert!(planned(&said(&helm, &arguments, "")) == own, "the chart plans otherwise");
}

#[test]
fn render_runs_the_tools_that_are_there() {
    let Some(kubectl) = tool("kubectl", "`--render`") else { return };
    let path = kubectl.parent().and_then(Path::to_str).expect("UTF-8");
    for overlay in OVERLAYS {
        let folder = format!("{STORY}/overlays/{overlay}");
        let output = with_path(&["plan", &folder, "--render"], path);
        assert!(output.status.success(), "{}", aside(&output));
        let expected = read(&format!("{STORY}/expected-{overlay}.txt"));
        assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), expected);
    }
    let both = with_path(&["validate", &format!("{STORY}/overlays"), "-R", "--render"], path);
    assert_eq!(both.status.code(), Some(1));
    let said = aside(&both);
    assert!(said.contains("overlays/staging (kustomize):"), "{said}");
    assert!(said.contains("is defined twice with different content"), "{said}");
    assert!(
        said.contains("(kustomize)` are those of the rendered output: see `kubectl kustomize "),
        "{said}"
    );
    let prod = format!("{STORY}/overlays/prod");
    let fixed = with_path(&["validate", "--fix", "--render", &prod], path);
    assert_eq!(fixed.status.code(), Some(1));
    assert!(aside(&fixed).contains("not rendered output\nhint: leave out `--render`"), "{}", aside(&fixed));
    let chart = folder_of(
        "render-chart",
        &[
            ("Chart.yaml", "apiVersion: v2\nname: --debug\nversion: 0.1.0\n"),
            ("prod.yaml", "pool: 1\n"),
            ("pool.yaml", &read("examples/quickstart/nodepool.yaml")),
            ("templates/pool.yaml", "{{ if .Values.pool }}{{ .Files.Get \"pool.yaml\" }}{{ end }}"),
        ],
    );
    let chart = chart.to_str().expect("UTF-8");
    let values = format!("{chart}/prod.yaml");
    let output = with_path(&["validate", chart, "--render", "--helm-values", &values], path);
    assert!(output.status.success(), "{}", aside(&output));
    assert_eq!(output.stdout, b"Valid: 2 objects in 1 file.\n");
    let needing = "apiVersion: v2\nname: web\nversion: 0.1.0\ndependencies: [{name: db, version: 1.x, repository: https://charts.example.com}]\n";
    fs::write(format!("{chart}/Chart.yaml"), needing).expect("written");
    let output = with_path(&["validate", chart, "--render"], path);
    assert_eq!(output.status.code(), Some(1));
    assert!(aside(&output).contains("hint: fetch the charts that it depends on: `helm dependency build "));
}

/// Texts that writers and readers of YAML disagree about.
const AWKWARD: [&str; 68] = [
    "",
    " ",
    " leading",
    "trailing ",
    "no",
    "yes",
    "on",
    "OFF",
    "y",
    "N",
    "true",
    "null",
    "~",
    "0",
    "010",
    "0o17",
    "0x1F",
    "0b101",
    "1_000",
    "1e3",
    "-1.5",
    ".inf",
    ".NaN",
    "12:30:45",
    "2026-11-21",
    "2026-11-21T09:00:00Z",
    "---",
    "...",
    "- a",
    "a: b",
    "a:",
    "# comment",
    "a #b",
    "{{ .Values.x }}",
    "[a",
    "*a",
    "&a",
    "!t",
    "%TAG",
    "@at",
    "`tick`",
    "<<",
    "=",
    "? a",
    "| a",
    "> a",
    "'single'",
    "\"double\"",
    "it's \"both\"",
    "back\\slash",
    "tab\tinside",
    "\ttab first",
    "two\nlines",
    "ends in one\n",
    "ends in two\n\n",
    "\n",
    "\nbegins",
    "a\n  b\n c",
    "carriage\r\nreturn",
    "nel\u{85}inside",
    "ls\u{2028}and\u{2029}ps",
    "\u{feff}mark",
    "bell\u{7}",
    "é",
    "日本語",
    "🦀",
    "a\u{301}",
    "null\u{0}byte",
];

#[test]
fn awkward_texts_come_back_from_kubectl_as_they_were_written() {
    let Some(kubectl) = tool("kubectl", "awkward texts through kubectl") else { return };
    let long = ["long word ".repeat(400), "x".repeat(4000)];
    let texts: Vec<&str> = AWKWARD.into_iter().chain(long.iter().map(String::as_str)).collect();
    let as_values: BTreeMap<String, &str> =
        texts.iter().enumerate().map(|(index, text)| (format!("k{index}"), *text)).collect();
    let as_keys: BTreeMap<&str, String> =
        texts.iter().enumerate().map(|(index, text)| (*text, format!("v{index}"))).collect();
    let objects = [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "annotations": as_keys},
               "data": as_values}),
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
               "metadata": {"name": "p", "annotations": as_keys},
               "spec": {"keys": as_keys, "values": as_values, "list": texts}}),
    ];
    for object in objects {
        let written = serde_saphyr::to_string(&object).expect("a JSON value has a YAML form");
        let printed =
            said(&kubectl, &["label", "--local", "-f", "-", "-o", "json", "no-such-label-"], &written);
        let mut back: Value = serde_json::from_str(&printed).expect("kubectl prints JSON");
        let metadata = back["metadata"].as_object_mut().expect("metadata is an object");
        metadata.retain(|key, value| key == "name" || key == "annotations" || *value != json!({}));
        for path in ["/metadata/annotations", "/data", "/spec/keys", "/spec/values", "/spec/list"] {
            let (meant, got) = (object.pointer(path), back.pointer(path));
            assert_eq!(meant, got, "{path} of {}", object["kind"]);
        }
        assert_eq!(object, back);
    }
}
