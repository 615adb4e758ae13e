//! Explains pods that select nodes by name that are not in the input: no pool can create them.
//!
//! Never decides anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{LabelKey, Requirements, Values, label};
use crate::snapshot::Snapshot;
use crate::solve::demand::Ask;
use crate::solve::fit::{Miss, Rule};

/// Maximum number of nodes that are named.
const NAMED_MAX: usize = 3;

/// Reports that pods are tied to nodes that are not in the input; `None` if they are not tied, or one of the nodes is
/// there.
#[must_use]
pub fn to_gone(snapshot: &Snapshot, ask: &Ask) -> Option<Miss> {
    let named = |wanted: &Requirements| wanted.get(label::HOSTNAME).and_then(|names| names.listed().cloned());
    let named: Vec<Values> = ask.alternatives.iter().map(named).collect::<Option<_>>()?;
    let names: BTreeSet<&Arc<str>> = named.iter().flatten().collect();
    let is_there = |name: &Arc<str>| {
        snapshot.nodes.iter().any(|node| {
            *node.name.as_str() == **name || node.labels.get(&LabelKey::new(label::HOSTNAME)) == Some(name)
        })
    };
    if names.is_empty() || names.iter().any(|name| is_there(name)) {
        return None;
    }
    let (node, which) = if names.len() == 1 { ("node", "which is") } else { ("nodes", "which are") };
    let mut told: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED_MAX {
        told.push(format!("{} more", names.len() - NAMED_MAX));
    }
    let because = format!("tied to {node} {}, {which} not in the input", told.join(", "));
    Some(Miss::new(Rule::NodeAffinity, because))
}

#[cfg(test)]
mod tests {
    use super::{Ask, LabelKey, Requirements, label, to_gone};
    use crate::model::Requirement;
    use crate::plan::tests::world::example;

    #[test]
    fn pods_tied_to_a_node_that_is_not_there_are_told_so_and_no_others() {
        let (snapshot, ..) = example();
        let told = |wanted: Requirements| {
            let ask = Ask { alternatives: vec![wanted], ..Ask::of(&snapshot.pods[0].spec) };
            to_gone(&snapshot, &ask).map(|miss| miss.because)
        };
        let tied = |name: &str| told(Requirements::none().with(label::HOSTNAME, Requirement::one(name)));
        assert_eq!(tied("gone").as_deref(), Some("tied to node `gone`, which is not in the input"));
        assert_eq!(tied(snapshot.nodes[0].name.as_str()), None);
        assert_eq!(told(Requirements::none()), None);
        let mut anywhere = Requirements::none();
        anywhere.add(LabelKey::new(label::OS), Requirement::one("linux"));
        assert_eq!(told(anywhere), None);
    }
}
