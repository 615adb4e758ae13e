//! Faults of objects of older versions and other clouds, explained like `validate --fix` does.
//!
//! Never changes the plan: only words the faults.

use super::look;
use crate::manifests::{Fault, Source};
use crate::upgrade::{Sort, Upgraded, beneath, rewritten, unexplained, upgrade};

/// Maximum size in bytes of a source that is kept for a second pass. Hand-written files are smaller; a dump only holds
/// what the API server serves, which is never older.
const WRITTEN_BYTES_MAX: usize = 1 << 20;

/// The hand-written sources, kept while they are read.
pub(super) struct Written(Vec<Source>);

impl Written {
    pub(super) fn of(sources: &[Source]) -> Self {
        let is_written = |source: &&Source| source.bytes.len() <= WRITTEN_BYTES_MAX;
        Self(sources.iter().filter(is_written).cloned().collect())
    }

    /// Words the faults of the sources like `validate` does.
    pub(super) fn told(self, wrong: Vec<Fault>) -> Vec<Fault> {
        let Self(sources) = self;
        let upgraded = upgrade(&sources);
        told((&sources, &upgraded), wrong)
    }
}

/// Words the faults of sources: moved or renamed fields say so, the others are reported once, together with faults that
/// only appear after older objects are rewritten.
#[must_use]
pub fn told((sources, upgraded): (&[Source], &[Upgraded]), wrong: Vec<Fault>) -> Vec<Fault> {
    let remarks: Vec<_> = upgraded.iter().flat_map(|file| file.remarks.iter().cloned()).collect();
    let of_older = remarks.iter().filter(|remark| matches!(remark.sort, Sort::Moved | Sort::Lost));
    let mut faults: Vec<Fault> = of_older.map(|remark| remark.fault.clone()).collect();
    if upgraded.iter().any(|file| file.text.is_some()) {
        let (_, after) = look(rewritten(sources, upgraded));
        faults.extend(beneath(&wrong, &after, upgraded));
        faults.extend(unexplained(wrong, &remarks, &after));
    } else {
        faults.extend(wrong);
    }
    faults.sort();
    for file in upgraded.iter().filter(|file| file.text.is_some()) {
        name_fix(&mut faults, file);
    }
    faults
}

/// Mentions `validate --fix` in the first fault of a file that it fixes, unless a fault already does.
fn name_fix(faults: &mut [Fault], file: &Upgraded) {
    let is_of = |fault: &Fault| *fault.file == *file.name;
    let names_it = |fault: &Fault| fault.hint.as_ref().is_some_and(|hint| hint.contains("validate --fix"));
    if faults.iter().any(|fault| is_of(fault) && names_it(fault)) {
        return;
    }
    let is_mended = |fault: &&mut Fault| {
        let of_older = file.remarks.iter().filter(|remark| matches!(remark.sort, Sort::Moved | Sort::Lost));
        fault.hint.is_none() && of_older.map(|remark| &remark.fault).any(|known| *known == **fault)
    };
    if let Some(first) = faults.iter_mut().find(is_mended) {
        let name = if file.name == "<stdin>" { "-" } else { &file.name };
        first.hint = Some(format!("`nodeform validate --fix {name}` rewrites it"));
    }
}
