//! The judge refuses what a forge does not have: without that, a test that it passes would show nothing.

use serde_json::{Value, json};

use super::judge::{self, Asked, GITHUB, azure_devops, gitea, gitlab};
use super::specification::Specification;

fn judged(specification: &Specification, request: &str, body: &Value) -> Result<String, String> {
    let (method, rest) = request.split_once(' ').expect("a method");
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let asked = Asked {
        method: method.to_owned(),
        path: path.to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        authorization: String::new(),
        version: String::new(),
        body: if body.is_null() { String::new() } else { body.to_string() },
    };
    judge::request(specification, &asked).map(|operation| operation.path)
}

#[test]
fn a_request_as_gitea_describes_it_passes() {
    let Some(gitea) = gitea() else { return };
    let path = "/repos/{owner}/{repo}/pulls".to_owned();
    let list = "GET /api/v1/repos/o/r/pulls?state=open&limit=30&page=1";
    assert_eq!(judged(&gitea, list, &Value::Null), Ok(path.clone()));
    let body = json!({"head": "a", "base": "main", "title": "t", "body": "b"});
    assert_eq!(judged(&gitea, "POST /api/v1/repos/o/r/pulls", &body), Ok(path));
}

#[test]
fn a_request_that_gitea_does_not_describe_is_refused() {
    let Some(gitea) = gitea() else { return };
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
        let refused = judged(&gitea, request, body).expect_err(request);
        assert!(refused.contains(because), "{request}: {refused}");
    }
}

#[test]
fn a_request_that_another_forge_does_not_describe_is_refused() {
    let (Some(github), Some(azure)) = (Specification::read(GITHUB), azure_devops()) else { return };
    let gitlab = gitlab();
    let null = Value::Null;
    let repository = "/o/p/_apis/git/repositories/r";
    for (specification, request, body, because) in [
        (&github, "GET /api/v3/repos/o/r/pulls?limit=30".to_owned(), &null, "query `limit` is not described"),
        (&github, "GET /api/v3/repos/o/r/pulls?state=ended".to_owned(), &null, "\"ended\" is not one of"),
        (
            &github,
            "POST /api/v3/repos/o/r/pulls".to_owned(),
            &json!({"base": "a"}),
            "\"head\" is a required property",
        ),
        (&github, "PATCH /api/v3/repos/o/r/pulls/x".to_owned(), &json!({"state": "merged"}), "is not one of"),
        (&github, "PUT /api/v3/repos/o/r/pulls/7".to_owned(), &json!({}), "is not described"),
        (&azure, format!("GET {repository}/pullrequests"), &null, "query `api-version` is missing"),
        (
            &azure,
            format!("GET {repository}/pullrequests?api-version=7.1&top=3"),
            &null,
            "query `top` is not described",
        ),
        (
            &azure,
            format!("POST {repository}/pullrequests?api-version=7.1"),
            &json!({"body": "a"}),
            "'body' was unexpected",
        ),
        (
            &azure,
            format!("PATCH {repository}/pullrequests/7?api-version=7.1"),
            &json!({"status": "closed"}),
            "is not one of",
        ),
        (
            &gitlab,
            "GET /api/v4/projects/o%2Fr/merge_requests?state=open".to_owned(),
            &null,
            "\"open\" is not one of",
        ),
        (&gitlab, "GET /api/v4/projects/o/r/merge_requests".to_owned(), &null, "is not described"),
        (
            &gitlab,
            "PUT /api/v4/projects/o%2Fr/merge_requests/7".to_owned(),
            &json!({"state": "closed"}),
            "'state' was unexpected",
        ),
    ] {
        let refused = judged(specification, &request, body).expect_err(&request);
        assert!(refused.contains(because), "{request}: {refused}");
    }
}

#[test]
fn an_answer_that_a_forge_would_not_give_is_refused() {
    let (Some(github), Some(azure)) = (Specification::read(GITHUB), azure_devops()) else { return };
    let answered = |specification: &Specification, request: &str, status: u16, body: &Value| {
        let (method, path) = request.split_once(' ').expect("a method");
        let operation = specification.operation(method, path).expect("it is described");
        judge::answer(specification, &operation, status, body)
    };
    let one = "GET /api/v3/repos/o/r/pulls/7";
    let whole = github.sample("simple-user", json!({}));
    assert_eq!(answered(&github, "GET /api/v3/repos/o/r/pulls", 200, &json!([])), Ok(()));
    for (status, body, because) in [
        (200, json!([]), "[] is not of type \"object\""),
        (200, json!({"number": 7, "user": whole}), "is a required property"),
        (200, json!({"number": "7"}), "is not of type \"integer\""),
        (200, json!({"iid": 7}), "'iid' was unexpected"),
        (418, json!({}), "answer 418 of GET /repos/{owner}/{repo}/pulls/{pull_number} is not described"),
    ] {
        let refused = answered(&github, one, status, &body).expect_err(because);
        assert!(refused.contains(because), "{refused}");
    }
    let list = "GET /o/p/_apis/git/repositories/r/pullrequests";
    assert_eq!(answered(&azure, list, 200, &json!({"count": 1, "value": [{"pullRequestId": 7}]})), Ok(()));
    let bare = answered(&azure, list, 200, &json!([{"pullRequestId": 7}]));
    assert!(bare.is_err(), "lists are wrapped: {bare:?}");
    let strange =
        answered(&azure, list, 200, &json!({"value": [{"status": "open"}]})).expect_err("it is unknown");
    assert!(strange.contains("/0/status"), "{strange}");
}
