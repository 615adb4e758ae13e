//! Reads HorizontalPodAutoscalers, and KEDA's ScaledObjects and ScaledJobs: their targets and bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::manifests::cursor::Cursor;
use crate::manifests::meta::Meta;
use crate::manifests::workload;
use crate::model::Workload;

/// An autoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscaler {
    /// Kind, namespace and name.
    pub id: Workload,
    /// Its owner, if it has one.
    pub owner: Option<Workload>,
    /// The scaled workload.
    pub target: Workload,
    /// Minimum number of replicas.
    pub least: i64,
    /// Minimum while there is work: above [`Self::least`] if KEDA's `idleReplicaCount` is lower.
    pub smallest: i64,
    /// Maximum number of replicas.
    pub most: i64,
    /// Desired replicas in its status, or else current ones.
    pub now: Option<i64>,
    /// Number of replicas if it is paused at a fixed number.
    pub fixed: Option<i64>,
    /// Whether it is paused at the current number.
    pub is_paused: bool,
    /// The HorizontalPodAutoscaler that KEDA creates for it.
    pub makes: Option<Arc<str>>,
}

const REPLICAS: std::ops::RangeInclusive<i64> = 0..=2_147_483_647;

/// Reads a HorizontalPodAutoscaler or a ScaledObject.
#[must_use]
pub fn read(object: Cursor<'_>) -> Option<Autoscaler> {
    let meta = Meta::read(object)?;
    let id = workload::identity(object, &meta)?;
    let Some(spec) = object.get("spec") else {
        object.missing("spec", "an autoscaler needs `spec.scaleTargetRef`");
        return None;
    };
    let Some(reference) = spec.get("scaleTargetRef") else {
        spec.missing(
            "scaleTargetRef",
            "name what is scaled: `{apiVersion: apps/v1, kind: Deployment, name: web}`",
        );
        return None;
    };
    let Some(name) = reference.text("name") else {
        reference.missing("name", "name what is scaled");
        return None;
    };
    let kind = reference.text("kind").map_or("Deployment", |kind| &**kind);
    let target =
        Workload { kind: Arc::from(kind), namespace: meta.namespace.clone(), name: Arc::clone(name) };
    let autoscaler = if &*id.kind == "ScaledObject" {
        keda(object, spec, (&meta, id, target))
    } else {
        horizontal(object, spec, (&meta, id, target))
    };
    if autoscaler.most < autoscaler.smallest {
        let (most, least) = (autoscaler.most, autoscaler.smallest);
        spec.fault(
            format!("asks for at most {most} replicas and at least {least}"),
            Some("raise the maximum"),
        );
        return None;
    }
    Some(autoscaler)
}

type Named<'a> = (&'a Meta, Workload, Workload);

fn horizontal(object: Cursor<'_>, spec: Cursor<'_>, (meta, id, target): Named<'_>) -> Autoscaler {
    let least = spec.integer("minReplicas", REPLICAS).unwrap_or(1);
    if spec.get("maxReplicas").is_none() {
        spec.missing("maxReplicas", "a HorizontalPodAutoscaler needs a maximum");
    }
    let most = spec.integer("maxReplicas", 1..=2_147_483_647).unwrap_or(least);
    let status = object.get("status");
    let of_status = |key: &str| status.and_then(|status| status.integer(key, REPLICAS));
    // A new autoscaler reports zero, which is only meant if it may scale to zero.
    let now = [of_status("desiredReplicas"), of_status("currentReplicas")]
        .into_iter()
        .flatten()
        .find(|count| *count > 0 || least == 0);
    let owner = workload::owner(meta);
    Autoscaler {
        id,
        owner,
        target,
        least,
        smallest: least,
        most,
        now,
        fixed: None,
        is_paused: false,
        makes: None,
    }
}

fn keda(object: Cursor<'_>, spec: Cursor<'_>, (meta, id, target): Named<'_>) -> Autoscaler {
    let bounds = Bounds::read(spec);
    let idle = spec.integer("idleReplicaCount", REPLICAS);
    let config = spec.get("advanced").and_then(|advanced| advanced.get("horizontalPodAutoscalerConfig"));
    let by_status = object.get("status").and_then(|status| status.text("hpaName"));
    let named = by_status.or_else(|| config.and_then(|config| config.text("name"))).cloned();
    let makes = named.unwrap_or_else(|| Arc::from(format!("keda-hpa-{}", meta.name)));
    let annotation = |key: &str| meta.annotations.get(key).map(|value| &**value);
    let fixed = annotation("autoscaling.keda.sh/paused-replicas").and_then(|count| count.parse().ok());
    Autoscaler {
        id,
        owner: workload::owner(meta),
        target,
        least: idle.unwrap_or(bounds.least).min(bounds.least),
        smallest: bounds.least,
        most: bounds.most,
        now: None,
        fixed: fixed.filter(|count| REPLICAS.contains(count)),
        is_paused: annotation("autoscaling.keda.sh/paused") == Some("true"),
        makes: Some(makes),
    }
}

/// Reads a ScaledJob as an autoscaler of itself, in jobs.
#[must_use]
pub fn of_jobs(object: Cursor<'_>, id: &Workload) -> Option<Autoscaler> {
    let meta = Meta::read(object)?;
    let Bounds { least, most } = Bounds::read(object.get("spec")?);
    let paused = meta.annotations.get("autoscaling.keda.sh/paused").is_some_and(|value| &**value == "true");
    Some(Autoscaler {
        id: id.clone(),
        owner: None,
        target: id.clone(),
        least,
        smallest: least,
        most: most.max(least),
        now: None,
        fixed: paused.then_some(0),
        is_paused: false,
        makes: None,
    })
}

/// Bounds of KEDA's kinds.
struct Bounds {
    least: i64,
    most: i64,
}

impl Bounds {
    fn read(spec: Cursor<'_>) -> Self {
        Self {
            least: spec.integer("minReplicaCount", REPLICAS).unwrap_or(0),
            // KEDA's default.
            most: spec.integer("maxReplicaCount", REPLICAS).unwrap_or(100),
        }
    }
}

/// Removes the autoscalers that KEDA created for a ScaledObject of the input, which inherits their status.
#[must_use]
pub fn without_made(mut autoscalers: Vec<Autoscaler>) -> Vec<Autoscaler> {
    let mut makers: BTreeMap<Workload, usize> = BTreeMap::new();
    for (place, autoscaler) in autoscalers.iter().enumerate() {
        if let Some(made) = &autoscaler.makes {
            let kind = Arc::from("HorizontalPodAutoscaler");
            makers.insert(Workload { kind, name: Arc::clone(made), ..autoscaler.id.clone() }, place);
        }
    }
    let ids: BTreeMap<Workload, usize> =
        autoscalers.iter().enumerate().map(|(place, autoscaler)| (autoscaler.id.clone(), place)).collect();
    let mut made: BTreeSet<Workload> = BTreeSet::new();
    let mut seen: Vec<(usize, i64)> = Vec::new();
    for autoscaler in &autoscalers {
        let by_owner = autoscaler.owner.as_ref().and_then(|owner| ids.get(owner));
        if let Some(maker) = by_owner.or_else(|| makers.get(&autoscaler.id)) {
            made.insert(autoscaler.id.clone());
            seen.extend(autoscaler.now.map(|now| (*maker, now)));
        }
    }
    for (maker, now) in seen {
        autoscalers[maker].now = Some(now);
    }
    autoscalers.retain(|autoscaler| !made.contains(&autoscaler.id));
    autoscalers.sort_by(|one, other| one.id.cmp(&other.id));
    autoscalers
}
