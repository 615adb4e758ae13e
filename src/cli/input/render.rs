//! `--render`: the manifests that the kustomize, kubectl or helm of this machine makes of a folder.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::super::process::{Bounds, Ended, run};
use crate::manifests::Source;
use crate::manifests::folder::{Tool, Unrendered, shell_word};

/// How long a folder may take: charts with many dependencies take seconds, bases that are fetched with Git
/// a minute.
const RENDER_TIME_MAX: Duration = Duration::from_secs(120);

/// The most bytes of a folder's manifests; CRDs included, the largest charts have a few megabytes.
const RENDER_BYTES_MAX: u64 = 256 << 20;

/// The most lines of a tool's complaint that are shown.
const COMPLAINT_LINES_MAX: usize = 20;

/// What came out of a folder.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The manifests, named after the folder and its tool.
    pub(super) source: Source,
    /// The command that makes them.
    pub(super) command: String,
}

/// Renders a folder with the first tool of its kind that is there. `values` go to helm.
///
/// # Errors
/// What is wrong, with the hint to it.
pub(super) fn render(root: &Unrendered, values: &[PathBuf]) -> Result<Rendered, String> {
    let Unrendered { folder, tool, .. } = root;
    if *tool == Tool::Kustomize && root.inflates_charts {
        return Err(format!(
            "`{folder}` has charts in it, which kustomize fetches into the folder and renders with `--enable-helm` only\n\
             hint: do that yourself: `{} | nodeform plan -`",
            root.command()
        ));
    }
    let commands = commands(root, values);
    for (program, arguments) in &commands {
        let shown = shown(program, arguments);
        let bounds = Bounds { output_bytes_max: RENDER_BYTES_MAX, time_max: RENDER_TIME_MAX };
        match run(program, arguments, bounds) {
            Ok(Ended::Missing) => {}
            Ok(Ended::Itself { status, output, .. }) if status.success() => {
                let source = Source::new(format!("{folder} ({})", tool.as_str()), output);
                return Ok(Rendered { source, command: shown });
            }
            Ok(Ended::Itself { status, complaint, .. }) => {
                let how = status.code().map_or_else(
                    || "was ended by a signal".to_owned(),
                    |code| format!("failed with exit code {code}"),
                );
                return Err(format!(
                    "`{shown}` {how}{}\nhint: {}",
                    quoted(&complaint),
                    hint(root, &complaint)
                ));
            }
            Ok(Ended::TooMuch) => {
                return Err(format!("`{shown}` printed more than {RENDER_BYTES_MAX} bytes and was ended"));
            }
            Ok(Ended::TooLong) => {
                let seconds = RENDER_TIME_MAX.as_secs();
                return Err(format!(
                    "`{shown}` took longer than {seconds} s and was ended\n\
                     hint: run it yourself and give nodeform what comes out: `{shown} | nodeform plan -`"
                ));
            }
            Err(error) => return Err(format!("`{shown}` cannot be run: {error}")),
        }
    }
    let programs: Vec<String> = commands.iter().map(|(program, _)| format!("`{program}`")).collect();
    Err(format!(
        "`{folder}` cannot be rendered: no {} on the PATH\nhint: install one, or render the folder where one is: `{}`",
        programs.join(" and no "),
        root.command()
    ))
}

/// The commands that render a folder, the first to be tried first.
fn commands(root: &Unrendered, values: &[PathBuf]) -> Vec<(&'static str, Vec<OsString>)> {
    // A name that begins with a dash would be taken for a flag.
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

/// A tool's complaint, indented, without what a terminal would obey.
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
        Tool::Kustomize => format!("mend what it complains of until `{}` succeeds", root.command()),
    }
}
