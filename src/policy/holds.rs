//! What a NodeFleet keeps back: its freezes, and the classes of change that it puts on hold.
//!
//! Wire to value. A decision that a plan cannot act on yet is refused by name.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;

use super::fault::Fault;
use super::path;
use crate::api::node_fleet::{ApproveClasses, Decision, Freeze as WireFreeze, NodeFleetSpec};
use crate::api::node_pool::DisruptionReason as WireReason;
use crate::model::hold::time_zone_named;
use crate::model::{ChangeClass, DisruptionReason, Freeze, FreezeWindow, Holds, PoolName};

/// Returns what is kept back, and adds what cannot be.
pub(super) fn holds(spec: &NodeFleetSpec, faults: &mut Vec<Fault>) -> Holds {
    let approve = spec.approve.clone().unwrap_or_default();
    let freezes = spec.freeze.iter().flatten().enumerate();
    let freezes = freezes.filter_map(|(place, wire)| freeze(wire, place, faults)).collect();
    let Decided { held: classes, lifted: _ } =
        decided((&approve.classes, &BTreeSet::new()), &path("spec.approve"), faults);
    let mut holds = Holds { freezes, classes, ..Holds::default() };
    for (pool, wire) in approve.pools.iter().flatten() {
        let mut at = path("spec.approve.pools");
        at.push(super::Segment::Key(pool.clone()));
        let Decided { held, lifted } = decided((wire, &holds.classes), &at, faults);
        if !held.is_empty() {
            holds.pools.insert(PoolName::new(pool), held);
        }
        if !lifted.is_empty() {
            holds.lifted.insert(PoolName::new(pool), lifted);
        }
    }
    holds
}

fn freeze(wire: &WireFreeze, place: usize, faults: &mut Vec<Fault>) -> Option<Freeze> {
    let at = |field: &str| path(&format!("spec.freeze[{place}].{field}"));
    let window = match (&wire.schedule, &wire.duration) {
        (Some(schedule), Some(length)) => {
            let Some(length) = length.nanoseconds() else {
                let message = format!("`{}` is longer than 292 years", length.0);
                let hint = Some("a freeze without `schedule` and `duration` is always open".to_owned());
                faults.push(Fault { path: at("duration"), message, hint });
                return None;
            };
            let zone = wire.time_zone.as_deref().filter(|zone| *zone != "UTC");
            if let Some(zone) = zone.filter(|zone| time_zone_named(zone).is_none()) {
                let message = format!("`{zone}` is no time zone of the IANA list");
                let hint = Some("write a name such as `Europe/Berlin`; absent it is `UTC`".to_owned());
                faults.push(Fault { path: at("timeZone"), message, hint });
                return None;
            }
            Some(FreezeWindow {
                schedule: Arc::from(schedule.as_str()),
                duration: SignedDuration::from_nanos(length),
                time_zone: zone.map(Arc::from),
            })
        }
        (Some(_), None) | (None, Some(_) | None) => None,
    };
    let reason = |reason: &WireReason| match reason {
        WireReason::Underutilized => DisruptionReason::Underutilized,
        WireReason::Empty => DisruptionReason::Empty,
        WireReason::Drifted => DisruptionReason::Drifted,
    };
    Some(Freeze {
        name: Arc::from(wire.name.as_str()),
        window,
        pools: wire.pools.as_ref().map(|pools| pools.iter().map(PoolName::new).collect()),
        reasons: wire.reasons.as_ref().map(|reasons| reasons.iter().map(reason).collect()),
    })
}

/// The classes that mode `auto` carries out.
const HAPPEN_BY_THEMSELVES: [ChangeClass; 5] = [
    ChangeClass::Create,
    ChangeClass::RemoveEmpty,
    ChangeClass::MovePods,
    ChangeClass::Replace,
    ChangeClass::Update,
];

/// What is decided of classes in one place.
#[derive(Default)]
struct Decided {
    /// Those on hold.
    held: BTreeSet<ChangeClass>,
    /// Those that are on hold for all pools, and not here.
    lifted: BTreeSet<ChangeClass>,
}

/// Returns which classes are on hold, and which are not though they are on hold for all pools.
fn decided(
    (wire, held_by_all): (&ApproveClasses, &BTreeSet<ChangeClass>),
    at: &[super::Segment],
    faults: &mut Vec<Fault>,
) -> Decided {
    let ApproveClasses { create, remove_empty, move_pods, replace, update, adopt, forget, delete_pool } =
        wire;
    let decisions = [
        (ChangeClass::Create, create),
        (ChangeClass::RemoveEmpty, remove_empty),
        (ChangeClass::MovePods, move_pods),
        (ChangeClass::Replace, replace),
        (ChangeClass::Update, update),
        (ChangeClass::Adopt, adopt),
        (ChangeClass::Forget, forget),
        (ChangeClass::DeletePool, delete_pool),
    ];
    let mut decided = Decided::default();
    for (class, decision) in decisions {
        let message = match decision {
            None => continue,
            Some(Decision::Hold) => {
                decided.held.insert(class);
                continue;
            }
            Some(Decision::Auto | Decision::Review) if held_by_all.contains(&class) => {
                decided.lifted.insert(class);
                continue;
            }
            // As mode `auto` has it.
            Some(Decision::Auto) if HAPPEN_BY_THEMSELVES.contains(&class) => continue,
            Some(Decision::Auto) => "this class never happens by itself",
            Some(Decision::Review) => {
                "this version does not act on this decision yet: it knows `auto` and `hold` alone"
            }
        };
        let mut path = at.to_vec();
        path.push(super::Segment::Key(class.as_str().to_owned()));
        faults.push(Fault {
            path,
            message: message.to_owned(),
            hint: Some("take it out, or write `hold`".to_owned()),
        });
    }
    decided
}
