use super::{Foreign, Tool, layout, parent, shell_word};

/// Returns the folders to render and the files to read, given files with their texts.
fn sorted(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let layout = layout(&paths, |index| Some(files[index].1.to_owned()));
    let folders = layout.unrendered.iter().map(|root| format!("{} {}", root.tool.as_str(), root.folder));
    let read = layout.manifests.iter().map(|index| paths[*index].to_owned());
    (folders.collect(), read.collect())
}

#[test]
fn the_outermost_kustomizations_count_and_nothing_in_them_is_read() {
    let files = [
        ("app/base/kustomization.yaml", "resources: [web.yaml]"),
        ("app/base/web.yaml", ""),
        ("app/overlays/dev/Kustomization", "resources: [../../base]\ncomponents: [../../parts/debug]"),
        (
            "app/overlays/prod/kustomization.yml",
            "bases: [../../base/]\npatches: [{path: ../../patches/big.yaml}]",
        ),
        ("app/overlays/prod/more/x.yaml", ""),
        ("app/parts/debug/kustomization.yaml", "kind: Component"),
        ("app/patches/big.yaml", ""),
        ("app/pool.yaml", ""),
    ];
    let (folders, read) = sorted(&files);
    assert_eq!(folders, ["kustomize app/overlays/dev", "kustomize app/overlays/prod"]);
    assert_eq!(read, ["app/pool.yaml"]);
}

#[test]
fn folders_keep_the_way_they_were_named() {
    for prefix in ["", "./", "../", "/srv/", "a/../", "./x/.././"] {
        let base = format!("{prefix}base/kustomization.yaml");
        let top = format!("{prefix}top/kustomization.yaml");
        let files = [(base.as_str(), "resources: []"), (top.as_str(), "resources: [../base]")];
        assert_eq!(sorted(&files).0, [format!("kustomize {prefix}top")], "{prefix}");
    }
    assert_eq!(sorted(&[("Chart.yaml", "name: web")]).0, ["helm ."]);
    assert_eq!(sorted(&[("/Chart.yaml", "name: web"), ("/x/y.yaml", "")]), (vec!["helm /".into()], vec![]));
    assert_eq!([parent("a/b"), parent("b"), parent("/b")], ["a", ".", "/"]);
}

#[test]
fn charts_within_charts_and_libraries_are_parts() {
    let files = [
        ("web/Chart.yaml", "name: web\ndependencies: [{name: common, repository: 'file://../common'}]"),
        ("web/charts/db/Chart.yaml", "name: db"),
        ("web/templates/web.yaml", "{{ .Values.x }}"),
        ("web/values.yaml", ""),
        ("web/values-prod.yaml", ""),
        ("common/Chart.yaml", "name: common"),
        ("lib/Chart.yaml", "name: lib\ntype: library"),
        ("k/kustomization.yaml", "helmCharts: [{name: x}]"),
        ("k/charts/x/Chart.yaml", "name: x"),
    ];
    let (folders, read) = sorted(&files);
    assert_eq!(folders, ["kustomize k", "helm web"]);
    assert!(read.is_empty(), "{read:?}");
    let paths = files.map(|(path, _)| path);
    let found = layout(&paths, |index| Some(files[index].1.to_owned())).unrendered;
    assert_eq!(found[0].command(), "kubectl kustomize --enable-helm k");
    assert_eq!(found[1].command(), "helm template web web --include-crds --skip-tests");
    assert_eq!(found[1].values, ["web/values-prod.yaml"]);
}

#[test]
fn charts_of_a_base_are_charts_of_its_overlay() {
    let files = [("b/kustomization.yaml", "helmCharts: []"), ("o/kustomization.yaml", "resources: [../b]")];
    let found = layout(&files.map(|(path, _)| path), |index| Some(files[index].1.to_owned())).unrendered;
    assert_eq!((found.len(), found[0].inflates_charts, &*found[0].bases), (1, true, &["b".to_owned()][..]));
}

