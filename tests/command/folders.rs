//! Folders as repositories have them: files of other tools beside manifests, and many folders to render.
#![expect(clippy::disallowed_methods, reason = "tests write files")]

use std::fs;
use std::path::Path;

use crate::shell::{aside, empty_folder, out, root, start, with_path};
use crate::tools::tool;

/// Files of other tools, as they lie in repositories beside manifests: none says that it is an object of Kubernetes.
const STRAYS: [(&str, &str); 24] = [
    ("appsettings.json", "{\n  // comments\n  \"Logging\": {\"kind\": \"console\"},\n}\n"),
    ("azure.yaml", "name: shop\nmetadata: {template: x@1}\nservices: {web: {host: aks}}\n"),
    ("bundleconfig.json", "// a bundle\n[{\"outputFileName\": \"a.js\", },]\n"),
    ("catalog.json", "[{\"Id\": 1, \"Name\": \"x\"}]\n"),
    ("compose.yaml", "services:\n  web:\n    image: x\n    deploy: {replicas: 2}\n"),
    ("dashboard.json", "{\"panels\": [{\"kind\": \"graph\"}], \"title\": \"x\"}\n"),
    ("datasource.yaml", "apiVersion: 1\ndatasources: [{name: x, type: prometheus}]\n"),
    ("drone.yml", "kind: pipeline\ntype: docker\nname: default\n"),
    ("empty.yaml", ""),
    ("faq.yml", "### YamlMime:FAQ\nmetadata:\n  title: x\nsections: []\n"),
    ("number.json", "42\n"),
    ("openapi.json", "{\"openapi\": \"3.0.0\", \"info\": {\"title\": \"x\"}}\n"),
    ("package.json", "{\"name\": \"x\", \"version\": \"1.0.0\"}\n"),
    ("parameters.json", "{\"$schema\": \"x\", \"parameters\": {}, \"metadata\": {}}\n"),
    ("people.json", "[{\"name\": \"a\"}, {\"name\": \"b\"}]\n"),
    ("playbook.yml", "- hosts: all\n  tasks:\n    - name: x\n      command: \"echo {{ y }}\"\n"),
    ("stack.yaml", "Resources:\n  A: !Ref B\n  A: !GetAtt C.D\n"),
    ("tabs.yaml", "a:\n\tb: 1\n"),
    ("text.yaml", "just words\n"),
    ("toc.yml", "- name: a\n  href: b.md\n"),
    ("tsconfig.json", "{ /* c */ \"compilerOptions\": {\"strict\": true}, }\n"),
    ("values.yaml", "replicaCount: 3\nimage: {tag: x}\n"),
    ("workflow.yml", "on: push\njobs: {build: {runs-on: ubuntu-latest}}\n"),
    ("workspace.json", "{\"kind\": \"workspace\", \"projects\": []}\n"),
];

const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gp}\nspec:\n  template:\n    spec:\n      \
                    nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}\n      requirements:\n        \
                    - {key: karpenter.azure.com/sku-family, operator: In, values: [D]}\n";

fn pod(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n\
         spec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]}}\n"
    )
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("has a folder")).expect("the folder can be made");
    fs::write(file, text).expect("the file can be written");
}

#[test]
fn a_folder_with_twenty_kinds_of_stray_files_beside_three_manifests_is_planned() {
    let folder = empty_folder("strays");
    for (name, text) in STRAYS {
        write(&folder.join(name), text);
    }
    for (name, text) in [("pool.yaml", POOL.to_owned()), ("a.yaml", pod("a")), ("b.json.yaml", pod("b"))] {
        write(&folder.join(name), &text);
    }
    write(&folder.join("node_modules/x/bad.yaml"), "kind: Deployment\n");
    write(&folder.join("vendor/x/bad.yaml"), "kind: Deployment\n");
    let plan = start(&["plan", "-R", ".", "--location", "westeurope"], &folder, "");
    assert!(plan.status.success(), "{}", aside(&plan));
    assert!(out(&plan).contains("3 documents, 2 pods"), "{}", out(&plan));
    let note = "note: skipped, no Kubernetes objects: `./appsettings.json`, `./azure.yaml`, \
                `./bundleconfig.json` and 20 more\n";
    assert_eq!(aside(&plan), note);
    let valid = start(&["validate", "."], &folder, "");
    assert!(valid.status.success(), "{}", aside(&valid));
    assert!(out(&valid).starts_with("Valid: 3 objects in 27 files.\n"), "{}", out(&valid));
    for (name, text) in STRAYS.iter().filter(|(_, text)| !text.is_empty()) {
        let named = start(&["validate", name], &folder, "");
        assert_eq!(named.status.code(), Some(1), "{name} is no manifest: {text}{}", out(&named));
    }
}

