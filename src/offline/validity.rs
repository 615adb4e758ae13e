//! How long a plan of a live cluster may be started.

use jiff::SignedDuration;

use crate::model::ChangeClass;
use crate::plan::Plan;
use crate::review::proposal::classes;

/// Validity of a plan that one person creates and applies: half a working day, during which prices and quota stay
/// valid.
const OF_HAND: SignedDuration = SignedDuration::from_hours(4);

/// How long a plan may be started after its cluster was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// This long.
    For(SignedDuration),
    /// As long as its changes may wait for a review: the shortest of their classes.
    OfClasses,
}

impl Default for Validity {
    fn default() -> Self {
        Self::For(OF_HAND)
    }
}

impl Validity {
    /// Returns how long a plan may be started.
    #[must_use]
    pub fn of(self, plan: &Plan) -> SignedDuration {
        match self {
            Self::For(duration) => duration,
            Self::OfClasses => classes(plan).into_iter().map(of_class).min().unwrap_or(OF_HAND),
        }
    }
}

/// Returns how long a change may wait for a review: new nodes are needed now, a rollout may take a week.
#[must_use]
pub const fn of_class(class: ChangeClass) -> SignedDuration {
    match class {
        ChangeClass::Create => SignedDuration::from_hours(4),
        ChangeClass::RemoveEmpty | ChangeClass::MovePods | ChangeClass::DeletePool => {
            SignedDuration::from_hours(24)
        }
        ChangeClass::Replace | ChangeClass::Update | ChangeClass::Adopt | ChangeClass::Forget => {
            SignedDuration::from_hours(7 * 24)
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::Validity;
    use crate::launch::tests::world::{OBJECTS, moving, planned};

    #[test]
    fn a_plan_of_several_classes_is_good_for_as_long_as_the_shortest_of_them() {
        let hours = SignedDuration::from_hours;
        let creates = planned(OBJECTS);
        assert_eq!(Validity::OfClasses.of(&creates), hours(4));
        let mut moves = planned(&moving());
        moves.spec.changes.retain(|_, planned| planned.change.delete().is_some());
        let alone = Validity::OfClasses.of(&moves);
        assert!(alone > hours(4), "{alone:?}");
        moves.spec.changes.extend(creates.spec.changes);
        assert_eq!(Validity::OfClasses.of(&moves), hours(4));
        assert_eq!(Validity::For(hours(1)).of(&moves), hours(1));
    }
}
