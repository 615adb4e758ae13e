//! Reports why pods are unplaced without mentioning preferences: a fleet is planned as if preferences were required, so
//! its own reasons would mention them.

use std::collections::BTreeMap;

use crate::model::PodKey;
use crate::solve::solution::Unplaced;

use super::nearest::grouped;

/// Reason for a pod that is unplaced although it is placed if no preferences are met.
const CROWDED: &str = "others have the room, and they are where they prefer to be";

/// Gives each pod of these specs the reason from a plan without preferences, its own or that of another pod of its
/// spec.
#[must_use]
pub fn told<'p>(
    unplaced: Vec<Unplaced>,
    without: &[Unplaced],
    contents: impl IntoIterator<Item = Vec<&'p PodKey>>,
) -> Vec<Unplaced> {
    let known: BTreeMap<&PodKey, &Unplaced> =
        without.iter().flat_map(|group| group.pods.iter().map(move |pod| (pod, group))).collect();
    let mut plain: BTreeMap<&PodKey, Option<&Unplaced>> = BTreeMap::new();
    for pods in contents {
        let of_any = pods.iter().find_map(|pod| known.get(*pod).copied());
        plain.extend(pods.into_iter().map(|pod| (pod, known.get(pod).copied().or(of_any))));
    }
    let mut told = Vec::new();
    for mut group in unplaced {
        let (wishing, rest): (Vec<PodKey>, Vec<PodKey>) =
            std::mem::take(&mut group.pods).into_iter().partition(|pod| plain.contains_key(pod));
        told.extend(wishing.into_iter().map(|pod| match plain.get(&pod).copied().flatten() {
            Some(known) => Unplaced { pods: vec![pod], ..known.clone() },
            None => crowded(pod),
        }));
        if !rest.is_empty() {
            told.push(Unplaced { pods: rest, ..group });
        }
    }
    grouped(told)
}

fn crowded(pod: PodKey) -> Unplaced {
    let (rule, because) = ("preferences".to_owned(), CROWDED.to_owned());
    let details = vec![format!("{rule}: {because}")];
    Unplaced { pods: vec![pod], rule, because, nearest: None, details }
}
