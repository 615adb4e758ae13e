//! Comparison of two plans: what a change of the input does to the fleet, the cost and the pods.
//!
//! Both plans are whole and checked; this module only compares them and decides nothing. The comparison travels with
//! the second plan, outside its digest. It never contains text of manifests.

mod nodes;
mod pods;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Plan;
use super::summary::pending;
use super::uncertainty::Uncertainty;
use crate::model::PodKey;
use crate::snapshot::{Assumption, Gap};
use crate::solve::solution::{Cost, Unplaced, Warning};

pub use nodes::{Counts, ExistingDifference, Fate, GroupDifference, NodeKind, Nodes};
pub use pods::{WorkloadDifference, WorkloadSum};

/// What a change of the input does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// What the change starts from.
    pub before: Side,
    /// What the change leads to: what the plan is of.
    pub after: Side,
    /// How the two fleets differ, each as it is when its plan is done.
    pub nodes: Nodes,
    /// What the first fleet costs.
    pub cost_before: Cost,
    /// What the second fleet costs.
    pub cost_after: Cost,
    /// What of the first plan is not known, or only estimated: that plan itself is not kept.
    pub first: Uncertainty,
    /// How many pods stay Pending when the first plan is done.
    pub pending_before: usize,
    /// The workloads whose pods come, go or change, by namespace, kind and name.
    pub workloads: Vec<WorkloadDifference>,
    /// Pods that fit nowhere now and did fit, or were not there.
    pub unplaced: Vec<Unplaced>,
    /// Pods that fit now and did not.
    pub placed: Vec<PodKey>,
    /// Warnings that are new.
    pub warnings: Vec<Warning>,
    /// Warnings that are no more.
    pub warnings_gone: Vec<Warning>,
    /// What could not be read and could be before, or was not there.
    pub gaps: Vec<Gap>,
    /// What could not be read before and can be now, or is not there any more.
    pub gaps_gone: Vec<Gap>,
    /// What is assumed of the second input, or of both to compare them, and was not of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
    /// The files that differ, by path.
    pub files: Vec<FileDifference>,
}

/// One of two inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// What the user called it: a revision, or paths.
    pub name: Arc<str>,
    /// The commit, of a revision of Git.
    pub commit: Option<Arc<str>>,
}

/// A file that differs. Its text is not kept: it may hold what nobody should read twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileDifference {
    /// The path on both sides.
    pub path: String,
    /// Whether it comes, goes or changes.
    pub way: FileWay,
    /// How many lines are new.
    pub lines_added: usize,
    /// How many lines are gone.
    pub lines_removed: usize,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum FileWay {
    /// Only the second side has it.
    Added,
    /// Only the first side has it.
    Removed,
    /// Both have it, with other text.
    Changed,
}

impl Comparison {
    /// Holds the plan of a changed input against that of the input before.
    #[must_use]
    pub fn of(
        (before, plan_before): (Side, &Plan),
        (after, plan_after): (Side, &Plan),
        files: Vec<FileDifference>,
    ) -> Self {
        let (old, new) = (&plan_before.evidence.report, &plan_after.evidence.report);
        let (unplaced, placed) = pods::unplaced(plan_before, plan_after);
        let (old_world, new_world) = (&plan_before.evidence.world, &plan_after.evidence.world);
        let warned = |side: &Side, it: &Warning| {
            (
                side.unnamed(&it.object),
                side.unnamed(&it.what),
                it.hint.as_deref().map(|hint| side.unnamed(hint)),
            )
        };
        let gone = |side: &Side, it: &Gap| (it.kind, side.unnamed(&it.what), side.unnamed(&it.consequence));
        let assumed = |side: &Side, it: &Assumption| (side.unnamed(&it.what), side.unnamed(&it.why));
        let warnings = without((&after, &new.warnings), (&before, &old.warnings), warned);
        let warnings_gone = without((&before, &old.warnings), (&after, &new.warnings), warned);
        let gaps = without((&after, &new_world.gaps), (&before, &old_world.gaps), gone);
        let gaps_gone = without((&before, &old_world.gaps), (&after, &new_world.gaps), gone);
        let assumptions =
            without((&after, &new_world.assumptions), (&before, &old_world.assumptions), assumed);
        Self {
            before,
            after,
            nodes: Nodes::between(plan_before, plan_after),
            cost_before: old.cost_after,
            cost_after: new.cost_after,
            first: Uncertainty::of(plan_before),
            pending_before: pending(plan_before).len(),
            workloads: pods::workloads(old_world, new_world),
            unplaced,
            placed,
            warnings,
            warnings_gone,
            gaps,
            gaps_gone,
            assumptions,
            files,
        }
    }

