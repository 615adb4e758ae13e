//! Metrics in Prometheus' format.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;

use crate::plan::Plan;

/// Upper bounds of the planning histogram, in milliseconds.
const BOUNDS: [u64; 10] = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/// Maximum number of pod starts from which quantiles are computed: the latest ones.
const STARTS_MAX: usize = 1_000;

/// Micro-dollars in a dollar.
const DOLLAR: i64 = 1_000_000;

/// The metrics.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// Micro-dollars per hour, by state.
    cost: BTreeMap<&'static str, i64>,
    planned: [u64; BOUNDS.len()],
    plans: u64,
    planned_milliseconds: u64,
    changes: BTreeMap<(&'static str, &'static str), u64>,
    created: u64,
    terminated: u64,
    panics: u64,
    is_leading: bool,
    /// The sources that could not be read.
    unread: BTreeSet<Arc<str>>,
    /// Startup times of the latest pods, in milliseconds.
    started: VecDeque<u64>,
    starts: u64,
    started_milliseconds: u64,
}

impl Metrics {
    fn with(&self, change: impl FnOnce(&mut Counted)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Records the cost of the fleet, now and after a plan.
    pub fn cost(&self, plan: &Plan) {
        let report = &plan.evidence.report;
        let bound = report.bound.as_ref().map(|bound| bound.least.0);
        self.with(|counted| {
            counted.cost.insert("now", report.cost_before.effective.0);
            counted.cost.insert("planned", report.cost_after.effective.0);
            if let Some(bound) = bound {
                counted.cost.insert("bound", bound);
            }
        });
    }

    /// Records the time spent planning.
    pub fn planned(&self, took: Duration) {
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.with(|counted| {
            counted.plans += 1;
            counted.planned_milliseconds = counted.planned_milliseconds.saturating_add(took);
            for (bound, count) in BOUNDS.iter().zip(&mut counted.planned) {
                *count += u64::from(took <= *bound);
            }
        });
    }

    /// Counts a change that has ended.
    pub fn change(&self, class: &'static str, outcome: &'static str) {
        self.with(|counted| *counted.changes.entry((class, outcome)).or_default() += 1);
    }

    /// Records the times of pods from creation to running.
    pub fn started(&self, took: &[SignedDuration]) {
        self.with(|counted| {
            for took in took {
                let took = u64::try_from(took.as_millis()).unwrap_or(0);
                counted.starts += 1;
                counted.started_milliseconds = counted.started_milliseconds.saturating_add(took);
                counted.started.push_back(took);
                if counted.started.len() > STARTS_MAX {
                    counted.started.pop_front();
                }
            }
        });
    }

    /// Counts a panic that was caught.
    pub fn panicked(&self) {
        self.with(|counted| counted.panics += 1);
    }

    /// Records what could not be read in the last round.
    pub fn unread(&self, sources: BTreeSet<Arc<str>>) {
        self.with(|counted| counted.unread = sources);
    }

    /// Records whether the Lease is held.
    pub fn leading(&self, is_leading: bool) {
        self.with(|counted| counted.is_leading = is_leading);
    }

    /// Counts a NodeClaim that was created.
    pub fn claim_created(&self) {
        self.with(|counted| counted.created += 1);
    }

    /// Counts a NodeClaim that was deleted.
    pub fn claim_terminated(&self) {
        self.with(|counted| counted.terminated += 1);
    }

    /// Returns the metrics as text.
    #[must_use]
    pub fn text(&self) -> String {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, lines: Vec<String>| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            lines.iter().for_each(|line| {
                let _ = writeln!(text, "{name}{line}");
            });
        };
        let cost = counted.cost.iter();
        family(
            "nodeform_fleet_cost_usd_per_hour",
            "gauge",
            "Hourly cost of the fleet: now, after the last plan, and the lower bound.",
            cost.map(|(state, cost)| {
                format!("{{state=\"{state}\"}} {}.{:06}", cost / DOLLAR, (cost % DOLLAR).abs())
            })
            .collect(),
        );
        let seconds = |milliseconds: u64| format!("{}.{:03}", milliseconds / 1_000, milliseconds % 1_000);
        let mut lines: Vec<String> = BOUNDS
            .iter()
            .zip(&counted.planned)
            .map(|(bound, count)| format!("_bucket{{le=\"{}\"}} {count}", seconds(*bound)))
            .collect();
        lines.push(format!("_bucket{{le=\"+Inf\"}} {}", counted.plans));
        lines.push(format!("_sum {}", seconds(counted.planned_milliseconds)));
        lines.push(format!("_count {}", counted.plans));
        family("nodeform_plan_duration_seconds", "histogram", "Time spent planning a round.", lines);
        let mut lines = quantiles(&counted.started)
            .map(|(quantile, took)| format!("{{quantile=\"{quantile}\"}} {}", seconds(took)))
            .collect::<Vec<_>>();
        lines.push(format!("_sum {}", seconds(counted.started_milliseconds)));
        lines.push(format!("_count {}", counted.starts));
        let help = "Time from the creation of Pending pods until they ran.";
        family("karpenter_pods_startup_duration_seconds", "summary", help, lines);
        let changes = counted.changes.iter().map(|((class, outcome), count)| {
            format!("{{class=\"{class}\",outcome=\"{}\"}} {count}", outcome.replace(' ', "-"))
        });
        family("nodeform_changes_total", "counter", "Changes that have ended.", changes.collect());
        let claims = [
            ("karpenter_nodeclaims_created_total", "NodeClaims created.", counted.created),
            ("karpenter_nodeclaims_terminated_total", "NodeClaims deleted.", counted.terminated),
            ("nodeform_panics_total", "Panics caught: each is a bug in nodeform.", counted.panics),
        ];
        let leads = format!(" {}", u8::from(counted.is_leading));
        family("nodeform_leader", "gauge", "Whether this replica holds the Lease.", vec![leads]);
        let gaps = counted.unread.iter().map(|source| format!("{{source=\"{source}\"}} 1"));
        let help = "Sources that could not be read at the last round.";
        family("nodeform_gaps", "gauge", help, gaps.collect());
        for (name, help, count) in claims {
            family(name, "counter", help, vec![format!(" {count}")]);
        }
        text
    }
}

