//! Snapshots: creating one from an input, and planning from one with manifests laid over it.
//!
//! A snapshot's objects are interpreted like any other input; this module only fetches and combines them.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::faulty::Faulty;
use super::unreadable::{self, Readable};
use super::{Problem, Request, hidden_azure, problems, region, with_policy};
use crate::catalog::Catalog;
use crate::manifests::{self, Cover, Fault, Kept, Names, Objects, Overlay, ReadOptions, Source};
use crate::model::{Region, Usage};
use crate::policy::Policy;
use crate::snapshot::difference::{Side, SnapshotDifference};
use crate::snapshot::file::{self, SnapshotFile, Stock};
use crate::snapshot::{Assumption, AzureFacts, Gap};

/// A snapshot and its overlay.
#[derive(Clone, Debug, Default)]
pub struct Laid {
    /// The snapshot's file.
    pub snapshot: Source,
    /// Manifests to apply to it.
    pub with: Vec<Source>,
    /// Manifests whose objects to remove from it.
    pub prune: Vec<Source>,
}

/// The contents of a snapshot other than its objects.
pub(super) struct Recorded {
    /// Time of the observation.
    pub(super) at: Option<Timestamp>,
    /// The region, if its creator set it.
    pub(super) location: Option<Region>,
    /// Data that its creator could not read.
    pub(super) gaps: Vec<Gap>,
    /// The subscription's quota usage.
    pub(super) usages: Option<Vec<Usage>>,
    /// Azure's facts of the cluster.
    pub(super) azure: Option<AzureFacts>,
    stock: Stock,
}

impl Recorded {
    /// Returns the catalogue if the snapshot contains one in full.
    pub(super) fn catalog(&self) -> Option<&Catalog> {
        match &self.stock {
            Stock::Given(given) => Some(&given.catalog),
            Stock::Embedded(_) => None,
        }
    }

    /// Reports that the embedded catalogue has changed since the snapshot was created.
    pub(super) fn other_catalog(&self) -> Option<Assumption> {
        let (made, now) = match (&self.stock, Stock::embedded()) {
            (Stock::Embedded(made), Stock::Embedded(now)) => (made, now),
            (Stock::Given(_), _) | (_, Stock::Given(_)) => return None,
        };
        (made.digest != now.digest).then(|| Assumption {
            what: format!("the embedded price list of {}", now.prices_of),
            why: format!(
                "the snapshot was taken with another, of {}: nodes and cost may differ from plans of that time",
                made.prices_of
            ),
        })
    }
}

/// The result of reading an input.
type Read = Result<(Objects, Policy), Vec<Fault>>;

/// Reads an input and hides its names.
pub(super) fn hidden(sources: Vec<Source>, reading: &ReadOptions, names: Names) -> Read {
    let sides = manifests::sides(sources);
    let note = sides.note();
    let ((kept, mut faults), (with, further)) = (manifests::keep(sides.made), manifests::keep(sides.written));
    faults.extend(further);
    let cover = Cover::of(names, &[&kept, &with], &BTreeSet::new());
    let (kept, reading) = (cover.kept(kept), cover.options(reading.clone()));
    let read = match note {
        Some(_) => manifests::read_laid(
            kept,
            Overlay { with: cover.kept(with), note, ..Overlay::default() },
            &reading,
        ),
        None => manifests::read_kept(kept, &reading),
    };
    together(read, faults, &cover, Faulty::Refused)
}

/// Reads a snapshot with its overlay, and hides the names in both.
///
/// # Errors
/// A fault of the snapshot's file itself, or that the snapshot does not support overlays; faults of objects are in the
/// result.
pub(super) fn read(laid: Laid, reading: &ReadOptions, names: Names) -> Result<(Read, Recorded), Vec<Fault>> {
    let Laid { snapshot, with, prune } = laid;
    let SnapshotFile { at, location, names: recorded, gaps, stock, usages, azure, kept } =
        file::read(&snapshot)?;
    let is_overlaid = !with.is_empty() || !prune.is_empty();
    if recorded == Names::Omit && is_overlaid {
        let fault = Fault::at(
            &Arc::from(snapshot.name),
            0,
            "has numbers instead of names: no manifest is known by them",
        );
        return Err(vec![fault.with_hint("make the snapshot with `--names hash` to lay manifests over it")]);
    }
    drop(snapshot);
    let (mut with, mut faults) = manifests::keep(with);
    let (mut prune, unreadable) = manifests::overlay::identities(prune);
    faults.extend(unreadable);
    if recorded == Names::Hash {
        let cover = Cover::of(recorded, &[&with], &prune);
        (with, prune) = (cover.kept(with), cover.identities(prune));
        faults = faults.into_iter().map(|fault| cover.fault(fault)).collect();
    }
    // Names that are already hidden stay as they are, unless a stronger mode is requested.
    let names = if names > recorded { names } else { Names::Show };
    let azure = azure.map(|facts| hidden_azure::facts(facts, names));
    let cover = Cover::of(names, &[&kept, &with], &prune);
    let (kept, overlay) =
        (cover.kept(kept), Overlay { with: cover.kept(with), prune: cover.identities(prune), note: None });
    let reading = cover.options(reading.clone());
    let read = match is_overlaid {
        true => manifests::read_laid(kept, overlay, &reading),
        false => manifests::read_kept(kept, &reading),
    };
    let faulty = Faulty::of(azure.as_ref());
    Ok((together(read, faults, &cover, faulty), Recorded { at, location, gaps, usages, azure, stock }))
}

