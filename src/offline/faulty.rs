//! Invalid NodePools and AKSNodeClasses of a live cluster: they are skipped and reported, together with the NodePools
//! of such a class. Valid ones are planned, and nodes of skipped pools are kept, like those of a deleted pool.
//!
//! Never skips an object that applies to the whole cluster: without its NodeFleet a cluster would be planned by other
//! rules.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::Kind;
use crate::manifests::{OurObject, Remark};
use crate::policy::{self, Fault, Policy, Segment, WireObject};
use crate::snapshot::AzureFacts;

/// How to treat invalid NodePools and AKSNodeClasses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faulty {
    /// Nothing is planned: the author of the files has to fix them.
    Refused,
    /// They are skipped: in a cluster, others depend on the valid ones.
    LeftOut,
}

impl Faulty {
    /// Returns the treatment for an input; Azure facts mean that it is a live cluster.
    pub(super) const fn of(azure: Option<&AzureFacts>) -> Self {
        match azure {
            Some(_) => Self::LeftOut,
            None => Self::Refused,
        }
    }
}

/// A policy, and the faults that were skipped for it, each with the index of its object.
#[derive(Debug, Default)]
pub(super) struct Sound {
    pub(super) policy: Policy,
    pub(super) left_out: Vec<(usize, Fault)>,
}

/// Returns the policy of the valid objects.
///
/// # Errors
/// All faults, if one is in an object that cannot be skipped.
pub(super) fn sound(objects: &[WireObject<'_>], faulty: Faulty) -> Result<Sound, Vec<(usize, Fault)>> {
    let mut there: Vec<usize> = (0..objects.len()).collect();
    let mut left_out: Vec<(usize, Fault)> = Vec::new();
    loop {
        let kept: Vec<WireObject<'_>> = there.iter().map(|place| objects[*place]).collect();
        let wrong = match policy::parse(&kept) {
            Ok(policy) => return Ok(Sound { policy, left_out }),
            Err(wrong) => wrong.into_iter().map(|(place, fault)| (there[place], fault)),
        };
        let wrong: Vec<(usize, Fault)> = wrong.collect();
        let is_needed = |(place, _): &(usize, Fault)| {
            !matches!(objects[*place].kind, Kind::NodePool | Kind::AksNodeClass)
        };
        if faulty == Faulty::Refused || wrong.iter().any(is_needed) {
            left_out.extend(wrong);
            return Err(left_out);
        }
        left_out.extend(wrong);
        let of_class = of_faulty_classes(objects, &left_out);
        left_out.extend(of_class);
        let gone: BTreeSet<usize> = left_out.iter().map(|(place, _)| *place).collect();
        there.retain(|place| !gone.contains(place));
    }
}

/// Returns the NodePools that are not skipped yet but whose class is.
fn of_faulty_classes(objects: &[WireObject<'_>], left_out: &[(usize, Fault)]) -> Vec<(usize, Fault)> {
    let gone: BTreeSet<usize> = left_out.iter().map(|(place, _)| *place).collect();
    let text = |value: &Value, at: &str| value.pointer(at).and_then(Value::as_str).map(str::to_owned);
    let classes = gone.iter().map(|place| &objects[*place]).filter(|gone| gone.kind == Kind::AksNodeClass);
    let classes: BTreeSet<String> = classes.filter_map(|class| text(class.value, "/metadata/name")).collect();
    let pools = objects.iter().enumerate().filter(|(_, object)| object.kind == Kind::NodePool);
    let of_class = pools.filter(|(place, _)| !gone.contains(place)).filter_map(|(place, pool)| {
        let class = text(pool.value, "/spec/template/spec/nodeClassRef/name")?;
        let keys = ["spec", "template", "spec", "nodeClassRef", "name"];
        let path = keys.iter().map(|key| Segment::Key((*key).to_owned())).collect();
        let message = format!("AKSNodeClass `{class}` is faulty");
        classes.contains(&class).then_some((place, Fault { path, message, hint: None }))
    });
    of_class.collect()
}

/// Reports the fault of a skipped object and its consequence.
pub(super) fn remark(object: &OurObject, fault: &Fault) -> Remark {
    let Fault { message, hint, .. } = fault;
    let what =
        format!("`{}`: {message}; it creates and deletes no nodes until it is fixed", fault.path_text());
    Remark { object: format!("{}/{}", object.kind, object.name), what, hint: hint.clone() }
}
