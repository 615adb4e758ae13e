//! Plan files: saved by `plan --out`, read by `nodeform show` and `nodeform verify`.
#![expect(clippy::disallowed_methods, reason = "reading and writing plan files is this module's job")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::arguments::{PlanOutput, ShowArguments, VerifyArguments};
use super::exit::{Exit, Failure};
use super::input::real;
use super::replace;
use super::ui::Ui;
use super::world;
use crate::model::ChangeClass;
use crate::plan::{Plan, file};
use crate::render::proposal::derived_by;
use crate::render::{
    Detail, Patch, PlanView, comparison_text, plan_check_first, plan_graph, plan_graph_markdown, plan_html,
    plan_markdown, plan_markdown_whole, plan_names, plan_text, plan_tf_json, plan_yaml,
};
use crate::review::proposal::{
    self, Content, FILE_BYTES_MAX, Files, FolderName, MARKDOWN, Proposal, ProposalFault, SIGNATURE, Template,
    class,
};
use crate::review::{CheckedPlan, untimely};

/// Maximum size of a plan file in bytes: far above any plan that a person can review.
const PLAN_BYTES_MAX: u64 = 256 << 20;

/// Prints a plan; when two inputs are compared, with the text of the differing manifests. `saved` is the plan's file.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn print(
    (plan, patches): (&Plan, &[Patch]),
    saved: Option<&Path>,
    (output, all): (PlanOutput, bool),
    ui: Ui,
) -> Result<(), Failure> {
    let name = saved.map(|path| path.display().to_string());
    let view = PlanView::new(plan, name.as_deref()).of_columns(ui.columns());
    match output {
        PlanOutput::Json => ui.text(&file::write(plan)),
        PlanOutput::Human => {
            let detail = if all { Detail::All } else { Detail::Brief };
            ui.lines(&match &plan.evidence.comparison {
                Some(comparison) => comparison_text(comparison, &view, patches, detail),
                None => plan_text(&view, detail),
            })
        }
        PlanOutput::Yaml => ui.text(&plan_yaml(plan)),
        PlanOutput::Md if all && plan.evidence.comparison.is_none() => {
            ui.text(&plan_markdown_whole(plan, Template::NEWEST))
        }
        PlanOutput::Md => ui.text(&plan_markdown(&view)),
        PlanOutput::Html => ui.text(&plan_html(&view)),
        PlanOutput::TfJson => ui.text(&plan_tf_json(&view)),
        PlanOutput::Name => ui.text(&plan_names(plan)),
    }
}

/// Saves a plan atomically. A target that is not a regular file (a pipe, a terminal, `/dev/null`) is written directly;
/// links are followed.
///
/// # Errors
/// The path is `-`, refers to one of the input files, or cannot be written.
pub(super) fn save(path: &Path, plan: &Plan, read: &BTreeSet<PathBuf>) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::error("`--out -` names no file")
            .hint("print the plan with `-o json`, or name a file as in `--out plan.json`"));
    }
    save_text(path, &file::write(plan), read)
}

/// Saves a text as [`save`] saves a plan.
///
/// # Errors
/// As for [`save`].
pub(super) fn save_text(path: &Path, text: &str, read: &BTreeSet<PathBuf>) -> Result<(), Failure> {
    let failure = |error| Failure::error(format!("`{}` cannot be written: {error}", path.display()));
    // Opening it by name would overwrite a file behind standard output from its start.
    if path == Path::new("/dev/stdout") {
        return std::io::stdout().write_all(text.as_bytes()).map_err(failure);
    }
    let target = replace::target(path).map_err(failure)?;
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return fs::OpenOptions::new()
            .write(true)
            .open(&target)
            .and_then(|mut out| out.write_all(text.as_bytes()))
            .map_err(failure);
    }
    if read.contains(&real(&target)) {
        return Err(Failure::error(format!(
            "`{}` is one of the inputs and is left as it is",
            path.display()
        ))
        .hint("name another file after `--out`"));
    }
    replace::whole(&target, text.as_bytes()).map_err(failure)
}

/// Prints a plan for review, followed by the points to check first, next to the prompt.
///
/// # Errors
/// Standard output cannot be written.
#[cfg(feature = "live")]
pub(super) fn print_for_review(plan: &Plan, saved: &Path, all: bool, ui: Ui) -> Result<(), Failure> {
    print((plan, &[]), Some(saved), (PlanOutput::Human, all), ui)?;
    let first = plan_check_first(plan);
    if first.is_empty() {
        return Ok(());
    }
    let lines = first.iter().map(|line| format!("  - {}\n", line.trim_start()));
    ui.text(&format!("\nCheck first:\n{}", lines.collect::<String>()))
}

