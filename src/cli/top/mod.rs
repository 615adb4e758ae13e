//! `nodeform top`: the nodes of a live cluster, one row each, refreshed every few seconds.
//!
//! ```text
//!  Reader (a thread of its own) ── Fleet or why not ──▶ Screen ◀── keys, resizes, time
//!                                                         └─ render::fleet ──▶ lines ──▶ terminal
//! ```
//!
//! Reads only the Kubernetes API; prices are from the embedded list. Never writes to the cluster.

mod draw;
pub(super) mod read;
pub(super) mod refresh;
pub(super) mod screen;

use std::io::{self, IsTerminal as _};
use std::sync::mpsc;
use std::time::Duration;

use clap::Args;

use super::context::ContextArguments;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::clock::Clock;
use crate::cluster::{Cluster, ClusterFailure, Settings};
use crate::render::fleet::fleet_text;
use read::Reader;

/// How often the cluster is read, in seconds: often enough to watch nodes come, seldom enough for an API server with
/// thousands of pods.
const INTERVAL: u64 = 5;

/// Shows the nodes of a live cluster with what pods request of them, what they cost and what becomes of them.
#[derive(Args, Debug)]
#[command(
    after_help = "Keys:\n  ↑ ↓ PgUp PgDn Home End   choose a node\n  Enter                    explain the node\n  \
    /                        filter by words of a row\n  s                        sort by the next column\n  \
    q, Ctrl-C                quit\n\nExamples:\n  nodeform top\n  nodeform top --once\n  \
    nodeform top --context prod --interval 30\n"
)]
pub(super) struct TopArguments {
    #[command(flatten)]
    context: ContextArguments,
    /// Print the nodes once and exit; the default without a terminal
    #[arg(long)]
    once: bool,
    /// Read the cluster again after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = INTERVAL, conflicts_with = "once",
        value_parser = clap::value_parser!(u64).range(1..=3_600))]
    interval: u64,
}

/// Shows it.
///
/// # Errors
/// There is no such cluster, it cannot be read once, or the terminal fails.
pub(super) fn run(arguments: &TopArguments, ui: Ui) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::error(format!("the program cannot wait for answers: {error}")))?;
    let ContextArguments { context, kubeconfig } = arguments.context.clone();
    let cluster = runtime.block_on(Cluster::of(&Settings { context, kubeconfig }, Clock::of_this_machine()));
    let mut reader = Reader::of(cluster.map_err(failure)?);
    let is_watched = io::stdin().is_terminal() && io::stdout().is_terminal();
    if arguments.once || !is_watched {
        let fleet = runtime.block_on(refresh::in_time(&mut reader));
        let fleet =
            fleet.map_err(|unseen| Failure::errors(Vec::new()).and(&unseen.what, unseen.hint.as_deref()))?;
        // Output for programs is not truncated.
        let columns = if io::stdout().is_terminal() { ui.columns() } else { usize::from(u16::MAX) };
        ui.lines(&fleet_text(&fleet, columns))?;
        return Ok(Exit::Done);
    }
    let (sender, receiver) = mpsc::channel();
    let clock = reader.clock();
    refresh::start((runtime, reader), Duration::from_secs(arguments.interval), sender);
    screen::run(&receiver, clock, ui.is_coloured())?;
    Ok(Exit::Done)
}

fn failure(failure: ClusterFailure) -> Failure {
    Failure::errors(Vec::new()).and(&failure.what, Some(&failure.hint))
}

#[cfg(test)]
mod tests;
