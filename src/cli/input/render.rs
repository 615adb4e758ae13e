//! `--render`: renders a folder with the locally installed kustomize, kubectl or helm.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::super::process::{Bounds, Ended, logged, run};
use crate::manifests::Source;
use crate::manifests::folder::{Tool, Unrendered, shell_word};
use crate::manifests::tree;

/// Time limit per folder: charts with many dependencies take seconds, bases fetched with Git a minute.
const RENDER_TIME_MAX: Duration = Duration::from_secs(120);

/// Maximum size of a folder's rendered manifests in bytes; the largest charts, including CRDs, have a few megabytes.
const RENDER_BYTES_MAX: u64 = 256 << 20;

/// Maximum number of lines shown of a tool's error output.
const COMPLAINT_LINES_MAX: usize = 20;

/// Maximum length of a tool's first error in characters: kustomize wraps the cause in the name of every folder on the
/// way.
const CAUSE_MAX: usize = 2_000;

/// A folder to be rendered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rendering<'a> {
    /// The folder on the disk.
    pub(super) root: &'a Unrendered,
    /// Its display name, which may differ from its location.
    pub(super) name: &'a str,
    /// Values for helm.
    pub(super) values: &'a [PathBuf],
    /// The checkout folder and its replacement in messages.
    pub(super) hidden: Option<(&'a str, &'a str)>,
}

/// Rendered output of a folder.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The manifests, named after the folder and its tool.
    pub(super) source: Source,
    /// The command that rendered them.
    pub(super) command: String,
}

/// A folder that could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Unrenderable {
    /// Its display name.
    pub(in super::super) folder: String,
    /// The reason, in one line.
    pub(in super::super) why: String,
    /// The reason with the tool's output and a hint.
    pub(in super::super) whole: String,
}

impl Rendering<'_> {
    /// Renders the folder with the first suitable tool that is installed.
    ///
    /// # Errors
    /// The folder cannot be rendered; the error includes a hint.
    pub(super) fn run(self) -> Result<Rendered, Unrenderable> {
        let Self { root, name, .. } = self;
        if root.tool == Tool::Kustomize && root.inflates_charts {
            let why = "it has charts, which kustomize fetches and renders with `--enable-helm` only";
            let command = format!("{} | nodeform plan -", self.told(&root.command()));
            return Err(self.unrenderable(why, &format!("{why}\nhint: do that yourself: `{command}`")));
        }
        let commands = commands(root, self.values);
        for (program, arguments) in &commands {
            let shown = self.told(&shown(program, arguments));
            let bounds = Bounds { output_bytes_max: RENDER_BYTES_MAX, time_max: RENDER_TIME_MAX };
            let why = match run(program, arguments, bounds) {
                Ok(Ended::Missing) => continue,
                Ok(Ended::Itself { status, output, .. }) if status.success() => {
                    let source = Source::new(format!("{name} ({})", root.tool.as_str()), output);
                    return Ok(Rendered { source, command: shown });
                }
                Ok(Ended::Itself { status, complaint, .. }) => {
                    let how = status.code().map_or_else(
                        || "was ended by a signal".to_owned(),
                        |code| format!("failed with exit code {code}"),
                    );
                    return Err(self.failed(&format!("`{shown}` {how}"), &self.told(&complaint)));
                }
                Ok(Ended::TooMuch) => {
                    format!("`{shown}` printed more than {RENDER_BYTES_MAX} bytes and was ended")
                }
                Ok(Ended::TooLong) => {
                    format!("`{shown}` took longer than {} s and was ended", RENDER_TIME_MAX.as_secs())
                }
                Err(error) => format!("`{shown}` cannot be run: {error}"),
            };
            return Err(self.unrenderable(&why, &why));
        }
        let programs: Vec<String> = commands.iter().map(|(program, _)| format!("`{program}`")).collect();
        let why = format!("no {} on the PATH", programs.join(" and no "));
        let command = self.told(&root.command());
        let hint = format!("install one, or render the folder where one is: `{command}`");
        Err(self.unrenderable(&why, &format!("{why}\nhint: {hint}")))
    }

    fn unrenderable(&self, why: &str, whole: &str) -> Unrenderable {
        let folder = self.name.to_owned();
        let whole = format!("`{folder}` cannot be rendered: {whole}");
        Unrenderable { folder, why: why.to_owned(), whole }
    }

    fn failed(&self, how: &str, complaint: &str) -> Unrenderable {
        let hint = self.told(&hint(self.root, complaint));
        let mut lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty());
        // Tools print the error first, or after warnings.
        let first = lines.clone().find(|line| line.to_lowercase().starts_with("error")).or(lines.next());
        let first = first.map(|line| logged(line).unwrap_or(line));
        let first =
            first.map_or_else(String::new, |line| format!(": {}", tree::shortened_within(line, CAUSE_MAX)));
        let whole = format!("{how}{}\nhint: {hint}", quoted(complaint));
        self.unrenderable(&format!("{how}{}", first.replace(char::is_control, " ")), &whole)
    }

    /// Returns a text without the checkout's and the current folder's path: tools print absolute paths, users expect
    /// relative ones.
    fn told(&self, text: &str) -> String {
        let text =
            self.hidden.map_or_else(|| text.to_owned(), |(folder, stands)| text.replace(folder, stands));
        let here = std::env::current_dir().ok().map(|here| format!("{}/", here.display()));
        // In the root folder, every path would lose its leading slash.
        here.filter(|here| here.len() > 1).map_or_else(|| text.clone(), |here| text.replace(&here, ""))
    }
}

