//! Each way of signing in, and what is said when it fails.

use std::sync::Arc;

use async_trait::async_trait;
use azure_core::http::headers::Headers;
use azure_core::http::{AsyncRawResponse, HttpClient, Request as CoreRequest, StatusCode};
use nodeform::azure::{Cloud, SignIn};
use serde_json::json;

use super::sending::read_machine;
use super::server::{Reply, Seen, Server, TENANT, client, scratch, token_or};

async fn refused(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (String, String) {
    let server = Server::start(move |seen, _| reply(seen));
    let failure = server.client().get(&read_machine()).await.unwrap_err();
    assert!(server.seen().is_empty());
    assert!(!failure.may_have_acted());
    let text = format!("{failure} {failure:?}");
    assert!(!text.contains("canary"), "{text}");
    (failure.to_string(), failure.hint().unwrap_or_default())
}

#[tokio::test]
async fn entras_refusals_are_told_with_what_to_do() {
    let (text, hint) = refused(|seen| {
        let text = format!("AADSTS7000215: Invalid client secret provided. {}\r\nTrace ID: x", seen.body);
        Reply::json(
            401,
            json!({"error": "invalid_client", "error_description": text, "error_codes": [7000215]}),
        )
    })
    .await;
    assert!(
        text.contains("no token: Entra ID refused: AADSTS7000215: Invalid client secret provided."),
        "{text}"
    );
    assert!(text.contains("client_secret=(sensitive value)") && !text.contains("Trace ID"), "{text}");
    assert_eq!(hint, "the client secret is wrong: set AZURE_CLIENT_SECRET to the secret's value, not its id");
}

#[tokio::test]
async fn an_authority_that_is_none_is_told_as_such() {
    let (text, hint) = refused(|_| Reply::text(200, "<html>Sign in</html>")).await;
    assert!(
        text.ends_with(
            "no token: `127.0.0.1` answers a request for a token with HTML (HTTP 200): it is no identity service of Azure"
        ),
        "{text}"
    );
    assert!(hint.starts_with("check AZURE_AUTHORITY_HOST"), "{hint}");
}

#[tokio::test]
async fn a_pods_token_is_read_from_its_file_and_exchanged() {
    let server = Server::start(|seen, _| token_or(seen, || Reply::json(200, json!({}))));
    let file = scratch("token");
    std::fs::write(&file, "canary-pod-token").unwrap();
    let mut environment = server.environment(1000);
    environment.push(("AZURE_FEDERATED_TOKEN_FILE".to_owned(), file.display().to_string()));
    environment.push(("AZURE_AUTHORITY_HOST".to_owned(), server.url()));
    client(&environment).unwrap().get(&read_machine()).await.unwrap();
    let asked = &server.token_requests()[0];
    assert_eq!(asked.path, format!("/{TENANT}/oauth2/v2.0/token"));
    assert!(asked.body.contains("client_assertion=canary-pod-token"), "{}", asked.body);
}

/// The metadata service has one address in the world: it is answered in place of the transport.
#[derive(Debug)]
struct MetadataService(std::sync::Mutex<Vec<String>>);

#[async_trait]
impl HttpClient for MetadataService {
    async fn execute_request(&self, request: &CoreRequest) -> azure_core::Result<AsyncRawResponse> {
        self.0.lock().unwrap().push(request.url().to_string());
        let body =
            json!({"access_token": "t", "expires_on": "4102444800", "token_type": "Bearer", "resource": "r"});
        Ok(AsyncRawResponse::from_bytes(StatusCode::Ok, Headers::new(), body.to_string()))
    }
}

#[tokio::test]
async fn a_managed_identity_asks_the_metadata_service_for_its_client_id() {
    let service = Arc::new(MetadataService(std::sync::Mutex::default()));
    let sign_in = SignIn::ManagedIdentity { client: Some("c-1".to_owned()) };
    let cloud = Cloud::public();
    let credential = sign_in.credential(&cloud, service.clone()).unwrap();
    credential.get_token(&[&cloud.scope()], None).await.unwrap();
    assert_eq!(
        *service.0.lock().unwrap(),
        [
            "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2019-08-01&resource=https%3A%2F%2Fmanagement.azure.com&client_id=c-1"
        ]
    );
}

#[test]
fn a_tenant_that_is_none_is_refused_before_anything_is_sent() {
    let service = Arc::new(MetadataService(std::sync::Mutex::default()));
    let secret = nodeform::model::Secret::new("canary".to_owned());
    let sign_in = SignIn::ClientSecret { tenant: "a/../b".to_owned(), client: "c".to_owned(), secret };
    let fault = sign_in.credential(&Cloud::public(), service).unwrap_err();
    assert!(fault.to_string().starts_with("signing in with a client secret: "), "{fault}");
    assert!(!fault.to_string().contains("canary"));
}

#[tokio::test]
async fn azure_devops_is_spoken_to_by_the_same_identity_and_its_refusal_says_nothing_of_azure() {
    use nodeform::api::node_fleet::Forge as ForgeWord;
    use nodeform::clock::Clock;
    use nodeform::gitops::{Access, Place};
    let is_devops = |seen: &Seen| seen.body.contains("499b84ac-1321-427f-aa17-267ca6975798");
    let refuses = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let asked = Arc::clone(&refuses);
    let server = Server::start(move |seen, _| {
        match is_devops(seen) && asked.load(std::sync::atomic::Ordering::SeqCst) {
            true => Reply::json(
                400,
                json!({"error": "invalid_scope", "error_description": "AADSTS70011: no scope"}),
            ),
            false => token_or(seen, || Reply::json(200, json!({}))),
        }
    });
    let git = json!({"repository": "https://dev.azure.com/acme/infra/_git/plans"});
    let git = serde_json::from_value(git).unwrap();
    let place = Place::of(&git, false).unwrap().unwrap();
    let clock = Clock::of_this_machine();
    let access =
        || Access { identity: Some(server.client()), user: "nodeform".to_owned(), ..Access::default() };
    let devops = access();
    devops.renew((&place, Some(ForgeWord::Azuredevops)), clock).await.unwrap();
    assert!(!devops.credentials().unwrap().unwrap().token.is_empty());
    assert_eq!(server.token_requests().iter().filter(|seen| is_devops(seen)).count(), 1);
    // Elsewhere Azure's tokens are of no use, and are not sent.
    let other = access();
    other.renew((&place, Some(ForgeWord::Gitea)), clock).await.unwrap();
    assert_eq!(other.credentials().unwrap(), None);
    refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    let refused = access();
    let fault = refused.renew((&place, Some(ForgeWord::Azuredevops)), clock).await.unwrap_err();
    assert!(fault.to_string().contains("Entra ID issues no token for Azure DevOps"), "{fault}");
    refused.identity.as_ref().unwrap().get(&read_machine()).await.unwrap();
}
