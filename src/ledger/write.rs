//! Converts a plan into the objects that record it: the chunks of its text first, the plan last, so an existing plan is
//! always complete. Names derive from the digest: writing again after an interruption finds the same objects.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::read::decisions_of;
use super::{CHUNKS, LedgerFault, PLANS};
use crate::api::node_plan::{
    BY_ANNOTATION, BY_CONTROLLER, CHUNK_BYTES_MAX, CHUNKS_MAX, FOLDER_ANNOTATION, NodePlan, NodePlanChunk,
    NodePlanChunkSpec, NodePlanSpec, PLAN_LABEL, PlannedChanges,
};
use crate::api::{Kind, KindFacts, meta::ObjectMeta};
use crate::model::Digest;

/// Number of base32 characters in a plan's name: 50 bits, like the ids of its changes.
const NAME_LENGTH: usize = 10;

/// A plan to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Digest of the canonical form of the text.
    pub digest: Digest,
    /// The previous plan with effects.
    pub parent: Option<Digest>,
    /// The UID of the cluster.
    pub cluster: Option<String>,
    /// The change class under which it is reviewed.
    pub class: Option<String>,
    /// Change of the monthly cost, in decimal dollars.
    pub monthly_delta: Option<String>,
    /// Time until which it may start.
    pub expires_at: Option<Timestamp>,
    /// The folder in which it was merged, if it was reviewed in Git.
    pub folder: Option<String>,
    /// Whether it needs a NodePlanApproval before it starts.
    pub needs_approval: bool,
    /// Whether the controller applies it; otherwise a person does, with a command.
    pub is_automatic: bool,
    /// Number of its changes.
    pub changes: Changes,
    /// Its decisions as JSON in any form; of a plan that needs approval the whole file, as people review it.
    pub text: String,
}

/// Number of changes of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Nodes to add.
    pub add: usize,
    /// Nodes to change in place.
    pub change: usize,
    /// Nodes to destroy.
    pub destroy: usize,
    /// Changes by class, in the words of a NodeFleet's `approve`.
    pub by_class: BTreeMap<String, usize>,
}

/// An object to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// API path: [`PLANS`] or [`CHUNKS`].
    pub at: &'static str,
    /// The object.
    pub object: Value,
}

/// Returns the name of a plan.
#[must_use]
pub fn name(digest: &Digest) -> String {
    digest.base32(NAME_LENGTH)
}

/// Returns the names of the chunks of a plan's text.
pub fn chunk_names(name: &str, chunks: usize) -> impl Iterator<Item = String> {
    (1..=chunks.min(CHUNKS_MAX)).map(move |number| format!("{name}-{number}"))
}

/// Returns the objects to create, in this order. An object that already exists has the same content.
///
/// # Errors
/// The text does not match the digest, or is too long.
pub fn objects(entry: &Entry) -> Result<Vec<Written>, LedgerFault> {
    let name = name(&entry.digest);
    let text = canonical(&name, entry)?;
    if text.len() > CHUNKS_MAX * CHUNK_BYTES_MAX {
        return Err(LedgerFault::TooLong { name, bytes: text.len() });
    }
    let chunks = cut(&text);
    // Cuts only fall between characters, so chunks may be a few bytes short and their number one too high.
    if chunks.len() > CHUNKS_MAX {
        return Err(LedgerFault::TooLong { name, bytes: text.len() });
    }
    let of = count(chunks.len());
    let of_chunk = |(chunk, number): (&&str, i32)| {
        let KindFacts { kind, .. } = Kind::NodePlanChunk.facts();
        let labels = BTreeMap::from([(PLAN_LABEL.to_owned(), name.clone())]);
        let chunk = NodePlanChunk {
            api_version: version(Kind::NodePlanChunk),
            kind: (*kind).to_owned(),
            metadata: ObjectMeta {
                name: Some(format!("{name}-{number}")),
                labels: Some(labels),
                ..ObjectMeta::default()
            },
            spec: NodePlanChunkSpec {
                digest: entry.digest.to_string(),
                number,
                of,
                text: (*chunk).to_owned(),
            },
        };
        Written { at: CHUNKS, object: json!(chunk) }
    };
    let mut objects: Vec<Written> = chunks.iter().zip(1..).map(of_chunk).collect();
    objects.push(Written { at: PLANS, object: json!(of_plan(entry, name, of)) });
    Ok(objects)
}

/// Returns the plan object.
fn of_plan(entry: &Entry, name: String, chunks: i32) -> NodePlan {
    let Changes { add, change, destroy, by_class } = &entry.changes;
    let spec = NodePlanSpec {
        digest: entry.digest.to_string(),
        parent: entry.parent.map(|digest| digest.to_string()),
        cluster: entry.cluster.clone(),
        // `kubectl get nodeplans` displays this text as it is.
        expires_at: entry.expires_at.map(|time| format!("{time:.0}")),
        changes: Some(PlannedChanges {
            add: count(*add),
            change: count(*change),
            destroy: count(*destroy),
            nodes: Some(format!("+{add} ~{change} -{destroy}")),
            by_class: Some(by_class.iter().map(|(class, many)| (class.clone(), count(*many))).collect()),
        }),
        class: entry.class.clone(),
        folder: entry.folder.as_deref().map(month_and_name),
        monthly_delta: entry.monthly_delta.clone(),
        needs_approval: entry.needs_approval,
        chunks,
    };
    let folder = entry.folder.iter().map(|folder| (FOLDER_ANNOTATION.to_owned(), folder.clone()));
    let by = entry.is_automatic.then(|| (BY_ANNOTATION.to_owned(), BY_CONTROLLER.to_owned()));
    let annotations = Some(folder.chain(by).collect()).filter(|known: &BTreeMap<_, _>| !known.is_empty());
    NodePlan {
        api_version: version(Kind::NodePlan),
        kind: Kind::NodePlan.facts().kind.to_owned(),
        metadata: ObjectMeta { name: Some(name), annotations, ..ObjectMeta::default() },
        spec,
        status: None,
    }
}

