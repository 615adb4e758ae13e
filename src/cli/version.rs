//! `nodeform version`.

use super::arguments::{VersionArguments, VersionOutput};
use super::exit::{Exit, Failure};
use super::ui::Ui;

/// The version of the package.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn run(arguments: &VersionArguments, ui: Ui) -> Result<Exit, Failure> {
    match arguments.output {
        VersionOutput::Human => ui.text(&format!("nodeform {VERSION}\n"))?,
        VersionOutput::Json => {
            let facts = serde_json::json!({
                "version": VERSION,
                "planFormat": crate::plan::file::API_VERSION,
                "karpenter": {"core": "v1.14", "azure": "v1.14"},
            });
            ui.text(&format!("{facts:#}\n"))?;
        }
    }
    Ok(Exit::Done)
}
