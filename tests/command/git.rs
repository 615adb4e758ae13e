//! Manifests out of Git: what `--git` reads in repositories that real `git` has made.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn empty_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("git").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// Runs a program where nothing of the machine's or the user's Git settings counts, at a fixed time.
fn run(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.com");
        command.env(format!("GIT_{who}_DATE"), "2026-11-21T09:00:00Z");
    }
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("CLICOLOR_FORCE");
    command.output().expect("the program starts")
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let settings = ["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"];
    let output = run("git", &[&settings, arguments].concat(), folder);
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

fn nodeform(folder: &Path, arguments: &[&str]) -> Output {
    run(env!("CARGO_BIN_EXE_nodeform"), arguments, folder)
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", aside(output));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn aside(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("the folder can be made");
    fs::write(file, text).expect("the file can be written");
}

fn commit(repository: &Path, message: &str) {
    git(repository, &["add", "-A"]);
    git(repository, &["commit", "-qm", message]);
}

fn example(name: &str) -> String {
    fs::read_to_string(root().join("examples/quickstart").join(name)).expect("the example is there")
}

/// A repository with 5 pods in its first commit and 10 in its second.
fn repository(name: &str) -> PathBuf {
    let folder = empty_folder(name).join("repository");
    fs::create_dir_all(&folder).expect("the folder can be made");
    git(&folder, &["init", "-q"]);
    write(&folder.join("deploy/inflate.yaml"), &example("inflate.yaml"));
    write(&folder.join("deploy/nodepool.yaml"), &example("nodepool.yaml"));
    write(&folder.join("README.md"), "no manifest\n");
    commit(&folder, "five pods");
    git(&folder, &["tag", "-a", "v1", "-m", "first"]);
    let doubled = example("inflate.yaml").replace("replicas: 5", "replicas: 10");
    write(&folder.join("deploy/inflate.yaml"), &doubled);
    commit(&folder, "ten pods");
    folder
}

#[test]
fn a_revision_plans_as_its_files_do_whatever_it_is_called_and_wherever_one_stands() {
    let repository = repository("names");
    let ten = out(&nodeform(&repository, &["plan", "deploy"]));
    git(&repository, &["checkout", "-q", "v1"]);
    let five = out(&nodeform(&repository, &["plan", "deploy"]));
    assert_ne!(five, ten);
    git(&repository, &["checkout", "-q", "main"]);
    let short = git(&repository, &["rev-parse", "--short", "HEAD~1"]);
    for revision in ["HEAD~1", "v1", "v1^{commit}", &short, "main^"] {
        let planned = nodeform(&repository, &["plan", "--git", revision, "--path", "deploy"]);
        assert_eq!(out(&planned), five, "{revision}");
    }
    // What lies in the work tree does not count.
    fs::remove_dir_all(repository.join("deploy")).expect("removed");
    assert_eq!(out(&nodeform(&repository, &["plan", "--git", "HEAD", "--path", "./deploy/"])), ten);
    fs::create_dir_all(repository.join("deploy")).expect("made");
    let inside = nodeform(&repository.join("deploy"), &["plan", "--git", "HEAD"]);
    assert_eq!(out(&inside), ten, "the current folder's place counts");
    let one = nodeform(
        &repository,
        &["plan", "--git", "v1", "--path", "deploy/inflate.yaml", "--path", "deploy/nodepool.yaml"],
    );
    assert_eq!(out(&one), five);

    let around = repository.parent().expect("a folder");
    git(around, &["clone", "-q", "--bare", "repository", "bare.git"]);
    let bare = nodeform(&around.join("bare.git"), &["plan", "--git", "main~1", "--path", "deploy"]);
    assert_eq!(out(&bare), five);
    git(around, &["clone", "-q", "repository", "clone"]);
    let clone = nodeform(&around.join("clone"), &["plan", "--git", "origin/main", "--path", "deploy"]);
    assert_eq!(out(&clone), ten);
    git(&around.join("clone"), &["worktree", "add", "-q", "../worktree", "v1"]);
    let worktree = nodeform(&around.join("worktree/deploy"), &["plan", "--git", "HEAD"]);
    assert_eq!(out(&worktree), five);
    git(&around.join("clone"), &["gc", "-q", "--aggressive"]);
    let packed = nodeform(&around.join("clone"), &["plan", "--git", "v1", "--path", "deploy"]);
    assert_eq!(out(&packed), five);
}

