//! The command line as its user meets it: help, exit codes, errors with hints, what goes where.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::shell::{aside, empty_folder, folder_of, nodeform, out, root, start};

const COMMANDS: [&str; 14] = [
    "plan",
    "show",
    "diff",
    "verify",
    "validate",
    "explain",
    "catalog",
    "snapshot",
    "init",
    "crds",
    "schema",
    "completions",
    "man",
    "version",
];

#[test]
fn the_help_of_each_command_has_an_example_that_works() {
    for command in COMMANDS {
        let help = out(&nodeform(&[command, "--help"]));
        let examples: Vec<&str> = help
            .lines()
            .skip_while(|line| !line.starts_with("Example"))
            .filter_map(|line| line.trim().strip_prefix("nodeform "))
            .filter(|example| !example.contains('|'))
            .collect();
        assert!(!examples.is_empty(), "`{command} --help` has no example:\n{help}");
        let folder = empty_folder(&format!("help-{command}"));
        for example in examples {
            // Examples write beside the user; here that is a folder of the test's own.
            let arguments: Vec<String> = example
                .split_whitespace()
                .map(|word| match word {
                    word if word.starts_with("examples/") => root().join(word).display().to_string(),
                    word => word.to_owned(),
                })
                .collect();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let output = start(&arguments, &folder, "");
            assert!(output.status.success(), "`nodeform {example}`: {}", aside(&output));
        }
    }
}

#[test]
fn wrong_usage_exits_with_1_and_help_with_0() {
    assert_eq!(nodeform(&["--help"]).status.code(), Some(0));
    assert_eq!(nodeform(&["--version"]).status.code(), Some(0));
    for wrong in
        [&["plan", "--frobnicate"][..], &["frobnicate"], &[], &["plan"], &["plan", "no-such-file.yaml"]]
    {
        let output = nodeform(wrong);
        assert_eq!(output.status.code(), Some(1), "{wrong:?}");
        assert!(out(&output).is_empty(), "{wrong:?} prints errors as data");
        assert!(!aside(&output).is_empty(), "{wrong:?} says nothing");
    }
    assert!(aside(&nodeform(&["plan"])).contains("hint:"));
}

#[test]
fn what_init_writes_is_valid_and_plans() {
    let folder = empty_folder("init");
    let written =
        start(&["init", "c", "--location", "westeurope", "--cluster-name", "prod-weu"], &folder, "");
    assert!(written.status.success(), "{}", aside(&written));
    let again = start(&["init", "c"], &folder, "");
    assert_eq!(again.status.code(), Some(1), "an existing file is kept");
    let valid = start(&["validate", "c"], &folder, "");
    assert!(valid.status.success(), "{}", aside(&valid));
    std::fs::copy(root().join("examples/quickstart/inflate.yaml"), folder.join("c/inflate.yaml"))
        .expect("copied");
    let plan = start(&["plan", "c", "--detailed-exitcode"], &folder, "");
    assert_eq!(plan.status.code(), Some(2), "{}", aside(&plan));
    assert!(out(&plan).contains("westeurope"), "{}", out(&plan));
}

#[test]
fn init_for_reviews_writes_what_each_forge_needs_and_says_what_is_left_by_hand() {
    let files = |forge: &str| match forge {
        "github" => vec![".github/CODEOWNERS", ".github/workflows/nodeform-verify.yml"],
        "gitlab" => vec![".gitlab-ci.yml", "CODEOWNERS"],
        "gitea" => vec![".gitea/workflows/nodeform-verify.yml", "CODEOWNERS"],
        _ => vec!["nodeform-verify.yml"],
    };
    for forge in ["github", "gitlab", "azure-devops", "gitea"] {
        let folder = empty_folder(&format!("init-review-{forge}"));
        let init = ["init", "c", "--review", forge, "--git-repository", "https://forge.example/acme/nodes"];
        let written = start(&init, &folder, "");
        assert!(written.status.success(), "{}", aside(&written));
        let said = out(&written);
        assert!(said.contains("By hand, at https://forge.example/acme/nodes:\n  - "), "{said}");
        for file in files(forge) {
            assert!(folder.join("c").join(file).exists() && said.contains(file), "{forge}: {file}: {said}");
        }
        let fleet = std::fs::read_to_string(folder.join("c/fleet/nodeform.yaml")).expect("it is there");
        let kind = forge.replace("azure-devops", "azuredevops");
        assert!(fleet.contains("mode: review") && fleet.contains(&format!("forge: {kind}\n")), "{fleet}");
        let valid = start(&["validate", "c/fleet"], &folder, "");
        assert!(valid.status.success(), "{}", aside(&valid));
        // With the approvals that are proposed it is valid too.
        let with = fleet.replace("    # approvals:", "    approvals:").replace("    #   - {", "      - {");
        assert_ne!(with, fleet);
        std::fs::write(folder.join("c/fleet/nodeform.yaml"), with).expect("it can be written");
        let valid = start(&["validate", "c/fleet"], &folder, "");
        assert!(valid.status.success(), "{forge}: {}", aside(&valid));
        std::fs::remove_dir_all(folder.join("c/fleet")).expect("it goes");
        let again = start(&init, &folder, "");
        assert!(again.status.code() == Some(1) && !folder.join("c/fleet").exists(), "nothing is overwritten");
    }
    let folder = empty_folder("init-review-pools");
    let pools = root().join("examples/agent-pools/az/nodepools.json").display().to_string();
    let review = ["--review", "gitea", "--git-repository", "https://forge.example/acme/nodes"];
    let from = [&["init", "-", "--from", &pools, "--location", "westeurope"], &review[..]].concat();
    let printed = start(&from, &folder, "");
    assert!(out(&printed).contains("mode: review") && out(&printed).contains("forge: gitea\n"));
    assert!(aside(&printed).contains("By hand, at "), "{}", aside(&printed));
    let folder = empty_folder("init-review-wrong");
    for wrong in
        ["git@github.com:acme/nodes", "https://me:secret@forge.example/a/b", "http://forge.example/a/b"]
    {
        let output = start(&["init", "c", "--review", "github", "--git-repository", wrong], &folder, "");
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(
            aside(&output).contains("`--git-repository`: ") && !aside(&output).contains("secret"),
            "{wrong}"
        );
        assert!(!folder.join("c").exists(), "{wrong}");
    }
}

