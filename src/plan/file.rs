//! Plan file: the reviewed text, in one format for offline and live plans.
//!
//! JSON with sorted keys, two spaces and line feeds, so that decisions diff well. It is followed by the rows for
//! scripts, one per line, and finally `evidence` on a single line, because nobody reviews it by line. The head holds
//! the digests of `spec` and `evidence`. A file in any other spelling of the same value is rejected: what is read is
//! what was reviewed. Unknown fields of `spec` are rejected and those of `evidence` ignored. Figures that do not follow
//! from both are rejected.

use serde::Serialize;
use serde_json::Value;

use super::Plan;
use super::change::ChangeId;
use super::difference::Difference;
use super::evidence::Evidence;
use super::figures::{CostFigures, EvictionFigures, Figures, NodeFigures, PoolFigures};
use super::identity::{digest_of, vm_name};
use super::spec::PlanSpec;
use super::summary::Summary;
use crate::model::written::EXACT_MAX;
use crate::model::{Digest, Region};

/// The version of the format.
pub const API_VERSION: &str = "nodeform.dev/v1alpha2";
/// The kind of the document.
pub const KIND: &str = "Plan";

/// The lists of rows, which stand one row a line after the decisions, in this order.
const ROWS: [&str; 3] = ["nodes", "pools", "evictions"];

/// The file as it is written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Plan"))]
#[serde(rename_all = "camelCase")]
struct PlanFile<'a> {
    /// The version of the format: `nodeform.dev/v1alpha2`.
    api_version: &'static str,
    /// `Plan`.
    kind: &'static str,
    /// SHA-256 of the RFC 8785 form of `spec`.
    digest: Digest,
    /// SHA-256 of the RFC 8785 form of `evidence`.
    evidence_digest: Digest,
    /// The plan in figures: what follows from the rest, for programs that read no further.
    summary: Summary,
    /// What it comes to in money beyond the summary.
    cost: CostFigures,
    /// Every decision.
    spec: &'a PlanSpec,
    /// Each node that exists or is created: what it is, what is done with it and what it costs; by name.
    nodes: Vec<NodeFigures>,
    /// What each pool costs before and after, by name; nodes without a NodePool come first.
    pools: Vec<PoolFigures>,
    /// The running pods that are evicted, by the node that they leave.
    evictions: Vec<EvictionFigures>,
    /// What it was made from and why; fields that are not known are ignored.
    evidence: &'a Evidence,
}

/// Why a text is not a plan that can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFileFault {
    /// The text is no JSON.
    #[error("the plan is not JSON: {because}")]
    NotJson {
        /// What the reader of JSON says.
        because: String,
    },
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It is JSON and does not say what it is.
    #[error("it is JSON and no plan: it has no `apiVersion` and `kind`")]
    NoKind,
    /// It is a plan of another version of the format.
    #[error("it is a plan in the format `{api_version}`, and this version of nodeform reads `{API_VERSION}`")]
    OtherVersion {
        /// Its `apiVersion`.
        api_version: String,
    },
    /// It is something else.
    #[error("the document is `{kind}` of `{api_version}`, not `Plan` of `{API_VERSION}`")]
    OtherKind {
        /// Its `apiVersion`.
        api_version: String,
        /// Its `kind`.
        kind: String,
    },
    /// The same value would be written in another way.
    #[error("line {line} is not written as nodeform writes it, so the file was edited or reformatted")]
    Respelt {
        /// The first line that differs, from 1.
        line: usize,
    },
    /// A number stands where text is needed to keep it exact.
    #[error("`{path}` is {number}: numbers that are not whole or beyond 2^53-1 are not exact in JSON")]
    InexactNumber {
        /// Where.
        path: String,
        /// The number.
        number: String,
    },
    /// The decisions are not those that the digest was taken of.
    #[error("the plan was changed after it was made: its digest is {found}, the file says {stated}")]
    DigestDiffers {
        /// What the file says.
        stated: String,
        /// What its `spec` has.
        found: Digest,
    },
    /// What the plan was made from is not what the digest was taken of.
    #[error(
        "`evidence` was modified after the plan was created: its digest is {found}, the file says {stated}"
    )]
    EvidenceDiffers {
        /// What the file says.
        stated: String,
        /// What its `evidence` has.
        found: Digest,
    },
    /// Figures of it are not those of the plan.
    #[error("the plan was changed after it was made: `{path}` is not what follows from the rest of the file")]
    FiguresDiffer {
        /// The figure.
        path: String,
    },
    /// A part of the plan is missing, unknown or of another type.
    #[error("`{path}`: {because}")]
    Malformed {
        /// Where.
        path: String,
        /// What is wrong.
        because: String,
    },
}

