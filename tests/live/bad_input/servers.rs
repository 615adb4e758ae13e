//! Addresses at which something else answers than Azure, or than an API server.

use serde_json::json;

use super::{Told, refused};
use crate::azure::server::{Reply, Server, token_or};
use crate::program::Program;

const WHERE: &str = "check ARM_CLOUD or the file of AZURE_ENVIRONMENT_FILEPATH";

#[tokio::test]
async fn what_answers_in_place_of_azure_is_told_for_what_it_is() {
    let program = Program::of(super::WORLD, &[]).await;
    let of_operations = json!({"message": "no route matches", "status": 404});
    let cases = [
        (
            Reply::json(404, of_operations),
            "managedClusters/demo: the answer is no error of Azure's, which has a code",
            WHERE,
        ),
        (
            Reply::text(200, "<!DOCTYPE html><html>Sign in</html>"),
            "managedClusters/demo: the answer is HTML, not JSON: this is not Azure Resource Manager",
            WHERE,
        ),
        (
            Reply::text(200, "{\"id\": \"/subscriptions/x\", \"properties\": {"),
            "managedClusters/demo: the answer ends in the middle of its JSON, after ",
            WHERE,
        ),
        (
            Reply::json(200, json!({"hello": "world"})),
            "managedClusters/demo`: what came is no managed cluster: ",
            WHERE,
        ),
        (
            Reply::error(401, "ExpiredAuthenticationToken", "The access token has expired."),
            "managedClusters/demo: the token was not accepted (HTTP 401 ExpiredAuthenticationToken): The access token",
            "log in again (`az login`), or check AZURE_CLIENT_ID, AZURE_TENANT_ID and the secret's end",
        ),
        (
            Reply::error(
                403,
                "AuthorizationFailed",
                "The client does not have authorization to perform action 'Microsoft.ContainerService/managedClusters/read'.",
            ),
            "managedClusters/demo: not allowed (HTTP 403 AuthorizationFailed): The client",
            "the message names the action; ",
        ),
    ];
    for (reply, says, hint) in cases {
        let server = Server::start(move |seen, _| token_or(seen, || reply.clone()));
        let file = server.environment_file(1000);
        let variables = [("AZURE_ENVIRONMENT_FILEPATH", file.as_str())];
        refused(&program, &variables, Told { exit: 1, says: &[says], hint }).await;
        let written = server.seen().into_iter().filter(|seen| seen.method != "GET").count();
        assert_eq!(written, 0, "{says}");
    }
}

#[tokio::test]
async fn nobody_at_an_address_is_told_within_a_minute() {
    let program = Program::of(super::WORLD, &[]).await;
    let server = Server::start(|seen, _| token_or(seen, || Reply::json(200, json!({}))));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = format!("https://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("environment.json");
    // By a clock as people have it.
    let content = json!({
        "resourceManagerEndpoint": nobody, "activeDirectoryEndpoint": server.url(), "caFile": server.ca,
    });
    std::fs::write(&file, content.to_string()).expect("it can be written");
    let told = Told {
        exit: 1,
        says: &["managedClusters/demo: cannot connect to `127.0.0.1`: "],
        hint: "check the network, HTTPS_PROXY, and ARM_CLOUD or AZURE_ENVIRONMENT_FILEPATH",
    };
    let ran = told
        .by(&program, &["plan", "--live"], &[("AZURE_ENVIRONMENT_FILEPATH", &file.display().to_string())])
        .await;
    assert_eq!(ran.printed, "");
}

#[tokio::test]
async fn what_answers_in_place_of_an_api_server_is_told_for_what_it_is() {
    let program = Program::of(super::WORLD, &[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let look = "look where the kubeconfig leads: `kubectl config view --minify`";
    for (reply, says, hint) in [
        (Reply::text(200, "<html>Welcome</html>"), "`GET /api/v1`: the server at https://127.0.0.1:", look),
        (Reply::text(200, "{\"resources\": ["), "`GET /api/v1`: the server at https://127.0.0.1:", look),
        (
            Reply::text(404, "<html>Not found</html>"),
            "`GET /api/v1`: the API server answers 404: ",
            "check that the API is installed: `kubectl api-resources`",
        ),
        (
            Reply::text(502, "<html>Bad gateway</html>"),
            "`GET /api/v1`: the API server answers 502: ",
            "look at the API server: `kubectl get --raw /readyz?verbose`",
        ),
    ] {
        let server = Server::start(move |_, _| reply.clone());
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "clusters": [{"name": "x", "cluster": {"server": server.url(), "certificate-authority": server.ca}}],
            "users": [{"name": "x", "user": {"token": "some"}}],
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        });
        let file = folder.path().join("kubeconfig");
        std::fs::write(&file, kubeconfig.to_string()).expect("it can be written");
        let variables = [("KUBECONFIG", file.to_str().expect("UTF-8"))];
        refused(&program, &variables, Told { exit: 1, says: &[says], hint }).await;
    }
}
