//! Fleet before and after: nodes by pool, size and zone, and the free capacity if a node or a zone fails.

use std::collections::{BTreeMap, BTreeSet};

use super::load::{Amounts, Loaded, Loss, Room, after, before};
use crate::model::PoolName;
use crate::render::escape::{code_whole, sentence_whole};
use crate::render::page::shape::{bytes, zone_name};
use crate::render::view::PlanView;
use crate::render::words::count;

/// Header of the table of nodes.
const NODES: &str = "| Pool | Size | Zone | Nodes | Requested CPU | Requested memory |\n| --- | --- | --- | ---: | ---: | ---: |";

/// Header of the table of free capacity.
const ROOM: &str = "| Pool | Free CPU and memory | If its largest node fails | If its largest zone fails |\n| --- | --- | --- | --- |";

/// Note on how free capacity is counted.
const COUNTED: &str = "Sums of requests, not a scheduling simulation: what the pods of the largest node or zone request, against the \
    free CPU and memory of all other nodes of the pool together. Affinity, taints, volumes and node sizes are ignored.";

type Key<'a> = (Option<&'a PoolName>, &'a str, &'a str);

/// The fleet before and after.
pub(super) struct Fleet<'a> {
    before: Vec<Loaded<'a>>,
    after: Vec<Loaded<'a>>,
    /// Pools with changes.
    touched: BTreeSet<Option<&'a PoolName>>,
}

impl<'a> Fleet<'a> {
    pub(super) fn of(view: &PlanView<'a>) -> Self {
        let (before, after) = (before(view), after(view));
        let mut fleet = Self { before, after, touched: BTreeSet::new() };
        let rows = fleet.rows();
        let touched = rows.iter().filter(|(_, [before, after])| before != after);
        fleet.touched = touched.map(|((pool, _, _), _)| *pool).collect();
        fleet
    }

    /// Returns the number of nodes before.
    pub(super) fn nodes_before(&self) -> usize {
        self.before.len()
    }

    fn rows(&self) -> BTreeMap<Key<'a>, [Sum; 2]> {
        let mut rows: BTreeMap<Key<'a>, [Sum; 2]> = BTreeMap::new();
        for (place, nodes) in [&self.before, &self.after].into_iter().enumerate() {
            for node in nodes {
                rows.entry((node.pool, node.size, node.zone)).or_default()[place].add(node);
            }
        }
        rows
    }

    /// Returns the table of nodes, only of changes; `None` if nothing changes.
    pub(super) fn nodes(&self) -> Option<String> {
        let rows = self.rows();
        let mut table = NODES.to_owned();
        let (mut same, mut others) = (0, 0);
        for ((pool, size, zone), [before, after]) in &rows {
            if before == after {
                (same, others) = (same + after.nodes, others + 1);
                continue;
            }
            let share = |of: fn(Amounts) -> i64| {
                let [before, after] = [before, after].map(|sum| percent(of(sum.used), of(sum.allocatable)));
                change(&before, &after)
            };
            let zone =
                if zone.is_empty() { "not known".to_owned() } else { sentence_whole(&zone_name(zone)) };
            let cells = [
                pool_name(*pool),
                code_whole(if size.is_empty() { "not known" } else { size }),
                zone,
                change(&before.nodes.to_string(), &after.nodes.to_string()),
                share(|amounts| amounts.cpu),
                share(|amounts| amounts.memory),
            ];
            table.push_str(&format!("\n| {} |", cells.join(" | ")));
        }
        if same == rows.values().map(|[_, after]| after.nodes).sum::<usize>() && table == NODES {
            return None;
        }
        if others > 0 {
            let same = count(same, "node");
            table.push_str(&format!(
                "\n\n{same} of other pools, sizes and zones and their pods stay as they are."
            ));
        }
        Some(table)
    }

    fn room(&self, pool: Option<&PoolName>) -> [Room; 2] {
        [&self.before, &self.after].map(|nodes| {
            let own: Vec<Loaded<'_>> = nodes.iter().filter(|node| node.pool == pool).copied().collect();
            Room::of(&own)
        })
    }

    /// Returns the table of free capacity, of pools with changes; `None` if there are none.
    pub(super) fn rooms(&self) -> Option<String> {
        let mut table = ROOM.to_owned();
        for pool in &self.touched {
            let [before, after] = self.room(*pool);
            let cells = [
                pool_name(*pool),
                change(&shown(before.free), &shown(after.free)),
                outcome("node", before.node.as_ref(), after.node.as_ref()),
                outcome("zone", before.zone.as_ref(), after.zone.as_ref()),
            ];
            table.push_str(&format!("\n| {} |", cells.join(" | ")));
        }
        (!self.touched.is_empty()).then(|| format!("{table}\n\n{COUNTED}"))
    }

    /// Returns cautions: pools and zones left without nodes, and headroom that the plan removes.
    pub(super) fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        for pool in &self.touched {
            let zones = |nodes: &[Loaded<'a>]| -> BTreeSet<&'a str> {
                nodes.iter().filter(|node| node.pool == *pool).map(|node| node.zone).collect()
            };
            let (before, after) = (zones(&self.before), zones(&self.after));
            let name = pool_name(*pool);
            if after.is_empty() {
                cautions.push(format!("**No node left**: pool {name} has none afterwards."));
                continue;
            }
            let left: Vec<String> = before.difference(&after).map(|zone| code_whole(zone)).collect();
            if !left.is_empty() {
                cautions.push(format!(
                    "**Zone without nodes**: pool {name} has none in {} afterwards.",
                    left.join(", ")
                ));
            }
            let [had, has] = self.room(*pool);
            cautions.extend(lost(&name, "node", had.node.as_ref(), has.node.as_ref()));
            cautions.extend(lost(&name, "zone", had.zone.as_ref(), has.zone.as_ref()));
        }
        cautions
    }
}

