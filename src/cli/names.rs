//! `--names`: shows, hashes or omits names in plans and snapshots.

use clap::{Args, ValueEnum};

use super::headings;
use crate::manifests::Names;

/// What is done with names.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct NamesArguments {
    /// Show names of namespaces, workloads and pods, or replace each by a digest or a number
    ///
    /// The same holds for claims, volumes and values of labels. `hash` is a short digest, always the same, so that a
    /// guess can be tested; `omit` is a number. Never hidden: names of nodes, pools, classes and files, keys of
    /// labels, labels of nodes, priorities, the NodeFleet
    #[arg(
        long = "names",
        value_enum,
        default_value_t = NamesChoice::Show,
        value_name = "HOW",
        help_heading = headings::OUTPUT
    )]
    choice: NamesChoice,
}

/// What can be done with names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum NamesChoice {
    #[default]
    Show,
    Hash,
    Omit,
}

impl From<NamesArguments> for Names {
    fn from(arguments: NamesArguments) -> Self {
        match arguments.choice {
            NamesChoice::Show => Self::Show,
            NamesChoice::Hash => Self::Hash,
            NamesChoice::Omit => Self::Omit,
        }
    }
}
