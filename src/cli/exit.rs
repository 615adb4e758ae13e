//! How a command ends: exit codes, and failures with what to do next.

use std::fmt;
use std::process::ExitCode;

use crate::plan::file::PlanFileFault;

/// What a command's exit code says; the same for every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Done, or nothing to do.
    Done,
    /// Usage, input, or the machine refused.
    Error,
    /// Changes are proposed; only with `--detailed-exitcode`.
    Changes,
    /// The plan no longer holds, or is not as it was made.
    Stale,
    /// A gate of the caller is not passed.
    Gate,
    /// A plan was carried out in part.
    InPart,
    /// A bug of nodeform.
    Bug,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Error => 1,
            Exit::Changes => 2,
            Exit::Stale => 3,
            Exit::Gate => 4,
            Exit::InPart => 5,
            Exit::Bug => 70,
        })
    }
}

/// Why a command could not do its work, with what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// How the command ends.
    pub(super) exit: Exit,
    /// What happened, one entry for each fault.
    pub(super) faults: Vec<String>,
    /// What to do next.
    pub(super) hints: Vec<String>,
    /// Whether another process acts just now: the same may work once that has ended.
    pub(super) is_busy: bool,
}

impl Failure {
    /// An error in usage or input.
    pub(super) fn error(what: impl Into<String>) -> Self {
        Self { exit: Exit::Error, faults: vec![what.into()], hints: Vec::new(), is_busy: false }
    }

    /// Several faults of an input at once.
    pub(super) fn errors(faults: Vec<String>) -> Self {
        Self { exit: Exit::Error, faults, hints: Vec::new(), is_busy: false }
    }

    /// A plan's file that cannot be used: one that was changed after it was made is another end than no plan.
    pub(super) fn of_plan_file(what: impl Into<String>, fault: &PlanFileFault) -> Self {
        let exit = if fault.is_of_changed_plan() { Exit::Stale } else { Exit::Error };
        Self { exit, ..Self::error(what).hint(fault.hint()) }
    }

    /// A bug of nodeform: says how to report it.
    pub(super) fn bug(faults: Vec<String>) -> Self {
        Self { exit: Exit::Bug, ..Self::errors(faults) }
            .hint("this is a bug in nodeform, not in your input: please report it with the command, its input and the lines above")
    }

    /// Returns the failure with files of a revision called as in the work tree where a command is to rewrite them.
    #[must_use]
    pub(super) fn of_work_tree(mut self, revision: &str) -> Self {
        let (there, here) = (format!("validate --fix {revision}:"), "validate --fix ");
        self.faults.iter_mut().chain(&mut self.hints).for_each(|text| *text = text.replace(&there, here));
        self
    }

    /// Adds a fault, and what to do about it.
    #[cfg(feature = "live")]
    #[must_use]
    pub(super) fn and(mut self, fault: &str, hint: Option<&str>) -> Self {
        self.faults.push(fault.to_owned());
        let hint = hint.map(str::to_owned).filter(|hint| !self.hints.contains(hint));
        self.hints.extend(hint);
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(formatter, "error: {fault}")?;
        }
        for hint in &self.hints {
            writeln!(formatter, "hint: {hint}")?;
        }
        Ok(())
    }
}
