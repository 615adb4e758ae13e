//! Lists to their end, or not at all.

use nodeform::arm::Request;
use serde_json::json;

use super::sending::group;
use super::server::{Reply, Server, token_or};

/// How a list ends.
type End = fn(&super::server::Seen) -> Reply;

fn page(items: &[u32], next: Option<String>) -> Reply {
    let mut page = json!({"value": items});
    if let Some(next) = next {
        page["nextLink"] = json!(next);
    }
    Reply::json(200, page)
}

/// The address of the server as its client sees it.
fn link(seen: &super::server::Seen, rest: &str) -> String {
    format!("https://{}{rest}", seen.header("host"))
}

#[tokio::test]
async fn all_pages_are_read_an_empty_one_too() {
    let server = Server::start(|seen, nth| {
        token_or(seen, || match nth {
            0 => page(&[1, 2], Some(link(seen, "/next?$skiptoken=a%2Bb&api-version=2024-07-01"))),
            1 => page(&[], Some(link(seen, "/next?$skiptoken=2"))),
            2 => page(&[3], Some(String::new())),
            _ => Reply::Drop,
        })
    });
    let items = server.client().list(&Request::list_machines(&group())).await.unwrap();
    assert_eq!(items, [json!(1), json!(2), json!(3)]);
    assert_eq!(server.seen()[1].query, "$skiptoken=a%2Bb&api-version=2024-07-01");
}

#[tokio::test]
async fn a_list_that_stops_on_the_way_says_how_far_it_came() {
    let ends: [(&str, End); 6] = [
        ("the answer links to https://127.0.0.1:1,", |_| {
            page(&[9], Some("https://127.0.0.1:1/steal".to_owned()))
        }),
        ("the list goes on in a circle", |seen| page(&[9], Some(link(seen, "/second")))),
        ("the answer is no page of a list: missing field `value`", |_| Reply::json(200, json!({}))),
        ("the answer is no page of a list: invalid type", |_| Reply::json(200, json!({"value": "canary"}))),
        ("it does not exist (HTTP 404 SkipTokenExpired)", |_| Reply::error(404, "SkipTokenExpired", "")),
        ("the answer is no JSON (line 1, column 1)", |_| Reply::text(200, "gzip\u{0}garbage")),
    ];
    for (expected, end) in ends {
        let server = Server::start(move |seen, nth| {
            token_or(seen, || if nth == 0 { page(&[1, 2], Some(link(seen, "/second"))) } else { end(seen) })
        });
        let failure = server.client().list(&Request::list_machines(&group())).await.unwrap_err().to_string();
        assert!(failure.contains("the list stopped after "), "{failure}");
        assert!(failure.contains(expected), "{expected}: {failure}");
        assert!(!failure.contains("canary"), "{failure}");
    }
}

#[tokio::test]
async fn a_list_that_never_ends_is_given_up() {
    let server =
        Server::start(|seen, nth| token_or(seen, || page(&[1], Some(link(seen, &format!("/{nth}"))))));
    let failure = server.client().list(&Request::list_machines(&group())).await.unwrap_err().to_string();
    assert!(failure.contains("stopped after 1000 pages with 1000 items"), "{failure}");
}
