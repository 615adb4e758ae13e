//! Nodes of a fleet as rows with bars: the view of `nodeform top`, and a plan's graph in `show --graph`.
//!
//! ```text
//!  snapshot, prices ──▶ rows ─┐
//!  NodeFleet, NodePlans ─▶ said ─┼─▶ Fleet ─▶ page (of a size, with a cursor) ─▶ lines
//!  NodeClaims, Nodes ────────┘           └─▶ detail of one node
//! ```
//!
//! Values in, lines out: nothing is read, and no clock is used here. Must never show an unknown value as 0.

pub mod bar;
pub mod cursor;
mod detail;
mod fit;
pub mod graph;
mod head;
pub mod page;
mod row;
pub mod said;
mod shares;
mod table;
mod world;

pub use cursor::{Cursor, Key, Step};
pub use graph::{plan_graph, plan_graph_markdown};
pub use page::{fleet_page, fleet_text};
pub use row::{PodRow, Row, Stage, Use};
pub use said::{Planned, Said};
pub use world::{Fleet, Seen, fleet};

#[cfg(test)]
mod tests;
