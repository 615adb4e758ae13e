//! Reads the holds of a NodeFleet: its freezes, and the change classes that are on hold or need review.
//!
//! Converts from the wire type. A decision that plans do not support yet is refused by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::SignedDuration;

use super::fault::Fault;
use super::path;
use crate::api::node_fleet::{ApproveClasses, Decision, Freeze as WireFreeze, Mode, NodeFleetSpec};
use crate::api::node_pool::DisruptionReason as WireReason;
use crate::model::hold::time_zone_named;
use crate::model::{ChangeClass, DisruptionReason, Freeze, FreezeWindow, Holds, PoolName, Reviewed};

/// Holds and review requirements of a NodeFleet.
pub(super) struct Kept {
    pub(super) holds: Holds,
    pub(super) reviewed: Reviewed,
}

/// Returns the holds and review requirements, and adds unsupported ones to `faults`.
pub(super) fn kept(spec: &NodeFleetSpec, faults: &mut Vec<Fault>) -> Kept {
    let approve = spec.approve.clone().unwrap_or_default();
    let freezes = spec.freeze.iter().flatten().enumerate();
    let freezes = freezes.filter_map(|(place, wire)| freeze(wire, place, faults)).collect();
    let all = decided((&approve.classes, &BTreeSet::new()), &path("spec.approve"), faults);
    let mut reviewed: BTreeSet<ChangeClass> = match spec.mode {
        Some(Mode::Review) => IN_MODE_REVIEW.into(),
        Some(Mode::Auto) => [ChangeClass::DeletePool].into(),
        Some(Mode::Observe) | None => BTreeSet::new(),
    };
    reviewed.extend(&all.reviewed);
    reviewed.retain(|class| !all.held.contains(class) && !all.by_themselves.contains(class));
    let mut reviewed = Reviewed { classes: reviewed, ..Reviewed::default() };
    let mut holds = Holds { freezes, classes: all.held.clone(), ..Holds::default() };
    for (pool, wire) in approve.pools.iter().flatten() {
        let mut at = path("spec.approve.pools");
        at.push(super::Segment::Key(pool.clone()));
        let own = decided((wire, &all.held), &at, faults);
        let is_reviewed = |class: &ChangeClass| reviewed.classes.contains(class);
        let also = own.reviewed.iter().copied().filter(|class| !is_reviewed(class)).collect();
        let not = own.by_themselves.iter().chain(&own.held).copied().filter(is_reviewed).collect();
        let says = |pools: &mut BTreeMap<PoolName, BTreeSet<ChangeClass>>, classes: BTreeSet<ChangeClass>| {
            if !classes.is_empty() {
                pools.insert(PoolName::new(pool), classes);
            }
        };
        says(&mut holds.pools, own.held);
        says(&mut holds.lifted, own.lifted);
        says(&mut reviewed.pools, also);
        says(&mut reviewed.not_in, not);
    }
    Kept { holds, reviewed }
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

/// Change classes that mode `auto` applies.
const HAPPEN_BY_THEMSELVES: [ChangeClass; 5] = [
    ChangeClass::Create,
    ChangeClass::RemoveEmpty,
    ChangeClass::MovePods,
    ChangeClass::Replace,
    ChangeClass::Update,
];

/// Change classes that need review in mode `review`.
const IN_MODE_REVIEW: [ChangeClass; 5] = [
    ChangeClass::MovePods,
    ChangeClass::Replace,
    ChangeClass::Adopt,
    ChangeClass::Forget,
    ChangeClass::DeletePool,
];

/// Decisions about change classes in one place.
#[derive(Default)]
struct Decided {
    /// Classes on hold.
    held: BTreeSet<ChangeClass>,
    /// Classes that are on hold for all pools, except here.
    lifted: BTreeSet<ChangeClass>,
    /// Classes that need review.
    reviewed: BTreeSet<ChangeClass>,
    /// Classes that are applied automatically.
    by_themselves: BTreeSet<ChangeClass>,
}

/// Returns the decisions about all classes in one place. `everywhere` holds the classes that are on hold for all pools.
fn decided(
    (wire, everywhere): (&ApproveClasses, &BTreeSet<ChangeClass>),
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
        let Some(decision) = decision else { continue };
        if *decision != Decision::Hold && everywhere.contains(&class) {
            decided.lifted.insert(class);
        }
        match decision {
            Decision::Hold => {
                decided.held.insert(class);
            }
            Decision::Review => {
                decided.reviewed.insert(class);
            }
            Decision::Auto if HAPPEN_BY_THEMSELVES.contains(&class) => {
                decided.by_themselves.insert(class);
            }
            Decision::Auto => {
                let mut path = at.to_vec();
                path.push(super::Segment::Key(class.as_str().to_owned()));
                let message = "this class never happens by itself".to_owned();
                let hint = Some("take it out, or write `review` or `hold`".to_owned());
                faults.push(Fault { path, message, hint });
            }
        }
    }
    decided
}