impl PlanFileFault {
    /// Returns whether the text says that it is a plan, and is not as nodeform wrote it: nothing else can be wrong
    /// with a file but that it never was one.
    #[must_use]
    pub const fn is_of_changed_plan(&self) -> bool {
        match self {
            Self::Empty
            | Self::NotJson { .. }
            | Self::NoKind
            | Self::OtherKind { .. }
            | Self::OtherVersion { .. } => false,
            Self::Respelt { .. }
            | Self::InexactNumber { .. }
            | Self::DigestDiffers { .. }
            | Self::EvidenceDiffers { .. }
            | Self::FiguresDiffer { .. }
            | Self::Malformed { .. } => true,
        }
    }

    /// Returns the next thing to do.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::NotJson { .. } | Self::NoKind | Self::OtherKind { .. } => {
                "give a file that `nodeform plan … --out FILE` has written"
            }
            Self::Respelt { .. }
            | Self::InexactNumber { .. }
            | Self::DigestDiffers { .. }
            | Self::EvidenceDiffers { .. }
            | Self::FiguresDiffer { .. } => {
                "make the plan again with `nodeform plan … --out FILE` and have it reviewed"
            }
            Self::OtherVersion { .. } => "plan again with this version: `nodeform plan … --out FILE`",
            Self::Malformed { .. } => {
                "use the version of nodeform that created the plan, or create a new plan"
            }
        }
    }
}

/// Returns the plan's file, with a line feed at its end.
#[must_use]
pub fn write(plan: &Plan) -> String {
    let Plan { spec, evidence } = plan;
    let Figures { cost, nodes, pools, evictions } = Figures::of(plan);
    let file = PlanFile {
        api_version: API_VERSION,
        kind: KIND,
        digest: plan.digest(),
        evidence_digest: digest_of(evidence),
        summary: Summary::of(plan),
        cost,
        spec,
        nodes,
        pools,
        evictions,
        evidence,
    };
    let value = serde_json::to_value(file).expect("plan values have text keys and no floats");
    spelt(value)
}

/// Returns the digest of what a plan was made from and why, as its file states it.
#[must_use]
pub fn evidence_digest(plan: &Plan) -> Digest {
    digest_of(&plan.evidence)
}

/// Returns the one spelling of a value: last the rows, one a line, and `evidence`, on one line.
pub(crate) fn spelt(mut value: Value) -> String {
    value.sort_all_objects();
    let written = "a JSON value can be written";
    let mut last: Vec<(&str, String)> = Vec::new();
    if let Some(fields) = value.as_object_mut() {
        for name in ROWS {
            // A value that is not a list, which nodeform never writes, stays in place and is rejected later.
            if fields.get(name).is_some_and(Value::is_array) {
                last.extend(fields.remove(name).map(|rows| (name, lines(&rows))));
            }
        }
        let evidence = fields.remove("evidence");
        last.extend(evidence.map(|value| ("evidence", serde_json::to_string(&value).expect(written))));
    }
    let mut text = serde_json::to_string_pretty(&value).expect(written);
    for (name, field) in last {
        let open = text.strip_suffix("\n}").unwrap_or("{").len();
        text.truncate(open);
        let comma = if open > 1 { "," } else { "" };
        text.push_str(&format!("{comma}\n  \"{name}\": {field}\n}}"));
    }
    text.push('\n');
    text
}

/// Writes each item of a list on a line of its own.
fn lines(rows: &Value) -> String {
    let rows = rows.as_array().into_iter().flatten();
    let lines: Vec<String> = rows.map(|row| format!("\n    {row}")).collect();
    if lines.is_empty() { "[]".to_owned() } else { format!("[{}\n  ]", lines.join(",")) }
}