#[test]
fn what_is_no_plan_or_no_input_is_said_to_be_so_with_a_way_out() {
    let folder = empty_folder("no-plan");
    std::fs::create_dir(folder.join("folder")).expect("made");
    for (file, text) in [("empty", &b""[..]), ("object", b"{}\n"), ("list", b"[]\n"), ("bytes", b"\xff\xfe")]
    {
        std::fs::write(folder.join(file), text).expect("written");
    }
    let quickstart = root().join("examples/quickstart").display().to_string();
    assert!(start(&["plan", &quickstart, "--out", "p.json"], &folder, "").status.success());
    for (arguments, said) in [
        (&["show", "empty"][..], "`empty` holds no plan that can be used: there is nothing in it\nhint: "),
        (&["verify", "-"], "standard input holds no plan that can be used: there is nothing in it\nhint: "),
        (&["show", "object"], "it is JSON and no plan: it has no `apiVersion` and `kind`\nhint: "),
        (&["show", "list"], "it is JSON and no plan: it has no `apiVersion` and `kind`\nhint: "),
        (&["show", "bytes"], "`bytes` cannot be read as a plan: it is not UTF-8 text\nhint: "),
        (&["show", "folder"], "`folder` cannot be read as a plan: "),
        (&["plan", "missing"], "`missing` cannot be read: No such file or directory (os error 2)\nhint: "),
        (&["plan", "p.json"], "kind: is a Plan of nodeform, not a manifest"),
        (&["validate", "p.json"], "hint: look at it with `nodeform show FILE`"),
        (&["init", "empty"], "`empty` is not a folder\nhint: "),
        (&["catalog", "--catalog", "folder"], "`--catalog folder` cannot be read: "),
        (&["catalog", "--catalog", "-"], "`/dev/stdin` is standard input\n"),
        (&["catalog", "--price-max", "-1"], "`-1` is no price\nhint: "),
        (&["catalog", "--memory-min", "-1"], "`-1` is no amount of memory\nhint: "),
        (&["catalog", "--cpu-min", "-1"], "invalid value '-1' for '--cpu-min <N>'"),
    ] {
        let output = start(arguments, &folder, "");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(aside(&output).contains(said), "{arguments:?}: {}", aside(&output));
    }
    let schemas = ["nodepools", "NodePool", "nodepool"].map(|name| out(&nodeform(&["schema", name])));
    assert!(schemas[0].starts_with('{') && schemas.iter().all(|schema| *schema == schemas[0]));
}

#[test]
fn nothing_to_do_is_said_in_the_first_line() {
    let pool = std::fs::read_to_string(root().join("examples/quickstart/nodepool.yaml")).expect("readable");
    let output = start(&["plan", "-", "--detailed-exitcode"], root(), &pool);
    assert_eq!(output.status.code(), Some(0), "{}", aside(&output));
    assert!(out(&output).starts_with("No changes."), "{}", out(&output));
}

#[test]
fn faults_name_file_line_field_and_a_way_out() {
    let wrong = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: p\nspec:\n  weight: 1000\n  template:\n    spec:\n      requirements:\n        - key: kubernetes.io/arch\n          operator: Inn\n          values: [amd64]\n      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: d}\n";
    let output = start(&["validate", "-"], root(), wrong);
    assert_eq!(output.status.code(), Some(1));
    let said = aside(&output);
    assert!(said.contains("<stdin>:6: spec.weight"), "{said}");
    assert!(said.contains("<stdin>:11: spec.template.spec.requirements[0].operator"), "{said}");
    assert!(said.contains("hint:"), "{said}");
}

