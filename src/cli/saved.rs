//! Plans as files: saved by `plan --out`, and `nodeform show` and `nodeform verify`.
#![expect(clippy::disallowed_methods, reason = "reading and writing plan files is this module's job")]

use std::fs;
use std::io::Read;
use std::path::Path;

use super::arguments::{PlanOutput, ShowArguments, VerifyArguments};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::plan::{Plan, file};
use crate::render::{Detail, PlanView, plan_text};
use crate::review::CheckedPlan;

/// The most bytes of a plan file: far above any plan that a person can review.
const PLAN_BYTES_MAX: u64 = 256 << 20;

/// Prints a plan; `saved` is the file that it stands in.
pub(super) fn print(plan: &Plan, saved: Option<&Path>, (output, all): (PlanOutput, bool), ui: Ui) {
    match output {
        PlanOutput::Json => ui.text(&file::write(plan)),
        PlanOutput::Human => {
            let name = saved.map(|path| path.display().to_string());
            let view = PlanView::new(plan, name.as_deref());
            ui.lines(&plan_text(&view, if all { Detail::All } else { Detail::Brief }));
        }
    }
}

/// Saves a plan whole: the file is there with all of it, or as it was before.
pub(super) fn save(path: &Path, plan: &Plan) -> Result<(), Failure> {
    let failure = |error| Failure::error(format!("`{}` cannot be written: {error}", path.display()));
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    fs::write(&beside, file::write(plan)).map_err(failure)?;
    fs::rename(&beside, path).map_err(failure)
}

/// `nodeform show`: needs nothing but the file.
pub(super) fn show(arguments: &ShowArguments, ui: Ui) -> Result<Exit, Failure> {
    let ShowArguments { plan: path, all, output } = arguments;
    let plan = read(path)?;
    print(&plan, Some(path), (*output, *all), ui);
    Ok(Exit::Done)
}

/// `nodeform verify`: the digest, and every rule once more by the judge.
pub(super) fn verify(arguments: &VerifyArguments, ui: Ui) -> Result<Exit, Failure> {
    let plan = read(&arguments.plan)?;
    let (snapshot, policy) = (plan.snapshot(), plan.policy());
    let checked = CheckedPlan::judged(&snapshot, &policy, plan).map_err(|refused| {
        let faults = refused.findings.iter().map(ToString::to_string).collect();
        Failure { exit: Exit::Stale, ..Failure::errors(faults) }
            .hint("do not use this plan: make it again with `nodeform plan --out`")
    })?;
    let plan = checked.plan();
    let changes = plan.spec.changes.len();
    let noun = if changes == 1 { "change" } else { "changes" };
    let digest = plan.digest();
    ui.text(&format!("The plan holds: {changes} {noun}, digest {digest}, and the judge has no finding.\n"));
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display();
    let text =
        text(path).map_err(|error| Failure::error(format!("plan `{shown}` cannot be read: {error}")))?;
    file::read(&text).map_err(|fault| {
        Failure::error(format!("`{shown}`: {fault}")).hint("make the plan again with `nodeform plan --out`")
    })
}

fn text(path: &Path) -> std::io::Result<String> {
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(fs::File::open(path)?)
    };
    let mut text = String::new();
    source.take(PLAN_BYTES_MAX + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > PLAN_BYTES_MAX) {
        return Err(std::io::Error::other(format!("it has more than {PLAN_BYTES_MAX} bytes")));
    }
    Ok(text)
}
