//! Long-running operations: followed by each of their links, to each of their ends.

use std::time::Duration;

use nodeform::arm::Request;
use nodeform::arm::fault::FaultKind;
use nodeform::azure::Failure;
use serde_json::json;

use super::sending::{machine_id, put_machine};
use super::server::{Reply, Seen, Server, token_or};

const PATIENCE: Duration = Duration::from_secs(600);
const OPERATION: &str =
    "/subscriptions/s/providers/Microsoft.Compute/locations/westeurope/operations/1?api-version=2024-07-01";

fn link(seen: &Seen) -> String {
    format!("https://{}{OPERATION}", seen.header("host"))
}

fn machine(state: &str) -> Reply {
    Reply::json(200, json!({"id": machine_id().to_string(), "properties": {"provisioningState": state}}))
}

fn is_operation(seen: &Seen) -> bool {
    seen.path.contains("/operations/")
}

#[tokio::test]
async fn a_create_is_followed_by_its_operation_and_the_resource_is_read_after_it() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match (seen.method.as_str(), is_operation(seen)) {
            ("PUT", _) => Reply::json(201, json!({"properties": {"provisioningState": "Creating"}}))
                .with("azure-asyncoperation", link(seen))
                .with("location", "https://evil.test/")
                .with("retry-after", "10"),
            (_, true) if nth < 3 => {
                Reply::json(200, json!({"status": "InProgress"})).with("retry-after", "10")
            }
            (_, true) => Reply::json(200, json!({"status": "Succeeded"})),
            _ => machine("Succeeded"),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&put_machine()).await.unwrap();
    let resource = azure.finish(&operation, PATIENCE).await.unwrap().unwrap();
    assert_eq!(resource["properties"]["provisioningState"], "Succeeded");
    let seen: Vec<String> = server.seen().iter().map(|seen| seen.method.clone() + " " + &seen.path).collect();
    let polls = seen.iter().filter(|line| line.contains("/operations/")).count();
    assert_eq!((seen.len(), polls), (5, 3), "{seen:#?}");
}

