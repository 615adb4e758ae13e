//! Exponential back-off after failures: of pools whose new nodes failed immediately, of nodes that could not be updated
//! in place or removed, so that a missing permission does not flood the ledger, and of a pool's sizes and images whose
//! VMs started but never joined.
//!
//! A new process retries pools and nodes once; it reads from the ledger which VMs never joined.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::{ChangeClass, NodeName, PoolName, SkuName};

/// Wait after the first failure, in the cloud's clock.
const FIRST: SignedDuration = SignedDuration::from_secs(20);

/// Maximum wait.
const LONGEST: SignedDuration = SignedDuration::from_mins(10);

/// Wait after a node's first failed removal: each attempt evicts the node's pods again.
const FIRST_OF_REMOVALS: SignedDuration = SignedDuration::from_mins(2);

/// Maximum wait between removals of a node.
const LONGEST_OF_REMOVALS: SignedDuration = SignedDuration::from_mins(60);

/// Maximum number of times that the wait is doubled.
const DOUBLINGS_MAX: u32 = 5;

/// Waits after VMs that never joined, in the cloud's clock; the last one repeats.
const SILENT: [SignedDuration; 3] =
    [SignedDuration::from_mins(10), SignedDuration::from_mins(30), SignedDuration::from_mins(60)];

/// Time without another one after which a VM that never joined is forgotten.
const FORGOTTEN: SignedDuration = SignedDuration::from_hours(3);

/// The configuration of VMs that never joined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Made {
    /// Their NodePool.
    pub pool: PoolName,
    /// Their size.
    pub size: SkuName,
    /// Their image.
    pub image: Arc<str>,
}

/// The most recent VM of a configuration that never joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverJoined {
    /// Its configuration.
    pub made: Made,
    /// Its name.
    pub vm: Arc<str>,
    /// Time until which no VM of this configuration is created.
    pub until: Timestamp,
}

/// An operation that is retried after a failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tried {
    /// Creating nodes of a pool.
    ToMake(PoolName),
    /// Updating a node in place.
    ToUpdate(NodeName),
    /// Removing a node.
    ToRemove {
        /// The node.
        node: NodeName,
        /// Class of its removal.
        class: ChangeClass,
    },
}

impl Tried {
    /// Returns the first and the maximum wait after a failure.
    const fn waits(&self) -> (SignedDuration, SignedDuration) {
        match self {
            Self::ToMake(_) | Self::ToUpdate(_) => (FIRST, LONGEST),
            Self::ToRemove { .. } => (FIRST_OF_REMOVALS, LONGEST_OF_REMOVALS),
        }
    }
}

/// The last failure of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotDone {
    /// The operation.
    pub tried: Tried,
    /// The node.
    pub node: Arc<str>,
    /// The error, with Azure's code.
    pub what: Arc<str>,
    /// Number of consecutive failures.
    pub times: u32,
    /// Time of the first of them.
    pub since: Timestamp,
    /// Time of the next attempt.
    pub until: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Failed {
    times: u32,
    since: Timestamp,
    node: Arc<str>,
    what: Arc<str>,
    until: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Silence {
    vm: Arc<str>,
    times: usize,
    until: Timestamp,
}

/// Recorded failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackOff {
    failed: BTreeMap<Tried, Failed>,
    silent: BTreeMap<Made, Silence>,
    /// VMs already counted.
    counted: BTreeSet<Arc<str>>,
    clock_speed: i32,
}

