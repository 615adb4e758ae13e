//! Whether the limits of pools and of the fleet still leave room for what a plan makes, now that time has passed.
//!
//! As in Karpenter, a node counts until it is gone. Money is not counted again: its limit was held when the plan was made.

use std::collections::BTreeMap;

use super::approve::Now;
use crate::model::{PoolName, ResourceName, Resources};
use crate::policy::Policy;

/// How much there is of nodes.
#[derive(Clone, Debug, Default)]
struct Amount {
    nodes: u64,
    capacity: Resources,
}

/// What there is, and what was let in beside it.
#[derive(Debug)]
pub(super) struct Room<'a> {
    policy: &'a Policy,
    pools: BTreeMap<PoolName, Amount>,
    fleet: Amount,
}

impl<'a> Room<'a> {
    /// Counts the nodes that are there or on their way.
    pub(super) fn of(now: &Now<'a>) -> Self {
        let mut room = Self { policy: now.policy, pools: BTreeMap::new(), fleet: Amount::default() };
        for node in &now.snapshot.nodes {
            room.count(node.pool.as_ref(), &node.capacity);
        }
        room
    }

    fn count(&mut self, pool: Option<&PoolName>, capacity: &Resources) {
        let of_pool = pool.map(|pool| self.pools.entry(pool.clone()).or_default());
        for amount in std::iter::once(&mut self.fleet).chain(of_pool) {
            amount.nodes += 1;
            amount.capacity.add(capacity);
        }
    }

    /// Lets a node in.
    ///
    /// # Errors
    /// The limit that leaves no room for it.
    pub(super) fn take(&mut self, pool: &PoolName, capacity: &Resources) -> Result<(), String> {
        let there = self.pools.get(pool).cloned().unwrap_or_default();
        if let Some(known) = self.policy.pools.get(pool) {
            let who = format!("NodePool `{pool}`");
            within(&who, "nodes", there.nodes + 1, known.nodes_max)?;
            for (name, most) in known.limits.iter() {
                amount_within(&who, (name, most), &there.capacity.plus(capacity))?;
            }
        }
        let limits = &self.policy.fleet.limits;
        within("the NodeFleet", "nodes", self.fleet.nodes + 1, limits.nodes)?;
        let after = self.fleet.capacity.plus(capacity);
        let of_fleet = [(ResourceName::Cpu, limits.cpu_milli), (ResourceName::Memory, limits.memory_bytes)];
        for (name, most) in of_fleet {
            most.map_or(Ok(()), |most| amount_within("the NodeFleet", (&name, most), &after))?;
        }
        self.count(Some(pool), capacity);
        Ok(())
    }
}

fn within(who: &str, what: &str, after: u64, most: Option<u64>) -> Result<(), String> {
    match most {
        Some(most) if after > most => {
            Err(format!("{who} is limited to {most} {what}, and this would be one more"))
        }
        Some(_) | None => Ok(()),
    }
}

fn amount_within(who: &str, (name, most): (&ResourceName, i64), after: &Resources) -> Result<(), String> {
    let after = after.get(name);
    if after <= most {
        return Ok(());
    }
    let (after, most) = (name.show(after), name.show(most));
    Err(format!("{who} is limited to {most} {}, and with this node there would be {after}", name.as_str()))
}
