//! `nodeform snapshot`: what planning needs of an input, in one file.

use super::arguments::SnapshotArguments;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::{saved, world};
use crate::offline::{self, Request};
use crate::snapshot::file;

pub(super) fn run(arguments: &SnapshotArguments, ui: Ui) -> Result<Exit, Failure> {
    let SnapshotArguments { input, out, at, catalog, location, names } = arguments;
    if input.is_empty() {
        return Err(Failure::error("there is nothing to make a snapshot of: no input was named").hint(
            "name files or folders with manifests, or `-` for a dump of a cluster from standard input",
        ));
    }
    let inputs = input.read()?;
    let (passed_by, gaps, read) = (inputs.passed_by.clone(), inputs.all_gaps(), inputs.read.clone());
    let request = Request {
        sources: inputs.sources(),
        gaps,
        names: (*names).into(),
        catalogs: world::catalogs(catalog)?,
        location: location.as_deref().map(world::region),
        at: at.as_deref().map(world::time).transpose()?,
        ..Request::default()
    };
    let snapshot = offline::snapshot(request).map_err(world::failure)?;
    if snapshot.kept.documents == 0 {
        return Err(passed_by.nothing_found(&snapshot.kept.strays));
    }
    passed_by.say(&snapshot.kept.strays, ui);
    let text = file::write(&snapshot);
    match out {
        None => ui.text(&text)?,
        Some(path) => {
            saved::save_text(path, &text, &read)?;
            let (objects, all) = (snapshot.kept.objects.len(), snapshot.kept.documents);
            ui.aside(&format!(
                "Saved {objects} of {all} objects to `{0}`; plan from it with `nodeform plan --snapshot {0}`.\n",
                path.display()
            ));
        }
    }
    Ok(Exit::Done)
}