/// Returns the commands that can render a folder, in order of preference.
fn commands(root: &Unrendered, values: &[PathBuf]) -> Vec<(&'static str, Vec<OsString>)> {
    // A name with a leading dash would be taken as a flag.
    let folder =
        if root.folder.starts_with('-') { format!("./{}", root.folder) } else { root.folder.clone() };
    match root.tool {
        Tool::Kustomize => vec![
            ("kustomize", vec!["build".into(), folder.clone().into()]),
            ("kubectl", vec!["kustomize".into(), folder.into()]),
        ],
        Tool::Helm => {
            let mut arguments: Vec<OsString> = vec!["template".into(), root.release().into(), folder.into()];
            arguments.extend(["--include-crds".into(), "--skip-tests".into()]);
            for file in values {
                let mut value = OsString::from("--values=");
                value.push(file);
                arguments.push(value);
            }
            vec![("helm", arguments)]
        }
    }
}

fn shown(program: &str, arguments: &[OsString]) -> String {
    let words = arguments.iter().map(|word| {
        let word = word.to_string_lossy();
        if word.starts_with("--") { word.into_owned() } else { shell_word(&word) }
    });
    std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Returns a tool's error output, indented and without control characters.
fn quoted(complaint: &str) -> String {
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).collect();
    let left_out = lines.len().saturating_sub(COMPLAINT_LINES_MAX);
    let mut text = if lines.is_empty() { " and said nothing".to_owned() } else { ":".to_owned() };
    for line in lines.iter().take(COMPLAINT_LINES_MAX) {
        text.push_str(&format!("\n    {}", line.replace(char::is_control, " ")));
    }
    if left_out > 0 {
        text.push_str(&format!("\n    … {left_out} more lines"));
    }
    text
}

fn hint(root: &Unrendered, complaint: &str) -> String {
    let folder = shell_word(&root.folder);
    match root.tool {
        Tool::Helm if complaint.contains("charts/") || complaint.contains("dependenc") => {
            format!("fetch the charts that it depends on: `helm dependency build {folder}`")
        }
        Tool::Helm => "values that the chart needs are given with `--helm-values FILE`".to_owned(),
        Tool::Kustomize => format!("fix its errors until `{}` succeeds", root.command()),
    }
}
