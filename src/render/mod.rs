//! Text output: a plan for the terminal, for a pull request and as JSON, a catalogue as a table and as a document.
//!
//! A plan's text is derived from the plan alone, so a saved plan shows the same as a fresh one. This module never
//! prints, never colours and never decides; `cli` turns styles into colours.

pub mod catalog;
pub mod claims;
pub mod comparison;
pub mod difference;
pub mod escape;
pub mod explain;
pub mod fleet;
pub mod gate;
mod handling;
pub mod html;
pub mod line;
pub mod markdown;
pub mod money;
pub mod names;
mod page;
pub mod patch;
pub mod proposal;
pub mod requests;
mod section;
pub mod table;
pub mod terminal;
pub mod tf_json;
pub mod view;
mod withheld;
pub mod words;
pub mod wrap;

pub use claims::plan_yaml;
pub use comparison::comparison_text;
pub use difference::snapshot_difference;
pub use fleet::{plan_graph, plan_graph_markdown};
pub use handling::handling_lines;
pub use html::plan_html;
pub use line::{Line, Span, Style, plain_text};
pub use markdown::{plan_check_first, plan_markdown, plan_markdown_whole};
pub use names::plan_names;
pub use page::pending::without_node;
pub use patch::{Patch, SideText, patches};
pub use terminal::{Detail, plan_text};
pub use tf_json::plan_tf_json;
pub use view::PlanView;

use crate::plan::Plan;

/// Returns the plan as JSON: the text of its file.
#[must_use]
pub fn plan_json(plan: &Plan) -> String {
    crate::plan::file::write(plan)
}

#[cfg(test)]
mod tests;
