//! `nodeform narrow`: keeps nodes that a plan under review would delete, by editing its checked-out folder.
#![expect(clippy::disallowed_methods, reason = "folders are read and files written below the line, here")]

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Failure};
use super::saved;
use super::ui::Ui;
use crate::render::proposal::derived;
use crate::render::words::{count, verb};
use crate::review::proposal::{DESTROYS, MARKDOWN, NotDeleted, narrow};

/// How deep below the current folder a plan is looked for: `clusters/prod/nodeform/plans/2026-11/move-pods-…` and some more.
const DEPTH_MAX: usize = 10;

/// How many nodes of a plan are named where another is asked for.
const NAMED_MAX: usize = 20;

/// Keeps nodes that a plan under review would delete: strikes their lines.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nodeform narrow k3v9q2m7xa --keep node/aks-general-x7k2\n  \
    nodeform narrow . --keep node/aks-a --keep node/aks-b\n")]
pub(super) struct NarrowArguments {
    /// The id of a plan below the current folder, or the path of its folder
    #[arg(value_name = "ID")]
    plan: PathBuf,
    /// Keep this node; repeatable
    #[arg(long, required = true, value_name = "node/NAME")]
    keep: Vec<String>,
}

/// Strikes lines.
///
/// # Errors
/// There is no such plan, it was edited, it does not delete one of the nodes, or its folder cannot be written.
pub(super) fn run(arguments: &NarrowArguments, ui: Ui) -> Result<Exit, Failure> {
    let folder = folder(&arguments.plan)?;
    let proposal = saved::proposal(&folder)?;
    let lines = derived(&proposal.plan).destroys;
    let narrowed = narrow(&proposal.plan, &lines, &proposal.struck, &arguments.keep);
    let narrowed = narrowed.map_err(|fault| not_deleted(&fault))?;
    let file = folder.join(DESTROYS);
    let written = match &narrowed.text {
        Some(text) => fs::write(&file, text),
        None if file.exists() => fs::remove_file(&file),
        None => Ok(()),
    };
    written.map_err(|error| Failure::error(format!("`{}` cannot be written: {error}", file.display())))?;
    let left = narrowed.left.len();
    let said = match left {
        0 => format!("Every node is kept: `{}` is deleted.\n", file.display()),
        left => format!(
            "{} of {} {} left to delete:\n",
            left,
            count(lines.len(), "node"),
            verb(left, "is", "are")
        ),
    };
    ui.text(&said)?;
    for line in &narrowed.left {
        ui.text(&format!("{line}\n"))?;
    }
    if narrowed.idle > 0 {
        let is = verb(narrowed.idle, "is", "are");
        ui.text(&format!(
            "{} {is} not created either: nothing else needs it.\n",
            count(narrowed.idle, "new node")
        ))?;
    }
    ui.aside(&format!("Commit `{}` to the branch of the pull request.\n", file.display()));
    Ok(Exit::Done)
}

/// Says which nodes a plan deletes where another is to stay.
pub(super) fn not_deleted(fault: &NotDeleted) -> Failure {
    let shown: Vec<String> = fault.known.iter().take(NAMED_MAX).map(|node| format!("node/{node}")).collect();
    let more = fault.known.len().saturating_sub(shown.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let known = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") + &more };
    Failure::error(fault.to_string()).hint(format!("it deletes: {known}"))
}

/// The folder of a plan, by its path or its id.
fn folder(plan: &Path) -> Result<PathBuf, Failure> {
    if plan.is_dir() {
        return Ok(plan.to_owned());
    }
    let id = plan.display().to_string();
    let mut found = Vec::new();
    below(Path::new("."), DEPTH_MAX, &id, &mut found);
    found.sort();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::error(format!("no plan `{id}` below the current folder"))
            .hint("check out the branch of the proposal, or name the plan's folder")),
        [one, other, ..] => {
            Err(Failure::error(format!("plan `{id}` is in `{}` and in `{}`", one.display(), other.display()))
                .hint("name the plan's folder"))
        }
    }
}

/// Collects folders that are called after an id and hold a page; links are not followed, nor hidden folders looked into.
fn below(folder: &Path, depth: usize, id: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let is_named = name == id || name.rsplit_once('-').is_some_and(|(_, last)| last == id);
        if is_named && entry.path().join(MARKDOWN).is_file() {
            found.push(entry.path());
        } else if depth > 0 {
            below(&entry.path(), depth - 1, id, found);
        }
    }
}