#[test]
fn circles_and_definitions_that_cannot_be_read_are_left_to_their_tool() {
    let circle =
        [("a/kustomization.yaml", "resources: [../b]"), ("b/kustomization.yaml", "resources: [../a]")];
    assert_eq!(sorted(&circle).0, ["kustomize a", "kustomize b"]);
    for text in ["", "[", "- 1", "resources: 3", "resources: [1, {a: b}]", "resources: [.]", "\u{0}"] {
        assert_eq!(sorted(&[("a/kustomization.yaml", text)]).0, ["kustomize a"], "{text:?}");
    }
}

#[test]
fn a_release_is_named_like_its_chart_unless_that_would_be_something_else_to_helm() {
    let release = |name: &str| {
        let found = layout(&["a/Chart.yaml"], |_| Some(format!("name: {name:?}"))).unrendered;
        found[0].release().to_owned()
    };
    assert_eq!([release("web"), release("web-2.x")], ["web", "web-2.x"]);
    let long = "a".repeat(54);
    for name in ["", "--post-renderer=sh", "-x", "x-", "a b", "Web", "a;b", "é", &long] {
        assert_eq!(release(name), "release", "{name}");
    }
}

#[test]
fn files_of_other_tools_are_told_apart() {
    let table = [
        ("helmfile.yaml", Some(Foreign::Helmfile)),
        ("x/helmfile.d/01.yaml", Some(Foreign::Helmfile)),
        ("a.libsonnet", Some(Foreign::Jsonnet)),
        ("a.cue", Some(Foreign::Cue)),
        ("main.tf.json", Some(Foreign::Terraform)),
        ("main.json", None),
        ("Chart.lock", None),
    ];
    for (path, expected) in table {
        assert_eq!(Foreign::of_path(path), expected, "{path}");
    }
    let found = layout(&["x/helmfile.yaml", "x/main.tf", "x/README.md", "x/a.json"], |_| None);
    assert_eq!((found.manifests, found.foreign.len()), (vec![3], 2));
}

#[test]
fn folders_of_reviewed_plans_are_told_by_what_they_hold_and_are_not_read() {
    let paths = [
        "plans/2026-11/create-a/PLAN.md",
        "plans/2026-11/create-a/plan.jsonc",
        "plans/2026-10/remove-b/PLAN.md",
        "plans/2026-10/remove-b/destroy.yaml",
        "plans/2026-10/remove-b/plan.json",
        // A user's own files, beside a page that only has the same name.
        "app/PLAN.md",
        "app/plan.json",
        "app/web.yaml",
        "other/PLAN.md",
        "other/destroy.yaml",
    ];
    let found = layout(&paths, |_| None);
    let plans: Vec<&str> = found.plans.iter().map(String::as_str).collect();
    assert_eq!(plans, ["plans/2026-10/remove-b", "plans/2026-11/create-a"]);
    let read: Vec<&str> = found.manifests.iter().map(|index| paths[*index]).collect();
    assert_eq!(read, ["app/plan.json", "app/web.yaml", "other/destroy.yaml"]);
}

#[test]
fn the_names_that_tools_look_for_are_known_and_no_others() {
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml"];
    assert_eq!(names.map(|name| Tool::of_file(name).is_some()), [true; 4]);
    let others = ["Kustomization.yaml", "chart.yaml", "Chart.yml", "kustomization.json"];
    assert_eq!(others.map(Tool::of_file), [None; 4]);
}

#[test]
fn words_of_a_shell_are_quoted_where_they_must_be() {
    let table = [
        ("a/b-c.d", "a/b-c.d"),
        ("a b", "'a b'"),
        ("it's", r"'it'\''s'"),
        ("-x", "./-x"),
        ("", "''"),
        ("$(x)", "'$(x)'"),
    ];
    for (word, expected) in table {
        assert_eq!(shell_word(word), expected);
    }
}