/// Reads a plan's file.
///
/// # Errors
/// When the text is not exactly what [`write()`] gives for some plan, but for fields of `evidence` that are
/// not known here.
pub fn read(text: &str) -> Result<Plan, PlanFileFault> {
    if text.trim().is_empty() {
        return Err(PlanFileFault::Empty);
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| PlanFileFault::NotJson { because: error.to_string() })?;
    let of = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
    let (api_version, kind) = (of("apiVersion"), of("kind"));
    if api_version.is_empty() && kind.is_empty() {
        return Err(PlanFileFault::NoKind);
    }
    if kind == KIND && api_version != API_VERSION && api_version.starts_with("nodeform.dev/") {
        return Err(PlanFileFault::OtherVersion { api_version });
    }
    if api_version != API_VERSION || kind != KIND {
        return Err(PlanFileFault::OtherKind { api_version, kind });
    }
    exact(&value, &mut String::new())?;
    same_spelling(text, &value)?;
    let spec_value = value.get("spec").unwrap_or(&Value::Null);
    let found = digest_of(spec_value);
    let stated = of("digest");
    if stated != found.to_string() {
        return Err(PlanFileFault::DigestDiffers { stated, found });
    }
    let (found, stated) = (digest_of(value.get("evidence").unwrap_or(&Value::Null)), of("evidenceDigest"));
    if stated != found.to_string() {
        return Err(PlanFileFault::EvidenceDiffers { stated, found });
    }
    known_top_level(&value)?;
    let spec: PlanSpec = part(&value, "spec")?;
    known_fields(spec_value, &serde_json::to_value(&spec).expect("a spec has a JSON form"))?;
    let evidence: Evidence = part(&value, "evidence")?;
    complete(&spec, &evidence)?;
    same_time(&spec, &evidence)?;
    let plan = Plan { spec, evidence };
    same_figures(&value, &plan)?;
    Ok(plan)
}

/// Reads the decisions of a plan alone, as the ledger keeps them; there is no evidence then.
///
/// # Errors
/// When the text is not the `spec` of a plan, or holds what is not known here.
pub fn read_spec(text: &str) -> Result<Plan, PlanFileFault> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| PlanFileFault::NotJson { because: error.to_string() })?;
    exact(&value, &mut String::new())?;
    let spec: PlanSpec = serde_json::from_value(value.clone())
        .map_err(|error| PlanFileFault::Malformed { path: "spec".to_owned(), because: error.to_string() })?;
    known_fields(&value, &serde_json::to_value(&spec).expect("a spec has a JSON form"))?;
    let region = spec.execution.as_ref().map_or("", |execution| &*execution.cluster.location);
    let evidence = Evidence::unseen(Region::new(region));
    complete(&spec, &evidence)?;
    Ok(Plan { spec, evidence })
}

fn part<T: serde::de::DeserializeOwned>(value: &Value, field: &str) -> Result<T, PlanFileFault> {
    let part = value.get(field).cloned().unwrap_or(Value::Null);
    serde_json::from_value(part)
        .map_err(|error| PlanFileFault::Malformed { path: field.to_owned(), because: error.to_string() })
}

/// Finds a number that a reader of JSON might round.
fn exact(value: &Value, path: &mut String) -> Result<(), PlanFileFault> {
    let length = path.len();
    let mut inside = |step: &str, item: &Value| {
        path.push_str(step);
        let result = exact(item, path);
        path.truncate(length);
        result
    };
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) if (-EXACT_MAX..=EXACT_MAX).contains(&whole) => Ok(()),
            Some(_) | None => {
                Err(PlanFileFault::InexactNumber { path: path.clone(), number: number.to_string() })
            }
        },
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(place, item)| inside(&format!("[{place}]"), item))
        }
        Value::Object(fields) => fields.iter().try_for_each(|(key, item)| {
            let step = if length == 0 { key.clone() } else { format!(".{key}") };
            inside(&step, item)
        }),
    }
}

fn same_spelling(text: &str, value: &Value) -> Result<(), PlanFileFault> {
    let canonical = spelt(value.clone());
    if canonical == text {
        return Ok(());
    }
    // `split` and not `lines`, which would miss a carriage return or a missing final line feed.
    let same = text.split('\n').zip(canonical.split('\n')).take_while(|(found, wanted)| found == wanted);
    Err(PlanFileFault::Respelt { line: same.count() + 1 })
}

