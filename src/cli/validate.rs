//! `nodeform validate`: reports all faults of the manifests together.

use super::arguments::ValidateArguments;
pub(super) use super::arguments::ValidateOutput;
use super::exit::{Exit, Failure};
use super::fix;
use super::input::{Inputs, listed};
use super::ui::{Ui, harmless};
use crate::manifests::operated::by_kind;
use crate::manifests::{Fault, NO_OBJECT, Objects, Remark, Renders, Source, path_text};
use crate::offline;
use crate::snapshot::Gap;
use crate::upgrade::{Sort, upgrade};

pub(super) fn run(arguments: &ValidateArguments, ui: Ui) -> Result<Exit, Failure> {
    let ValidateArguments { input, fix, output } = arguments;
    if input.is_empty() {
        return Err(Failure::error("there is nothing to check: no input was named")
            .hint("name files or folders: `nodeform validate my-manifests/`"));
    }
    if *fix {
        return fix::run(input.read_to_rewrite()?, *output, ui);
    }
    let inputs = input.read()?.named_as_in_work_tree();
    for gap in &inputs.gaps {
        ui.aside(&format!("warning: not read: {}\n", gap.what));
    }
    let gaps = inputs.all_gaps().split_off(inputs.gaps.len());
    let not_rendered = NotRendered { faults: inputs.unrenderable(), gaps };
    let (rendered, passed_by) = (inputs.rendered.clone(), inputs.passed_by.clone());
    let sources = inputs.sources();
    let Looked { objects, faults, foreign, is_read } = look(sources);
    if is_read && objects.documents == 0 {
        return Err(passed_by.nothing_found(&objects.strays));
    }
    passed_by.say_plans(ui);
    match output {
        ValidateOutput::Human => {
            foreign.iter().for_each(|fault| ui.aside(&format!("warning: {fault}\n")));
        }
        ValidateOutput::Github => ui.text(&annotations("warning", &foreign))?,
    }
    warn(&objects, *output, ui)?;
    if faults.is_empty() && not_rendered.faults.is_empty() {
        ui.text(&valid(&objects))?;
        return Ok(Exit::Done);
    }
    match output {
        ValidateOutput::Human if faults.is_empty() => {
            not_rendered.beside(&objects, ui)?;
            Ok(Exit::Error)
        }
        ValidateOutput::Human => {
            let mut failure = failure(&faults);
            failure.faults.extend(not_rendered.faults);
            Err(Inputs::explained(&rendered, failure))
        }
        ValidateOutput::Github => {
            ui.text(&annotations("error", &faults))?;
            ui.text(&not_rendered.annotations())?;
            Ok(Exit::Error)
        }
    }
}

/// Result of validating manifests.
struct Looked {
    objects: Objects,
    /// All faults, including those that only appear after older objects are rewritten.
    faults: Vec<Fault>,
    /// Valid fields that have no meaning or another name on AKS.
    foreign: Vec<Fault>,
    /// Whether every document could be parsed.
    is_read: bool,
}

fn look(sources: Vec<Source>) -> Looked {
    let upgraded = upgrade(&sources);
    let is_rewritten = upgraded.iter().any(|file| file.text.is_some());
    let written = if is_rewritten { sources.clone() } else { Vec::new() };
    let (objects, wrong) = offline::look(sources);
    let is_read = wrong.is_empty();
    let faults = offline::told((&written, &upgraded), wrong);
    let remarks = upgraded.iter().flat_map(|file| &file.remarks);
    let foreign = remarks.filter(|remark| matches!(remark.sort, Sort::Foreign | Sort::Left));
    let foreign = foreign.map(|remark| remark.fault.clone()).collect();
    Looked { objects, faults, foreign, is_read }
}

/// Folders that could not be rendered.
struct NotRendered {
    /// Their faults.
    faults: Vec<String>,
    /// The same, in the form that plans show.
    gaps: Vec<Gap>,
}

