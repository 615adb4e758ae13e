//! When the next round begins: once a batch of waiting pods closes, and in any case every few seconds.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::batch::Batch;

/// How often everything is read while something is in flight, of the cloud's clock.
const IN_FLIGHT: SignedDuration = SignedDuration::from_secs(5);

/// How often everything is read while nothing is, of the cloud's clock.
const IDLE: SignedDuration = SignedDuration::from_secs(10);

/// The longest rest after a round: a clock that is set forward in the middle of one makes it look like hours.
const REST_MAX: SignedDuration = SignedDuration::from_secs(60);

/// How often pods without a node are looked at.
pub(super) const LOOK: SignedDuration = SignedDuration::from_secs(1);

/// What is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// How many plans are in progress.
    pub plans: usize,
    /// Whether NodeClaims are being written by which changes begin: a reading that misses one would plan it once more. All
    /// other writes, however long they take, hold no round up.
    pub is_beginning: bool,
    /// Whether a round is being planned.
    pub is_planning: bool,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read everything and plan.
    Round,
    /// Nothing before this time, unless something ends.
    Wait(Timestamp),
}

/// What the rounds so far leave to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    waiting: BTreeSet<Arc<str>>,
    batch: Option<Batch>,
    last: Option<Timestamp>,
    /// Until when the last round is rested from.
    rests_until: Option<Timestamp>,
    clock_speed: i32,
}

