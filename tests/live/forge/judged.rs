//! The judge refuses what a forge does not have: without that, a test that it passes would show nothing.

use serde_json::{Value, json};

use super::judge::{self, Asked, GITEA};
use super::specification::{Habits, Specification};

fn judged(habits: Habits, request: &str, body: &Value) -> Result<String, String> {
    let Some(specification) = Specification::read(habits) else { return Err("LEFT OUT".to_owned()) };
    let (method, rest) = request.split_once(' ').expect("a method");
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let asked = Asked {
        method: method.to_owned(),
        path: path.to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        authorization: String::new(),
        body: if body.is_null() { String::new() } else { body.to_string() },
    };
    judge::request(&specification, &asked).map(|operation| operation.path)
}

#[test]
fn a_request_as_gitea_describes_it_passes() {
    if Specification::read(GITEA).is_none() {
        return;
    }
    let path = "/repos/{owner}/{repo}/pulls".to_owned();
    let list = "GET /api/v1/repos/o/r/pulls?state=open&limit=30&page=1";
    assert_eq!(judged(GITEA, list, &Value::Null), Ok(path.clone()));
    let body = json!({"head": "a", "base": "main", "title": "t", "body": "b"});
    assert_eq!(judged(GITEA, "POST /api/v1/repos/o/r/pulls", &body), Ok(path));
}

#[test]
fn a_request_that_gitea_does_not_describe_is_refused() {
    if Specification::read(GITEA).is_none() {
        return;
    }
    let null = Value::Null;
    for (request, body, because) in [
        ("GET /api/v1/repos/o/r/pullz", &null, "GET /api/v1/repos/o/r/pullz is not described"),
        ("GET /repos/o/r/pulls", &null, "GET /repos/o/r/pulls is not described"),
        ("DELETE /api/v1/repos/o/r/pulls", &null, "is not described"),
        ("GET /api/v1/repos/o/r/pulls?head=a", &null, "query `head` is not described"),
        ("GET /api/v1/repos/o/r/pulls?state=merged", &null, "\"merged\" is not one of"),
        ("GET /api/v1/repos/o/r/pulls?page=first", &null, "query `page=first` is of another type"),
        ("POST /api/v1/repos/o/r/pulls", &null, "the body is missing"),
        ("POST /api/v1/repos/o/r/pulls", &json!({"source": "a"}), "'source' was unexpected"),
        ("POST /api/v1/repos/o/r/pulls", &json!({"head": 7}), "7 is not of type \"string\""),
        ("POST /api/v1/repos/o/r/pulls", &json!({"head": null}), "null is not of type \"string\""),
        ("POST /api/v1/repos/o/r/issues/7/comments", &json!({}), "\"body\" is a required property"),
        ("POST /api/v1/repos/o/r/statuses/a", &json!({"state": "good"}), "\"good\" is not one of"),
    ] {
        let refused = judged(GITEA, request, body).expect_err(request);
        assert!(refused.contains(because), "{request}: {refused}");
    }
}
