//! `nodeform validate --fix`: writes the form that AKS takes into the files, and lists what could not be carried over.

use std::collections::BTreeMap;
use std::path::Path;

use super::exit::{Exit, Failure};
use super::replace;
use super::ui::Ui;
use super::validate::{ValidateOutput, annotations, counted, said, valid};
use crate::manifests::{Fault, Source};
use crate::offline;
use crate::upgrade::{Sort, Upgraded, upgrade};

/// The name of the source that standard input is.
const STANDARD_INPUT: &str = "<stdin>";

/// Rewrites what was read, file by file.
///
/// # Errors
/// Files that cannot be rewritten, or whose new text would not be valid; they are left as they are.
pub(super) fn run(sources: Vec<Source>, output: ValidateOutput, ui: Ui) -> Result<Exit, Failure> {
    let upgraded = upgrade(&sources);
    let texts: BTreeMap<&str, &[u8]> =
        upgraded.iter().filter_map(|file| Some((file.name.as_str(), file.text.as_deref()?))).collect();
    let new = |source: &Source| {
        let bytes = texts.get(source.name.as_str()).map_or(source.bytes.as_slice(), |text| *text);
        Source::new(source.name.clone(), bytes)
    };
    let read = offline::read(sources.iter().map(new).collect());
    let mut faults: Vec<Fault> = upgraded.iter().flat_map(|file| file.refused.clone()).collect();
    faults.extend(read.as_ref().err().into_iter().flatten().cloned());
    let is_wrong = |name: &str| faults.iter().any(|fault| &*fault.file == name);
    let mut written: Vec<&Upgraded> = Vec::new();
    for file in &upgraded {
        let Some(text) = file.text.as_deref().filter(|_| !is_wrong(&file.name)) else { continue };
        if file.name != STANDARD_INPUT {
            let path = Path::new(&file.name);
            if !path.is_file() {
                return Err(Failure::error(format!("`{}` is no file that can be rewritten", file.name))
                    .hint("name the files themselves"));
            }
            replace::target(path)
                .and_then(|target| replace::whole(&target, text))
                .map_err(|error| Failure::error(format!("`{}` cannot be written: {error}", file.name)))?;
        }
        written.push(file);
    }
    if let Some(source) = sources.iter().find(|source| source.name == STANDARD_INPUT) {
        let text = texts.get(STANDARD_INPUT).filter(|_| !is_wrong(STANDARD_INPUT));
        let bytes = text.map_or(source.bytes.as_slice(), |text| *text);
        ui.text(&String::from_utf8_lossy(bytes))?;
    }
    report(&upgraded, &written, output, ui)?;
    let kept: Vec<&str> = texts.keys().copied().filter(|name| is_wrong(name)).collect();
    if !faults.is_empty() {
        return refused(&faults, &kept, output, ui);
    }
    if let (Ok((objects, _)), true) = (&read, written.is_empty() && !texts.contains_key(STANDARD_INPUT)) {
        say(&valid(objects), &sources, ui)?;
    }
    Ok(Exit::Done)
}

/// Says something to people: on standard error where standard output is the rewritten text.
fn say(text: &str, sources: &[Source], ui: Ui) -> Result<(), Failure> {
    if sources.iter().any(|source| source.name == STANDARD_INPUT) {
        ui.aside(text);
        return Ok(());
    }
    ui.text(text)
}

/// Says what was written, and what could not be carried over.
fn report(
    upgraded: &[Upgraded],
    written: &[&Upgraded],
    output: ValidateOutput,
    ui: Ui,
) -> Result<(), Failure> {
    let is_piped = upgraded.iter().any(|file| file.name == STANDARD_INPUT);
    let of = |sorts: &[Sort]| -> Vec<Fault> {
        let left =
            |file: &&Upgraded| written.iter().any(|other| other.name == file.name) || file.text.is_none();
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
    let (lost, noted) = (of(&[Sort::Lost, Sort::Left]), of(&[Sort::Noted]));
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

/// Says why files were left as they are.
fn refused(faults: &[Fault], kept: &[&str], output: ValidateOutput, ui: Ui) -> Result<Exit, Failure> {
    if output == ValidateOutput::Github {
        ui.text(&annotations("error", faults))?;
        return Ok(Exit::Error);
    }
    let mut failure = Failure::errors(faults.iter().map(ToString::to_string).collect());
    for name in kept {
        failure.faults.push(format!("`{name}` was left as it is: what would be written is not valid"));
    }
    Err(failure)
}
