//! `nodeform diff`: comparison of two snapshots or two saved plans.

use std::path::Path;
use std::sync::Arc;

use super::arguments::{DiffArguments, DiffOutput};
use super::exit::{Exit, Failure};
use super::input::InputArguments;
use super::ui::Ui;
use super::world;
use crate::manifests::Source;
use crate::offline::{self, Seen};
use crate::plan::comparison::{Comparison, Side};
use crate::plan::{Plan, file};
use crate::render::{Detail, PlanView, comparison_text, snapshot_difference};

/// A comparable file.
enum Comparable {
    Plan(Box<Plan>),
    Snapshot(Box<Seen>),
}

pub(super) fn run(arguments: &DiffArguments, ui: Ui) -> Result<Exit, Failure> {
    let DiffArguments { before, after, all, output } = arguments;
    let detail = if *all { Detail::All } else { Detail::Brief };
    if before.as_os_str() == "-" && after.as_os_str() == "-" {
        return Err(Failure::error("standard input is named twice").hint("name two files, or `-` and a file"));
    }
    let is_empty = match (read(before)?, read(after)?) {
        (Comparable::Snapshot(old), Comparable::Snapshot(new)) => {
            let difference = offline::difference(&old, &new);
            match output {
                DiffOutput::Human => ui.lines(&snapshot_difference(&difference, detail))?,
                DiffOutput::Json => ui.text(&json(&difference)?)?,
            }
            difference.is_empty()
        }
        (Comparable::Plan(old), Comparable::Plan(new)) => {
            let side = |path: &Path| Side { name: Arc::from(path.display().to_string()), commit: None };
            let comparison = Comparison::of((side(before), &old), (side(after), &new), Vec::new());
            match output {
                DiffOutput::Human => {
                    let name = after.display().to_string();
                    let view = PlanView::new(&new, Some(&name));
                    ui.lines(&comparison_text(&comparison, &view, &[], detail))?;
                }
                DiffOutput::Json => ui.text(&json(&comparison)?)?,
            }
            comparison.is_empty()
        }
        (Comparable::Plan(_), Comparable::Snapshot(_)) | (Comparable::Snapshot(_), Comparable::Plan(_)) => {
            return Err(Failure::error("one is a plan and the other a snapshot, which cannot be compared")
                .hint("make a plan of the snapshot: `nodeform plan --snapshot FILE --out plan.json`"));
        }
    };
    Ok(if is_empty { Exit::Done } else { Exit::Changes })
}

/// Returns a difference as JSON, with a trailing line feed.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::bug(vec![format!("the difference has no JSON form: {error}")]))?;
    Ok(format!("{text}\n"))
}

fn read(path: &Path) -> Result<Comparable, Failure> {
    let named = InputArguments { filenames: vec![path.to_owned()], ..InputArguments::default() };
    if path.is_dir() {
        return Err(Failure::error(format!("`{}` is a folder, not a snapshot or a plan", path.display()))
            .hint("make a snapshot of it with `nodeform snapshot FOLDER --out FILE`"));
    }
    let source = named.read()?.sources().into_iter().next().unwrap_or_default();
    if is_plan(&source) {
        let text = std::str::from_utf8(&source.bytes).unwrap_or_default();
        let plan = file::read(text)
            .map_err(|fault| Failure::of_plan_file(format!("`{}`: {fault}", source.name), &fault))?;
        return Ok(Comparable::Plan(Box::new(plan)));
    }
    Ok(Comparable::Snapshot(Box::new(offline::seen(&source).map_err(world::failure)?)))
}

/// Returns whether a file claims to be a plan; faults of other files are reported as those of a snapshot.
fn is_plan(source: &Source) -> bool {
    #[derive(serde::Deserialize)]
    struct Named {
        kind: Option<String>,
    }
    serde_json::from_slice(&source.bytes).is_ok_and(|named: Named| named.kind.as_deref() == Some(file::KIND))
}