/// Runs `nodeform show`, which needs only the file.
pub(super) fn show(arguments: &ShowArguments, ui: Ui) -> Result<Exit, Failure> {
    let ShowArguments { plan: path, all, output, gates, .. } = arguments;
    #[cfg(feature = "live")]
    let plan = match super::nodeplan::id_of(path) {
        Some(id) => super::nodeplan::read(id, &arguments.context)?,
        None if path.as_os_str() == "-" || path.exists() => read(path)?,
        None => {
            let hint = "or a NodePlan of the cluster: `nodeform show nodeplan/ID`";
            read(path).map_err(|failure| failure.hint(hint))?
        }
    };
    #[cfg(not(feature = "live"))]
    let plan = read(path)?;
    #[cfg(feature = "live")]
    if arguments.requests {
        let text = crate::render::requests::requests_text(&plan).map_err(|fault| {
            Failure::error(format!("`{}`: {fault}", path.display()))
                .hint("plan a cluster with `nodeform plan --live --out FILE`")
        })?;
        ui.text(&text)?;
        gates.hold(&plan)?;
        return Ok(Exit::Done);
    }
    #[cfg(feature = "live")]
    let is_reviewed = super::nodeplan::id_of(path).is_some();
    #[cfg(not(feature = "live"))]
    let is_reviewed = false;
    match (arguments.graph, output) {
        (true, _) => graph(&plan, *output, ui)?,
        #[cfg(feature = "live")]
        (false, PlanOutput::Human) if is_reviewed => print_for_review(&plan, path, *all, ui)?,
        (false, _) => print((&plan, &[]), Some(path), (*output, *all), ui)?,
    }
    gates.hold(&plan)?;
    Ok(Exit::Done)
}

/// Prints a plan with one bar per node.
fn graph(plan: &Plan, output: PlanOutput, ui: Ui) -> Result<(), Failure> {
    match output {
        PlanOutput::Human => ui.lines(&plan_graph(&PlanView::new(plan, None).of_columns(ui.columns()))),
        PlanOutput::Md => ui.text(&plan_graph_markdown(plan)),
        PlanOutput::Json | PlanOutput::Yaml | PlanOutput::Html | PlanOutput::TfJson | PlanOutput::Name => {
            Err(Failure::error("`--graph` draws for people").hint("leave `--output` out, or use `-o md`"))
        }
    }
}

/// Runs `nodeform verify`: verifies the digest and runs the checker again.
pub(super) fn verify(arguments: &VerifyArguments, ui: Ui) -> Result<Exit, Failure> {
    let is_folder = fs::metadata(&arguments.plan).is_ok_and(|found| found.is_dir());
    let Reviewed { checked, struck, signer } = match is_folder {
        true => reviewed(&arguments.plan)?,
        false => Reviewed { checked: rejudged(read(&arguments.plan)?)?, struck: 0, signer: None },
    };
    let plan = checked.plan();
    in_time(plan, &arguments.plan, is_folder)?;
    let changes = plan.spec.changes.len();
    let noun = if changes == 1 { "change" } else { "changes" };
    let digest = plan.digest();
    ui.text(&format!(
        "OK: digest matches, {changes} {noun}, all scheduling rules re-checked, no violations.\n{digest}\n"
    ))?;
    if is_folder {
        let removals = plan.spec.deletes().count();
        let left =
            if removals == 0 { String::new() } else { format!("; {struck} of {removals} removals struck") };
        ui.text(&format!("`{MARKDOWN}` follows from the plan{left}.\n"))?;
        if let Some(key) = signer {
            ui.text(&format!(
                "Signed by {key}; it counts if `git.signers` of the NodeFleet lists the key.\n"
            ))?;
        }
    }
    Ok(Exit::Done)
}

/// Checks that a plan may start now, if it has a validity period.
///
/// # Errors
/// It has expired, or is not valid yet.
fn in_time(plan: &Plan, path: &Path, is_folder: bool) -> Result<(), Failure> {
    let faults = untimely(plan, Some(world::now()));
    if faults.is_empty() {
        return Ok(());
    }
    let noun = if is_folder { "folder " } else { "" };
    let hints = faults.iter().map(|fault| if is_folder { propose_anew(class(plan)) } else { fault.hint() });
    let hints: Vec<String> = hints.collect();
    let faults = faults.iter().map(|fault| format!("{noun}`{}`: {fault}", path.display())).collect();
    let failure = Failure { exit: Exit::Stale, ..Failure::errors(faults) };
    Err(hints.iter().fold(failure, |failure, hint| match failure.hints.contains(hint) {
        true => failure,
        false => failure.hint(hint),
    }))
}

/// Returns the hint for a plan in a folder that can never be applied.
pub(super) fn propose_anew(class: Option<ChangeClass>) -> String {
    let class = class.map(|class| format!(" --class {class}")).unwrap_or_default();
    format!("propose again with `nodeform propose --live{class}`, and remove the folder from the branch")
}

/// Runs the checker on a saved plan again.
///
/// # Errors
/// The checker's findings.
#[cfg(feature = "live")]
pub(super) fn judged(plan: Plan) -> Result<Plan, Failure> {
    rejudged(plan).map(|checked| checked.plan().clone())
}

fn rejudged(plan: Plan) -> Result<CheckedPlan, Failure> {
    let (snapshot, policy) = (plan.snapshot(), plan.policy());
    CheckedPlan::judged(&snapshot, &policy, plan).map_err(|refused| {
        let faults = refused.findings.iter().map(ToString::to_string).collect();
        Failure { exit: Exit::Stale, ..Failure::errors(faults) }
            .hint("do not use this plan: make it again with `nodeform plan --out`")
    })
}

