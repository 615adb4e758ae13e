//! Why a plan's folder is rejected, with the fix.

use crate::plan::PlanFileFault;

/// Why a plan's folder is rejected: the first fault found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposalFault {
    /// The name is not that of a plan folder.
    #[error(
        "`{name}` is not a plan folder name (expected MONTH/CLASS-ID, such as `2026-11/move-pods-k3v9q2m7xa`)"
    )]
    Name {
        /// The name, including the month's.
        name: String,
    },
    /// The folder is not in a month's folder.
    #[error("folder `{name}` is in `{month}`, which is not a month (expected YEAR-MONTH, such as `2026-11`)")]
    Month {
        /// The folder's name.
        name: String,
        /// Name of its parent folder.
        month: String,
    },
    /// Not a plain file, such as a link, a folder or a submodule.
    #[error("`{name}` is not a plain file, but a folder, a link or a submodule")]
    NoFile {
        /// Its name.
        name: String,
    },
    /// A file that is not part of a plan.
    #[error("`{name}` does not belong in a plan folder")]
    OtherFile {
        /// Its name.
        name: String,
    },
    /// A file name of an older version.
    #[error("`{name}` is a file name of an older version of nodeform")]
    OldName {
        /// Its name.
        name: String,
    },
    /// A file is too large.
    #[error("`{file}` has more than {} MiB", most >> 20)]
    TooLarge {
        /// The file.
        file: String,
        /// Maximum size in bytes.
        most: u64,
    },
    /// A file is missing.
    #[error("`{file}` is missing")]
    Missing {
        /// The file.
        file: &'static str,
    },
    /// A file is not text.
    #[error("`{file}` is not UTF-8 text")]
    NoText {
        /// The file.
        file: &'static str,
    },
    /// The plan itself is invalid.
    #[error("`plan.jsonc` holds no plan that can be used: {0}")]
    Plan(PlanFileFault),
    /// The file has content that this version does not know.
    #[error(
        "`plan.jsonc` is not as this version of nodeform writes it: it was edited, or another version wrote it"
    )]
    OtherVersion,
    /// The folder has the name of another plan.
    #[error("the folder is called `{stated}`, but its plan belongs in `{found}`")]
    OtherName {
        /// Its name.
        stated: String,
        /// The name for its plan.
        found: String,
    },
    /// The plan does nothing, or is not live.
    #[error("the plan has no changes that can be applied to a live cluster")]
    NotLive,
    /// The page was written by another version.
    #[error("`PLAN.md` was written by template `{template}`, which this version of nodeform does not know")]
    OtherTemplate {
        /// The template that the page names.
        template: String,
    },
    /// The page does not match the plan.
    #[error(
        "line {line} of `PLAN.md` does not follow from `plan.jsonc`: the page was edited, or another version wrote it"
    )]
    MarkdownDiffers {
        /// The first line that differs.
        line: usize,
    },
    /// The list of removals has other lines than the plan.
    #[error("line {line} of `destroy.txt` {what}: `{text}`")]
    DestroysDiffer {
        /// Line number.
        line: usize,
        /// The difference.
        what: &'static str,
        /// The line's text, shortened.
        text: String,
    },
}

impl ProposalFault {
    /// Returns what to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Name { .. } | Self::Month { .. } | Self::OtherName { .. } => {
                "move the folder back to where `nodeform propose` put it, or remove it and propose again: `nodeform propose --live`"
            }
            Self::NoFile { .. } | Self::OtherFile { .. } => {
                "remove it: a plan folder holds `PLAN.md`, `plan.jsonc`, `destroy.txt` and `plan.jsonc.sig`, and nothing else"
            }
            Self::OldName { .. } => "remove the folder, and propose again: `nodeform propose --live`",
            Self::OtherTemplate { .. } => {
                "use the version of nodeform that proposed the plan, or remove the folder and propose again: `nodeform propose --live`"
            }
            Self::MarkdownDiffers { .. } => {
                "undo the edit, or remove the folder and propose again: `nodeform propose --live`"
            }
            Self::DestroysDiffer { .. } => {
                "delete the line to keep its node, or undo the edit: lines may be deleted, and nothing else"
            }
            Self::Plan(_)
            | Self::OtherVersion
            | Self::Missing { .. }
            | Self::NoText { .. }
            | Self::TooLarge { .. } => {
                "undo the edit (only lines of `destroy.txt` may be deleted), or remove the folder and propose again: `nodeform propose --live`"
            }
            Self::NotLive => {
                "remove the folder, and propose a plan of the cluster: `nodeform propose --live`"
            }
        }
    }
}
