//! Credentials, names and files of a user that are wrong, and clusters in which nothing can be done.

use super::{Told, nothing_is_written, refused, world};
use crate::program::Program;

/// A subscription that is not that of the cluster.
const OTHER: &str = "11111111-0000-4333-8444-555555555555";

/// Variables, and what is said of them.
type Case<'t> = (&'t [(&'t str, &'t str)], &'t [&'t str], &'t str);

#[tokio::test]
async fn whoever_cannot_sign_in_or_names_what_is_not_there_is_told_so() {
    let program = Program::of(super::WORLD, &[]).await;
    let cases: [Case<'_>; 8] = [
        (
            &[("AZURE_CLIENT_ID", ""), ("AZURE_CLIENT_SECRET", ""), ("AZURE_TENANT_ID", "")],
            &["managedClusters/demo: no token: ", "az not found on PATH"],
            "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, use workload identity, or run `az login`",
        ),
        (
            &[("AZURE_TENANT_ID", "")],
            &["signing in with a client secret needs AZURE_TENANT_ID: not set"],
            "sign in with `az login`, or set AZURE_TENANT_ID, ",
        ),
        (
            &[("AZURE_TENANT_ID", "99999999-3333-4444-8555-666666666666")],
            &["managedClusters/demo: no token: ", "AADSTS90002", "99999999-3333"],
            "there is no such tenant: check AZURE_TENANT_ID",
        ),
        (
            &[("AZURE_CLIENT_ID", "99999999-3333-4444-8555-666666666666")],
            &["managedClusters/demo: no token: ", "AADSTS700016"],
            "the tenant has no such application: check AZURE_CLIENT_ID and AZURE_TENANT_ID",
        ),
        (
            &[("AZURE_CLIENT_SECRET", "wrong")],
            &["managedClusters/demo: no token: ", "AADSTS7000215"],
            "the client secret is wrong: ",
        ),
        (
            &[("AZURE_SUBSCRIPTION_ID", OTHER)],
            &[OTHER, "the subscription does not exist in this tenant (HTTP 404 SubscriptionNotFound)"],
            "check AZURE_SUBSCRIPTION_ID and AZURE_TENANT_ID: `az account show`",
        ),
        (
            &[("CLUSTER_NAME", "other")],
            &["managedClusters/other: it does not exist (HTTP 404 ResourceNotFound)"],
            "list the clusters that there are: `az aks list -o table`",
        ),
        (
            &[("ARM_CLOUD", "Mars"), ("AZURE_ENVIRONMENT_FILEPATH", "")],
            &["`Mars` is no cloud (variable ARM_CLOUD): AzurePublicCloud, "],
            "set it to one of these, or unset it for Azure's public cloud",
        ),
    ];
    for (variables, says, hint) in cases {
        refused(&program, variables, Told { exit: 1, says, hint }).await;
    }
}

