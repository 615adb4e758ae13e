//! Changes that the fleet holds back although they are due: freezes, and change classes on hold.
//!
//! Only voluntary changes are held back, never new nodes for pending pods. A freeze with a schedule opens at each hit
//! and lasts for its duration, like a budget's window; without a time it counts as open, the stricter reading.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use croner::parser::{CronParser, Seconds};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, Zoned};

use super::{DisruptionReason, PoolName, Reviewed};

/// A class of change, by the name that every output has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChangeClass {
    /// A new node.
    Create,
    /// A node without pods of workloads goes.
    RemoveEmpty,
    /// Pods move so that a node can go or become cheaper.
    MovePods,
    /// A node goes that differs from what is asked for, is too old or unhealthy.
    Replace,
    /// A running node is changed in place.
    Update,
    /// A VM that exists is taken over.
    Adopt,
    /// A VM is let go without being deleted.
    Forget,
    /// A pool goes with all its nodes, or only these on request.
    DeletePool,
}

impl ChangeClass {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::RemoveEmpty,
        Self::MovePods,
        Self::Replace,
        Self::Update,
        Self::Adopt,
        Self::Forget,
        Self::DeletePool,
    ];

    /// Returns the name of the class.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::RemoveEmpty => "remove-empty",
            Self::MovePods => "move-pods",
            Self::Replace => "replace",
            Self::Update => "update",
            Self::Adopt => "adopt",
            Self::Forget => "forget",
            Self::DeletePool => "delete-pool",
        }
    }

    /// Returns the class of what happens to a node for this reason.
    #[must_use]
    pub const fn of(reason: DisruptionReason) -> Self {
        match reason {
            DisruptionReason::Empty => Self::RemoveEmpty,
            DisruptionReason::Underutilized | DisruptionReason::Excess => Self::MovePods,
            DisruptionReason::Drifted | DisruptionReason::Expired | DisruptionReason::Unhealthy => {
                Self::Replace
            }
            DisruptionReason::Destroyed | DisruptionReason::Deleted => Self::DeletePool,
        }
    }
}

impl fmt::Display for ChangeClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// When a freeze is open.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FreezeWindow {
    /// A cron line.
    pub schedule: Arc<str>,
    /// For how long from each hit.
    #[serde(with = "super::written::text")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub duration: SignedDuration,
    /// The time zone of the cron line, by its IANA name; `None` is UTC.
    pub time_zone: Option<Arc<str>>,
}

/// A window in which nothing is changed by choice.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Freeze {
    /// What people call it.
    pub name: Arc<str>,
    /// When it is open; `None` is always.
    pub window: Option<FreezeWindow>,
    /// The pools that it is for; `None` is all.
    pub pools: Option<BTreeSet<PoolName>>,
    /// The reasons that it is for; `None` is everything that is done by choice.
    pub reasons: Option<BTreeSet<DisruptionReason>>,
}

/// What a NodeFleet keeps back.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Holds {
    /// Windows.
    pub freezes: Vec<Freeze>,
    /// Classes that are on hold in all pools.
    pub classes: BTreeSet<ChangeClass>,
    /// Classes that are on hold in single pools.
    pub pools: BTreeMap<PoolName, BTreeSet<ChangeClass>>,
    /// Classes that are on hold in all pools but these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lifted: BTreeMap<PoolName, BTreeSet<ChangeClass>>,
    /// What is kept back since people review it first: nothing where what is planned is to be reviewed.
    #[serde(default, skip_serializing_if = "Reviewed::is_nothing")]
    pub reviewed: Reviewed,
}

/// What keeps a change back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold {
    /// What it is, and until when, for people.
    pub because: String,
    /// Until when; `None` where there is no end, or no time to tell it by.
    pub until: Option<Timestamp>,
}

/// Whether a freeze is open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreezeState {
    /// It is, until then; `None` is without an end.
    Open(Option<Timestamp>),
    /// It is not.
    Closed,
    /// There is no time to tell by; it is taken as open.
    Undecided,
}

impl Freeze {
    /// Returns whether the freeze is open. A schedule that cannot be read keeps it open.
    #[must_use]
    pub fn state(&self, at: Option<Timestamp>) -> FreezeState {
        let Some(FreezeWindow { schedule, duration, time_zone }) = &self.window else {
            return FreezeState::Open(None);
        };
        let cron = CronParser::builder().seconds(Seconds::Disallowed).build().parse(schedule);
        let zone = match time_zone {
            Some(name) => time_zone_named(name),
            None => Some(TimeZone::UTC),
        };
        let (Ok(cron), Some(zone)) = (cron, zone) else { return FreezeState::Open(None) };
        let Some(now) = at else { return FreezeState::Undecided };
        if *duration <= SignedDuration::ZERO {
            return FreezeState::Closed;
        }
        let next = |after: Timestamp, is_inclusive: bool| -> Option<Timestamp> {
            let after: Zoned = after.to_zoned(zone.clone());
            cron.find_next_occurrence(&after, is_inclusive).ok().map(|hit| hit.timestamp())
        };
        let first = now.checked_sub(*duration).ok().and_then(|start| next(start, false));
        let Some(mut hit) = first.filter(|hit| *hit <= now) else { return FreezeState::Closed };
        for _ in 0..HITS_MAX {
            let Ok(end) = hit.checked_add(*duration) else { return FreezeState::Open(None) };
            match next(hit, false).filter(|next| *next <= end) {
                Some(later) => hit = later,
                None => return FreezeState::Open(Some(end)),
            }
        }
        FreezeState::Open(None)
    }
}