#[test]
fn half_a_manifest_is_never_passed_over() {
    let halves = [
        ("kind: Deployment\nspec: {}\n", "apiVersion: is missing"),
        ("kind: Widget\nmetadata: {name: a}\n", "apiVersion: is missing"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "kind: is missing"),
        ("apiVersion: v1\nkind: [\n", "is not valid YAML"),
        ("{\"apiVersion\": \"v1\", \"kind\": \"Pod\",}", ""),
        ("- {apiVersion: v1, kind: Pod}\n", "a document must be an object and is a list"),
        ("  apiVersion: v1\n kind: Pod\n", "is not valid YAML"),
    ];
    for (text, expected) in halves {
        let folder = empty_folder("halves");
        write(&folder.join("a.yaml"), &pod("a"));
        write(&folder.join("half.yaml"), text);
        let output = start(&["validate", "."], &folder, "");
        assert_eq!(output.status.code(), Some(1), "{text}: {}", out(&output));
        assert!(aside(&output).contains(expected), "{text}: {}", aside(&output));
    }
}

/// 90 overlays, each of a Deployment of its own; those of `broken` name a file that is not there.
fn overlays(name: &str, broken: [usize; 2]) -> std::path::PathBuf {
    let folder = empty_folder(name);
    for index in 0..90 {
        let overlay = folder.join(format!("apps/a{index:02}"));
        let missing = if broken.contains(&index) { ", missing.yaml" } else { "" };
        write(&overlay.join("kustomization.yaml"), &format!("resources: [web.yaml{missing}]\n"));
        write(&overlay.join("web.yaml"), &pod(&format!("web-{index:02}")));
    }
    write(&folder.join("pool.yaml"), POOL);
    folder
}

#[test]
fn many_folders_to_render_are_told_in_two_lines_beside_the_faults_of_plain_files() {
    let folder = overlays("overlays-refused", [7, 70]);
    write(&folder.join("wrong.yaml"), &pod("a").replace("cpu: 1", "cpu: one"));
    let output = start(&["plan", "-R", "."], &folder, "");
    let said = aside(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.starts_with("error: ./wrong.yaml:4: "), "{said}");
    assert!(
        said.contains(
            "error: 90 folders have to be rendered by kustomize or helm: `./apps/a00`, `./apps/a01`, `./apps/a02` and \
             87 more\nhint: add `--render`: "
        ),
        "{said}"
    );
    assert!(said.lines().count() <= 4, "{said}");
}

#[test]
fn ninety_kustomizations_of_which_two_cannot_be_rendered_are_planned_without_those_two() {
    let Some(kubectl) = tool("kubectl", "`--render` of many folders") else { return };
    let path = kubectl.parent().and_then(Path::to_str).expect("UTF-8");
    let folder = overlays("overlays-rendered", [7, 70]);
    let folder = folder.strip_prefix(root()).unwrap_or(&folder).to_str().expect("UTF-8").to_owned();
    let print = |more: &[&str]| {
        let arguments = ["plan", "-R", &folder, "--render", "--location", "westeurope"];
        with_path(&[&arguments, more].concat(), path)
    };
    let output = print(&[]);
    assert!(output.status.success(), "{}", aside(&output));
    assert!(out(&output).contains("88 pods"), "{}", out(&output));
    let head = out(&output).replace("\n    ", " ");
    for index in ["a07", "a70"] {
        let gap = format!("Not read: `{folder}/apps/{index}`: `kubectl kustomize {folder}/apps/{index}");
        assert!(head.contains(&gap), "{gap}: {head}");
        let cause = format!("apps/{index}/missing.yaml: no such file or directory");
        assert!(head.contains(&cause), "{cause}: {head}");
    }
    let gate = print(&["--fail-on", "incomplete"]);
    assert_eq!(gate.status.code(), Some(4), "{}", aside(&gate));
    let without = print(&["--fail-on", "incomplete", "--exclude", "a07/", "--exclude", "apps/a70"]);
    assert!(without.status.success(), "{}", aside(&without));
    let checked = with_path(&["validate", "-R", &folder, "--render"], path);
    assert_eq!(checked.status.code(), Some(1), "{}", out(&checked));
    assert!(aside(&checked).contains("apps/a07` cannot be rendered: "), "{}", aside(&checked));
    assert!(out(&checked).starts_with("Valid: "), "what can be rendered is looked into: {}", out(&checked));
    assert!(out(&checked).contains(&format!("\nNot read: `{folder}/apps/a07`: ")), "{}", out(&checked));
}
