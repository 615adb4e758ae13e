//! Jobs, and what makes them: how many pods run at once.

use super::cron;
use super::cursor::Cursor;
use super::workload::{Count, replicas};

/// Returns how many pods one run of a Job has at once: its parallelism, and no more than it completes.
#[must_use]
pub fn pods_at_once(spec: Cursor<'_>) -> i64 {
    let parallelism = replicas(spec, "parallelism").unwrap_or(1);
    let completions = spec.integer("completions", 0..=2_147_483_647);
    completions.map_or(parallelism, |completions| parallelism.min(completions))
}

/// Counts a Job as it runs now; one that is suspended says so.
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

/// Returns how many pods a Job runs now: its parallelism, and no more than are still to be completed.
#[must_use]
pub fn pods_left(object: Cursor<'_>, spec: Cursor<'_>) -> i64 {
    let parallelism = replicas(spec, "parallelism").unwrap_or(1);
    let completions = spec.integer("completions", 0..=2_147_483_647);
    let status = object.get("status");
    let succeeded = status.and_then(|status| status.integer("succeeded", 0..=2_147_483_647)).unwrap_or(0);
    if is_finished(object) || spec.flag("suspend") {
        return 0;
    }
    // Without `completions` the first success ends a Job of several pods: nothing more is started.
    let left = match completions {
        Some(completions) => completions.saturating_sub(succeeded).max(0),
        None if succeeded > 0 => 0,
        None => parallelism,
    };
    parallelism.min(left)
}

/// Returns whether `status.conditions` says that a condition is true.
#[must_use]
pub fn is_condition_true(status: Cursor<'_>, condition: &str) -> bool {
    status.items("conditions").into_iter().any(|item| {
        item.text("type").is_some_and(|text| &**text == condition)
            && item.text("status").is_some_and(|text| &**text == "True")
    })
}

/// Counts a CronJob at its peak: the pods of one job, times how many jobs may run beside each other.
/// `spec` is the CronJob's, `job` that of its jobs.
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

/// Returns how many runs begin within so many seconds at most; `None` with a fault where the schedule is none.
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
