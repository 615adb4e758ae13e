//! Mode `review` as the chart installs it, on a real forge: the proposer opens a pull request, a second user approves it, a third
//! merges it, the controller applies it, and the pull request, `nodeform status` and kubectl say the same of it.

use std::path::PathBuf;

use nodeform::ledger::PLANS;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::audit;
use super::bed::{Bed, Clock, FLEETS, POOLS};
use super::deployed::{self, Controller, NAMESPACE};
use super::forge::Gitea;
use super::kubectl;
use super::way::Way;
use super::workload::Workload;

const ADMINISTRATOR: &str = "forge";
const PULLS: &str = "/repos/forge/plans/pulls";

/// A forge, and what waits for its answers.
struct Forge {
    gitea: Gitea,
    runtime: Runtime,
}

impl Forge {
    /// Starts it, with its users and with the Secrets of their tokens: `bot` may write, `watch` may read.
    fn start(bed: &Bed) -> Option<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        let gitea = runtime.block_on(Gitea::start())?;
        runtime.block_on(async {
            gitea.create_repository().await;
            for (user, permission) in
                [("bot", "write"), ("ann", "write"), ("bob", "write"), ("watch", "read")]
            {
                gitea.add_user(user, permission).await;
            }
        });
        let tokens = [
            ("bot", "write:repository,write:issue,read:user"),
            ("watch", "read:repository,read:issue,read:user"),
        ];
        for (user, scopes) in tokens {
            let token = gitea.token(user, scopes);
            let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": user},
                "stringData": {"token": token}});
            bed.eyes().make(&format!("/api/v1/namespaces/{NAMESPACE}/secrets"), &secret);
        }
        Some(Self { gitea, runtime })
    }

    fn ask(&self, user: &str, request: &str) -> Value {
        self.runtime.block_on(self.gitea.ask(user, request, json!({})))
    }

    /// The pull requests, open and closed.
    fn pulls(&self) -> Vec<Value> {
        let listed = self.ask(ADMINISTRATOR, &format!("GET {PULLS}?state=all"));
        listed.as_array().cloned().expect("a list")
    }

    fn comments(&self, number: u64) -> String {
        self.ask(ADMINISTRATOR, &format!("GET /repos/forge/plans/issues/{number}/comments")).to_string()
    }

    fn approves(&self, user: &str, number: u64) {
        self.runtime.block_on(self.gitea.review(user, number, "APPROVED"));
    }

    fn merges(&self, user: &str, number: u64) {
        self.runtime.block_on(self.gitea.merge_as(user, number, "squash"));
    }
}

/// Who runs nodeform's Pods, and by what.
pub(super) struct Installation<'a> {
    pub(super) bed: &'a Bed,
    pub(super) way: &'a Way,
    pub(super) tools: &'a [PathBuf; 2],
    pub(super) controllers: Vec<Controller>,
}

