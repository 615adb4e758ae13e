//! What is logged at the finest level, by every crate: never what was sent in confidence.

use std::io::Write;
use std::sync::{Arc, Mutex};

use nodeform::arm::{Api, Body, Request};
use nodeform::model::Secret;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::sending::group;
use super::server::{CLIENT_SECRET, Reply, Server, TOKEN, token_or};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn events_name_the_request_and_no_secret() {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(lines.clone())
        .finish();
    // For all threads: what other tests send is looked through as well.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let server = Server::start(|seen, _| {
        token_or(seen, || match seen.method.as_str() {
            "PUT" => Reply::error(400, "InvalidParameter", &format!("bad {}", seen.body)),
            _ => Reply::json(200, json!({"id": "/x", "secret": "canary-in-answer"}))
                .with("x-ms-request-id", "r-1"),
        })
    });
    let azure = server.client();
    let id = group().in_group("Microsoft.Compute/virtualMachines", "aks-events").unwrap();
    azure.get(&Request::read(&id, Api::Compute)).await.unwrap();
    let body = Body::new(json!({"properties": {"osProfile": {}}}))
        .with_secret("/properties/osProfile/customData", Secret::new("Y2FuYXJ5LWN1c3RvbS1kYXRh".to_owned()));
    azure.begin(&Request::create_machine(&id, body)).await.unwrap_err();
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let own: Vec<&str> =
        text.lines().filter(|line| line.contains("nodeform::azure") && line.contains("aks-events")).collect();
    assert_eq!(own.len(), 2, "{text}");
    assert!(own[0].contains("answer method=\"GET\" path=/subscriptions/"), "{}", own[0]);
    assert!(
        own[0].contains("status=200")
            && own[0].contains("request_id=\"r-1\"")
            && !own[0].contains("api-version"),
        "{}",
        own[0]
    );
    for canary in [TOKEN, CLIENT_SECRET, "Y2FuYXJ5LWN1c3RvbS1kYXRh", "canary-custom-data", "canary-in-answer"]
    {
        let found: Vec<&str> = text.lines().filter(|line| line.contains(canary)).collect();
        assert!(found.is_empty(), "{canary}: {found:#?}");
    }
}
