//! Leader election after client-go's algorithm, as decisions: what was seen and when, to what to do next.
//!
//! A holder has lost its Lease to others once they saw no change of it for as long as it says, by their own monotonic
//! clock: no clocks of two machines are compared. Must never send or wait.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::record::{Record, micro_time};

/// The API's field is a signed number of 32 bits.
const TRANSITIONS_MAX: u64 = i32::MAX as u64;

/// The times of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long a Lease that does not change still belongs to its holder.
    pub lease: Duration,
    /// How long after the last renewal began the holder gives up.
    pub renew_deadline: Duration,
    /// How long between two attempts.
    pub retry: Duration,
}

impl Default for Terms {
    /// The times of Kubernetes' own components and of Karpenter.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

/// Now, by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Time since any fixed moment, by a clock that only goes forward.
    pub monotonic: Duration,
    /// The time that is written into the Lease.
    pub wall: Timestamp,
}

/// Who stands for election, and what it saw.
#[derive(Clone, Debug)]
pub struct Candidate {
    identity: String,
    namespace: String,
    terms: Terms,
    seen: Seen,
    /// When the last renewal that succeeded began.
    renewed: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    /// Nothing was read yet, or what was read is out of date.
    Nothing,
    /// There is no Lease.
    Absent,
    There(Sighting),
}

#[derive(Clone, Debug, PartialEq)]
struct Sighting {
    lease: Value,
    record: Record,
    /// When it was first seen as it is.
    since: Duration,
    /// Whether it changed while it was watched: somebody lives.
    is_alive: bool,
    /// Whether `lease` is the newest that is known: a write of ours that failed leaves that open.
    is_current: bool,
}

/// Who else holds the Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its identity.
    pub holder: String,
    /// Since when, as it wrote it; may be empty.
    pub since: String,
    /// Whether it was seen to renew: it lives.
    pub is_alive: bool,
    /// When the Lease is anyone's, if it does not change until then.
    pub expires: Duration,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Read the Lease, and decide again.
    Read,
    /// Create this Lease.
    Create(Value),
    /// Replace the Lease by this: it holds the version that was read.
    Replace(Value),
    /// Somebody else holds it: read again after the retry time.
    Wait(Other),
    /// It was ours and is no more: nothing may be written from now on.
    Lost(Lost),
}

/// Why a Lease is no longer ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Another took it.
    #[error("`{0}` took the Lease")]
    Taken(String),
    /// It could not be renewed in time.
    #[error("the Lease could not be renewed for {} s", .0.as_secs())]
    Late(Duration),
}

impl Candidate {
    /// Stands for election. `identity` must be of this process alone: whoever has it holds the Lease.
    #[must_use]
    pub const fn new(identity: String, namespace: String, terms: Terms) -> Self {
        Self { identity, namespace, terms, seen: Seen::Nothing, renewed: None }
    }

    /// Returns whether the Lease is ours, as far as is known.
    #[must_use]
    pub const fn is_holder(&self) -> bool {
        self.renewed.is_some()
    }

    /// Returns how long a renewal that begins now may take.
    #[must_use]
    pub fn time_left(&self, now: Duration) -> Duration {
        let since = self.renewed.map_or(Duration::ZERO, |renewed| now.saturating_sub(renewed));
        self.terms.renew_deadline.saturating_sub(since)
    }

    /// Decides what to do.
    #[must_use]
    pub fn next(&self, now: Now) -> Step {
        if let Some(renewed) = self.renewed {
            let since = now.monotonic.saturating_sub(renewed);
            if since >= self.terms.renew_deadline {
                return Step::Lost(Lost::Late(since));
            }
        }
        match &self.seen {
            Seen::Nothing => Step::Read,
            Seen::Absent => Step::Create(self.created(now.wall)),
            Seen::There(sighting) if !sighting.is_current => Step::Read,
            Seen::There(sighting) => self.of_sighting(sighting, now),
        }
    }

