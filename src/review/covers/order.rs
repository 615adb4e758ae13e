//! Order of the kept changes: that of the fresh plan, because budgets may allow less by now, and never more nodes at
//! the same time than in the largest approved wave.

use std::collections::{BTreeMap, BTreeSet};

use super::{Covered, Pair};
use crate::plan::{ChangeId, Plan, Step, Wave};

/// Returns the waves of the kept changes, as approved changes.
pub(super) fn waves(pair: Pair<'_>, covered: &Covered) -> Vec<Vec<ChangeId>> {
    let kept = covered.approved.iter().filter_map(|(id, fate)| Some((&fate.kept()?.fresh, id)));
    let kept: BTreeMap<&ChangeId, &ChangeId> = kept.collect();
    let most = pair.approved.spec.waves.iter().map(removals).max().unwrap_or(0).max(1);
    let mut waves: Vec<Vec<ChangeId>> = Vec::new();
    for wave in &pair.fresh.spec.waves {
        let ids = in_order(wave).into_iter().filter_map(|fresh| kept.get(fresh).copied());
        let is_removal = |id: &&ChangeId| is_removal(pair.approved, id);
        let (going, mut first): (Vec<&ChangeId>, Vec<&ChangeId>) = ids.partition(is_removal);
        let mut chunks = going.chunks(most);
        first.extend(chunks.next().into_iter().flatten());
        waves.push(first.into_iter().cloned().collect());
        waves.extend(chunks.map(|chunk| chunk.iter().map(|id| (*id).clone()).collect()));
    }
    waves.retain(|wave| !wave.is_empty());
    waves
}

/// Returns the changes of a wave in the order of its steps, without duplicates.
fn in_order(wave: &Wave) -> Vec<&ChangeId> {
    let mut seen: BTreeSet<&ChangeId> = BTreeSet::new();
    wave.steps.values().flatten().filter(|id| seen.insert(id)).collect()
}

fn removals(wave: &Wave) -> usize {
    wave.steps.get(&Step::Delete).map_or(0, Vec::len)
}

fn is_removal(plan: &Plan, id: &ChangeId) -> bool {
    plan.spec.changes.get(id).is_some_and(|planned| planned.change.delete().is_some())
}
