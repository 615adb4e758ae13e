//! The command line: one file for each command; the only place that reads files and prints.
//!
//! Commands are thin: they read, call the pure steps in their order, and print what these return.

mod arguments;
mod catalog;
mod compare;
mod crds;
mod exit;
mod explain;
mod fix;
mod gates;
mod init;
mod input;
mod plan;
mod replace;
mod saved;
mod schema;
mod ui;
mod validate;
mod version;
mod world;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use arguments::{Command, CommandLine};
use exit::{Exit, Failure};
use ui::Ui;

/// Runs the command that these arguments say and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command_line = match CommandLine::try_parse_from(arguments) {
        Ok(command_line) => command_line,
        Err(error) => return usage(&error).into(),
    };
    let ui = Ui::new(command_line.no_color);
    match dispatch(command_line.command, ui) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            ui.failure(&failure);
            failure.exit.into()
        }
    }
}

fn dispatch(command: Command, ui: Ui) -> Result<Exit, Failure> {
    match command {
        Command::Plan(arguments) => plan::run(&arguments, ui),
        Command::Show(arguments) => saved::show(&arguments, ui),
        Command::Verify(arguments) => saved::verify(&arguments, ui),
        Command::Validate(arguments) => validate::run(&arguments, ui),
        Command::Explain(arguments) => explain::run(&arguments, ui),
        Command::Catalog(arguments) => catalog::run(&arguments, ui),
        Command::Init(arguments) => init::run(&arguments, ui),
        Command::Crds(arguments) => crds::run(&arguments, ui),
        Command::Schema(arguments) => schema::run(&arguments, ui),
        Command::Version(arguments) => version::run(&arguments, ui),
    }
}

/// Prints what clap has to say. Help is data and succeeds; wrong usage is an error like any other, with
/// exit code 1 instead of clap's own 2, which means "changes" here.
fn usage(error: &clap::Error) -> Exit {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    match error.print() {
        // A reader that went away is no failure of ours.
        Err(fault) if is_help && fault.kind() != std::io::ErrorKind::BrokenPipe => {
            let message = format!("standard output cannot be written: {fault}");
            Ui::new(true).failure(&Failure::error(message));
            Exit::Error
        }
        Ok(()) | Err(_) if is_help => Exit::Done,
        Ok(()) | Err(_) => Exit::Error,
    }
}
