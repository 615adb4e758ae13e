//! Plans that are proposed on a branch, merged by a reviewer, and carried out once: by a real Git server and real `git`.

mod apart;
mod approvals;
mod at_once;
mod beside;
mod controller;
pub(crate) mod forge;
mod forges;
mod gitea;
mod history;
mod hostile;
mod interrupted;
mod meanwhile;
mod meddled;
mod refused;
mod second;
mod shapes;
mod signed;
mod slots;
mod strange;
mod struck;
mod withdrawn;

use serde_json::{Value, json};

use crate::program::{Program, Ran};
use forge::{Forge, TOKEN};

const WORLD: &str = include_str!("../world.yaml");
const INFLATE: &str = "/apis/apps/v1/namespaces/default/deployments/inflate";
const CREATE: &str = "nodeform/demo/create";

/// A cluster, a Git server, and who works with both.
struct Stage {
    program: Program,
    forge: Forge,
    cache: tempfile::TempDir,
}

impl Stage {
    async fn start() -> Self {
        Self::of(WORLD).await
    }

    async fn of(world: &str) -> Self {
        let program = Program::of(world, &["--speed", "60"]).await;
        Self { program, forge: Forge::start().await, cache: tempfile::tempdir().expect("a folder") }
    }

    /// Runs nodeform on the cluster and the repository.
    async fn run(&self, arguments: &[&str]) -> Ran {
        self.run_on(&self.forge.url(), arguments).await
    }

    async fn run_on(&self, url: &str, arguments: &[&str]) -> Ran {
        self.run_with(url, arguments, &[("NODEFORM_GIT_TOKEN", TOKEN)]).await
    }

    /// Starts nodeform on the cluster and the repository and leaves it running.
    fn started(&self, arguments: &[&str]) -> tokio::process::Child {
        let url = self.forge.url();
        let repository = ["--git-repository", url.as_str(), "--allow-http"];
        let arguments: Vec<&str> = arguments.iter().chain(&repository).copied().collect();
        let path = std::env::var("PATH").expect("a path");
        let cache = self.cache.path().display().to_string();
        let variables =
            [("PATH", path.as_str()), ("XDG_CACHE_HOME", cache.as_str()), ("NODEFORM_GIT_TOKEN", TOKEN)];
        self.program.started_with(&arguments, &variables, &self.cache.path().join("said"))
    }

    async fn run_with(&self, url: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let repository = ["--git-repository", url, "--allow-http"];
        let arguments: Vec<&str> = arguments.iter().chain(&repository).copied().collect();
        let path = std::env::var("PATH").expect("a path");
        let cache = self.cache.path().display().to_string();
        let mut all = vec![("PATH", path.as_str()), ("XDG_CACHE_HOME", cache.as_str())];
        all.extend(variables);
        let ran = self.program.nodeform(&arguments, &all).await;
        assert!(!format!("{ran:?}").contains(TOKEN), "{ran:?}");
        ran
    }

    /// Proposes new nodes and returns the folder of the plan.
    async fn propose(&self, arguments: &[&str]) -> String {
        let ran = self.run(&[&["propose", "--live"], arguments].concat()).await;
        done(&ran);
        let folder = ran.printed.strip_prefix("Proposed: ").and_then(|rest| rest.split_once(" on branch"));
        folder.unwrap_or_else(|| panic!("{ran:?}")).0.to_owned()
    }

    /// Expects one NodePlan, which says at a glance what `nodeform status` says, and that kstatus takes for current.
    async fn is_one_row(&self, folder: &str) {
        let (_, listed) = self.program.kube("GET", nodeform::ledger::PLANS, &Value::Null).await;
        let plans = listed["items"].as_array().expect("a list");
        let [plan] = plans.as_slice() else { panic!("{listed}") };
        let spec = &plan["spec"];
        let folder = folder.trim_start_matches("nodeform/plans/");
        assert_eq!((&spec["class"], &spec["folder"]), (&json!("create"), &json!(folder)), "{plan}");
        let (nodes, monthly) = (&spec["changes"]["nodes"], spec["monthlyDelta"].as_str().expect("money"));
        assert_eq!(nodes, "+1 ~0 -0", "{plan}");
        let status = &plan["status"];
        assert_eq!(status["observedGeneration"], plan["metadata"]["generation"], "{plan}");
        let conditions = status["conditions"].as_array().expect("a list").iter();
        let conditions: Vec<String> = conditions
            .map(|it| format!("{}={} of {}", it["type"], it["status"], it["observedGeneration"]))
            .collect();
        let told = conditions.join(" ").replace('"', "");
        assert_eq!(told, "Ready=True of 1 Reconciling=False of 1 Stalled=False of 1");
        let status = self.program.nodeform(&["status"], &[]).await;
        let line = format!(", create, folder `{folder}`, +1 ~0 -0, +${monthly}/month, Done");
        assert!(status.printed.contains(&line), "{line}: {}", status.printed);
    }

    async fn apply(&self) -> Ran {
        self.run(&["apply", "--merged"]).await
    }

    /// How many VMs and NodeClaims there are.
    async fn machines(&self) -> (usize, usize) {
        let (_, claims) = self.program.kube("GET", "/apis/karpenter.sh/v1/nodeclaims", &Value::Null).await;
        let state = self.program.own("GET", "/sim/state", &Value::Null).await.1;
        let count = |items: &Value| items.as_array().map_or(0, Vec::len);
        (count(&state["virtualMachines"]), count(&claims["items"]))
    }

