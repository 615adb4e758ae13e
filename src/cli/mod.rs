//! The command line: one file for each command; the only place that reads files and prints.
//!
//! Commands are thin: they read, call the pure steps in order, and print the results.

mod against;
#[cfg(feature = "live")]
mod apply;
#[cfg(feature = "live")]
mod approve;
mod arguments;
#[cfg(feature = "live")]
mod bars;
mod catalog;
mod compare;
mod completions;
#[cfg(feature = "live")]
mod confirm;
mod context;
#[cfg(feature = "live")]
mod controller;
mod crds;
#[cfg(feature = "sim-server")]
mod demo;
mod diff;
#[cfg(feature = "live")]
mod event_line;
mod exit;
mod explain;
mod explain_plan;
mod fix;
mod gates;
mod headings;
mod init;
mod init_review;
mod input;
mod laid;
#[cfg(feature = "live")]
mod live;
#[cfg(feature = "live")]
mod logs;
#[cfg(feature = "live")]
mod merged;
mod names;
mod narrow;
#[cfg(feature = "live")]
mod nodeplan;
mod plan;
mod plugin;
mod process;
mod progress;
#[cfg(feature = "live")]
mod propose;
mod refresh;
#[cfg(feature = "live")]
mod remote;
mod replace;
#[cfg(feature = "live")]
mod rolled;
mod saved;
mod schema;
mod snapshot;
#[cfg(feature = "live")]
mod status;
mod targets;
#[cfg(feature = "live")]
mod top;
mod ui;
mod validate;
mod version;
mod world;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use arguments::{Command, CommandLine};
use exit::{Exit, Failure};
use plugin::Called;
use ui::Ui;

/// Runs the command that these arguments say and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let called = Called::by(arguments.first());
    if called == Called::Completer {
        return completed(&arguments).into();
    }
    let mut command = called.command();
    let parsed = command.try_get_matches_from_mut(arguments).and_then(|matches| {
        CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    });
    let command_line = match parsed {
        Ok(command_line) => command_line,
        Err(error) => return usage(&error).into(),
    };
    let ui = Ui::new(command_line.no_color).called(called.name());
    match dispatch(command_line.command, ui) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            ui.failure(&failure);
            failure.exit.into()
        }
    }
}

/// Answers kubectl, which asks with the words that stand behind the plugin's name.
fn completed(arguments: &[OsString]) -> Exit {
    let words: Vec<String> =
        arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match Ui::new(true).text(&plugin::completions(&words)) {
        Ok(()) => Exit::Done,
        Err(failure) => failure.exit,
    }
}

fn dispatch(command: Command, ui: Ui) -> Result<Exit, Failure> {
    match command {
        Command::Plan(arguments) if arguments.refresh_only => refresh::run(&arguments, ui),
        Command::Plan(arguments) => plan::run(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Apply(arguments) if arguments.merged => merged::run(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Apply(arguments) => apply::run(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Propose(arguments) => propose::run(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Controller(arguments) => controller::run(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Status(arguments) => status::run(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Top(arguments) => top::run(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Approve(arguments) => approve::approve(&arguments, ui),
        #[cfg(feature = "live")]
        Command::Reject(arguments) => approve::reject(&arguments, ui),
        Command::Show(arguments) => saved::show(&arguments, ui),
        Command::Diff(arguments) => diff::run(&arguments, ui),
        Command::Verify(arguments) => saved::verify(&arguments, ui),
        Command::Narrow(arguments) => narrow::run(&arguments, ui),
        Command::Validate(arguments) => validate::run(&arguments, ui),
        Command::Explain(arguments) => explain::run(&arguments, ui),
        Command::Catalog(arguments) => catalog::run(&arguments, ui),
        Command::Snapshot(arguments) => snapshot::run(&arguments, ui),
        Command::Init(arguments) => init::run(&arguments, ui),
        Command::Crds(arguments) => crds::run(&arguments, ui),
        Command::Schema(arguments) => schema::run(&arguments, ui),
        Command::Completions(arguments) => completions::completions(&arguments, ui),
        Command::Man(arguments) => completions::man(&arguments, ui),
        #[cfg(feature = "sim-server")]
        Command::Demo(arguments) => demo::run(&arguments, ui),
        Command::Version(arguments) => version::run(&arguments, ui),
    }
}

/// Prints what clap has to say. Help is data and succeeds; wrong usage is an error like any other, with
/// exit code 1 instead of clap's own 2, which means "changes" here.
fn usage(error: &clap::Error) -> Exit {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    match error.print() {
        // A closed pipe is not an error.
        Err(fault) if is_help && fault.kind() != std::io::ErrorKind::BrokenPipe => {
            let message = format!("standard output cannot be written: {fault}");
            Ui::new(true).failure(&Failure::error(message));
            Exit::Error
        }
        Ok(()) | Err(_) if is_help => Exit::Done,
        Ok(()) | Err(_) => Exit::Error,
    }
}