#[test]
fn a_plan_is_saved_where_the_path_leads_and_never_over_an_input() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = empty_folder("out");
    let quickstart = root().join("examples/quickstart").display().to_string();
    let save = |file: &str| start(&["plan", &quickstart, "--out", file], &folder, "");
    for device in ["/dev/null", "/dev/stdout"] {
        let output = save(device);
        assert!(output.status.success(), "{device}: {}", aside(&output));
        assert!(!std::fs::symlink_metadata(device).expect("is there").is_file(), "{device}");
    }
    std::fs::write(folder.join("real.json"), "old").expect("written");
    std::fs::set_permissions(folder.join("real.json"), PermissionsExt::from_mode(0o600)).expect("set");
    symlink("real.json", folder.join("link.json")).expect("linked");
    assert!(save("link.json").status.success());
    assert!(std::fs::symlink_metadata(folder.join("link.json")).expect("is there").is_symlink());
    let mode = std::fs::metadata(folder.join("real.json")).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the mode of a file is kept");
    assert!(start(&["verify", "real.json"], &folder, "").status.success());

    let pool = std::fs::read_to_string(root().join("examples/quickstart/nodepool.yaml")).expect("readable");
    std::fs::write(folder.join("pool.yaml"), &pool).expect("written");
    let over = start(&["plan", "pool.yaml", "--out", "./pool.yaml"], &folder, "");
    assert_eq!(over.status.code(), Some(1));
    assert!(aside(&over).contains("is one of the inputs"), "{}", aside(&over));
    assert_eq!(std::fs::read_to_string(folder.join("pool.yaml")).expect("readable"), pool);
    std::fs::create_dir(folder.join("all")).expect("made");
    std::fs::rename(folder.join("pool.yaml"), folder.join("all/pool.yaml")).expect("moved");
    symlink("all/pool.yaml", folder.join("pool-link.json")).expect("linked");
    symlink("all", folder.join("folder-link")).expect("linked");
    std::fs::copy(root().join("fixtures/catalog.json"), folder.join("sizes.json")).expect("copied");
    for (input, to) in [
        ("all", "all/pool.yaml"),
        ("all", "pool-link.json"),
        ("folder-link", "all/pool.yaml"),
        ("all", "sizes.json"),
        ("all", "folder-link/../sizes.json"),
    ] {
        let over = start(&["plan", input, "--catalog", "sizes.json", "--out", to], &folder, "");
        assert_eq!(over.status.code(), Some(1), "{input} {to}");
        assert!(aside(&over).contains("is one of the inputs"), "{input} {to}: {}", aside(&over));
        assert_eq!(std::fs::read_to_string(folder.join("all/pool.yaml")).expect("readable"), pool);
    }
    std::fs::write(folder.join("before.yaml"), &pool).expect("written");
    let over = start(&["plan", "all", "--before", "before.yaml", "--out", "before.yaml"], &folder, "");
    assert!(aside(&over).contains("is one of the inputs"), "{}", aside(&over));
    let dash = save("-");
    assert_eq!(dash.status.code(), Some(1));
    assert!(aside(&dash).contains("`-o json`"), "{}", aside(&dash));
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_a_reader_that_left_is_not() {
    let with_output = |arguments: &[&str], output: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
        command.args(arguments).current_dir(root()).stdin(Stdio::null());
        command.stdout(output).stderr(Stdio::piped()).output().expect("the program ends")
    };
    for arguments in [&["plan", "examples/quickstart", "-o", "json"][..], &["schema", "plan"], &["--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("is there");
        let output = with_output(arguments, full.into());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(aside(&output).contains("error: standard output cannot be written: "), "{}", aside(&output));
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = with_output(arguments, writer.into());
        assert_eq!((output.status.code(), aside(&output).as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn an_input_without_any_object_is_a_failed_pipe_and_no_cluster() {
    for arguments in [&["plan", "-"][..], &["validate", "-"], &["explain", "pod/a", "-"]] {
        for input in [
            "",
            "# nothing\n",
            "---\n---\n",
            "apiVersion: v1\nkind: List\nitems: []\n",
            "error: the server doesn't have a resource type\n",
            "replicaCount: 3\n",
        ] {
            let output = start(arguments, root(), input);
            assert_eq!(output.status.code(), Some(1), "{arguments:?} {input:?}");
            let said = aside(&output);
            assert!(
                said.contains("the input is empty") || said.contains("no object of Kubernetes"),
                "{said}"
            );
            assert!(said.contains("hint: check whether the command before the pipe failed"), "{said}");
        }
    }
}

#[test]
fn a_pipe_that_brings_nothing_is_an_error_beside_other_files_too() {
    for arguments in [&["plan", "examples/quickstart", "-"][..], &["snapshot", "-", "examples/quickstart"]] {
        let output = start(arguments, root(), "\n");
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""), "{arguments:?}");
        assert!(aside(&output).contains("nothing came from standard input"), "{}", aside(&output));
    }
}

#[test]
fn a_size_that_serves_no_node_is_told_by_the_catalogue() {
    let output = nodeform(&["catalog", "dc2as_v5", "--location", "eastus"]);
    let told = aside(&output);
    assert!(told.contains("`Standard_DC2as_v5` serves no node: it is a confidential size"), "{told}");
    assert!(!told.contains("did you mean"), "{told}");
}

#[test]
fn pods_and_nodes_are_explained_by_the_names_that_plans_print() {
    let name = out(&nodeform(&["plan", "examples/quickstart", "-o", "name"]));
    let name = name.trim().strip_prefix("+ ").expect("a node is created");
    for asked in [name, "pod/default/inflate-0", "deployment.apps/inflate"] {
        let output = nodeform(&["explain", asked, "examples/quickstart"]);
        assert_eq!(output.status.code(), Some(0), "{asked}: {}", aside(&output));
    }
    let elsewhere = nodeform(&["explain", "pod/shop/inflate-0", "examples/quickstart"]);
    assert!(aside(&elsewhere).contains("it is in namespace `default`"), "{}", aside(&elsewhere));
}

#[test]
fn output_is_plain_where_it_is_not_a_terminal() {
    assert!(!out(&nodeform(&["plan", "examples/quickstart"])).contains('\u{1b}'));
}

#[test]
fn a_list_of_sizes_says_which_region_it_is_of() {
    let folder = empty_folder("region");
    let list = r#"[{"name": "small", "requirements": {}, "capacity": {"cpu": "4", "memory": "16Gi"}, "overhead": {},
        "offerings": [{"zone": "westus2-1", "capacityType": "on-demand", "price": 0.2, "available": true}]}]"#;
    std::fs::write(folder.join("list.json"), list).expect("the list can be written");
    let shown = start(&["catalog", "--catalog", "list.json"], &folder, "");
    assert!(shown.status.success() && aside(&shown).contains("westus2"), "{}", aside(&shown));
    let input = root().join("examples/quickstart/inflate.yaml").display().to_string();
    let planned = start(&["plan", &input, "--catalog", "list.json"], &folder, "");
    assert!(out(&planned).contains("region `westus2`"), "{}{}", out(&planned), aside(&planned));
}