impl BackOff {
    /// Creates an empty record.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        Self { clock_speed: i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX), ..Self::default() }
    }

    /// Records a success.
    pub fn succeeded(&mut self, tried: &Tried) {
        self.failed.remove(tried);
    }

    /// Records a failure for a node; failures during the wait of an earlier one are ignored.
    pub fn failed(&mut self, tried: &Tried, (node, what): (&Arc<str>, &Arc<str>), at: Timestamp) {
        if self.until(tried, at).is_some() {
            return;
        }
        let (times, since) = self.failed.get(tried).map_or((0, at), |failed| (failed.times, failed.since));
        let (first, longest) = tried.waits();
        let until = self.after(at, (first * 2_i32.pow(times.min(DOUBLINGS_MAX))).min(longest));
        let times = times.saturating_add(1);
        let failed = Failed { times, since, node: node.clone(), what: what.clone(), until };
        self.failed.insert(tried.clone(), failed);
    }

    /// Returns the time of the next attempt if it is in the future.
    #[must_use]
    pub fn until(&self, tried: &Tried, at: Timestamp) -> Option<Timestamp> {
        self.failed.get(tried).map(|failed| failed.until).filter(|until| *until > at)
    }

    /// Returns the failures without a later success. They are reported during the next attempt as well, but no longer
    /// than the maximum wait after its time: nothing may need the operation any more.
    pub fn not_done(&self, at: Timestamp) -> impl Iterator<Item = NotDone> {
        let told =
            self.failed.iter().filter(move |(tried, failed)| self.after(failed.until, tried.waits().1) > at);
        told.map(|(tried, Failed { times, since, node, what, until })| NotDone {
            tried: tried.clone(),
            node: node.clone(),
            what: what.clone(),
            times: *times,
            since: *since,
            until: *until,
        })
    }

    /// Records a VM that started but did not join in time; returns the resulting back-off if the VM is new. Further VMs
    /// of a configuration during its wait count once.
    pub fn never_joined(&mut self, made: &Made, vm: &Arc<str>, at: Timestamp) -> Option<NeverJoined> {
        if !self.counted.insert(vm.clone()) {
            return None;
        }
        let forgotten = FORGOTTEN / self.clock_speed.max(1);
        let known = self.silent.get(made).filter(|known| at.duration_since(known.until) < forgotten);
        let (times, last) = known.map_or((0, at), |known| (known.times, known.until));
        if last > at {
            return Some(NeverJoined { made: made.clone(), vm: vm.clone(), until: last });
        }
        let until = self.after(at, SILENT[times.min(SILENT.len() - 1)]);
        let silence = Silence { vm: vm.clone(), times: times + 1, until };
        self.silent.insert(made.clone(), silence);
        Some(NeverJoined { made: made.clone(), vm: vm.clone(), until })
    }

    /// Returns the configurations that are not created now because their VMs never joined.
    pub fn silent(&self, at: Timestamp) -> impl Iterator<Item = NeverJoined> {
        let now = self.silent.iter().filter(move |(_, silence)| silence.until > at);
        now.map(|(made, Silence { vm, until, .. })| NeverJoined {
            made: made.clone(),
            vm: vm.clone(),
            until: *until,
        })
    }

    fn after(&self, at: Timestamp, wait: SignedDuration) -> Timestamp {
        at.saturating_add(wait / self.clock_speed.max(1)).unwrap_or(Timestamp::MAX)
    }
}

impl NotDone {
    /// Describes the error, the number of failures, and the next attempt.
    #[must_use]
    pub fn because(&self) -> String {
        let Self { tried, what, until, times, since, .. } = self;
        let pool = match tried {
            Tried::ToMake(pool) => format!(" for pool `{pool}`"),
            Tried::ToUpdate(_) | Tried::ToRemove { .. } => String::new(),
        };
        let doing = match tried {
            Tried::ToMake(_) => "creating this node",
            Tried::ToUpdate(_) => "updating this node in place",
            Tried::ToRemove { .. } => "removing this node",
        };
        let often = if *times > 1 { format!(" {times} times since {since:.0}") } else { String::new() };
        format!("next attempt{pool} at {until:.0}; {doing} failed{often}: {what}")
    }

    /// Returns the class of the operation.
    #[must_use]
    pub const fn class(&self) -> ChangeClass {
        match self.tried {
            Tried::ToMake(_) => ChangeClass::Create,
            Tried::ToUpdate(_) => ChangeClass::Update,
            Tried::ToRemove { class, .. } => class,
        }
    }
}

