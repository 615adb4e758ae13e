//! Bundles followers with leaders: each leader takes along as many of the pods that must be beside it as fit on one
//! node with it.
//!
//! Leaders and followers are taken in the order of their shapes. Never places pods: a follower without a leader is
//! barred, or left to be placed beside running pods.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::model::{PodKey, Requirements};
use crate::solve::demand::{Demand, Shape};
use crate::solve::fit::company::Tally;
use crate::solve::topology::Topology;
use crate::solve::topology::group::{Group, GroupKind};

use super::one::{Counts, fits};
use super::{Party, Riders, Seated, World, add, bar, most, taken};

/// Followers of one shape that wait for a leader.
struct Line {
    shape: usize,
    pods: VecDeque<PodKey>,
}

/// Bundles followers with pending leaders: one leader and as many followers as fit per bundle. Followers that fit
/// beside running pods are left for that, and the leaders are sent to other nodes.
pub(super) fn behind_leaders(demand: &mut Demand, riders: &mut Riders, party: &Party, world: World<'_>) {
    let mut leaders: VecDeque<(usize, PodKey)> = taken(demand, &party.leaders).into();
    let mut lines: Vec<Line> = party
        .bound
        .iter()
        .map(|shape| Line { shape: *shape, pods: std::mem::take(&mut demand.shapes[*shape].pods).into() })
        .collect();
    if let Some(Seated { pods, elsewhere }) = &party.seated {
        for line in &mut lines {
            let room = pods.get(&line.shape).copied().unwrap_or_default().min(line.pods.len());
            demand.shapes[line.shape].pods.extend(line.pods.drain(..room));
        }
        leaders = sent(demand, leaders, elsewhere).into();
    }
    let shapes: BTreeSet<usize> = leaders.iter().map(|(shape, _)| *shape).collect();
    // By leader shape: how many followers of each line the last leader took, and how many there were.
    let mut known: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    while lines.iter().any(|line| !line.pods.is_empty()) {
        let Some(leader) = leaders.pop_front() else { break };
        let counts = match known.get(&leader.0).filter(|before| is_same(before, &lines)) {
            Some(before) => before.iter().map(|(count, _)| *count).collect(),
            None => led(demand, leader.0, &lines, world),
        };
        let there = lines.iter().map(|line| line.pods.len());
        known.insert(leader.0, counts.iter().copied().zip(there).collect());
        let mut pods = vec![leader];
        for (line, count) in lines.iter_mut().zip(counts) {
            let shape = line.shape;
            pods.extend(line.pods.drain(..count).map(|pod| (shape, pod)));
        }
        add(demand, riders, &pods, world);
    }
    for (shape, pod) in leaders {
        demand.shapes[shape].pods.push(pod);
    }
    for Line { shape, pods } in lines.into_iter().filter(|line| !line.pods.is_empty()) {
        if party.seated.is_some() {
            // The ordinary rules explain why they do not fit beside running pods.
            demand.shapes[shape].pods.extend(pods);
            continue;
        }
        let because = because(demand, &shapes, shape, world);
        let pods: Vec<(usize, PodKey)> = pods.into_iter().map(|pod| (shape, pod)).collect();
        bar(demand, &pods, because);
    }
}

/// Returns how many followers of each line fit on one node with a leader of a shape, the first lines first.
fn led(demand: &Demand, leader: usize, lines: &[Line], world: World<'_>) -> Vec<usize> {
    let holds =
        |counts: &Counts| may_begin(demand, counts, world.topology) && fits(demand, counts, world).is_some();
    let mut counts = Counts::from([(leader, 1)]);
    let of_line = |line: &Line| {
        let with = |count: usize| {
            let mut counts = counts.clone();
            *counts.entry(line.shape).or_default() += count;
            counts
        };
        let count = most(line.pods.len(), |count| holds(&with(count)));
        if count > 0 {
            counts = with(count);
        }
        count
    };
    lines.iter().map(of_line).collect()
}

/// Returns whether these pods may be the first in their domains: spreads allow more only later.
fn may_begin(demand: &Demand, counts: &Counts, topology: &Topology) -> bool {
    let mut there: BTreeMap<usize, Tally> = BTreeMap::new();
    for (shape, count) in counts {
        for role in &demand.shapes[*shape].roles {
            there.entry(role.group).or_default().add(role.is_bound, role.counted, *count);
        }
    }
    there.into_iter().all(|(group, there)| match &topology.groups[group].kind {
        GroupKind::Spread(spread) => there.bound == 0 || there.counted <= spread.max_skew.max(1),
        GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Volume(_) => true,
    })
}

/// Returns whether the next leader would take the same numbers, given how many followers there were before: a leader
/// that took fewer than there were took as many as fit.
fn is_same(before: &[(usize, usize)], lines: &[Line]) -> bool {
    before.iter().zip(lines).all(|((count, there), line)| {
        let now = line.pods.len();
        now >= *count && (count < there || now == *there)
    })
}

/// Returns why no leader takes more pods of a shape; `None` if there are no leaders.
fn because(demand: &Demand, leaders: &BTreeSet<usize>, shape: usize, world: World<'_>) -> Option<String> {
    let fits = |leader: &usize| fits(demand, &Counts::from([(*leader, 1), (shape, 1)]), world).is_some();
    match leaders.iter().any(fits) {
        _ if leaders.is_empty() => None,
        true => Some(crowded(demand, leaders, shape, world)),
        false => Some("it fits on no node with one of those that it has to stand beside".to_owned()),
    }
}

/// Describes what keeps more pods of a shape from the leaders' nodes: one of their spreads if it alone does, else
/// capacity.
fn crowded(demand: &Demand, leaders: &BTreeSet<usize>, shape: usize, world: World<'_>) -> String {
    let roles = demand.shapes[shape].roles.iter().filter(|role| role.is_bound && role.counted > 0);
    let spread = roles.filter_map(|role| {
        let Group { key, kind: GroupKind::Spread(spread), .. } = &world.topology.groups[role.group] else {
            return None;
        };
        Some((key, spread.max_skew.max(1)))
    });
    let has_room = |count: usize| {
        let with = |leader: &usize| fits(demand, &Counts::from([(*leader, 1), (shape, count)]), world);
        leaders.iter().any(|leader| with(leader).is_some())
    };
    match spread.min_by_key(|(_, skew)| *skew).filter(|(_, skew)| has_room(skew + 1)) {
        Some((key, skew)) => format!(
            "it has to share a node with others that wait, and its spread over `{key}` (maxSkew {skew}) lets no more of its \
             workload come to where those are while another domain has none"
        ),
        None => "each of those that it has to stand beside has as many pods beside it as may share its node"
            .to_owned(),
    }
}

/// Restricts pods to other nodes (`elsewhere`), as new shapes.
fn sent(
    demand: &mut Demand,
    pods: impl IntoIterator<Item = (usize, PodKey)>,
    elsewhere: &Requirements,
) -> Vec<(usize, PodKey)> {
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut sent = |(place, pod): (usize, PodKey)| {
        let place = *places.entry(place).or_insert_with(|| {
            let mut shape = Shape { pods: Vec::new(), ..demand.shapes[place].clone() };
            shape.ask.alternatives.iter_mut().for_each(|way| way.add_all(elsewhere));
            demand.shapes.push(shape);
            demand.shapes.len() - 1
        });
        (place, pod)
    };
    pods.into_iter().map(&mut sent).collect()
}