/// Returns the same quantiles as Karpenter, over the latest pods.
fn quantiles(started: &VecDeque<u64>) -> impl Iterator<Item = (&'static str, u64)> {
    const QUANTILES: [(&str, usize); 5] = [("0", 0), ("0.5", 50), ("0.9", 90), ("0.99", 99), ("1", 100)];
    let mut sorted: Vec<u64> = started.iter().copied().collect();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1);
    let of = last.map(|last| QUANTILES.map(|(name, percent)| (name, sorted[(last * percent).div_ceil(100)])));
    of.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        metrics.planned(Duration::from_millis(1_200));
        metrics.change("create", "done");
        metrics.change("remove-empty", "no longer holds");
        metrics.claim_created();
        metrics.unread(["nodepools.karpenter.sh".into()].into());
        metrics.started(&[40_000, 10_000, 20_000, 30_500].map(SignedDuration::from_millis));
        let text = metrics.text();
        for line in [
            "nodeform_plan_duration_seconds_bucket{le=\"1.000\"} 0",
            "nodeform_plan_duration_seconds_bucket{le=\"2.500\"} 1",
            "nodeform_plan_duration_seconds_sum 1.200",
            "nodeform_changes_total{class=\"remove-empty\",outcome=\"no-longer-holds\"} 1",
            "karpenter_nodeclaims_created_total 1",
            "karpenter_nodeclaims_terminated_total 0",
            "nodeform_leader 0",
            "nodeform_gaps{source=\"nodepools.karpenter.sh\"} 1",
            "nodeform_panics_total 0",
            "# TYPE karpenter_pods_startup_duration_seconds summary",
            "karpenter_pods_startup_duration_seconds{quantile=\"0\"} 10.000",
            "karpenter_pods_startup_duration_seconds{quantile=\"0.5\"} 30.500",
            "karpenter_pods_startup_duration_seconds{quantile=\"1\"} 40.000",
            "karpenter_pods_startup_duration_seconds_sum 100.500",
            "karpenter_pods_startup_duration_seconds_count 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
