//! Azure, asked less often: what seldom changes is remembered for a while.
//!
//! Each read is a request that Azure counts, and the automatic mode reads every few seconds. A fault is never remembered;
//! nor may a list be older than what was written last, which whoever writes says by [`Remembered::wrote`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{Ask, AskFault};
use crate::arm::Request;
use crate::azure::Azure;

/// For how long VMs, network interfaces and what is used of quotas are remembered while nothing is made or removed, of the
/// cloud's clock.
const FLEET: Duration = Duration::from_secs(30);

/// For how long all else is: the managed cluster, its networks, images, rights.
const REST: Duration = Duration::from_secs(300);

/// Azure, with what it answered last. Clones remember the same.
#[derive(Clone)]
pub struct Remembered {
    azure: Azure,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    answers: BTreeMap<String, Answer>,
    /// When something was written last.
    wrote: Option<Instant>,
}

struct Answer {
    /// When it was asked for.
    asked: Instant,
    body: Value,
}

impl Remembered {
    /// Nothing was asked yet.
    #[must_use]
    pub fn new(azure: Azure) -> Self {
        Self { azure, memory: Arc::default() }
    }

    /// Notes that VMs or network interfaces have been written, or may have been: what was read of them before counts no
    /// more.
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

/// What tells one read from another.
fn key(request: &Request) -> String {
    let query = request.query.iter().map(|parameter| format!("&{}={}", parameter.name, parameter.value));
    query.fold(request.path.clone(), |key, parameter| key + &parameter)
}

/// Whether it lists what carrying plans out writes.
fn is_of_fleet(request: &Request) -> bool {
    // What is used of quotas changes with every VM.
    ["/virtualMachines", "/networkInterfaces", "/usages"].iter().any(|kind| request.path.ends_with(kind))
}
