//! The recipes by which reviewed plans are proposed, verified and applied: one run acts at a time, each job has the rights that it
//! needs, and every command is one of this program's.
#![expect(clippy::disallowed_methods, reason = "tests read files and start programs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::shell::{empty_folder, root};

/// The job of a recipe that checks a pull request, as the keys and places down to its script.
const RECIPES: [(&str, &str); 3] = [
    ("github.yml", "/jobs/verify/steps/2/run"),
    ("gitlab.yml", "/nodeform-verify/script/0"),
    ("azure-pipelines.yml", "/stages/1/jobs/0/steps/2/bash"),
];

/// The recipes that check and do nothing else, which `nodeform init --review` writes.
const VERIFY: [(&str, &str); 4] = [
    ("github.yml", "/jobs/verify/steps/2/run"),
    ("gitlab.yml", "/nodeform-verify/script/0"),
    ("azure-pipelines.yml", "/jobs/0/steps/2/bash"),
    ("gitea.yml", "/jobs/verify/steps/2/run"),
];

fn recipe(name: &str) -> Value {
    recipe_of("review", name)
}

fn recipe_of(folder: &str, name: &str) -> Value {
    let text = std::fs::read_to_string(root().join("examples/ci").join(folder).join(name));
    let text = text.expect("it is there");
    // What is GitLab's own is no matter here.
    serde_saphyr::from_str(&text.replace("!reference ", "")).expect("it is YAML")
}

/// Every text of a document.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The arguments of the commands of nodeform in a script.
fn commands(script: &str) -> Vec<Vec<String>> {
    let commands = script.lines().filter_map(|line| {
        let command = line.rsplit_once("|| ").map_or(line, |(_, command)| command).trim();
        let arguments = command.strip_prefix("nodeform ")?;
        Some(arguments.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect())
    });
    commands.collect()
}