#[test]
fn folders_of_a_revision_are_read_as_folders_on_the_disk_are() {
    let repository = repository("folders");
    let pod = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: a, image: i}}]}}\n"
        )
    };
    write(&repository.join("deploy/more/a.yml"), &pod("a"));
    write(
        &repository.join("deploy/more/deep/b.json"),
        "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"b\"}, \"spec\": {\"containers\": [{\"name\": \"a\", \"image\": \"i\"}]}}",
    );
    write(&repository.join("deploy/.hidden/c.yaml"), "not: [read");
    write(&repository.join("deploy/.d.yaml"), "not: [read");
    write(&repository.join("deploy/e.txt"), "not: [read");
    write(&repository.join("shared/f.yaml"), &pod("f"));
    symlink("../shared/f.yaml", repository.join("deploy/f.yaml")).expect("linked");
    symlink("../shared", repository.join("deploy/shared")).expect("linked");
    symlink(".", repository.join("deploy/more/round")).expect("linked");
    commit(&repository, "folders");
    for arguments in [&["plan", "deploy"][..], &["plan", "deploy", "-R"], &["plan", "deploy", "-R", "--all"]]
    {
        let files = nodeform(&repository, arguments);
        let from_git = [&["plan", "--git", "HEAD", "--path", "deploy"], &arguments[2..]].concat();
        let revision = nodeform(&repository, &from_git);
        assert_eq!(out(&revision), out(&files), "{arguments:?}");
        let named = aside(&files).replace("deploy/", "HEAD:deploy/");
        assert_eq!(aside(&revision), named, "{arguments:?}");
    }
    assert!(aside(&nodeform(&repository, &["plan", "deploy"])).contains("`-R`"));
}

#[test]
fn faults_of_a_revision_name_it_and_annotations_name_the_file() {
    let repository = repository("faults");
    let wrong = example("nodepool.yaml").replacen("operator: In", "operator: Inn", 1);
    write(&repository.join("deploy/nodepool.yaml"), &wrong);
    commit(&repository, "a fault");
    let planned = nodeform(&repository, &["plan", "--git", "HEAD", "--path", "deploy"]);
    assert_eq!(planned.status.code(), Some(1));
    assert!(aside(&planned).contains("error: HEAD:deploy/nodepool.yaml:12: "), "{}", aside(&planned));
    let validated = nodeform(&repository.join("deploy"), &["validate", "--git", "HEAD", "-o", "github"]);
    assert_eq!(validated.status.code(), Some(1));
    let said = String::from_utf8(validated.stdout).expect("UTF-8");
    assert!(said.starts_with("::error file=deploy/nodepool.yaml,line=12::"), "{said}");
    assert!(
        out(&nodeform(&repository, &["validate", "--git", "v1", "--path", "deploy"])).starts_with("Valid: ")
    );
    let explained = nodeform(&repository, &["explain", "pod/inflate-0", "--git", "v1", "--path", "deploy"]);
    assert!(out(&explained).contains("inflate-0"));
    let two = nodeform(&repository, &["validate", "--git", "v1..HEAD", "--path", "deploy"]);
    assert_eq!(two.status.code(), Some(1));
    assert!(aside(&two).contains("hint: name one of them: `--git v1` or `--git HEAD`"), "{}", aside(&two));
}

