//! Rules between pods on one node, asked of a node that is yet to be made: only its daemonsets' pods are there.
//!
//! Nothing is placed here.

use crate::model::{LabelKey, Node};
use crate::solve::demand::Ask;
use crate::solve::existing::Standing;
use crate::solve::fit::company::{self, Company, HostRole, HostRule};
use crate::solve::fit::{Miss, Rule};
use crate::solve::replicas;

/// Why pods are not where they have to be though they may, and there is room.
const LATE: &str = "others come first there, or rules between pods keep it from there";

/// Says whether a pod may stand on a new node beside these pods of daemonsets.
///
/// # Errors
/// The first rule that says no.
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

/// Names the node that comes closest of those where pods are that such a pod has to share a node with.
#[must_use]
pub fn nearest_host(ask: &Ask, nodes: &[Standing<'_>]) -> Option<String> {
    let role = ask.company.iter().find(|role| is_led(role, nodes))?;
    hosts(role, nodes).min_by_key(|host| turn(host, ask)).map(titled)
}

/// Says where the pods are that such a pod has to share a node with, and what keeps it from there; nothing where it need
/// not. `ask` is what the pod itself asks for, and `led_by` the label by which rules between pods led it elsewhere.
#[must_use]
pub fn kept_from_others(ask: &Ask, nodes: &[Standing<'_>], led_by: &LabelKey) -> Option<String> {
    let role = ask.company.iter().find(|role| is_led(role, nodes))?;
    Some(beside(ask, role, nodes, &format!("rules between pods over `{led_by}` keep it from there")))
}

/// Names a node for people: what is made for the number that its pool asks for has no name yet.
#[must_use]
pub fn titled(standing: &Standing<'_>) -> String {
    let Node { name, pool, .. } = standing.node;
    match pool {
        Some(pool) if replicas::is_imagined(name) => format!("a new node of pool `{pool}`"),
        Some(_) | None => format!("node `{name}`"),
    }
}

/// Returns whether a pod of this part has to come where others are; the first of those that mean themselves may come
/// anywhere.
fn is_led(role: &HostRole, nodes: &[Standing<'_>]) -> bool {
    role.rule == HostRule::Beside
        && role.is_bound
        && (role.counted == 0 || hosts(role, nodes).next().is_some())
}

/// Returns the nodes where pods are that are meant.
fn hosts<'n, 's>(role: &HostRole, nodes: &'n [Standing<'s>]) -> impl Iterator<Item = &'n Standing<'s>> {
    let group = role.group;
    nodes.iter().filter(move |host| !host.node.is_deleting && host.site.company.there(group).counted > 0)
}

/// Returns what sorts the node first that comes closest to taking such a pod.
fn turn<'n>(host: &'n Standing<'_>, ask: &Ask) -> (impl Ord + use<>, &'n str) {
    (host.site.why(ask).err().map(|miss| miss.distance()), host.node.name.as_str())
}

/// Says where the pods are that such a pod has to stand beside, and what keeps it from there, which is `late` where it may
/// come and there is room.
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
