//! A plan as `PLAN.md`: what a reviewer needs, in that order, and how to keep nodes, reject and verify.
//!
//! Derived from the plan alone, so it is the same wherever the plan's folder is. Every node to delete is listed; `spec`
//! is shown completely, its technical part last.

mod beside;
mod caution;
mod changed;
mod destroys;
mod fleet;
mod full;
mod head;
mod load;
mod made;
mod order;

use super::missing;
use crate::catalog::list_date;
use crate::model::Digest;
use crate::plan::execution::ClusterIdentity;
use crate::plan::{Evidence, Plan, file};
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::line::Line;
use crate::render::page::additions::kept;
use crate::render::page::assumptions::{assumptions, guesses};
use crate::render::page::cost::cost;
use crate::render::page::moved::{Moved, moved};
use crate::render::page::not_done::not_done;
use crate::render::page::pending::pending;
use crate::render::page::preemptions::preemptions;
use crate::render::page::{question, refused};
use crate::render::terminal::warnings;
use crate::render::view::PlanView;
use crate::render::words::count;
use crate::review::proposal::{DESTROYS, PLAN, Template};
use crate::snapshot::Gap;

/// Maximum number of kept nodes listed for each reason.
const STAYING_NAMED: usize = 10;

/// Returns the plan as Markdown with every node and pod.
#[must_use]
pub fn plan_markdown_whole(plan: &Plan, template: Template) -> String {
    let view = PlanView::new(plan, None);
    let (fleet, moved) = (fleet::Fleet::of(&view), moved(&view));
    let mut page = Page::default();
    page.line(&head::title(plan));
    page.line(&format!("**{}**", head::escaped(&head::sentences(plan, fleet.nodes_before(), &moved))));
    page.items(lines(&refused::line(plan).into_iter().chain(question::head(plan)).collect::<Vec<Line>>()));
    page.section("Check first", first(&view, &fleet, &moved));
    page.section("Not in this plan", missing(&view, Gap::clone));
    let counts = view.counts();
    page.section(&format!("Delete {}", count(counts.destroy, "node")), destroys::items(&view, &moved));
    page.section(&format!("Create {}", count(counts.add, "node")), made::items(&view));
    page.section("Update in place", changed::items(&view));
    page.text_section("Nodes before and after", fleet.nodes());
    page.text_section("Room for a failure", fleet.rooms());
    page.section("Cost", costs(&view));
    page.section("Order", order::waves(plan).into_iter().chain(order::pace(plan)).collect());
    page.section("What a revert undoes", order::revert(plan));
    page.section("On existing nodes", kept(&view).iter().map(item).collect());
    page.section("Preemption", lines(&preemptions(&view)));
    page.section("Stays Pending", lines(&pending(&view, Some(usize::MAX))));
    page.section("Not done, and held", lines(&not_done(&view, STAYING_NAMED)));
    page.section("Warnings", lines(&warnings(&view)));
    page.section("Read and assumed", lines(&assumptions(&view)));
    page.section("How to review", review(plan));
    page.section("Other settings of the new nodes", made::settings(&view));
    page.section("Ids and digests", facts(plan, template));
    page.text
}

/// Returns what to check first, the most severe first.
fn first(view: &PlanView<'_>, fleet: &fleet::Fleet<'_>, moved: &[Moved<'_>]) -> Vec<String> {
    let mut first = caution::cautions(view, fleet, moved);
    first.extend(lines(&guesses(view)));
    first
}

/// Returns what to check first, as plain text.
#[must_use]
pub fn plan_check_first(plan: &Plan) -> Vec<String> {
    let view = PlanView::new(plan, None);
    let (fleet, moved) = (fleet::Fleet::of(&view), moved(&view));
    // Names are in code spans; all other Markdown is bold, or a sign before a number.
    let plain = |text: String| text.replace("**", "").replace("\\~", "~").replace("\\$", "$");
    first(&view, &fleet, &moved).into_iter().map(plain).collect()
}

/// Returns the page's first sentences as plain text: nodes, cost, pods and expiry. They contain no names that users
/// chose.
#[must_use]
pub fn plan_sentences(plan: &Plan) -> String {
    let view = PlanView::new(plan, None);
    head::sentences(plan, plan.evidence.world.nodes.len(), &moved(&view))
}

/// The page written so far.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(&format!("{line}\n\n"));
    }

    /// Writes list items; an item that starts with spaces is nested in the previous one.
    fn items(&mut self, items: Vec<String>) {
        for item in &items {
            let inside = item.trim_start();
            let indent = &item[..item.len() - inside.len()];
            self.text.push_str(&format!("{indent}- {inside}\n"));
        }
        self.text.push_str(if items.is_empty() { "" } else { "\n" });
    }

    /// Writes a heading and a text; nothing without a text.
    fn text_section(&mut self, title: &str, text: Option<String>) {
        if let Some(text) = text {
            self.line(&format!("## {title}"));
            self.line(&text);
        }
    }

    /// Writes a heading and items; nothing without items.
    fn section(&mut self, title: &str, items: Vec<String>) {
        if !items.is_empty() {
            self.line(&format!("## {title}"));
            self.items(items);
        }
    }
}

