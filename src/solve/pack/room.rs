//! What is left of a node while it is filled.

use std::collections::BTreeSet;

use crate::model::{HostPort, Requirements};
use crate::solve::fit::company::Company;
use crate::solve::fit::labels;
use crate::solve::supply::Supply;

use super::problem::Problem;

/// What is left of a node of some column.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) column: usize,
    free: Vec<i64>,
    ports: BTreeSet<HostPort>,
    open: Requirements,
    company: Company,
}

impl Room {
    /// Returns whether there is less of something than every pod needs.
    pub(super) fn is_full(&self, least: &[i64]) -> bool {
        self.free.iter().zip(least).any(|(free, least)| free < least)
    }
}

/// A problem with the ports that daemonsets take.
pub(super) struct Bench<'p> {
    pub(super) problem: &'p Problem,
    pub(super) supply: &'p Supply<'p>,
}

impl Bench<'_> {
    /// Returns a node of this column with its daemonsets alone.
    pub(super) fn room(&self, column: usize) -> Room {
        let there = &self.problem.columns[column];
        let overhead = &self.supply.pools[there.pool].overheads[there.overhead];
        let (ports, open) = (overhead.ports.clone(), there.open.clone());
        Room { column, free: there.room.clone(), ports, open, company: overhead.company.clone() }
    }

    /// Returns a node of this column with these pods; `None` where they do not fit. Those with the fewest
    /// alternatives come first, so that those with a choice choose what agrees.
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
        let pods = &self.problem.classes[class];
        let access = &self.problem.accesses[pods.access];
        if !access.columns.has(room.column) {
            return 0;
        }
        let mut most = usize::MAX;
        for (need, free) in pods.need.iter().zip(&room.free) {
            if *need > 0 {
                most = most.min(usize::try_from(*free / need).unwrap_or(0));
                if most == 0 {
                    return 0;
                }
            }
        }
        if !pods.ports.is_empty() {
            let taken = |port: &HostPort| room.ports.iter().any(|there| port.conflicts_with(there));
            most = if pods.ports.iter().any(taken) { 0 } else { most.min(1) };
        }
        if !pods.company.is_empty() {
            most = most.min(room.company.most(&pods.company));
        }
        if most > 0 && self.joined(room, class).is_none() { 0 } else { most }
    }

    /// Puts so many pods of a class there.
    pub(super) fn put(&self, room: &mut Room, class: usize, count: usize) {
        let pods = &self.problem.classes[class];
        let times = i64::try_from(count).unwrap_or(i64::MAX);
        for (need, free) in pods.need.iter().zip(&mut room.free) {
            *free = free.saturating_sub(need.saturating_mul(times));
        }
        room.ports.extend(pods.ports.iter().cloned());
        room.company.put(&pods.company, count);
        if let Some(Some(open)) = self.joined(room, class) {
            room.open = open;
        }
    }

    /// Returns what the open labels become with a pod of this class: `None` where no alternative agrees with
    /// what stands there, `Some(None)` where the pod asks for none of them.
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
