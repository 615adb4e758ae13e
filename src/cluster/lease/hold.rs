//! Holding the Lease: sends what `decide` decides, waits between, and opens the gate with each renewal.
//! Must never decide who holds it.

use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::decide::{Candidate, Lost, Now, Other, Step, Terms};
use super::{NAME, WriteGate};
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind, Writer};

/// How long one request may take: half of the time to renew in, so that one that hangs leaves time for another.
const REQUEST_SECONDS_MAX: u64 = 5;

/// How long letting the Lease go may take: whoever is told to end has little time, and the Lease ends by itself.
const RELEASE_SECONDS_MAX: u64 = 1;

/// How many times one attempt decides anew, such as after a conflict.
const DECISIONS_MAX: usize = 6;

/// How many requests in a row may fail before the Lease is ours; afterwards time decides.
const FAILURES_MAX: usize = 3;

/// How long a holder that does not show any life is waited for: several times what Kubernetes' components ask for.
const PATIENCE: Duration = Duration::from_secs(120);

/// Who holds the Lease, where, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Who: of this process alone, such as `host_7f3a…`.
    pub identity: String,
    /// The namespace of the Lease: see [`namespace`](super::namespace).
    pub namespace: String,
    /// The times.
    pub terms: Terms,
    /// Whether it reports the state of the fleet while it holds the Lease, so that nobody beside it does.
    pub reports: bool,
}

/// What became of an attempt to get or renew the Lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempt {
    /// It is ours; the renewal began then, by the clock that was given.
    Renewed(Now),
    /// Another holds it.
    Waits(Other),
    /// It was ours.
    Lost(Lost),
}

/// A Lease that is held and renewed, until this is released or dropped.
#[derive(Debug)]
pub struct Held {
    gate: WriteGate,
    lost: watch::Receiver<Option<Lost>>,
    /// Dropped or used, it ends the renewing, which lets the Lease go.
    stop: oneshot::Sender<()>,
    renewing: JoinHandle<Result<(), ClusterFailure>>,
}

impl Held {
    /// The gate that every write passes.
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

    /// Closes the gate and lets the Lease go, so that the next holder need not wait.
    ///
    /// # Errors
    /// It could not be written: the Lease ends by itself.
    pub async fn release(self) -> Result<(), ClusterFailure> {
        let Self { stop, renewing, gate, lost: _ } = self;
        gate.close();
        drop(stop);
        // One that was ended with its runtime has nothing to say.
        renewing.await.unwrap_or(Ok(()))
    }
}

/// Gets the Lease, and renews it from then on. A holder that shows no life is waited for; `waits` is told of it, once.
/// Renewing is a task of the runtime: where that is busy for long, or ends, the gate closes by itself.
///
/// # Errors
/// Another holds it and renews it, or it cannot be read or written.
pub async fn acquire(
    cluster: &Cluster,
    settings: &Settings,
    waits: impl FnMut(&Other),
) -> Result<Held, ClusterFailure> {
    acquire_named((cluster, NAME), settings, Asking { waits, attempted: || {} }).await
}

/// Who is told how getting a Lease goes on.
pub struct Asking<W: FnMut(&Other), A: Fn()> {
    /// Told once of a holder that is waited for.
    pub waits: W,
    /// Told after each attempt, none of which takes long.
    pub attempted: A,
}

/// The same for a Lease of another name.
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

/// Makes one attempt to get or renew the Lease.
///
/// # Errors
/// A request failed; the Lease may still be ours.
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
                let found = within(writer, limit, writer.cluster().get_optional(&path)).await?;
                candidate.read(found, now().monotonic);
                continue;
            }
            Step::Create(lease) => within(writer, limit, writer.create(&list, &lease)).await,
            Step::Replace(lease) => within(writer, limit, writer.replace(&path, &lease)).await,
        };
        match written {
            Ok(stored) => {
                candidate.wrote(stored, began.monotonic);
                return Ok(Attempt::Renewed(began));
            }
            Err(failure) => {
                candidate.failed();
                // Somebody else wrote, or deleted it: what there is now says who.
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

/// What the renewing owns.
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
                // Whoever held it and waits for another has lost it, which is said by `Lost`.
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
        match within(&self.writer, limit, self.writer.replace(&path, &free)).await {
            // Somebody wrote since: it is no longer ours, or ends by itself.
            Err(failure) if failure.kind == ClusterFailureKind::Conflict => Ok(()),
            other => other.map(drop),
        }
    }
}

/// One request for the Lease: a connection that is silent for that long is not used again, by anybody.
async fn within<T>(
    writer: &Writer,
    limit: Duration,
    request: impl Future<Output = Result<T, ClusterFailure>>,
) -> Result<T, ClusterFailure> {
    writer.cluster().within(limit, &format!("Lease {NAME}"), request).await?
}

/// Whether it may work a little later.
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