impl NeverJoined {
    /// Describes the failure, and what to check.
    #[must_use]
    pub fn because(&self) -> String {
        let Self { made: Made { pool, size, image }, vm, until } = self;
        format!(
            "VM `{vm}` (pool `{pool}`, size `{size}`, image `{image}`) did not join within 15 minutes and was removed; \
             next attempt with this pool, size and image at {until:.0}; check that the subnet can reach the API server \
             (network security group, firewall, DNS), and whether its image starts"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn each_failure_waits_twice_as_long_up_to_ten_minutes_and_success_forgets() {
        let (mut back_off, pool) = (BackOff::new(1), Tried::ToMake(PoolName::new("web")));
        let mut now = 0;
        let mut waits = Vec::new();
        for _ in 0..7 {
            let failed = ("vm".into(), "AuthorizationFailed".into());
            back_off.failed(&pool, (&failed.0, &failed.1), at(now));
            back_off.failed(&pool, (&failed.0, &failed.1), at(now));
            let until = back_off.until(&pool, at(now)).unwrap().as_second();
            waits.push(until - now);
            now = until;
        }
        assert_eq!(waits, [20, 40, 80, 160, 320, 600, 600]);
        let told: Vec<Arc<str>> = back_off.not_done(at(now + 30)).map(|failed| failed.what).collect();
        assert_eq!(told, ["AuthorizationFailed".into()], "it is told while it is tried again");
        let said = back_off.not_done(at(now + 30)).next().unwrap().because();
        let folded = "creating this node failed 7 times since 1970-01-01T00:00:00Z: AuthorizationFailed";
        assert!(said.ends_with(folded), "{said}");
        assert_eq!(back_off.not_done(at(now + 600)).count(), 0);
        let removal = Tried::ToRemove { node: NodeName::new("n1"), class: ChangeClass::RemoveEmpty };
        let mut waits = Vec::new();
        for _ in 0..7 {
            back_off.failed(&removal, (&"n1".into(), &"ScopeLocked".into()), at(now));
            let until = back_off.until(&removal, at(now)).unwrap().as_second();
            waits.push((until - now) / 60);
            now = until;
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60], "each attempt moves pods");
        back_off.succeeded(&removal);
        back_off.succeeded(&pool);
        assert_eq!((back_off.until(&pool, at(0)), back_off.not_done(at(0)).count()), (None, 0));
    }

    #[test]
    fn a_like_that_never_joins_waits_ten_thirty_and_then_sixty_minutes_and_others_do_not() {
        let mut back_off = BackOff::new(1);
        let made =
            |size: &str| Made { pool: PoolName::new("web"), size: SkuName::new(size), image: "image".into() };
        let (mut now, mut waits) = (0, Vec::new());
        for number in 0..4 {
            let vm: Arc<str> = format!("vm{number}").into();
            let found = back_off.never_joined(&made("Standard_D4s_v5"), &vm, at(now)).unwrap();
            assert_eq!(back_off.never_joined(&made("Standard_D4s_v5"), &vm, at(now)), None, "it is known");
            let other: Arc<str> = format!("other{number}").into();
            let other = back_off.never_joined(&made("Standard_D4s_v5"), &other, at(now + 1)).unwrap();
            assert_eq!(other.until, found.until, "one of the same time counts once");
            waits.push((found.until.as_second() - now) / 60);
            let sizes: Vec<SkuName> = back_off.silent(at(now)).map(|silent| silent.made.size).collect();
            assert_eq!(sizes, [SkuName::new("Standard_D4s_v5")]);
            now = found.until.as_second() + 900;
        }
        assert_eq!(waits, [10, 30, 60, 60]);
        assert_eq!(back_off.silent(at(now)).count(), 0);
        let vm: Arc<str> = "late".into();
        let late = back_off.never_joined(&made("Standard_D4s_v5"), &vm, at(now + 4 * 3600)).unwrap();
        assert_eq!(late.until, at(now + 4 * 3600 + 600), "what was long ago is forgotten");
    }
}
