//! Holds the Lease: sends the steps that `decide` returns, waits between them, and opens the gate with each renewal.
//!
//! Must never decide which process holds it.

use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::decide::{Candidate, Lost, Now, Other, Step, Terms};
use super::{NAME, WriteGate};
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind, Writer};

/// Timeout of one request: half of the renew deadline, so that a hanging request leaves time for another.
const REQUEST_SECONDS_MAX: u64 = 5;

/// Timeout for releasing the Lease: a terminating process has little time, and the Lease expires by itself.
const RELEASE_SECONDS_MAX: u64 = 1;

/// Maximum number of steps of one attempt, as after a conflict.
const DECISIONS_MAX: usize = 6;

/// Number of failed requests at which acquiring the Lease fails; once it is held, the renew deadline decides.
const FAILURES_MAX: usize = 3;

/// How long to wait for a holder that shows no activity: several times the lease duration of Kubernetes' components.
const PATIENCE: Duration = Duration::from_secs(120);

/// Settings for holding the Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Identity, unique to this process, such as `host_7f3a…`.
    pub identity: String,
    /// The namespace of the Lease: see [`namespace`](super::namespace).
    pub namespace: String,
    /// The durations.
    pub terms: Terms,
    /// Whether this process alone reports the state of the fleet while it holds the Lease.
    pub reports: bool,
}

/// Result of an attempt to acquire or renew the Lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// We hold it; the renewal started then, by the given clock.
    Renewed(Now),
    /// Another process holds it.
    Waits(Other),
    /// We held it and lost it.
    Lost(Lost),
}

/// A Lease that is held and renewed until this value is released or dropped.
#[derive(Debug)]
pub struct Held {
    gate: WriteGate,
    lost: watch::Receiver<Option<Lost>>,
    /// Ends the renewal task when dropped or used, which releases the Lease.
    stop: oneshot::Sender<()>,
    renewing: JoinHandle<Result<(), ClusterFailure>>,
}

impl Held {
    /// Returns the gate that every write passes.
    #[must_use]
    pub const fn gate(&self) -> &WriteGate {
        &self.gate
    }

    /// Returns why the Lease was lost, if it was.
    #[must_use]
    pub fn lost_already(&self) -> Option<Lost> {
        self.lost.borrow().clone()
    }

    /// Waits until the Lease is lost.
    pub async fn lost(&self) -> Lost {
        let mut lost = self.lost.clone();
        let found = lost.wait_for(Option::is_some).await.ok().and_then(|lost| lost.clone());
        found.unwrap_or_else(|| {
            self.gate.close();
            Lost::NotRenewed
        })
    }

    /// Closes the gate and releases the Lease, so that the next holder need not wait.
    ///
    /// # Errors
    /// The Lease could not be written: it expires by itself.
    pub async fn release(self) -> Result<(), ClusterFailure> {
        let Self { stop, renewing, gate, lost: _ } = self;
        gate.close();
        drop(stop);
        // A task that ended with its runtime has no result.
        renewing.await.unwrap_or(Ok(()))
    }
}

/// Acquires the Lease, and renews it from then on. Waits for an inactive holder; `waits` is called once with it. A task
/// of the runtime renews it: if the runtime is busy for long, or ends, the gate closes by itself.
///
/// # Errors
/// Another process holds and renews it, or it cannot be read or written.
pub async fn acquire(
    cluster: &Cluster,
    settings: &Settings,
    waits: impl FnMut(&Other),
) -> Result<Held, ClusterFailure> {
    acquire_named((cluster, NAME), settings, Asking { waits, attempted: || {} }).await
}

/// Callbacks for progress in acquiring a Lease.
pub struct Asking<W: FnMut(&Other), A: Fn()> {
    /// Called once with the holder that is waited for.
    pub waits: W,
    /// Called after each attempt, none of which takes long.
    pub attempted: A,
}

