//! A snapshot to plan from, overlaid with manifests.

use std::path::PathBuf;

use clap::Args;

use super::exit::Failure;
use super::headings;
use super::input::{InputArguments, Inputs};
use crate::offline::Laid;

/// Where a snapshot and what is laid over it come from.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct LaidArguments {
    /// Plan from a file of `nodeform snapshot`; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = headings::INPUT)]
    pub(super) snapshot: Option<PathBuf>,
    /// Apply these manifests to the snapshot before planning; repeatable
    #[arg(long, value_name = "INPUT", requires = "snapshot", help_heading = headings::INPUT)]
    pub(super) with: Vec<PathBuf>,
    /// Remove the objects of these manifests from the snapshot; repeatable
    #[arg(long, value_name = "INPUT", requires = "snapshot", help_heading = headings::INPUT)]
    pub(super) prune: Vec<PathBuf>,
}

impl LaidArguments {
    /// Reads what was named; `None` where no snapshot was. Beside it stands what was left out of the files that
    /// are laid over the snapshot.
    ///
    /// # Errors
    /// Everything that cannot be read, or standard input named twice.
    pub(super) fn read(&self, input: &InputArguments) -> Result<Option<(Laid, Inputs)>, Failure> {
        let Self { snapshot, with, prune } = self;
        let Some(snapshot) = snapshot else { return Ok(None) };
        if !input.is_empty() {
            return Err(Failure::error("a snapshot takes the place of other inputs, and both were named")
                .hint("lay manifests over the snapshot with `--with`"));
        }
        let all = [snapshot].into_iter().chain(with).chain(prune);
        if all.filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(
                Failure::error("standard input is named twice").hint("name `-` once, and files beside it")
            );
        }
        if snapshot.is_dir() {
            return Err(Failure::error(format!("`{}` is a folder, not a snapshot", snapshot.display()))
                .hint("make one of it with `nodeform snapshot FOLDER --out FILE`"));
        }
        let read = |paths: &[PathBuf]| {
            if paths.is_empty() {
                return Ok(Inputs::default());
            }
            InputArguments { filenames: paths.to_vec(), inputs: Vec::new(), ..input.clone() }.read()
        };
        let mut file = read(std::slice::from_ref(snapshot))?;
        let (mut with, mut prune) = (read(with)?, read(prune)?);
        let mut beside = Inputs::default();
        for inputs in [&mut file, &mut with, &mut prune] {
            beside.passed_by.append(std::mem::take(&mut inputs.passed_by));
            beside.gaps.append(&mut inputs.all_gaps());
            beside.read.append(&mut inputs.read);
        }
        let snapshot = file.sources().into_iter().next().unwrap_or_default();
        Ok(Some((Laid { snapshot, with: with.sources(), prune: prune.sources() }, beside)))
    }
}
