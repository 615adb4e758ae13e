//! Lifecycle of a class's proposal: opened, kept, replaced or closed, depending on the open proposal, the current
//! draft, and how long they have differed.
//!
//! At most one proposal per class is open. Never replaces or closes one that someone else has committed to, nor an
//! approved one that may still start.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::ChangeClass;
use crate::plan::Plan;
use crate::review::covers::{Covered, Fate, covers};

/// How long a proposal must differ from the current draft before it is replaced or closed: reviewers need a stable
/// page.
const DIFFERS_FOR: SignedDuration = SignedDuration::from_mins(10);

/// How long a change must be due before it is proposed.
const DUE_FOR: SignedDuration = SignedDuration::from_secs(30);

/// How long pods must be Pending before new nodes for them are proposed: kube-scheduler may find free capacity, and
/// more pods may follow.
const PENDING_FOR: SignedDuration = SignedDuration::from_mins(2);

/// Minimum time between two proposals to move pods, which limits churn.
const BETWEEN_MOVES: SignedDuration = SignedDuration::from_hours(6);

/// Minimum time between two proposals of other classes: does not flood reviewers if someone deletes each branch.
const BETWEEN: SignedDuration = SignedDuration::from_mins(10);

/// How long a rejected proposal is not repeated, unless other changes are due.
const REJECTED_FOR: SignedDuration = SignedDuration::from_hours(24);

/// How many nodes may differ, as a number and as a percentage, before a proposal is replaced.
const NODES_DIFFER: usize = 2;
const NODES_DIFFER_PERCENT: usize = 10;

/// An open proposal of a class.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// Its plan; `None` if its folder is gone or inconsistent.
    pub plan: Option<&'a Plan>,
    /// The reviewers' response.
    pub people: People,
}

/// The reviewers' response to a proposal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum People {
    /// No relevant response.
    #[default]
    Nothing,
    /// Approved unchanged.
    Approved,
    /// Someone committed to its branch.
    Edited,
    /// Its pull request was closed without being merged.
    Closed,
}

/// The next step for a class's proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// No proposal is open, and none is needed.
    Nothing,
    /// Keep the open proposal.
    Keep,
    /// Propose the draft, replacing an open proposal.
    Propose,
    /// Close the proposal, for this reason.
    Close(&'static str),
    /// Keep the proposal because reviewers work on it, and report there that the draft differs.
    Differs,
    /// Changes are due; propose them at this time if they still are.
    Wait(Timestamp),
}

/// State of one class kept between rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upkeep {
    /// Time since which changes have been due without a proposal.
    due_since: Option<Timestamp>,
    /// Time since which the open proposal has differed from the draft.
    differs_since: Option<Timestamp>,
    /// Time of the class's last proposal.
    proposed_at: Option<Timestamp>,
}

impl Upkeep {
    /// Records a proposal of the class.
    pub const fn proposed(&mut self, at: Timestamp) {
        *self = Self { due_since: None, differs_since: None, proposed_at: Some(at) };
    }

    /// Returns the next step. `fresh` is the current draft of this class alone, `rejected_at` the time when the same
    /// plan was rejected. `clock_speed` divides every wait.
    pub fn step(
        &mut self,
        (class, open): (ChangeClass, Option<Open<'_>>),
        (fresh, rejected_at): (&Plan, Option<Timestamp>),
        (now, clock_speed): (Timestamp, u32),
    ) -> Step {
        let wait = |wait: SignedDuration| wait / i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX);
        let is_due = !fresh.spec.changes.is_empty();
        let again_at = rejected_at.and_then(|at| at.saturating_add(wait(REJECTED_FOR)).ok());
        let again_at = again_at.filter(|at| *at > now);
        let Some(open) = open else {
            self.differs_since = None;
            return match (is_due, again_at) {
                (true, Some(at)) => Step::Wait(at),
                (true, None) => self.wait((class, wait), now),
                (false, _) => {
                    self.due_since = None;
                    Step::Nothing
                }
            };
        };
        self.due_since = None;
        let Some(plan) = open.plan else { return Step::Keep };
        if open.people == People::Closed {
            return match (is_due, again_at) {
                (true, Some(_)) => Step::Keep,
                (true, None) => Step::Propose,
                (false, _) => Step::Close("it was rejected"),
            };
        }
        let is_over = plan.spec.expires_at.is_none_or(|at| at <= now);
        if !is_over && !differs(plan, fresh) {
            self.differs_since = None;
            return Step::Keep;
        }
        let since = *self.differs_since.get_or_insert(now);
        let is_long = now.duration_since(since) >= wait(DIFFERS_FOR);
        match (is_over || is_long, is_due) {
            (false, _) => Step::Keep,
            // An expired proposal needs no approval any more; but someone else's commit is never discarded.
            _ if open.people == People::Edited => Step::Differs,
            _ if open.people == People::Approved && !is_over => Step::Differs,
            (true, true) if again_at.is_none() => Step::Propose,
            (true, _) if is_over => Step::Close("it has expired"),
            // A rejected draft replaces no other proposal.
            (true, true) => Step::Keep,
            (true, false) => Step::Close("no changes left"),
        }
    }

