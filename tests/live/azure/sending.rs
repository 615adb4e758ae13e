//! One request, its headers, its token, and when it is sent again.

use nodeform::arm::{Api, Request, ResourceId};
use serde_json::json;

use super::server::{Reply, Server, TOKEN, token_or};

pub(super) fn machine_id() -> ResourceId {
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg/providers/Microsoft.Compute/virtualMachines/aks-a"
        .parse()
        .unwrap()
}

pub(super) fn group() -> ResourceId {
    ResourceId::of_group("00000000-0000-0000-0000-000000000001", "MC_rg").unwrap()
}

pub(super) fn read_machine() -> Request {
    Request::read(&machine_id(), Api::Compute)
}

pub(super) fn put_machine() -> Request {
    let body = nodeform::arm::Body::new(json!({"location": "westeurope"}));
    Request::create_machine(&machine_id(), body)
}

#[tokio::test]
async fn a_request_carries_token_version_and_name_and_the_token_is_asked_for_once() {
    let server = Server::start(|seen, _| token_or(seen, || Reply::json(200, json!({"id": "/x"}))));
    let azure = server.client();
    azure.get(&read_machine()).await.unwrap();
    azure.get(&read_machine()).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].query, "api-version=2024-07-01");
    assert_eq!(seen[0].header("authorization"), format!("Bearer {TOKEN}"));
    assert_eq!(seen[0].header("user-agent"), "nodeform/0.1.0");
    let tokens = server.token_requests();
    assert_eq!(tokens.len(), 1);
    assert!(
        tokens[0].body.contains("scope=https%3A%2F%2Fmanagement.azure.com%2F.default"),
        "{}",
        tokens[0].body
    );
}

#[tokio::test]
async fn a_missing_resource_is_none_and_a_missing_group_is_a_failure() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match nth {
            0 => Reply::error(404, "ResourceNotFound", "gone"),
            _ => Reply::error(404, "ResourceGroupNotFound", "Resource group 'MC_rg' could not be found."),
        })
    });
    let azure = server.client();
    assert_eq!(azure.get_optional(&read_machine()).await.unwrap(), None);
    let failure = azure.get_optional(&read_machine()).await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "GET /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg/providers/Microsoft.Compute/virtualMachines/aks-a: the resource group does not exist (HTTP 404 ResourceGroupNotFound): Resource group 'MC_rg' could not be found."
    );
    assert_eq!(failure.hint().unwrap(), "check the resource group: `az group list -o table`");
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_renewed_once() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match nth {
            0 | 2 | 3 => Reply::error(401, "ExpiredAuthenticationToken", "expired"),
            _ => Reply::json(200, json!({})),
        })
    });
    let azure = server.client();
    azure.get(&read_machine()).await.unwrap();
    assert_eq!((server.seen().len(), server.token_requests().len()), (2, 2));
    let failure = azure.get(&read_machine()).await.unwrap_err();
    assert!(
        failure.to_string().contains("the token was not accepted (HTTP 401 ExpiredAuthenticationToken)"),
        "{failure}"
    );
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn reads_are_sent_again_after_a_lost_answer_or_a_server_error_and_no_more_than_eight_times() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match nth {
            0 => Reply::Drop,
            1 => Reply::Break("{\"id\":".to_owned()),
            2 => Reply::error(503, "ServiceUnavailable", "later"),
            3 => Reply::text(502, "<html>Bad gateway</html>"),
            4 => Reply::json(200, json!({"id": "/x"})),
            _ => Reply::error(500, "InternalServerError", "again"),
        })
    });
    let azure = server.client();
    azure.get(&read_machine()).await.unwrap();
    assert_eq!(server.seen().len(), 5);
    let failure = azure.get(&read_machine()).await.unwrap_err();
    assert_eq!(server.seen().len(), 5 + 9);
    assert!(failure.to_string().contains("Azure has an internal error (HTTP 500"), "{failure}");
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_not_sent_again() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || if nth == 0 { Reply::Drop } else { Reply::error(500, "InternalServerError", "x") })
    });
    let azure = server.client();
    for sent in 1..=2 {
        let failure = azure.begin(&put_machine()).await.unwrap_err();
        assert!(failure.may_have_acted(), "{failure}");
        assert_eq!(server.seen().len(), sent);
    }
    assert_eq!(server.seen()[0].header("if-none-match"), "*");
}

#[tokio::test]
async fn a_name_that_exists_already_is_told_and_not_written_over() {
    let server =
        Server::start(|seen, _| token_or(seen, || Reply::error(412, "PreconditionFailed", "exists")));
    let failure = server.client().begin(&put_machine()).await.unwrap_err();
    assert!(
        failure.to_string().contains("it exists already (HTTP 412 PreconditionFailed): exists"),
        "{failure}"
    );
    assert!(!failure.may_have_acted());
    assert_eq!(server.seen().len(), 1);
}
