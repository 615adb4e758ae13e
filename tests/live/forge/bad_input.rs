//! What no forge should answer, to every client: each answer becomes an error with a hint, and the token goes nowhere.

use std::time::Duration;

use nodeform::forge::{Credential, ForgeKind, Settings, Sought, User, connect};
use nodeform::model::Secret;
use serde_json::json;

use super::fake::{Fake, Reply, TOKEN, settings, told};
use super::gitea::{branches, sticky, text};

/// Each kind, with the path of a repository.
const FORGES: [(ForgeKind, &str); 4] = [
    (ForgeKind::Gitea, "org/plans"),
    (ForgeKind::GitHub, "org/plans"),
    (ForgeKind::GitLab, "group/sub/plans"),
    (ForgeKind::AzureDevOps, "org/project/_git/plans"),
];

/// What every client says of an answer to `pull_request(7)`.
async fn said(reply: Reply) -> Vec<String> {
    let mut said = Vec::new();
    for (kind, path) in FORGES {
        let fake = Fake::answering(None, vec![reply.clone()]);
        let told = told(fake.client(kind, path).pull_request(7).await);
        let told = told.replace(fake.host(), "HOST");
        assert!(told.contains("pull request 7") && told.contains("`HOST`"), "{kind}: {told}");
        assert!(!told.contains("canary"), "{kind}: {told}");
        let hint = told.split_once("hint: ").expect("a hint").1;
        assert!(hint.len() > 10, "{kind}: {told}");
        said.push(format!("{kind}: {told}"));
    }
    said
}

#[tokio::test]
async fn each_status_becomes_an_error_that_says_what_to_do() {
    let body = r#"{"message": "no\u001b[2J canary-forge-token"}"#;
    for (status, because) in [
        (400, "the request was not accepted (400): no\u{fffd}[2J (sensitive value)"),
        (401, "the token was not accepted (401): no\u{fffd}[2J (sensitive value)"),
        (403, "the token has no permission (403): no\u{fffd}[2J (sensitive value)"),
        (404, "it does not exist, or the token may not see it (404)"),
        (409, "it conflicts with something that exists (409): no\u{fffd}[2J (sensitive value)"),
        (422, "the request was not accepted (422): no\u{fffd}[2J (sensitive value)"),
        (429, "too many requests (429): waiting until 2026-11-29T12:01:00"),
        (500, "it failed (500): no\u{fffd}[2J (sensitive value)"),
        (503, "it failed (503): no\u{fffd}[2J (sensitive value)"),
    ] {
        for told in said(Reply::raw(status, body)).await {
            assert!(told.contains(because), "{status}: {told}");
        }
    }
}

#[tokio::test]
async fn a_wait_is_told_as_a_time_and_nothing_is_sent_again() {
    for (kind, path) in FORGES {
        let fake = Fake::answering(None, vec![Reply::raw(429, "").with("retry-after", "120")]);
        let fault = fake.client(kind, path).pull_request(7).await.expect_err("it is refused");
        let until = fault.wait_until().expect("a time").as_second();
        let expected = "2026-11-29T12:02:00Z".parse::<jiff::Timestamp>().expect("a time").as_second();
        assert!((expected..expected + 60).contains(&until), "{kind}: {fault}");
        assert_eq!(fake.seen().len(), 1, "{kind}");
    }
}

