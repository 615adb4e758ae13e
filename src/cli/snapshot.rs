//! `nodeform snapshot`: saves all planning input in one file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::arguments::SnapshotArguments;
use super::exit::{Exit, Failure};
use super::input::{Inputs, Listing};
use super::ui::Ui;
use super::{saved, world};
use crate::offline::{self, Request};
use crate::snapshot::file::{self, SnapshotFile};

pub(super) fn run(arguments: &SnapshotArguments, ui: Ui) -> Result<Exit, Failure> {
    #[cfg(feature = "live")]
    if arguments.live.live {
        return live(arguments, ui);
    }
    let SnapshotArguments {
        input,
        kubectl,
        #[cfg(feature = "live")]
            live: _,
        context,
        out,
        at,
        catalog,
        usage,
        location,
        names,
    } = arguments;
    if input.is_empty() && !kubectl.kubectl {
        return Err(nothing_named());
    }
    let inputs = if input.is_empty() { Inputs::default() } else { input.read()? };
    let (passed_by, mut gaps, read) = (inputs.passed_by.clone(), inputs.all_gaps(), inputs.read.clone());
    // Taken before listing, so that events during it are later than the snapshot's time.
    let at = if kubectl.kubectl { Some(world::now()) } else { at.as_deref().map(world::time).transpose()? };
    let listing = if kubectl.kubectl { context.list_by_kubectl()? } else { Listing::default() };
    listing.warnings.iter().for_each(|warning| ui.aside(&format!("warning: {warning}\n")));
    gaps.extend(listing.gaps);
    let request = Request {
        sources: inputs.sources().into_iter().chain(listing.sources).collect(),
        gaps,
        listed: listing.listed,
        names: (*names).into(),
        catalogs: world::catalogs(catalog)?,
        usages: world::usages(usage.as_deref())?,
        location: location.as_deref().map(world::region),
        at,
        ..Request::default()
    };
    let snapshot = offline::snapshot(request).map_err(world::failure)?;
    if snapshot.kept.documents == 0 {
        return Err(passed_by.nothing_found(&snapshot.kept.strays));
    }
    passed_by.say(&snapshot.kept.strays, ui);
    save(&snapshot, out.as_deref(), &read, ui)
}

/// Takes the snapshot of a live cluster and its Azure resources.
#[cfg(feature = "live")]
fn live(arguments: &SnapshotArguments, ui: Ui) -> Result<Exit, Failure> {
    let SnapshotArguments { live, context, out, catalog, usage, location, names, .. } = arguments;
    let options = Request {
        names: (*names).into(),
        catalogs: world::catalogs(catalog)?,
        usages: world::usages(usage.as_deref())?,
        location: location.as_deref().map(world::region),
        ..Request::default()
    };
    let snapshot = live.snapshot(context, options, ui)?;
    save(&snapshot, out.as_deref(), &BTreeSet::new(), ui)
}

/// Prints a snapshot, or saves it to a file that is not one of the inputs.
fn save(
    snapshot: &SnapshotFile,
    out: Option<&Path>,
    read: &BTreeSet<PathBuf>,
    ui: Ui,
) -> Result<Exit, Failure> {
    let text = file::write(snapshot);
    match out {
        None => ui.text(&text)?,
        Some(path) => {
            saved::save_text(path, &text, read)?;
            let (objects, all) = (snapshot.kept.objects.len(), snapshot.kept.documents);
            ui.aside(&format!(
                "Saved {objects} of {all} objects to `{0}`; plan from it with `nodeform plan --snapshot {0}`.\n",
                path.display()
            ));
        }
    }
    Ok(Exit::Done)
}

fn nothing_named() -> Failure {
    Failure::error("there is nothing to make a snapshot of: no input was named")
        .hint("name files or folders with manifests, or `-` for a dump of a cluster from standard input")
        .hint("or take it of a live cluster: `nodeform snapshot --kubectl --out prod.json`, or `--live` for its Azure resources as well")
}
