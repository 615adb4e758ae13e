//! Free capacity of a node while it is filled.

use std::collections::BTreeSet;

use crate::model::{HostPort, Requirements};
use crate::solve::fit::company::Company;
use crate::solve::fit::labels;
use crate::solve::supply::Supply;

use super::Effort;
use super::dimension::{self, Shared};
use super::problem::{Class, Problem};

/// Parts into which values and sizes are divided, so that integers suffice.
pub(super) const SCALE: i128 = 1 << 24;

/// Parts into which the largest capacity is divided for weighing needs: few enough that sums of products fit.
pub(super) const PARTS: i64 = 1 << 20;

/// Minimum number of pairs of a column and a need per thread.
pub(super) const PAIRS_AT_ONCE: usize = 10_000;

/// Returns the amount of one part of these columns' largest capacity, in each dimension.
pub(super) fn units(problem: &Problem, columns: &[usize]) -> Vec<i64> {
    let largest = |place: usize| columns.iter().map(|column| problem.columns[*column].room[place]).max();
    (0..problem.dimensions.len()).map(|place| (largest(place).unwrap_or(0) / PARTS).max(1)).collect()
}

/// A node of some column while it is filled.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) column: usize,
    /// Free capacity, one amount per dimension.
    pub(super) free: Vec<i64>,
    ports: BTreeSet<HostPort>,
    /// Attached volumes that others may share.
    volumes: Shared,
    open: Requirements,
    company: Company,
}

impl Room {
    /// Returns whether less of some dimension is left than every pod needs.
    pub(super) fn is_full(&self, least: &[i64]) -> bool {
        self.free.iter().zip(least).any(|(free, least)| free < least)
    }
}

/// Returns how many times a need fits into the free capacity.
pub(super) fn fits(need: &[i64], free: &[i64]) -> usize {
    let mut most = usize::MAX;
    for (need, free) in need.iter().zip(free) {
        if *need > 0 {
            if free < need {
                return 0;
            }
            most = most.min(usize::try_from(*free / need).unwrap_or(0));
        }
    }
    most
}

/// Returns whether a need fits into the free capacity.
pub(super) fn holds(free: &[i64], need: &[i64]) -> bool {
    need.iter().zip(free).all(|(need, free)| *need <= 0 || need <= free)
}

/// Returns the weight of one part of each dimension: the less is free, the higher. Scarce capacity is kept for the pods
/// with the highest value for it, and all dimensions fill up together.
pub(super) fn scarcity(free: &[i64]) -> Vec<i64> {
    free.iter().map(|free| if *free > 0 { (1 << 60) / free } else { 0 }).collect()
}

/// Returns the share of the free capacity that a pod takes, all dimensions combined, if it fits; never zero.
pub(super) fn part(need: &[i64], scarcity: &[i64]) -> i128 {
    let parts =
        need.iter().zip(scarcity).map(|(need, scarce)| (i128::from(*need) * i128::from(*scarce)) >> 20);
    parts.sum::<i128>().max(1)
}

/// Returns how many of the pods that fit are placed in one step: few enough that other classes get their turn.
pub(super) const fn at_once(fits: usize) -> usize {
    fits.div_ceil(4)
}

/// A problem with the supply, which has the ports of DaemonSets.
pub(super) struct Bench<'p> {
    pub(super) problem: &'p Problem,
    pub(super) supply: &'p Supply<'p>,
    pub(super) effort: Effort<'p>,
    /// Whether candidates whose nodes hold as many pods as possible are tried as well if limits are too small.
    pub(super) fills: bool,
}

