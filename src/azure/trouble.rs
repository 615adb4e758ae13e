//! Azure services that throttle or do not answer, since when and until when, for users: waits of minutes inside a
//! request would otherwise be silent.
//!
//! Must never decide whether a request is sent: the budgets do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::failure::{Call, Failure, NotArm};
use super::transport::{TransportFault, Unreachable};
use crate::arm::fault::FaultKind;

/// How long a trouble is kept after its retry was due without a further request.
const STALE: Duration = Duration::from_secs(300);

/// An Azure service that throttles or does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The service: a provider such as `Microsoft.Compute`, or Azure Resource Manager.
    pub who: String,
    /// The problem, with a verb.
    pub what: String,
    /// How long it has lasted.
    pub lasts: Duration,
    /// Time until the retry.
    pub again: Duration,
}

#[derive(Clone, Debug)]
struct Known {
    what: String,
    since: Instant,
    until: Instant,
}

/// The troubles of a client. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Troubles(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    known: BTreeMap<String, Known>,
    /// Requests in flight by number: service and start.
    asked: BTreeMap<u64, (String, Instant)>,
    next: u64,
}

/// A request in flight; removed when it is dropped.
pub(super) struct Asked<'t> {
    troubles: &'t Troubles,
    number: u64,
    pub(super) since: Instant,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.troubles.with(|kept| kept.asked.remove(&self.number));
    }
}

impl Troubles {
    fn with<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records that a request is sent.
    pub(super) fn asks(&self, call: &Call) -> Asked<'_> {
        let since = Instant::now();
        let number = self.with(|kept| {
            kept.next += 1;
            kept.asked.insert(kept.next, (who(call), since));
            kept.next
        });
        Asked { troubles: self, number, since }
    }

    /// Records that a request was answered.
    pub(super) fn answered(&self, call: &Call) {
        self.with(|kept| kept.known.remove(&who(call)));
    }

    /// Records the failure of a request sent at this time, and the delay before its retry. A refusal counts as an
    /// answer.
    pub(super) fn failed(&self, failure: &Failure, sent: Instant, again: Duration) {
        let Some(what) = trouble(failure) else { return self.answered(failure.call()) };
        let until = Instant::now() + again;
        self.with(|kept| {
            let known = kept.known.entry(who(failure.call()));
            let known = known.or_insert_with(|| Known { what: what.clone(), since: sent, until });
            known.what = what;
            known.until = known.until.max(until);
        });
    }

    /// Returns the current troubles, by service.
    pub(super) fn now(&self) -> Vec<Trouble> {
        let now = Instant::now();
        self.with(|kept| {
            kept.known.retain(|_, known| now.saturating_duration_since(known.until) < STALE);
            let mut found: BTreeMap<String, Trouble> = BTreeMap::new();
            for (who, known) in &kept.known {
                let trouble = Trouble {
                    who: who.clone(),
                    what: known.what.clone(),
                    lasts: now.saturating_duration_since(known.since),
                    again: known.until.saturating_duration_since(now),
                };
                found.insert(who.clone(), trouble);
            }
            for (who, since) in kept.asked.values() {
                let lasts = now.saturating_duration_since(*since);
                let silent = found.entry(who.clone()).or_insert_with(|| Trouble {
                    who: who.clone(),
                    what: "does not answer".to_owned(),
                    lasts,
                    again: Duration::ZERO,
                });
                silent.lasts = silent.lasts.max(lasts);
            }
            found.into_values().collect()
        })
    }
}

