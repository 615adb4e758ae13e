//! What stands beside `plan.jsonc` in a plan's folder: the page for people, and the nodes that go, one a line.

use super::markdown::plan_markdown_whole;
use super::money::{Sureness, per_month};
use super::page::removals::removed;
use super::view::PlanView;
use super::words::count;
use crate::model::{Price, label};
use crate::plan::Plan;
use crate::review::proposal::{Derived, DestroyLine, Template};

/// Returns what follows from a plan.
#[must_use]
pub fn derived(plan: &Plan) -> Derived {
    derived_by(plan, Template::NEWEST)
}

/// Returns what follows from a plan by a template.
#[must_use]
pub fn derived_by(plan: &Plan, template: Template) -> Derived {
    Derived { markdown: plan_markdown_whole(plan, template), destroys: destroys(plan) }
}

/// Returns the lines of `destroy.txt`: a YAML list, by name.
fn destroys(plan: &Plan) -> Vec<DestroyLine> {
    let view = PlanView::new(plan, None);
    let lines = removed(&view).into_iter().map(|gone| {
        let size = view.node(gone.node).and_then(|node| node.labels.get(label::INSTANCE_TYPE));
        let size = size.map_or("size not known".to_owned(), |size| plain(size));
        let price = view.price(gone.node);
        let price = price.known().map_or("price not known".to_owned(), |known| {
            per_month(known, Sureness::of(matches!(price, Price::Estimated(_))))
        });
        let pods = match view.running_on(gone.node).count() {
            0 => "no pods".to_owned(),
            pods => count(pods, "pod"),
        };
        let text = format!("- node/{}  # {size}, {price}, {pods}", plain(gone.node.as_str()));
        DestroyLine { change: gone.id.clone(), text }
    });
    lines.collect()
}

/// Names of Kubernetes and Azure are plain; whatever else stands in a file that people gave is not YAML here.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}