    async fn scale(&self, replicas: usize) {
        assert_eq!(self.program.patch(INFLATE, &json!({"spec": {"replicas": replicas}})).await.0, 200);
        self.program.wait_for(|state| running(state) <= replicas).await;
    }
}

fn running(state: &Value) -> usize {
    let pods = state["pods"].as_array().expect("a list").iter();
    pods.filter(|pod| pod["phase"] == "Running").count()
}

fn done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.printed, ran.said);
}

#[tokio::test]
async fn a_plan_is_proposed_merged_and_carried_out_once() {
    let stage = Stage::start().await;
    let folder = stage.propose(&["--class", "create"]).await;
    let before = stage.forge.branches();
    let again = stage.run(&["propose", "--live", "--class", "create"]).await;
    done(&again);
    assert!(again.printed.starts_with("Nothing to propose: "), "{}", again.printed);
    assert_eq!(stage.forge.branches(), before);
    let nothing = stage.apply().await;
    done(&nothing);
    assert!(nothing.printed.starts_with("Nothing to apply: "), "{nothing:?}");
    assert!(nothing.said.contains("has no folder `nodeform/plans`"), "{nothing:?}");
    stage.forge.merge(CREATE);
    let checkout = tempfile::tempdir().expect("a folder");
    let local = checkout.path().join(folder.trim_start_matches("nodeform/plans/"));
    std::fs::create_dir_all(&local).expect("it is made");
    for name in ["PLAN.md", "plan.jsonc"] {
        let text = stage.forge.read(&format!("{folder}/{name}")).replace('\n', "\r\n");
        std::fs::write(local.join(name), text).expect("it is written");
    }
    let local = local.display().to_string();
    let verified = stage.program.nodeform(&["verify", &local], &[]).await;
    assert_eq!(verified.code, Some(0), "as Git checks out where `core.autocrlf` is set: {verified:?}");
    for path in ["nodeform", "nodeform/plans/deeper"] {
        let astray = stage.run(&["apply", "--merged", "--git-path", path]).await;
        assert_eq!(astray.code, Some(1), "{astray:?}");
        assert!(astray.said.contains("but has plans in `nodeform/plans`\nhint: "), "{astray:?}");
    }
    assert_eq!(
        stage.forge.git(&["diff", "--name-only", "HEAD~1", "HEAD"]),
        format!("nodeform/plans/.gitattributes\n{folder}/PLAN.md\n{folder}/plan.jsonc\n")
    );
    let applied = stage.apply().await;
    done(&applied);
    assert!(
        applied.printed.ends_with("\nApply complete! Nodes: 1 added, 0 changed, 0 destroyed, 0 not done.\n"),
        "{applied:?}"
    );
    stage.program.wait_for(|state| running(state) == 5).await;
    stage.is_one_row(&folder).await;
    let spent = stage.apply().await;
    done(&spent);
    assert!(spent.said.contains("1 plan, applied before"), "{spent:?}");
    assert_eq!(stage.machines().await, (1, 1));

    // What is proposed next follows the target, and takes the place of what is merged.
    stage.scale(0).await;
    let folder = stage.propose(&["--class", "remove-empty"]).await;
    stage.forge.squash("nodeform/demo/remove-empty");
    let list = stage.forge.read(&format!("{folder}/destroy.txt"));
    assert!(list.starts_with("- node/aks-general-purpose-") && list.contains(", no pods\n"), "{list}");
    let applied = stage.apply().await;
    done(&applied);
    assert_eq!(stage.machines().await, (0, 0));
    stage.scale(5).await;
    stage.propose(&["--class", "create"]).await;
    let branch = stage.forge.proposed(CREATE);
    let parents = stage.forge.git(&["log", "-1", "--format=%P", &format!("origin/{branch}")]);
    assert_eq!(parents, stage.forge.git(&["log", "-1", "--format=%H", "origin/main"]));
}

#[tokio::test]
async fn a_struck_removal_stays_and_the_folder_verifies_without_a_cluster() {
    let stage = Stage::start().await;
    stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    done(&stage.apply().await);
    stage.program.wait_for(|state| running(state) == 5).await;
    stage.scale(0).await;
    let folder = stage.propose(&["--class", "remove-empty"]).await;
    stage.forge.merge("nodeform/demo/remove-empty");
    let local = stage.forge.path(&folder).display().to_string();
    let verified = stage.program.nodeform(&["verify", &local], &[]).await;
    done(&verified);
    assert!(verified.printed.ends_with("0 of 1 removals struck.\n"), "{}", verified.printed);
    let plan = format!("{local}/plan.jsonc");
    let shown = stage.program.nodeform(&["show", &plan, "-o", "md", "--all"], &[]).await;
    assert_eq!(shown.printed, stage.forge.read(&format!("{folder}/PLAN.md")));
    stage.forge.write(&format!("{folder}/destroy.txt"), "");
    stage.forge.commit("Keep it");
    let verified = stage.program.nodeform(&["verify", &local], &[]).await;
    assert!(verified.printed.ends_with("1 of 1 removals struck.\n"), "{}", verified.printed);
    let applied = stage.apply().await;
    done(&applied);
    assert!(applied.printed.contains("struck in review"), "{}", applied.printed);
    assert_eq!(stage.machines().await, (1, 1));
    // Restoring the line lets nothing happen: a plan ends once.
    stage.forge.git(&["revert", "--no-edit", "HEAD"]);
    stage.forge.git(&["push", "--quiet", "origin", "main"]);
    let spent = stage.apply().await;
    assert!(spent.said.contains("2 plans, applied before"), "{spent:?}");
    assert_eq!(stage.machines().await, (1, 1));
}
