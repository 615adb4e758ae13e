//! Azure with a cache: rarely changing answers are reused for a while.
//!
//! Azure counts each read against a limit, and the automatic mode reads every few seconds. A fault is never cached, and
//! a list is never older than the last write, which writers report by [`Remembered::wrote`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{Ask, AskFault};
use crate::arm::Request;
use crate::azure::Azure;

/// How long VMs, network interfaces and quota usage are cached while nothing is created or deleted, by the cloud's
/// clock.
const FLEET: Duration = Duration::from_secs(30);

/// How long everything else is cached: the managed cluster, its networks, images, permissions.
const REST: Duration = Duration::from_secs(300);

/// Azure with its last answers. Clones share the cache.
#[derive(Clone)]
pub struct Remembered {
    azure: Azure,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    answers: BTreeMap<String, Answer>,
    /// Time of the last write.
    wrote: Option<Instant>,
}

struct Answer {
    /// Time of the request.
    asked: Instant,
    body: Value,
}

impl Remembered {
    /// Returns an empty cache.
    #[must_use]
    pub fn new(azure: Azure) -> Self {
        Self { azure, memory: Arc::default() }
    }

    /// Records that VMs or network interfaces were written, or may have been: earlier reads of them are stale.
    pub fn wrote(&self) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).wrote = Some(Instant::now());
    }

    fn known(&self, request: &Request) -> Option<Value> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = memory.answers.get(&key(request))?;
        let speed = self.azure.cloud().clock_speed.max(1);
        let is_fleet = is_of_fleet(request);
        let is_fresh = answer.asked.elapsed() < if is_fleet { FLEET } else { REST } / speed;
        let is_older = is_fleet && memory.wrote.is_some_and(|wrote| wrote >= answer.asked);
        (is_fresh && !is_older).then(|| answer.body.clone())
    }

    fn remember(&self, request: &Request, asked: Instant, body: &Value) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.answers.retain(|_, answer| answer.asked.elapsed() < REST);
        memory.answers.insert(key(request), Answer { asked, body: body.clone() });
    }
}

impl Ask for Remembered {
    async fn one(&self, request: &Request) -> Result<Value, AskFault> {
        if let Some(known) = self.known(request) {
            return Ok(known);
        }
        let asked = Instant::now();
        let body = self.azure.one(request).await?;
        self.remember(request, asked, &body);
        Ok(body)
    }

    async fn all(&self, request: &Request) -> Result<Vec<Value>, AskFault> {
        if let Some(Value::Array(known)) = self.known(request) {
            return Ok(known);
        }
        let asked = Instant::now();
        let items = self.azure.all(request).await?;
        self.remember(request, asked, &Value::Array(items.clone()));
        Ok(items)
    }

    fn registry_suffix(&self) -> Option<&str> {
        Ask::registry_suffix(&self.azure)
    }
}

/// Returns the cache key of a read.
fn key(request: &Request) -> String {
    let query = request.query.iter().map(|parameter| format!("&{}={}", parameter.name, parameter.value));
    query.fold(request.path.clone(), |key, parameter| key + &parameter)
}

/// Returns whether a request lists what applying plans writes.
fn is_of_fleet(request: &Request) -> bool {
    // Quota usage changes with every VM.
    ["/virtualMachines", "/networkInterfaces", "/usages"].iter().any(|kind| request.path.ends_with(kind))
}
