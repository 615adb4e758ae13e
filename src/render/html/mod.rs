//! A plan as a single HTML file: the fleet before and after as boxes, and the same as tables.
//!
//! A pure function of the plan. The file makes no requests, whatever a plan contains: its content policy forbids
//! everything but its own style and script, by their digests. All of it is readable without the script. Must never
//! phrase anything differently from the terminal.

mod compared;
mod document;
mod draw;
mod fleet;
mod picture;
mod pods;
mod rows;
mod sections;
mod tables;
mod text;

use maud::html;

use super::comparison::summary;
use super::page::headline::headline;
use super::view::PlanView;
use document::Document;
use fleet::Fleet;
use picture::{Titles, picture};

/// Returns the plan as HTML; for two inputs side by side, the effect of the change between them.
#[must_use]
pub fn plan_html(view: &PlanView<'_>) -> String {
    let comparison = view.plan.evidence.comparison.as_ref();
    let fleet = comparison.map_or_else(|| Fleet::of(view), |comparison| compared::fleet(view, comparison));
    let picture = picture(&fleet, &Titles::of(view, &fleet));
    let world = &view.plan.evidence.world;
    let assumes_daemons = !world.nodes.is_empty() && world.daemons.iter().any(|daemon| daemon.is_assumed);
    let title = comparison.map_or_else(|| headline(view), |comparison| summary(comparison, view)).text();
    let body = html! {
        header {
            @match comparison {
                Some(comparison) => { (compared::head(view, comparison)) },
                None => { (sections::head(view)) },
            }
        }
        (document::picture(&fleet, assumes_daemons, picture.markup))
        section class="tables" aria-labelledby="nodes" {
            h2 id="nodes" { "Nodes" }
            (tables::tables(&fleet))
            (tables::pending_pods(&fleet))
        }
        @if let Some(comparison) = comparison {
            section class="rest" aria-labelledby="differences" {
                h2 id="differences" { "Differences" }
                (compared::rest(comparison))
            }
        }
        section class="rest" aria-labelledby="plan" {
            h2 id="plan" { "Plan" }
            (sections::rest(view))
        }
    };
    Document { title: &title, widths: &picture.widths, body }.text()
}

#[cfg(test)]
mod tests;