/// Combines faults without duplicates: a faulty manifest is found when it is read, and again in its place.
fn together(
    (objects, further): (Objects, Vec<Fault>),
    mut faults: Vec<Fault>,
    cover: &Cover,
    faulty: Faulty,
) -> Read {
    faults.extend(further);
    let mut faults: Vec<Fault> = faults.into_iter().map(|fault| cover.fault(fault)).collect();
    faults.sort();
    faults.dedup();
    with_policy((objects, faults), faulty)
}

/// Returns a snapshot's catalogue if it covers the planned region.
pub(super) fn of_region(given: &Catalog, region: &Region) -> Result<Catalog, Vec<Problem>> {
    if given.region == *region {
        return Ok(given.clone());
    }
    Err(vec![Problem {
        what: format!("the snapshot holds the sizes of region `{}`, not of `{region}`", given.region),
        hint: Some(format!("give those of `{region}` with `--catalog`")),
    }])
}

/// Creates the snapshot of an input.
///
/// # Errors
/// All faults of the input, as when planning from it.
pub fn snapshot(request: Request) -> Result<SnapshotFile, Vec<Problem>> {
    let Request { sources, names, gaps, listed: asked_for, azure, catalogs, usages, location, at, .. } =
        request;
    let azure = azure.map(|facts| hidden_azure::facts(facts, names));
    let faulty = Faulty::of(azure.as_ref());
    // Faults in files are for their author to fix; in a cluster, others depend on the readable objects.
    let spare = azure.is_some().then(|| sources.clone());
    let mut first = First::of(sources, &asked_for, names);
    let mut gaps = gaps;
    if let Some(Readable { sources, gaps: aside }) = spare.and_then(|spare| first.set_aside(&spare)) {
        first = First::of(sources, &asked_for, names);
        gaps.extend(aside);
    }
    let First { kept, faults, cover, read } = first;
    let (objects, policy) = together(read, faults, &cover, faulty).map_err(|faults| problems(&faults))?;
    let stock = if catalogs.is_empty() {
        Stock::embedded()
    } else {
        let listed = catalogs.region();
        // Assumptions made here are dropped: every plan of the snapshot makes and reports them again.
        let region = region::region(location.clone(), (&policy, &objects), listed, &mut Vec::new());
        Stock::given(catalogs.of(&region)?)
    };
    Ok(SnapshotFile { at, location, names, gaps, stock, usages, azure, kept })
}

/// The result of the first read of the sources.
struct First {
    kept: Kept,
    faults: Vec<Fault>,
    cover: Cover,
    read: (Objects, Vec<Fault>),
}

impl First {
    fn of(sources: Vec<Source>, asked_for: &BTreeSet<String>, names: Names) -> Self {
        let (mut kept, faults) = manifests::keep(sources);
        kept.listed.extend(asked_for.iter().cloned());
        let cover = Cover::of(names, &[&kept], &BTreeSet::new());
        let kept = cover.kept(kept);
        let read = manifests::read_kept(kept.clone(), &ReadOptions::default());
        Self { kept, faults, cover, read }
    }

    /// Sets aside the unreadable objects of these sources.
    fn set_aside(&self, sources: &[Source]) -> Option<Readable> {
        let faults: Vec<Fault> = self.faults.iter().chain(&self.read.1).cloned().collect();
        unreadable::set_aside(sources, &faults)
    }
}

/// A snapshot read for inspection.
#[derive(Clone, Debug)]
pub struct Seen {
    at: Option<Timestamp>,
    objects: Objects,
    stock: Stock,
    usages: Option<Vec<Usage>>,
}

impl Seen {
    fn side(&self) -> Side<'_> {
        Side { at: self.at, objects: &self.objects, stock: &self.stock, usages: self.usages.as_deref() }
    }
}

/// Reads a snapshot for inspection.
///
/// # Errors
/// All faults of the file or its objects.
pub fn seen(source: &Source) -> Result<Seen, Vec<Problem>> {
    let file = file::read(source).map_err(|faults| problems(&faults))?;
    of_file(file).map_err(|faults| problems(&faults))
}

/// Reads the objects of a snapshot.
pub(super) fn of_file(file: SnapshotFile) -> Result<Seen, Vec<Fault>> {
    let SnapshotFile { at, stock, kept, usages, azure, .. } = file;
    let faulty = Faulty::of(azure.as_ref());
    let (objects, _) = with_policy(manifests::read_kept(kept, &ReadOptions::default()), faulty)?;
    Ok(Seen { at, objects, stock, usages })
}

/// Compares the second snapshot with the first.
#[must_use]
pub fn difference(before: &Seen, after: &Seen) -> SnapshotDifference {
    SnapshotDifference::between(before.side(), after.side())
}
