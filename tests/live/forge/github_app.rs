//! A GitHub App: how it gets tokens, judged by GitHub's own description, and that its claim is signed as GitHub checks it.

use std::process::Command;

use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use nodeform::clock::Clock;
use nodeform::forge::{Credential, Forge, ForgeKind, Settings, Written, connect};
use nodeform::gitops::{Access, Place, Token};
use nodeform::model::Secret;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use super::fake::{Fake, Reply, told};
use super::gitea::sticky;
use super::judge::GITHUB;
use super::specification::Specification;

const NOW: &str = "2026-11-29T12:00:00Z";

/// A key as GitHub gives it, made for this test.
fn key() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "", "-f"]).arg(&path);
    assert!(command.status().expect("ssh-keygen starts").success());
    std::fs::read_to_string(path).expect("it is there")
}

fn app(fake: &Fake, key: &str, now: &str) -> Box<dyn Forge> {
    let credential = Credential::App { id: "Iv1.canary".to_owned(), key: Secret::new(key.to_owned()) };
    let clock = Clock::beginning_at(now.parse().expect("a time"));
    let settings = Settings { clock, ..fake.settings(ForgeKind::GitHub, "acme/plans", credential) };
    connect(&settings).expect("the settings are valid")
}

fn installation(known: &Specification) -> Reply {
    let account = known.sample("simple-user", json!({}));
    let fields = json!({"id": 42, "app_id": 1, "app_slug": "plans", "account": account});
    Reply::Json(200, known.sample("installation", fields))
}

fn token(known: &Specification, token: &str, until: &str) -> Reply {
    Reply::Json(201, known.sample("installation-token", json!({"token": token, "expires_at": until})))
}

fn none() -> Reply {
    Reply::Json(200, json!([]))
}

/// The parts of a JSON web token, once its signature is checked.
fn claimed(authorization: &str, key: &str) -> [Value; 2] {
    let claim = authorization.strip_prefix("Bearer ").expect("a bearer");
    let (text, signature) = claim.rsplit_once('.').expect("three parts");
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).expect("base64");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let key = rustls::crypto::ring::sign::any_supported_type(&key).expect("a key");
    let public = key.public_key().expect("a public key");
    // What comes before it says which kind of key it is.
    let public = &public.as_ref()[24..];
    let provider = rustls::crypto::ring::default_provider();
    let scheme = rustls::SignatureScheme::RSA_PKCS1_SHA256;
    let known = provider.signature_verification_algorithms.mapping.iter().find(|(known, _)| *known == scheme);
    let checks = known.expect("it is known").1;
    assert!(checks.iter().any(|check| check.verify_signature(public, text.as_bytes(), &signature).is_ok()));
    let (head, body) = text.split_once('.').expect("two parts");
    [head, body].map(|part| {
        let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).expect("base64");
        serde_json::from_slice(&bytes).expect("JSON")
    })
}

#[tokio::test]
async fn an_app_gets_one_token_for_its_repository_and_writes_in_its_own_name() {
    let Some(known) = Specification::read(GITHUB) else { return };
    let bot = known.sample("simple-user", json!({"id": 7, "login": "plans[bot]"}));
    let body = "<!-- nodeform: plan/demo -->\nReady";
    let ours = known.sample("issue-comment", json!({"id": 2, "user": bot, "body": body}));
    let replies = vec![
        installation(&known),
        token(&known, "canary-installation-token", "2026-11-29T13:00:00Z"),
        none(),
        Reply::Json(201, ours.clone()),
        Reply::Json(200, json!([ours])),
    ];
    let fake = Fake::answering(Some(known), replies);
    let key = key();
    let client = app(&fake, &key, NOW);
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Written));
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Unchanged));
    assert_eq!(client.user().await.expect("it is known").login, "plans[bot]");
    let comments = "/api/v3/repos/acme/plans/issues/3/comments";
    let expected = format!(
        "GET /api/v3/repos/acme/plans/installation\nPOST /api/v3/app/installations/42/access_tokens\n  \
         {{\"permissions\":{{\"contents\":\"read\",\"pull_requests\":\"write\",\"statuses\":\"write\"}},\
         \"repositories\":[\"plans\"]}}\nGET {comments}?per_page=30&page=1\n\
         POST {comments}\n  {{\"body\":\"<!-- nodeform: plan/demo -->\\nReady\"}}\nGET {comments}?per_page=30&page=1\n"
    );
    assert_eq!(fake.transcript(), expected);
    let seen = fake.seen();
    let second = |text: &str| text.parse::<Timestamp>().expect("a time").as_second();
    for asked in &seen[..2] {
        let [head, claims] = claimed(&asked.authorization, &key);
        assert_eq!(head, json!({"alg": "RS256", "typ": "JWT"}));
        assert_eq!(claims["iss"], "Iv1.canary");
        let (from, until) =
            (claims["iat"].as_i64().expect("a time"), claims["exp"].as_i64().expect("a time"));
        assert!(from < second(NOW) && until > second(NOW) && until - from <= 600, "{claims}");
    }
    assert!(seen[2..].iter().all(|asked| asked.authorization == "Bearer canary-installation-token"));
}

