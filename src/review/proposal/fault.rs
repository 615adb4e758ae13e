//! Why a plan's folder is not taken, with the way out.

use crate::plan::PlanFileFault;

/// Why a plan's folder is not taken: the first reason that was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposalFault {
    /// The folder is called as nodeform calls none.
    #[error(
        "`{name}` is not a plan folder name (expected MONTH/CLASS-ID, such as `2026-11/move-pods-k3v9q2m7xa`)"
    )]
    Name {
        /// The name, with the month's.
        name: String,
    },
    /// The folder lies in no month's.
    #[error("folder `{name}` is in `{month}`, which is not a month (expected YEAR-MONTH, such as `2026-11`)")]
    Month {
        /// The folder's name.
        name: String,
        /// The name of the one that it is in.
        month: String,
    },
    /// Something that is no file, such as a link, a folder or a submodule.
    #[error("`{name}` is not a plain file, but a folder, a link or a submodule")]
    NoFile {
        /// Its name.
        name: String,
    },
    /// A file that no plan has.
    #[error("`{name}` does not belong in a plan folder")]
    OtherFile {
        /// Its name.
        name: String,
    },
    /// A file under the name that an older version gave it.
    #[error("`{name}` is a file name of an older version of nodeform")]
    OldName {
        /// Its name.
        name: String,
    },
    /// A file is too large to be looked at.
    #[error("`{file}` has more than {} MiB", most >> 20)]
    TooLarge {
        /// The file.
        file: String,
        /// The most that is read.
        most: u64,
    },
    /// A file is missing.
    #[error("`{file}` is missing")]
    Missing {
        /// The file.
        file: &'static str,
    },
    /// A file is no text.
    #[error("`{file}` is not UTF-8 text")]
    NoText {
        /// The file.
        file: &'static str,
    },
    /// The plan itself cannot be used.
    #[error("`plan.jsonc` holds no plan that can be used: {0}")]
    Plan(PlanFileFault),
    /// The file says more than is understood here.
    #[error(
        "`plan.jsonc` is not as this version of nodeform writes it: it was edited, or another version wrote it"
    )]
    OtherVersion,
    /// The folder is called after another plan.
    #[error("the folder is called `{stated}`, but its plan belongs in `{found}`")]
    OtherName {
        /// What it is called.
        stated: String,
        /// What its plan is called.
        found: String,
    },
    /// The plan does nothing, or was not made of a live cluster.
    #[error("the plan has no changes that can be applied to a live cluster")]
    NotLive,
    /// The page was worded by another version.
    #[error("`PLAN.md` was written by template `{template}`, which this version of nodeform does not know")]
    OtherTemplate {
        /// What the page names.
        template: String,
    },
    /// What people read does not follow from what would be done.
    #[error(
        "line {line} of `PLAN.md` does not follow from `plan.jsonc`: the page was edited, or another version wrote it"
    )]
    MarkdownDiffers {
        /// The first line that differs.
        line: usize,
    },
    /// The list of removals says more or else than the plan.
    #[error("line {line} of `destroy.txt` {what}: `{text}`")]
    DestroysDiffer {
        /// The line.
        line: usize,
        /// In what it differs.
        what: &'static str,
        /// What it says, cut.
        text: String,
    },
}

impl ProposalFault {
    /// Returns the next thing to do.
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
