//! Nodes that are kept although they could be deleted, and nodes already being deleted.

use std::collections::BTreeMap;

use crate::model::{ChangeClass, DisruptionReason, NodeName};
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;
use crate::render::words::{count, some, verb};

/// Lists nodes already being deleted and nodes that are kept although they could be deleted: first those that budgets
/// hold, then those that the solution keeps.
pub(crate) fn nodes_that_stay(view: &PlanView<'_>, names: usize) -> Vec<Line> {
    let evidence = &view.plan.evidence;
    let mut held: BTreeMap<(&str, ChangeClass, Option<DisruptionReason>), Vec<&NodeName>> = BTreeMap::new();
    for change in &evidence.held {
        held.entry((&change.because, change.class, change.reason)).or_default().push(&change.node);
    }
    let mut staying: BTreeMap<&str, Vec<&NodeName>> = BTreeMap::new();
    for (node, because) in &evidence.report.staying {
        staying.entry(because).or_default().push(node);
    }
    let goes = |node: &NodeName| view.plan.spec.deletes().any(|(_, delete)| delete.target.node == *node);
    let leaving = evidence.world.nodes.iter().filter(|node| node.is_deleting && !goes(&node.name));
    let leaving: Vec<&NodeName> = leaving.map(|node| &node.name).collect();
    let leaving = (!leaving.is_empty()).then(|| {
        let is = verb(leaving.len(), "is", "are");
        let who = some(&leaving, names);
        // Offline it is unknown whether a controller drains them, and nothing could be done about it.
        let way_out = view.plan.spec.execution.as_ref().and(leaving.first()).map_or(String::new(), |node| {
            format!(
                " (without a controller, drain and delete it by `nodeform plan --live --destroy --target node/{node}`)"
            )
        });
        format!("  {} {is} leaving already: {who}{way_out}", count(leaving.len(), "node"))
    });
    let held = held.into_iter().map(|((because, class, reason), nodes)| {
        let (all, who) = (count(nodes.len(), "node"), some(&nodes, names));
        match reason {
            Some(reason) => {
                let reason = match reason == DisruptionReason::Destroyed {
                    true => "to be destroyed".to_owned(),
                    false => reason.to_string().to_lowercase(),
                };
                format!("  {all} kept for now although {reason}: {who} ({because})")
            }
            None => {
                format!("  {all} {} for `{class}`: {who} ({because})", verb(nodes.len(), "waits", "wait"))
            }
        }
    });
    let staying = staying.into_iter().map(|(because, nodes)| {
        let because = if nodes.len() == 1 { because.to_owned() } else { of_several(because) };
        format!("  {} kept: {} ({because})", count(nodes.len(), "node"), some(&nodes, names))
    });
    leaving.into_iter().chain(held).chain(staying).map(|text| Line::new(Style::Plain, text)).collect()
}

/// Puts a sentence about one node into the plural.
fn of_several(because: &str) -> String {
    const FORMS: [(&str, &str); 9] = [
        ("Karpenter created it", "Karpenter created them"),
        ("its VM has ", "their VMs have "),
        ("its VM was ", "their VMs were "),
        ("it is one too many", "they are too many"),
        ("it is ", "they are "),
        ("it has ", "they have "),
        ("it belongs ", "they belong "),
        ("its pool ", "their pool "),
        ("its pod ", "their pod "),
    ];
    let form = FORMS.into_iter().find_map(|(one, many)| Some((many, because.strip_prefix(one)?)));
    let text = form.map_or_else(|| because.to_owned(), |(many, rest)| format!("{many}{rest}"));
    const INSIDE: [(&str, &str); 7] = [
        ("cannot adopt it yet", "cannot adopt them yet"),
        ("; it is ", "; they are "),
        (": adopt it first", ": adopt them first"),
        (": its NodeClaim says", ": their NodeClaims say"),
        (", and it is one too many", ", and they are too many"),
        ("; but its pods have", "; but their pods have"),
        ("created in its place, and its pool", "created in their place, and their pool"),
    ];
    INSIDE.into_iter().fold(text, |text, (one, many)| text.replace(one, many))
}
