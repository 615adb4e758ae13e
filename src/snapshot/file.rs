//! The snapshot file: the objects of an input, reduced to the fields that planning needs, its time, and the catalogue.
//!
//! JSON with sorted keys, two spaces of indentation and line feeds. Its objects are read like any other input, so a
//! plan from the file equals a plan from the original input. Never decides anything.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::written::WrittenObject;
use super::{AzureFacts, Gap, assemble};
use crate::catalog::{self, Catalog};
use crate::manifests::json::{Lines, Raw};
use crate::manifests::source::DOCUMENT_BYTES_MAX;
use crate::manifests::{
    DUMP_BYTES_MAX, Fault, Kept, KeptObject, Names, NotUnderstood, Operated, Renders, Source, Why,
};
use crate::model::{Digest, Region, Usage, Workload};

/// The version of the format.
pub const API_VERSION: &str = "nodeform.dev/v1alpha1";
/// The kind of the document.
pub const KIND: &str = "Snapshot";

/// What a snapshot's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFile {
    /// When the world was seen; `None` where nobody said.
    pub at: Option<Timestamp>,
    /// The region, where the user said it.
    pub location: Option<Region>,
    /// What was done with the names in it.
    pub names: Names,
    /// What was there and could not be read.
    pub gaps: Vec<Gap>,
    /// What Azure sells.
    pub stock: Stock,
    /// What the subscription used of its quotas, where that is known.
    pub usages: Option<Vec<Usage>>,
    /// What Azure said of the cluster; `None` of what was not read live.
    pub azure: Option<AzureFacts>,
    /// The objects, and what was passed by.
    pub kept: Kept,
}

/// What Azure sells, as a snapshot holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Stock {
    /// The catalogue that is compiled in, by what it was when the snapshot was made.
    Embedded(EmbeddedStock),
    /// A catalogue that the user gave, in full.
    Given(GivenStock),
}

/// The compiled-in catalogue, named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmbeddedStock {
    /// The digest of all its tables.
    pub digest: Digest,
    /// The day of its price list.
    pub prices_of: String,
}

/// A catalogue in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenStock {
    /// The sizes of one region with their prices.
    pub catalog: Box<Catalog>,
    /// Its digest.
    pub digest: Digest,
}

impl Stock {
    /// Returns the compiled-in catalogue's name.
    #[must_use]
    pub fn embedded() -> Self {
        let (digest, prices_of) = (catalog::embedded_digest(), catalog::prices_date().to_owned());
        Self::Embedded(EmbeddedStock { digest, prices_of })
    }

    /// Returns a catalogue in full.
    #[must_use]
    pub fn given(catalog: Catalog) -> Self {
        Self::Given(GivenStock { digest: catalog.digest(), catalog: Box::new(catalog) })
    }
}

/// Objects that decide about pods or nodes and are not understood: what depends on them is not planned.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireGap {
    /// What depends on it, for people; not read.
    consequence: String,
    /// `namespace/name` of each, or the name alone, with how many have it.
    names: BTreeMap<String, usize>,
    /// The kind of the objects.
    source: String,
    /// Why they matter.
    why: Why,
}

