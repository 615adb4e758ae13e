//! Eviction allowance of each gang while nodes are removed one after the other.
//!
//! Pods on a node that fails or that a user deletes are lost regardless of the plan, and count for no gang.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::gang::down;
use crate::model::{DisruptionReason, Gang, Gangs, NodeName, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::solution::Removal;

/// How many running pods each gang can lose.
pub(in crate::solve) struct Spares {
    gangs: Vec<Spare>,
    /// The gangs on each node, by index, with the number of their pods that run there.
    on: BTreeMap<NodeName, Vec<(usize, usize)>>,
}

/// How many running pods one gang can lose.
struct Spare {
    gang: String,
    field: &'static str,
    least: usize,
    running: usize,
    left: usize,
}

impl Spares {
    /// Counts the running pods, without those that these removals lose anyway.
    pub(in crate::solve) fn of(snapshot: &Snapshot, gangs: &Gangs<'_>, removals: &[Removal]) -> Self {
        let mut lost: BTreeSet<&NodeName> = down(&snapshot.nodes);
        let is_loss = |removal: &&Removal| is_loss(removal.reason);
        lost.extend(removals.iter().filter(is_loss).map(|removal| &removal.node));
        let mut spares = Self { gangs: Vec::new(), on: BTreeMap::new() };
        for gang in gangs.all() {
            if let Some(least) = gang.least {
                spares.add(gang, least, &lost);
            }
        }
        spares
    }

    fn add(&mut self, gang: &Gang<'_>, least: usize, lost: &BTreeSet<&NodeName>) {
        let place = self.gangs.len();
        let mut running = 0;
        let mut on: BTreeMap<&NodeName, usize> = BTreeMap::new();
        for pod in gang.running(lost) {
            running += 1;
            if let PodPlace::Bound(node) = &pod.place {
                *on.entry(node).or_default() += 1;
            }
        }
        for (node, pods) in on {
            self.on.entry(node.clone()).or_default().push((place, pods));
        }
        let (gang, field) = (gang.to_string(), gang.group.least_field());
        self.gangs.push(Spare { gang, field, least, running, left: running.saturating_sub(least) });
    }

    /// Removes a node, or returns why it is kept if a gang needs its pods there.
    pub(in crate::solve) fn take(&mut self, node: &NodeName) -> Result<(), String> {
        let here = self.on.get(node).map_or(&[][..], Vec::as_slice);
        if let Some((place, pods)) = here.iter().find(|(place, pods)| *pods > self.gangs[*place].left) {
            let Spare { gang, field, least, running, .. } = &self.gangs[*place];
            let pods = if *pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") };
            return Err(format!(
                "its {pods} of {gang} cannot go as well: {running} run, and {field} is {least}"
            ));
        }
        for (place, pods) in here {
            self.gangs[*place].left -= pods;
        }
        Ok(())
    }
}

/// Returns whether removing a node for this reason loses its pods regardless of the plan.
const fn is_loss(reason: DisruptionReason) -> bool {
    use DisruptionReason::{Deleted, Destroyed, Drifted, Empty, Excess, Expired, Underutilized, Unhealthy};
    match reason {
        Unhealthy | Deleted => true,
        Empty | Underutilized | Drifted | Expired | Excess | Destroyed => false,
    }
}

/// Returns the removed nodes that a gang needs, with the reason; of several, those last by name are kept.
pub(super) fn torn(
    snapshot: &Snapshot,
    gangs: &Gangs<'_>,
    removals: &[Removal],
) -> BTreeMap<NodeName, String> {
    let mut spares = Spares::of(snapshot, gangs, removals);
    let going = removals.iter().filter(|removal| !is_loss(removal.reason)).map(|removal| &removal.node);
    let going: BTreeSet<&NodeName> = going.collect();
    going.into_iter().filter_map(|node| Some((node.clone(), spares.take(node).err()?))).collect()
}
