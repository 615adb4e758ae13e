//! Answers that Resource Manager would not give, and servers that are none.

use nodeform::arm::{Body, Request};
use nodeform::model::Secret;
use serde_json::json;

use super::sending::{machine_id, read_machine};
use super::server::{CLIENT_SECRET, Reply, Server, TOKEN, client, token_or};

async fn failure(reply: Reply) -> (String, String) {
    let server = Server::start(move |seen, _| token_or(seen, || reply.clone()));
    let failure = server.client().get(&read_machine()).await.unwrap_err();
    let text = failure.to_string();
    let what = text.split_once("aks-a: ").map_or(text.clone(), |(_, what)| what.to_owned());
    (what, failure.hint().unwrap_or_default())
}

#[tokio::test]
async fn what_is_no_resource_manager_is_told_as_such() {
    let (what, hint) = failure(Reply::text(200, "  <!DOCTYPE html><html>canary</html>")).await;
    assert_eq!(
        what,
        "the answer is HTML, not JSON: this is not Azure Resource Manager, or a proxy answered (HTTP 200)"
    );
    assert!(hint.contains("AZURE_ENVIRONMENT_FILEPATH"), "{hint}");
    let (what, _) = failure(Reply::text(200, "")).await;
    assert_eq!(what, "the answer has no body (HTTP 200)");
    let (what, _) = failure(Reply::text(404, "404 page not found canary")).await;
    assert_eq!(what, "the answer is no JSON (line 1, column 5) (HTTP 404)");
    let (what, _) = failure(Reply::text(200, r#"{"id": "/x", "properties": {"#)).await;
    assert_eq!(what, "the answer ends in the middle of its JSON, after 28 bytes (HTTP 200)");
}

#[tokio::test]
async fn a_redirect_is_told_and_the_token_stays_here() {
    let other = Server::start(|_, _| Reply::json(200, json!({})));
    let target = format!("{}steal?x=canary", other.url());
    let (what, _) = failure(Reply::text(307, "").with("location", target)).await;
    assert!(what.starts_with("the answer redirects to https://127.0.0.1:"), "{what}");
    assert!(what.ends_with("; not followed, since the token would go along (HTTP 307)"), "{what}");
    assert!(other.seen().is_empty() && other.token_requests().is_empty());
}

#[tokio::test]
async fn a_certificate_of_somebody_else_ends_it_before_a_token_is_asked_for() {
    let server = Server::start(|seen, _| token_or(seen, || Reply::json(200, json!({}))));
    let other = Server::start(|_, _| Reply::Drop);
    std::fs::copy(&other.ca, &server.ca).unwrap();
    let failure = server.client().get(&read_machine()).await.unwrap_err();
    assert!(failure.to_string().contains("TLS failed"), "{failure}");
    assert!(failure.hint().unwrap().starts_with("the certificate is not trusted"));
    assert!(server.seen().is_empty() && server.token_requests().is_empty());
}

#[tokio::test]
async fn nobody_at_the_address_is_told_with_the_host() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let server = Server::start(|seen, _| token_or(seen, || Reply::json(200, json!({}))));
    let file = super::server::scratch("environment.json");
    let content = json!({"resourceManagerEndpoint": format!("https://{address}/"), "activeDirectoryEndpoint": server.url(),
        "caFile": server.ca, "clockSpeed": 1000});
    std::fs::write(&file, content.to_string()).unwrap();
    let mut environment = server.environment(1000);
    environment[0].1 = file.display().to_string();
    let failure = client(&environment).unwrap().get(&read_machine()).await.unwrap_err();
    assert!(failure.to_string().contains("cannot connect to `127.0.0.1`: "), "{failure}");
    assert!(!failure.may_have_acted());
}

#[tokio::test]
async fn a_server_that_repeats_what_was_sent_in_confidence_is_not_quoted() {
    let server = Server::start(|seen, _| {
        token_or(seen, || {
            let token = seen.header("authorization").to_owned();
            Reply::error(400, "InvalidParameter", &format!("bad header {token}, bad body {}", seen.body))
        })
    });
    let body = Body::new(json!({"properties": {"osProfile": {}}}))
        .with_secret("/properties/osProfile/customData", Secret::new("Y2FuYXJ5LWN1c3RvbS1kYXRh".to_owned()));
    let request = Request::create_machine(&machine_id(), body);
    let failure = server.client().begin(&request).await.unwrap_err();
    assert!(server.seen()[0].body.contains("Y2FuYXJ5LWN1c3RvbS1kYXRh"));
    for text in
        [failure.to_string(), format!("{failure:?}"), format!("{request:?}"), format!("{:?}", failure.hint())]
    {
        for canary in [TOKEN, CLIENT_SECRET, "Y2FuYXJ5LWN1c3RvbS1kYXRh", "canary-custom-data"] {
            assert!(!text.contains(canary), "{canary}: {text}");
        }
    }
    assert!(failure.to_string().contains("bad header Bearer (sensitive value), bad body {"), "{failure}");
}

#[tokio::test]
async fn no_debug_of_a_client_or_its_settings_shows_a_secret() {
    let server = Server::start(|seen, _| token_or(seen, || Reply::json(200, json!({}))));
    let azure = server.client();
    azure.get(&read_machine()).await.unwrap();
    let text = format!("{azure:?} {azure:#?}");
    assert!(!text.contains("canary"), "{text}");
}
