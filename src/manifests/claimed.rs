//! Reads drift, age and node conditions from NodeClaims and Nodes.
//!
//! Only reads: an invalid duration is treated as absent.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;

use crate::api::text::DurationText;
use crate::model::{Claimed, Drift, ExpireAfter, Purpose, Stamp, Trouble, label};

use super::cursor::Cursor;
use super::meta::Meta;

/// Annotations of a claim: the hash of its template, and the version of that hash.
const POOL_STAMP: [&str; 2] = ["karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version"];
const CLASS_STAMP: [&str; 2] =
    ["karpenter.azure.com/aksnodeclass-hash", "karpenter.azure.com/aksnodeclass-hash-version"];

/// Reads the facts about its node from a NodeClaim.
#[must_use]
pub fn read(meta: &Meta, spec: Cursor<'_>, status: Option<Cursor<'_>>) -> Claimed {
    Claimed {
        sizes: BTreeSet::new(),
        drift: status.and_then(drift),
        pool_stamp: stamp(meta, POOL_STAMP),
        class_stamp: stamp(meta, CLASS_STAMP),
        requirements_hash: meta.annotations.get(label::REQUIREMENTS_HASH).cloned(),
        image: status.and_then(|status| status.text("imageID")).filter(|image| !image.is_empty()).cloned(),
        expire_after: expire_after(spec),
        termination_grace_period: spec.text("terminationGracePeriod").and_then(|text| duration(text)),
        made_for: made_for(meta),
        lacks: Vec::new(),
        is_lost: false,
        lost_since: meta.annotations.get(label::NODE_LOST).and_then(|time| time.parse().ok()),
        is_own: meta.annotations.contains_key(label::CLUSTER),
        is_deleted: meta.is_deleting,
        begun_by: meta.annotations.get(label::REMOVAL).map(|mark| plan_of(mark)),
    }
}

/// Returns the plan of a removal mark, `PLAN/CHANGE/TIME`. A malformed mark is still a mark.
fn plan_of(mark: &str) -> Arc<str> {
    mark.split('/').next().unwrap_or_default().into()
}

/// Returns the pods that a claim was created for.
fn made_for(meta: &Meta) -> BTreeSet<Purpose> {
    let written = meta.annotations.get(label::MADE_FOR).map_or("", |text| text);
    written.split(',').filter(|purpose| !purpose.is_empty()).map(Purpose::new).collect()
}

fn stamp(meta: &Meta, [hash, version]: [&str; 2]) -> Option<Stamp> {
    let of = |key: &str| meta.annotations.get(key).filter(|value| !value.is_empty()).cloned();
    Some(Stamp { hash: of(hash)?, version: of(version)? })
}

fn drift(status: Cursor<'_>) -> Option<Drift> {
    let conditions = status.items("conditions");
    let drifted = conditions.into_iter().find(|item| is(*item, "type", "Drifted"))?;
    is(drifted, "status", "True").then(|| Drift {
        reason: drifted.text("reason").cloned().unwrap_or_default(),
        since: drifted.time("lastTransitionTime"),
    })
}

fn is(item: Cursor<'_>, key: &str, wanted: &str) -> bool {
    item.text(key).is_some_and(|text| &**text == wanted)
}

fn expire_after(spec: Cursor<'_>) -> Option<ExpireAfter> {
    let text = spec.text("expireAfter")?;
    if &**text == "Never" {
        return Some(ExpireAfter::Never);
    }
    duration(text).map(ExpireAfter::Age)
}

/// Parses a duration in Go syntax.
#[must_use]
pub fn duration(text: &str) -> Option<SignedDuration> {
    DurationText(text.to_owned()).nanoseconds().map(SignedDuration::from_nanos)
}

/// Reads the unhealthy conditions of a Node.
#[must_use]
pub fn troubles(status: Cursor<'_>) -> Vec<Trouble> {
    let mut troubles: Vec<Trouble> = status.items("conditions").into_iter().filter_map(trouble).collect();
    troubles.sort();
    troubles
}

/// Returns an unhealthy condition. `Ready` and AKS's node health are healthy when true; every other condition set by
/// the kubelet and the node problem detector is healthy when false.
fn trouble(item: Cursor<'_>) -> Option<Trouble> {
    let (kind, status) = (item.text("type")?, item.text("status")?);
    let healthy = match &**kind {
        "Ready" | "kubernetes.azure.com/NodeHealthy" => "True",
        _ => "False",
    };
    (&**status != healthy).then(|| Trouble {
        kind: Arc::clone(kind),
        status: Arc::clone(status),
        since: item.time("lastTransitionTime"),
    })
}
