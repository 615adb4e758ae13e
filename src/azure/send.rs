//! Sends one request, with retries if safe and useful.
//!
//! A write is retried only if it was certainly not applied: no connection, throttled, or refused because of another
//! operation. If the answer was lost, the caller reads the resource. Must never retry without a limit.

use std::time::Duration;

use azure_core::http::headers::{CONTENT_TYPE, HeaderName};
use azure_core::http::{Context, Method as CoreMethod, PipelineSendOptions, Request as CoreRequest};
use tokio::time::Instant;

use super::answer::Answer;
use super::client::Azure;
use super::failure::{Call, Failure, NotArm};
use super::jitter::Jitter;
use super::outgoing::Outgoing;
use super::permit::NotPermitted;
use super::transport::{TransportFault, Unreachable};
use super::{limits, scrub};
use crate::arm::fault::FaultKind;
use crate::arm::{BucketKey, Fault, Method};
use crate::model::shown::is_obeyed;

const IF_NONE_MATCH: HeaderName = HeaderName::from_static("if-none-match");
const ACCEPT: HeaderName = HeaderName::from_static("accept");
const JSON: &str = "application/json";
/// Maximum number of characters of a library's message that are kept.
const WORDS_MAX: usize = 400;

impl Azure {
    /// Sends a request until it is answered, fails permanently, or its retries are used up.
    pub(super) async fn send(&self, outgoing: &Outgoing) -> Result<Answer, Failure> {
        let mut attempt = 0;
        let mut has_new_token = false;
        loop {
            attempt += 1;
            self.budget.take(&outgoing.buckets).await;
            let asked = self.troubles.asks(&outgoing.call);
            let sent = asked.since;
            let failure = match self.send_once(outgoing, attempt).await {
                Ok(answer) => {
                    self.troubles.answered(&outgoing.call);
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            drop(asked);
            let wait = self.wait(outgoing, &failure, attempt);
            self.troubles.failed(&failure, sent, self.clock.real(wait.unwrap_or_default()));
            if failure.fault().is_some_and(|fault| fault.kind == FaultKind::NotAuthenticated)
                && !has_new_token
            {
                has_new_token = true;
                self.token.renew();
                continue;
            }
            let Some(wait) = wait else { return Err(failure) };
            if attempt > limits::RETRIES_MAX {
                return Err(failure);
            }
            self.clock.sleep(wait).await;
        }
    }

    /// Returns the delay before the next attempt; `None` if a retry is useless or unsafe.
    fn wait(&self, outgoing: &Outgoing, failure: &Failure, attempt: u32) -> Option<Duration> {
        let operation = outgoing.call.to_string();
        let jitter = Jitter { holder: &self.holder, operation: &operation, attempt };
        let backoff = limits::BACKOFF_FIRST.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        let backoff = jitter.within(backoff.min(limits::BACKOFF_MAX));
        match failure {
            Failure::Refused { fault, .. } if fault.is_worth_a_retry() => {
                let asked = fault.retry_after_seconds.map(|_| fault.retry_after().unsigned_abs());
                if fault.kind == FaultKind::Throttled {
                    let closed = asked.unwrap_or_else(|| fault.retry_after().unsigned_abs());
                    self.budget.close(&throttled(outgoing, fault), closed);
                    return Some(jitter.after(closed));
                }
                let is_safe = !outgoing.method.is_write() || asked.is_some();
                is_safe.then(|| asked.map_or(backoff, |asked| jitter.after(asked)))
            }
            Failure::Transport { fault, .. } => match &**fault {
                TransportFault::Unreachable { why: Unreachable::Tls(_), .. } => None,
                TransportFault::Unreachable { .. } => {
                    (attempt <= limits::RETRIES_UNANSWERED_MAX).then_some(backoff)
                }
                TransportFault::Lost { .. } => (!outgoing.method.is_write()).then_some(backoff),
                TransportFault::TooLarge { .. }
                | TransportFault::NoIdentityService { .. }
                | TransportFault::SignInRefused { .. }
                | TransportFault::PlainHttp { .. }
                | TransportFault::BadCertificate
                | TransportFault::BadRequest(_) => None,
            },
            Failure::NotArm { what: NotArm::HtmlOfFrontDoor, .. } => {
                (!outgoing.method.is_write()).then_some(backoff)
            }
            Failure::NotArm { what: NotArm::TruncatedJson { .. }, .. } => {
                let is_safe = !outgoing.method.is_write() && attempt <= limits::RETRIES_UNANSWERED_MAX;
                is_safe.then_some(backoff)
            }
            Failure::Refused { .. }
            | Failure::NotArm { .. }
            | Failure::OperationFailed { .. }
            | Failure::OperationUnfinished { .. }
            | Failure::ResourceMissing { .. }
            | Failure::NoToken { .. }
            | Failure::Answer { .. }
            | Failure::ForeignLink { .. }
            | Failure::Incomplete { .. }
            | Failure::Endless { .. }
            | Failure::NotPermitted { .. }
            | Failure::BadTarget { .. } => None,
        }
    }

    async fn send_once(&self, outgoing: &Outgoing, attempts: u32) -> Result<Answer, Failure> {
        let Outgoing { call, .. } = outgoing;
        let mut request = core_request(outgoing);
        let started = Instant::now();
        let options = PipelineSendOptions { skip_checks: true, ..Default::default() };
        let mut context = Context::new();
        if outgoing.method.is_write() {
            context.insert(self.permit.clone());
        }
        let sent = self.pipeline.send(&context, &mut request, Some(options)).await;
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let response = match sent {
            Ok(response) => response,
            Err(error) => {
                let failure = of_core(call, &error, attempts);
                tracing::debug!(target: "nodeform::azure", method = call.operation, path = %call.resource, ms, "no answer");
                return Err(failure);
            }
        };
        let answer = Answer::of(&response, call);
        let request_id = match &answer {
            Ok(answer) => answer.headers.request_id.as_deref(),
            Err(_) => None,
        };
        let status = u16::from(response.status());
        tracing::debug!(target: "nodeform::azure", method = call.operation, path = %call.resource, status, ms, request_id, "answer");
        let answer = answer?;
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let fault = Fault::of_answer(answer.received(), Some(&answer.body));
        Err(Failure::Refused {
            call: call.clone(),
            fault: Box::new(without_secrets(fault, outgoing)),
            request_id: answer.headers.request_id,
            attempts,
        })
    }
}

/// Returns the buckets that a 429 closes: Resource Manager's own if its code says so, else the provider's.
fn throttled(outgoing: &Outgoing, fault: &Fault) -> Vec<BucketKey> {
    let is_arm = fault.code.eq_ignore_ascii_case("SubscriptionRequestsThrottled");
    let of = |is_arm: bool| {
        let whole = outgoing.buckets.iter().filter(|key| key.resource.is_none());
        whole.filter(|key| key.bucket.is_of_resource_manager() == is_arm).cloned().collect::<Vec<_>>()
    };
    let keys = of(is_arm);
    if keys.is_empty() { of(!is_arm) } else { keys }
}

fn core_request(outgoing: &Outgoing) -> CoreRequest {
    let method = match outgoing.method {
        Method::Get => CoreMethod::Get,
        Method::Put => CoreMethod::Put,
        Method::Patch => CoreMethod::Patch,
        Method::Delete => CoreMethod::Delete,
        Method::Post => CoreMethod::Post,
    };
    let mut request = CoreRequest::new(outgoing.url.clone(), method);
    request.insert_header(ACCEPT, JSON);
    if outgoing.only_if_absent {
        request.insert_header(IF_NONE_MATCH, "*");
    }
    if let Some(body) = &outgoing.body {
        request.insert_header(CONTENT_TYPE, JSON);
        request.set_body(body.reveal().reveal().as_bytes().to_vec());
    }
    request
}

/// Converts an error of the pipeline: from the transport, or from signing in.
fn of_core(call: &Call, error: &azure_core::Error, attempts: u32) -> Failure {
    if let Some(NotPermitted { why }) = NotPermitted::in_error(error).cloned() {
        return Failure::NotPermitted { call: call.clone(), why };
    }
    let transport = TransportFault::in_error(error).cloned().map(Box::new);
    let is_token = matches!(error.kind(), azure_core::error::ErrorKind::Credential);
    match transport {
        Some(fault) if !is_token => Failure::Transport { call: call.clone(), fault, attempts },
        transport => {
            let why = match &transport {
                Some(fault) => fault.to_string(),
                None => words(&error.to_string()),
            };
            Failure::NoToken { call: call.clone(), why, transport }
        }
    }
}

/// Returns the first line of a library's message, without control characters.
fn words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().filter(|c| !is_obeyed(*c)).take(WORDS_MAX).collect()
}

fn without_secrets(mut fault: Fault, outgoing: &Outgoing) -> Fault {
    for secret in outgoing.body.iter().flat_map(crate::arm::Body::secrets) {
        fault.message = scrub::without_secret(&fault.message, Some(secret));
        fault.code = scrub::without_secret(&fault.code, Some(secret));
    }
    fault
}