#[tokio::test]
async fn an_environment_file_that_is_none_is_named_with_what_is_wrong_with_it() {
    let program = Program::of(super::WORLD, &[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let whole = std::fs::read_to_string(program.environment_file()).expect("it is there");
    let hint = "write the file anew, as the SDKs of Azure read it, or unset AZURE_ENVIRONMENT_FILEPATH";
    for (name, text, says) in [
        ("cut.json", &whole[..60], "not an environment in JSON: EOF while parsing"),
        ("html.json", "<html>", "not an environment in JSON: expected value at line 1 column 1"),
        ("empty.json", "", "not an environment in JSON: EOF while parsing a value at line 1 column 0"),
        ("other.json", "{\"name\": \"x\"}", "field `resourceManagerEndpoint` is missing"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        let path = path.display().to_string();
        let told = Told { exit: 1, says: &[&format!("environment file `{path}` ("), says], hint };
        refused(&program, &[("AZURE_ENVIRONMENT_FILEPATH", &path)], told).await;
    }
    for (path, says) in
        [("here.json", "the path must be absolute"), ("/nowhere/e.json", "cannot read the file")]
    {
        let told = Told { exit: 1, says: &[&format!("environment file `{path}` ("), says], hint };
        refused(&program, &[("AZURE_ENVIRONMENT_FILEPATH", path)], told).await;
    }
}

#[tokio::test]
async fn a_token_of_the_cluster_that_has_expired_is_told_with_how_to_sign_in() {
    let program = Program::of(super::WORLD, &[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kubeconfig");
    let kubeconfig = std::fs::read_to_string(program.kubeconfig()).expect("it is there");
    let mut kubeconfig: serde_json::Value = serde_json::from_str(&kubeconfig).expect("JSON");
    kubeconfig["users"][0]["user"]["token"] = "expired".into();
    std::fs::write(&path, kubeconfig.to_string()).expect("it can be written");
    let told = Told {
        exit: 1,
        says: &["`GET /api/v1`: the API server answers 401: "],
        hint: "sign in again: `az aks get-credentials`",
    };
    refused(&program, &[("KUBECONFIG", &path.display().to_string())], told).await;
}

#[tokio::test]
async fn a_cluster_that_is_stopped_or_of_another_network_is_told_with_its_name() {
    for (settings, says, hint) in [
        (
            "  cluster: {powerState: Stopped}\n",
            "cluster `demo` is stopped",
            "start it: `az aks start -g rg-demo -n demo`",
        ),
        (
            "  network: {plugin: kubenet}\n",
            "cluster `demo` has the network plugin `kubenet`, with which nodeform makes no nodes",
            "Azure CNI, with or without overlay, or a plugin of your own (`none`) is needed",
        ),
    ] {
        let program = Program::of(&world(settings), &[]).await;
        refused(&program, &[], Told { exit: 1, says: &[says], hint }).await;
    }
}

#[tokio::test]
async fn a_region_that_no_price_list_knows_is_told_with_what_to_give() {
    // What Azure sells there is the world's own business.
    let atlantis = world("  skus: []\n").replace("westeurope", "atlantis");
    let program = Program::of(&atlantis, &[]).await;
    let told = Told { exit: 1, says: &["region `atlantis`"], hint: "the regions are " };
    refused(&program, &[], told).await;
}

#[tokio::test]
async fn without_an_image_no_node_is_made_and_it_is_said_which_is_missing() {
    let program = Program::of(&world("  images: []\n"), &[]).await;
    for command in [&["plan", "--live"][..], &["apply", "--auto-approve"]] {
        let ran = program.nodeform(command, &[]).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(
            ran.said.contains("warning: versions of image `2404gen2containerd` could not be read: GET /")
                && ran.said.contains("; choose another `imageFamily` in the AKSNodeClass"),
            "{}",
            ran.said
        );
        let words: Vec<&str> = ran.printed.split_whitespace().collect();
        let why = "AKSNodeClass `default`: `spec.imageFamily`: the versions of image `2404gen2containerd` could not be read";
        assert!(words.join(" ").contains(why), "{}", ran.printed);
    }
    nothing_is_written(&program).await;
}

/// An image that AKS withdrew after the class was made ready.
const GONE: &str = "\nstatus:
  images:
  - id: /CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images/2404gen2containerd/versions/202401.01.0
    requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
  conditions:
  - {type: ImagesReady, status: \"True\", observedGeneration: 1, lastTransitionTime: \"2026-01-05T09:00:00Z\", reason: ImagesReady, message: \"\"}
";

#[tokio::test]
async fn what_azure_refuses_of_a_node_ends_it_with_the_code_and_a_next_step() {
    let full = world("  network: {subnetPrefix: 10.224.0.0/29, addressesInUse: 3}\n");
    let gone = super::WORLD.trim_end().to_owned() + GONE;
    for (world, code, object, hint) in [
        (full, "SubnetIsFull", "aks-subnet", "use a larger subnet (`vnetSubnetID` of the AKSNodeClass)"),
        (gone, "GalleryImageNotFound", "202401.01.0", "Azure has withdrawn the image version: plan again"),
    ] {
        let program = Program::of(&world, &["--speed", "600"]).await;
        let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
        assert_eq!(ran.code, Some(5), "{ran:?}");
        // Progress is wrapped.
        let printed = ran.printed.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_said = printed.contains(" failed, trying again: ");
        assert!(is_said && printed.contains(object), "{printed}");
        assert!(ran.printed.contains(&format!(" ({code})\n\nNothing applied.")), "{}", ran.printed);
        assert!(ran.said.contains(&format!("\nhint: {hint}")), "{}", ran.said);
        let state = program.own("GET", "/sim/state", &serde_json::Value::Null).await.1;
        for kind in ["virtualMachines", "networkInterfaces", "disks", "nodeClaims"] {
            assert_eq!(state[kind], serde_json::json!([]), "{kind} of a node that did not come");
        }
    }
}