impl Bench<'_> {
    /// Returns a node of this column with only its DaemonSets.
    pub(super) fn room(&self, column: usize) -> Room {
        let there = &self.problem.columns[column];
        let overhead = &self.supply.pools[there.pool].overheads[there.overhead];
        let (ports, open) = (overhead.ports.clone(), there.open.clone());
        let (volumes, company) = (Shared::new(), overhead.company.clone());
        Room { column, free: there.room.clone(), ports, volumes, open, company }
    }

    /// Returns a node of this column with these pods; `None` if they do not fit. Pods with the fewest alternatives come
    /// first, so that the others choose labels that agree with them.
    pub(super) fn filled(&self, column: usize, load: &[(usize, usize)]) -> Option<Room> {
        let mut room = self.room(column);
        let pool = self.problem.columns[column].pool;
        let choices = |class: usize| {
            let access = &self.problem.accesses[self.problem.classes[class].access];
            access.open.get(&pool).map_or(0, Vec::len)
        };
        let most = load.iter().map(|(class, _)| choices(*class)).max().unwrap_or(0);
        for wanted in 0..=most {
            for (class, count) in load.iter().filter(|(class, _)| most == 0 || choices(*class) == wanted) {
                if self.most(&room, *class) < *count {
                    return None;
                }
                self.put(&mut room, *class, *count);
            }
        }
        Some(room)
    }

    /// Returns how many more pods of a class fit.
    pub(super) fn most(&self, room: &Room, class: usize) -> usize {
        if !self.reaches(room, class) {
            return 0;
        }
        self.most_of(room, class, fits(&self.problem.classes[class].need, &room.free))
    }

    /// Returns whether pods of a class may use this column at all.
    pub(super) fn reaches(&self, room: &Room, class: usize) -> bool {
        self.problem.accesses[self.problem.classes[class].access].columns.has(room.column)
    }

    /// Returns how many of `most` pods of a class fit, for which capacity is free and whose class may use the column.
    pub(super) fn most_of(&self, room: &Room, class: usize, mut most: usize) -> usize {
        let pods = &self.problem.classes[class];
        if most == 0 {
            return 0;
        }
        if !pods.ports.is_empty() {
            let taken = |port: &HostPort| room.ports.iter().any(|there| port.conflicts_with(there));
            most = if pods.ports.iter().any(taken) { 0 } else { most.min(1) };
        }
        if !pods.shared.is_empty() {
            most = most.min(beside_shared(pods, room));
        }
        if !pods.company.is_empty() {
            most = most.min(room.company.most(&pods.company));
        }
        if most > 0 && self.joined(room, class).is_none() { 0 } else { most }
    }

    /// Places this many pods of a class.
    pub(super) fn put(&self, room: &mut Room, class: usize, count: usize) {
        let pods = &self.problem.classes[class];
        let times = i64::try_from(count).unwrap_or(i64::MAX);
        for (need, free) in pods.need.iter().zip(&mut room.free) {
            *free = free.saturating_sub(need.saturating_mul(times));
        }
        if !pods.ports.is_empty() {
            room.ports.extend(pods.ports.iter().cloned());
        }
        if count > 0 && !pods.shared.is_empty() {
            let mut taken = vec![0; room.free.len()];
            dimension::add(&mut taken, pods.shared.difference(&room.volumes));
            room.free.iter_mut().zip(taken).for_each(|(free, taken)| *free = free.saturating_sub(taken));
            room.volumes.extend(pods.shared.iter().cloned());
        }
        room.company.put(&pods.company, count);
        if let Some(Some(open)) = self.joined(room, class) {
            room.open = open;
        }
    }

    /// Returns the open labels after adding a pod of this class: `None` if no alternative agrees with the labels so
    /// far, `Some(None)` if the pod requires none of them.
    fn joined(&self, room: &Room, class: usize) -> Option<Option<Requirements>> {
        let pool = self.problem.columns[room.column].pool;
        let access = &self.problem.accesses[self.problem.classes[class].access];
        let Some(alternatives) = access.open.get(&pool) else { return Some(None) };
        for (columns, part) in alternatives {
            if columns.has(room.column) && part.intersects(&room.open).is_ok() {
                let mut open = room.open.clone();
                for (key, wanted) in part.iter() {
                    open.set(key.clone(), labels::narrowed(room.open.get(key.as_str()), wanted));
                }
                return Some(Some(open));
            }
        }
        None
    }
}

/// Returns how many pods of a class fit beside the volumes that they share and that are not attached yet. Other needs
/// are counted only in dimensions that such a volume uses.
fn beside_shared(pods: &Class, room: &Room) -> usize {
    let mut taken = vec![0; room.free.len()];
    dimension::add(&mut taken, pods.shared.difference(&room.volumes));
    let amounts = taken.iter().zip(&room.free).zip(&pods.need).filter(|((taken, _), _)| **taken > 0);
    let most = amounts.map(|((taken, free), need)| match free - taken {
        left if left < 0 => 0,
        _ if *need <= 0 => usize::MAX,
        left => usize::try_from(left / need).unwrap_or(0),
    });
    most.min().unwrap_or(usize::MAX)
}