    fn of_sighting(&self, sighting: &Sighting, now: Now) -> Step {
        let Sighting { lease, record, since, is_alive, .. } = sighting;
        let is_ours = record.holder == self.identity;
        if self.is_holder() && !is_ours {
            return Step::Lost(Lost::Taken(record.holder.clone()));
        }
        let expires = since.saturating_add(self.lease_of(record));
        if !is_ours && !record.holder.is_empty() && now.monotonic < expires {
            return Step::Wait(Other {
                holder: record.holder.clone(),
                since: record.acquire_time.clone(),
                is_alive: *is_alive,
                expires,
            });
        }
        let time = micro_time(now.wall);
        let next = Record {
            holder: self.identity.clone(),
            lease_seconds: self.terms.lease.as_secs(),
            transitions: record.transitions.saturating_add(u64::from(!is_ours)).min(TRANSITIONS_MAX),
            acquire_time: if is_ours { record.acquire_time.clone() } else { time.clone() },
            renew_time: time,
        };
        Step::Replace(next.written_into(lease.clone()))
    }

    /// A Lease that does not say for how long it is counts as one of ours would.
    fn lease_of(&self, record: &Record) -> Duration {
        match record.lease_seconds {
            0 => self.terms.lease,
            seconds => Duration::from_secs(seconds),
        }
    }

    fn created(&self, wall: Timestamp) -> Value {
        let time = micro_time(wall);
        let record = Record {
            holder: self.identity.clone(),
            lease_seconds: self.terms.lease.as_secs(),
            transitions: 0,
            acquire_time: time.clone(),
            renew_time: time,
        };
        record.written_into(json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": super::NAME, "namespace": self.namespace},
        }))
    }

    /// Notes what was read; `None` where there is no Lease. A Lease that says what it said before is the same, whatever
    /// else was written to it.
    pub fn read(&mut self, found: Option<Value>, now: Duration) {
        let Some(lease) = found else {
            self.seen = Seen::Absent;
            return;
        };
        let record = Record::of(&lease);
        let (since, is_alive) = match &self.seen {
            Seen::There(before) if before.record == record => (before.since, before.is_alive),
            Seen::There(_) => (now, true),
            Seen::Nothing | Seen::Absent => (now, false),
        };
        self.seen = Seen::There(Sighting { lease, record, since, is_alive, is_current: true });
    }

    /// Notes that our write succeeded, when it began, and the Lease as it is stored.
    pub fn wrote(&mut self, stored: Value, began: Duration) {
        let record = Record::of(&stored);
        self.renewed = Some(began);
        self.seen =
            Seen::There(Sighting { lease: stored, record, since: began, is_alive: false, is_current: true });
    }

    /// Begins an attempt: who does not hold the Lease reads it each time, who holds it writes what it wrote last.
    pub fn begin(&mut self) {
        if !self.is_holder() {
            self.failed();
        }
    }

    /// Notes that a write failed, or that its answer is lost: the Lease has to be read.
    pub fn failed(&mut self) {
        match &mut self.seen {
            Seen::There(sighting) => sighting.is_current = false,
            Seen::Nothing | Seen::Absent => self.seen = Seen::Nothing,
        }
    }

    /// Returns the Lease to write so that others need not wait; `None` where it is not ours.
    #[must_use]
    pub fn released(&self, wall: Timestamp) -> Option<Value> {
        let Seen::There(Sighting { lease, record, .. }) = &self.seen else { return None };
        (self.is_holder() && record.holder == self.identity).then(|| {
            let time = micro_time(wall);
            let free = Record {
                holder: String::new(),
                // The least that the API allows.
                lease_seconds: 1,
                transitions: record.transitions,
                acquire_time: time.clone(),
                renew_time: time,
            };
            free.written_into(lease.clone())
        })
    }
}

#[cfg(test)]
<<<<<<< HEAD
mod tests {
    use super::*;

    /// A Lease as a small API server keeps it, and a time that only these tests move.
    struct Table {
        lease: Option<Value>,
        version: u64,
        seconds: u64,
    }