#[test]
fn a_region_that_contradicts_the_nodes_is_said() {
    let planned = nodeform(&["plan", "examples/existing-fleet", "--location", "eastus"]);
    assert!(out(&planned).contains("although the nodes are labelled `westeurope`"), "{}", out(&planned));
}

#[test]
fn a_class_that_is_not_there_is_assumed_aloud_and_a_fault_where_others_are() {
    let pool = std::fs::read_to_string(root().join("examples/quickstart/nodepool.yaml")).expect("readable");
    let misspelt = pool.replacen("name: default", "name: defualt", 1);
    for command in ["plan", "validate"] {
        let said = start(&[command, "-"], root(), &misspelt);
        assert!(!said.status.success(), "{}", out(&said));
        let said = aside(&said).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("AKSNodeClass `defualt` is not in the input"), "{said}");
        assert!(said.contains("did you mean `default`?"), "{said}");
    }
    let alone = misspelt.split("---").find(|part| part.contains("kind: NodePool")).expect("is there");
    let said = out(&start(&["plan", "-"], root(), alone));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("AKSNodeClass `defualt` with Karpenter's defaults"), "{said}");
}

#[test]
fn a_filter_that_matches_nothing_is_named_with_what_there_is() {
    for (flags, said) in [
        (&["--family", "Q"][..], "`--family Q` matches none of them\nhint: what there is: A, B, "),
        (&["--family", "Dsv5x"], "hint: did you mean `--family Ds_v5`?\n"),
        (&["D4sv5"], "`D4sv5` matches none of them\nhint: did you mean `Standard_D4s_v5`?\n"),
        (&["--zone", "eastus-9"], "hint: what there is: eastus-1, eastus-2, eastus-3\n"),
        (&["--arch", "riscv", "-o", "json"], "hint: what there is: amd64, arm64\n"),
        (&["--cpu-min", "9999"], "`--cpu-min 9999` matches none of them\nhint: 832 is the most\n"),
        (&["--price-max", "0.00001"], "hint: 0.0336 is the least\n"),
        (
            &["--family", "Ds_v5", "--arch", "arm64"],
            "`--arch arm64` matches none of the 8 that the rest of the command matches\nhint: what there is: amd64\n",
        ),
    ] {
        let output = nodeform(&[&["catalog"], flags].concat());
        assert_eq!(output.status.code(), Some(0), "{flags:?}");
        assert!(aside(&output).contains(said), "{flags:?}: {}", aside(&output));
    }
    for flags in [["--cpu-min", "8", "--cpu-max", "4"], ["--memory-min", "8Gi", "--memory-max", "4Gi"]] {
        let output = nodeform(&[&["catalog"], &flags[..]].concat());
        assert_eq!(output.status.code(), Some(1), "{flags:?}");
        assert!(aside(&output).contains("-min` is more than `--"), "{}", aside(&output));
    }
}