#[test]
fn what_is_not_there_is_said_with_a_way_out() {
    let repository = repository("missing");
    let said = |folder: &Path, arguments: &[&str]| {
        let output = nodeform(folder, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", aside(&output));
        aside(&output)
    };
    let unknown = said(&repository, &["plan", "--git", "mian"]);
    assert!(unknown.contains("error: revision `mian` is not in the repository"), "{unknown}");
    assert!(unknown.contains("hint: `git branch -a`"), "{unknown}");
    let path = said(&repository, &["plan", "--git", "HEAD", "--path", "depoly"]);
    assert!(path.contains("error: `HEAD:depoly` is not there"), "{path}");
    let behind_a_file = said(&repository, &["plan", "--git", "HEAD", "--path", "README.md/a"]);
    assert!(behind_a_file.contains("is not there"), "{behind_a_file}");
    let out_of_it = said(&repository, &["plan", "--git", "HEAD", "--path", "../other"]);
    assert!(out_of_it.contains("leads out of the repository"), "{out_of_it}");
    let a_path = said(&repository, &["plan", "--git", "HEAD:deploy"]);
    assert!(a_path.contains("say that with `--path`"), "{a_path}");
    let none = said(&repository, &["plan", "--git", "HEAD"]);
    assert!(none.contains("no object of Kubernetes: ") && none.contains("`-R`"), "{none}");
    let alone = said(&repository, &["plan", "--path", "deploy"]);
    assert!(alone.contains("--git"), "{alone}");
    let outside = said(Path::new("/"), &["plan", "--git", "HEAD"]);
    assert!(outside.contains("is in no Git repository"), "{outside}");

    let around = repository.parent().expect("a folder");
    let url = format!("file://{}", repository.display());
    git(around, &["clone", "-q", "--depth", "1", &url, "shallow"]);
    let shallow = around.join("shallow");
    assert!(out(&nodeform(&shallow, &["plan", "--git", "HEAD", "--path", "deploy"])).starts_with("Plan: "));
    for revision in ["HEAD~1", "v1", "HEAD~1..HEAD"] {
        let cut = said(&shallow, &["plan", "--git", revision, "--path", "deploy"]);
        assert!(cut.contains("git fetch --unshallow") && cut.contains("fetch-depth: 0"), "{cut}");
    }
    let blob = git(&repository, &["rev-parse", "HEAD:deploy/inflate.yaml"]);
    fs::remove_file(repository.join(".git/objects").join(&blob[..2]).join(&blob[2..])).expect("removed");
    let lost = said(&repository, &["plan", "--git", "HEAD", "--path", "deploy"]);
    assert!(lost.contains(&format!("object {blob} of `HEAD:deploy/inflate.yaml` is not in")), "{lost}");
}

#[test]
fn submodules_pointers_and_links_that_lead_out_are_named() {
    let repository = repository("beyond");
    let other = empty_folder("beyond-other");
    git(&other, &["init", "-q"]);
    write(&other.join("a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    commit(&other, "other");
    git(&repository, &["submodule", "add", "-q", &other.display().to_string(), "deploy/charts"]);
    symlink("/etc", repository.join("deploy/etc")).expect("linked");
    symlink("../../..", repository.join("deploy/up")).expect("linked");
    symlink("nowhere", repository.join("deploy/broken")).expect("linked");
    commit(&repository, "beyond");
    let at = git(&other, &["rev-parse", "HEAD"]);
    let planned = out(&nodeform(&repository, &["plan", "--git", "HEAD", "--path", "deploy"]));
    let planned = planned.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(planned.contains(&format!("Not read: submodule `HEAD:deploy/charts` at {at}: ")), "{planned}");
    assert!(
        planned.contains("Not read: link `HEAD:deploy/etc`: it points outside the repository"),
        "{planned}"
    );
    assert!(
        planned.contains("Not read: link `HEAD:deploy/up`: it points outside the repository"),
        "{planned}"
    );
    assert!(!planned.contains("broken"), "{planned}");
    let inside = nodeform(&repository, &["plan", "--git", "HEAD", "--path", "deploy/charts/a.yaml"]);
    assert!(aside(&inside).contains("is a submodule"), "{}", aside(&inside));

    write(
        &repository.join("lfs/big.yaml"),
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    );
    symlink("/etc/hosts", repository.join("lfs/hosts.yaml")).expect("linked");
    symlink("loop.yaml", repository.join("lfs/loop.yaml")).expect("linked");
    commit(&repository, "a pointer");
    let refused = nodeform(&repository, &["plan", "--git", "HEAD", "--path", "lfs"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = aside(&refused);
    assert!(said.contains("`HEAD:lfs/big.yaml` is a pointer of Git LFS"), "{said}");
    assert!(said.contains("hint: get it with `git lfs pull`"), "{said}");
    assert!(said.contains("`HEAD:lfs/hosts.yaml` leads out of the repository"), "{said}");
    assert!(said.contains("`HEAD:lfs/loop.yaml` is behind too many links"), "{said}");
}

#[test]
fn folders_to_render_are_refused_in_a_revision_too() {
    let repository = repository("render");
    write(&repository.join("app/base/kustomization.yaml"), "resources: [pod.yaml]\n");
    write(
        &repository.join("app/base/pod.yaml"),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n",
    );
    commit(&repository, "kustomize");
    let refused = nodeform(&repository, &["plan", "--git", "HEAD", "--path", "app", "-R"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = aside(&refused);
    assert!(said.contains("`app/base` is a kustomize folder"), "{said}");
    assert!(said.contains("hint: add `--render`"), "{said}");
}

/// The repository of `examples/pull-request`: branch `base` from one folder, branch `head` from the other.
fn pull_request(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    git(&folder, &["init", "-q", "-b", "base"]);
    let fill = |side: &str| {
        for entry in fs::read_dir(root().join("examples/pull-request").join(side)).expect("readable") {
            let path = entry.expect("an entry").path();
            fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("copied");
        }
    };
    fill("base");
    commit(&folder, "what runs");
    git(&folder, &["checkout", "-q", "-b", "head"]);
    fill("head");
    commit(&folder, "double checkout");
    folder
}

#[test]
fn a_pull_request_that_doubles_a_deployment_says_what_it_does() {
    let repository = pull_request("pull-request");
    let printed = out(&nodeform(&repository, &["plan", "--git", "base..head"]));
    let file = root().join("examples/pull-request/expected.txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &printed).expect("the text can be written");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(printed, expected, "accept with UPDATE=1 after reading");
    assert!(printed.lines().count() <= 40 && printed.lines().all(|line| line.chars().count() <= 100));
    let folders = nodeform(&root().join("examples/pull-request"), &["plan", "head", "--before", "base"]);
    let first = |text: &str| text.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(first(&out(&folders)), first(&printed));
    let lines = |sign: char| printed.lines().filter(|line| line.starts_with(sign)).count();
    assert_eq!((lines('-'), lines('+')), (2, 2), "two heads, one line gone and one come:\n{printed}");
    // The base goes on meanwhile: three dots compare to where the branches parted.
    git(&repository, &["checkout", "-q", "base"]);
    let more = fs::read_to_string(repository.join("shop.yaml")).expect("readable");
    write(&repository.join("shop.yaml"), &more.replace("replicas: 3", "replicas: 30"));
    commit(&repository, "more search");
    assert_eq!(first(&out(&nodeform(&repository, &["plan", "--git", "base...head"]))), first(&printed));
    assert_ne!(first(&out(&nodeform(&repository, &["plan", "--git", "base..head"]))), first(&printed));
}

#[test]
fn a_comparison_of_hidden_names_shows_neither_names_nor_the_text_of_manifests() {
    let repository = pull_request("hidden");
    let compared = |more: &[&str]| nodeform(&repository, &[&["plan", "--git", "base..head"], more].concat());
    let head = |text: &str| text.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    let shown = out(&compared(&[]));
    let hidden = out(&compared(&["--names", "hash"]));
    assert_eq!(head(&hidden), head(&shown));
    assert!(shown.contains("replicas: 12") && !hidden.contains("replicas: 12"), "{hidden}");
    assert!(hidden.contains("6 → 12 pods"), "one workload is the same on both sides:\n{hidden}");
    for format in ["human", "md", "json"] {
        let text = out(&compared(&["--names", "hash", "-o", format]));
        assert!(!text.contains("checkout") && !text.contains("`shop/"), "{format}:\n{text}");
    }
    let numbered = compared(&["--names", "omit"]);
    assert!(
        !numbered.status.success() && aside(&numbered).contains("`--names hash`"),
        "{}",
        aside(&numbered)
    );
}

#[test]
fn the_plan_beside_a_comparison_is_the_plan_of_the_second_input() {
    let repository = pull_request("beside");
    let spec = |text: &str| {
        let plan: serde_json::Value = serde_json::from_str(text).expect("JSON");
        (plan["digest"].clone(), plan["evidence"]["comparison"].clone())
    };
    let (alone, nothing) = spec(&out(&nodeform(&repository, &["plan", "--git", "head", "-o", "json"])));
    let arguments = ["plan", "--git", "base..head", "--out", "plan.json", "--detailed-exitcode"];
    let saved = nodeform(&repository, &arguments);
    assert_eq!(saved.status.code(), Some(2), "{}", aside(&saved));
    let text = fs::read_to_string(repository.join("plan.json")).expect("the plan was saved");
    let (beside, comparison) = spec(&text);
    assert_eq!(alone, beside);
    assert!(nothing.is_null());
    assert_eq!(comparison["before"]["name"], "base");
    assert_eq!(comparison["workloads"][0]["name"], "checkout");
    assert_eq!(
        (&comparison["workloads"][0]["before"]["pods"], &comparison["workloads"][0]["after"]["pods"]),
        (&6.into(), &12.into())
    );
    assert_eq!(comparison["files"][0]["path"], "shop.yaml");
    assert!(!text.contains("azurecr.io"), "a saved plan holds no text of manifests");
    out(&nodeform(&repository, &["verify", "plan.json"]));
    let shown = out(&nodeform(&repository, &["show", "plan.json"]));
    let printed = String::from_utf8(saved.stdout).expect("UTF-8");
    assert_eq!(shown.lines().next(), printed.lines().next());
    assert!(shown.contains("`shop.yaml`: +1 -1") && !shown.contains("replicas: 12"), "{shown}");
}

#[test]
fn the_same_on_both_sides_is_no_change_and_nodes_beside_are_in_both() {
    let repository = pull_request("same");
    let same = out(&nodeform(&repository, &["plan", "--git", "head..head"]));
    assert!(same.starts_with("No changes.\nMonthly cost will stay at "), "{same}");
    assert!(same.contains("no text differs"), "{same}");
    let folder = root().join("examples/existing-fleet").display().to_string();
    let files = out(&nodeform(&repository, &["plan", &folder, "--before", &folder]));
    assert!(files.starts_with("No changes.\n"), "{files}");
    // Nodes that exist are read beside the revisions: what they can carry is no new node.
    let node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: big\n  labels: {kubernetes.io/arch: amd64, kubernetes.io/os: linux, node.kubernetes.io/instance-type: Standard_D64s_v5, topology.kubernetes.io/zone: westeurope-1}\nspec: {}\nstatus:\n  capacity: {cpu: '64', memory: 256Gi, pods: '250'}\n  allocatable: {cpu: '63', memory: 240Gi, pods: '250'}\n  conditions: [{type: Ready, status: 'True'}]\n";
    write(&repository.join("nodes/big.yaml"), node);
    let beside = out(&nodeform(&repository, &["plan", "--git", "base..head", "nodes"]));
    assert!(beside.starts_with("Plan: 0 to add, 0 to change, 0 to destroy.\n"), "{beside}");
    assert!(beside.contains("6 → 12 pods"), "{beside}");
}

#[test]
fn what_only_one_side_has_comes_or_goes() {
    let repository = pull_request("one-side");
    git(&repository, &["checkout", "-q", "head"]);
    fs::create_dir_all(repository.join("new")).expect("made");
    for file in ["pools.yaml", "shop.yaml"] {
        fs::rename(repository.join(file), repository.join("new").join(file)).expect("moved");
    }
    commit(&repository, "move");
    let comes = out(&nodeform(&repository, &["plan", "--git", "base..head", "--path", "new"]));
    assert!(
        comes.contains(
            "  + Deployment `shop/checkout`: 12 pods; each cpu 2, memory 4Gi; in all cpu 24, memory 48Gi"
        ),
        "{comes}"
    );
    assert!(comes.contains("--- /dev/null\n+++ head:new/pools.yaml"), "{comes}");
    let goes = out(&nodeform(&repository, &["plan", "--git", "head..base", "--path", "new"]));
    assert!(goes.contains("  - Deployment `shop/checkout`: 12 pods"), "{goes}");
    let neither = nodeform(&repository, &["plan", "--git", "base..head", "--path", "old"]);
    assert_eq!(neither.status.code(), Some(1));
    assert!(aside(&neither).contains("`head:old` is not there"), "{}", aside(&neither));
    let twice = nodeform(&repository, &["plan", "-", "--before", "-"]);
    assert!(aside(&twice).contains("cannot be both sides"), "{}", aside(&twice));
    let mixed = nodeform(&repository, &["plan", "--git", "head", "--before", "new"]);
    assert!(aside(&mixed).contains("`--git BASE..head`"), "{}", aside(&mixed));
}

#[test]
fn a_change_names_nodes_that_go_pods_that_no_longer_fit_and_no_secret() {
    let folder = empty_folder("folders-beside");
    let story = root().join("examples/existing-fleet");
    let read = |file: &str| fs::read_to_string(story.join(file)).expect("readable");
    for side in ["before", "after"] {
        for file in ["cluster.yaml", "nodepool.yaml", "web.yaml"] {
            write(&folder.join(side).join(file), &read(file));
        }
    }
    let more = read("web.yaml").replace("replicas: 6", "replicas: 9");
    write(&folder.join("after/web.yaml"), &more);
    write(
        &folder.join("after/secret.yaml"),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: HUNTER2}\n",
    );
    let compared = |before: &str, after: &str| out(&nodeform(&folder, &["plan", after, "--before", before]));
    let grows = compared("before", "after");
    assert!(grows.starts_with("Plan: 1 to add, 0 to change, 0 to destroy.\n"), "{grows}");
    let flat = grows.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("+ node `aks-general-purpose-7dq9m`"), "{flat}");
    assert!(flat.contains("kept; deleted without the change: empty: "), "{flat}");
    assert!(!grows.contains("HUNTER2") && grows.contains("it holds a Secret"), "{grows}");
    assert!(grows.contains("The plan of `after` itself, from the 5 nodes of the input: 0 to add"), "{grows}");
    let shrinks = compared("after", "before");
    assert!(
        shrinks.starts_with("Plan: 0 to add, 0 to change, 1 to destroy.\nMonthly cost will decrease"),
        "{shrinks}"
    );

    write(&folder.join("after/web.yaml"), &more.replace("cpu: 900m", "cpu: \"90\""));
    let stuck = compared("before", "after");
    assert!(stuck.contains("No longer placed:\n  6 pods stay Pending: `shop/web-0`"), "{stuck}");
    assert!(stuck.lines().count() <= 70, "{stuck}");
    assert!(compared("after", "before").contains("Solved:\n  3 pods fit that did not: `shop/web-0`"));
    let whole = out(&nodeform(&folder, &["plan", "after", "--before", "before", "--all"]));
    assert!(whole.contains("`shop/web-5`") && whole.contains("The plan of `after`, whole:"), "{whole}");
}

#[test]
fn the_markdown_of_a_change_is_short_whatever_things_are_called() {
    let repository = pull_request("markdown");
    let printed = out(&nodeform(&repository, &["plan", "--git", "base..head", "-o", "md"]));
    let expected = "**Plan: 1 to add, 0 to change, 1 to destroy.**\n\n\
        Monthly cost will increase by \\~\\$607 (97 %, \\~\\$627 → \\~\\$1,234)\n\n";
    assert!(printed.starts_with(expected), "{printed}");
    assert!(
        printed.contains("### Pods\n\n- `~` Deployment `shop/checkout`: 6 → 12 pods; in all cpu 12 → 24,"),
        "{printed}"
    );
    assert!(printed.contains("`shop.yaml`: `+1` -1"), "{printed}");
    assert!(printed.contains("Compared: `base` (`"), "{printed}");
    assert!(!printed.contains("replicas:"), "{printed}");
    // Files are called as their authors like, and there may be any number of them.
    for number in 0..300 {
        let name = format!("@all-<b>|[x](y)-#{number}-{}.yaml", "x".repeat(150));
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\nspec: {{containers: [{{name: a, image: i}}]}}\n"
        );
        write(&repository.join(name), &pod);
    }
    commit(&repository, "many");
    let many = out(&nodeform(&repository, &["plan", "--git", "base..head", "-o", "md"]));
    assert!(many.chars().map(char::len_utf16).sum::<usize>() <= 3900, "{many}");
    assert!(!many.contains("@all") && !many.contains("<b>") && !many.contains("](y)"), "{many}");
    assert!(many.contains("**Left out here:**"), "{many}");
}