    impl Table {
        fn new() -> Self {
            Self { lease: None, version: 0, seconds: 100 }
        }

        fn now(&self) -> Now {
            let wall: Timestamp = "2026-02-03T04:05:06Z".parse().unwrap();
            let seconds = i64::try_from(self.seconds).unwrap();
            Now {
                monotonic: Duration::from_secs(self.seconds),
                wall: wall.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap(),
            }
        }

        fn write(&mut self, mut lease: Value) -> Option<Value> {
            let known = self.lease.as_ref().map(|lease| lease["metadata"]["resourceVersion"].clone());
            if known.is_some_and(|version| lease["metadata"]["resourceVersion"] != version) {
                return None;
            }
            self.version += 1;
            lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
            self.lease = Some(lease.clone());
            Some(lease)
        }

        /// One attempt, as `hold` makes it.
        fn attempt(&mut self, candidate: &mut Candidate) -> Step {
            candidate.begin();
            loop {
                let now = self.now();
                match candidate.next(now) {
                    Step::Read => candidate.read(self.lease.clone(), now.monotonic),
                    step @ (Step::Wait(_) | Step::Lost(_)) => return step,
                    step => {
                        let (Step::Create(lease) | Step::Replace(lease)) = step.clone() else {
                            unreachable!()
                        };
                        match self.write(lease) {
                            Some(stored) => {
                                candidate.wrote(stored, now.monotonic);
                                return step;
                            }
                            None => candidate.failed(),
                        }
                    }
                }
            }
        }

        fn record(&self) -> Record {
            Record::of(self.lease.as_ref().unwrap())
        }
    }

    fn candidate(identity: &str) -> Candidate {
        Candidate::new(identity.to_owned(), "kube-system".to_owned(), Terms::default())
    }

    #[test]
    fn the_first_creates_the_lease_and_the_second_waits() {
        let (mut table, mut a, mut b) = (Table::new(), candidate("a"), candidate("b"));
        assert!(matches!(table.attempt(&mut a), Step::Create(_)));
        assert_eq!(
            table.record(),
            Record {
                holder: "a".to_owned(),
                lease_seconds: 15,
                transitions: 0,
                acquire_time: "2026-02-03T04:06:46.000000Z".to_owned(),
                renew_time: "2026-02-03T04:06:46.000000Z".to_owned(),
            }
        );
        let Step::Wait(other) = table.attempt(&mut b) else { panic!("it waits") };
        assert_eq!((other.holder.as_str(), other.is_alive, other.expires.as_secs()), ("a", false, 115));
        assert!(a.is_holder() && !b.is_holder());
    }

    #[test]
    fn a_holder_that_renews_keeps_the_lease_and_is_known_to_live() {
        let (mut table, mut a, mut b) = (Table::new(), candidate("a"), candidate("b"));
        table.attempt(&mut a);
        for _ in 0..30 {
            table.seconds += 2;
            assert!(matches!(table.attempt(&mut a), Step::Replace(_)));
            assert!(matches!(table.attempt(&mut b), Step::Wait(_)));
        }
        let Step::Wait(other) = table.attempt(&mut b) else { panic!("it waits") };
        assert!(other.is_alive);
        assert_eq!(table.record().acquire_time, "2026-02-03T04:06:46.000000Z");
        assert_eq!(table.record().renew_time, "2026-02-03T04:07:46.000000Z");
    }

    #[test]
    fn a_lease_that_nobody_renews_is_taken_after_it_was_watched_for_its_time() {
        let (mut table, mut a, mut b) = (Table::new(), candidate("a"), candidate("b"));
        table.attempt(&mut a);
        table.seconds += 3_600;
        // However old its times are: it is watched from now on.
        assert!(matches!(table.attempt(&mut b), Step::Wait(_)));
        table.seconds += 14;
        assert!(matches!(table.attempt(&mut b), Step::Wait(_)));
        table.seconds += 1;
        assert!(matches!(table.attempt(&mut b), Step::Replace(_)));
        assert_eq!((table.record().holder.as_str(), table.record().transitions), ("b", 1));
    }