/// Describes the service's problem if a failure means that it throttles or does not answer.
fn trouble(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Refused { fault, .. } if fault.kind == FaultKind::Throttled => Some("throttles".to_owned()),
        Failure::Refused { fault, .. } if fault.kind == FaultKind::Unavailable => {
            let status = fault.status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
            Some(format!("has a fault of its own{status}"))
        }
        Failure::Transport { fault, .. } | Failure::NoToken { transport: Some(fault), .. } => {
            match &**fault {
                TransportFault::Unreachable { why: Unreachable::Tls(_), .. } => None,
                TransportFault::Unreachable { .. } => Some("cannot be reached".to_owned()),
                TransportFault::Lost { .. } => Some("does not answer".to_owned()),
                TransportFault::TooLarge { .. }
                | TransportFault::NoIdentityService { .. }
                | TransportFault::SignInRefused { .. }
                | TransportFault::PlainHttp { .. }
                | TransportFault::BadCertificate
                | TransportFault::BadRequest(_) => None,
            }
        }
        Failure::NotArm { what: NotArm::HtmlOfFrontDoor, .. } => {
            Some("answers with a page of its front door".to_owned())
        }
        Failure::Refused { .. }
        | Failure::OperationFailed { .. }
        | Failure::OperationUnfinished { .. }
        | Failure::ResourceMissing { .. }
        | Failure::NoToken { .. }
        | Failure::NotArm { .. }
        | Failure::Answer { .. }
        | Failure::ForeignLink { .. }
        | Failure::Incomplete { .. }
        | Failure::Endless { .. }
        | Failure::NotPermitted { .. }
        | Failure::BadTarget { .. } => None,
    }
}

/// Returns the service that answers a call: the last provider of its path, as in
/// `…/providers/Microsoft.Compute/virtualMachines`.
fn who(call: &Call) -> String {
    let provider = call.resource.rsplit_once("/providers/").and_then(|(_, rest)| rest.split('/').next());
    provider.filter(|name| !name.is_empty()).unwrap_or("Azure Resource Manager").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{Fault, Method};

    fn call(path: &str) -> Call {
        Call::new(Method::Get, path)
    }

    fn refused(path: &str, kind: FaultKind) -> Failure {
        let fault = Fault {
            kind,
            status: Some(429),
            code: "TooManyRequests".to_owned(),
            message: String::new(),
            retry_after_seconds: Some(300),
        };
        Failure::Refused { call: call(path), fault: Box::new(fault), request_id: None, attempts: 1 }
    }

    const VMS: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines";

    #[tokio::test(start_paused = true)]
    async fn who_throttles_is_known_since_its_first_refusal_until_it_answers() {
        let troubles = Troubles::default();
        troubles.failed(&refused(VMS, FaultKind::Throttled), Instant::now(), Duration::from_secs(300));
        tokio::time::advance(Duration::from_secs(40)).await;
        let other = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces";
        troubles.answered(&call(other));
        let expected = Trouble {
            who: "Microsoft.Compute".to_owned(),
            what: "throttles".to_owned(),
            lasts: Duration::from_secs(40),
            again: Duration::from_secs(260),
        };
        assert_eq!(troubles.now(), [expected]);
        troubles.failed(&refused(VMS, FaultKind::NotAllowed), Instant::now(), Duration::ZERO);
        assert_eq!(troubles.now(), [], "a refusal is an answer");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_not_answered_is_told_while_somebody_waits_for_it() {
        let troubles = Troubles::default();
        let asked = troubles.asks(&call("/subscriptions/s"));
        tokio::time::advance(Duration::from_secs(31)).await;
        let found = troubles.now();
        let silent = found.iter().map(|it| (it.who.as_str(), it.what.as_str(), it.lasts.as_secs()));
        assert_eq!(silent.collect::<Vec<_>>(), [("Azure Resource Manager", "does not answer", 31)]);
        drop(asked);
        assert_eq!(troubles.now(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn a_trouble_that_nobody_asks_about_any_more_is_forgotten() {
        let troubles = Troubles::default();
        troubles.failed(&refused(VMS, FaultKind::Throttled), Instant::now(), Duration::from_secs(10));
        tokio::time::advance(STALE + Duration::from_secs(11)).await;
        assert_eq!(troubles.now(), []);
    }
}
