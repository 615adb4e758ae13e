//! Sizes that a pool may use, and prices of a size by region, as lines for people.

use super::{by_hour, in_zone};
use crate::model::{Price, ResourceName, SkuName, Zone};
use crate::render::line::{Line, Style};
use crate::render::words::count;
use crate::solve::explain::PoolExplanation;
use crate::solve::explain::pool::LimitUse;

/// Maximum number of sizes listed.
const WAYS_MAX: usize = 8;

/// Describes the sizes that a pool may use.
#[must_use]
pub fn pool(explanation: &PoolExplanation) -> Vec<Line> {
    let PoolExplanation { pool, unused, conflict: _, offered, steps, ways, limits, nodes: (there, made) } =
        explanation;
    let mut lines = vec![Line::new(Style::Bold, format!("pool `{pool}` {}", said(explanation)))];
    let plain = |text: String| Line::new(Style::Plain, text);
    lines.push(plain(format!(
        "  has {} today, and {} in this plan",
        count(*there, "node"),
        count(*made, "new one")
    )));
    if unused.is_some() {
        return lines;
    }
    lines.push(Line::blank());
    lines.extend(excluding_requirements(*offered, steps));
    if !ways.is_empty() {
        lines.push(Line::blank());
        lines.push(Line::new(Style::Bold, "Cheapest, for pods that fit:"));
        let width = ways.iter().take(WAYS_MAX).map(|way| way.size.as_str().len() + 2).max().unwrap_or(0);
        for way in ways.iter().take(WAYS_MAX) {
            let named = if way.needs_name { "; only for pods that name it" } else { "" };
            let size = format!("`{}`", way.size);
            lines.push(plain(format!(
                "  {size:<width$}  {}{}, {}{named}",
                by_hour(way.price),
                in_zone(&way.zone),
                way.capacity_type
            )));
        }
        if let Some(more) = ways.len().checked_sub(WAYS_MAX).filter(|more| *more > 0) {
            lines.push(Line::new(Style::Dim, format!("  and {}", count(more, "more size"))));
        }
    }
    lines.extend(limit_lines(limits));
    lines
}

/// Returns a line for each requirement that excludes sizes, with how many are left.
fn excluding_requirements(offered: usize, steps: &[(String, usize)]) -> Vec<Line> {
    let before = [offered].into_iter().chain(steps.iter().map(|(_, left)| *left));
    let excluding = steps.iter().zip(before).filter(|((_, left), before)| *left == 0 || left != before);
    let excluding: Vec<&(String, usize)> = excluding.map(|(step, _)| step).collect();
    let of_class = "sizes that its AKSNodeClass allows";
    let texts = excluding.iter().map(|(text, _)| text.as_str()).chain([of_class]);
    let width = texts.map(|text| text.chars().count()).max().unwrap_or(0).min(64);
    let line = |style: Style, text: &str, left: usize| {
        Line::new(style, format!("  {text:<width$}  {} left", count(left, "size")))
    };
    let head = Line::new(Style::Bold, "Requirement by requirement:");
    let rows = excluding
        .into_iter()
        .map(|(text, left)| line(if *left == 0 { Style::Remove } else { Style::Plain }, text, *left));
    [head, line(Style::Plain, of_class, offered)].into_iter().chain(rows).collect()
}

fn said(explanation: &PoolExplanation) -> String {
    let cheapest = explanation.ways.iter().find(|way| way.price.known().is_some());
    match (&explanation.unused, &explanation.conflict, cheapest) {
        (Some(because), _, _) => because.clone(),
        (None, Some(because), _) => format!("can buy nothing: {because}"),
        (None, None, _) if explanation.ways.is_empty() => "can buy nothing".to_owned(),
        (None, None, Some(way)) => {
            format!("can buy {}, from {}", count(explanation.ways.len(), "size"), by_hour(way.price))
        }
        (None, None, None) => {
            format!("can buy {}, none of a known price", count(explanation.ways.len(), "size"))
        }
    }
}

fn limit_lines(limits: &[LimitUse]) -> Vec<Line> {
    let mut lines = vec![Line::blank()];
    if limits.is_empty() {
        lines.push(Line::new(Style::Plain, "It has no limits."));
        return lines;
    }
    lines.push(Line::new(Style::Bold, "Limits, with nodes that exist and new ones:"));
    for LimitUse { what, now, planned, most } in limits {
        let show = |amount: i64| what.as_ref().map_or(amount.to_string(), |name| name.show(amount));
        let name = what.as_ref().map_or("nodes", ResourceName::as_str);
        let full = if planned >= most { ": nothing is left" } else { "" };
        lines.push(Line::new(
            Style::Plain,
            format!(
                "  {name}: {} now, {} planned, {} at most{full}",
                show(*now),
                show(*planned),
                show(*most)
            ),
        ));
    }
    lines
}

/// Price of a size in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InRegion {
    /// The region.
    pub region: String,
    /// Zones and price, if it is sold there.
    pub sold: Option<(Vec<Zone>, Price)>,
}

/// Lists the prices of a size by region, the cheapest first; regions that do not sell it are counted.
#[must_use]
pub fn size_in_regions(size: &SkuName, regions: &[InRegion]) -> Vec<Line> {
    let mut sold: Vec<(&str, usize, Price)> = regions
        .iter()
        .filter_map(|one| one.sold.as_ref().map(|(zones, price)| (one.region.as_str(), zones.len(), *price)))
        .collect();
    sold.sort_by_key(|(region, _, price)| (price.known().is_none(), price.known(), *region));
    let mut lines =
        vec![Line::blank(), Line::new(Style::Bold, format!("`{size}` region by region, on demand:"))];
    let width = sold.iter().map(|(region, ..)| region.len()).max().unwrap_or(0);
    for (region, zones, price) in &sold {
        let zones = if *zones == 0 { "regional (no zone)".to_owned() } else { count(*zones, "zone") };
        lines.push(Line::new(Style::Plain, format!("  {region:<width$}  {:>11}  {zones}", by_hour(*price))));
    }
    let absent = regions.len() - sold.len();
    if absent > 0 {
        lines.push(Line::new(Style::Dim, format!("  not sold in {}", count(absent, "other region"))));
    }
    lines
}
