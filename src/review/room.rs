//! Remaining limits of pools and the fleet for a plan's new nodes, checked again when it is applied.
//!
//! As in Karpenter, a node counts until it is gone. The cost limit is not checked again: it held when the plan was
//! made.

use std::collections::BTreeMap;

use crate::model::{FleetLimits, Pool, PoolName, ResourceName, Resources};

/// Number and capacity of nodes.
#[derive(Clone, Debug, Default)]
struct Amount {
    nodes: u64,
    capacity: Resources,
}

/// Usage by existing and admitted nodes, with the limits.
#[derive(Debug)]
pub struct Room<'a> {
    known: &'a BTreeMap<PoolName, Pool>,
    limits: &'a FleetLimits,
    pools: BTreeMap<PoolName, Amount>,
    fleet: Amount,
}

impl<'a> Room<'a> {
    /// Returns the limits before any node is counted.
    pub(super) fn empty(known: &'a BTreeMap<PoolName, Pool>, limits: &'a FleetLimits) -> Self {
        Self { known, limits, pools: BTreeMap::new(), fleet: Amount::default() }
    }

    /// Counts a node that exists or is being created.
    pub fn count(&mut self, pool: Option<&PoolName>, capacity: &Resources) {
        let of_pool = pool.map(|pool| self.pools.entry(pool.clone()).or_default());
        for amount in std::iter::once(&mut self.fleet).chain(of_pool) {
            amount.nodes += 1;
            amount.capacity.add(capacity);
        }
    }

    /// Admits a node.
    ///
    /// # Errors
    /// The limit that it would exceed.
    pub fn take(&mut self, pool: &PoolName, capacity: &Resources) -> Result<(), String> {
        let there = self.pools.get(pool).cloned().unwrap_or_default();
        if let Some(known) = self.known.get(pool) {
            let who = format!("NodePool `{pool}`");
            within(&who, "nodes", there.nodes + 1, known.nodes_max)?;
            for (name, most) in known.limits.iter() {
                amount_within(&who, (name, most), &there.capacity.plus(capacity))?;
            }
        }
        let limits = self.limits;
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
