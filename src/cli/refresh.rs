//! `nodeform plan --refresh-only`: shows how the cluster has changed since a snapshot, and takes a new snapshot.
//!
//! A snapshot is the only recorded state. Nothing is planned, so nothing is proposed.

use super::arguments::{PlanArguments, PlanOutput};
use super::exit::{Exit, Failure};
use super::input::InputArguments;
use super::ui::Ui;
use super::{diff, saved, world};
use crate::offline::{self, Refreshed, Request};
use crate::render::{Detail, snapshot_difference};
use crate::snapshot::file;

pub(super) fn run(arguments: &PlanArguments, ui: Ui) -> Result<Exit, Failure> {
    let PlanArguments { world: from, names, out, output, all, detailed_exitcode, .. } = arguments;
    let Some(recorded) = &from.laid.snapshot else {
        return Err(nothing_recorded());
    };
    if from.input.is_empty() {
        return Err(Failure::error("nothing of now was named to hold the snapshot against").hint(
            "name a dump of the cluster beside it: `nodeform plan --refresh-only --snapshot FILE dump.yaml`",
        ));
    }
    let source = InputArguments { filenames: vec![recorded.clone()], ..InputArguments::default() };
    let source = source.read()?.sources().into_iter().next().unwrap_or_default();
    let inputs = from.input.read()?;
    let (passed_by, gaps, read) = (inputs.passed_by.clone(), inputs.all_gaps(), inputs.read.clone());
    let request = Request {
        sources: inputs.sources(),
        gaps,
        names: (*names).into(),
        catalogs: world::catalogs(&from.catalog)?,
        usages: world::usages(from.usage.as_deref())?,
        location: from.location.as_deref().map(world::region),
        at: from.at.as_deref().map(world::time).transpose()?,
        ..Request::default()
    };
    let Refreshed { snapshot, difference } = offline::refreshed(&source, request).map_err(world::failure)?;
    if snapshot.kept.documents == 0 {
        return Err(passed_by.nothing_found(&snapshot.kept.strays));
    }
    passed_by.say(&snapshot.kept.strays, ui);
    match output {
        PlanOutput::Human => {
            let detail = if *all { Detail::All } else { Detail::Brief };
            ui.lines(&snapshot_difference(&difference, detail))?;
        }
        PlanOutput::Json => ui.text(&diff::json(&difference)?)?,
        PlanOutput::Yaml | PlanOutput::Md | PlanOutput::Html | PlanOutput::TfJson | PlanOutput::Name => {
            return Err(Failure::error(
                "`--refresh-only` creates no plan, so there is none to print in this form",
            )
            .hint("print the difference with `-o human` or `-o json`"));
        }
    }
    if let Some(path) = out {
        saved::save_text(path, &file::write(&snapshot), &read)?;
        ui.aside(&format!("Nothing is proposed. Saved the current state to `{}`.\n", path.display()));
    } else {
        ui.aside("Nothing is proposed, and nothing was saved: `--out FILE` saves the current state.\n");
    }
    let is_changed = !difference.is_empty();
    Ok(if is_changed && *detailed_exitcode { Exit::Changes } else { Exit::Done })
}

fn nothing_recorded() -> Failure {
    Failure::error("`--refresh-only` brings a snapshot up to date, and none was named")
        .hint("name it with `--snapshot FILE`; `nodeform snapshot INPUT --out FILE` makes one")
}
