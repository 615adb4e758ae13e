//! Results of commands: exit codes, and failures with the next step.

use std::fmt;
use std::process::ExitCode;

use crate::plan::file::PlanFileFault;

/// Meaning of an exit code; the same for every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Success, or nothing to do.
    Done,
    /// Error in usage, input or environment.
    Error,
    /// Changes are proposed; only with `--detailed-exitcode`.
    Changes,
    /// The plan is outdated, or was modified after it was created.
    Stale,
    /// A gate set by the caller failed.
    Gate,
    /// A plan was partially applied.
    InPart,
    /// A bug in nodeform.
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

/// Failure of a command, with the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The exit code.
    pub(super) exit: Exit,
    /// The faults, one entry each.
    pub(super) faults: Vec<String>,
    /// Hints for the next step.
    pub(super) hints: Vec<String>,
    /// Whether another process is acting; a retry after it has ended may succeed.
    pub(super) is_busy: bool,
}

impl Failure {
    /// Creates a failure for an error in usage or input.
    pub(super) fn error(what: impl Into<String>) -> Self {
        Self { exit: Exit::Error, faults: vec![what.into()], hints: Vec::new(), is_busy: false }
    }

    /// Creates a failure for several faults of an input.
    pub(super) fn errors(faults: Vec<String>) -> Self {
        Self { exit: Exit::Error, faults, hints: Vec::new(), is_busy: false }
    }

    /// Creates a failure for an unusable plan file; a modified plan has its own exit code.
    pub(super) fn of_plan_file(what: impl Into<String>, fault: &PlanFileFault) -> Self {
        let exit = if fault.is_of_changed_plan() { Exit::Stale } else { Exit::Error };
        Self { exit, ..Self::error(what).hint(fault.hint()) }
    }

    /// Creates a failure for a bug in nodeform, with a request to report it.
    pub(super) fn bug(faults: Vec<String>) -> Self {
        Self { exit: Exit::Bug, ..Self::errors(faults) }
            .hint("this is a bug in nodeform, not in your input: please report it with the command, its input and the lines above")
    }

    /// Returns the failure with paths in the work tree instead of the revision in commands that rewrite files.
    #[must_use]
    pub(super) fn of_work_tree(mut self, revision: &str) -> Self {
        let (there, here) = (format!("validate --fix {revision}:"), "validate --fix ");
        self.faults.iter_mut().chain(&mut self.hints).for_each(|text| *text = text.replace(&there, here));
        self
    }

    /// Adds a fault and its hint.
    #[cfg(feature = "live")]
    #[must_use]
    pub(super) fn and(mut self, fault: &str, hint: Option<&str>) -> Self {
        self.faults.push(fault.to_owned());
        let hint = hint.map(str::to_owned).filter(|hint| !self.hints.contains(hint));
        self.hints.extend(hint);
        self
    }

    /// Adds a hint.
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