    /// Waits until changes have been due long enough.
    fn wait(
        &mut self,
        (class, wait): (ChangeClass, impl Fn(SignedDuration) -> SignedDuration),
        now: Timestamp,
    ) -> Step {
        let since = *self.due_since.get_or_insert(now);
        let (due_for, between) = match class {
            ChangeClass::Create => (PENDING_FOR, PENDING_FOR),
            ChangeClass::MovePods => (DUE_FOR, BETWEEN_MOVES),
            ChangeClass::RemoveEmpty
            | ChangeClass::Replace
            | ChangeClass::Update
            | ChangeClass::Adopt
            | ChangeClass::Forget
            | ChangeClass::DeletePool => (DUE_FOR, BETWEEN),
        };
        let after = |at: Timestamp, pause| at.saturating_add(wait(pause)).unwrap_or(Timestamp::MAX);
        let at = self.proposed_at.map_or(Timestamp::MIN, |at| after(at, between)).max(after(since, due_for));
        if at <= now { Step::Propose } else { Step::Wait(at) }
    }
}

/// Returns whether the open proposal differs enough from the draft to be replaced.
fn differs(open: &Plan, fresh: &Plan) -> bool {
    let Covered { approved, strange, .. } = covers(open, fresh);
    let lost = approved.values().filter(|fate| fate.kept().is_none()).count();
    let many = lost + strange.len();
    lost == approved.len() || many > NODES_DIFFER || many * 100 > approved.len() * NODES_DIFFER_PERCENT
}

