//! The flags of `nodeform apply`.

use std::path::PathBuf;

use clap::Args;

use super::super::context::ContextArguments;
use super::super::live::AzureArguments;
use super::super::remote::RemoteArguments;
use super::super::rolled::RolloutOutput;

/// Carries a plan out on a live cluster.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nodeform plan --live --out plan.json\n  nodeform apply plan.json\n\n  nodeform apply --auto-approve\n\n  nodeform apply --merged --git-repository https://forge.example/platform/nodes\n"
)]
pub(in crate::cli) struct ApplyArguments {
    /// A plan that `nodeform plan --live --out` saved: it is carried out as it stands, or less. Without one, a plan is
    /// made of the live cluster, shown, and carried out after `yes`
    #[arg(value_name = "PLAN")]
    pub(super) plan: Option<PathBuf>,
    /// Carry out every plan that is merged and not carried out yet, the oldest first: that it is on the branch is the
    /// approval
    #[arg(long, conflicts_with_all = ["plan", "auto_approve", "destroy", "target", "catalog"])]
    pub(in crate::cli) merged: bool,
    /// Carry the plan out without asking
    #[arg(long, conflicts_with = "plan")]
    pub(super) auto_approve: bool,
    /// How many nodes are drained at once, at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) parallelism: u16,
    /// How progress is told
    #[arg(short, long, value_enum, default_value_t)]
    pub(in crate::cli) output: RolloutOutput,
    /// Let all nodes of the pools go, and their pods wait
    #[arg(long, conflicts_with = "plan")]
    pub(super) destroy: bool,
    /// Only these changes and what they need: nodepool/NAME or node/NAME; may be repeated
    #[arg(long, value_name = "TARGET", conflicts_with = "plan")]
    pub(super) target: Vec<String>,
    /// Sizes and prices to use instead of the embedded ones; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(super) catalog: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) remote: RemoteArguments,
    #[command(flatten)]
    pub(in crate::cli) azure: AzureArguments,
    #[command(flatten)]
    pub(in crate::cli) context: ContextArguments,
}
