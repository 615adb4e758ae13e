//! Under which headings flags stand in the help of the commands that plan.

/// What is planned from.
pub(super) const INPUT: &str = "Input";
/// Which cluster is read.
pub(super) const LIVE: &str = "Live cluster";
/// What is supposed that is not so.
pub(super) const WHAT_IF: &str = "What if";
/// Which changes are planned, and how.
pub(super) const CHANGES: &str = "Changes";
/// What is printed and saved.
pub(super) const OUTPUT: &str = "Output";
/// What ends a command with another exit code.
pub(super) const GATES: &str = "Gates";
