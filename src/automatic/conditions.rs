//! The conditions of a NodeFleet, in kstatus conventions. `Ready` is true only if nothing is wrong and no pod or node
//! waits, and its reason is `Settled` only if there is nothing to do.
//!
//! Never reports on a fleet that was not evaluated.

use jiff::Timestamp;

use super::standing::FleetRef;
use super::status::{News, short};
use crate::api::meta::Condition;
use crate::api::node_fleet::{FleetHold, FleetWaiting, LastPlan, NodeFleetStatus, PlanInFlight};
use crate::model::Mode;

/// Status, reason and message.
type Said = (&'static str, &'static str, String);

/// Returns the conditions; an unchanged status keeps its transition time.
pub(super) fn conditions(
    news: &News,
    known: &NodeFleetStatus,
    fleet: &FleetRef,
    at: Timestamp,
) -> Vec<Condition> {
    let all = [("Ready", ready(news)), ("Reconciling", reconciling(news)), ("Stalled", stalled(news))];
    let of = |(kind, (status, reason, message)): (&str, Said)| {
        let before = known.conditions.iter().flatten().find(|condition| condition.type_ == kind);
        // The condition of an earlier process remains until this one has planned a round.
        if let Some(before) = before.filter(|_| reason == NOT_PLANNED) {
            return Condition { observed_generation: Some(fleet.generation), ..before.clone() };
        }
        let since = before.filter(|before| before.status == status);
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message,
            last_transition_time: since
                .map_or_else(|| format!("{at:.0}"), |before| before.last_transition_time.clone()),
            observed_generation: Some(fleet.generation),
        }
    };
    all.into_iter().map(of).collect()
}

/// Reason while this process has not planned a round yet.
const NOT_PLANNED: &str = "NotPlanned";

fn stalled(news: &News) -> Said {
    match news.stops.first() {
        Some(stop) => ("True", "Stopped", short(stop)),
        None => ("False", "Proceeding", String::new()),
    }
}

fn reconciling(news: &News) -> Said {
    match &*news.in_flight {
        [] => ("False", "NothingInFlight", String::new()),
        _ => ("True", "ChangesInFlight", under_way(&news.in_flight)),
    }
}

/// Describes how many nodes are added, changed and destroyed.
fn under_way(plans: &[PlanInFlight]) -> String {
    let all = |of: fn(&PlanInFlight) -> i32| plans.iter().map(of).fold(0, i32::saturating_add);
    let (add, change, destroy) = (all(|it| it.add), all(|it| it.change), all(|it| it.destroy));
    let nodes = format!("{add} nodes to add, {change} to change, {destroy} to destroy");
    if plans.len() == 1 {
        format!("1 plan in progress: {nodes}")
    } else {
        format!("{} plans in progress: {nodes}", plans.len())
    }
}

fn ready(news: &News) -> Said {
    let News { stops, in_flight, waiting, failed, kept, silent, .. } = news;
    if let Some(stop) = stops.first() {
        return ("False", "Stopped", short(stop));
    }
    let Some(plan) = &news.plan else {
        return ("Unknown", NOT_PLANNED, "no round has been planned yet".to_owned());
    };
    if !in_flight.is_empty() {
        return ("False", "ChangesInFlight", under_way(in_flight));
    }
    if let Some(first) = waiting.first() {
        return ("False", "PodsWait", pods(waiting, first));
    }
    if let Some(FleetHold { node, because, .. }) = failed.iter().chain(kept).chain(silent).next() {
        return ("False", "NodesWait", short(&format!("`{node}`: {because}")));
    }
    let held = news.deletions.len() + news.paced.len() + news.holds.len();
    let LastPlan { add, change, destroy, .. } = plan;
    match (held, add + change + destroy) {
        (0, 0) => ("True", "Settled", String::new()),
        (0, _) => {
            let would = format!("the last plan has {add} to add, {change} to change, {destroy} to destroy");
            let observes = news.mode == Mode::Observe;
            let message = if observes { format!("mode `observe` applies nothing: {would}") } else { would };
            ("True", "ChangesPlanned", message)
        }
        (1, _) => ("True", "ChangesHeld", "1 change is due and held back: see `status.holds`".to_owned()),
        (held, _) => {
            ("True", "ChangesHeld", format!("{held} changes are due and held back: see `status.holds`"))
        }
    }
}

