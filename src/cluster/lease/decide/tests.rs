use super::*;

/// A Lease as in a small API server, with a time that only these tests advance.
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
                step @ (Step::Create(_) | Step::Replace(_)) => {
                    let (Step::Create(lease) | Step::Replace(lease)) = step.clone() else { unreachable!() };
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
    // However old its times are, it is watched from now on.
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
    let (Step::Replace(of_b), Step::Replace(of_c)) = (b.next(now), c.next(now)) else { panic!("both try") };
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
    table.lease = Some(json!({"metadata": {"resourceVersion": "0"}, "spec": {"leaseTransitions": u64::MAX}}));
    assert!(matches!(table.attempt(&mut a), Step::Replace(_)));
    assert_eq!(table.record().transitions, TRANSITIONS_MAX);
}
