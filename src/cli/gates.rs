//! `--fail-on` and `--max-monthly-increase`: the caller's conditions, checked after everything is printed and saved.

use clap::{Args, ValueEnum};

use super::exit::{Exit, Failure};
use super::headings;
use crate::model::MicroUsd;
use crate::plan::Plan;
use crate::render::gate::failed_gate;
use crate::review::gate::{self, Gate};

/// The conditions of the caller. A gate that is not passed ends the command with 4, whatever
/// `--detailed-exitcode` would say.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct GateArguments {
    /// Exit with 4 if the plan, or the difference of two inputs, has any of these; comma-separated or repeated
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', help_heading = headings::GATES)]
    fail_on: Vec<FailOn>,
    /// Exit with 4 if the monthly cost may increase by more (Azure's substitutes included) or by an unknown amount
    #[arg(
        long,
        value_name = "USD",
        value_parser = dollars,
        allow_negative_numbers = true,
        help_heading = headings::GATES
    )]
    max_monthly_increase: Option<MicroUsd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum FailOn {
    /// Pods stay Pending because they fit nowhere
    Unplaced,
    /// Nodes are deleted or replaced
    Delete,
    /// Something is not in the plan: not read, held back, or of unknown price
    Incomplete,
    /// A figure of the cost is an estimate
    Estimate,
}

impl GateArguments {
    /// Holds every gate against the plan.
    ///
    /// # Errors
    /// The gates that are not passed, each with what it found.
    pub(super) fn hold(&self, plan: &Plan) -> Result<(), Failure> {
        let Self { fail_on, max_monthly_increase } = self;
        let mut gates: Vec<Gate> = fail_on.iter().map(|what| what.gate()).collect();
        gates.extend(max_monthly_increase.map(Gate::MonthlyIncrease));
        gates.sort_unstable();
        gates.dedup();
        let failed: Vec<String> = gates
            .into_iter()
            .filter_map(|gate| gate.failed(plan))
            .map(|failed| failed_gate(&failed))
            .collect();
        if failed.is_empty() {
            return Ok(());
        }
        let failure = Failure { exit: Exit::Gate, ..Failure::errors(failed) };
        Err(failure.hint("nodeform worked; a gate of this command failed. Change the manifests or the gate"))
    }
}

impl FailOn {
    const fn gate(self) -> Gate {
        match self {
            Self::Unplaced => Gate::Unplaced,
            Self::Delete => Gate::Delete,
            Self::Incomplete => Gate::Incomplete,
            Self::Estimate => Gate::Estimate,
        }
    }
}

fn dollars(text: &str) -> Result<MicroUsd, String> {
    gate::dollars_per_month(text)
        .ok_or_else(|| "write dollars by the month, of 0 or more, as in `500` or `99.50`".to_owned())
}
