//! Long-running operations: started by one request, polled to their end, then the resource is read.
//!
//! Must never treat silence as success, nor follow a link to another origin.

use std::time::Duration;

use serde_json::Value;

use super::answer::Answer;
use super::client::Azure;
use super::failure::{Call, Failure};
use super::limits;
use super::outgoing::Outgoing;
use crate::arm::answer::{self, OperationState, State};
use crate::arm::fault::{ErrorBody, FaultKind};
use crate::arm::{Fault, Method, Request};

/// An operation that Azure accepted.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The call that started it.
    pub call: Call,
    /// How it is followed.
    follow: Follow,
    /// Request that reads the resource.
    read: Request,
    method: Method,
    /// How long Azure asks to wait before the next poll.
    wait: Duration,
}

/// How an operation is followed.
#[derive(Clone, Debug)]
enum Follow {
    /// It ended with the answer to the call that started it.
    Ended(State),
    /// By the operation's own resource.
    AsyncOperation(Box<Outgoing>),
    /// By polling until the final answer.
    Location(Box<Outgoing>),
    /// By the resource's `provisioningState`.
    Resource,
}

/// Progress of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// In progress; poll again after this time (of the cloud's clock).
    Running(Duration),
    /// Succeeded.
    Succeeded,
    /// Failed or was cancelled.
    Failed(Fault),
}

impl Azure {
    /// Sends a write once (retried only if it was certainly not applied) and returns the operation.
    ///
    /// # Errors
    /// [`Failure`]; after [`Failure::may_have_acted`], read the resource before continuing.
    pub async fn begin(&self, request: &Request) -> Result<Operation, Failure> {
        let outgoing = Outgoing::of_request(request, &self.cloud)?;
        let call = outgoing.call.clone();
        let answer = self.send(&outgoing).await?;
        let follow = self.follow(&call, &answer, request.method)?;
        let read = Request {
            method: Method::Get,
            path: request.path.clone(),
            query: request.query.iter().take(1).cloned().collect(),
            body: None,
            only_if_absent: false,
        };
        Ok(Operation { call, follow, read, method: request.method, wait: wait(&answer) })
    }

    fn follow(&self, call: &Call, answer: &Answer, method: Method) -> Result<Follow, Failure> {
        let link = |link: &str| Outgoing::of_link(link, call, &self.cloud).map(Box::new);
        if answer.status == 204 {
            return Ok(Follow::Ended(State::Succeeded));
        }
        if let Some(async_operation) = &answer.headers.async_operation {
            return Ok(Follow::AsyncOperation(link(async_operation)?));
        }
        match (answer.status, &answer.headers.location) {
            (202, Some(location)) => Ok(Follow::Location(link(location)?)),
            (202, None) => Ok(Follow::Resource),
            (_, _) if method == Method::Delete => Ok(Follow::Ended(State::Succeeded)),
            (_, _) => Ok(match State::of_resource(&answer.body) {
                State::Running => Follow::Resource,
                ended @ (State::Succeeded | State::Failed | State::Canceled) => Follow::Ended(ended),
            }),
        }
    }

    /// Polls an operation once.
    ///
    /// # Errors
    /// [`Failure`] if its progress cannot be determined; the operation continues regardless.
    pub async fn poll(&self, operation: &Operation) -> Result<Progress, Failure> {
        match &operation.follow {
            Follow::Ended(state) => Ok(ended(*state, None, Duration::ZERO)),
            Follow::AsyncOperation(outgoing) => {
                let answer = self.send(outgoing).await?;
                let wait = wait(&answer);
                let state: OperationState = answer::read(answer.body)
                    .map_err(|fault| Failure::Answer { call: outgoing.call.clone(), fault })?;
                Ok(ended(state.state, state.error, wait))
            }
            Follow::Location(outgoing) => self.poll_location(outgoing, operation.method).await,
            Follow::Resource => self.poll_resource(operation).await,
        }
    }

    async fn poll_location(&self, outgoing: &Outgoing, method: Method) -> Result<Progress, Failure> {
        match self.send(outgoing).await {
            Ok(answer) if answer.status == 202 => Ok(Progress::Running(wait(&answer))),
            Ok(_) if method == Method::Delete => Ok(Progress::Succeeded),
            Ok(answer) => Ok(ended(State::of_resource(&answer.body), None, wait(&answer))),
            // The final answer is the error with which the operation ended.
            Err(Failure::Refused { fault, .. }) if is_final(fault.kind) => Ok(Progress::Failed(*fault)),
            Err(failure) => Err(failure),
        }
    }