#[test]
fn folders_to_render_are_refused_all_at_once_with_the_commands_to_paste() {
    let pool = std::fs::read_to_string(root().join("examples/quickstart/nodepool.yaml")).expect("readable");
    let folder = folder_of(
        "unrendered",
        &[
            ("pools/pool.yaml", &pool),
            ("app/base/kustomization.yaml", "resources: [web.yaml]"),
            ("app/base/web.yaml", "{kind: Deployment}"),
            ("app/overlays/dev/kustomization.yml", "resources: [../../base]"),
            ("app/overlays/prod/Kustomization", "resources: [../../base]"),
            ("my chart/Chart.yaml", "name: web"),
            ("my chart/templates/web.yaml", "{{ x }}"),
            ("my chart/values-prod.yaml", ""),
            ("inflated/kustomization.yaml", "helmCharts: []"),
        ],
    );
    for command in [&["plan"][..], &["validate"], &["explain", "pod/a"]] {
        let output = start(&[command, &[".", "-R"]].concat(), &folder, "");
        assert_eq!((output.status.code(), out(&output)), (Some(1), String::new()));
        let said = aside(&output);
        for words in [
            "4 folders have to be rendered by kustomize or helm: ",
            "`./app/overlays/dev`, `./app/overlays/prod`, `./inflated` and 1 more",
            "2 folders build on `./app/base`",
            "such as `./app/overlays/prod --render`",
            "`--helm-values './my chart/values-prod.yaml'`",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert_eq!(said.matches("hint:").count(), 1, "one hint for all of them: {said}");
        assert!(!said.contains("`./app/base` is"), "bases are no roots: {said}");
    }
    for named in ["app/base", "app/base/kustomization.yaml", "my chart/Chart.yaml"] {
        let output = start(&["plan", named, "pools"], &folder, "");
        assert_eq!(output.status.code(), Some(1), "{named}");
        assert!(
            aside(&output).contains("hint: add `--render`: the kustomize, kubectl or helm of this machine"),
            "{named}: {}",
            aside(&output)
        );
        assert_eq!(aside(&output).matches("hint:").count(), 1, "{named}: {}", aside(&output));
    }
    let own = start(&["validate", "app/base/web.yaml"], &folder, "");
    assert!(aside(&own).contains("app/base/web.yaml:1: "), "a file named by itself is read: {}", aside(&own));
}

#[test]
fn folders_with_files_of_other_tools_alone_say_so() {
    let folder =
        folder_of("foreign", &[("a/main.tf", ""), ("a/helmfile.yaml", "releases: []"), ("a/x.cue", "")]);
    let said = aside(&start(&["plan", "a"], &folder, ""));
    for file in ["Helmfile (`a/helmfile.yaml`)", "CUE (`a/x.cue`)", "Terraform (`a/main.tf`)"] {
        assert!(said.contains(&format!("files of {file} are no manifests")), "{file}: {said}");
    }
    assert!(said.contains("hint:"), "{said}");
}

#[test]
fn an_older_guide_is_named_rewritten_and_planned() {
    let folder = empty_folder("guide");
    let guide = folder.join("guide.yaml");
    std::fs::copy(root().join("fixtures/guides/v1alpha5.yaml"), &guide).expect("copied");
    let plan = start(&["plan", "guide.yaml"], &folder, "");
    assert_eq!(plan.status.code(), Some(1));
    assert!(
        aside(&plan).contains("hint: `nodeform validate --fix guide.yaml` rewrites it"),
        "{}",
        aside(&plan)
    );
    let named = start(&["validate", "guide.yaml"], &folder, "");
    assert_eq!(named.status.code(), Some(1));
    let moved = "guide.yaml:47: spec.ttlSecondsAfterEmpty: is now `spec.disruption.consolidateAfter: 30s`";
    assert!(aside(&named).contains(moved), "{}", aside(&named));
    let annotated = start(&["validate", "-o", "github", "guide.yaml"], &folder, "");
    assert!(
        out(&annotated).contains("::error file=guide.yaml,line=47::spec.ttlSecondsAfterEmpty"),
        "{}",
        out(&annotated)
    );
    assert!(out(&annotated).contains("::warning file=guide.yaml,line=87::"), "{}", out(&annotated));

    let piped = std::fs::read_to_string(&guide).expect("readable");
    let piped = start(&["validate", "--fix", "-"], &folder, &piped);
    let fixed = start(&["validate", "--fix", "guide.yaml"], &folder, "");
    assert!(fixed.status.success(), "{}", aside(&fixed));
    assert!(
        out(&fixed).starts_with("Rewritten: 3 objects in `guide.yaml`.\n\nNot carried over:\n"),
        "{}",
        out(&fixed)
    );
    let new = std::fs::read_to_string(&guide).expect("readable");
    assert_eq!(out(&piped), new);
    let again = start(&["validate", "--fix", "guide.yaml"], &folder, "");
    assert!(out(&again).contains("Valid: 3 objects in 1 file."), "{}{}", out(&again), aside(&again));
    assert_eq!(std::fs::read_to_string(&guide).expect("readable"), new);
    let left: Vec<_> = std::fs::read_dir(&folder).expect("readable").collect();
    assert_eq!(left.len(), 1, "nothing is left beside the file");
    let plan = start(&["plan", "guide.yaml", "--location", "westeurope"], &folder, "");
    assert!(out(&plan).starts_with("Plan: 1 to add"), "{}{}", out(&plan), aside(&plan));
}

#[test]
fn what_can_be_written_of_a_guide_is_written_and_the_rest_is_named() {
    let folder = empty_folder("guide-wrong");
    let guide = folder.join("guide.yaml");
    let text = std::fs::read_to_string(root().join("fixtures/guides/v1alpha5.yaml")).expect("readable");
    let text = text.replace("weight: 10", "weight: 1000");
    std::fs::write(&guide, &text).expect("written");
    let output = start(&["validate", "--fix", "guide.yaml"], &folder, "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        aside(&output).contains("`guide.yaml` is rewritten as far as it can be: 1 fault left"),
        "{}",
        aside(&output)
    );
    let new = std::fs::read_to_string(&guide).expect("readable");
    let line = new.lines().position(|line| line.contains("weight: 1000")).expect("stays") + 1;
    assert!(aside(&output).contains(&format!("guide.yaml:{line}: spec.weight")), "{}", aside(&output));
}

#[test]
fn what_is_asked_of_a_node_is_planned_or_refused_with_the_reason() {
    let asked = |arguments: &[&str]| nodeform(&[&["plan", "examples/existing-fleet"], arguments].concat());
    let replaced = asked(&["--replace", "node/aks-general-purpose-4xk2p"]);
    assert!(replaced.status.success(), "{}", aside(&replaced));
    let line = out(&replaced).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("- node `aks-general-purpose-4xk2p` (pool"), "{line}");
    assert!(
        line.contains("1 pod: requested by `--replace`") || line.contains("2 pods: requested by `--replace`"),
        "{line}"
    );
    let forgotten = asked(&["--forget", "aks-general-purpose-4xk2p"]);
    assert!(out(&forgotten).contains("  . node `aks-general-purpose-4xk2p` is no longer managed"));
    for (arguments, said) in [
        (["--replace", "aks-general-purpose-4xk2q"], "hint: the input has node `aks-general-purpose-4xk2p`"),
        (
            ["--replace", "nodepool/general-purpose"],
            "error: `--replace nodepool/general-purpose` names no node",
        ),
        (["--forget", "aks-system-12345678-vmss000000"], "belongs to no NodePool"),
    ] {
        let refused = asked(&arguments);
        assert_eq!((refused.status.code(), out(&refused).as_str()), (Some(1), ""));
        assert!(aside(&refused).contains(said), "{}", aside(&refused));
    }
    let target =
        asked(&["--replace", "aks-general-purpose-4xk2p", "--target", "node/aks-general-purpose-k3v6z"]);
    assert_eq!(
        aside(&target),
        "error: node `aks-general-purpose-4xk2p` cannot be replaced: it is not among the targets (`--target`)\n"
    );
}