/// The file; the fields stand in the order of their names, as all keys in it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Snapshot"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireFile<'a> {
    /// The version of the format: `nodeform.dev/v1alpha1`.
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    /// When the world was seen; null where nobody said: then nothing that depends on time is decided.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    at: Option<Timestamp>,
    /// What Azure said of the cluster; only of a snapshot that was taken live.
    #[serde(default)]
    azure: Option<AzureFacts>,
    /// What Azure sells: in full, or the compiled-in catalogue by its digest.
    #[cfg_attr(feature = "schema", schemars(with = "Stock"))]
    catalog: &'a RawValue,
    /// How many objects the input held, those that do not matter to a plan included.
    documents: usize,
    /// How many pods had finished; they are left out.
    finished_pods: usize,
    /// What could not be read, and what depends on it.
    gaps: Vec<WireGap>,
    /// `Snapshot`.
    #[serde(borrow)]
    kind: Cow<'a, str>,
    /// The workloads that are manifests beside what a cluster made: all their pods count, and not only those that exist.
    #[serde(default)]
    laid: BTreeSet<Workload>,
    /// What `kubectl get` was asked for, where that is known: kinds without an object have none.
    #[serde(default)]
    listed: BTreeSet<String>,
    /// The region, where the user said it.
    location: Option<Region>,
    /// What was done with names of namespaces, workloads, pods, claims and volumes, and with the values of their
    /// labels. Absent: they are shown.
    #[serde(default)]
    names: Names,
    /// The objects, cut to the fields that planning reads; sorted by kind, namespace and name.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>"))]
    objects: &'a RawValue,
    /// How many objects of each kind that does not matter to a plan were left out.
    passed_over: BTreeMap<String, usize>,
    /// Objects that a controller renders into others in the cluster: what these are is not known.
    unrendered: BTreeSet<Renders>,
    /// Objects that an operator makes pods of, in a way that is not known.
    #[serde(default)]
    operated: BTreeSet<Operated>,
    /// What was there beside the objects and could not be read.
    unread: Vec<Gap>,
    /// What the subscription used of its quotas. Absent: unknown, and nothing is limited by any.
    #[serde(default)]
    usages: Option<Vec<Usage>>,
}

/// Returns the text of the file, with a line feed at its end.
#[must_use]
pub fn write(file: &SnapshotFile) -> String {
    const WRITABLE: &str = "values of a snapshot have text keys and no floats";
    let SnapshotFile { at, location, names, gaps, stock, usages, azure, kept } = file;
    let mut objects: Vec<&KeptObject> = kept.objects.iter().collect();
    // Only Events may occur twice, if they changed between two dumps.
    let content =
        |object: &KeptObject| (object.tree.text("kind") == Some("Event")).then(|| object.tree.digest());
    objects.sort_by_cached_key(|object| (object.identity(), content(object)));
    let objects: Vec<WrittenObject<'_>> =
        objects.into_iter().map(|object| WrittenObject(&object.tree)).collect();
    let mut stock = serde_json::to_value(stock).expect(WRITABLE);
    stock.sort_all_objects();
    let gap = |(source, found): (&String, &NotUnderstood)| WireGap {
        consequence: assemble::consequence(found.why).to_owned(),
        names: found.names.clone(),
        source: source.clone(),
        why: found.why,
    };
    let written = Written {
        api_version: API_VERSION,
        at: at.map(|at| at.to_string()),
        azure,
        catalog: stock,
        documents: kept.documents,
        finished_pods: kept.finished_pods,
        gaps: kept.not_understood.iter().map(gap).collect(),
        kind: KIND,
        laid: &kept.laid,
        listed: &kept.listed,
        location,
        names: *names,
        objects,
        passed_over: &kept.passed_over,
        unread: gaps,
        unrendered: &kept.renders,
        operated: &kept.operated,
        usages,
    };
    let mut text = serde_json::to_string_pretty(&written).expect(WRITABLE);
    text.push('\n');
    text
}

/// The file as it is written: what [`WireFile`] reads.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    api_version: &'static str,
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    azure: &'a Option<AzureFacts>,
    catalog: serde_json::Value,
    documents: usize,
    finished_pods: usize,
    gaps: Vec<WireGap>,
    kind: &'static str,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    laid: &'a BTreeSet<Workload>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    listed: &'a BTreeSet<String>,
    location: &'a Option<Region>,
    names: Names,
    objects: Vec<WrittenObject<'a>>,
    passed_over: &'a BTreeMap<String, usize>,
    unread: &'a [Gap],
    unrendered: &'a BTreeSet<Renders>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    operated: &'a BTreeSet<Operated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usages: &'a Option<Vec<Usage>>,
}