/// Like [`acquire`], for a Lease of another name.
///
/// # Errors
/// As [`acquire`].
pub async fn acquire_named(
    (cluster, name): (&Cluster, &'static str),
    settings: &Settings,
    asking: Asking<impl FnMut(&Other), impl Fn()>,
) -> Result<Held, ClusterFailure> {
    let Asking { mut waits, attempted } = asking;
    let Settings { identity, namespace, terms, reports } = settings;
    let mut holder = Holder {
        writer: cluster.writing(&WriteGate::always_open()),
        candidate: Candidate::new(identity.clone(), namespace.clone(), *terms)
            .of_lease(name)
            .reporting(*reports),
        namespace: namespace.clone(),
        gate: WriteGate::closed(terms.renew_deadline, *cluster.clock()),
        terms: *terms,
        start: Instant::now(),
    };
    let mut failures = 0;
    let mut is_told = false;
    loop {
        let attempt = holder.attempt().await;
        attempted();
        match attempt {
            Ok(Attempt::Renewed(_)) => return Ok(holder.held()),
            Ok(Attempt::Lost(_)) => {}
            Ok(Attempt::Waits(other)) => {
                let wait = other.expires.saturating_sub(holder.start.elapsed());
                if other.is_alive || wait > PATIENCE {
                    return Err(held_by_other((namespace, name), &other));
                }
                if !is_told {
                    waits(&other);
                    is_told = true;
                }
            }
            Err(failure) => {
                failures += 1;
                if failures >= FAILURES_MAX || !is_passing(failure.kind) {
                    return Err(failure);
                }
            }
        }
        tokio::time::sleep(terms.retry).await;
    }
}

/// Makes one attempt to acquire or renew the Lease.
///
/// # Errors
/// A request failed; we may still hold the Lease.
pub async fn attempt(
    writer: &Writer,
    candidate: &mut Candidate,
    namespace: &str,
    now: impl Fn() -> Now,
) -> Result<Attempt, ClusterFailure> {
    let list = super::list(namespace);
    let name = candidate.lease();
    let path = format!("{list}/{name}");
    candidate.begin();
    for _ in 0..DECISIONS_MAX {
        let began = now();
        let limit = candidate.time_left(began.monotonic).min(Duration::from_secs(REQUEST_SECONDS_MAX));
        let written = match candidate.next(began) {
            Step::Wait(other) => return Ok(Attempt::Waits(other)),
            Step::Lost(lost) => return Ok(Attempt::Lost(lost)),
            Step::Read => {
                let found = within((writer, name), limit, writer.cluster().get_optional(&path)).await?;
                candidate.read(found, now().monotonic);
                continue;
            }
            Step::Create(lease) => within((writer, name), limit, writer.create(&list, &lease)).await,
            Step::Replace(lease) => within((writer, name), limit, writer.replace(&path, &lease)).await,
        };
        match written {
            Ok(stored) => {
                candidate.wrote(stored, began.monotonic);
                return Ok(Attempt::Renewed(began));
            }
            Err(failure) => {
                candidate.failed();
                // The Lease was changed or deleted meanwhile: reading it shows who holds it.
                if ![ClusterFailureKind::Conflict, ClusterFailureKind::NotFound].contains(&failure.kind) {
                    return Err(failure);
                }
            }
        }
    }
    Err(ClusterFailure {
        kind: ClusterFailureKind::Conflict,
        what: format!("Lease `{namespace}/{name}` changes faster than it can be written"),
        hint: format!(
            "check who writes it: `kubectl get lease -n {namespace} {name} -o yaml --show-managed-fields`"
        ),
    })
}

/// State of the renewal task.
struct Holder {
    writer: Writer,
    candidate: Candidate,
    namespace: String,
    gate: WriteGate,
    terms: Terms,
    start: Instant,
}

impl Holder {
    async fn attempt(&mut self) -> Result<Attempt, ClusterFailure> {
        let (start, clock) = (self.start, *self.writer.cluster().clock());
        let now = || Now { monotonic: start.elapsed(), wall: clock.now() };
        let attempt = attempt(&self.writer, &mut self.candidate, &self.namespace, now).await?;
        if let Attempt::Renewed(began) = &attempt {
            self.gate.renewed(start + began.monotonic, began.wall);
        }
        Ok(attempt)
    }

    fn held(self) -> Held {
        let gate = self.gate.clone();
        let (stop, stopped) = oneshot::channel();
        let (loss, lost) = watch::channel(None);
        let renewing = tokio::spawn(self.renew(stopped, loss));
        Held { gate, lost, stop, renewing }
    }

    /// Renews until it is stopped or the Lease is lost.
    async fn renew(
        mut self,
        mut stopped: oneshot::Receiver<()>,
        loss: watch::Sender<Option<Lost>>,
    ) -> Result<(), ClusterFailure> {
        loop {
            let pause = self.terms.retry.min(self.candidate.time_left(self.start.elapsed()));
            tokio::select! {
                _ = &mut stopped => return self.release().await,
                () = tokio::time::sleep(pause) => {}
            }
            match self.attempt().await {
                Ok(Attempt::Renewed(_)) => {}
                Ok(Attempt::Lost(lost)) => {
                    self.gate.close();
                    tracing::warn!(namespace = self.namespace, lease = self.candidate.lease(), "{lost}");
                    loss.send_replace(Some(lost));
                    return Ok(());
                }
                // A holder that finds another holder has lost the Lease, which is reported as `Lost`.
                Ok(Attempt::Waits(_)) => {}
                Err(failure) => {
                    tracing::warn!(
                        namespace = self.namespace,
                        lease = self.candidate.lease(),
                        "renewal: {}",
                        failure.what
                    );
                }
            }
        }
    }

    async fn release(self) -> Result<(), ClusterFailure> {
        self.gate.close();
        let Some(free) = self.candidate.released(self.writer.cluster().clock().now()) else { return Ok(()) };
        let path = format!("{}/{}", super::list(&self.namespace), self.candidate.lease());
        let limit = Duration::from_secs(RELEASE_SECONDS_MAX);
        match within((&self.writer, self.candidate.lease()), limit, self.writer.replace(&path, &free)).await {
            // It was changed meanwhile: another process holds it, or it expires by itself.
            Err(failure) if failure.kind == ClusterFailureKind::Conflict => Ok(()),
            other => other.map(drop),
        }
    }
}

/// Sends one request for the Lease: a connection that is silent for that long is not used again by any request.
async fn within<T>(
    (writer, lease): (&Writer, &str),
    limit: Duration,
    request: impl Future<Output = Result<T, ClusterFailure>>,
) -> Result<T, ClusterFailure> {
    writer.cluster().within(limit, &format!("Lease {lease}"), request).await?
}

/// Returns whether a retry may succeed.
fn is_passing(kind: ClusterFailureKind) -> bool {
    use ClusterFailureKind as Kind;
    matches!(kind, Kind::Unreachable | Kind::Conflict | Kind::TooMany | Kind::Other)
}

fn held_by_other((namespace, name): (&str, &str), other: &Other) -> ClusterFailure {
    let Other { holder, since, is_alive, expires: _ } = other;
    let since = if since.is_empty() { String::new() } else { format!(" since {since}") };
    let how = if *is_alive { "renews it" } else { "may hold it longer than nodeform waits" };
    let hint = match name {
        NAME => format!(
            "one at a time: wait for the other nodeform, or stop Karpenter: `kubectl scale deployment -n {namespace} \
             karpenter --replicas=0`"
        ),
        _ => "one at a time: wait for the other nodeform, or stop it".to_owned(),
    };
    ClusterFailure {
        kind: ClusterFailureKind::LeaseHeld,
        what: format!("`{holder}` holds Lease `{namespace}/{name}`{since} and {how}"),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_holder_is_told_with_name_time_and_next_step() {
        let other = Other {
            holder: "karpenter-7d9_1b".to_owned(),
            since: "2026-02-03T04:05:06.000000Z".to_owned(),
            is_alive: true,
            expires: Duration::ZERO,
        };
        let failure = held_by_other(("karpenter", NAME), &other);
        assert_eq!(
            failure.to_string(),
            "`karpenter-7d9_1b` holds Lease `karpenter/karpenter-leader-election` since 2026-02-03T04:05:06.000000Z and \
             renews it\nhint: one at a time: wait for the other nodeform, or stop Karpenter: `kubectl scale deployment -n \
             karpenter karpenter --replicas=0`"
        );
        let failure = held_by_other(("kube-system", super::super::PROPOSER), &other).to_string();
        assert!(failure.contains("holds Lease `kube-system/nodeform-proposer`"), "{failure}");
        assert!(!failure.contains("Karpenter"), "{failure}");
    }
}