    async fn poll_resource(&self, operation: &Operation) -> Result<Progress, Failure> {
        let outgoing = Outgoing::of_request(&operation.read, &self.cloud)?;
        match self.send(&outgoing).await {
            Ok(_) if operation.method == Method::Delete => Ok(Progress::Running(limits::POLL_DEFAULT)),
            Ok(answer) => Ok(ended(State::of_resource(&answer.body), None, wait(&answer))),
            Err(failure) if failure.is_not_found() && operation.method == Method::Delete => {
                Ok(Progress::Succeeded)
            }
            // After a 202, a resource that is being created does not exist yet.
            Err(failure) if failure.is_not_found() => Ok(Progress::Running(limits::POLL_DEFAULT)),
            Err(failure) => Err(failure),
        }
    }

    /// Follows an operation to its end and reads the resource: `None` if it is gone. Waits at most this time of the
    /// cloud's clock.
    ///
    /// # Errors
    /// [`Failure::OperationFailed`], [`Failure::OperationUnfinished`], [`Failure::ResourceMissing`], or the failure that
    /// prevented polling.
    pub async fn finish(&self, operation: &Operation, patience: Duration) -> Result<Option<Value>, Failure> {
        let started = self.clock.now();
        let mut wait = operation.wait;
        let mut follow = operation.clone();
        let mut succeeded = None;
        loop {
            let waited = self.clock.now().saturating_sub(started);
            if waited >= patience {
                return Err(Failure::OperationUnfinished {
                    call: operation.call.clone(),
                    waited_seconds: waited.as_secs(),
                });
            }
            if succeeded.is_some() || !matches!(follow.follow, Follow::Ended(_)) {
                self.clock.sleep(wait.min(patience - waited)).await;
            }
            match self.poll(&follow).await {
                Ok(Progress::Running(next)) => wait = next,
                Ok(Progress::Succeeded) => {
                    let after = self.after(operation).await?;
                    let now = self.clock.now();
                    let since = now.saturating_sub(*succeeded.get_or_insert(now));
                    match after {
                        After::Ended(resource) => return Ok(resource),
                        After::Missing if since >= limits::APPEARS_WAIT => {
                            let (call, waited_seconds) = (operation.call.clone(), since.as_secs());
                            return Err(Failure::ResourceMissing { call, waited_seconds });
                        }
                        // The resource does not show it yet.
                        After::Missing | After::NotYet => {
                            follow.follow = Follow::Ended(State::Succeeded);
                            wait = limits::POLL_DEFAULT;
                        }
                    }
                }
                Ok(Progress::Failed(fault)) => {
                    let fault = Box::new(fault);
                    return Err(Failure::OperationFailed { call: operation.call.clone(), fault });
                }
                // Azure forgets operations; the resource shows how it ended.
                Err(failure) if failure.is_not_found() && !matches!(follow.follow, Follow::Resource) => {
                    follow.follow = Follow::Resource;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Reads the resource after the operation's end.
    async fn after(&self, operation: &Operation) -> Result<After, Failure> {
        let resource = self.get_optional(&operation.read).await?;
        let is_gone = operation.method == Method::Delete;
        match resource {
            None if is_gone => Ok(After::Ended(None)),
            None | Some(_) if is_gone => Ok(After::NotYet),
            None => Ok(After::Missing),
            Some(resource) => match State::of_resource(&resource) {
                State::Succeeded => Ok(After::Ended(Some(resource))),
                State::Running => Ok(After::NotYet),
                State::Failed | State::Canceled => Err(Failure::OperationFailed {
                    call: operation.call.clone(),
                    fault: Box::new(Fault::of_operation(
                        resource.pointer("/properties/error").and_then(ErrorBody::of_inner),
                    )),
                }),
            },
        }
    }
}

/// State of the resource after its operation.
enum After {
    Ended(Option<Value>),
    /// It was created, but does not exist.
    Missing,
    NotYet,
}

fn ended(state: State, error: Option<ErrorBody>, wait: Duration) -> Progress {
    match state {
        State::Running => Progress::Running(wait),
        State::Succeeded => Progress::Succeeded,
        State::Failed => Progress::Failed(Fault::of_operation(error)),
        State::Canceled => {
            let mut fault = Fault::of_operation(error);
            if fault.code.is_empty() {
                fault.code = "Canceled".to_owned();
            }
            Progress::Failed(fault)
        }
    }
}

/// Returns whether a fault is the result of the operation; the others mean that polling failed.
const fn is_final(kind: FaultKind) -> bool {
    !matches!(
        kind,
        FaultKind::NotFound
            | FaultKind::GroupNotFound
            | FaultKind::NotAuthenticated
            | FaultKind::NotAllowed
            | FaultKind::Throttled
            | FaultKind::Unavailable
    )
}

fn wait(answer: &Answer) -> Duration {
    answer.headers.retry_after().unwrap_or(limits::POLL_DEFAULT).min(limits::POLL_MAX)
}