/// A plan that was checked again.
struct Reviewed {
    checked: CheckedPlan,
    /// Number of its struck removals.
    struck: usize,
    /// The fingerprint of the signing key.
    signer: Option<String>,
}

/// Verifies a signature and returns its signer.
#[cfg(feature = "git")]
fn signer(plan: &Plan, signature: &str) -> Result<String, String> {
    crate::git::signature::signer(plan, signature).map_err(|fault| fault.to_string())
}

/// Fails: signatures cannot be verified without the `git` feature.
#[cfg(not(feature = "git"))]
fn signer(_: &Plan, _: &str) -> Result<String, String> {
    Err("this build of nodeform checks no signatures".to_owned())
}

/// Reads the files of a plan's folder and checks the plan; if the folder has a plan's name, the files must belong to
/// that plan.
fn reviewed(folder: &Path) -> Result<Reviewed, Failure> {
    let Proposal { plan, struck, signature } = proposal(folder)?;
    let signer = signature.map(|signature| signer(&plan, &signature)).transpose().map_err(|fault| {
        let folder = folder.display();
        Failure { exit: Exit::Stale, ..Failure::error(format!("folder `{folder}`: `{SIGNATURE}`: {fault}")) }
            .hint("propose it again, or delete the signature where none is needed")
    })?;
    Ok(Reviewed { checked: rejudged(plan)?, struck: struck.len(), signer })
}

/// Reads the files of a plan's folder; if the folder has a plan's name, the files must belong to that plan.
///
/// # Errors
/// They cannot be read, or do not belong together.
pub(super) fn proposal(folder: &Path) -> Result<Proposal, Failure> {
    let shown = folder.display();
    let failure = |fault: &ProposalFault| {
        Failure { exit: Exit::Stale, ..Failure::error(format!("folder `{shown}`: {fault}")) }
            .hint(fault.hint())
    };
    let found = found(folder).map_err(|error| {
        Failure::error(format!("folder `{shown}` cannot be read: {error}"))
            .hint("name a plan's file, or a folder that `nodeform propose` made")
    })?;
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut names = real.components().rev().map(|part| part.as_os_str().to_string_lossy());
    let stated = names.next().zip(names.next()).map(|(name, month)| (month.into_owned(), name.into_owned()));
    let name = stated.as_ref().and_then(|(month, name)| FolderName::parse(month, name).ok());
    let files = Files::of(found).map_err(|fault| failure(&fault))?;
    let read = proposal::read(name.as_ref(), files, derived_by).map_err(|fault| failure(&fault))?;
    if let Some((found, stated)) = FolderName::of(&read.plan).zip(stated)
        && found.is_misplaced(&stated.0, &stated.1)
    {
        let stated = format!("{}/{}", stated.0, stated.1);
        return Err(failure(&ProposalFault::OtherName { stated, found: found.to_string() }));
    }
    Ok(read)
}

/// Reverts Git's line ending conversion with `core.autocrlf`, which adds a carriage return to each line feed. Merged
/// plans are read from blobs, where nothing needs to be reverted.
fn as_committed(bytes: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) if text.matches("\r\n").count() == text.matches('\n').count() => {
            text.replace("\r\n", "\n").into_bytes()
        }
        Ok(text) => text.into_bytes(),
        Err(no_text) => no_text.into_bytes(),
    }
}

/// Returns the content of a folder.
fn found(folder: &Path) -> std::io::Result<Vec<(String, Content)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let content = if !entry.file_type()?.is_file() {
            Content::NoFile
        } else if !proposal::is_file(&name) {
            Content::Bytes(Vec::new())
        } else {
            let mut bytes = Vec::new();
            fs::File::open(entry.path())?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            let is_too_large = u64::try_from(bytes.len()).is_ok_and(|length| length > FILE_BYTES_MAX);
            if is_too_large { Content::TooLarge } else { Content::Bytes(as_committed(bytes)) }
        };
        found.push((name, content));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

/// Reads a plan file.
///
/// # Errors
/// It cannot be read, or contains no trustworthy plan.
pub(super) fn read(path: &Path) -> Result<Plan, Failure> {
    let shown = match path.to_str() {
        Some("-") => "standard input".to_owned(),
        Some(_) | None => format!("`{}`", path.display()),
    };
    let text = text(path).map_err(|error| {
        Failure::error(format!("{shown} cannot be read as a plan: {error}"))
            .hint("name a file that `nodeform plan --out` has written")
    })?;
    file::read(&text).map_err(|fault| {
        Failure::of_plan_file(format!("{shown} holds no plan that can be used: {fault}"), &fault)
    })
}

fn text(path: &Path) -> std::io::Result<String> {
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(fs::File::open(path)?)
    };
    let mut bytes = Vec::new();
    source.take(PLAN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > PLAN_BYTES_MAX) {
        return Err(std::io::Error::other(format!("it has more than {PLAN_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8 text"))
}