#[tokio::test]
async fn what_is_no_json_of_the_api_is_refused() {
    let html = "<!DOCTYPE html><html><title>Sign in</title></html>";
    for (reply, because) in [
        (Reply::raw(200, html), "the answer (200) is not one of its API: a page of HTML"),
        (Reply::raw(203, html), "the answer (203) is not one of its API: a page of HTML"),
        (Reply::raw(200, ""), "the answer (200) is not one of its API: it is empty"),
        (Reply::raw(200, "{\"number\": "), "EOF while parsing"),
        (Reply::raw(200, "[]"), "is not one of its API"),
        (Reply::raw(200, "7"), "is not one of its API"),
        (Reply::raw(200, "null"), "is not one of its API"),
        (Reply::raw(200, "{}"), "the answer has no valid `"),
        (Reply::raw(200, "\u{feff}{}"), "is not one of its API"),
        (Reply::raw(200, &"[".repeat(100_000)), "is not one of its API"),
    ] {
        for told in said(reply.clone()).await {
            assert!(told.contains(because), "{reply:?}: {told}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_never_followed_and_the_token_stays() {
    let other = Fake::answering(None, vec![Reply::raw(200, "{}")]);
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = format!("http://{}/a?token=canary-in-query", other.host());
        for told in said(Reply::raw(status, "").with("location", &elsewhere)).await {
            assert!(
                told.contains(&format!("it redirects to `http://{}` ({status})", other.host())),
                "{told}"
            );
        }
        for told in said(Reply::raw(status, "").with("location", "/api/v1/user")).await {
            assert!(told.contains(&format!("it redirects to `another path` ({status})")), "{told}");
        }
    }
    assert!(other.seen().is_empty(), "{:?}", other.seen());
}

#[tokio::test]
async fn an_answer_without_end_is_left_at_its_limit() {
    for told in said(Reply::Endless).await {
        assert!(told.contains("the response is larger than 8 MiB"), "{told}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_once_more_where_it_is_a_read() {
    for (kind, path) in FORGES {
        let fake = Fake::answering(None, vec![Reply::Broken]);
        let told = told(fake.client(kind, path).pull_request(7).await);
        assert!(told.contains("the connection ended before the answer did"), "{kind}: {told}");
        assert_eq!(fake.seen().len(), 2, "{kind}");
        let fake = Fake::answering(None, vec![Reply::raw(200, "[]"), Reply::raw(502, "")]);
        let opened = fake.client(kind, path).open(&branches("nodeform/a"), &text("Plan", "")).await;
        assert!(opened.is_err(), "{kind}: {opened:?}");
        let writes = fake.seen().iter().filter(|asked| asked.method == "POST").count();
        assert!(writes <= 1, "{kind}: a write is sent once: {writes}");
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_is_not_waited_for_without_end() {
    for (kind, path) in FORGES {
        let fake = Fake::answering(None, vec![Reply::Never]);
        let credential = Credential::Token(Secret::new(TOKEN.to_owned()));
        let time_limit = Some(Duration::from_millis(50));
        let settings = Settings { time_limit, ..fake.settings(kind, path, credential) };
        let told = told(connect(&settings).expect("it is valid").pull_request(7).await);
        assert!(told.contains("it did not finish answering within"), "{kind}: {told}");
    }
}

#[tokio::test]
async fn an_unknown_certificate_is_refused_before_the_token_is_sent() {
    let server = crate::azure::server::Server::start(|_, _| crate::azure::server::Reply::text(200, "{}"));
    for (kind, path) in FORGES {
        let credential = Credential::Token(Secret::new(TOKEN.to_owned()));
        let address = format!("{}{path}", server.url());
        let told = told(connect(&settings(&address, kind, credential)).expect("valid").pull_request(7).await);
        assert!(told.contains("its certificate is not trusted"), "{kind}: {told}");
        assert!(told.contains("SSL_CERT_FILE"), "{kind}: {told}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn nobody_who_listens_is_told_by_host_and_port() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = free.local_addr().expect("an address");
    drop(free);
    for (kind, path) in FORGES {
        let credential = Credential::Token(Secret::new(TOKEN.to_owned()));
        let client = connect(&settings(&format!("http://{host}/{path}"), kind, credential)).expect("valid");
        let told = told(client.pull_request(7).await);
        assert!(told.contains(&format!("at `{host}`: there is no connection")), "{kind}: {told}");
    }
}

#[tokio::test]
async fn a_list_that_never_ends_is_left_at_its_bound() {
    for (kind, path) in FORGES {
        let page: Vec<_> = (0..30).map(|_| json!({})).collect();
        let page =
            if kind == ForgeKind::AzureDevOps { json!({"count": 30, "value": page}) } else { json!(page) };
        let link = "<http://127.0.0.1/?page=2>; rel=\"next\"";
        let fake = Fake::answering(None, vec![Reply::Json(200, page).with("link", link)]);
        let client = fake.client(kind, path);
        let told = told(client.list("nodeform/", jiff::Timestamp::UNIX_EPOCH).await);
        assert!(told.contains("there are more than 900, and no more are read"), "{kind}: {told}");
        assert_eq!(fake.seen().len(), 30, "{kind}");
    }
}

#[tokio::test]
async fn no_operation_panics_or_writes_at_strange_answers() {
    let user = User { id: "7".to_owned(), login: "amy".to_owned() };
    for body in
        ["{}", "[]", "[null]", "[{}]", r#"{"value": [{}]}"#, r#"{"value": null}"#, "null", "7", "\"\""]
    {
        for (kind, path) in FORGES {
            let fake = Fake::answering(None, vec![Reply::raw(200, body)]);
            let client = fake.client(kind, path);
            let _ = client.user().await;
            let _ = client.find(&branches("nodeform/a"), Sought::Open).await;
            let _ = client.find(&branches("nodeform/a"), Sought::Ended).await;
            let _ = client.list("nodeform/", jiff::Timestamp::UNIX_EPOCH).await;
            let _ = client.permission(&user).await;
            assert!(client.reviews(7).await.is_err(), "{kind} {body}");
            assert!(client.update(7, &text("Plan", "")).await.is_err(), "{kind} {body}");
            assert!(client.close(7, &sticky("no longer needed")).await.is_err(), "{kind} {body}");
            assert!(client.comment(7, &sticky("Ready")).await.is_err(), "{kind} {body}");
            let writes = fake.seen().into_iter().filter(|asked| asked.method != "GET").count();
            assert_eq!(writes, 0, "{kind} {body}: {}", fake.transcript());
        }
    }
}

#[tokio::test]
async fn a_token_that_no_header_takes_is_refused_and_not_shown() {
    for token in ["", " ", "canary\ntoken", "canary\u{0}"] {
        for (kind, path) in FORGES {
            let address = format!("https://forge.example/{path}");
            let credential = Credential::Bearer(Secret::new(token.to_owned()));
            let told = told(connect(&settings(&address, kind, credential)));
            assert!(told.contains("the token is empty, or has letters"), "{kind}: {told}");
            assert!(!told.contains("canary"), "{kind}: {told}");
        }
    }
    let settings = settings(
        "https://forge.example/org/plans",
        ForgeKind::Gitea,
        Credential::Token(Secret::new(TOKEN.to_owned())),
    );
    let client = connect(&settings).expect("it is valid");
    assert!(!format!("{settings:?} {client:?}").contains("canary"), "{client:?}");
}

#[tokio::test]
async fn an_address_of_another_form_is_refused() {
    for (kind, path) in [
        (ForgeKind::Gitea, "plans"),
        (ForgeKind::Gitea, "a/b/c"),
        (ForgeKind::Gitea, "a/.git"),
        (ForgeKind::Gitea, "a/%2e%2e%2fb"),
        (ForgeKind::GitHub, "a/b/pulls"),
        (ForgeKind::GitLab, "plans"),
        (ForgeKind::AzureDevOps, "org/project/plans"),
    ] {
        let credential = Credential::Token(Secret::new(TOKEN.to_owned()));
        let told = told(connect(&settings(&format!("https://forge.example/{path}"), kind, credential)));
        assert!(told.contains("as a repository of") && told.contains("forge.example"), "{kind}: {told}");
    }
}
