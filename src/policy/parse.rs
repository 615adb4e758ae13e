//! Parses all objects of an input into one [`Policy`], and reports all faults of all objects together.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::defaults::with_defaults;
use super::fault::Fault;
use super::nearest::did_you_mean;
use super::{Policy, WholeClass, buffer, fleet, node_class, overlay, pool};
use crate::api::Kind;
use crate::model::{ClassName, NodeClass, Pool};

/// A raw object with its kind.
#[derive(Clone, Copy, Debug)]
pub struct WireObject<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its content.
    pub value: &'a Value,
}

/// Returns the policy that these objects define. Skips NodeClaims, which are nodes, and NodePlans, which describe
/// existing plans.
///
/// # Errors
/// All faults, each with the position of its object in the input.
pub fn parse(objects: &[WireObject<'_>]) -> Result<Policy, Vec<(usize, Fault)>> {
    let mut policy = Policy::default();
    let mut faults: Vec<(usize, Fault)> = Vec::new();
    let mut fleet_seen = false;
    for (index, object) in objects.iter().enumerate() {
        let found = super::faults(object.kind, object.value);
        if !found.is_empty() {
            faults.extend(found.into_iter().map(|fault| (index, fault)));
            continue;
        }
        // As an API server stores it: the hash of a class covers its spec with defaults.
        let readable = super::with_readable_status(object.kind, object.value);
        let stored = with_defaults(super::schema_of(object.kind), &readable);
        let added = match object.kind {
            Kind::NodePool => typed(&stored).and_then(|wire| pool::pool(&wire)).map(|pool| {
                policy.pools.insert(pool.name.clone(), pool);
            }),
            Kind::AksNodeClass => typed(&stored).map(|wire| {
                let class = node_class::node_class(&wire);
                policy.whole_classes.insert(class.name.clone(), WholeClass::of(wire));
                policy.classes.insert(class.name.clone(), class);
            }),
            Kind::NodeFleet if fleet_seen => Err(vec![second_fleet()]),
            Kind::NodeFleet => {
                fleet_seen = true;
                typed(&stored).and_then(|wire| fleet::fleet(&wire)).map(|fleet| policy.fleet = fleet)
            }
            Kind::CapacityBuffer => typed(&stored).and_then(|wire| buffer::buffer(&wire)).map(|buffer| {
                policy.buffers.insert((buffer.namespace.clone(), buffer.name.clone()), buffer);
            }),
            Kind::NodeOverlay => typed(&stored).and_then(|wire| overlay::overlay(&wire)).map(|overlay| {
                policy.overlays.insert(overlay.name.clone(), overlay);
            }),
            Kind::NodeClaim | Kind::NodePlan | Kind::NodePlanApproval | Kind::NodePlanChunk => Ok(()),
        };
        if let Err(found) = added {
            faults.extend(found.into_iter().map(|fault| (index, fault)));
        }
    }
    faults.extend(missing_classes(objects));
    name_classes(objects, &mut faults);
    if faults.is_empty() { Ok(policy) } else { Err(faults) }
}

/// The class that AKS creates itself if node auto provisioning is enabled.
const AKS_CLASS: &str = "default";

/// Reports NodePools that reference a missing AKSNodeClass while others exist. The class that AKS creates itself may be
/// missing, unless one with a similar name exists.
fn missing_classes(objects: &[WireObject<'_>]) -> Vec<(usize, Fault)> {
    let of_kind = |kind: Kind| objects.iter().enumerate().filter(move |(_, object)| object.kind == kind);
    let name = |object: &Value, at: &str| object.pointer(at).and_then(Value::as_str).map(str::to_owned);
    let present = classes(objects);
    if present.is_empty() {
        return Vec::new();
    }
    let known = || present.iter().map(String::as_str);
    let fault = |(index, object): (usize, &WireObject<'_>)| {
        let reference = object.value.pointer("/spec/template/spec/nodeClassRef")?;
        let class = name(reference, "/name").filter(|class| !class.is_empty() && !present.contains(class))?;
        let is_of_azure =
            name(reference, "/kind").is_some_and(|kind| kind == Kind::AksNodeClass.facts().kind);
        let hint = match did_you_mean(&class, known()) {
            None if class == AKS_CLASS => return None,
            Some(meant) => meant,
            None => {
                let names: Vec<String> = known().map(|name| format!("`{name}`")).collect();
                format!("the input has {}: name one of them, or add `{class}`", names.join(", "))
            }
        };
        let path = super::path("spec.template.spec.nodeClassRef.name");
        let message = format!("AKSNodeClass `{class}` is not in the input, and others are");
        is_of_azure.then_some((index, Fault { path, message, hint: Some(hint) }))
    };
    of_kind(Kind::NodePool).filter_map(fault).collect()
}

/// Returns the names of the AKSNodeClasses.
fn classes(objects: &[WireObject<'_>]) -> BTreeSet<String> {
    let of_kind = objects.iter().filter(|object| object.kind == Kind::AksNodeClass);
    let names = of_kind.filter_map(|object| object.value.pointer("/metadata/name")?.as_str());
    names.map(str::to_owned).collect()
}

/// Adds hints to NodePools that reference no class. Only their author knows which of several classes is intended, so
/// `validate --fix` only writes a name if the input has exactly one class.
fn name_classes(objects: &[WireObject<'_>], faults: &mut [(usize, Fault)]) {
    const REFERENCE: &str = "spec.template.spec.nodeClassRef";
    let (whole, name) = (super::path(REFERENCE), super::path(&format!("{REFERENCE}.name")));
    let present = classes(objects);
    let named: Vec<String> = present.iter().map(|name| format!("`{name}`")).collect();
    const UNCHOSEN: &str = "; `validate --fix` does not choose a class";
    let (class, which) = match named.as_slice() {
        [] => (AKS_CLASS, format!("the class that AKS makes itself{UNCHOSEN}")),
        [_] => {
            let class = present.first().map_or(AKS_CLASS, String::as_str);
            (class, "the one class of the input; `nodeform validate --fix` writes it".to_owned())
        }
        several => ("NAME", format!("NAME being one of {}{UNCHOSEN}", several.join(", "))),
    };
    for (index, fault) in faults {
        let Some(object) = objects.get(*index).filter(|object| object.kind == Kind::NodePool) else {
            continue;
        };
        let reference = object.value.pointer("/spec/template/spec/nodeClassRef");
        let add = match reference {
            None if fault.path == whole => {
                format!("nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: {class}}}")
            }
            Some(reference) if fault.path == name && reference.get("name").is_none() => {
                format!("name: {class}")
            }
            None | Some(_) => continue,
        };
        fault.hint = Some(format!("add `{add}`, {which}"));
    }
}

impl Policy {
    /// Adds a class with Karpenter's defaults for every pool whose class is not in the manifests. Returns the names of
    /// these classes, each with the first pool that needs it, to be reported.
    pub fn assume_missing_classes(&mut self) -> BTreeMap<ClassName, Pool> {
        let mut assumed = BTreeMap::new();
        for pool in self.pools.values() {
            if !self.classes.contains_key(&pool.class) {
                assumed.entry(pool.class.clone()).or_insert_with(|| pool.clone());
            }
        }
        for name in assumed.keys() {
            let class = node_class::default_class(name.clone());
            self.classes.insert(name.clone(), NodeClass { is_assumed: true, ..class });
        }
        assumed
    }
}

fn second_fleet() -> Fault {
    Fault {
        path: super::path("metadata.name"),
        message: "there is another NodeFleet in this input: one holds for the whole cluster".to_owned(),
        hint: Some("plan each cluster by itself, or take one NodeFleet out".to_owned()),
    }
}

/// Deserializes the wire type. The schema has accepted the value already, so remaining errors are reported verbatim.
fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, Vec<Fault>> {
    T::deserialize(value).map_err(|error| {
        vec![Fault { path: Vec::new(), message: format!("this cannot be read: {error}"), hint: None }]
    })
}