#[tokio::test]
async fn an_operation_that_fails_brings_its_cause() {
    let server = Server::start(|seen, _| {
        token_or(seen, || match seen.method.as_str() {
            "PUT" => Reply::json(201, json!({})).with("azure-asyncoperation", link(seen)),
            _ => Reply::json(
                200,
                json!({"status": "Failed", "error": {"code": "ResourceOperationFailure", "message": "failed",
                    "details": [{"code": "ZonalAllocationFailed", "message": "No room in zone 1."}]}}),
            ),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&put_machine()).await.unwrap();
    let failure = azure.finish(&operation, PATIENCE).await.unwrap_err();
    assert_eq!(failure.fault().unwrap().kind, FaultKind::NoCapacityInZone);
    assert!(
        failure.to_string().ends_with(
            "accepted, then failed: the zone has no capacity for this size (ZonalAllocationFailed): No room in zone 1."
        ),
        "{failure}"
    );
}

#[tokio::test]
async fn an_operation_that_succeeds_over_a_resource_that_failed_has_failed() {
    let server = Server::start(|seen, _| {
        token_or(seen, || match (seen.method.as_str(), is_operation(seen)) {
            ("PUT", _) => Reply::json(201, json!({})).with("azure-asyncoperation", link(seen)),
            (_, true) => Reply::json(200, json!({"status": "Succeeded"})),
            _ => machine("Failed"),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&put_machine()).await.unwrap();
    let failure = azure.finish(&operation, PATIENCE).await.unwrap_err();
    assert!(matches!(failure, Failure::OperationFailed { .. }), "{failure}");
}

#[tokio::test]
async fn a_delete_is_followed_by_its_location_until_the_resource_is_gone() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match (seen.method.as_str(), is_operation(seen), nth) {
            ("DELETE", ..) => Reply::text(202, "").with("location", link(seen)),
            (_, true, 0..=2) => Reply::text(202, ""),
            (_, true, _) => Reply::text(204, ""),
            (_, _, 0..=5) => machine("Deleting"),
            _ => Reply::error(404, "ResourceNotFound", ""),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&Request::delete_machine(&machine_id())).await.unwrap();
    assert_eq!(azure.finish(&operation, PATIENCE).await.unwrap(), None);
    assert_eq!(server.seen()[0].query, "api-version=2024-07-01&forceDeletion=true");
    assert_eq!(server.seen().last().unwrap().query, "api-version=2024-07-01");
}

#[tokio::test]
async fn deleting_what_is_gone_is_done() {
    let server = Server::start(|seen, _| {
        token_or(seen, || match seen.method.as_str() {
            "DELETE" => Reply::text(204, ""),
            _ => Reply::error(404, "ResourceNotFound", ""),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&Request::delete_machine(&machine_id())).await.unwrap();
    assert_eq!(azure.finish(&operation, PATIENCE).await.unwrap(), None);
}

#[tokio::test]
async fn an_operation_that_azure_has_forgotten_is_told_by_the_resource() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match (seen.method.as_str(), is_operation(seen), nth) {
            ("PUT", ..) => Reply::json(201, json!({})).with("azure-asyncoperation", link(seen)),
            (_, true, _) => Reply::error(404, "NotFound", "unknown operation"),
            (_, _, 0..=3) => machine("Creating"),
            _ => machine("Succeeded"),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&put_machine()).await.unwrap();
    assert!(azure.finish(&operation, PATIENCE).await.unwrap().is_some());
}

#[tokio::test]
async fn an_operation_that_does_not_end_is_given_up_in_time_and_may_still_act() {
    let server = Server::start(|seen, _| {
        token_or(seen, || match seen.method.as_str() {
            "PUT" => Reply::json(201, json!({})).with("azure-asyncoperation", link(seen)),
            _ => Reply::json(200, json!({"status": "Untold", "percentComplete": 99})),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&put_machine()).await.unwrap();
    let failure = azure.finish(&operation, Duration::from_secs(60)).await.unwrap_err();
    let waited = failure.to_string();
    let waited = waited.rsplit_once("still in progress after ").expect("it says how long").1;
    let seconds: u64 = waited.trim_end_matches(" s").parse().expect("a number");
    // A machine that is busy comes later, by a clock that is a thousand times as fast.
    assert!((60..600).contains(&seconds), "{failure}");
    assert!(failure.may_have_acted());
}

#[tokio::test]
async fn a_resource_that_somebody_deletes_while_it_is_created_is_waited_for_a_minute_and_no_longer() {
    let server = Server::start(|seen, _| {
        token_or(seen, || match (seen.method.as_str(), is_operation(seen)) {
            ("PUT", _) => Reply::json(201, json!({})).with("azure-asyncoperation", link(seen)),
            (_, true) => Reply::json(200, json!({"status": "Succeeded"})),
            (_, false) => Reply::json(404, json!({"error": {"code": "ResourceNotFound", "message": "x"}})),
        })
    });
    let azure = server.client();
    let operation = azure.begin(&put_machine()).await.unwrap();
    let failure = azure.finish(&operation, Duration::from_secs(1_800)).await.unwrap_err();
    let said = failure.to_string();
    assert!(said.contains("succeeded, but the resource has been missing for "), "{said}");
    assert!(failure.may_have_acted() && failure.fault().is_none(), "the next list shows what is there");
}

#[tokio::test]
async fn an_operation_elsewhere_is_not_followed() {
    let server = Server::start(|seen, _| {
        token_or(seen, || {
            Reply::json(201, json!({})).with("azure-asyncoperation", "https://evil.test/o?sig=canary")
        })
    });
    let failure = server.client().begin(&put_machine()).await.unwrap_err();
    assert!(
        failure
            .to_string()
            .ends_with("the answer links to https://evil.test, which is not this Azure; not followed")
    );
    assert!(failure.may_have_acted());
}
