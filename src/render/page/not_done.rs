//! Omissions besides Pending pods: kept nodes, preferences not met, and what was not evaluated.

use std::collections::BTreeMap;

use super::preferences;
use crate::model::SchedulingRule;
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;
use crate::render::words::{count, some};
use crate::solve::NotDecided;

use super::stays::nodes_that_stay;

/// Text between a setting and its pool.
const OF_POOL: &str = " of pool ";

/// Returns the omissions and their reasons, the most important first.
pub(crate) fn not_done(view: &PlanView<'_>, names: usize) -> Vec<Line> {
    let report = &view.plan.evidence.report;
    let mut lines = nodes_that_stay(view, names);
    lines.extend(report.not_decided.iter().map(|NotDecided { pool, because, nodes }| {
        let (all, who) = (count(nodes.len(), "node"), some(nodes, names));
        Line::new(Style::Plain, format!("  Not decided: {all} of {pool}, {because}: {who}"))
    }));
    lines.extend(preferences::given_up(view));
    for (rule, pods) in &report.passed_over {
        let pods = count(*pods, "pod");
        let text = match rule {
            SchedulingRule::RuntimeClass => {
                format!(
                    "  The RuntimeClass of {pods} is not in the input: overhead and node selector are unknown"
                )
            }
            SchedulingRule::TopologySpread
            | SchedulingRule::PodAffinity
            | SchedulingRule::PodAntiAffinity
            | SchedulingRule::Volumes
            | SchedulingRule::ResourceClaims
            | SchedulingRule::MatchFields
            | SchedulingRule::PreferredNodeAffinity => {
                format!("  `{}` of {pods} is a preference and is ignored", rule.as_str())
            }
        };
        lines.push(Line::new(Style::Plain, text));
    }
    lines.extend(undecided(view).map(|text| Line::new(Style::Plain, text)));
    lines
}

/// Describes in one line what was not evaluated without a time; with a time each has its own sentence.
fn undecided(view: &PlanView<'_>) -> impl Iterator<Item = String> {
    let evidence = &view.plan.evidence;
    let undecided = &evidence.report.undecided;
    let (one, own) = match evidence.seen_at {
        None if undecided.is_empty() => (None, Vec::new()),
        None => (Some(format!("  Not evaluated (no `--at`): {}", by_setting(undecided.iter()))), Vec::new()),
        Some(_) => (None, undecided.iter().map(|text| format!("  {text}")).collect()),
    };
    one.into_iter().chain(own)
}

/// Groups the pools of each setting: `` `expireAfter` of `apps` and `batch` ``.
fn by_setting<'a>(undecided: impl Iterator<Item = &'a String>) -> String {
    let mut pools: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for text in undecided {
        let (setting, pool) = text.split_once(OF_POOL).unwrap_or((text, ""));
        pools.entry(setting).or_default().extend(Some(pool).filter(|pool| !pool.is_empty()));
    }
    let part = |(setting, pools): (&str, Vec<&str>)| match pools.split_last() {
        None => setting.to_owned(),
        Some((last, [])) => format!("{setting} of {last}"),
        Some((last, others)) => format!("{setting} of {} and {last}", others.join(", ")),
    };
    pools.into_iter().map(part).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::by_setting;

    #[test]
    fn settings_that_take_a_time_share_a_line() {
        let said = ["`expireAfter` of pool `apps`", "`expireAfter` of pool `batch`", "which refusals count"];
        let said = said.map(str::to_owned);
        assert_eq!(by_setting(said.iter()), "`expireAfter` of `apps` and `batch`; which refusals count");
    }
}
