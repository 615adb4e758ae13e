//! Explains why no node of a static pool (`replicas`) takes a pod, because static pools do not grow.
//!
//! Never places a pod.

use crate::model::PoolName;
use crate::solve::demand::Shape;
use crate::solve::existing::{self, Standing};
use crate::solve::fit::company::{self, HostRole, HostRule};
use crate::solve::fit::{Miss, Rule};
use crate::solve::supply::Supply;

/// Returns the miss of the static pool that comes closest to taking a pod of the shape: that it does not grow, and why
/// its nodes do not take the pod. Returns `None` if there is no static pool, or if a node of one takes such a pod.
#[must_use]
pub fn why(supply: &Supply<'_>, nodes: &[Standing<'_>], shape: &Shape) -> Option<Miss> {
    let misses = supply.fixed.keys().filter_map(|pool| of_pool(supply, nodes, (pool, shape)));
    misses.min_by_key(Miss::distance)
}

/// Returns the miss of one static pool.
#[must_use]
pub fn of_pool(
    supply: &Supply<'_>,
    nodes: &[Standing<'_>],
    (pool, shape): (&PoolName, &Shape),
) -> Option<Miss> {
    let replicas = supply.fixed.get(pool)?;
    let head = format!("pool `{pool}` is static (`replicas: {replicas}`)");
    let is_own = |standing: &&Standing<'_>| standing.node.pool.as_ref() == Some(pool);
    let own: Vec<&Standing<'_>> =
        nodes.iter().filter(is_own).filter(|standing| !standing.node.is_deleting).collect();
    let misses = own.iter().map(|standing| existing::why(standing, shape).err());
    let misses: Vec<Miss> = misses.collect::<Option<_>>()?;
    let Some(nearest) = misses.into_iter().min_by_key(Miss::distance) else {
        return Some(Miss::new(Rule::Offerings, format!("{head} and has no node")));
    };
    let is_apart = |standing: &&Standing<'_>| {
        let company = company::why(&shape.ask.company, &standing.site.company);
        company.is_err_and(|miss| miss.rule == Rule::PodAntiAffinity)
    };
    if own.iter().all(is_apart) {
        let has = match own.len() {
            1 => "its node has".to_owned(),
            2 => "both its nodes have".to_owned(),
            count => format!("all its {count} nodes have"),
        };
        let whom =
            if is_apart_from_itself(shape) { "such a pod" } else { "a pod that it has to be apart from" };
        return Some(Miss::new(Rule::PodAntiAffinity, format!("{head} and {has} {whom}")));
    }
    let none = match own.len() {
        1 => "its node does not take it".to_owned(),
        count => format!("none of its {count} nodes takes it"),
    };
    Some(Miss { because: format!("{head}, and {none}: {}", nearest.because), ..nearest })
}

fn is_apart_from_itself(shape: &Shape) -> bool {
    let is_it = |role: &HostRole| role.rule == HostRule::Apart && role.is_bound && role.counted > 0;
    shape.ask.company.iter().any(is_it)
}
