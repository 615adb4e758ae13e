//! A last look at the target: what the domains really come to, once nodes are known.
//!
//! Pods that were promised a domain may have found no room, and nodes made for others may open a domain that makes
//! the rest uneven. Pods that Kubernetes would not bind then are taken off again; nothing is ever added.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::census::{Census, counts};
use super::group::{Group, GroupKind};
use super::{Role, Topology, following};
use crate::model::{LabelKey, PodKey, Requirements, Taint};
use crate::solve::demand::Demand;
use crate::solve::fit::{Miss, affinity, spread};

/// A node of the target, as groups see it.
pub struct Place<'p> {
    /// Its labels; of a new node, those that it is sure to have.
    pub labels: &'p BTreeMap<LabelKey, Arc<str>>,
    /// The same, as requirements are compared with.
    pub site: Requirements,
    /// Its taints.
    pub taints: &'p [Taint],
    /// The pods that are newly placed there.
    pub pods: &'p [PodKey],
}

/// Returns the newly placed pods that must come off, sorted. `running` counts what runs on nodes that stay.
#[must_use]
pub fn refused(
    (demand, topology): (&Demand, &Topology),
    running: &Census,
    places: &[Place<'_>],
) -> BTreeMap<PodKey, Miss> {
    let roles: BTreeMap<&PodKey, &[Role]> = demand
        .shapes
        .iter()
        .filter(|shape| !shape.roles.is_empty())
        .flat_map(|shape| shape.pods.iter().map(|pod| (pod, &*shape.roles)))
        .collect();
    let mut refused = BTreeMap::new();
    if roles.is_empty() {
        return refused;
    }
    let mut census = running.clone();
    let mut late = Late::new();
    let mut stand: Vec<(usize, &PodKey)> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        for (group, rule) in topology.groups.iter().enumerate() {
            if let GroupKind::Spread(spread) = &rule.kind
                && let Some(domain) = place.labels.get(&rule.key)
                && !rule.is_of_hosts()
                && counts((&place.site, place.taints), spread)
            {
                census.open(group, domain);
            }
        }
        for pod in place.pods.iter().filter(|pod| roles.contains_key(pod)) {
            stand.push((number, pod));
            note(&mut census, topology, (place, roles[pod]), true);
            for role in roles[pod].iter().filter(|role| !role.is_bound) {
                let group = &topology.groups[role.group];
                if let (GroupKind::Spread(spread), Some(domain)) = (&group.kind, place.labels.get(&group.key))
                    && counts((&place.site, place.taints), spread)
                {
                    *late.entry((role.group, domain)).or_default() += role.counted;
                }
            }
        }
    }
    stand.sort_by(|one, other| other.1.cmp(one.1));
    loop {
        let before = refused.len();
        let left = stand.iter().rev().filter(|(_, pod)| !refused.contains_key(*pod));
        let newcomers = left.map(|(number, pod)| (&places[*number], *pod, roles[pod]));
        let lost = following::lost(topology, running, newcomers);
        for (number, pod) in &stand {
            let (place, roles) = (&places[*number], roles[pod]);
            let is_lost = lost.contains(pod);
            if !refused.contains_key(*pod)
                && let Err(miss) = stands((&census, &late), topology, (place, roles), is_lost)
            {
                note(&mut census, topology, (place, roles), false);
                refused.insert((*pod).clone(), miss);
            }
        }
        // What came off may have made others uneven.
        if refused.len() == before {
            return refused;
        }
    }
}

fn note(census: &mut Census, topology: &Topology, (place, roles): (&Place<'_>, &[Role]), comes: bool) {
    for role in roles {
        let group = &topology.groups[role.group];
        let Some(domain) = place.labels.get(&group.key) else { continue };
        let is_seen = match &group.kind {
            GroupKind::Spread(spread) => counts((&place.site, place.taints), spread),
            GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Volume(_) => true,
        };
        if is_seen && !group.is_of_hosts() {
            if comes { census.add(*role, domain, 1) } else { census.take(*role, domain) }
        }
    }
}

/// How many newly placed pods a group counts in a domain without binding them: they may come after those it binds.
type Late<'p> = BTreeMap<(usize, &'p Arc<str>), usize>;

/// Says whether a pod may stand where it does.
fn stands(
    (census, late): (&Census, &Late<'_>),
    topology: &Topology,
    (place, roles): (&Place<'_>, &[Role]),
    is_lost: bool,
) -> Result<(), Miss> {
    for role in roles.iter().filter(|role| role.is_bound) {
        let group: &Group = &topology.groups[role.group];
        let key = group.key.as_str();
        let label = place.labels.get(&group.key);
        let domain = label.map_or("", |domain| &**domain);
        let counted = census.tally(role.group, domain).counted;
        match &group.kind {
            GroupKind::Spread(spread) => {
                let least = census.least(role.group, spread);
                let late = label.and_then(|domain| late.get(&(role.group, domain))).copied().unwrap_or(0);
                let counted = counted.saturating_sub(late);
                if domain.is_empty() || counted.saturating_sub(least) > spread.max_skew {
                    return Err(spread::miss(key, domain, (counted, least), spread.max_skew));
                }
            }
            GroupKind::Affinity if domain.is_empty() || counted == 0 || is_lost => {
                return Err(affinity::miss(key, census.anywhere(role.group)));
            }
            // Places were given out so that nothing refused stands together, and taking pods off keeps that.
            GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Volume(_) => {}
        }
    }
    Ok(())
}
