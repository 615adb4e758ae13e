//! A world in memory, read once, as a live cluster is.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use jiff::Timestamp;
use serde_json::Value;

use super::{Ask, AskFault, KarpenterVariables, Observation, ObserveFault, Place, azure};
use crate::arm::{Request, ResourceId};
use crate::manifests::Source;
use crate::manifests::listed::SNAPSHOT_KINDS;
use crate::sim::World;
use crate::sim::rehearsal::Client;

/// The CA of an API server in memory, which has no TLS: kubelets there take any.
const CA: &str = "bm9uZQ==";

/// Whom a world in memory is asked by.
struct Asked<'w> {
    world: RefCell<&'w mut World>,
    client: RefCell<Client>,
    now: Timestamp,
}

impl Asked<'_> {
    fn ask(&self, target: &str) -> Result<Value, AskFault> {
        let fault = |what: String, is_not_found| AskFault { what, hint: None, is_not_found };
        let answer = self.client.borrow_mut().read_azure(&mut self.world.borrow_mut(), self.now, target);
        let answer = answer.ok_or_else(|| fault(format!("`GET {target}`: no answer"), false))?;
        match answer.status {
            200 => Ok(answer.value()),
            status => {
                let said = answer.value()["error"]["message"].as_str().unwrap_or_default().to_owned();
                Err(fault(format!("`GET {target}` (HTTP {status}): {said}"), status == 404))
            }
        }
    }
}

impl Ask for Asked<'_> {
    async fn one(&self, request: &Request) -> Result<Value, AskFault> {
        self.ask(&target(request))
    }

    async fn all(&self, request: &Request) -> Result<Vec<Value>, AskFault> {
        let mut items = Vec::new();
        let mut next = Some(target(request));
        while let Some(page) = next {
            let page = self.ask(&page)?;
            items.extend(page["value"].as_array().cloned().unwrap_or_default());
            next = page["nextLink"].as_str().map(Client::path_of);
        }
        Ok(items)
    }

    fn registry_suffix(&self) -> Option<&str> {
        None
    }
}

fn target(request: &Request) -> String {
    request.target().replace(' ', "%20").replace('\'', "%27")
}

/// Reads a world in memory.
///
/// # Errors
/// As for a live cluster.
pub fn observe(world: &mut World, now: Timestamp) -> Result<Observation, Vec<ObserveFault>> {
    let mut seen = Observation::default();
    let client = Client::new(world, now);
    let groups = client.read_cluster(world, now, "/apis").value();
    for kind in SNAPSHOT_KINDS {
        let Some(path) = path(kind.resource, &groups) else { continue };
        let answer = client.read_cluster(world, now, &path);
        if answer.status == 200 {
            seen.sources.push(Source::new(format!("<{}>", kind.word), answer.body));
            seen.listed.insert(kind.word.to_owned());
        }
    }
    let id = world.settings().cluster_arm_id();
    let id: ResourceId =
        id.parse().map_err(|_| vec![ObserveFault { what: format!("`{id}` is no id"), hint: None }])?;
    let asked = Asked { world: RefCell::new(world), client: RefCell::new(client), now };
    let place = Place { id, of_nodes: None };
    let mut facts = done(azure::read(&asked, (&place, &KarpenterVariables::default()), &mut seen))?;
    facts.cluster.ca_certificate = Some(CA.into());
    seen.azure = Some(facts);
    Ok(seen)
}

/// The path of the list of a kind, in the version that the world prefers; nothing of a group that it does not serve.
fn path(resource: &str, groups: &Value) -> Option<String> {
    let (name, group) = resource.split_once('.').unwrap_or((resource, ""));
    if group.is_empty() {
        return Some(format!("/api/v1/{name}"));
    }
    let served = groups["groups"].as_array()?.iter().find(|served| served["name"] == group)?;
    Some(format!("/apis/{}/{name}", served["preferredVersion"]["groupVersion"].as_str()?))
}

/// The end of what never waits.
fn done<T>(answer: impl Future<Output = Result<T, Vec<ObserveFault>>>) -> Result<T, Vec<ObserveFault>> {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => Err(vec![ObserveFault { what: "a world in memory waits".to_owned(), hint: None }]),
    }
}
