//! Effects of other plans, proposed or merged, on nodes that this plan's pods move to.
//!
//! Must never be shortened: each plan and node is listed.

use std::collections::BTreeMap;

use super::caution::caution;
use crate::model::NodeName;
use crate::plan::beside::{Beside, OtherEffect};
use crate::render::view::PlanView;
use crate::render::words::count;

/// Effects of another plan on nodes.
#[derive(Debug, Default)]
struct Does<'a> {
    deletes: Vec<&'a NodeName>,
    fills: Vec<(&'a NodeName, usize)>,
}

/// Returns a sentence for each other plan and effect.
pub(super) fn cautions(view: &PlanView<'_>) -> Vec<String> {
    let mut plans: BTreeMap<(&str, bool), Does<'_>> = BTreeMap::new();
    for Beside { node, plan, is_merged, does } in &view.plan.evidence.beside {
        let known = plans.entry((plan, *is_merged)).or_default();
        match does {
            OtherEffect::Deletes => known.deletes.push(node),
            OtherEffect::Fills { pods } => known.fills.push((node, *pods)),
        }
    }
    plans.iter().flat_map(|(plan, does)| said(*plan, does)).collect()
}

fn said((plan, is_merged): (&str, bool), Does { deletes, fills }: &Does<'_>) -> Vec<String> {
    let stands = if is_merged { "merged, not yet applied" } else { "open" };
    let other = format!("`{plan}` ({stands})");
    let mut said = Vec::new();
    if !deletes.is_empty() {
        let nodes: Vec<String> = deletes.iter().map(|node| format!("`{node}`")).collect();
        said.push(format!("{other} deletes {}, where pods of this plan go.", nodes.join(", ")));
    }
    if !fills.is_empty() {
        let nodes: Vec<String> =
            fills.iter().map(|(node, pods)| format!("{} to `{node}`", count(*pods, "pod"))).collect();
        said.push(format!(
            "{other} sends {}, where pods of this plan go: they may not all fit.",
            nodes.join(", ")
        ));
    }
    said.iter().map(|text| caution("Other plan", text)).collect()
}
