//! Checks rules between pods on one node for a node that is yet to be created: only its DaemonSet pods are there.
//!
//! Never places a pod.

use crate::model::{LabelKey, Node};
use crate::solve::demand::Ask;
use crate::solve::existing::Standing;
use crate::solve::fit::company::{self, Company, HostRole, HostRule};
use crate::solve::fit::{Miss, Rule};
use crate::solve::replicas;

/// Reason for a pod that is not beside its required pods although its node takes it.
const LATE: &str = "others come first there, or rules between pods keep it from there";

/// Checks whether a pod may be on a new node beside these DaemonSet pods.
///
/// # Errors
/// The first rule that refuses.
pub fn why(ask: &Ask, company: &Company, nodes: &[Standing<'_>]) -> Result<(), Miss> {
    let is_alone = |role: &&HostRole| company.there(role.group).counted == 0 && is_led(role, nodes);
    if let Some(role) = ask.company.iter().find(is_alone) {
        return Err(Miss::new(Rule::PodAffinity, beside(ask, role, nodes, LATE)));
    }
    let others: Vec<HostRole> =
        ask.company.iter().filter(|role| role.rule != HostRule::Beside).copied().collect();
    company::why(&others, company).map_err(|miss| match company.is_empty() {
        true => miss,
        false => {
            Miss { because: format!("{}; pods of daemonsets come with a new node", miss.because), ..miss }
        }
    })
}

/// Returns the nearest miss among the nodes with pods that such a pod must share a node with.
#[must_use]
pub fn nearest_host(ask: &Ask, nodes: &[Standing<'_>]) -> Option<String> {
    let role = ask.company.iter().find(|role| is_led(role, nodes))?;
    hosts(role, nodes).min_by_key(|host| turn(host, ask)).map(titled)
}

/// Explains where the pods are that such a pod must share a node with, and what keeps it from them; `None` if it need
/// not. `ask` is what the pod itself requests, and `led_by` the label by which rules between pods led it elsewhere.
#[must_use]
pub fn kept_from_others(ask: &Ask, nodes: &[Standing<'_>], led_by: &LabelKey) -> Option<String> {
    let role = ask.company.iter().find(|role| is_led(role, nodes))?;
    Some(beside(ask, role, nodes, &format!("rules between pods over `{led_by}` keep it from there")))
}

/// Returns a node's display name: imagined nodes of static pools have no name yet.
#[must_use]
pub fn titled(standing: &Standing<'_>) -> String {
    let Node { name, pool, .. } = standing.node;
    match pool {
        Some(pool) if replicas::is_imagined(name) => format!("a new node of pool `{pool}`"),
        Some(_) | None => format!("node `{name}`"),
    }
}

/// Returns whether a pod with this role must be placed where others are; the first of pods that match themselves may be
/// placed anywhere.
fn is_led(role: &HostRole, nodes: &[Standing<'_>]) -> bool {
    role.rule == HostRule::Beside
        && role.is_bound
        && (role.counted == 0 || hosts(role, nodes).next().is_some())
}

/// Returns the nodes that have matching pods.
fn hosts<'n, 's>(role: &HostRole, nodes: &'n [Standing<'s>]) -> impl Iterator<Item = &'n Standing<'s>> {
    let group = role.group;
    nodes.iter().filter(move |host| !host.node.is_deleting && host.site.company.there(group).counted > 0)
}

/// Returns a sort key that puts the node first that comes closest to taking such a pod.
fn turn<'n>(host: &'n Standing<'_>, ask: &Ask) -> (impl Ord + use<>, &'n str) {
    (host.site.why(ask).err().map(|miss| miss.distance()), host.node.name.as_str())
}

/// Explains where the pods are that such a pod must be beside, and what keeps it from them: `late` if the node takes
/// it.
fn beside(ask: &Ask, role: &HostRole, nodes: &[Standing<'_>], late: &str) -> String {
    let hosts: Vec<&Standing<'_>> = hosts(role, nodes).collect();
    let Some(nearest) = hosts.iter().min_by_key(|host| turn(host, ask)) else {
        let because =
            "it has to share a node with pods that are on no node that is kept, and no new node fits both";
        return because.to_owned();
    };
    let (only, none) = match hosts.len() {
        1 => (format!("{} has", titled(nearest)), "that has no place for it".to_owned()),
        count => {
            (format!("{count} nodes have"), format!("the nearest, {}, has no place for it", titled(nearest)))
        }
    };
    let because = match nearest.site.why(ask) {
        Ok(_) => late.to_owned(),
        Err(miss) => miss.because,
    };
    format!("it has to share a node with pods that only {only}, and {none}: {because}")
}
