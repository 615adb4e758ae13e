//! `nodeform plan --against`: which approval each change of the plan would need, by the NodeFleet of the input or of a
//! file.
#![expect(clippy::disallowed_methods, reason = "the file of another NodeFleet is read here")]

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;

use super::arguments::PlanOutput;
use super::exit::Failure;
use super::ui::Ui;
use crate::api::Kind;
use crate::model::Fleet;
use crate::offline::World;
use crate::plan::Plan;
use crate::policy::{self, WireObject};
use crate::render::handling_lines;
use crate::review::handling::handling;

/// Maximum size of the file in bytes: far above any NodeFleet.
const BYTES_MAX: u64 = 4 << 20;

/// The NodeFleet that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Against {
    /// The NodeFleet of the input.
    Fleet,
    /// The NodeFleet in this file.
    File(PathBuf),
}

impl FromStr for Against {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "fleet" => Self::Fleet,
            path => Self::File(PathBuf::from(path)),
        })
    }
}

impl Against {
    /// Checks that the output format can show the result.
    ///
    /// # Errors
    /// The format is for programs, or a document.
    pub(super) fn is_told_in(&self, output: PlanOutput) -> Result<(), Failure> {
        match output {
            PlanOutput::Human => Ok(()),
            PlanOutput::Json
            | PlanOutput::Yaml
            | PlanOutput::Md
            | PlanOutput::Html
            | PlanOutput::TfJson
            | PlanOutput::Name => {
                Err(Failure::error("`--against` is said in text").hint("leave out `--output`"))
            }
        }
    }

    /// Replaces mode, reviews, holds and `suspend` of the world's NodeFleet by those of the file.
    ///
    /// # Errors
    /// The file cannot be read, or contains no valid NodeFleet.
    pub(super) fn decide(&self, world: &mut World) -> Result<(), Failure> {
        let Self::File(path) = self else { return Ok(()) };
        let Fleet { name, mode, reviewed, holds, is_suspended, .. } = fleet(path)?;
        let own = &mut world.policy.fleet;
        (own.name, own.mode, own.reviewed, own.holds, own.is_suspended) =
            (name, mode, reviewed, holds, is_suspended);
        Ok(())
    }

    /// Prints how each change would be handled.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn say(plan: &Plan, ui: Ui) -> Result<(), Failure> {
        let fleet = plan.policy().fleet;
        ui.lines(&handling_lines(handling(plan, &fleet, plan.snapshot().at), &fleet))
    }
}

fn fleet(path: &Path) -> Result<Fleet, Failure> {
    let shown = path.display();
    let size = std::fs::metadata(path).map(|found| found.len());
    let text = match size {
        Ok(size) if size > BYTES_MAX => {
            return Err(Failure::error(format!("`{shown}` has {size} bytes, too many for a NodeFleet")));
        }
        Ok(_) => std::fs::read_to_string(path),
        Err(error) => Err(error),
    };
    let text = text.map_err(|error| {
        Failure::error(format!("`{shown}` cannot be read: {error}"))
            .hint("write `--against fleet` for the NodeFleet of the input, or name a file with a NodeFleet")
    })?;
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text)
        .map_err(|error| Failure::error(format!("`{shown}` is not YAML: {error}")))?;
    let fleets: Vec<Value> =
        documents.into_iter().filter(|document| document["kind"] == "NodeFleet").collect();
    let [value] = fleets.as_slice() else {
        let many = fleets.len();
        return Err(Failure::error(format!("`{shown}` holds {many} NodeFleets, and one is needed")));
    };
    let parsed = policy::parse(&[WireObject { kind: Kind::NodeFleet, value }]);
    parsed.map(|policy| policy.fleet).map_err(|faults| {
        let faults = faults.into_iter().map(|(_, fault)| format!("`{shown}`: {fault}")).collect();
        Failure::errors(faults)
    })
}