#[test]
fn a_gate_is_looked_at_after_the_output_and_comes_before_the_detailed_exit_code() {
    let folder = empty_folder("gates");
    let fleet = root().join("examples/existing-fleet").display().to_string();
    let planned = |flags: &[&str]| {
        let arguments: Vec<&str> = ["plan", &fleet].into_iter().chain(flags.iter().copied()).collect();
        start(&arguments, &folder, "")
    };
    let failed = planned(&["--fail-on", "delete,unplaced", "--detailed-exitcode", "--out", "plan.json"]);
    assert_eq!(failed.status.code(), Some(4), "{}", aside(&failed));
    assert!(out(&failed).starts_with("Plan: 0 to add, 0 to change, 2 to destroy."), "{}", out(&failed));
    assert!(
        aside(&failed).contains("error: gate `--fail-on delete`: 2 nodes are deleted\n"),
        "{}",
        aside(&failed)
    );
    assert!(!aside(&failed).contains("unplaced"), "{}", aside(&failed));
    let passed = planned(&["--fail-on", "unplaced", "--max-monthly-increase", "0", "--detailed-exitcode"]);
    assert_eq!(passed.status.code(), Some(2), "{}", aside(&passed));
    let shown = start(
        &["show", "plan.json", "-o", "md", "--fail-on", "delete", "--fail-on", "estimate"],
        &folder,
        "",
    );
    assert_eq!(shown.status.code(), Some(4));
    assert_eq!(aside(&shown).matches("error: gate").count(), 2, "{}", aside(&shown));
    assert!(out(&shown).starts_with("**Plan: 0 to add, 0 to change, 2 to destroy.**"), "{}", out(&shown));
}

#[test]
fn a_rise_of_the_cost_is_held_against_dollars() {
    let planned = |most: &str| nodeform(&["plan", "examples/quickstart", "--max-monthly-increase", most]);
    assert_eq!(planned("99999.50").status.code(), Some(0));
    let over = planned("99.50");
    assert_eq!(over.status.code(), Some(4));
    assert!(
        aside(&over).contains("gate `--max-monthly-increase $99.50`: monthly cost increases by ~$"),
        "{}",
        aside(&over)
    );
    for wrong in ["-1", "lots", ""] {
        let output = planned(wrong);
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(aside(&output).contains("dollars"), "{wrong}: {}", aside(&output));
    }
}

#[test]
fn called_by_kubectl_it_speaks_of_kubectl() {
    let folder = empty_folder("plugin");
    let link = |name: &str| {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_nodeform"), folder.join(name)).expect("linked");
        folder.join(name)
    };
    let (plugin, completer) = (link("kubectl-nodeform"), link("kubectl_complete-nodeform"));
    let run = |program: &Path, arguments: &[&str]| {
        Command::new(program).args(arguments).current_dir(root()).output().expect("the program ends")
    };
    let help = out(&run(&plugin, &["plan", "--help"]));
    assert!(
        help.contains("Usage: kubectl nodeform plan") && help.contains("  kubectl nodeform plan examples/"),
        "{help}"
    );
    assert!(aside(&run(&plugin, &["plan"])).contains("`kubectl nodeform plan my-manifests/`"));
    assert!(aside(&run(&plugin, &["plan"])).contains(" | kubectl nodeform plan -`"));
    assert!(out(&run(&plugin, &["plan", "examples/quickstart"])).contains("more: `kubectl nodeform plan"));
    assert_eq!(
        out(&run(&completer, &["plan", "--fail-on", ""])),
        "delete\nestimate\nincomplete\nunplaced\n:4\n"
    );
}

