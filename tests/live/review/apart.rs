//! The controller and the proposer as two processes, each without the other's rights: a token that only reads Git and the forge,
//! and an identity that only reads Azure and the cluster. On a real Gitea, which is asked through a recorder.

use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::process::Child;

use super::Stage;
use super::controller::{FLEET, Reviewed};
use super::gitea::{ADMINISTRATOR, PULLS, prepared};
use crate::forge::fake::Fake;
use crate::forge::judge::Asked;
use crate::forge::real::Gitea;

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/// A token of a user.
#[derive(Clone)]
struct Account {
    user: &'static str,
    token: String,
}

impl Account {
    /// Whether it is this account that asked.
    fn has_asked(&self, asked: &Asked) -> bool {
        let pair = BASE64.encode(format!("{}:{}", self.user, self.token).as_bytes());
        asked.authorization.contains(&self.token) || asked.authorization.contains(&pair)
    }
}

/// Both processes.
struct Apart {
    gitea: Gitea,
    recorder: Fake,
    /// May write branches, pull requests and statuses.
    bot: Account,
    /// May read.
    watch: Account,
    reviewed: Reviewed,
    proposer: Child,
}

impl Apart {
    /// Has a proposer speak to Gitea as an account.
    async fn start(proposes_as: &str) -> Option<Self> {
        let gitea = Gitea::start().await?;
        let recorder = Fake::before(&gitea.url, None);
        let bot = Account { user: "bot", token: prepared(&gitea).await };
        gitea.add_user("watch", "read").await;
        let token = gitea.token("watch", "read:repository,read:issue,read:user");
        let watch = Account { user: "watch", token };
        let git = json!({
            "repository": format!("http://{}/forge/plans.git", recorder.host()), "forge": "gitea",
            "approvals": [{"classes": ["replace"], "count": 1}],
        });
        let reads = [("NODEFORM_GIT_TOKEN", watch.token.as_str()), ("NODEFORM_GIT_USER", watch.user)];
        let reviewed = Reviewed::in_role(
            Stage::of_slots().await,
            json!({"mode": "review", "git": git}),
            ("controller", &reads),
        )
        .await;
        let proposer = proposer(&reviewed.stage, if proposes_as == watch.user { &watch } else { &bot });
        Some(Self { gitea, recorder, bot, watch, reviewed, proposer })
    }

    async fn pulls(&self) -> Vec<Value> {
        let listed = self.gitea.ask(ADMINISTRATOR, &format!("GET {PULLS}?state=all"), json!({})).await;
        listed.as_array().cloned().expect("a list")
    }

    /// Waits until the proposer has looked at the repository so many times more.
    async fn looks(&self, times: usize) {
        let looked = || {
            let seen = self.recorder.seen();
            let fetches = seen.iter().filter(|asked| asked.path.ends_with("/info/refs"));
            fetches.filter(|asked| self.bot.has_asked(asked)).count()
        };
        let before = looked();
        self.reviewed.stage.program.wait(async || looked() >= before + times).await;
    }

    /// Who wrote to Gitea through the recorder: what is not read, but for what Git asks by POST when it fetches.
    fn writers(&self) -> Vec<&'static str> {
        let seen = self.recorder.seen();
        let writes =
            seen.iter().filter(|asked| asked.method != "GET" && !asked.path.ends_with("git-upload-pack"));
        let mut writers: Vec<&str> = writes
            .map(|asked| match (self.bot.has_asked(asked), self.watch.has_asked(asked)) {
                (true, _) => "bot",
                (false, true) => "watch",
                (false, false) => "nobody",
            })
            .collect();
        writers.sort_unstable();
        writers.dedup();
        writers
    }

    /// Who holds a Lease.
    async fn holder(&self, lease: &str) -> Value {
        let path = format!("{LEASES}/{lease}");
        self.reviewed.stage.program.kube("GET", &path, &Value::Null).await.1["spec"]["holderIdentity"].clone()
    }

    async fn refused(&self) -> Value {
        self.reviewed.stage.program.own("GET", "/sim/state", &Value::Null).await.1["refused"].clone()
    }
}

/// Starts a proposer that may only read Azure and the cluster, but for its own Lease.
fn proposer(stage: &Stage, account: &Account) -> Child {
    let reader = stage.program.reader();
    let mut variables: Vec<(&str, &str)> = reader.iter().map(|(name, value)| (&**name, &**value)).collect();
    variables.extend([("NODEFORM_GIT_TOKEN", account.token.as_str()), ("NODEFORM_GIT_USER", account.user)]);
    stage.controls_as("proposer", &variables)
}