    /// Returns whether nothing differs, the text of the files included.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.is_empty_but_files()
    }

    /// Returns whether nothing differs but the text of files.
    fn is_empty_but_files(&self) -> bool {
        let Self {
            before: _,
            after: _,
            nodes,
            cost_before,
            cost_after,
            first: _,
            pending_before: _,
            workloads,
            unplaced,
            placed,
            warnings,
            warnings_gone,
            gaps,
            gaps_gone,
            assumptions,
            files: _,
        } = self;
        *nodes == Nodes::default()
            && cost_before == cost_after
            && workloads.is_empty()
            && unplaced.is_empty()
            && placed.is_empty()
            && warnings.is_empty()
            && warnings_gone.is_empty()
            && gaps.is_empty()
            && gaps_gone.is_empty()
            && assumptions.is_empty()
    }

    /// Returns whether the fleets differ, or what they cost: what Terraform calls a change.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.nodes != Nodes::default() || self.cost_before != self.cost_after
    }

    /// Returns how many nodes of unknown price the second fleet has and the first one has not.
    #[must_use]
    pub fn more_unpriced(&self) -> usize {
        let groups = self.nodes.groups.iter().filter(|group| group.is_unpriced);
        let new: usize = groups.map(|group| group.after.saturating_sub(group.before)).sum();
        new.max(self.cost_after.unpriced_nodes.saturating_sub(self.cost_before.unpriced_nodes))
    }
}

impl Side {
    /// Returns a text without the side's name before paths: the same file is called otherwise on either side.
    fn unnamed(&self, text: &str) -> String {
        let is_within = |letter: char| letter.is_alphanumeric() || "-_./~^@".contains(letter);
        let names =
            [Some(&self.name), self.commit.as_ref()].into_iter().flatten().filter(|name| !name.is_empty());
        names.flat_map(|name| [format!("{name}:"), format!("{name}/")]).fold(text.to_owned(), |text, lead| {
            let mut rest = String::new();
            let mut from = 0;
            for (at, found) in text.match_indices(&lead) {
                rest.push_str(&text[from..at]);
                if text[..at].ends_with(is_within) {
                    rest.push_str(found);
                }
                from = at + found.len();
            }
            rest + &text[from..]
        })
    }
}

/// Returns what one side says and the other does not, by what each says without its own name.
fn without<T: Clone, K: PartialEq>(
    (side, these): (&Side, &[T]),
    (other, those): (&Side, &[T]),
    said: impl Fn(&Side, &T) -> K,
) -> Vec<T> {
    let known: Vec<K> = those.iter().map(|item| said(other, item)).collect();
    these.iter().filter(|item| !known.contains(&said(side, item))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::Side;

    #[test]
    fn a_path_reads_alike_on_both_sides_of_a_comparison() {
        let side = |name: &str| Side { name: name.into(), commit: None };
        let (before, after) = (side("HEAD~4"), side("HEAD~3"));
        let said = |name: &str| format!("`{name}:ov/o03`: `kustomize build {name}:ov/o03` failed");
        assert_eq!(before.unnamed(&said("HEAD~4")), after.unnamed(&said("HEAD~3")));
        assert_ne!(before.unnamed(&said("HEAD~4")), after.unnamed(&said("HEAD~4")));
        assert_eq!(side("a").unnamed("`a/b.yaml`, `data/a/c.yaml`"), "`b.yaml`, `data/a/c.yaml`");
    }
}
