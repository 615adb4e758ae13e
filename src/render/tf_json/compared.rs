//! Difference of two inputs' fleets, in Terraform's terms: the first fleet, after its plan, is the prior state.
//!
//! The first plan is not kept: of its nodes only their kind is written.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{self, Change, EACH_KEY, What};
use super::machine;
use crate::plan::World;
use crate::plan::comparison::{Comparison, ExistingDifference, Fate, NodeKind};
use crate::render::view::PlanView;

/// Returns every node of either fleet, with the difference in the second.
pub(super) fn of_comparison(comparison: &Comparison, view: &PlanView<'_>) -> Vec<Change> {
    let world = &view.plan.evidence.world;
    let nodes = &comparison.nodes;
    let fates: BTreeMap<&str, &ExistingDifference> =
        nodes.existing.iter().map(|difference| (difference.node.as_str(), difference)).collect();
    let named = |names: fn(&crate::plan::comparison::GroupDifference) -> &[std::sync::Arc<str>]| {
        nodes.groups.iter().flat_map(move |group| names(group).iter().map(move |name| (&**name, &group.kind)))
    };
    let added: BTreeSet<&str> = named(|group| &group.added).map(|(name, _)| name).collect();
    let otherwise: BTreeMap<&str, &NodeKind> = named(|group| &group.otherwise).collect();
    let second = change::of_plan(view).into_iter().filter_map(|planned| {
        match (fates.get(&*planned.name), otherwise.get(&*planned.name)) {
            (Some(difference), _) => Some(of_fate(planned, difference)),
            (None, Some(kind)) => {
                let before = Some(machine::of_kind(&planned.name, kind, world));
                Some(Change { what: What::Update, before, ..planned })
            }
            (None, None) if added.contains(&*planned.name) => Some(planned),
            (None, None) => unchanged(planned),
        }
    });
    let mut all: Vec<Change> = second.collect();
    let absent = nodes.existing.iter().filter(|difference| difference.after == Fate::Absent);
    let absent = absent.map(|difference| (difference.node.as_str(), &difference.kind));
    all.extend(absent.chain(named(|group| &group.removed)).map(|(name, kind)| removed(name, kind, world)));
    all.sort_by(|one, other| (&one.pool, &one.name).cmp(&(&other.pool, &other.name)));
    all
}

/// Returns an existing node with a different fate.
fn of_fate(planned: Change, difference: &ExistingDifference) -> Change {
    let ExistingDifference { before, after, .. } = difference;
    match (before.is_there(), after.is_there()) {
        (true, false) => Change { what: What::Delete, after: None, reason: Some(EACH_KEY), ..planned },
        (false, _) => {
            let after = planned.after.or(planned.before);
            Change { what: What::Create, before: None, after, ..planned }
        }
        (true, true) => {
            let after = planned.after.or_else(|| planned.before.clone());
            Change { what: What::Update, after, ..planned }
        }
    }
}

/// Returns a node of both fleets; `None` if it is in neither, because both plans delete it.
fn unchanged(planned: Change) -> Option<Change> {
    let values = match planned.what {
        What::Delete | What::Drift => return None,
        What::Keep | What::Create | What::Update | What::Import => planned.after.clone(),
        What::Forget => planned.before.clone(),
    };
    Some(Change { what: What::Keep, before: values.clone(), after: values, ..planned })
}

fn removed(name: &str, kind: &NodeKind, world: &World) -> Change {
    Change {
        pool: kind.pool.clone(),
        name: name.to_owned(),
        what: What::Delete,
        before: Some(machine::of_kind(name, kind, world)),
        after: None,
        reason: Some(EACH_KEY),
    }
}
