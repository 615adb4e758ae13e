//! Plan folder that people review: its name, its files, and the check that they belong together.
//!
//! ```text
//!  2026-11/move-pods-k3v9q2m7xa/   PLAN.md ─ follows from ─▶ plan.jsonc ◀─ the same lines or fewer ─ destroy.txt
//! ```
//!
//! Bytes in, a plan and what reviewers struck out: nothing is read or rendered here, and nothing is added to a plan.
//! Any foreign content of a folder results in a single fault.

mod fault;
mod name;
mod narrow;
mod strike;
mod template;
mod verify;
mod work;

pub use fault::ProposalFault;
pub use name::{
    FolderName, branches, class, class_of_branch, classes, is_dated, is_month, is_month_over, is_plan,
};
pub use narrow::{Narrowed, NotDeleted, kept, narrow};
pub use strike::{DestroyLine, idle_creates, struck};
pub use template::Template;
pub use verify::{
    Content, DESTROYS, Derived, FILE_BYTES_MAX, Files, MARKDOWN, PLAN, Proposal, SIGNATURE, is_file, read,
};
pub use work::work;

#[cfg(test)]
mod tests;
