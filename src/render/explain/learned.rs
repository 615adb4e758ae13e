//! Facts learned from a pool's nodes, as lines for people: where they have less than computed, and taints that others
//! set on them.

use crate::catalog::Offered;
use crate::model::{LearnedNode, PoolName, Resources};
use crate::render::line::{Line, Style};

/// Describes what nodes of a pool really had; empty if there were none. `offered` is what was computed for its class.
#[must_use]
pub fn learned(pool: &PoolName, nodes: &[LearnedNode], offered: &Offered) -> Vec<Line> {
    let own: Vec<&LearnedNode> = nodes.iter().filter(|node| node.alike.pool == *pool).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let title = Line::new(Style::Bold, "Learnt from its nodes:");
    let lines = own.into_iter().map(|node| {
        let kind = offered.types.iter().find(|kind| kind.name == node.alike.size);
        Line::new(Style::Plain, format!("  {}", said(node, kind.map(|kind| &kind.allocatable))))
    });
    [Line::blank(), title].into_iter().chain(lines).collect()
}

fn said(node: &LearnedNode, computed: Option<&Resources>) -> String {
    let LearnedNode { alike, allocatable, taints, seen, .. } = node;
    let image = alike.image.rsplit('/').next().unwrap_or_default();
    let less = allocatable.iter().filter_map(|(name, amount)| {
        let computed = computed.map(|computed| computed.get(name)).filter(|computed| *computed > amount)?;
        Some(format!("{} {name} allocatable, {} were computed", name.show(amount), name.show(computed)))
    });
    let less: Vec<String> = less.collect();
    let has = if less.is_empty() { "no less than was computed".to_owned() } else { less.join("; ") };
    let taints: Vec<String> = taints.iter().map(|taint| format!("`{taint}`")).collect();
    let tainted =
        if taints.is_empty() { String::new() } else { format!("; others add taint {}", taints.join(", ")) };
    format!("`{}` (image `{image}`, {} pods): {has}{tainted}; seen {seen:.0}", alike.size, alike.max_pods)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Alike, Effect, ResourceName, Taint};

    #[test]
    fn what_nodes_have_less_of_than_was_computed_is_said_with_taints_of_others() {
        let alike = Alike {
            pool: "general".into(),
            size: "Standard_D2s_v5".into(),
            image: "/CommunityGalleries/g/images/i/versions/1.2.3".into(),
            max_pods: 110,
        };
        let allocatable = Resources::none().with(ResourceName::Memory, 5 << 30).with(ResourceName::Cpu, 1900);
        let node = LearnedNode {
            alike,
            class_hash: "h".into(),
            allocatable,
            taints: vec![Taint::new("example.com/q", "", Effect::NoSchedule)],
            seen: "2026-01-01T00:00:00Z".parse().expect("a time"),
        };
        let computed = Resources::none().with(ResourceName::Memory, 6 << 30).with(ResourceName::Cpu, 1900);
        assert_eq!(
            said(&node, Some(&computed)),
            "`Standard_D2s_v5` (image `1.2.3`, 110 pods): 5Gi memory allocatable, 6Gi were computed; others add taint \
             `example.com/q:NoSchedule`; seen 2026-01-01T00:00:00Z"
        );
        assert!(said(&node, None).contains("no less than was computed"));
        assert_eq!(learned(&"other".into(), &[node], &Offered::default()).len(), 0);
    }
}
