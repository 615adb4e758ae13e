//! `nodeform snapshot --kubectl`, beside a kubectl that answers as a cluster's would.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::shell::{aside, empty_folder, fed, out, root, start};

/// Answers by what is asked for: the kinds are those of a file, a kind has the objects of `objects/KIND`, and one in
/// `forbidden` may not be listed.
const KUBECTL: &str = r#"#!/bin/sh
here=${0%/*}
echo "$*" >> "$here/asked"
if [ "$1" = api-resources ]; then
  cat "$here/kinds"
  if [ -f "$here/complaint" ]; then cat "$here/complaint" >&2; exit 1; fi
  exit 0
fi
items=
status=0
for kind in $(echo "$2" | tr , ' '); do
  if grep -qx "$kind" "$here/forbidden"; then
    echo "Error from server (Forbidden): $kind is forbidden: User \"ci\" cannot list resource" >&2
    status=1
  elif [ -f "$here/objects/$kind" ]; then
    items="$items${items:+,}$(cat "$here/objects/$kind")"
  fi
done
if [ -f "$here/down" ]; then printf 'E1125 19:34:23.588146    4127 memcache.go:265] "Unhandled Error"\nThe connection to the server was refused\n' >&2; exit 1; fi
echo "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [$items]}"
exit $status
"#;

/// The kinds of a cluster of AKS, with some that are never asked for.
const KINDS: &str = "configmaps\nsecrets\nnodes\npods\nnamespaces\nnodepools.karpenter.sh\nnodes.metrics.k8s.io\n\
                     nodeclaims.karpenter.sh\naksnodeclasses.karpenter.azure.com\ndeployments.apps\ncsinodes.storage.k8s.io\n\
                     poddisruptionbudgets.policy\npriorityclasses.scheduling.k8s.io\nstorageclasses.storage.k8s.io\n\
                     horizontalpodautoscalers.autoscaling\n";

/// A kubectl in a folder of its own.
struct Cluster {
    folder: PathBuf,
}

impl Cluster {
    fn new(name: &str) -> Self {
        let folder = empty_folder(name);
        let cluster = Self { folder };
        cluster.write("kubectl", KUBECTL);
        let program = cluster.folder.join("kubectl");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("set");
        cluster.write("kinds", KINDS);
        cluster.write("forbidden", "");
        let named =
            |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
        let mut node = named("Node", "aks-general-purpose-a");
        node["metadata"]["labels"] = json!({
            "karpenter.sh/nodepool": "gp", "node.kubernetes.io/instance-type": "Standard_D4s_v5",
            "topology.kubernetes.io/region": "westeurope", "topology.kubernetes.io/zone": "westeurope-1",
            "karpenter.sh/capacity-type": "on-demand", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
        });
        let room = json!({"cpu": "3860m", "memory": "12Gi", "pods": "110"});
        node["status"] = json!({"allocatable": room, "capacity": room});
        let mut pod = named("Pod", "web-0");
        pod["metadata"]["uid"] = json!("7c1e8a52-0000-4000-8000-000000000001");
        pod["spec"] = json!({"nodeName": "aks-general-purpose-a", "containers": [{"name": "c", "image": "x",
            "env": [{"name": "PASSWORD", "value": "swordfish"}], "resources": {"requests": {"cpu": "1"}}}]});
        pod["status"] = json!({"phase": "Running"});
        let mut class = named("PriorityClass", "high");
        (class["apiVersion"], class["value"]) = (json!("scheduling.k8s.io/v1"), json!(10));
        let mut storage = named("StorageClass", "managed-csi");
        (storage["apiVersion"], storage["provisioner"]) =
            (json!("storage.k8s.io/v1"), json!("disk.csi.azure.com"));
        for (kind, object) in [
            ("nodes", node),
            ("pods", pod),
            ("priorityclasses.scheduling.k8s.io", class),
            ("storageclasses.storage.k8s.io", storage),
        ] {
            cluster.write(&format!("objects/{kind}"), &object.to_string());
        }
        cluster
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.folder.join(file);
        std::fs::create_dir_all(file.parent().expect("has a folder")).expect("made");
        std::fs::write(file, text).expect("written");
    }

    fn asked(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join("asked")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Starts nodeform where this kubectl is the first on the `PATH`.
    fn nodeform(&self, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").expect("there is a path");
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
        command.args(arguments).current_dir(&self.folder).env_remove("CLICOLOR_FORCE");
        fed(command.env("PATH", format!("{}:{path}", self.folder.display())), "")
    }

    fn snapshot(&self) -> Value {
        let text = std::fs::read_to_string(self.folder.join("prod.json")).expect("was saved");
        serde_json::from_str(&text).expect("a snapshot is JSON")
    }

    /// What a plan of the saved snapshot says.
    fn plan(&self) -> String {
        let plan = start(&["plan", "--snapshot", "prod.json"], &self.folder, "");
        assert!(plan.status.success(), "{}", aside(&plan));
        out(&plan)
    }
}

const TAKE: [&str; 4] = ["snapshot", "--kubectl", "--out", "prod.json"];

#[test]
fn a_live_cluster_is_listed_once_with_its_time_and_without_secrets() {
    let cluster = Cluster::new("live");
    let taken = cluster.nodeform(&[&TAKE[..], &["--context", "prod", "--kubeconfig", "my config"]].concat());
    assert!(taken.status.success(), "{}", aside(&taken));
    assert_eq!(
        aside(&taken),
        "Saved 4 of 4 objects to `prod.json`; plan from it with `nodeform plan --snapshot prod.json`.\n"
    );
    assert_eq!(
        cluster.asked(),
        [
            "api-resources --verbs=list --output=name --context=prod --kubeconfig=my config",
            "get nodes,nodeclaims.karpenter.sh,nodepools.karpenter.sh,aksnodeclasses.karpenter.azure.com,namespaces,\
             priorityclasses.scheduling.k8s.io,deployments.apps,horizontalpodautoscalers.autoscaling,\
             poddisruptionbudgets.policy,storageclasses.storage.k8s.io,csinodes.storage.k8s.io,pods --all-namespaces \
             --output=json --context=prod --kubeconfig=my config",
        ]
    );
    let snapshot = cluster.snapshot();
    let at = snapshot["at"].as_str().expect("the time is there");
    assert!(at.starts_with("20") && at.ends_with('Z') && at.len() == "2026-11-21T09:00:00Z".len(), "{at}");
    assert!(snapshot["listed"].as_array().expect("a list").contains(&json!("pdb")));
    assert!(!snapshot.to_string().contains("swordfish"));
    let plan = cluster.plan();
    assert!(plan.contains(&format!(", at {at}")), "{plan}");
    assert!(
        !plan.contains("PodDisruptionBudgets in the input"),
        "a kind that was listed has no objects: {plan}"
    );
    // The same objects from a file, of which nobody knows what was listed.
    let dump = cluster.nodeform(&["snapshot", "objects", "--out", "prod.json"]);
    assert!(!dump.status.success(), "files without an ending are no manifests");
    for kind in ["nodes", "pods"] {
        std::fs::rename(
            cluster.folder.join(format!("objects/{kind}")),
            cluster.folder.join(format!("{kind}.json")),
        )
        .expect("moved");
    }
    let dump = cluster.nodeform(&["plan", "nodes.json", "pods.json"]);
    assert!(
        out(&dump).contains("no PodDisruptionBudgets, PriorityClasses or StorageClasses in the input"),
        "{}",
        out(&dump)
    );
}

#[test]
fn what_may_not_be_listed_is_told_and_kept_in_the_snapshot() {
    let cluster = Cluster::new("live-forbidden");
    cluster.write("forbidden", "poddisruptionbudgets.policy\ncsinodes.storage.k8s.io\n");
    let taken = cluster.nodeform(&TAKE);
    assert!(taken.status.success(), "{}", aside(&taken));
    let said = aside(&taken);
    assert!(
        said.starts_with(
            "warning: no permission to list pdb: planning as if there were none\nwarning: no permission to list csinodes"
        ),
        "{said}"
    );
    assert_eq!(
        cluster.asked().len(),
        2 + 12,
        "each kind by itself, after all at once: {:?}",
        cluster.asked()
    );
    let snapshot = cluster.snapshot();
    let listed = snapshot["listed"].as_array().expect("a list");
    assert!(!listed.contains(&json!("pdb")) && listed.contains(&json!("pods")), "{listed:?}");
    let plan = cluster.plan();
    assert!(!plan.contains("in the input"), "{plan}");
    assert!(plan.contains("Not read: pdb, csinodes of the cluster: they could not be listed"), "{plan}");
    let gated = start(&["plan", "--snapshot", "prod.json", "--fail-on", "incomplete"], &cluster.folder, "");
    assert_eq!(gated.status.code(), Some(4), "{}", aside(&gated));
}

#[test]
fn without_nodes_or_pods_there_is_no_snapshot() {
    let cluster = Cluster::new("live-needed");
    cluster.write("forbidden", "pods\n");
    let refused = cluster.nodeform(&TAKE);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        aside(&refused).starts_with("error: no permission to list pods; nodeform cannot plan without them"),
        "{}",
        aside(&refused)
    );
    assert!(!cluster.folder.join("prod.json").exists());
    cluster.write("forbidden", "");
    cluster.write("kinds", "widgets.example.com\n");
    let other = cluster.nodeform(&TAKE);
    assert!(aside(&other).contains("names neither nodes nor pods\nhint: "), "{}", aside(&other));
}

#[test]
fn a_cluster_that_does_not_answer_is_an_error_with_what_kubectl_said() {
    let cluster = Cluster::new("live-down");
    cluster.write(
        "complaint",
        "error: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1\n",
    );
    let taken = cluster.nodeform(&TAKE);
    assert!(taken.status.success(), "one API is away: {}", aside(&taken));
    assert!(
        aside(&taken).starts_with("warning: kubectl does not see every kind: error: unable"),
        "{}",
        aside(&taken)
    );
    cluster.write("down", "");
    let refused = cluster.nodeform(&TAKE);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        aside(&refused).contains("error: `kubectl get nodes --all-namespaces --output=json` failed: The connection to the server was refused\nhint: "),
        "{}",
        aside(&refused)
    );
    cluster.write("kinds", "");
    let refused = cluster.nodeform(&TAKE);
    assert!(aside(&refused).contains("` failed: error: unable to retrieve"), "{}", aside(&refused));
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
    command.args(TAKE).current_dir(&cluster.folder).env("PATH", cluster.folder.join("objects"));
    let missing = command.output().expect("the program ends");
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        aside(&missing).starts_with("error: there is no `kubectl` on the PATH\nhint: install it, "),
        "{}",
        aside(&missing)
    );
}

#[test]
fn files_beside_a_live_cluster_are_read_as_well_and_its_flags_need_it() {
    let cluster = Cluster::new("live-beside");
    let fleet: &Path = &root().join("examples/quickstart/nodepool.yaml");
    let taken = cluster.nodeform(&[&TAKE[..], &[fleet.to_str().expect("UTF-8")]].concat());
    assert!(taken.status.success(), "{}", aside(&taken));
    let kinds: Vec<String> = cluster.snapshot()["objects"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|object| object["kind"].as_str().expect("a kind").to_owned())
        .collect();
    assert!(kinds.contains(&"NodePool".to_owned()) && kinds.contains(&"Node".to_owned()), "{kinds:?}");
    for wrong in [&["snapshot", "--context", "x"][..], &["snapshot", "--kubectl", "--at", "now"]] {
        let refused = cluster.nodeform(wrong);
        assert_eq!((refused.status.code(), out(&refused).as_str()), (Some(1), ""), "{wrong:?}");
    }
}

#[test]
fn now_is_the_time_of_the_clock_wherever_a_time_is_taken() {
    let before = jiff::Timestamp::now();
    let example = root().join("examples/existing-fleet").display().to_string();
    let folder = empty_folder("now");
    let plan = start(&["plan", &example, "--at", "now", "-o", "json"], &folder, "");
    assert!(plan.status.success(), "{}", aside(&plan));
    let plan: Value = serde_json::from_str(&out(&plan)).expect("a plan is JSON");
    let at: jiff::Timestamp =
        plan["evidence"]["seenAt"].as_str().expect("the time is there").parse().expect("a time");
    assert!(at.as_second() >= before.as_second() && at <= jiff::Timestamp::now(), "{at}");
    for command in [
        &["snapshot", example.as_str(), "--at", "now"][..],
        &["explain", "pool/general-purpose", &example, "--at", "now"],
    ] {
        let done = start(command, &folder, "");
        assert!(done.status.success(), "{command:?}: {}", aside(&done));
    }
}
