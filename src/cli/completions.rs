//! `nodeform completions` and `nodeform man`: generated from the command line definition, so they know every flag.

use std::fs;
use std::path::Path;

use clap::CommandFactory;

use super::arguments::{CommandLine, CompletionsArguments, ManArguments};
use super::exit::{Exit, Failure};
use super::ui::Ui;

pub(super) fn completions(arguments: &CompletionsArguments, ui: Ui) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::command(), "nodeform", &mut script);
    let script = String::from_utf8(script)
        .map_err(|_| Failure::bug(vec!["the script of completions is not UTF-8".to_owned()]))?;
    ui.text(&script)?;
    Ok(Exit::Done)
}

/// Writes a page for the program and one for each command, named as `man` looks for them.
pub(super) fn man(arguments: &ManArguments, ui: Ui) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    let failure =
        |path: &Path, error| Failure::error(format!("`{}` cannot be written: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| failure(folder, error))?;
    let program = CommandLine::command().disable_help_subcommand(true);
    let count = program.get_subcommands().count() + 1;
    clap_mangen::generate_to(program, folder).map_err(|error| failure(folder, error))?;
    ui.aside(&format!(
        "Wrote {count} pages to `{0}`; read one with `man -l {0}/nodeform.1`.\n",
        folder.display()
    ));
    Ok(Exit::Done)
}
