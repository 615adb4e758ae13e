//! Schedules the next round: when a batch of pending pods closes, and otherwise every few seconds.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::batch::Batch;

/// Interval of rounds while changes are in flight, in the cloud's clock.
const IN_FLIGHT: SignedDuration = SignedDuration::from_secs(5);

/// Interval of rounds while none are, in the cloud's clock.
const IDLE: SignedDuration = SignedDuration::from_secs(10);

/// Maximum pause after a round: a clock set forward during a round makes it appear to take hours.
const REST_MAX: SignedDuration = SignedDuration::from_secs(60);

/// Interval of checks for pods without a node.
pub(super) const LOOK: SignedDuration = SignedDuration::from_secs(1);

/// Work in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Number of plans in progress.
    pub plans: usize,
    /// Whether NodeClaims that start changes are being written: a reading that misses one would plan it again. All
    /// other writes, however long they take, delay no round.
    pub is_beginning: bool,
    /// Whether a round is being planned.
    pub is_planning: bool,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read everything and plan.
    Round,
    /// Wait until this time, unless something finishes earlier.
    Wait(Timestamp),
}

/// State kept between rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    waiting: BTreeSet<Arc<str>>,
    batch: Option<Batch>,
    last: Option<Timestamp>,
    /// End of the pause after the last round.
    rests_until: Option<Timestamp>,
    clock_speed: i32,
}

impl Rounds {
    /// Creates the state before the first round. `clock_speed` divides every wait except those of a batch.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        Self { clock_speed: i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX), ..Self::default() }
    }

    /// Records the pending pods, by UID.
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

    /// Records the start of a round.
    pub const fn began(&mut self, now: Timestamp) {
        self.last = Some(now);
        self.batch = None;
    }

    /// Records the end of a round. A pause as long as the round follows, except for pending pods: a round that takes
    /// longer than its interval leaves the machine idle half of the time.
    pub fn ended(&mut self, now: Timestamp) {
        let took = self.last.map_or(SignedDuration::ZERO, |last| now.duration_since(last));
        self.rests_until = now.saturating_add(took.clamp(SignedDuration::ZERO, REST_MAX)).ok();
    }

    /// Returns the number of pending pods.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the next step.
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

    /// Returns the next step as known at a time.
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
