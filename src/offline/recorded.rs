//! Snapshots: making one of an input, and planning from one with manifests laid over it.
//!
//! What a snapshot's objects mean is found out as for any input; here they are only fetched and put together.

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

/// A snapshot, and what is laid over it.
#[derive(Clone, Debug, Default)]
pub struct Laid {
    /// The snapshot's file.
    pub snapshot: Source,
    /// Manifests that are applied to it.
    pub with: Vec<Source>,
    /// Manifests whose objects are removed from it.
    pub prune: Vec<Source>,
}

/// What a snapshot says beside its objects.
pub(super) struct Recorded {
    /// When the world was seen.
    pub(super) at: Option<Timestamp>,
    /// The region, where its maker said it.
    pub(super) location: Option<Region>,
    /// What its maker could not read.
    pub(super) gaps: Vec<Gap>,
    /// What the subscription used of its quotas.
    pub(super) usages: Option<Vec<Usage>>,
    /// What Azure said of the cluster.
    pub(super) azure: Option<AzureFacts>,
    stock: Stock,
}

impl Recorded {
    /// Returns the catalogue that the snapshot holds in full.
    pub(super) fn catalog(&self) -> Option<&Catalog> {
        match &self.stock {
            Stock::Given(given) => Some(&given.catalog),
            Stock::Embedded(_) => None,
        }
    }

    /// Says that the compiled-in catalogue is another than when the snapshot was made.
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

/// What reading an input comes to.
type Read = Result<(Objects, Policy), Vec<Fault>>;

/// Reads an input and hides the names in it.
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

/// Reads a snapshot with what is laid over it, and hides the names in both.
///
/// # Errors
/// What is wrong with the snapshot's file itself, or that nothing can be laid over it; faults of objects are in
/// the result.
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
    // What is hidden already stays as it is, unless it is to be hidden better.
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

/// Puts faults together: what is wrong with a manifest is found when it is read, and once more in its place.
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

/// Returns the catalogue of a snapshot, where it is of the region that is planned for.
pub(super) fn of_region(given: &Catalog, region: &Region) -> Result<Catalog, Vec<Problem>> {
    if given.region == *region {
        return Ok(given.clone());
    }
    Err(vec![Problem {
        what: format!("the snapshot holds the sizes of region `{}`, not of `{region}`", given.region),
        hint: Some(format!("give those of `{region}` with `--catalog`")),
    }])
}

/// Makes the snapshot of an input.
///
/// # Errors
/// Everything that is wrong with the input, as when it is planned from.
pub fn snapshot(request: Request) -> Result<SnapshotFile, Vec<Problem>> {
    let Request { sources, names, gaps, listed: asked_for, azure, catalogs, usages, location, at, .. } =
        request;
    let azure = azure.map(|facts| hidden_azure::facts(facts, names));
    let faulty = Faulty::of(azure.as_ref());
    // Of files their author is told what is wrong; in a cluster others depend on what can be read.
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
        // What is assumed here is assumed, and said, once more by every plan that is made of the snapshot.
        let region = region::region(location.clone(), (&policy, &objects), listed, &mut Vec::new());
        Stock::given(catalogs.of(&region)?)
    };
    Ok(SnapshotFile { at, location, names, gaps, stock, usages, azure, kept })
}

/// Sources as they were read the first time.
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

    /// Sets aside what could not be read of these sources.
    fn set_aside(&self, sources: &[Source]) -> Option<Readable> {
        let faults: Vec<Fault> = self.faults.iter().chain(&self.read.1).cloned().collect();
        unreadable::set_aside(sources, &faults)
    }
}

/// A snapshot, read to be looked at.
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

/// Reads a snapshot to look at it.
///
/// # Errors
/// Everything that is wrong with the file or its objects.
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

/// Holds the second snapshot against the first.
#[must_use]
pub fn difference(before: &Seen, after: &Seen) -> SnapshotDifference {
    SnapshotDifference::between(before.side(), after.side())
}