#[tokio::test]
async fn who_may_write_to_git_proposes_and_reports_and_who_may_write_to_azure_applies_what_is_merged() {
    let Some(mut apart) = Apart::start("bot").await else { return };
    let before = apart.reviewed.fills(&["a", "b"]).await;
    let folder = apart.reviewed.proposes().await;
    let review = apart.reviewed.waits_for_review(|review| review["page"].is_string()).await;
    let pulls = apart.pulls().await;
    let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
    assert_eq!((&pull["user"]["login"], &review["state"]), (&json!("bot"), &json!("Proposed")));
    assert_eq!(apart.reviewed.vms().await, before, "nothing goes before it is merged");

    // What is merged waits for a freeze: neither a proposer that was there nor a new one proposes it again.
    let freeze = |freeze: Value| json!({"spec": {"freeze": freeze}});
    let program = &apart.reviewed.stage.program;
    assert_eq!(program.patch(FLEET, &freeze(json!([{"name": "friday"}]))).await.0, 200);
    let number = pull["number"].as_u64().expect("a number");
    apart.gitea.review("alice", number, "APPROVED").await;
    apart.gitea.squash(number).await;
    let waits = async || {
        let plans = apart.reviewed.plans_of(&folder).await;
        plans.iter().any(|plan| plan["status"]["outcomes"].to_string().contains("`friday`"))
    };
    program.wait(waits).await;
    apart.looks(4).await;
    let first = apart.holder("nodeform-proposer").await;
    apart.proposer.kill().await.expect("it runs");
    apart.proposer = proposer(&apart.reviewed.stage, &apart.bot);
    apart.looks(4).await;
    let second = apart.holder("nodeform-proposer").await;
    assert!(first.is_string() && second.is_string() && first != second, "{first} {second}");
    assert_ne!(second, apart.holder("karpenter-leader-election").await);
    assert_eq!((apart.pulls().await.len(), apart.reviewed.vms().await), (1, before.clone()));

    let program = &apart.reviewed.stage.program;
    assert_eq!(program.patch(FLEET, &freeze(json!([]))).await.0, 200);
    apart.reviewed.ends(&folder, "Done").await;
    let after = apart.reviewed.vms().await;
    assert!(after.len() == 2 && after.iter().all(|vm| !before.contains(vm)), "{before:?} {after:?}");
    let path = format!("GET /repos/forge/plans/issues/{number}/comments");
    let comments = async || apart.gitea.ask(ADMINISTRATOR, &path, json!({})).await.to_string();
    program.wait(async || comments().await.contains("**Done**")).await;
    apart.looks(4).await;
    assert_eq!(apart.pulls().await.len(), 1, "what was done is not proposed again");

    assert_eq!(apart.writers(), ["bot"]);
    assert!(apart.recorder.seen().iter().any(|asked| apart.watch.has_asked(asked)), "the controller reads");
    assert_eq!(apart.refused().await, json!([]), "what the proposer tried to write");
}

#[tokio::test]
async fn what_hinders_the_proposer_is_said_in_the_status_of_the_nodefleet() {
    let Some(mut apart) = Apart::start("watch").await else { return };
    let before = apart.reviewed.fills(&["a", "b"]).await;
    apart.reviewed.drifts().await;
    let stops = async |apart: &Apart| apart.reviewed.fleet().await["status"]["stops"].to_string();
    let program = &apart.reviewed.stage.program;
    program.wait(async || stops(&apart).await.contains("proposer: `replace` is not proposed: ")).await;
    assert_eq!((apart.pulls().await.len(), apart.reviewed.vms().await), (0, before));
    // Also while neither of them can read the repository.
    let name = async |from: &str, to: &str| {
        let path = format!("PATCH /repos/forge/{from}");
        apart.gitea.ask(ADMINISTRATOR, &path, json!({ "name": to })).await
    };
    name("plans", "elsewhere").await;
    program.wait(async || stops(&apart).await.contains("paused: no reviewed plan starts until")).await;
    program
        .wait(async || {
            stops(&apart).await.contains("proposer: nothing is proposed until the repository can be read")
        })
        .await;
    let said = stops(&apart).await;
    assert!(said.contains("paused: no reviewed plan starts until"), "{said}");
    name("elsewhere", "plans").await;
    apart.proposer.kill().await.expect("it runs");
    apart.proposer = proposer(&apart.reviewed.stage, &apart.bot);
    let program = &apart.reviewed.stage.program;
    program.wait(async || apart.pulls().await.len() == 1).await;
    program.wait(async || !stops(&apart).await.contains("proposer: ")).await;
    assert_eq!(apart.refused().await, json!([]), "what the proposer tried to write");
}

#[tokio::test]
async fn the_account_that_proposes_approves_nothing_whoever_opened_the_pull_request() {
    let Some(mut apart) = Apart::start("bot").await else { return };
    let before = apart.reviewed.fills(&["a", "b"]).await;
    let program = &apart.reviewed.stage.program;
    let path = format!("{LEASES}/nodeform-proposer");
    let is_known = async || {
        let lease = program.kube("GET", &path, &Value::Null).await.1;
        lease["metadata"]["annotations"]["nodeform.dev/forge-account"].is_string()
    };
    program.wait(is_known).await;
    // Somebody with the token of the proposer and a person's account has two accounts, and is one person.
    let pushed = apart.recorder.loses_next_write();
    apart.reviewed.drifts().await;
    let pushed = tokio::time::timeout(crate::program::PATIENCE, pushed).await.expect("it pushes");
    assert!(pushed.expect("the recorder runs").ends_with("/git-receive-pack"));
    apart.proposer.kill().await.expect("it runs");
    let review = apart.reviewed.waits_for_review(|review| review["state"] == "Proposed").await;
    let body = json!({"head": review["branch"], "base": "main", "title": "Replace them"});
    let pull = apart.gitea.ask("alice", &format!("POST {PULLS}"), body).await;
    let number = pull["number"].as_u64().expect("a number");
    apart.gitea.review("bot", number, "APPROVED").await;
    apart.gitea.merge(number, "merge").await;
    let review = apart.reviewed.waits_for_review(|review| review["state"] == "Refused").await;
    let because = review["because"].as_str().expect("a reason");
    assert!(because.contains("and has 0; bot is nodeform's own account"), "{because}");
    assert_eq!(apart.reviewed.vms().await, before);
}
