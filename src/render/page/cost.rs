//! Cost of the fleet before and after, and what the sum includes.

use super::{preferences, question};
use crate::model::{Node, label};
use crate::plan::at_most;
use crate::render::line::{Line, Style};
use crate::render::money;
use crate::render::view::PlanView;
use crate::render::words::count;

/// Maximum number of causes in a line; the rest is counted.
const NAMES_IN_LINE: usize = 3;

/// Returns the sentence about cost, then its details.
pub(crate) fn cost(view: &PlanView<'_>) -> Vec<Line> {
    let report = &view.plan.evidence.report;
    let (before, after) = (report.cost_before, report.cost_after);
    let unpriced_new =
        view.new_nodes().filter(|node| node.placement.effective_price.known().is_none()).count();
    let mut change = money::change(before, after, unpriced_new);
    if question::is_what_if(view.plan) {
        change = change.replacen(" will ", " would ", 1);
    }
    let mut lines = vec![Line::new(Style::Plain, change)];
    let at_most = at_most(view.plan).and_then(|most| money::up_to(after, most));
    let headroom = report.headroom.map(money::headroom);
    let honoring = report.honoring.as_ref().map(money::honoring);
    let plain = at_most.into_iter().chain(headroom).chain(honoring);
    lines.extend(plain.map(|text| Line::new(Style::Plain, text)));
    let prices = &view.plan.evidence.world.fleet.prices;
    let asides = [money::list_change(before, after, prices), money::commitments(prices)];
    let slack = report.slack.map(money::slack);
    let preferences = preferences::cost(view);
    let bound = report.bound.map(|bound| money::bound(after, bound));
    let asides = asides.into_iter().flatten().chain(slack).chain(preferences).chain(bound);
    lines.extend(asides.map(|text| Line::new(Style::Dim, text)));
    lines.extend(unpriced(view));
    lines
}

/// Reports how many nodes are in no sum, and why.
fn unpriced(view: &PlanView<'_>) -> Vec<Line> {
    let report = &view.plan.evidence.report;
    let (before, after) = (report.cost_before.unpriced_nodes, report.cost_after.unpriced_nodes);
    let nodes = before.max(after);
    if nodes == 0 {
        return Vec::new();
    }
    let nodes = count(nodes, "node");
    let text = format!("The price of {nodes} is not known and in no sum ({before} before, {after} after)");
    let mut lines = vec![Line::new(Style::Warning, text)];
    let why = why_unpriced(view);
    let more = why.len().saturating_sub(NAMES_IN_LINE);
    let mut shown: Vec<String> = why.into_iter().take(NAMES_IN_LINE).collect();
    shown.extend((more > 0).then(|| format!("{more} more")));
    if !shown.is_empty() {
        lines.push(Line::new(Style::Warning, format!("  {}", shown.join("; "))));
    }
    lines
}

/// Explains why existing nodes have no price.
fn why_unpriced(view: &PlanView<'_>) -> Vec<String> {
    let world = &view.plan.evidence.world;
    let has_no_price = |size: &str| {
        let mut prices = world.prices.iter().filter(|vm| vm.size.as_str() == size);
        prices.any(|vm| vm.price.known().is_none())
    };
    let why = |node: &Node| match node.labels.get(label::INSTANCE_TYPE) {
        None => Some(format!("node `{}` has no label `{}`", node.name, label::INSTANCE_TYPE)),
        Some(size) if has_no_price(size) => {
            Some(format!("no price is known of size `{size}` of node `{}`", node.name))
        }
        Some(_) => None,
    };
    let absent = world.absent.iter().map(|absent| &absent.node);
    world.nodes.iter().chain(absent).filter_map(why).collect()
}
