//! Budgets: what Azure closes stays closed for everybody.

use std::time::Duration;

use serde_json::json;

use super::sending::{put_machine, read_machine};
use super::server::{Reply, Server, client, token_or};

#[tokio::test]
async fn nothing_is_sent_again_before_its_retry_after() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match nth {
            0 => Reply::error(429, "TooManyRequests", "slow down").with("retry-after", "30"),
            _ => Reply::json(200, json!({})),
        })
    });
    // 30 s of Azure are 300 ms here.
    let azure = client(&server.environment(100)).unwrap();
    azure.get(&read_machine()).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen[1].at - seen[0].at >= Duration::from_millis(300), "{:?}", seen[1].at - seen[0].at);
}

#[tokio::test]
async fn a_write_that_is_throttled_is_sent_again_and_at_most_eight_times() {
    let server = Server::start(|seen, _| {
        token_or(seen, || Reply::error(429, "OperationNotAllowed", "too many").with("retry-after", "1"))
    });
    let failure = server.client().begin(&put_machine()).await.unwrap_err();
    assert_eq!(server.seen().len(), 9);
    assert!(failure.to_string().contains("too many requests (HTTP 429 OperationNotAllowed)"), "{failure}");
}

#[tokio::test]
async fn one_vm_is_not_read_more_often_than_azure_allows() {
    let server = Server::start(|seen, _| token_or(seen, || Reply::json(200, json!({}))));
    // 36 at once, then one each 5 s: 50 ms here.
    let azure = client(&server.environment(100)).unwrap();
    for _ in 0..40 {
        azure.get(&read_machine()).await.unwrap();
    }
    let seen = server.seen();
    let taken = seen[39].at - seen[0].at;
    assert!(taken >= Duration::from_millis(150), "{taken:?}");
}