fn nodeform(arguments: &[String], folder: &Path) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_nodeform"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("KUBECONFIG", folder.join("no-kubeconfig"))
        .output()
        .expect("it starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Expects that the program takes the arguments: what it misses is a cluster, or a folder.
fn is_taken(arguments: &[String], folder: &Path) {
    let (code, said) = nodeform(arguments, folder);
    assert_eq!(code, Some(1), "{arguments:?}: {said}");
    assert!(
        said.contains("there is no kubeconfig") || said.contains("No such file"),
        "{arguments:?}: {said}"
    );
}

#[test]
fn every_command_of_the_recipes_for_reviews_is_one_of_this_program() {
    let folder = empty_folder("review-recipes");
    let wrong = ["apply", "--merged", "--no-such-flag"].map(str::to_owned);
    assert!(nodeform(&wrong, &folder).1.contains("unexpected argument"), "the test can fail");
    for (name, _) in RECIPES {
        let recipe = recipe(name);
        let found: Vec<Vec<String>> = texts(&recipe).into_iter().flat_map(commands).collect();
        let mut subcommands: Vec<&str> = found.iter().map(|arguments| &*arguments[0]).collect();
        subcommands.sort_unstable();
        assert_eq!(subcommands, ["apply", "propose", "propose", "propose", "verify"], "{name}");
        found.iter().for_each(|arguments| is_taken(arguments, &folder));
    }
}

#[test]
fn one_run_of_a_recipe_for_reviews_acts_at_a_time_with_no_more_rights_than_its_job_needs() {
    let github = recipe("github.yml");
    assert_eq!(github["permissions"], serde_json::json!({}));
    let rights = |job: &str| github["jobs"][job]["permissions"].to_string();
    assert_eq!(rights("propose"), r#"{"id-token":"write"}"#);
    assert_eq!(rights("verify"), r#"{"contents":"read"}"#);
    assert_eq!(rights("apply"), r#"{"contents":"read","id-token":"write"}"#);
    assert!(!github["jobs"]["verify"].to_string().contains("secrets."), "it runs what a pull request brings");
    for text in texts(&github) {
        let Some((_, version)) = text.split_once('@').filter(|(name, _)| name.contains('/')) else {
            continue;
        };
        assert!(
            version.len() == 40 && version.bytes().all(|it| it.is_ascii_hexdigit()),
            "{text}: a tag moves"
        );
    }
    for job in ["propose", "apply"] {
        assert_eq!(github["jobs"][job]["concurrency"]["group"], format!("nodeform-{job}"));
        assert_eq!(github["jobs"][job]["concurrency"]["cancel-in-progress"], false);
        assert_eq!(
            recipe("gitlab.yml")[format!("nodeform-{job}")]["resource_group"],
            format!("nodeform-{job}")
        );
    }
    assert_eq!(recipe("azure-pipelines.yml")["lockBehavior"], "sequential");
    for (name, _) in RECIPES {
        let text = recipe(name).to_string();
        assert!(!text.contains("latest"), "{name}: versions are pinned");
        let installs = text.matches("cargo install --locked --git").count();
        assert_eq!(text.matches(" --rev ").count(), installs, "{name}: versions are pinned");
    }
}

/// A clone whose HEAD changes one folder of plans, beside one of a name that a shell would run.
fn pull_request(name: &str, is_of_plans: bool) -> PathBuf {
    let folder = empty_folder(&format!("review-recipe-{name}-{is_of_plans}"));
    let plan = if is_of_plans { "nodeform/plans/2026-11/create-$(touch ran)" } else { "docs/a/b/c" };
    let script = format!(
        "git init -q -b main . && git config user.name A && git config user.email a@example.com
         git commit -q --allow-empty -m base && git update-ref refs/remotes/origin/main HEAD
         mkdir -p '{plan}' nodeform/plans && echo a > '{plan}/PLAN.md' && echo a > nodeform/plans/.gitattributes
         git add . && git commit -qm change"
    );
    let output = bash(&folder, &script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn bash(folder: &Path, script: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_nodeform")).parent().expect("is in a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("there is a path"));
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(folder).env_clear().env("PATH", path).env("HOME", folder);
    command.env("BASE", "origin/main").env("CI_MERGE_REQUEST_DIFF_BASE_SHA", "origin/main");
    command.env("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main").output().expect("there is a shell")
}

#[test]
fn a_pull_request_whose_plan_is_not_whole_does_not_pass_and_one_without_plans_does() {
    let review = RECIPES.map(|(name, script)| (recipe_of("review", name), name, script));
    let verify = VERIFY.map(|(name, script)| (recipe_of("verify", name), name, script));
    for (recipe, name, script) in review.into_iter().chain(verify) {
        let script = recipe.pointer(script).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}"));
        let folder = pull_request(name, true);
        let output = bash(&folder, script);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("`plan.jsonc` is missing"), "{name}: {said}");
        assert!(!folder.join("ran").exists(), "{name}");
        let output = bash(&pull_request(name, false), script);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_chart_has_a_job_that_applies_what_is_merged_where_it_is_asked_for() {
    let helm = root().join("target/tools/kubernetes/helm");
    if !helm.is_file() {
        assert!(
            std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(),
            "there is no helm: `.ci/tools` puts it there"
        );
        return;
    }
    let rendered = |values: &str| {
        let mut command = Command::new(&helm);
        command.args(["template", "nodeform", "charts/nodeform", "--set", values]).current_dir(root());
        let output = command.output().expect("helm starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&String::from_utf8_lossy(&output.stdout)).expect("YAML");
        documents.into_iter().find(|document| document["kind"] == "CronJob")
    };
    assert_eq!(rendered("replicas=1"), None);
    let job = rendered("review.enabled=true,review.tokenSecret.name=git-token").expect("a CronJob");
    let spec = &job["spec"];
    assert_eq!((&spec["concurrencyPolicy"], &spec["schedule"]), (&"Forbid".into(), &"*/10 * * * *".into()));
    let job = &spec["jobTemplate"]["spec"];
    assert_eq!((&job["backoffLimit"], &job["activeDeadlineSeconds"]), (&0.into(), &7200.into()));
    let pod = &job["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "nodeform");
    let container = &pod["containers"][0];
    let arguments: Vec<String> = serde_json::from_value(container["args"].clone()).expect("arguments");
    is_taken(&arguments, &empty_folder("review-chart"));
    let variable = |name: &str| {
        let variables = container["env"].as_array().into_iter().flatten();
        let value = variables.filter(|it| it["name"] == name).find_map(|it| it["value"].as_str());
        value.unwrap_or_else(|| panic!("{name}: {container}")).to_owned()
    };
    let mounted = |path: &str| {
        let mounts = container["volumeMounts"].as_array().into_iter().flatten();
        let mount = mounts.filter(|it| it["mountPath"].as_str().is_some_and(|at| path.starts_with(at)));
        let name = mount.map(|it| it["name"].clone()).next().unwrap_or_else(|| panic!("{path}: {container}"));
        pod["volumes"].as_array().into_iter().flatten().find(|it| it["name"] == name).cloned()
    };
    assert!(mounted(&variable("XDG_CACHE_HOME")).expect("a volume")["emptyDir"].is_object());
    let token = mounted(&variable("NODEFORM_GIT_TOKEN_FILE")).expect("a volume");
    assert_eq!(token["secret"]["secretName"], "git-token");
    assert_eq!(token["secret"]["items"][0]["path"], "token");
}
