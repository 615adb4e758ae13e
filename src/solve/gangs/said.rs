//! Reports why pods of a gang are not placed.
//!
//! Never decides anything.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Gang, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::fit::Rule;
use crate::solve::solution::{Solution, Unplaced};

use super::Out;
use super::tally::{self, Part, Tally};

/// Reports for pods of withheld gangs why they are withheld, and for gangs without any placed pod how many are
/// required.
pub(super) fn say(
    snapshot: &Snapshot,
    (gangs, out): (&[Gang<'_>], &BTreeMap<usize, Out>),
    solution: &mut Solution,
) {
    let waiting = Tally::of(snapshot, gangs, solution).waiting(out);
    let told: BTreeSet<&PodKey> = waiting.iter().flat_map(|(_, pods, _)| pods).collect();
    let unplaced = &mut solution.report.unplaced;
    for group in &mut *unplaced {
        group.pods.retain(|pod| !told.contains(pod));
    }
    unplaced.retain(|group| !group.pods.is_empty());
    let mut by_reason: BTreeMap<String, Unplaced> = BTreeMap::new();
    for (place, pods, out) in waiting {
        let (gang, because) = (&gangs[place], because(&gangs[place], &out));
        let group = by_reason.entry(because.clone()).or_insert_with(|| Unplaced {
            pods: Vec::new(),
            rule: Unplaced::GANG.to_owned(),
            because,
            nearest: None,
            details: Vec::new(),
        });
        group.pods.extend(pods);
        group.details.push(detail(gang, &out));
    }
    unplaced.extend(by_reason.into_values().map(|mut group| {
        group.pods.sort();
        group
    }));
    unplaced.sort_by(|one, other| one.pods.cmp(&other.pods));
}

fn because(gang: &Gang<'_>, out: &Out) -> String {
    let (all, field) = (gang.pods.len(), gang.group.least_field());
    let least = gang.least.unwrap_or(0);
    match out {
        Out::Undeclared => format!(
            "{gang} is not in the input, and its pods are not scheduled without it: add the output of `kubectl get {} -A \
             -o yaml`",
            gang.group.resource()
        ),
        Out::TooFew => {
            let pods = if all == 1 { "pod" } else { "pods" };
            format!("{gang} has {all} {pods}; {field} is {least}")
        }
        Out::InPart(part) => {
            let Part { standing, placed, because, .. } = part;
            let runs = match standing - placed {
                0 => String::new(),
                running => format!(" ({running} of them running)"),
            };
            let fit = if *standing == 1 { "fits" } else { "fit" };
            match because.as_ref().map(|group| (limit(group), group)) {
                Some((Some(limit), _)) => {
                    format!("{standing} of {all}{runs} {fit} {limit}; {field} is {least}")
                }
                Some((None, group)) => {
                    let reason = plain(group);
                    let others = if *standing == 0 { "" } else { "the others: " };
                    format!("{standing} of {all}{runs} {fit}; {field} is {least} ({others}{reason})")
                }
                None => {
                    let held = match gang.pods.iter().filter(|pod| tally::is_held(pod)).count() {
                        0 => String::new(),
                        held => format!(" ({held} held back)"),
                    };
                    format!("{standing} of {all}{runs} {fit}; {field} is {least}{held}")
                }
            }
        }
    }
}

/// Returns the limit that keeps pods from being placed, if a limit does.
fn limit(group: &Unplaced) -> Option<String> {
    if group.rule != Rule::Limits.to_string() {
        return None;
    }
    if group.because.starts_with("the NodeFleet") {
        return Some("the limits of the NodeFleet".to_owned());
    }
    let pool = group.nearest.as_ref()?.strip_prefix("pool `")?.split('`').next()?;
    Some(format!("the limit of pool {pool}"))
}

fn plain(Unplaced { rule, because, .. }: &Unplaced) -> String {
    match because.starts_with(&format!("`{rule}` ")) || rule == &Rule::Limits.to_string() {
        true => because.clone(),
        false => format!("{rule}: {because}"),
    }
}

/// Describes the outcome of one gang by name, for the detailed report.
fn detail(gang: &Gang<'_>, out: &Out) -> String {
    match out {
        Out::Undeclared => format!("{gang}: not in the input"),
        Out::TooFew => format!("{gang}: too few pods"),
        Out::InPart(Part { because: Some(group), .. }) => format!("{gang}: {}", plain(group)),
        Out::InPart(Part { because: None, .. }) => format!("{gang}: too few of its pods fit"),
    }
}

impl Tally<'_> {
    /// Returns the gangs whose pending pods are not placed because others are missing: withheld gangs, and gangs
    /// without any placed pod. Each comes with these pods and the reason.
    fn waiting(&self, out: &BTreeMap<usize, Out>) -> Vec<(usize, Vec<PodKey>, Out)> {
        let mut waiting = Vec::new();
        for (place, gang) in self.gangs().iter().enumerate() {
            let without = match out.get(&place) {
                Some(out) => Some(out.clone()),
                None => self.part(gang).map(Out::InPart),
            };
            let Some(without) = without else { continue };
            let is_taken_out = out.contains_key(&place);
            let pods = tally::unbound(gang, self.leaving())
                .filter(|pod| !tally::is_held(pod) && (is_taken_out || self.is_unplaced(&pod.key)));
            let pods: Vec<PodKey> = pods.map(|pod| pod.key.clone()).collect();
            if !pods.is_empty() {
                waiting.push((place, pods, without));
            }
        }
        waiting
    }
}