/// Refuses figures that are not those of the plan: programs read them and nothing else.
fn same_figures(value: &Value, plan: &Plan) -> Result<(), PlanFileFault> {
    let Figures { cost, nodes, pools, evictions } = Figures::of(plan);
    let follows = "figures have a JSON form";
    let figures = [
        ("summary", serde_json::to_value(Summary::of(plan)).expect(follows)),
        ("cost", serde_json::to_value(cost).expect(follows)),
        ("nodes", serde_json::to_value(nodes).expect(follows)),
        ("pools", serde_json::to_value(pools).expect(follows)),
        ("evictions", serde_json::to_value(evictions).expect(follows)),
    ];
    for (name, found) in figures {
        let stated = value.get(name).ok_or_else(|| PlanFileFault::Malformed {
            path: name.to_owned(),
            because: "these figures are missing".to_owned(),
        })?;
        if let Some(path) = difference(stated, &found, name) {
            return Err(PlanFileFault::FiguresDiffer { path });
        }
    }
    Ok(())
}

/// Refuses a time that people read and that is not the one that is heeded.
fn same_time(spec: &PlanSpec, evidence: &Evidence) -> Result<(), PlanFileFault> {
    match &spec.execution {
        Some(execution) if execution.seen_at != evidence.seen_at => Err(PlanFileFault::Malformed {
            path: "spec.execution.seenAt".to_owned(),
            because: "it is not that of `evidence`".to_owned(),
        }),
        Some(_) | None => Ok(()),
    }
}

fn known_top_level(value: &Value) -> Result<(), PlanFileFault> {
    let known = ["apiVersion", "cost", "digest", "evidence", "evidenceDigest", "kind", "spec", "summary"];
    let is_known = |key: &str| known.contains(&key) || ROWS.contains(&key);
    let unknown = value.as_object().into_iter().flatten().find(|(key, _)| !is_known(key));
    match unknown {
        Some((key, _)) => {
            Err(PlanFileFault::Malformed { path: key.clone(), because: "this field is not known".to_owned() })
        }
        None => Ok(()),
    }
}

/// Refuses whatever of the file's `spec` was not understood: it would be reviewed and not carried out.
fn known_fields(found: &Value, understood: &Value) -> Result<(), PlanFileFault> {
    match difference(found, understood, "spec") {
        Some(path) => Err(PlanFileFault::Malformed {
            path,
            because: "this is not known, or not written as nodeform writes it".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Returns the path of the first difference.
fn difference(one: &Value, other: &Value, path: &str) -> Option<String> {
    Difference::between(one, other, path).map(|found| found.path)
}

/// Checks that what refers to something refers to something that is there.
fn complete(spec: &PlanSpec, evidence: &Evidence) -> Result<(), PlanFileFault> {
    let missing = |path: String, what: &str| Err(PlanFileFault::Malformed { path, because: what.to_owned() });
    for (id, planned) in &spec.changes {
        let Some(create) = planned.change.create() else { continue };
        if !spec.claims.contains_key(&create.spec) {
            return missing(format!("spec.changes.{id}.change.spec"), "no such claim among `spec.claims`");
        }
        if create.vm != vm_name(&create.claim) {
            return missing(format!("spec.changes.{id}.change.vm"), "a VM is called after its NodeClaim");
        }
    }
    let ids = spec
        .waves
        .iter()
        .enumerate()
        .flat_map(|(place, wave)| wave.steps.values().flatten().map(move |id: &ChangeId| (place, id)));
    for (place, id) in ids {
        if !spec.changes.contains_key(id) {
            return missing(format!("spec.waves[{place}]"), &format!("no change `{id}`"));
        }
    }
    for (id, placement) in &evidence.placements {
        if placement.shape >= evidence.shapes.len() {
            return missing(format!("evidence.placements.{id}.shape"), "no such shape");
        }
    }
    for (place, group) in evidence.world.pods.iter().enumerate() {
        if group.spec >= evidence.world.pod_specs.len() {
            return missing(format!("evidence.world.pods[{place}].spec"), "no such pod spec");
        }
    }
    Ok(())
}

/// Returns the JSON Schema of the plan file.
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(PlanFile<'_>).to_value()
}