/// Reads a snapshot's file.
///
/// # Errors
/// What is wrong with it: no text, no JSON, another kind or version, an unknown field, a catalogue that is not
/// what its digest says. What is wrong with its objects is told when these are read.
pub fn read(source: &Source) -> Result<SnapshotFile, Vec<Fault>> {
    let file: Arc<str> = Arc::from(source.name.as_str());
    let fault = |line: usize, message: String| vec![Fault::at(&file, line, message).with_hint(AGAIN)];
    if u64::try_from(source.bytes.len()).is_ok_and(|bytes| bytes > DUMP_BYTES_MAX) {
        return Err(fault(0, format!("has more than {DUMP_BYTES_MAX} bytes")));
    }
    let text = std::str::from_utf8(&source.bytes)
        .map_err(|_| fault(0, "is not UTF-8 text, so it is no snapshot".to_owned()))?;
    is_snapshot(text).map_err(|(line, message)| fault(line, message))?;
    let wire: WireFile<'_> = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        fault(error.line(), format!("is no snapshot that this version reads: {message}"))
    })?;
    let lines = Lines::new(&file, text);
    let stock = stock(Raw::of(wire.catalog), &lines).map_err(|found| vec![found.with_hint(AGAIN)])?;
    let kept = Kept {
        objects: objects(Raw::of(wire.objects), &lines)?,
        laid: wire.laid,
        not_understood: wire
            .gaps
            .into_iter()
            .map(|gap| (gap.source, NotUnderstood { why: gap.why, names: gap.names }))
            .collect(),
        renders: wire.unrendered,
        operated: wire.operated,
        passed_over: wire.passed_over,
        strays: BTreeSet::new(),
        listed: wire.listed,
        sources: 1,
        documents: wire.documents,
        finished_pods: wire.finished_pods,
    };
    Ok(SnapshotFile {
        at: wire.at,
        location: wire.location,
        names: wire.names,
        gaps: wire.unread,
        stock,
        usages: wire.usages,
        azure: wire.azure,
        kept,
    })
}

const AGAIN: &str = "make it again with `nodeform snapshot FILES --out FILE`";

/// Checks that a text is a snapshot of this version, so that anything else is named by what it is.
fn is_snapshot(text: &str) -> Result<(), (usize, String)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named<'a> {
        #[serde(borrow)]
        api_version: Option<&'a RawValue>,
        #[serde(borrow)]
        kind: Option<&'a RawValue>,
    }
    let named: Named<'_> = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        (error.line(), format!("is not the JSON of a snapshot: {message}"))
    })?;
    let said = |value: Option<&RawValue>| {
        let text = value.and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        crate::manifests::tree::shortened(&text.unwrap_or_default())
    };
    let (version, kind) = (said(named.api_version), said(named.kind));
    if (version.as_str(), kind.as_str()) == (API_VERSION, KIND) {
        return Ok(());
    }
    Err((1, format!("is `{kind}` of `{version}`, not `{KIND}` of `{API_VERSION}`")))
}

fn stock(raw: Raw<'_>, lines: &Lines<'_>) -> Result<Stock, Fault> {
    let stock: Stock = serde_json::from_str(raw.text())
        .map_err(|error| lines.fault(raw, format!("`catalog` cannot be read: {error}")))?;
    let is_changed = match &stock {
        Stock::Given(GivenStock { catalog, digest }) => catalog.digest() != *digest,
        Stock::Embedded(_) => false,
    };
    if is_changed {
        let message = "`catalog` was changed after the snapshot was made: its digest is another";
        return Err(lines.fault(raw, message));
    }
    Ok(stock)
}

fn objects(raw: Raw<'_>, lines: &Lines<'_>) -> Result<Vec<KeptObject>, Vec<Fault>> {
    if !raw.text().starts_with('[') {
        return Err(vec![lines.fault(raw, "`objects` must be a list").with_hint(AGAIN)]);
    }
    let mut objects = Vec::new();
    let mut fault = None;
    raw.items(|item| {
        if item.size() > DOCUMENT_BYTES_MAX {
            fault = Some(lines.fault(item, format!("is one object of {} bytes", item.size())));
            return false;
        }
        match item.tree(lines) {
            Ok(tree) => objects.push(KeptObject { file: lines.file(), tree }),
            Err(found) => fault = Some(found),
        }
        fault.is_none()
    });
    match fault {
        Some(fault) => Err(vec![fault.with_hint(AGAIN)]),
        None => Ok(objects),
    }
}

/// Returns the JSON Schema of the snapshot's file.
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(WireFile<'_>).to_value()
}
