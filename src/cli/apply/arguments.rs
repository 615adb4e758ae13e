//! The flags of `nodeform apply`.

use std::path::PathBuf;

use clap::Args;

use super::super::context::ContextArguments;
use super::super::live::AzureArguments;
use super::super::remote::RemoteArguments;
use super::super::rolled::RolloutOutput;

/// Applies a plan to a live cluster.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nodeform plan --live --out plan.json\n  nodeform apply plan.json\n\n  nodeform apply --auto-approve\n\n  nodeform apply --merged --git-repository https://forge.example/platform/nodes\n"
)]
pub(in crate::cli) struct ApplyArguments {
    /// The plan that `nodeform plan --live --out` saved: applied as saved; stale changes are skipped, nothing is added.
    /// Without one, plan the live cluster, show the plan, and apply it after `yes`
    #[arg(value_name = "PLAN")]
    pub(super) plan: Option<PathBuf>,
    /// Apply all merged plans that are not applied yet, oldest first; the merge is the approval
    #[arg(long, conflicts_with_all = ["plan", "auto_approve", "destroy", "target", "catalog"])]
    pub(in crate::cli) merged: bool,
    /// Apply the plan without asking
    #[arg(long)]
    pub(super) auto_approve: bool,
    /// Drain at most this many nodes at the same time
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) parallelism: u16,
    /// End with exit code 5 once nothing has gone on for so long, as where a PodDisruptionBudget lets no pod go
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = time)]
    pub(in crate::cli) drain_timeout: std::time::Duration,
    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    pub(in crate::cli) output: RolloutOutput,
    /// Delete all nodes of the pools; their pods stay Pending
    #[arg(long, conflicts_with = "plan")]
    pub(super) destroy: bool,
    /// Apply only changes of nodepool/NAME or node/NAME, and what they need; repeatable
    #[arg(long, value_name = "TARGET", conflicts_with = "plan")]
    pub(super) target: Vec<String>,
    /// Use these sizes and prices, not the embedded ones; repeatable
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(super) catalog: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) remote: RemoteArguments,
    #[command(flatten)]
    pub(in crate::cli) azure: AzureArguments,
    #[command(flatten)]
    pub(in crate::cli) context: ContextArguments,
}

/// Reads an amount of time as Kubernetes writes it.
fn time(text: &str) -> Result<std::time::Duration, String> {
    let read = crate::api::text::DurationText(text.to_owned()).nanoseconds().filter(|time| *time > 0);
    read.map(|time| jiff::SignedDuration::from_nanos(time).unsigned_abs())
        .ok_or_else(|| "write an amount of time such as `90s`, `15m` or `1h`".to_owned())
}
