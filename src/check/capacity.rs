//! Capacity: running pods, daemonsets still to come and placed pods fit on the node together.

use super::case::{Case, Site};
use super::finding::{Finding, Rule};
use crate::model::Resources;

/// Returns the nodes that are over capacity.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    case.sites.iter().filter(|site| !site.pods.is_empty()).flat_map(of_site).collect()
}

/// Returns the resources of a node that are over capacity.
pub(super) fn of_site(site: &Site<'_>) -> Vec<Finding> {
    let placed = sum(site.pods.iter().map(|pod| &pod.spec.requests));
    let running = sum(site.running.iter().map(|pod| &pod.spec.requests));
    let daemons = sum(site.daemons.iter().map(|daemon| &daemon.spec.requests));
    let mut found = Vec::new();
    for (name, asked) in placed.iter().filter(|(_, asked)| *asked > 0) {
        let (room, running, daemons) = (site.allocatable.get(name), running.get(name), daemons.get(name));
        // Sums of untrusted 64-bit amounts use 128 bits to avoid overflow.
        let wanted = i128::from(asked) + i128::from(running) + i128::from(daemons);
        if wanted > i128::from(room) {
            let message = format!(
                "{name}: the placed pods ask for {}, what runs there for {}, daemonsets to come for {}, \
                 there is room for {}",
                name.show(asked),
                name.show(running),
                name.show(daemons),
                name.show(room),
            );
            found.push(Finding::new(Rule::Capacity, site.title.clone(), message));
        }
    }
    found
}

fn sum<'a>(all: impl Iterator<Item = &'a Resources>) -> Resources {
    let mut sum = Resources::none();
    for one in all {
        sum.add(one);
    }
    sum
}
