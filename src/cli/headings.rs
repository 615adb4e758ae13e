//! Headings of flags in the help of planning commands.

/// Input of the plan.
pub(super) const INPUT: &str = "Input";
/// Selection of the cluster.
pub(super) const LIVE: &str = "Live cluster";
/// Hypothetical conditions.
pub(super) const WHAT_IF: &str = "What if";
/// Selection of the planned changes.
pub(super) const CHANGES: &str = "Changes";
/// Printed and saved output.
pub(super) const OUTPUT: &str = "Output";
/// Conditions that change the exit code.
pub(super) const GATES: &str = "Gates";