#[test]
fn every_shell_gets_completions_and_every_command_a_man_page() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = out(&nodeform(&["completions", shell]));
        assert!(script.contains("max-monthly-increase"), "{shell}");
    }
    let folder = empty_folder("man");
    let written = start(&["man", "pages"], &folder, "");
    assert!(written.status.success(), "{}", aside(&written));
    for command in COMMANDS {
        let page = folder.join(format!("pages/nodeform-{command}.1"));
        let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{command}: {error}"));
        assert!(page.contains("Example"), "{command}");
    }
    assert!(folder.join("pages/nodeform.1").is_file());
}

#[test]
fn nothing_is_said_of_progress_where_nobody_watches() {
    assert_eq!(aside(&nodeform(&["plan", "examples/quickstart"])), "");
}

#[test]
fn a_tool_that_is_missing_or_fails_is_named_with_what_it_said() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_of(
        "render",
        &[
            ("none/README", ""),
            (
                "bin/kustomize",
                "#!/bin/sh\n[ \"$1 $2\" = 'build ./-app' ] || exit 9\nprintf 'no \\033[31mbase\\n' >&2\nexit 7\n",
            ),
            ("-app/kustomization.yaml", "resources: [x.yaml]"),
            ("inflated/kustomization.yaml", "helmCharts: [{name: x}]"),
        ],
    );
    std::fs::set_permissions(folder.join("bin/kustomize"), PermissionsExt::from_mode(0o755)).expect("set");
    let render = |input: &str, path: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
        command.args(["plan", "--render", "--", input]).current_dir(&folder).env("PATH", folder.join(path));
        let output = command.stdin(Stdio::null()).output().expect("the program ends");
        assert_eq!(output.status.code(), Some(1));
        aside(&output)
    };
    let missing = render("-app", "none");
    assert!(missing.contains("no `kustomize` and no `kubectl` on the PATH\nhint: "), "{missing}");
    let failed = render("-app", "bin");
    assert!(
        failed.contains("`kustomize build ./-app` failed with exit code 7:\n    no  [31mbase\nhint: "),
        "{failed}"
    );
    let inflated = render("inflated", "bin");
    assert!(inflated.contains("`kubectl kustomize --enable-helm inflated | nodeform plan -`"), "{inflated}");
}

#[test]
fn scaling_down_shows_what_it_saves_and_an_unknown_name_is_told_with_the_nearest() {
    let scaled = |scale: &str| nodeform(&["plan", "examples/existing-fleet", "--scale", scale]);
    let saved = scaled("deploy/shop/web=0");
    assert!(saved.status.success(), "{}", aside(&saved));
    assert!(out(&saved).starts_with("Plan: 0 to add, 0 to change, 4 to destroy."), "{}", out(&saved));
    assert!(
        out(&saved).contains("Assumed: 3 running pods gone: `shop/web-6c8f7d9b54-aaaaa`"),
        "{}",
        out(&saved)
    );
    let unknown = scaled("wep=0");
    assert_eq!((unknown.status.code(), out(&unknown)), (Some(1), String::new()));
    assert_eq!(
        aside(&unknown),
        "error: `--scale wep=0`: names no workload of the input\n\
         hint: the nearest is `--scale Deployment/shop/web=0`\n"
    );
    let wrong = scaled("web");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(aside(&wrong).contains("write it as `NAME=N`"), "{}", aside(&wrong));
    let explained =
        nodeform(&["explain", "pod/web-9", "-n", "shop", "examples/existing-fleet", "--scale", "web=13"]);
    assert!(explained.status.success(), "{}", aside(&explained));
}

#[test]
fn autoscaled_workloads_are_planned_for_either_bound() {
    let world = root().join("fixtures/worlds/autoscaled/world.yaml").display().to_string();
    let pods = |hpa: &[&str]| {
        let arguments = [&["plan", &world, "--no-system-daemonsets"][..], hpa].concat();
        let output = nodeform(&arguments);
        assert!(output.status.success(), "{}", aside(&output));
        let text = out(&output);
        let read = text.lines().find(|line| line.starts_with("Read:")).expect("the input is counted");
        read.split(", ").nth(1).map(str::to_owned)
    };
    assert_eq!(pods(&[]).as_deref(), Some("3 pods"));
    assert_eq!(pods(&["--hpa", "min"]).as_deref(), Some("3 pods"));
    assert_eq!(pods(&["--hpa", "max"]).as_deref(), Some("10 pods"));
    assert_eq!(pods(&["--hpa", "max", "--scale", "web=4"]).as_deref(), Some("4 pods"));
}

