//! `nodeform validate --fix`: rewrites files to the form that AKS accepts, and lists fields that could not be carried
//! over.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::exit::{Exit, Failure};
use super::input::{Inputs, STANDARD_INPUT, listed};
use super::replace;
use super::ui::Ui;
use super::validate::{ValidateOutput, annotations, counted, said, valid, warn};
use crate::manifests::{Fault, Source, yaml};
use crate::offline;
use crate::upgrade::{Sort, Upgraded, rewritten, upgrade};

/// Rewrites the input file by file, as far as possible. Input files of kustomize or helm are rewritten too, but not
/// validated: patches and templates are not complete objects.
///
/// # Errors
/// Faults that remain after rewriting.
pub(super) fn run(inputs: Inputs, output: ValidateOutput, ui: Ui) -> Result<Exit, Failure> {
    let (parts, unchecked, passed_by) = (inputs.parts.clone(), inputs.unchecked(), inputs.passed_by.clone());
    let sources = inputs.sources();
    let upgraded = upgrade(&sources);
    let new = rewritten(&sources, &upgraded);
    let piped = new.iter().find(|source| source.name == STANDARD_INPUT).map(|source| source.bytes.clone());
    let (of_parts, checked): (Vec<Source>, Vec<Source>) =
        new.into_iter().partition(|source| parts.contains(&source.name));
    let (has_checked, templates) = (!checked.is_empty(), templates(&of_parts));
    let (objects, others) = offline::look(checked);
    let is_valid = others.is_empty();
    let mut faults: Vec<Fault> = upgraded.iter().flat_map(|file| file.refused.clone()).collect();
    faults.extend(others.into_iter().filter(|fault| !is_for_want_of_rewriting(fault, &upgraded)));
    let is_piped = piped.is_some();
    let written: Vec<&Upgraded> = upgraded.iter().filter(|file| file.text.is_some()).collect();
    for file in written.iter().filter(|file| file.name != STANDARD_INPUT) {
        write(file)?;
    }
    if let Some(bytes) = piped {
        ui.text(&String::from_utf8_lossy(&bytes))?;
    }
    report(&upgraded, &written, output, ui)?;
    if unchecked.is_some() {
        passed_by.say(&BTreeSet::new(), ui);
    }
    let nothing = (written.is_empty() && !has_checked)
        .then(|| format!("Nothing to rewrite in {}.", counted(of_parts.len(), "file")));
    for line in [nothing, templates, unchecked].into_iter().flatten() {
        say(&format!("{line}\n"), &sources, ui)?;
    }
    // Annotations would end up inside the rewritten text.
    warn(&objects, if is_piped { ValidateOutput::Human } else { output }, ui)?;
    if !faults.is_empty() {
        let names: Vec<&str> = written.iter().map(|file| file.name.as_str()).collect();
        return left(&faults, &names, output, ui);
    }
    if !objects.said.later.is_empty() {
        return Err(kept(objects.said.later.len()));
    }
    if is_valid && written.is_empty() && has_checked {
        say(&valid(&objects), &sources, ui)?;
    }
    Ok(Exit::Done)
}

/// Lists the files that are not YAML before rendering; they are not changed.
fn templates(parts: &[Source]) -> Option<String> {
    let templates: Vec<&String> = parts.iter().filter(|part| !is_yaml(part)).map(|part| &part.name).collect();
    let are = if templates.len() == 1 {
        "is no YAML before it is rendered"
    } else {
        "are no YAML before they are rendered"
    };
    (!templates.is_empty()).then(|| {
        let names = listed(templates.into_iter());
        format!("Left as written: {names} {are}.")
    })
}

/// Returns whether every document of a file can be parsed.
fn is_yaml(source: &Source) -> bool {
    let mut is_read = true;
    if let Ok(text) = std::str::from_utf8(&source.bytes) {
        yaml::read(&Arc::from(source.name.as_str()), text, 0, |tree| {
            is_read &= tree.is_ok();
            is_read
        });
    }
    is_read
}