fn version(kind: Kind) -> String {
    let KindFacts { group, version, .. } = kind.facts();
    format!("{group}/{version}")
}

/// Returns the last two segments of a folder's location.
fn month_and_name(folder: &str) -> String {
    let mut parts = folder.rsplit('/');
    match (parts.next(), parts.next()) {
        (Some(name), Some(month)) => format!("{month}/{name}"),
        _ => folder.to_owned(),
    }
}

/// Returns the text that is stored, if it matches the digest.
fn canonical(name: &str, entry: &Entry) -> Result<String, LedgerFault> {
    if Digest::of_bytes(entry.text.as_bytes()) == entry.digest {
        return Ok(entry.text.clone());
    }
    let is_its = |text: &String| Digest::of_bytes(text.as_bytes()) == entry.digest;
    if entry.needs_approval && decisions_of(&entry.text).is_some_and(|text| is_its(&text)) {
        return Ok(entry.text.clone());
    }
    let read = serde_json::from_str::<Value>(&entry.text).ok();
    let text = read.and_then(|value| serde_json_canonicalizer::to_string(&value).ok());
    text.filter(is_its).ok_or_else(|| LedgerFault::OtherText { name: name.to_owned() })
}

/// Splits a text between characters.
fn cut(text: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while rest.len() > CHUNK_BYTES_MAX {
        let end = (0..=CHUNK_BYTES_MAX).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (chunk, after) = rest.split_at(end);
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

/// Converts a count to Kubernetes' 32-bit integers, saturating.
pub(super) fn count(many: usize) -> i32 {
    i32::try_from(many).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: &Value, text: String) -> Entry {
        Entry {
            digest: Digest::of_json(value).unwrap(),
            parent: None,
            cluster: Some("uid".to_owned()),
            class: Some("create".to_owned()),
            monthly_delta: Some("-3.00".to_owned()),
            expires_at: Some("2026-02-03T04:05:06.789Z".parse().unwrap()),
            folder: Some("https://forge.example/a main nodeform/plans/2026-02/create-x".to_owned()),
            needs_approval: false,
            is_automatic: false,
            changes: Changes {
                add: 2,
                destroy: 1,
                by_class: BTreeMap::from([("create".to_owned(), 2)]),
                ..Changes::default()
            },
            text,
        }
    }

    #[test]
    fn a_small_plan_is_one_chunk_and_itself_and_the_plan_comes_last() {
        let value = json!({"b": 1, "a": 2});
        let entry = entry(&value, "{\n  \"b\": 1,\n  \"a\": 2\n}\n".to_owned());
        let made = objects(&entry).unwrap();
        let name = name(&entry.digest);
        assert_eq!(name.len(), 10);
        let digest = entry.digest.to_string();
        let chunk = json!({
            "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodePlanChunk",
            "metadata": {"name": format!("{name}-1"), "labels": {"nodeform.dev/plan": name}},
            "spec": {"digest": digest, "number": 1, "of": 1, "text": "{\"a\":2,\"b\":1}"},
        });
        let folder = entry.folder.as_deref();
        let plan = json!({
            "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodePlan",
            "metadata": {"name": name, "annotations": {"nodeform.dev/folder": folder}},
            "spec": {
                "digest": digest, "cluster": "uid", "expiresAt": "2026-02-03T04:05:06Z", "chunks": 1,
                "class": "create", "folder": "2026-02/create-x", "monthlyDelta": "-3.00",
                "changes": {"add": 2, "change": 0, "destroy": 1, "nodes": "+2 ~0 -1", "byClass": {"create": 2}},
            },
        });
        assert_eq!(made, [Written { at: CHUNKS, object: chunk }, Written { at: PLANS, object: plan }]);
    }

    #[test]
    fn no_chunk_is_above_its_size_whatever_letters_are_cut() {
        // Three-byte characters: no chunk has exactly the maximum size.
        let value = json!("€".repeat(300_000));
        let made = objects(&entry(&value, value.to_string())).unwrap();
        assert_eq!(made.len(), 5);
        for chunk in &made[..4] {
            assert!(chunk.object["spec"]["text"].as_str().unwrap().len() <= CHUNK_BYTES_MAX);
            assert_eq!(chunk.object["spec"]["of"], 4);
        }
    }

    #[test]
    fn a_text_of_another_digest_or_no_json_is_refused() {
        let value = json!({"a": 1});
        for text in ["{\"a\": 2}", "{\"a\": 1", ""] {
            let fault = objects(&entry(&value, text.to_owned())).unwrap_err();
            assert!(matches!(fault, LedgerFault::OtherText { .. }), "{text}: {fault}");
        }
    }

    #[test]
    fn a_plan_of_32_mib_fits_and_no_longer_one() {
        let fits = json!("x".repeat(CHUNKS_MAX * CHUNK_BYTES_MAX - 2));
        assert_eq!(objects(&entry(&fits, fits.to_string())).unwrap().len(), CHUNKS_MAX + 1);
        let too_long = json!("x".repeat(CHUNKS_MAX * CHUNK_BYTES_MAX - 1));
        let fault = objects(&entry(&too_long, too_long.to_string())).unwrap_err();
        assert!(fault.to_string().ends_with("has 33554433 bytes, and NodePlans hold 33554432"), "{fault}");
    }
}
