//! Two inputs side by side, for `nodeform plan --before` and `--git A..B`.

use std::sync::Arc;

use super::exit::Failure;
use super::input::{InputFile, Inputs};
use super::ui::Ui;
use super::world;
use crate::manifests::ReadOptions;
use crate::offline::compare::plan_beside;
use crate::offline::{Planned, Request, World};
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
    ui: Ui,
) -> Result<(Planned, Vec<Patch>), Failure> {
    let patches = patches(&texts(&before), &texts(&after));
    let (side_before, side_after) = (side(&before), side(&after));
    let (base, world) = described((before, after), options, ui)?;
    if base.objects == 0 && world.objects == 0 {
        return Err(world::no_objects());
    }
    let base = world::planned(&base)?;
    let files = patches.iter().map(|patch| patch.file.clone()).collect();
    let planned = plan_beside((side_before, &base), (side_after, &world), files).map_err(world::refused)?;
    Ok((planned, patches))
}

/// Reads both sides. What `--scale` names has to be on one of them; the other is planned without it, and that is said.
fn described(
    (before, after): (Inputs, Inputs),
    options: &Request,
    ui: Ui,
) -> Result<(World, World), Failure> {
    let reading = ReadOptions { may_miss_scaled: true, ..options.reading.clone() };
    let lenient = Request { reading, ..options.clone() };
    let base = world::described(before, lenient.clone())?;
    let world = world::described(after.clone(), lenient)?;
    if !base.unscaled.is_disjoint(&world.unscaled) {
        // Read as if it stood alone, it says what the nearest name is.
        world::described(after, options.clone())?;
    }
    for (place, scale) in options.reading.scale.iter().enumerate() {
        let side = match (base.unscaled.contains(&place), world.unscaled.contains(&place)) {
            (true, false) => "before",
            (false, true) => "after",
            (true, true) | (false, false) => continue,
        };
        ui.aside(&format!("note: `--scale {scale}`: the input {side} has no such workload\n"));
    }
    Ok((base, world))
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