/// How many windows that follow one another without a gap are looked through before they count as endless.
const HITS_MAX: usize = 400;

/// Returns the time zone of this IANA name, from the list that is built in.
#[must_use]
pub fn time_zone_named(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

impl Holds {
    /// Returns whether nothing is kept back.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.freezes.is_empty()
            && self.classes.is_empty()
            && self.pools.values().all(BTreeSet::is_empty)
            && self.reviewed.is_nothing()
    }

    /// Returns what keeps a node of a pool from going for this reason: of several holds the one that lasts longest.
    /// Age and sickness are no choice, so that only their class keeps such nodes; who deletes a node has decided.
    #[must_use]
    pub fn on_removal(
        &self,
        pool: &PoolName,
        reason: DisruptionReason,
        at: Option<Timestamp>,
    ) -> Option<Hold> {
        if reason == DisruptionReason::Deleted {
            return None;
        }
        let is_meant = |freeze: &Freeze| match &freeze.reasons {
            Some(reasons) => reasons.contains(&reason),
            None => reason.is_chosen(),
        };
        self.longest(pool, ChangeClass::of(reason), is_meant, at)
    }

    /// Returns what keeps nodes of a pool from being changed in a way that disrupts no pod. A freeze for certain
    /// reasons is not about that.
    #[must_use]
    pub fn on_change(&self, pool: &PoolName, class: ChangeClass, at: Option<Timestamp>) -> Option<Hold> {
        self.longest(pool, class, |freeze| freeze.reasons.is_none(), at)
    }

    /// Returns what keeps nodes of a pool from being made. Freezes do not: they are about what runs.
    #[must_use]
    pub fn on_create(&self, pool: &PoolName) -> Option<Hold> {
        self.longest(pool, ChangeClass::Create, |_| false, None)
    }

    /// Returns the holds on new nodes alone, with these classes on hold beside them.
    #[must_use]
    pub fn of_creates(&self, others: impl IntoIterator<Item = ChangeClass>) -> Self {
        let held = |classes: &BTreeSet<ChangeClass>| classes.contains(&ChangeClass::Create);
        let only = |pools: &BTreeMap<PoolName, BTreeSet<ChangeClass>>| -> BTreeMap<_, _> {
            let pools = pools.iter().filter(|(_, classes)| held(classes));
            pools.map(|(pool, _)| (pool.clone(), BTreeSet::from([ChangeClass::Create]))).collect()
        };
        let own = held(&self.classes).then_some(ChangeClass::Create);
        Self {
            freezes: Vec::new(),
            classes: others.into_iter().chain(own).collect(),
            pools: only(&self.pools),
            lifted: only(&self.lifted),
            reviewed: self.reviewed.of(ChangeClass::Create),
        }
    }

    fn longest(
        &self,
        pool: &PoolName,
        class: ChangeClass,
        is_meant: impl Fn(&Freeze) -> bool,
        at: Option<Timestamp>,
    ) -> Option<Hold> {
        let is_lifted = self.lifted.get(pool).is_some_and(|classes| classes.contains(&class));
        if self.classes.contains(&class) && !is_lifted {
            let because = format!("`approve` of the NodeFleet has `{class}: hold`");
            return Some(Hold { because, until: None });
        }
        if self.pools.get(pool).is_some_and(|classes| classes.contains(&class)) {
            let because = format!("`approve` of the NodeFleet has `{class}: hold` for pool `{pool}`");
            return Some(Hold { because, until: None });
        }
        if self.reviewed.has(class, pool) {
            return Some(Hold { because: format!("people review `{class}` before it happens"), until: None });
        }
        let of_pool = |freeze: &&Freeze| freeze.pools.as_ref().is_none_or(|pools| pools.contains(pool));
        let freezes = self.freezes.iter().filter(of_pool).filter(|freeze| is_meant(freeze));
        let holds = freezes.filter_map(|freeze| {
            let name = &freeze.name;
            let (because, until) = match freeze.state(at) {
                FreezeState::Open(Some(until)) => {
                    (format!("freeze `{name}` of the NodeFleet lasts until {until}"), Some(until))
                }
                FreezeState::Open(None) => (format!("freeze `{name}` of the NodeFleet is open"), None),
                FreezeState::Undecided => {
                    let because = format!(
                        "freeze `{name}` of the NodeFleet; without a time (`--at`) its schedule counts as open"
                    );
                    (because, None)
                }
                FreezeState::Closed => return None,
            };
            Some(Hold { because, until })
        });
        // A hold without an end outlasts any other.
        holds.reduce(|one, other| match (one.until, other.until) {
            (Some(early), Some(late)) if late > early => other,
            (Some(_), None) => other,
            (Some(_) | None, _) => one,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::{SignedDuration, Timestamp};

    use super::{ChangeClass, Freeze, FreezeState, FreezeWindow, Holds};
    use crate::model::{DisruptionReason, PoolName};

    fn freeze(name: &str, schedule: &str, hours: i64, zone: Option<&str>) -> Freeze {
        let window = FreezeWindow {
            schedule: Arc::from(schedule),
            duration: SignedDuration::from_hours(hours),
            time_zone: zone.map(Arc::from),
        };
        Freeze { name: Arc::from(name), window: Some(window), pools: None, reasons: None }
    }

    fn at(text: &str) -> Option<Timestamp> {
        Some(text.parse().expect("is a time"))
    }

    #[test]
    fn a_freeze_is_open_from_each_hit_for_its_duration_in_its_own_time_zone() {
        let utc = freeze("night", "0 22 * * *", 8, None);
        assert_eq!(utc.state(at("2026-11-20T21:59:59Z")), FreezeState::Closed);
        assert_eq!(utc.state(at("2026-11-20T22:00:00Z")), FreezeState::Open(at("2026-11-21T06:00:00Z")));
        assert_eq!(utc.state(at("2026-11-21T05:59:59Z")), FreezeState::Open(at("2026-11-21T06:00:00Z")));
        assert_eq!(utc.state(at("2026-11-21T06:00:00Z")), FreezeState::Closed);
        assert_eq!(utc.state(None), FreezeState::Undecided);
        let berlin = freeze("night", "0 22 * * *", 8, Some("Europe/Berlin"));
        assert_eq!(berlin.state(at("2026-11-20T21:30:00Z")), FreezeState::Open(at("2026-11-21T05:00:00Z")));
        assert_eq!(berlin.state(at("2026-07-20T20:30:00Z")), FreezeState::Open(at("2026-07-21T04:00:00Z")));
        assert_eq!(berlin.state(at("2026-07-20T04:30:00Z")), FreezeState::Closed);
    }

    #[test]
    fn windows_that_follow_one_another_end_with_the_last_of_them() {
        let weekend = freeze("weekend", "0 0 * * 6,0", 24, None);
        assert_eq!(weekend.state(at("2026-11-21T12:00:00Z")), FreezeState::Open(at("2026-11-23T00:00:00Z")));
        let always = freeze("always", "0 * * * *", 2, None);
        assert_eq!(always.state(at("2026-11-21T12:00:00Z")), FreezeState::Open(None));
        let unreadable = freeze("odd", "sometimes", 2, None);
        assert_eq!(unreadable.state(at("2026-11-21T12:00:00Z")), FreezeState::Open(None));
    }

    #[test]
    fn a_hold_is_of_a_pool_a_reason_or_a_class_and_the_longest_is_named() {
        use DisruptionReason::{Drifted, Empty, Expired, Unhealthy};
        let now = at("2026-11-20T23:00:00Z");
        let drift = Freeze { reasons: Some([Drifted].into()), ..freeze("drift", "0 20 * * *", 4, None) };
        let shop =
            Freeze { pools: Some([PoolName::new("shop")].into()), ..freeze("shop", "0 20 * * *", 8, None) };
        let mut holds = Holds { freezes: vec![drift, shop], ..Holds::default() };
        let because = |holds: &Holds, pool: &str, reason| {
            holds.on_removal(&PoolName::new(pool), reason, now).map(|hold| hold.because)
        };
        let until_four = "freeze `shop` of the NodeFleet lasts until 2026-11-21T04:00:00Z";
        assert_eq!(because(&holds, "shop", Drifted).as_deref(), Some(until_four));
        assert_eq!(because(&holds, "shop", Empty).as_deref(), Some(until_four));
        assert!(because(&holds, "batch", Drifted).is_some_and(|because| because.contains("`drift`")));
        assert_eq!(because(&holds, "batch", Empty), None);
        assert_eq!(because(&holds, "shop", Expired), None, "age is no choice");
        holds.pools.insert(PoolName::new("batch"), [ChangeClass::Replace].into());
        for reason in [Drifted, Expired, Unhealthy] {
            let said = because(&holds, "batch", reason);
            assert_eq!(
                said.as_deref(),
                Some("`approve` of the NodeFleet has `replace: hold` for pool `batch`")
            );
        }
        holds.classes.insert(ChangeClass::MovePods);
        holds.lifted.insert(PoolName::new("batch"), [ChangeClass::MovePods].into());
        assert!(because(&holds, "shop", DisruptionReason::Underutilized).is_some());
        assert_eq!(because(&holds, "batch", DisruptionReason::Underutilized), None, "it has its own word");
        let adoption = |pool: &str| holds.on_change(&PoolName::new(pool), ChangeClass::Adopt, now);
        assert!(adoption("shop").is_some() && adoption("batch").is_none());
    }
}