#[tokio::test]
async fn a_token_that_ends_soon_is_replaced() {
    let Some(known) = Specification::read(GITHUB) else { return };
    let replies = vec![
        installation(&known),
        token(&known, "canary-first", "2026-11-29T12:04:00Z"),
        none(),
        token(&known, "canary-second", "2026-11-29T13:00:00Z"),
        none(),
    ];
    let fake = Fake::answering(Some(known), replies);
    let client = app(&fake, &key(), NOW);
    let branches = super::gitea::branches("nodeform/a");
    for _ in 0..3 {
        client.find(&branches, nodeform::forge::Sought::Open).await.expect("it is read");
    }
    let lists = fake.seen().into_iter().filter(|asked| asked.path.ends_with("/pulls"));
    let used: Vec<String> = lists.map(|asked| asked.authorization).collect();
    assert_eq!(used, ["Bearer canary-first", "Bearer canary-second", "Bearer canary-second"]);
    fake.transcript();
}

#[tokio::test]
async fn what_goes_wrong_with_an_app_names_it_and_shows_neither_key_nor_token() {
    let Some(known) = Specification::read(GITHUB) else { return };
    let key = key();
    let missing = Fake::answering(None, vec![Reply::raw(404, r#"{"message": "Not Found"}"#)]);
    let refused = told(app(&missing, &key, NOW).pull_request(3).await);
    let start = "error: cannot read where App `Iv1.canary` is installed for `acme/plans`";
    assert!(refused.starts_with(start) && refused.contains("(404)"), "{refused}");

    let denied =
        Reply::raw(422, r#"{"message": "The permissions requested are not granted to this installation."}"#);
    let denied = Fake::answering(None, vec![installation(&known), denied]);
    let refused = told(app(&denied, &key, NOW).pull_request(3).await);
    assert!(refused.contains("cannot get a token of App `Iv1.canary` for `acme/plans`"), "{refused}");
    assert!(refused.contains("(422): The permissions requested are not granted"), "{refused}");

    let echo = r#"{"message": "bad token canary-installation-token"}"#;
    let granted = token(&known, "canary-installation-token", "2026-11-29T13:00:00Z");
    let echo = Fake::answering(None, vec![installation(&known), granted, Reply::raw(500, echo)]);
    let client = app(&echo, &key, NOW);
    let refused = told(client.pull_request(3).await);
    assert!(refused.contains("bad token (sensitive value)"), "{refused}");
    let shown = format!("{client:?}");
    assert!(!shown.contains("canary-installation-token") && !shown.contains("PRIVATE KEY"), "{shown}");

    for (kind, path) in [(ForgeKind::GitLab, "acme/plans"), (ForgeKind::AzureDevOps, "acme/infra/_git/plans")]
    {
        let credential = Credential::App { id: "1".to_owned(), key: Secret::new(key.clone()) };
        let refused = told(connect(&echo.settings(kind, path, credential)));
        assert!(refused.contains("has no Apps: only GitHub has"), "{refused}");
    }
    for key in ["", "canary", "-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----\n"] {
        let credential = Credential::App { id: "1".to_owned(), key: Secret::new(key.to_owned()) };
        let refused = told(connect(&echo.settings(ForgeKind::GitHub, "acme/plans", credential)));
        assert!(
            refused.contains("the key of the App is no RSA key in PEM") && !refused.contains("canary"),
            "{refused}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn git_speaks_by_a_token_of_the_app_that_is_replaced_before_it_ends() {
    let Some(known) = Specification::read(GITHUB) else { return };
    let replies = vec![
        installation(&known),
        token(&known, "canary-first", "2026-11-29T13:00:00Z"),
        installation(&known),
        token(&known, "canary-second", "2026-11-29T14:00:00Z"),
        Reply::raw(404, r#"{"message": "Not Found"}"#),
    ];
    let fake = Fake::answering(Some(known), replies);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("key.pem");
    std::fs::write(&file, key()).expect("it is written");
    let app = Token::App { id: "Iv1.canary".to_owned(), key: file.clone() };
    let access = Access { token: app, user: "nodeform".to_owned(), ..Access::default() };
    let address = fake
        .settings(ForgeKind::GitHub, "acme/plans", Credential::Token(Secret::new("x".to_owned())))
        .address;
    let git = json!({"repository": address.as_str()});
    let git = serde_json::from_value(git).expect("it is valid");
    let place = Place::of(&git, true).expect("it is valid").expect("it is named");
    let clock = Clock::beginning_at(NOW.parse().expect("a time"));
    let used = || access.credentials().map(|known| known.map(|it| (it.user, it.token.reveal().to_owned())));
    let of = |token: &str| Some(("x-access-token".to_owned(), token.to_owned()));
    assert!(
        used().expect_err("none was issued").to_string().contains("GitHub App `Iv1.canary` has no token")
    );
    for _ in 0..2 {
        access.renew((&place, None), clock).await.expect("a token is issued");
        assert_eq!(used().expect("a token"), of("canary-first"));
    }
    tokio::time::advance(std::time::Duration::from_secs(56 * 60)).await;
    access.renew((&place, None), clock).await.expect("a token is issued");
    assert_eq!(used().expect("a token"), of("canary-second"));
    // It is of this repository alone, with the rights that the App has there.
    assert!(fake.transcript().contains("access_tokens\n  {\"repositories\":[\"plans\"]}\n"));
    tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
    let refused = access.renew((&place, None), clock).await.expect_err("GitHub answers 404").to_string();
    assert!(refused.contains("where App `Iv1.canary` is installed for `acme/plans`"), "{refused}");
    std::fs::remove_file(&file).expect("it is removed");
    let refused = access.renew((&place, None), clock).await.expect_err("there is no key").to_string();
    assert!(refused.contains("cannot read the private key of the GitHub App"), "{refused}");
    assert!(!format!("{access:?}").contains("canary-"), "{access:?}");
}
