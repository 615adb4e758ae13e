//! Requests to a world in memory, with the credentials that it gives.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::sim::{Answer, Request, Response, World};

/// Who asks.
#[derive(Clone)]
pub struct Client {
    azure: String,
    cluster: String,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Client((sensitive value))")
    }
}

/// A request with what stands around its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) body: Option<&'a Value>,
    pub(super) content_type: &'a str,
    pub(super) only_if_absent: bool,
}

impl<'a> Call<'a> {
    pub(super) const fn get(target: &'a str) -> Self {
        Self { method: "GET", target, body: None, content_type: "", only_if_absent: false }
    }

    pub(super) const fn delete(target: &'a str, body: Option<&'a Value>) -> Self {
        Self { method: "DELETE", target, body, content_type: "application/json", only_if_absent: false }
    }

    pub(super) const fn put(target: &'a str, body: &'a Value) -> Self {
        Self {
            method: "PUT",
            target,
            body: Some(body),
            content_type: "application/json",
            only_if_absent: false,
        }
    }

    pub(super) const fn post(target: &'a str, body: &'a Value) -> Self {
        Self {
            method: "POST",
            target,
            body: Some(body),
            content_type: "application/json",
            only_if_absent: false,
        }
    }

    pub(super) const fn patch(target: &'a str, body: &'a Value) -> Self {
        let content_type = "application/merge-patch+json";
        Self { method: "PATCH", target, body: Some(body), content_type, only_if_absent: false }
    }
}

impl Client {
    /// Reads from Azure; `None` where the answer got lost.
    pub fn read_azure(&mut self, world: &mut World, now: Timestamp, target: &str) -> Option<Answer> {
        self.azure(world, now, Call::get(target))
    }

    /// Reads from the API server.
    pub fn read_cluster(&self, world: &mut World, now: Timestamp, target: &str) -> Answer {
        self.cluster(world, now, Call::get(target))
    }

    /// The path and query of a link.
    #[must_use]
    pub fn path_of(link: &str) -> String {
        let rest = link.split_once("://").map_or(link, |(_, rest)| rest);
        rest.find('/').map_or_else(|| link.to_owned(), |at| rest[at..].to_owned())
    }

    /// Signs in.
    pub fn new(world: &mut World, now: Timestamp) -> Self {
        let cluster = world.credentials().cluster_token.reveal().to_owned();
        let mut client = Self { azure: String::new(), cluster };
        client.sign_in(world, now);
        client
    }

    fn sign_in(&mut self, world: &mut World, now: Timestamp) {
        let settings = world.settings();
        let target = format!("/{}/oauth2/v2.0/token", settings.tenant);
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&scope=https%3A%2F%2Fmanagement.azure.com%2F.default",
            settings.client,
            world.credentials().client_secret.reveal()
        );
        let mut request = Request::new("POST", &target).header("host", "localhost");
        request.body = form.into_bytes();
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        if let Response::Answer(answer) = world.request(now, &request) {
            self.azure = answer.value()["access_token"].as_str().unwrap_or_default().to_owned();
        }
    }

    /// Asks Azure; signs in again where the token is too old. `None`: the answer got lost.
    pub(super) fn azure(&mut self, world: &mut World, now: Timestamp, call: Call<'_>) -> Option<Answer> {
        let answer = ask(world, now, call, &self.azure);
        if answer.as_ref().is_some_and(|answer| answer.status == 401) {
            self.sign_in(world, now);
            return ask(world, now, call, &self.azure);
        }
        answer
    }

    /// Asks the API server.
    pub(super) fn cluster(&self, world: &mut World, now: Timestamp, call: Call<'_>) -> Answer {
        let lost = || {
            let because = json!({"message": "the answer got lost"});
            Answer { status: 503, headers: Vec::new(), body: because.to_string().into_bytes() }
        };
        ask(world, now, call, &self.cluster).unwrap_or_else(lost)
    }
}

fn ask(world: &mut World, now: Timestamp, call: Call<'_>, token: &str) -> Option<Answer> {
    let mut request = Request::new(call.method, call.target)
        .header("host", "localhost")
        .header("authorization", &format!("Bearer {token}"));
    if let Some(body) = call.body {
        request = request.json(body).header("content-type", call.content_type);
    }
    if call.only_if_absent {
        request = request.header("if-none-match", "*");
    }
    match world.request(now, &request) {
        Response::Answer(answer) => Some(answer),
        Response::Lost | Response::Silent | Response::Late(..) | Response::Watch(_) => None,
    }
}
