//! Input of the plan: first what can make its figures wrong, last the other assumptions.

use crate::plan::World;
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;
use crate::render::words::{count, some, verb};
use crate::snapshot::Gap;

/// Maximum number of overlays listed.
const OVERLAYS_MAX: usize = 5;

/// Returns what can make the figures wrong: unread or missing data, and guesses; `said` shortens gaps if space is
/// limited.
pub(crate) fn doubts(view: &PlanView<'_>, said: fn(&Gap) -> Gap) -> Vec<Line> {
    let gaps = view.plan.evidence.world.gaps.iter().map(|gap| said(gap).to_string());
    gaps.map(|text| Line::new(Style::Warning, text)).chain(guesses(view)).collect()
}

/// Returns guesses that affect the figures: the region, and pods without requests.
pub(crate) fn guesses(view: &PlanView<'_>) -> Vec<Line> {
    let evidence = &view.plan.evidence;
    let world = &evidence.world;
    let guessed = world.assumptions.iter().filter(|assumed| assumed.moves_prices()).map(ToString::to_string);
    let silent = evidence.report.without_requests;
    let has = verb(silent, "has", "have");
    let silent =
        (silent > 0).then(|| format!("{} {has} no resource requests (counted as 0)", count(silent, "pod")));
    guessed.chain(silent).map(|text| Line::new(Style::Warning, text)).collect()
}

/// Returns what the plan was made from and the other assumptions, one line each.
pub(crate) fn assumptions(view: &PlanView<'_>) -> Vec<Line> {
    let world = &view.plan.evidence.world;
    let assumed = world.assumptions.iter().filter(|assumed| !assumed.moves_prices());
    let read = [read(view), format!("Prices and sizes: {}{}", world.catalog, overlays(world))];
    let lines = read.into_iter().chain(assumed.map(ToString::to_string));
    lines.map(|text| Line::new(Style::Plain, text)).collect()
}

/// Lists the assumed DaemonSets, if any.
pub(crate) fn assumed_daemons(view: &PlanView<'_>) -> Option<Line> {
    let assumed = view.plan.evidence.world.daemons.iter().filter(|daemon| daemon.is_assumed);
    let names: Vec<_> = assumed.map(|daemon| &daemon.name).collect();
    let text = format!("Assumed DaemonSets: {}", some(&names, usize::MAX));
    (!names.is_empty()).then(|| Line::new(Style::Plain, text))
}

fn read(view: &PlanView<'_>) -> String {
    let evidence = &view.plan.evidence;
    let world = &evidence.world;
    let assumed = world.daemons.iter().filter(|daemon| daemon.is_assumed).count();
    let mut parts: Vec<String> =
        world.documents.map(|documents| count(documents, "document")).into_iter().collect();
    parts.push(count(world.pod_count(), "pod"));
    let absent = world.absent.len();
    let ignored = if absent > 0 { format!(" ({absent} ignored)") } else { String::new() };
    parts.push(count(world.nodes.len() + absent, "node") + &ignored);
    let mut daemons = count(world.daemons.len(), "DaemonSet");
    if assumed > 0 {
        daemons += &format!(" ({assumed} assumed)");
    }
    parts.push(daemons);
    let at = evidence.seen_at.map_or(String::new(), |at| format!(", at {at}"));
    format!("Read: {}{at}", parts.join(", "))
}

/// Lists the overlays that change sizes of the catalogue.
fn overlays(world: &World) -> String {
    let names: Vec<_> = world.overlays.iter().map(|overlay| &overlay.name).collect();
    match names.len() {
        0 => String::new(),
        several => {
            let overlays = verb(several, "NodeOverlay", "NodeOverlays");
            format!(", changed by {overlays} {}", some(&names, OVERLAYS_MAX))
        }
    }
}
