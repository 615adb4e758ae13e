//! Two inputs side by side, for `nodeform plan --before` and `--git A..B`.

use std::sync::Arc;

use super::exit::Failure;
use super::input::{InputFile, Inputs};
use super::world;
use crate::offline::compare::plan_beside;
use crate::offline::{Planned, Request};
use crate::plan::comparison::Side;
use crate::render::{Patch, SideText, patches};

/// Plans both inputs with the same options and holds the second against the first: an input that is there on one
/// side only is new, or gone.
///
/// # Errors
/// What is wrong with either input; or neither holds an object.
pub(super) fn compared(
    before: Inputs,
    after: Inputs,
    options: &Request,
) -> Result<(Planned, Vec<Patch>), Failure> {
    let patches = patches(&texts(&before), &texts(&after));
    let (side_before, side_after) = (side(&before), side(&after));
    let base = world::described(before, options.clone())?;
    let world = world::described(after, options.clone())?;
    if base.objects == 0 && world.objects == 0 {
        return Err(world::no_objects());
    }
    let base = world::planned(&base)?;
    let files = patches.iter().map(|patch| patch.file.clone()).collect();
    let planned = plan_beside((side_before, &base), (side_after, &world), files).map_err(world::refused)?;
    Ok((planned, patches))
}

fn texts(inputs: &Inputs) -> Vec<SideText<'_>> {
    let files = inputs.files.iter();
    files
        .map(|InputFile { place, source }| SideText { place, name: &source.name, bytes: &source.bytes })
        .collect()
}

fn side(inputs: &Inputs) -> Side {
    Side { name: Arc::from(&*inputs.name), commit: inputs.commit.as_deref().map(Arc::from) }
}