/// Returns the differences between a proposal and the current draft, one per line.
#[must_use]
pub fn differences(open: &Plan, fresh: &Plan) -> BTreeSet<Arc<str>> {
    let Covered { approved, strange, .. } = covers(open, fresh);
    let lost = approved.into_values().filter_map(|fate| match fate {
        Fate::NoLongerNeeded(because) | Fate::NoLongerHolds(because) | Fate::Waits(because) => Some(because),
        Fate::Gone => Some("a node that it deletes no longer exists".into()),
        Fate::Kept(_) => None,
    });
    lost.chain(strange.into_values()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::launch::tests::world::{moving, planned};

    const CLASS: ChangeClass = ChangeClass::MovePods;

    fn empty(plan: &Plan) -> Plan {
        let mut empty = plan.clone();
        empty.spec.changes.clear();
        empty
    }

    struct Story {
        upkeep: Upkeep,
        start: Timestamp,
    }

    impl Story {
        fn of(plan: &Plan) -> Self {
            let start = plan.spec.execution.as_ref().and_then(|execution| execution.seen_at);
            Self { upkeep: Upkeep::default(), start: start.expect("a live plan") }
        }

        fn at(&self, seconds: i64) -> Timestamp {
            self.start + SignedDuration::from_secs(seconds)
        }

        fn step(&mut self, seconds: i64, open: Option<&Plan>, fresh: &Plan) -> Step {
            let open = open.map(|plan| Open { plan: Some(plan), people: People::Nothing });
            let now = self.at(seconds);
            self.upkeep.step((CLASS, open), (fresh, None), (now, 1))
        }
    }

    #[test]
    fn what_stays_due_is_proposed_and_moves_again_only_after_six_hours() {
        let plan = planned(&moving());
        let mut story = Story::of(&plan);
        assert_eq!(story.step(0, None, &empty(&plan)), Step::Nothing);
        assert_eq!(story.step(10, None, &plan), Step::Wait(story.at(40)));
        assert_eq!(story.step(20, None, &empty(&plan)), Step::Nothing);
        assert_eq!(story.step(30, None, &plan), Step::Wait(story.at(60)));
        assert_eq!(story.step(60, None, &plan), Step::Propose);
        story.upkeep.proposed(story.at(60));
        assert_eq!(story.step(90, None, &plan), Step::Wait(story.at(21_660)));
        assert_eq!(story.step(21_660, None, &plan), Step::Propose);
    }

    #[test]
    fn a_proposal_stands_while_it_is_covered_and_goes_ten_minutes_after_it_is_not() {
        let plan = planned(&moving());
        let mut story = Story::of(&plan);
        assert_eq!(story.step(0, Some(&plan), &plan), Step::Keep);
        assert_eq!(story.step(10, Some(&plan), &empty(&plan)), Step::Keep);
        assert_eq!(story.step(300, Some(&plan), &plan), Step::Keep, "it is covered again");
        assert_eq!(story.step(310, Some(&plan), &empty(&plan)), Step::Keep);
        assert_eq!(story.step(909, Some(&plan), &empty(&plan)), Step::Keep);
        assert_eq!(story.step(910, Some(&plan), &empty(&plan)), Step::Close("no changes left"));
    }

    #[test]
    fn one_that_expired_is_replaced_or_closed_at_once() {
        let plan = planned(&moving());
        let mut story = Story::of(&plan);
        let day = 40 * 24 * 3_600;
        assert_eq!(story.step(day, Some(&plan), &plan), Step::Propose);
        assert_eq!(story.step(day, Some(&plan), &empty(&plan)), Step::Close("it has expired"));
    }

    #[test]
    fn what_people_are_at_or_cannot_be_read_stands_and_what_differs_is_said() {
        let plan = planned(&moving());
        let Story { mut upkeep, start } = Story::of(&plan);
        let mut step = |people, plan, fresh: &Plan, minutes: i64| {
            let now = start + SignedDuration::from_mins(minutes);
            upkeep.step((CLASS, Some(Open { plan, people })), (fresh, None), (now, 1))
        };
        for people in [People::Approved, People::Edited] {
            assert_eq!(step(people, Some(&plan), &plan, 0), Step::Keep);
            assert_eq!(step(people, Some(&plan), &empty(&plan), 1), Step::Keep);
            assert_eq!(step(people, Some(&plan), &empty(&plan), 11), Step::Differs);
        }
        let months = 40 * 24 * 60;
        assert_eq!(step(People::Edited, Some(&plan), &plan, months), Step::Differs);
        assert_eq!(step(People::Approved, Some(&plan), &plan, months), Step::Propose);
        assert_eq!(step(People::Nothing, None, &plan, months), Step::Keep);
        assert!(!differences(&plan, &empty(&plan)).is_empty());
        assert_eq!(differences(&plan, &plan), BTreeSet::new());
    }

    #[test]
    fn what_people_rejected_takes_no_open_proposals_place() {
        let plan = planned(&moving());
        let Story { mut upkeep, start } = Story::of(&plan);
        let open = empty(&plan);
        let open = Some(Open { plan: Some(&open), people: People::Nothing });
        let mut step = |rejected: bool, minutes: i64| {
            let now = start + SignedDuration::from_mins(minutes);
            upkeep.step((CLASS, open), (&plan, rejected.then_some(start)), (now, 1))
        };
        assert_eq!([step(true, 0), step(true, 11)], [Step::Keep, Step::Keep]);
        assert_eq!(step(false, 12), Step::Propose);
        let expired = 40 * 24 * 60;
        assert_eq!(step(false, expired), Step::Propose, "a day has passed");
    }

    #[test]
    fn what_people_rejected_comes_back_a_day_later_and_something_else_at_once() {
        let plan = planned(&moving());
        let Story { mut upkeep, start } = Story::of(&plan);
        let closed = Some(Open { plan: Some(&plan), people: People::Closed });
        let at = |hours: i64| start + SignedDuration::from_hours(hours);
        let mut step = |open, rejected: bool, hours: i64| {
            upkeep.step((CLASS, open), (&plan, rejected.then_some(start)), (at(hours), 1))
        };
        assert_eq!(step(closed, true, 23), Step::Keep);
        assert_eq!(step(closed, true, 24), Step::Propose);
        assert_eq!(step(closed, false, 1), Step::Propose, "something else is due");
        assert_eq!(step(None, true, 1), Step::Wait(at(24)), "its branch is gone");
        let none = upkeep.step((CLASS, closed), (&empty(&plan), None), (at(1), 1));
        assert_eq!(none, Step::Close("it was rejected"));
    }

    /// The next event for a class's proposal.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        /// This many seconds pass, and none, half or all of the plan is due.
        Pass { seconds: i64, due: u8 },
        /// Someone approves it or commits to its branch.
        People(People),
        /// It is merged or deleted by hand.
        Gone,
    }

    /// Planned once for all cases.
    static MOVES: LazyLock<Plan> = LazyLock::new(|| planned(&moving()));

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let pass = (1_i64..900, 0_u8..3).prop_map(|(seconds, due)| Event::Pass { seconds, due });
        let people = prop_oneof![Just(People::Approved), Just(People::Edited)];
        let event = prop_oneof![8 => pass, 1 => people.prop_map(Event::People), 1 => Just(Event::Gone)];
        proptest::collection::vec(event, 1..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn one_is_open_at_most_and_none_goes_that_somebody_committed_to_or_that_was_covered_just_now(
            events in events(),
        ) {
            let all = MOVES.clone();
            let mut half = all.clone();
            half.spec.changes.retain(|_, planned| planned.change.delete().is_none());
            let fresh = [empty(&all), half, all];
            let Story { mut upkeep, start } = Story::of(&fresh[2]);
            let (mut open, mut people, mut now) = (None::<Plan>, People::Nothing, start);
            let (mut covered_at, mut moved_at) = (start, None::<Timestamp>);
            for event in events {
                let (seconds, due) = match event {
                    Event::People(did) => {
                        people = did;
                        continue;
                    }
                    Event::Gone => {
                        open = None;
                        continue;
                    }
                    Event::Pass { seconds, due } => (seconds, &fresh[usize::from(due)]),
                };
                now += SignedDuration::from_secs(seconds);
                let is_over = open.as_ref().is_some_and(|plan| plan.spec.expires_at.is_none_or(|at| at <= now));
                if open.as_ref().is_some_and(|plan| !differs(plan, due)) {
                    covered_at = now;
                }
                if open.is_none() {
                    people = People::Nothing;
                }
                let may_go = people == People::Nothing || people == People::Approved && is_over;
                let state = open.as_ref().map(|plan| Open { plan: Some(plan), people });
                match upkeep.step((CLASS, state), (due, None), (now, 1)) {
                    Step::Nothing | Step::Wait(_) => prop_assert!(open.is_none()),
                    Step::Keep => prop_assert!(open.is_some()),
                    Step::Differs => prop_assert!(open.is_some() && !may_go),
                    Step::Close(_) => {
                        prop_assert!(open.is_some() && may_go && due.spec.changes.is_empty());
                        prop_assert!(is_over || now.duration_since(covered_at) >= DIFFERS_FOR);
                        open = None;
                    }
                    Step::Propose => {
                        prop_assert!(may_go && !due.spec.changes.is_empty());
                        let pause = moved_at.map(|at| now.duration_since(at));
                        match &open {
                            None => prop_assert!(pause.is_none_or(|pause| pause >= BETWEEN_MOVES)),
                            Some(_) => prop_assert!(
                                is_over || now.duration_since(covered_at) >= DIFFERS_FOR
                            ),
                        }
                        upkeep.proposed(now);
                        (open, people) = (Some(due.clone()), People::Nothing);
                        (covered_at, moved_at) = (now, Some(now));
                    }
                }
            }
        }
    }
}
