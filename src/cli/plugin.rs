//! Other names of the program: `kubectl-nodeform` is a kubectl plugin, and `kubectl_complete-nodeform` provides its
//! completions to kubectl.

use std::ffi::OsString;
use std::path::Path;

use clap::{Command, CommandFactory};

use super::arguments::CommandLine;

/// What the program was called as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// By its own name.
    Nodeform,
    /// By kubectl, for `kubectl nodeform`.
    Plugin,
    /// By kubectl, for completions.
    Completer,
}

impl Called {
    /// Reads the name that the program was started with.
    pub(super) fn by(name: Option<&OsString>) -> Self {
        match name.map(Path::new).and_then(Path::file_stem).and_then(|stem| stem.to_str()) {
            Some("kubectl-nodeform") => Self::Plugin,
            Some("kubectl_complete-nodeform") => Self::Completer,
            Some(_) | None => Self::Nodeform,
        }
    }

    /// Returns what the user types.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nodeform => "nodeform",
            Self::Plugin | Self::Completer => "kubectl nodeform",
        }
    }

    /// Returns the command line with that name in its texts.
    pub(super) fn command(self) -> Command {
        let command = CommandLine::command();
        match self {
            Self::Nodeform => command,
            Self::Plugin | Self::Completer => {
                let renamed = |command: Command| {
                    let examples = command.get_after_help().map(|help| {
                        let indented = format!("  {} ", self.name());
                        help.to_string()
                            .replace("  nodeform ", &indented)
                            .replace("| nodeform ", &format!("| {} ", self.name()))
                    });
                    command.after_help(examples.unwrap_or_default())
                };
                renamed(command).bin_name(self.name()).mut_subcommands(renamed)
            }
        }
    }
}

/// Returns what may stand for the last word, one a line, and kubectl's word for whether files may stand there too.
pub(super) fn completions(words: &[String]) -> String {
    const FILES_TOO: &str = ":0\n";
    const NOTHING_ELSE: &str = ":4\n";
    let program = Called::Plugin.command();
    let (last, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let here = before.iter().fold(&program, |here, word| here.find_subcommand(word).unwrap_or(here));
    let flag = before.last().and_then(|word| word.strip_prefix("--"));
    let waiting =
        flag.and_then(|flag| here.get_arguments().find(|argument| argument.get_long() == Some(flag)));
    let values = waiting.map(|argument| argument.get_possible_values()).unwrap_or_default();
    let candidates: Vec<String> = if !values.is_empty() {
        values.iter().map(|value| value.get_name().to_owned()).collect()
    } else if last.starts_with('-') {
        let own =
            here.get_arguments().chain(program.get_arguments().filter(|argument| argument.is_global_set()));
        own.filter_map(|argument| argument.get_long()).map(|long| format!("--{long}")).collect()
    } else {
        here.get_subcommands().map(|command| command.get_name().to_owned()).collect()
    };
    let mut found: Vec<String> =
        candidates.into_iter().filter(|candidate| candidate.starts_with(last)).collect();
    found.sort();
    found.dedup();
    let directive = if found.is_empty() { FILES_TOO } else { NOTHING_ELSE };
    found.iter().map(|candidate| format!("{candidate}\n")).chain([directive.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Called, completions};

    #[test]
    fn no_example_is_so_long_that_help_breaks_its_line() {
        const WIDTH: usize = 100;
        for called in [Called::Nodeform, Called::Plugin] {
            for command in called.command().get_subcommands() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                // A list of kinds is a single word and cannot be wrapped.
                let is_list = |line: &&str| line.contains("kubectl get nodes,");
                let commands = help.lines().filter(|line| line.starts_with("  ") && !is_list(line));
                commands.for_each(|line| assert!(line.len() <= WIDTH, "{line}"));
            }
        }
    }

    #[test]
    fn kubectl_is_told_what_may_come_next() {
        let of =
            |words: &[&str]| completions(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["va"]), "validate\n:4\n");
        assert_eq!(of(&["plan", "--fail"]), "--fail-on\n:4\n");
        assert_eq!(of(&["plan", "--fail-on", "un"]), "unplaced\n:4\n");
        assert_eq!(of(&["plan", "my-"]), ":0\n");
        assert!(of(&["plan", "--no-c"]).starts_with("--no-color\n"));
        assert!(of(&[]).contains("plan\n"));
    }
}