fn item(line: &Line) -> String {
    sentence_whole(line.text().trim())
}

fn lines(lines: &[Line]) -> Vec<String> {
    lines.iter().map(item).filter(|item| !item.is_empty()).collect()
}

/// Describes the cost before and after, and the age of the prices.
fn costs(view: &PlanView<'_>) -> Vec<String> {
    let mut said = cost(view);
    said.extend(question::bill(view));
    let mut said = lines(&said);
    let Evidence { seen_at, world, .. } = &view.plan.evidence;
    said.extend(list_date(&world.catalog).map(|date| {
        let seen = seen_at.map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
        let age = seen.and_then(|seen| usize::try_from((seen - date).get_days()).ok());
        let age = age.map_or(String::new(), |days| format!(", {} old", count(days, "day")));
        format!("Price list of {}{age}", code_whole(&date.to_string()))
    }));
    said
}

/// Lists the ids and digests that identify the plan.
fn facts(plan: &Plan, template: Template) -> Vec<String> {
    let mut facts = vec![format!("Digest in short, the plan's id: {}", code_whole(&plan.id()))];
    if let Some(execution) = &plan.spec.execution {
        let ClusterIdentity { uid, id, node_resource_group, location } = &execution.cluster;
        facts.push(format!("Cluster: {}, UID {}", code_whole(id), code_whole(uid)));
        let (group, location) = (code_whole(node_resource_group), code_whole(location));
        facts.push(format!("Its nodes: resource group {group} in {location}"));
    }
    facts.extend(
        plan.evidence.seen_at.map(|at| format!("The cluster was seen at: {}", code_whole(&at.to_string()))),
    );
    facts.extend(plan.spec.expires_at.map(|at| format!("Valid until: {}", code_whole(&at.to_string()))));
    facts.push(format!("Digest: {}", code_whole(&plan.digest().to_string())));
    // The plan's digest covers its decisions; this one also covers what they were made from.
    let whole = Digest::of_bytes(file::write(plan).as_bytes());
    facts.push(format!("Digest of `{PLAN}`: {}", code_whole(&whole.to_string())));
    facts.push(template.line().trim_start_matches("- ").to_owned());
    facts
}

/// Lists what a reviewer can do.
fn review(plan: &Plan) -> Vec<String> {
    let gone = plan.spec.deletes().map(|(_, delete)| &delete.target.node).min();
    let keep = gone.map(|node| {
        let node = code_whole(&format!("nodeform narrow . --keep node/{node}"));
        format!(
            "Keep a node: {node} in the folder of this file, or delete its line of `{DESTROYS}`. New nodes that only its pods need are not created then. Without the file every node is kept."
        )
    });
    let mut items: Vec<String> = keep.into_iter().collect();
    items.push("Approve: merge it. `nodeform apply --merged` applies it once; it skips changes that are outdated by then, and stops where too many are.".to_owned());
    items.push("Reject: close it without merging, or let it expire.".to_owned());
    let but = if gone.is_some() { format!(" but a deleted line of `{DESTROYS}`") } else { String::new() };
    items.push(format!(
        "Verify, in the folder of this file: `nodeform verify .`; this page is `nodeform show {PLAN} -o md --all`. Any edit{but} \
         makes the plan invalid."
    ));
    items
}

#[cfg(test)]
mod tests;
