//! The chart with a proposer: two Deployments, of which each lacks the rights of the other.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::shell::{empty_folder, root};

const APART: &str = "proposer.enabled=true,proposer.git.tokenSecret.name=bot,review.tokenSecret.name=watch";

/// Has helm render the chart with these values; nothing without helm.
fn render(values: &str) -> Option<Output> {
    let helm = root().join("target/tools/kubernetes/helm");
    if !helm.is_file() {
        let missing = "there is no helm: `.ci/tools` puts it there";
        assert!(std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(), "{missing}");
        return None;
    }
    let mut command = Command::new(&helm);
    command.args(["template", "nodeform", "charts/nodeform", "--set", values]).current_dir(root());
    Some(command.output().expect("helm starts"))
}

fn rendered(values: &str) -> Option<Vec<Value>> {
    let output = render(values)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_saphyr::from_multiple(&String::from_utf8_lossy(&output.stdout)).expect("YAML"))
}

fn one<'d>(documents: &'d [Value], kind: &str, name: &str) -> &'d Value {
    let mut found = documents.iter().filter(|it| it["kind"] == kind && it["metadata"]["name"] == name);
    found.next().unwrap_or_else(|| panic!("there is no {kind} `{name}`"))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The rules of all roles that are bound to a service account.
fn rules<'d>(documents: &'d [Value], account: &str) -> Vec<&'d Value> {
    let bound = documents.iter().filter(|it| {
        let kind = it["kind"].as_str().unwrap_or_default();
        kind.ends_with("RoleBinding") && items(&it["subjects"]).any(|subject| subject["name"] == account)
    });
    let roles = bound.map(|binding| {
        let role = &binding["roleRef"];
        one(documents, role["kind"].as_str().expect("a kind"), role["name"].as_str().expect("a name"))
    });
    roles.flat_map(|role| items(&role["rules"])).collect()
}

/// What a container's volume mounts come from: the names of Secrets.
fn secrets(pod: &Value) -> BTreeSet<&str> {
    items(&pod["volumes"]).filter_map(|volume| volume["secret"]["secretName"].as_str()).collect()
}

#[test]
fn the_proposer_may_write_nothing_of_the_cluster_but_its_own_lease() {
    let Some(documents) = rendered(APART) else { return };
    let rules = rules(&documents, "nodeform-proposer");
    assert!(rules.len() > 10, "{rules:?}");
    let reads: BTreeSet<&str> = ["get", "list", "watch"].into();
    let mut writes = Vec::new();
    for rule in rules {
        let verbs: BTreeSet<&str> = items(&rule["verbs"]).filter_map(Value::as_str).collect();
        assert!(!items(&rule["resources"]).any(|it| it == "secrets" || it == "*"), "{rule}");
        if !verbs.is_subset(&reads) {
            writes.push((&rule["apiGroups"], &rule["resources"], &rule["resourceNames"]));
        }
    }
    let own = (&json!(["coordination.k8s.io"]), &json!(["leases"]), &json!(["nodeform-proposer"]));
    assert_eq!(writes, [own]);
    // Who may create Leases may create those of others.
    assert_eq!(one(&documents, "Lease", "nodeform-proposer")["metadata"]["namespace"], "kube-system");
}

#[test]
fn the_two_deployments_have_roles_accounts_and_secrets_of_their_own() {
    let Some(documents) = rendered(APART) else { return };
    let pod = |name: &str| one(&documents, "Deployment", name)["spec"]["template"].clone();
    let (controller, proposer) = (pod("nodeform"), pod("nodeform-proposer"));
    let accounts = [&controller, &proposer].map(|pod| pod["spec"]["serviceAccountName"].clone());
    assert_eq!(accounts, [json!("nodeform"), json!("nodeform-proposer")]);
    for name in ["nodeform", "nodeform-proposer"] {
        one(&documents, "ServiceAccount", name);
    }
    let of = [&controller, &proposer].map(|pod| secrets(&pod["spec"]));
    assert_eq!(of, [["watch"].into(), ["bot"].into()]);
    for (pod, role) in [(&controller, "controller"), (&proposer, "proposer")] {
        let container = &pod["spec"]["containers"][0];
        assert_eq!(container["args"], json!(["controller", "--role", role]));
        assert!(container["livenessProbe"].is_object() && container["readinessProbe"].is_object());
        let arguments: Vec<&str> = items(&container["args"]).filter_map(Value::as_str).collect();
        let help = Command::new(env!("CARGO_BIN_EXE_nodeform"))
            .args(arguments)
            .arg("--help")
            .current_dir(empty_folder("chart-roles"))
            .output()
            .expect("the program starts");
        assert!(help.status.success(), "{}", String::from_utf8_lossy(&help.stderr));
    }
    // A Service or PodDisruptionBudget of one counts no Pod of the other.
    let selector = &one(&documents, "Service", "nodeform")["spec"]["selector"];
    let matches = |pod: &Value| {
        let labels = &pod["metadata"]["labels"];
        selector.as_object().expect("labels").iter().all(|(key, value)| labels[key] == *value)
    };
    assert_eq!([&controller, &proposer].map(matches), [true, false]);
}

#[test]
fn without_a_proposer_the_controller_does_all_and_nothing_of_it_is_installed() {
    let Some(documents) = rendered("replicas=1") else { return };
    let arguments =
        &one(&documents, "Deployment", "nodeform")["spec"]["template"]["spec"]["containers"][0]["args"];
    assert_eq!(*arguments, json!(["controller"]));
    assert!(!documents.iter().any(|it| it.to_string().contains("nodeform-proposer")));
}

#[test]
fn one_account_or_one_token_for_both_is_refused() {
    for (same, said) in [
        ("proposer.serviceAccount.name=nodeform", "`proposer.serviceAccount` is that of the controller"),
        ("review.tokenSecret.name=bot", "`proposer.git.tokenSecret` is `review.tokenSecret`"),
    ] {
        let Some(output) = render(&format!("{APART},{same}")) else { return };
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(said), "{told}");
    }
}

#[test]
fn a_github_app_takes_the_place_of_a_token() {
    let Some(documents) = rendered(&format!("{APART},proposer.git.githubAppId=Iv1.a")) else { return };
    let variables = |name: &str| {
        let container = &one(&documents, "Deployment", name)["spec"]["template"]["spec"]["containers"][0];
        let variables = container["env"].as_array().expect("variables").iter();
        let of_git = variables.filter(|it| it["name"].as_str().is_some_and(|name| name.contains("_GIT")));
        of_git.map(|it| format!("{}={}", it["name"], it["value"]).replace('"', "")).collect::<Vec<String>>()
    };
    let file = "/var/run/secrets/nodeform.dev/git/token";
    assert_eq!(variables("nodeform"), [format!("NODEFORM_GIT_TOKEN_FILE={file}")]);
    let app = ["NODEFORM_GITHUB_APP_ID=Iv1.a".to_owned(), format!("NODEFORM_GITHUB_APP_KEY_FILE={file}")];
    assert_eq!(variables("nodeform-proposer"), app);
    let Some(output) = render("replicas=1,review.enabled=true,review.githubAppId=Iv1.a") else { return };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("`githubAppId` needs `tokenSecret`"), "{told}");
}
