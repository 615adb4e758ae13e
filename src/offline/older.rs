//! What is wrong with objects of older versions and of other clouds, told as `validate --fix` mends it.
//!
//! Must never change what is planned: it only words what was refused.

use super::look;
use crate::manifests::{Fault, Source};
use crate::upgrade::{Sort, Upgraded, beneath, rewritten, unexplained, upgrade};

/// The most bytes of a source that is kept to be looked at again. People write less into a file; a dump holds what the
/// API server serves, and nothing older.
const WRITTEN_BYTES_MAX: usize = 1 << 20;

/// The sources that people wrote, kept while they are read.
pub(super) struct Written(Vec<Source>);

impl Written {
    pub(super) fn of(sources: &[Source]) -> Self {
        let is_written = |source: &&Source| source.bytes.len() <= WRITTEN_BYTES_MAX;
        Self(sources.iter().filter(is_written).cloned().collect())
    }

    /// Words what is wrong with the sources as `validate` does.
    pub(super) fn told(self, wrong: Vec<Fault>) -> Vec<Fault> {
        let Self(sources) = self;
        let upgraded = upgrade(&sources);
        told((&sources, &upgraded), wrong)
    }
}

/// Words the faults of sources: a field that has another place or name today says so, and the rest is said once, with what
/// only shows when older objects are rewritten.
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

/// Names `validate --fix` to the first fault of a file that it mends, where none names it.
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
