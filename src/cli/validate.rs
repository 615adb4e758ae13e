//! `nodeform validate`: every fault of the manifests at once.

use super::arguments::{ValidateArguments, ValidateOutput};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::world;
use crate::manifests::{Fault, Objects, Renders, path_text};
use crate::offline;

pub(super) fn run(arguments: &ValidateArguments, ui: Ui) -> Result<Exit, Failure> {
    let ValidateArguments { input, output } = arguments;
    if input.is_empty() {
        return Err(Failure::error("there is nothing to check: no input was named")
            .hint("name files or folders: `nodeform validate my-manifests/`"));
    }
    let inputs = input.read()?.named_as_in_work_tree();
    for gap in &inputs.gaps {
        ui.aside(&format!("warning: not read: {}\n", gap.what));
    }
    match (offline::read(inputs.sources()), output) {
        (Ok((objects, _)), _) if objects.documents == 0 => Err(world::no_objects()),
        (Ok((objects, _)), _) => {
            ui.text(&valid(&objects))?;
            Ok(Exit::Done)
        }
        (Err(faults), ValidateOutput::Human) => {
            let count = faults.len();
            let mut failure = Failure::errors(faults.iter().map(ToString::to_string).collect());
            if count > 1 {
                failure.faults.push(format!("{count} faults"));
            }
            Err(failure)
        }
        (Err(faults), ValidateOutput::Github) => {
            ui.text(&faults.iter().map(annotation).collect::<String>())?;
            Ok(Exit::Error)
        }
    }
}

fn valid(objects: &Objects) -> String {
    let passed: usize = objects.passed_over.values().sum();
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let (held, files) = (counted(objects.documents, "object"), counted(objects.sources, "file"));
    let mut text = format!("Valid: {held} in {files}.\n");
    if passed > 0 {
        text.push_str(&format!(
            "Not looked into, since they do not matter to a plan: {}.\n",
            counted(passed, "object")
        ));
    }
    for Renders { kind, name, points_at } in &objects.renders {
        let what = if points_at.is_empty() { String::new() } else { format!(" ({points_at})") };
        text.push_str(&format!("Not in these files: what {kind} `{name}`{what} renders.\n"));
    }
    for (kind, found) in &objects.not_understood {
        let count: usize = found.names.values().sum();
        text.push_str(&format!("Not understood yet: {count} of kind {kind}.\n"));
    }
    text
}

/// Writes a fault as GitHub Actions reads it; its escapes are the workflow commands' own.
fn annotation(fault: &Fault) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let Fault { file, line, path, message, hint, object: _ } = fault;
    let at = if path.is_empty() { String::new() } else { format!("{}: ", path_text(path)) };
    let hint = hint.as_ref().map_or(String::new(), |hint| format!("\nhint: {hint}"));
    format!(
        "::error file={},line={}::{}\n",
        property(file),
        (*line).max(1),
        data(&format!("{at}{message}{hint}"))
    )
}