/// Reports that a pool could bear the loss of a node or a zone before, and cannot afterwards.
fn lost(pool: &str, what: &str, had: Option<&Loss>, has: Option<&Loss>) -> Option<String> {
    let (had, has) = (had?, has?);
    // Without pods today there is nothing to lose.
    let is_borne = had.short().is_none() && had.needs != Amounts::default();
    let short = has.short().filter(|_| is_borne)?;
    let name = code_whole(&has.what);
    let others = if has.is_all { "there is no other" } else { "the others have no capacity for its pods" };
    Some(format!(
        "**Less headroom for a failure**: if the largest {what} of pool {pool} fails, {name}, {others} ({} missing). Today they fit.",
        missing(short)
    ))
}

/// Total requests of some nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    nodes: usize,
    used: Amounts,
    allocatable: Amounts,
}

impl Sum {
    fn add(&mut self, node: &Loaded<'_>) {
        self.nodes += 1;
        self.used = self.used.plus(node.used);
        self.allocatable = self.allocatable.plus(node.allocatable);
    }
}

fn pool_name(pool: Option<&PoolName>) -> String {
    pool.map_or("(no NodePool)".to_owned(), |pool| code_whole(pool.as_str()))
}

fn change(before: &str, after: &str) -> String {
    if before == after { before.to_owned() } else { format!("{before} → {after}") }
}

/// Formats a whole percentage; a dash if the whole is 0.
pub(super) fn percent(part: i64, whole: i64) -> String {
    let (part, whole) = (i128::from(part), i128::from(whole));
    match (part * 100 + whole / 2).checked_div(whole) {
        Some(percent) => format!("{percent} %"),
        None => "–".to_owned(),
    }
}

fn outcome(what: &str, before: Option<&Loss>, after: Option<&Loss>) -> String {
    let said = |loss: Option<&Loss>| match loss {
        None => "–".to_owned(),
        Some(loss) => match loss.short() {
            None => "pods fit elsewhere".to_owned(),
            Some(_) if loss.is_all => format!("pods stay Pending: no other {what}"),
            Some(short) => format!("**pods stay Pending**: {} missing", missing(short)),
        },
    };
    let name = after.map_or(String::new(), |loss| format!(" ({})", code_whole(&loss.what)));
    let [before, after] = [before, after].map(said);
    format!("{}{name}", change(&before, &after))
}

/// Formats both amounts.
fn shown(amounts: Amounts) -> String {
    let memory = if amounts.memory == 0 { "0 GiB".to_owned() } else { bytes(amounts.memory) };
    format!("{} CPU, {memory}", cores(amounts.cpu))
}

/// Formats the missing amounts.
fn missing(short: Amounts) -> String {
    let cpu = (short.cpu > 0).then(|| format!("{} CPU", cores(short.cpu)));
    let memory = (short.memory > 0).then(|| bytes(short.memory));
    cpu.into_iter().chain(memory).collect::<Vec<_>>().join(" and ")
}

/// Formats CPU with at most one decimal.
fn cores(milli: i64) -> String {
    let tenths = (milli + 50).div_euclid(100);
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}
