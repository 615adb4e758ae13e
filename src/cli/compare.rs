//! Comparison of two inputs, for `nodeform plan --before` and `--git A..B`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::exit::Failure;
use super::input::{InputFile, Inputs, listed};
use super::ui::Ui;
use super::world;
use crate::manifests::ReadOptions;
use crate::offline::compare::plan_beside;
use crate::offline::{Planned, Request, World};
use crate::plan::comparison::Side;
use crate::render::{Patch, SideText, patches};
use crate::snapshot::Assumption;

/// A planned input and its difference from another.
pub(super) struct Compared {
    /// The plan.
    pub(super) planned: Planned,
    /// The files that differ.
    pub(super) patches: Vec<Patch>,
    /// The sources of skipped documents that are not Kubernetes objects.
    pub(super) strays: BTreeSet<Arc<str>>,
}

/// Plans both inputs with the same options and compares the second with the first: files on only one side are new or
/// deleted.
///
/// # Errors
/// Either input is invalid, or neither contains an object.
pub(super) fn compared(
    before: Inputs,
    after: Inputs,
    options: &Request,
    ui: Ui,
) -> Result<Compared, Failure> {
    let patches = patches(&texts(&before), &texts(&after));
    let mut passed_by = after.passed_by.clone();
    passed_by.append(before.passed_by.clone());
    let (side_before, side_after) = (side(&before), side(&after));
    let (base, world) = described((before, after), options, ui)?;
    if base.objects == 0 && world.objects == 0 {
        return Err(passed_by.nothing_found(&base.strays.union(&world.strays).cloned().collect()));
    }
    let base = world::planned(&base)?;
    let files = patches.iter().map(|patch| patch.file.clone()).collect();
    let planned = plan_beside((side_before, &base), (side_after, &world), files).map_err(world::refused)?;
    Ok(Compared { planned, patches, strays: world.strays })
}

/// Reads both sides. A workload in `--scale` must exist on at least one of them; if it is only on one, a note is
/// printed.
fn described(
    (before, after): (Inputs, Inputs),
    options: &Request,
    ui: Ui,
) -> Result<(World, World), Failure> {
    let reading = ReadOptions { may_miss_scaled: true, ..options.reading.clone() };
    let lenient = Request { reading, ..options.clone() };
    let (base, assumption) = base(before, &lenient)?;
    let mut world = world::described(after.clone(), lenient)?;
    world.snapshot.assumptions.extend(assumption);
    world.snapshot.assumptions.sort();
    if !base.unscaled.is_disjoint(&world.unscaled) {
        // Read on its own, so that the error suggests the nearest name.
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

/// Reads the base of the comparison. If it is invalid, it is read as `validate --fix` would rewrite it: a commit cannot
/// be fixed any more, and users want to see how it changes.
fn base(before: Inputs, options: &Request) -> Result<(World, Option<Assumption>), Failure> {
    let name = before.name.clone();
    let mut newer = before.clone();
    let refused = match world::described(before, options.clone()) {
        Ok(world) => return Ok((world, None)),
        Err(refused) => refused,
    };
    let files = newer.upgrade();
    if files.is_empty() {
        return Err(refused);
    }
    let world = world::described(newer, options.clone()).map_err(|_| refused)?;
    let assumption = Assumption {
        what: format!("`{name}` read as `nodeform validate --fix` would rewrite it"),
        why: format!("it holds objects of older versions: {}", listed(files.iter())),
    };
    Ok((world, Some(assumption)))
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
