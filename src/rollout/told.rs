//! Describes what a started change waits for: the obstacle to its next side effects.
//!
//! Never decides anything: only describes what `next` and `Memory` contain.

use jiff::Timestamp;

use super::action::{Action, Effect};
use super::memory::{Memory, Tries};
use super::outcome::Standing;

/// The described wait of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What it waits for.
    pub what: String,
    /// Start of the wait, if recorded for the change.
    pub since: Option<Timestamp>,
    /// Latest end of the wait, or time of the next attempt.
    pub until: Option<Timestamp>,
}

/// Returns what a change waits for; `None` if it is finished or its actions are in progress.
#[must_use]
pub fn told(standing: &Standing, memory: &Memory) -> Option<Told> {
    match standing {
        Standing::Settled(_) => None,
        Standing::Waits(wait) => Some(Told { what: wait.what.clone(), since: None, until: wait.until }),
        Standing::Acts(actions) => refused(actions, memory),
    }
}

/// Describes the failure of actions that are retried: of several the longest-lasting one.
fn refused(actions: &[Action], memory: &Memory) -> Option<Told> {
    let tried = |action: &'_ Action| Some((action.clone(), memory.tries.get(&action.key())?.clone()));
    let mut tried: Vec<(Action, Tries)> = actions.iter().filter_map(tried).collect();
    tried.sort_by_key(|(action, tries)| (tries.since, action.key()));
    let others = tried.len().saturating_sub(1);
    let (action, tries) = tried.into_iter().next()?;
    let what = match (&action.effect, others) {
        (Effect::Evict(pod), 0) => format!("pod `{}` to be evicted", pod.key),
        (Effect::Evict(pod), others) => format!("pod `{}` and {others} more to be evicted", pod.key),
        (effect, _) => format!("the next try to {effect}"),
    };
    Some(Told {
        what: format!("{what}: {}", tries.because),
        since: Some(tries.since),
        until: memory.not_before.get(&action.key()).copied().filter(|_| tries.is_refused),
    })
}

#[cfg(test)]
mod tests {
    use super::super::action::PodRef;
    use super::super::outcome::Wait;
    use super::*;
    use crate::model::{NodeName, PodKey};
    use crate::plan::ChangeId;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn evict(pod: &str) -> Action {
        let key = PodKey::new("shop", pod);
        let pod = PodRef { key, uid: pod.into(), node: NodeName::new("n1"), grace_seconds: None };
        Action { change: ChangeId("c".into()), effect: Effect::Evict(pod) }
    }

    #[test]
    fn a_drain_that_a_budget_keeps_names_pod_and_budget_and_since_when() {
        let mut memory = Memory::default();
        let standing = Standing::Acts(vec![evict("web-1"), evict("web-2")]);
        assert_eq!(told(&standing, &memory), None, "nothing has kept it yet");
        for (pod, since) in [("web-2", 20), ("web-1", 10)] {
            let tries = Tries {
                times: 3,
                because: "PodDisruptionBudget `shop/web` allows no more disruptions now".into(),
                code: None,
                is_refused: false,
                since: at(since),
            };
            memory.tries.insert(evict(pod).key(), tries);
        }
        let found = told(&standing, &memory).unwrap();
        assert_eq!(
            found.what,
            "pod `shop/web-1` and 1 more to be evicted: PodDisruptionBudget `shop/web` allows no more disruptions now"
        );
        assert_eq!((found.since, found.until), (Some(at(10)), None));
    }

    #[test]
    fn what_takes_its_time_is_told_as_it_is() {
        let wait = Wait {
            what: "VM `a` to be gone".to_owned(),
            until: Some(at(5)),
            on: super::super::outcome::WaitsOn::World,
        };
        let found = told(&Standing::Waits(wait), &Memory::default()).unwrap();
        assert_eq!(found, Told { what: "VM `a` to be gone".to_owned(), since: None, until: Some(at(5)) });
    }
}