/// Tells the story; returns how many seconds it is from the merge to the first write to Azure, where there is a forge.
pub(super) fn is_proposed_merged_and_reported(
    installation: &mut Installation<'_>,
    inflate: &Workload,
) -> Option<f64> {
    let bed = installation.bed;
    let eyes = &inflate.eyes;
    let forge = Forge::start(bed)?;
    let accounts = "review.tokenSecret.name=watch,review.user=watch,proposer.enabled=true,\
         proposer.git.tokenSecret.name=bot,proposer.git.user=bot";
    let controllers = (std::mem::take(&mut installation.controllers), &["--set", accounts][..]);
    installation.controllers = deployed::upgraded(bed, installation.way, &installation.tools[0], controllers);
    assert_eq!(installation.controllers.len(), 3, "two controllers and a proposer run");
    let git = json!({"repository": format!("{}/forge/plans.git", forge.gitea.url), "forge": "gitea",
        "approvals": [{"classes": ["replace"], "count": 1}]});
    let fleet = format!("{FLEETS}/main");
    eyes.api.merge(&fleet, &json!({"spec": {"mode": "review", "git": git}}));
    inflate.scaled(5);
    inflate.has_nodes(1);
    let before = inflate.nodes();

    let label = json!({"spec": {"template": {"metadata": {"labels": {"team": "another"}}}}});
    eyes.api.merge(&format!("{POOLS}/{}", inflate.name), &label);
    let review = || {
        let reviews = eyes.api.get(&fleet)["status"]["reviews"].as_array().cloned().unwrap_or_default();
        reviews.into_iter().find(|review| review["page"].is_string())
    };
    eyes.wait("its pull request is in the status", || review().is_some());
    let folder = review().expect("it is there")["folder"].as_str().expect("a folder").to_owned();
    let pulls = forge.pulls();
    let [pull] = pulls.as_slice() else { panic!("{pulls:#?}") };
    assert_eq!(pull["user"]["login"], "bot");
    let number = pull["number"].as_u64().expect("a number");
    eyes.after_rounds(3);
    assert_eq!(inflate.nodes(), before, "nothing is replaced before it is merged");

    forge.approves("ann", number);
    let seconds = until_it_writes(inflate, || forge.merges("bob", number));
    eyes.wait("the pull request says what became of it", || forge.comments(number).contains("**Done**"));
    inflate.runs(5);
    inflate.has_nodes(1);
    assert!(inflate.nodes().iter().all(|node| !before.contains(node)), "{before:?}");
    all_say_the_same(installation, (&forge.comments(number), &folder, &before));
    assert_eq!(forge.pulls().len(), 1, "nothing is proposed twice");

    eyes.api.merge(&fleet, &json!({"spec": {"mode": "auto", "git": null}}));
    inflate.scaled(0);
    eyes.only_the_system_node_is_left();
    Some(seconds)
}

/// How many seconds it is from a merge, which `merges` waits for, to the first write to Azure.
fn until_it_writes(inflate: &Workload, merges: impl FnOnce()) -> f64 {
    let nics = || inflate.eyes.own("sim/state", None)["networkInterfaces"].as_array().map_or(0, Vec::len);
    let before = nics();
    merges();
    let mut clock = Clock::start();
    inflate.eyes.wait("something is made in Azure", || nics() > before);
    clock.ends("  of it: from the merge to the first write to Azure")
}

/// The comment, the NodePlan's row and `nodeform status` have the same outcome; and each role did its own work alone.
fn all_say_the_same(installation: &Installation<'_>, (comments, folder, gone): (&str, &str, &[String])) {
    let Installation { bed, tools: [_, client], .. } = installation;
    let plans = bed.eyes().items(PLANS);
    let of_folder: Vec<&Value> = plans.iter().filter(|plan| plan["spec"]["folder"] == *folder).collect();
    let [plan] = of_folder.as_slice() else { panic!("{of_folder:#?}") };
    assert_eq!(plan["status"]["phase"], "Done");
    let id = plan["metadata"]["name"].as_str().expect("a name");
    assert!(comments.contains(id) && gone.iter().all(|node| comments.contains(node.as_str())), "{comments}");
    let rows = kubectl::ran(bed, client, &["get", "nodeplans"]);
    let row = rows.lines().find(|row| row.starts_with(id)).unwrap_or_else(|| panic!("{rows}"));
    assert!(row.contains(folder) && row.contains(" +1 ~0 -1 ") && row.contains(" Done "), "{row}");
    let status = bed.done(&["status"]);
    let told = status.lines().any(|line| line.contains(folder) && line.contains("Done"));
    assert!(told, "{status}");

    audit::nothing_was_forbidden(&audit::asked(bed));
    let proposer = audit::asked_by_the_proposer(bed);
    let others = proposer.iter().filter(|asked| asked.is_write() && asked.name != "nodeform-proposer");
    let others: Vec<&audit::Asked> = others.collect();
    assert!(others.is_empty(), "the proposer writes nothing but its Lease: {others:#?}");
    audit::nothing_was_forbidden(&proposer);
}
