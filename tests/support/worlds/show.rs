//! A world in a few lines: what a failing property prints.

use std::fmt::{Debug, Formatter, Result};

use nodeform::model::disruption_budget::DisruptionBudget;
use nodeform::model::{
    Fleet, LabelKey, LabelSelector, Node, Pod, PodPlace, PodSpec, Pool, Preferred, Requirement, Requirements,
    Resources, label,
};

use super::build::World;

impl Debug for World {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let Self { snapshot, policy } = self;
        writeln!(formatter, "world at {:?}", snapshot.at)?;
        for pool in policy.pools.values() {
            writeln!(formatter, "  {}", pool_line(pool))?;
        }
        if policy.fleet != Fleet::default() {
            let Fleet { limits, prices, extra_cost, min_values_policy, holds, prefer, .. } = &policy.fleet;
            writeln!(formatter, "  limits {limits:?}, prices {prices:?}, prefers {prefer:?}")?;
            writeln!(formatter, "  preferences {extra_cost:?}, minValues {min_values_policy:?}")?;
            writeln!(formatter, "  holds {:?}", holds.classes)?;
        }
        for refusal in &snapshot.refusals {
            writeln!(formatter, "  {refusal:?}")?;
        }
        for node in &snapshot.nodes {
            writeln!(formatter, "  {}", node_line(node))?;
        }
        for DisruptionBudget { name, selector, bound, unhealthy, .. } in &snapshot.budgets {
            let of = selected(selector);
            writeln!(formatter, "  disruption budget {name} of {of}: {bound:?} {unhealthy:?}")?;
        }
        for daemon in &snapshot.daemons {
            writeln!(formatter, "  daemonset {}: {}", daemon.name, spec_line(&daemon.spec))?;
        }
        for pod in &snapshot.pods {
            writeln!(formatter, "  {}", pod_line(pod))?;
        }
        Ok(())
    }
}

fn pool_line(pool: &Pool) -> String {
    let taints: Vec<String> = pool.taints.iter().map(ToString::to_string).collect();
    let mut line = format!("pool {} weight {}: {}", pool.name, pool.weight, requirements(&pool.requirements));
    line += &format!(" labels {:?} taints {taints:?} limits {}", pool.labels, resources(&pool.limits));
    line + &format!(
        " nodes {:?} replicas {:?} deleting {} {:?} after {:?} budgets {:?}",
        pool.nodes_max,
        pool.replicas,
        pool.is_deleting,
        pool.disruption.policy,
        pool.disruption.consolidate_after,
        pool.disruption.budgets.iter().map(|budget| budget.nodes).collect::<Vec<_>>()
    )
}

fn node_line(node: &Node) -> String {
    let value = |key: &str| node.labels.get(key).map_or("-", |value| &**value).to_owned();
    let pool = node.pool.as_ref().map_or("none", |pool| pool.as_str());
    let (size, zone, kind) = (value(label::INSTANCE_TYPE), value(label::ZONE), value(label::CAPACITY_TYPE));
    let flags = [
        (node.is_unschedulable, "cordoned"),
        (node.is_do_not_disrupt, "protected"),
        (node.is_deleting, "deleting"),
        (node.claimed.drift.is_some(), "drifted"),
        (!node.taints.is_empty(), "tainted"),
    ];
    let flags: Vec<&str> = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).collect();
    format!("node {} of {pool}: {size} {zone} {kind} {:?} {flags:?}", node.name, node.stage)
}

fn pod_line(pod: &Pod) -> String {
    let place = match &pod.place {
        PodPlace::Waiting => "waits".to_owned(),
        PodPlace::Bound(node) => format!("on {node}"),
    };
    let flags = [
        (pod.is_daemon, "daemon"),
        (pod.is_do_not_disrupt, "protected"),
        (pod.is_terminating, "terminating"),
    ];
    let flags: Vec<&str> = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).collect();
    format!("pod {} {place} {flags:?}: {}", pod.key, spec_line(&pod.spec))
}

fn spec_line(spec: &PodSpec) -> String {
    let mut line = resources(&spec.requests);
    line += &format!(" select {}", requirements(&spec.node_selector));
    for term in spec.node_affinity.required.iter().flatten() {
        line += &format!(" or {}", requirements(term));
    }
    let tolerated: Vec<&str> =
        spec.tolerations.iter().map(|toleration| toleration.key.as_deref().unwrap_or("*")).collect();
    let ports: Vec<String> = spec.host_ports.iter().map(ToString::to_string).collect();
    line + &format!(
        " tolerates {tolerated:?} ports {ports:?} priority {} gates {:?} rules {:?}",
        spec.priority,
        spec.gates,
        spec.rules()
    ) + &ties(spec)
}

/// The rules between pods that a pod is bound by, and what it is counted by.
fn ties(spec: &PodSpec) -> String {
    let mut text = String::new();
    if let Some(app) = spec.labels.get(&LabelKey::new("app")) {
        text += &format!(" app {app}");
    }
    for spread in &spec.spread {
        let policies = (spread.honors_node_affinity, spread.honors_node_taints);
        text += &format!(
            " {:?} spread {} over {} by {} domains {:?} policies {policies:?}",
            spread.strength,
            selected(&spread.selector),
            spread.topology_key,
            spread.max_skew,
            spread.min_domains
        );
    }
    for (how, terms) in [("beside", &spec.affinity), ("apart from", &spec.anti_affinity)] {
        for term in terms {
            text += &format!(" {how} {} by {}", selected(&term.selector), term.topology_key);
        }
    }
    for Preferred { weight, term } in &spec.node_affinity.preferred {
        text += &format!(" prefers {} with {weight}", requirements(term));
    }
    for (how, terms) in [("beside", &spec.preferred_affinity), ("apart from", &spec.preferred_anti_affinity)]
    {
        for Preferred { weight, term } in terms {
            let others = selected(&term.selector);
            text += &format!(" prefers with {weight} {how} {others} by {}", term.topology_key);
        }
    }
    text
}

fn selected(selector: &Option<LabelSelector>) -> String {
    selector.as_ref().map_or_else(|| "nobody".to_owned(), |selector| requirements(&selector.0))
}

fn requirements(requirements: &Requirements) -> String {
    let one = |(key, requirement): (&LabelKey, &Requirement)| {
        let least = requirement.min_values().map(|least| format!(" (at least {least} values)"));
        format!("{key} {requirement}{}", least.unwrap_or_default())
    };
    let each: Vec<String> = requirements.iter().map(one).collect();
    format!("[{}]", each.join("; "))
}

fn resources(resources: &Resources) -> String {
    let each: Vec<String> =
        resources.iter().map(|(name, amount)| format!("{name} {}", name.show(amount))).collect();
    format!("({})", each.join(", "))
}