/// Returns the failure for unknown fields that remain. They are never removed, because a later version may know them;
/// they are not carried over either.
fn kept(count: usize) -> Failure {
    let them = if count == 1 { "it" } else { "them" };
    Failure::error(format!("{} of AKSNodeClasses left as written", counted(count, "unknown field"))).hint(
        format!("correct or remove {them}; if your version of the provider knows {them}, nothing is wrong"),
    )
}

/// Returns whether a fault only asks for a rewrite that was not possible for its file.
fn is_for_want_of_rewriting(fault: &Fault, upgraded: &[Upgraded]) -> bool {
    let is_refused = |file: &Upgraded| file.name == *fault.file && !file.refused.is_empty();
    let asks = fault.hint.as_ref().is_some_and(|hint| hint.contains("validate --fix"));
    asks && upgraded.iter().any(is_refused)
}

/// Replaces a file with its new text.
fn write(file: &Upgraded) -> Result<(), Failure> {
    let path = Path::new(&file.name);
    if !path.is_file() {
        return Err(Failure::error(format!("`{}` is no file that can be rewritten", file.name))
            .hint("name the files themselves"));
    }
    replace::target(path)
        .and_then(|target| replace::whole(&target, file.text.as_deref().unwrap_or_default()))
        .map_err(|error| Failure::error(format!("`{}` cannot be written: {error}", file.name)))
}

/// Prints a message; on standard error if standard output contains the rewritten text.
fn say(text: &str, sources: &[Source], ui: Ui) -> Result<(), Failure> {
    if sources.iter().any(|source| source.name == STANDARD_INPUT) {
        ui.aside(text);
        return Ok(());
    }
    ui.text(text)
}

/// Reports rewritten files and fields that could not be carried over.
fn report(
    upgraded: &[Upgraded],
    written: &[&Upgraded],
    output: ValidateOutput,
    ui: Ui,
) -> Result<(), Failure> {
    let is_piped = upgraded.iter().any(|file| file.name == STANDARD_INPUT);
    let of = |sorts: &[Sort]| -> Vec<Fault> {
        // For files that could not be rewritten, only the reason is reported.
        let left = |file: &&Upgraded| {
            written.iter().any(|other| other.name == file.name)
                || file.text.is_none() && file.refused.is_empty()
        };
        upgraded
            .iter()
            .filter(left)
            .flat_map(|file| &file.remarks)
            .filter(|remark| sorts.contains(&remark.sort))
            .map(|remark| remark.fault.clone())
            .collect()
    };
    let mut text = String::new();
    for file in written.iter().filter(|file| file.name != STANDARD_INPUT) {
        text.push_str(&format!("Rewritten: {} in `{}`.\n", counted(file.objects, "object"), file.name));
    }
    let (lost, noted) = (of(&[Sort::Lost, Sort::Left, Sort::Dropped]), of(&[Sort::Noted]));
    for (head, faults) in [("Not carried over", lost), ("Worth knowing", noted)] {
        if faults.is_empty() {
            continue;
        }
        if output == ValidateOutput::Github {
            text.push_str(&annotations("warning", &faults));
        } else {
            text.push_str(&format!("\n{head}:\n"));
            faults.iter().for_each(|fault| text.push_str(&said(fault)));
        }
    }
    if text.is_empty() {
        return Ok(());
    }
    if is_piped {
        ui.aside(&text);
        return Ok(());
    }
    ui.text(&text)
}

/// Reports the faults that remain in the files.
fn left(faults: &[Fault], written: &[&str], output: ValidateOutput, ui: Ui) -> Result<Exit, Failure> {
    if output == ValidateOutput::Github {
        ui.text(&annotations("error", faults))?;
        return Ok(Exit::Error);
    }
    let mut failure = Failure::errors(faults.iter().map(ToString::to_string).collect());
    for name in written {
        let count = faults.iter().filter(|fault| &*fault.file == *name).count();
        if count > 0 {
            let faults = counted(count, "fault");
            failure
                .faults
                .push(format!("`{name}` is rewritten as far as it can be: {faults} left to mend by hand"));
        }
    }
    Err(failure)
}
