//! `nodeform-azure-sim` over HTTPS on loopback, by its own announcement alone.

use crate::program::Program;
use crate::sim::bodies::{self, Vm};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

#[tokio::test]
async fn a_node_comes_takes_a_pod_and_goes() {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program = Program::start(&["--speed", "120", "--record", &record.path().display().to_string()]).await;
    let world = program.twin();
    let expiration = Timestamp::now().checked_add(SignedDuration::from_hours(2)).expect("a near time");
    let secret = bodies::secret(&expiration.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    assert_eq!(program.kube("POST", "/api/v1/namespaces/kube-system/secrets", &secret).await.0, 201);
    assert_eq!(program.kube("POST", "/api/v1/namespaces/default/pods", &bodies::pod("web-1")).await.0, 201);

    let nic = format!(
        "{}?api-version=2024-03-01",
        bodies::id(&world, "Microsoft.Network/networkInterfaces", "aks-apps-1")
    );
    let vm = format!(
        "{}?api-version=2024-07-01",
        bodies::id(&world, "Microsoft.Compute/virtualMachines", "aks-apps-1")
    );
    program.put_and_wait(&nic, &bodies::nic(&world, "aks-apps-1")).await;
    program.put_and_wait(&vm, &Vm::new(&world, "aks-apps-1").body(&world)).await;
    let extension = vm.replace("?", "/extensions/computeAksLinuxBilling?");
    let billing = json!({
        "location": "southcentralus",
        "properties": {"publisher": "Microsoft.AKS", "type": "Compute.AKS.Linux.Billing", "typeHandlerVersion": "1.0", "autoUpgradeMinorVersion": true, "settings": {}},
    });
    program.put_and_wait(&extension, &billing).await;

    let node = program
        .wait_for(|state| state["nodes"][0]["ready"] == "True" && state["nodes"][0]["providerID"].is_string())
        .await;
    assert_eq!(node["nodes"][0]["name"], "aks-apps-1", "{node}");
    let (status, _) = program.patch("/api/v1/nodes/aks-apps-1", &json!({"spec": {"taints": null}})).await;
    assert_eq!(status, 200);
    program
        .wait_for(|state| state["pods"][0]["ready"] == "True" && state["pods"][0]["node"] == "aks-apps-1")
        .await;
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-1", "namespace": "default"}});
    assert_eq!(
        program.kube("POST", "/api/v1/namespaces/default/pods/web-1/eviction", &eviction).await.0,
        201
    );
    program.wait_for(|state| state["pods"] == json!([])).await;

    assert_eq!(program.arm("DELETE", &format!("{vm}&forceDeletion=true"), None).await.0, 202);
    let empty = ["virtualMachines", "networkInterfaces", "disks", "nodes", "operations"];
    program.wait_for(|state| empty.iter().all(|list| state[list] == json!([]))).await;
    assert_eq!(program.arm("DELETE", &vm, None).await.0, 204);

    let recorded = std::fs::read_to_string(record.path()).expect("it was written");
    assert!(recorded.lines().count() > 8, "{recorded}");
    for secret in program.secrets() {
        assert!(!recorded.contains(&secret), "a secret was recorded");
    }
    crate::specifications::judge(record.path());
}

#[test]
fn faults_in_the_folder_of_a_world_are_noted_as_not_in_effect() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = "apiVersion: nodeform.dev/v1alpha1\n";
    let faults = folder.path().join("faults.yaml");
    let azure = format!("{own}kind: SimulatedAzure\nspec: {{location: southcentralus}}\n");
    std::fs::write(folder.path().join("azure.yaml"), azure).expect("it is written");
    std::fs::write(&faults, format!("{own}kind: SimulatedFaults\nspec: {{faults: [{{kind: ZoneFull}}]}}\n"))
        .expect("it is written");
    let said = |arguments: &[&str]| {
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_nodeform-azure-sim"))
            .arg("--world")
            .arg(folder.path())
            .args(arguments)
            .stdin(std::process::Stdio::null())
            .output()
            .expect("it runs until its input ends");
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stderr).expect("text")
    };
    let faults = faults.display().to_string();
    let note =
        format!("note: the faults in `{faults}` are not in effect: pass them with `--faults {faults}`\n");
    assert_eq!((said(&[]), said(&["--faults", &faults])), (note, String::new()));
}

#[tokio::test]
async fn a_lost_answer_cuts_the_connection_and_the_request_was_carried_out() {
    let program = Program::start(&["--speed", "120"]).await;
    let faults = json!({"faults": [{"kind": "AnswerLost", "when": {"method": "PUT"}, "times": 1}]});
    assert_eq!(program.own("POST", "/sim/faults", &faults).await.1, json!({"added": 1}));
    let world = program.twin();
    let nic = format!(
        "{}?api-version=2024-03-01",
        bodies::id(&world, "Microsoft.Network/networkInterfaces", "aks-apps-1")
    );
    let body = bodies::nic(&world, "aks-apps-1");
    assert!(program.try_arm("PUT", &nic, Some(&body)).await.is_err(), "the connection is cut");
    assert_eq!(program.arm("GET", &nic, None).await.0, 200);
}

#[tokio::test]
async fn a_watch_brings_what_happens_and_ends_in_time() {
    let program = Program::start(&["--speed", "120"]).await;
    let watch = program.stream("/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=2");
    let write = async {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        program.kube("POST", "/api/v1/namespaces/default/configmaps", &map).await;
        program.kube("DELETE", "/api/v1/namespaces/default/configmaps/a", &Value::Null).await;
    };
    let (lines, ()) = tokio::join!(watch, write);
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["type"].to_string())
        .collect();
    assert_eq!(kinds, ["\"ADDED\"", "\"DELETED\""]);
}

#[tokio::test]
async fn the_files_go_when_standard_input_ends() {
    let mut program = Program::start(&[]).await;
    let file = program.environment_file();
    let environment: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("it is there")).expect("JSON");
    for name in [
        "name",
        "resourceManagerEndpoint",
        "activeDirectoryEndpoint",
        "tokenAudience",
        "serviceManagementEndpoint",
        "caFile",
    ] {
        assert!(environment[name].is_string(), "{name}");
    }
    assert!(program.end().await.success());
    assert!(!file.exists());
}