impl Rounds {
    /// No round was yet. `clock_speed` divides every wait but those of a batch.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        Self { clock_speed: i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX), ..Self::default() }
    }

    /// Notes which pods wait, by UID.
    pub fn saw(&mut self, waiting: BTreeSet<Arc<str>>, now: Timestamp) {
        let has_new = waiting.iter().any(|uid| !self.waiting.contains(uid));
        self.batch = match self.batch {
            _ if waiting.is_empty() => None,
            Some(batch) if has_new => Some(Batch { last: now, ..batch }),
            None if has_new => Some(Batch { first: now, last: now }),
            open => open,
        };
        self.waiting = waiting;
    }

    /// Notes that a round has begun to read.
    pub const fn began(&mut self, now: Timestamp) {
        self.last = Some(now);
        self.batch = None;
    }

    /// Notes that the round has ended. Nothing is read for as long as it took, but for pods that wait: a round that takes
    /// longer than its interval leaves the machine half of the time.
    pub fn ended(&mut self, now: Timestamp) {
        let took = self.last.map_or(SignedDuration::ZERO, |last| now.duration_since(last));
        self.rests_until = now.saturating_add(took.clamp(SignedDuration::ZERO, REST_MAX)).ok();
    }

    /// Returns how many pods wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Says what is next.
    #[must_use]
    pub fn next(&self, now: Timestamp, in_flight: InFlight) -> Next {
        let look = now.saturating_add(LOOK).unwrap_or(Timestamp::MAX);
        if in_flight.is_beginning || in_flight.is_planning {
            return Next::Wait(look);
        }
        let wait = if in_flight.plans > 0 { IN_FLIGHT } else { IDLE };
        let due = self.last.map_or(now, |last| {
            last.saturating_add(wait / self.clock_speed.max(1)).unwrap_or(Timestamp::MAX)
        });
        let due = self.rests_until.map_or(due, |rested| due.max(rested));
        let due = self.batch.map(|batch| batch.closes()).into_iter().fold(due, Timestamp::min);
        if due <= now { Next::Round } else { Next::Wait(due.min(look)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(milliseconds).unwrap()
    }

    fn pods(names: &[&str]) -> BTreeSet<Arc<str>> {
        names.iter().map(|name| Arc::from(*name)).collect()
    }

    /// When the next round is, as far as it is known at a time.
    fn due(rounds: &Rounds, now: i64) -> Next {
        rounds.next(at(now), InFlight::default())
    }

    #[test]
    fn a_batch_closes_a_second_after_the_last_new_pod_and_ten_after_the_first() {
        let mut rounds = Rounds::new(1);
        rounds.began(at(0));
        rounds.saw(pods(&["a"]), at(2_000));
        assert_eq!(due(&rounds, 2_000), Next::Wait(at(3_000)));
        rounds.saw(pods(&["a", "b"]), at(2_900));
        assert_eq!((due(&rounds, 3_000), due(&rounds, 3_900)), (Next::Wait(at(3_900)), Next::Round));
        let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let mut rounds = Rounds::new(1);
        rounds.began(at(1_000));
        for (number, time) in (1..=15).zip((1_500..).step_by(900)) {
            let so_far: Vec<&str> = names[..number].iter().map(String::as_str).collect();
            rounds.saw(pods(&so_far), at(time));
            let is_closed = due(&rounds, time) == Next::Round;
            assert_eq!(is_closed, time >= 11_000, "{time}: the interval or the batch's ten seconds");
        }
    }

    #[test]
    fn pods_that_still_wait_open_no_new_batch() {
        let mut rounds = Rounds::new(1);
        rounds.saw(pods(&["a"]), at(0));
        rounds.began(at(1_000));
        rounds.saw(pods(&["a"]), at(2_000));
        assert_eq!(due(&rounds, 9_500), Next::Wait(at(10_500)));
        assert_eq!(due(&rounds, 11_000), Next::Round);
    }

    #[test]
    fn after_a_round_of_more_than_its_interval_comes_as_long_a_rest_but_not_for_pods_that_wait() {
        let mut rounds = Rounds::new(1);
        rounds.began(at(0));
        rounds.ended(at(2_000));
        assert_eq!(due(&rounds, 9_500), Next::Wait(at(10_000)));
        rounds.began(at(10_000));
        rounds.ended(at(18_000));
        assert_eq!((due(&rounds, 25_500), due(&rounds, 26_000)), (Next::Wait(at(26_000)), Next::Round));
        rounds.saw(pods(&["a"]), at(19_000));
        assert_eq!((due(&rounds, 19_500), due(&rounds, 20_000)), (Next::Wait(at(20_000)), Next::Round));
    }

    #[test]
    fn a_clock_that_is_set_in_the_middle_of_a_round_costs_a_minute_at_most() {
        let mut rounds = Rounds::new(1);
        rounds.began(at(0));
        rounds.ended(at(7_200_000));
        assert_eq!(
            (due(&rounds, 7_259_500), due(&rounds, 7_260_000)),
            (Next::Wait(at(7_260_000)), Next::Round)
        );
        rounds.began(at(7_300_000));
        rounds.ended(at(7_200_000));
        assert_eq!(due(&rounds, 7_310_000), Next::Round);
    }

    #[test]
    fn what_is_in_flight_is_looked_at_more_often_and_nothing_is_read_while_changes_begin() {
        let mut rounds = Rounds::new(10);
        rounds.began(at(0));
        let flying = InFlight { plans: 1, ..InFlight::default() };
        assert_eq!(rounds.next(at(499), flying), Next::Wait(at(500)));
        assert_eq!(rounds.next(at(500), flying), Next::Round);
        assert_eq!(rounds.next(at(999), InFlight::default()), Next::Wait(at(1_000)));
        for busy in [InFlight { is_beginning: true, ..flying }, InFlight { is_planning: true, ..flying }] {
            assert_eq!(rounds.next(at(5_000), busy), Next::Wait(at(6_000)));
        }
    }

    #[test]
    fn pods_that_no_longer_wait_take_their_batch_with_them() {
        let mut rounds = Rounds::new(1);
        rounds.began(at(0));
        rounds.saw(pods(&["a"]), at(500));
        rounds.saw(pods(&[]), at(900));
        assert_eq!(due(&rounds, 1_600), Next::Wait(at(2_600)));
    }
}
