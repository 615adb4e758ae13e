//! A NodePool or an AKSNodeClass of a live cluster that is faulty: it is left out, with the NodePools of such a class, and said.
//! What is good is planned, and the nodes of what is left out stay as they are, as those of a pool that is gone.
//!
//! Must never leave out what holds for the whole cluster: without its NodeFleet a cluster would be planned by other rules.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::Kind;
use crate::manifests::{OurObject, Remark};
use crate::policy::{self, Fault, Policy, Segment, WireObject};
use crate::snapshot::AzureFacts;

/// What becomes of faulty NodePools and AKSNodeClasses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faulty {
    /// Nothing is planned: of files their author is told.
    Refused,
    /// They are left out: in a cluster others depend on what is good.
    LeftOut,
}

impl Faulty {
    /// What becomes of those of an input of which Azure said this: then it is a live cluster.
    pub(super) const fn of(azure: Option<&AzureFacts>) -> Self {
        match azure {
            Some(_) => Self::LeftOut,
            None => Self::Refused,
        }
    }
}

/// A policy, and what was left out for it: the faults, each with the place of its object.
#[derive(Debug, Default)]
pub(super) struct Sound {
    pub(super) policy: Policy,
    pub(super) left_out: Vec<(usize, Fault)>,
}

/// Returns the policy of the objects that are good.
///
/// # Errors
/// All faults, where one is of an object that nothing goes on without.
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

/// Returns the NodePools whose class is left out and that are not yet.
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

/// Says what is wrong with an object that is left out, and what follows.
pub(super) fn remark(object: &OurObject, fault: &Fault) -> Remark {
    let Fault { message, hint, .. } = fault;
    let what =
        format!("`{}`: {message}; it creates and deletes no nodes until it is fixed", fault.path_text());
    Remark { object: format!("{}/{}", object.kind, object.name), what, hint: hint.clone() }
}
