//! Counts the concurrent pods of Jobs and CronJobs.

use super::cron;
use super::cursor::Cursor;
use super::workload::{Count, replicas};

/// Returns the number of concurrent pods of one Job run: its parallelism, at most its completions.
#[must_use]
pub fn pods_at_once(spec: Cursor<'_>) -> i64 {
    let parallelism = replicas(spec, "parallelism").unwrap_or(1);
    let completions = spec.integer("completions", 0..=2_147_483_647);
    completions.map_or(parallelism, |completions| parallelism.min(completions))
}

/// Counts the current pods of a Job, and notes if it is suspended.
#[must_use]
pub fn count(object: Cursor<'_>, spec: Cursor<'_>) -> Count {
    let how = (spec.flag("suspend") && !is_finished(object)).then(|| " while suspended".to_owned());
    Count { how, ..Count::written(pods_left(object, spec)) }
}

fn is_finished(job: Cursor<'_>) -> bool {
    job.get("status").is_some_and(|status| {
        ["Complete", "Failed"].iter().any(|condition| is_condition_true(status, condition))
    })
}

/// Returns the number of pods that a Job runs now: its parallelism, at most the remaining completions.
#[must_use]
pub fn pods_left(object: Cursor<'_>, spec: Cursor<'_>) -> i64 {
    let parallelism = replicas(spec, "parallelism").unwrap_or(1);
    let completions = spec.integer("completions", 0..=2_147_483_647);
    let status = object.get("status");
    let succeeded = status.and_then(|status| status.integer("succeeded", 0..=2_147_483_647)).unwrap_or(0);
    if is_finished(object) || spec.flag("suspend") {
        return 0;
    }
    // Without `completions`, no new pods are started after the first success of a Job.
    let left = match completions {
        Some(completions) => completions.saturating_sub(succeeded).max(0),
        None if succeeded > 0 => 0,
        None => parallelism,
    };
    parallelism.min(left)
}

/// Returns whether a condition in `status.conditions` is true.
#[must_use]
pub fn is_condition_true(status: Cursor<'_>, condition: &str) -> bool {
    status.items("conditions").into_iter().any(|item| {
        item.text("type").is_some_and(|text| &**text == condition)
            && item.text("status").is_some_and(|text| &**text == "True")
    })
}

/// Counts a CronJob at its peak: the pods of one job, times the maximum number of overlapping jobs. `spec` is that of
/// the CronJob, `job` that of its jobs.
#[must_use]
pub fn peak(spec: Cursor<'_>, job: Cursor<'_>) -> Count {
    let pods_of_one = pods_at_once(job);
    let policy = spec.choice("concurrencyPolicy", &["Allow", "Forbid", "Replace"]).unwrap_or(0);
    let may_overlap = policy == 0;
    let deadline = job.integer("activeDeadlineSeconds", 1..=i64::MAX);
    let runs = runs_within(spec, deadline.unwrap_or(1));
    let (jobs, how) = match (may_overlap, deadline, runs) {
        _ if spec.flag("suspend") || job.flag("suspend") => (0, " while suspended".to_owned()),
        (true, Some(_), Some(runs)) if runs > 1 => (runs, format!(" in {runs} jobs")),
        (true, None, _) => (1, " in 1 job (unbounded)".to_owned()),
        (true | false, _, _) => (1, String::new()),
    };
    let replicas = pods_of_one.saturating_mul(jobs);
    Count { replicas, is_written: false, pods_of_one, how: Some(how) }
}

/// Returns the maximum number of runs that start within this many seconds; `None` and a fault if the schedule is
/// invalid.
fn runs_within(spec: Cursor<'_>, seconds: i64) -> Option<i64> {
    let Some(schedule) = spec.get("schedule") else {
        spec.missing(
            "schedule",
            "minute, hour, day of month, month, day of week: `0 3 * * *` is every night",
        );
        return None;
    };
    let text = schedule.as_text()?;
    match cron::runs_within(text, seconds) {
        Ok(runs) => Some(runs),
        Err(why) => {
            schedule.fault(
                format!("is not a cron schedule: {why}"),
                Some("minute, hour, day of month, month, day of week: `0 3 * * *` is every night"),
            );
            None
        }
    }
}