    #[test]
    fn of_two_that_see_it_expire_one_gets_it() {
        let (mut table, mut a) = (Table::new(), candidate("a"));
        table.attempt(&mut a);
        let (mut b, mut c) = (candidate("b"), candidate("c"));
        for other in [&mut b, &mut c] {
            table.attempt(other);
        }
        table.seconds += 15;
        let now = table.now();
        for other in [&mut b, &mut c] {
            other.read(table.lease.clone(), now.monotonic);
        }
        let (Step::Replace(of_b), Step::Replace(of_c)) = (b.next(now), c.next(now)) else {
            panic!("both try")
        };
        assert!(table.write(of_b).is_some());
        assert!(table.write(of_c).is_none(), "it holds the version that was read");
    }

    #[test]
    fn a_holder_gives_up_before_others_may_take_over() {
        let (mut table, mut a) = (Table::new(), candidate("a"));
        table.attempt(&mut a);
        table.seconds += 9;
        a.failed();
        assert_eq!(a.next(table.now()), Step::Read);
        assert_eq!(a.time_left(table.now().monotonic), Duration::from_secs(1));
        table.seconds += 1;
        assert_eq!(a.next(table.now()), Step::Lost(Lost::Late(Duration::from_secs(10))));
    }

    #[test]
    fn a_holder_that_sees_another_in_its_place_has_lost() {
        let (mut table, mut a, mut b) = (Table::new(), candidate("a"), candidate("b"));
        table.attempt(&mut a);
        table.lease = None;
        table.attempt(&mut b);
        table.seconds += 2;
        assert_eq!(table.attempt(&mut a), Step::Lost(Lost::Taken("b".to_owned())));
    }

    #[test]
    fn a_lease_that_was_let_go_is_taken_at_once() {
        let (mut table, mut a, mut b) = (Table::new(), candidate("a"), candidate("b"));
        table.attempt(&mut a);
        assert!(matches!(table.attempt(&mut b), Step::Wait(_)));
        let free = a.released(table.now().wall).unwrap();
        assert_eq!(free["spec"]["holderIdentity"], "");
        table.write(free).unwrap();
        assert!(matches!(table.attempt(&mut b), Step::Replace(_)));
        assert_eq!(b.released(table.now().wall).map(|lease| Record::of(&lease).transitions), Some(1));
        assert_eq!(candidate("c").released(table.now().wall), None);
    }

    #[test]
    fn what_another_writes_beside_the_record_is_no_renewal() {
        let (mut table, mut a, mut b) = (Table::new(), candidate("a"), candidate("b"));
        table.attempt(&mut a);
        table.attempt(&mut b);
        table.seconds += 14;
        let mut labelled = table.lease.clone().unwrap();
        labelled["metadata"]["labels"] = json!({"a": "b"});
        table.write(labelled).unwrap();
        assert!(matches!(table.attempt(&mut b), Step::Wait(_)));
        table.seconds += 1;
        assert!(matches!(table.attempt(&mut b), Step::Replace(_)));
        assert_eq!(table.lease.unwrap()["metadata"]["labels"]["a"], "b");
    }

    #[test]
    fn a_lease_of_strange_numbers_is_waited_for_and_breaks_nothing() {
        let mut table = Table::new();
        table.lease = Some(json!({"metadata": {"resourceVersion": "0"}, "spec": {
            "holderIdentity": "x", "leaseDurationSeconds": u64::MAX, "leaseTransitions": u64::MAX,
        }}));
        let mut a = candidate("a");
        assert!(matches!(table.attempt(&mut a), Step::Wait(_)));
        table.lease =
            Some(json!({"metadata": {"resourceVersion": "0"}, "spec": {"leaseTransitions": u64::MAX}}));
        assert!(matches!(table.attempt(&mut a), Step::Replace(_)));
        assert_eq!(table.record().transitions, TRANSITIONS_MAX);
    }
}
=======
mod tests;
>>>>>>> ledger