impl NotRendered {
    /// Returns their faults as GitHub Actions annotations.
    fn annotations(&self) -> String {
        self.faults.iter().map(|fault| format!("::error::{}\n", data(fault))).collect()
    }

    /// Reports their faults, and that everything rendered is valid.
    fn beside(self, objects: &Objects, ui: Ui) -> Result<(), Failure> {
        ui.failure(&Failure::errors(self.faults));
        ui.text(&valid(objects))?;
        self.gaps.iter().try_for_each(|gap| ui.text(&format!("{gap}\n")))
    }
}

/// Warns about valid but suspicious objects: a workload with two autoscalers, pods that a LimitRange refuses.
pub(super) fn warn(objects: &Objects, output: ValidateOutput, ui: Ui) -> Result<(), Failure> {
    for Remark { object, what, hint } in &objects.said.remarks {
        let hint = hint.as_ref().map_or(String::new(), |hint| format!("\nhint: {hint}"));
        let text = format!("{object}: {what}{hint}");
        match output {
            ValidateOutput::Human => ui.aside(&format!("warning: {}\n", text.replace('\n', "\n  "))),
            ValidateOutput::Github => ui.text(&format!("::warning::{}\n", data(&text)))?,
        }
    }
    Ok(())
}

fn failure(faults: &[Fault]) -> Failure {
    let mut failure = Failure::errors(faults.iter().map(ToString::to_string).collect());
    if faults.len() > 1 {
        failure.faults.push(format!("{} faults", faults.len()));
    }
    failure
}

/// Returns a fault as a list item.
pub(super) fn said(fault: &Fault) -> String {
    format!("  {}\n", fault.to_string().replace('\n', "\n    "))
}

/// Returns a count with its noun.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns the message for valid manifests, with the objects that were not checked.
pub(super) fn valid(objects: &Objects) -> String {
    let without_kind = objects.passed_over.get(NO_OBJECT).copied().unwrap_or_default();
    let passed: usize = objects.passed_over.values().sum::<usize>() - without_kind;
    let (held, files) = (counted(objects.documents, "object"), counted(objects.sources, "file"));
    let mut text = format!("Valid: {held} in {files}.\n");
    if passed > 0 {
        text.push_str(&format!("Ignored: {} (no effect on nodes).\n", counted(passed, "object")));
    }
    if without_kind > 0 {
        let files = listed(objects.strays.iter());
        text.push_str(&format!(
            "No objects of Kubernetes: {} without a kind ({files}).\n",
            counted(without_kind, "document")
        ));
    }
    for Renders { kind, name, points_at } in &objects.renders {
        let what = if points_at.is_empty() { String::new() } else { format!(" ({points_at})") };
        text.push_str(&format!("Not in these files: what {kind} `{name}`{what} renders.\n"));
    }
    if !objects.operated.is_empty() {
        let kinds = by_kind(&objects.operated).join(", ");
        text.push_str(&format!("Not in these files: what an operator makes of {kinds}.\n"));
    }
    for (kind, found) in &objects.not_understood {
        let count: usize = found.names.values().sum();
        text.push_str(&format!("Not understood yet: {count} of kind {kind}.\n"));
    }
    text
}

/// Returns faults as GitHub Actions annotations of a level, errors or warnings.
pub(super) fn annotations(level: &str, faults: &[Fault]) -> String {
    faults.iter().map(|fault| annotation(level, fault)).collect()
}

fn data(text: &str) -> String {
    harmless(text).replace('%', "%25").replace('\n', "%0A")
}

/// Returns a fault as a GitHub Actions annotation, with the escapes of workflow commands.
fn annotation(level: &str, fault: &Fault) -> String {
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let Fault { file, line, path, message, hint, object: _ } = fault;
    let at = if path.is_empty() { String::new() } else { format!("{}: ", path_text(path)) };
    let hint = hint.as_ref().map_or(String::new(), |hint| format!("\nhint: {hint}"));
    format!(
        "::{level} file={},line={}::{}\n",
        property(file),
        (*line).max(1),
        data(&format!("{at}{message}{hint}"))
    )
}