#[test]
fn two_snapshots_and_two_plans_are_held_against_each_other() {
    let folder = empty_folder("diff");
    let run = |arguments: &[&str]| start(arguments, &folder, "");
    let fleet = root().join("examples/existing-fleet").display().to_string();
    let quickstart = root().join("examples/quickstart").display().to_string();
    for (input, name) in [(&fleet, "fleet"), (&quickstart, "quickstart")] {
        let snapshot = format!("{name}.json");
        assert!(run(&["snapshot", input, "--out", &snapshot]).status.success());
        let plan = format!("{name}.plan");
        assert!(run(&["plan", "--snapshot", &snapshot, "--out", &plan]).status.success());
    }
    for kind in ["json", "plan"] {
        let (one, other) = (format!("fleet.{kind}"), format!("quickstart.{kind}"));
        let same = run(&["diff", &one, &one]);
        assert_eq!(same.status.code(), Some(0), "{}", aside(&same));
        assert!(out(&same).starts_with("No "), "{}", out(&same));
        let differs = run(&["diff", &one, &other]);
        assert_eq!(differs.status.code(), Some(2), "{}", aside(&differs));
        let json = run(&["diff", &one, &other, "-o", "json"]);
        assert_eq!(json.status.code(), Some(2));
        assert!(serde_json::from_str::<serde_json::Value>(&out(&json)).is_ok());
    }
    let shown = out(&run(&["diff", "fleet.json", "quickstart.json"]));
    assert!(shown.contains("  + Deployment/default/inflate  "), "{shown}");
    let mixed = run(&["diff", "fleet.json", "fleet.plan"]);
    assert_eq!(mixed.status.code(), Some(1));
    assert!(aside(&mixed).contains("one is a plan and the other a snapshot"), "{}", aside(&mixed));
}

#[test]
fn a_snapshot_plans_as_what_it_was_made_of_and_manifests_are_laid_over_it() {
    let folder = empty_folder("snapshot");
    let run = |arguments: &[&str]| start(arguments, &folder, "");
    let fleet = root().join("examples/existing-fleet").display().to_string();
    let saved = run(&["snapshot", &fleet, "--out", "prod.json"]);
    assert!(
        saved.status.success() && aside(&saved).contains("plan --snapshot prod.json"),
        "{}",
        aside(&saved)
    );
    let snapshot = out(&run(&["plan", "--snapshot", "prod.json", "-o", "json"]));
    assert_eq!(snapshot, out(&run(&["plan", &fleet, "-o", "json"])));
    let inflate = root().join("examples/quickstart/inflate.yaml").display().to_string();
    let laid = run(&["plan", "--snapshot", "prod.json", "--with", &inflate, "-o", "json"]);
    assert!(out(&laid).contains("inflate-0"), "{}", aside(&laid));
    let wrong: [(&[&str], &str); 5] = [
        (&["plan", "prod.json"], "is a Snapshot of nodeform"),
        (&["plan", "--snapshot", "prod.json", &fleet], "takes the place of other inputs"),
        (&["plan", "--snapshot", "-", "--with", "-"], "standard input is named twice"),
        (&["plan", "--with", &inflate], "--snapshot"),
        (&["plan", "--snapshot", "prod.json", "--out", "prod.json"], "one of the"),
    ];
    for (arguments, said) in wrong {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(aside(&output).contains(said), "{arguments:?}: {}", aside(&output));
    }
}

#[test]
fn validate_warns_of_what_can_be_read_and_looks_wrong() {
    let input = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: one}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 4}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: two}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 8}
";
    let folder = root();
    let plain = start(&["validate", "-"], folder, input);
    let said = String::from_utf8_lossy(&plain.stderr).into_owned();
    assert_eq!(plain.status.code(), Some(0), "{said}");
    assert!(said.starts_with("warning: ") && said.contains("web"), "{said}");
    let github = start(&["validate", "-", "-o", "github"], folder, input);
    let said = String::from_utf8_lossy(&github.stdout).into_owned();
    assert!(said.starts_with("::warning::") && said.lines().count() == 2, "{said}");
}

#[test]
fn names_that_a_terminal_would_obey_are_printed_harmless() {
    let folder = empty_folder("obeyed");
    let pool =
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: \"x\\e[31m\"}\nspec: {foo: 1}\n";
    std::fs::write(folder.join("a\u{1b}[2J\r::error::b.yaml"), pool).expect("it is written");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: d}\n\
               spec: {nodeName: \"\\e]0;me\\a\", containers: [{name: c, image: i}]}\n";
    std::fs::write(folder.join("pod.yaml"), pod).expect("it is written");
    for arguments in [
        &["plan", "."][..],
        &["validate", "."],
        &["validate", ".", "-o", "github"],
        &["validate", "--fix", "."],
    ] {
        let ran = start(arguments, &folder, "");
        let said = aside(&ran) + &out(&ran);
        assert!(said.contains("b.yaml"), "{arguments:?}: {said}");
        let obeyed = |letter: char| letter.is_control() && letter != '\n';
        assert!(!said.contains(obeyed), "{arguments:?}: {said:?}");
    }
    let ran = start(&["plan", "pod.yaml"], &folder, "");
    let said = aside(&ran) + &out(&ran);
    assert!(!said.contains(|letter: char| letter.is_control() && letter != '\n'), "{said:?}");
}