fn pods(waiting: &[FleetWaiting], first: &FleetWaiting) -> String {
    let all: i32 = waiting.iter().map(|waiting| waiting.pods).fold(0, i32::saturating_add);
    let FleetWaiting { example, because, since, .. } = first;
    let since = since.as_ref().map_or_else(String::new, |since| format!(" since {since}"));
    let lead = if all == 1 {
        format!("pod `{example}` is Pending")
    } else {
        format!("{all} pods are Pending, such as `{example}`")
    };
    short(&format!("{lead}{since}: {because}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(add: i32) -> LastPlan {
        LastPlan {
            id: "p".to_owned(),
            seen_at: "2026-01-01T00:00:00Z".to_owned(),
            add,
            change: 0,
            destroy: 0,
            pending: 0,
            monthly_before: "1.00".to_owned(),
            monthly_after: "1.00".to_owned(),
        }
    }

    fn hold() -> FleetHold {
        FleetHold {
            node: "n1".to_owned(),
            class: "create".to_owned(),
            because: "waits for a taint to go".to_owned(),
            since: None,
            until: None,
        }
    }

    #[test]
    fn what_is_in_flight_is_told_by_how_many_nodes_come_change_and_go() {
        let flight = |add, destroy| PlanInFlight {
            plan: "p".to_owned(),
            changes: add + destroy,
            add,
            change: 0,
            destroy,
        };
        let of = |in_flight| ready(&News { plan: Some(last(0)), in_flight, ..News::default() }).2;
        assert_eq!(of(vec![flight(3, 1)]), "1 plan in progress: 3 nodes to add, 0 to change, 1 to destroy");
        assert_eq!(
            of(vec![flight(3, 1), flight(0, 2)]),
            "2 plans in progress: 3 nodes to add, 0 to change, 3 to destroy"
        );
    }

    #[test]
    fn settled_is_said_only_when_there_is_nothing_to_do_and_nobody_waits() {
        let said = |news: &News| {
            let (status, reason, message) = ready(news);
            format!("{status} {reason} {message}")
        };
        let settled = News { plan: Some(last(0)), mode: Mode::Auto, ..News::default() };
        assert_eq!(said(&settled), "True Settled ");
        assert_eq!(said(&News::default()), "Unknown NotPlanned no round has been planned yet");
        let waiting = FleetWaiting {
            pods: 2,
            example: "web/a".to_owned(),
            because: "node `n1` to join".to_owned(),
            since: Some("2026-01-01T00:00:00Z".to_owned()),
        };
        let waits = News { waiting: vec![waiting], ..settled.clone() };
        assert_eq!(
            said(&waits),
            "False PodsWait 2 pods are Pending, such as `web/a` since 2026-01-01T00:00:00Z: node `n1` to join"
        );
        for trouble in [
            News { kept: vec![hold()], ..settled.clone() },
            News { failed: vec![hold()], ..settled.clone() },
            News { silent: vec![hold()], ..settled.clone() },
        ] {
            assert_eq!(said(&trouble), "False NodesWait `n1`: waits for a taint to go");
        }
        let held = News { holds: vec![hold()], ..settled.clone() };
        assert_eq!(said(&held), "True ChangesHeld 1 change is due and held back: see `status.holds`");
        let observed = News { plan: Some(last(1)), mode: Mode::Observe, ..settled };
        assert_eq!(
            said(&observed),
            "True ChangesPlanned mode `observe` applies nothing: the last plan has 1 to add, 0 to change, 0 to destroy"
        );
    }

    #[test]
    fn a_process_that_has_not_looked_yet_leaves_the_conditions_of_the_one_before() {
        let fleet = FleetRef { name: "prod".to_owned(), generation: 2 };
        let at = |second| Timestamp::from_second(second).unwrap();
        let settled = News { plan: Some(last(0)), ..News::default() };
        let before = conditions(&settled, &NodeFleetStatus::default(), &fleet, at(0));
        let known = NodeFleetStatus { conditions: Some(before.clone()), ..NodeFleetStatus::default() };
        assert_eq!(conditions(&News::default(), &known, &fleet, at(60))[0], before[0]);
    }
}
