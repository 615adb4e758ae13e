//! Cron schedules of CronJobs: how close together their runs start.
//!
//! Uses no clock: only the pattern matters, so a schedule is walked from a fixed day.

use std::collections::VecDeque;

use croner::Direction;
use croner::parser::{CronParser, Seconds, Year};
use jiff::SignedDuration;
use jiff::civil::{DateTime, date};
use jiff::tz::TimeZone;

/// Start of the walk: a leap year, so that it meets every day of the calendar.
const START: DateTime = date(2024, 1, 1).at(0, 0, 0, 0);

/// Maximum number of runs to walk: more than three days at one run per minute.
const RUNS_MAX: usize = 5000;

/// Length of the walk: every day of the calendar, leap years included.
const DAYS_MAX: i64 = 5 * 366;

/// Returns the maximum number of runs that start within any period of this length; at least one.
///
/// # Errors
/// The reason why Kubernetes would not accept the schedule.
pub fn runs_within(schedule: &str, seconds: i64) -> Result<i64, String> {
    if let Some(every) = schedule.strip_prefix("@every ") {
        let every: SignedDuration =
            every.trim().parse().map_err(|_| "`@every` needs a time, such as `90m`")?;
        // Kubernetes rounds up to a second.
        return Ok(ceiling(seconds, every.as_secs().max(1)));
    }
    if schedule.contains("TZ=") {
        return Err("write the time zone as `timeZone`".to_owned());
    }
    let fields = schedule.split_whitespace().count();
    if fields != 5 && !schedule.starts_with('@') {
        return Err(format!("it needs five fields, not {fields}"));
    }
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    let cron = parser.parse(schedule).map_err(|error| error.to_string())?;
    let mut window: VecDeque<i64> = VecDeque::new();
    let (mut most, mut last) = (1, 0);
    let start = START.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?;
    for run in cron.iter_from(start, Direction::Forward).take(RUNS_MAX) {
        let at = run.timestamp().as_second();
        if at - START_SECOND > DAYS_MAX * 86_400 {
            break;
        }
        while window.front().is_some_and(|first| at - first >= seconds) {
            window.pop_front();
        }
        window.push_back(at);
        most = most.max(window.len());
        last = at;
    }
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    // A walk shorter than the requested period saw only part of it; assume that the rest looks the same.
    let walked = last - START_SECOND;
    let is_cut = most >= i64::try_from(RUNS_MAX).unwrap_or(i64::MAX) && walked > 0;
    Ok(if is_cut { most.saturating_mul(ceiling(seconds, walked)) } else { most })
}

/// [`START`] as seconds since the epoch, in UTC.
const START_SECOND: i64 = 1_704_067_200;

fn ceiling(of: i64, by: i64) -> i64 {
    of.saturating_add(by - 1) / by
}

#[cfg(test)]
mod tests {
    use super::runs_within;

    #[test]
    fn runs_overlap_as_their_schedule_and_their_length_say() {
        let hour = 3600;
        let table = [
            ("0 3 * * *", hour, 1),
            ("*/5 * * * *", 600, 2),
            ("*/5 * * * *", 601, 3),
            ("*/5 * * * *", 300, 1),
            ("0,10 * * * *", 900, 2),
            ("0 0 1 * *", 40 * 24 * hour, 2),
            ("0 0 29 2 *", 24 * hour, 1),
            ("@hourly", 2 * hour, 2),
            ("@every 90m", 4 * hour, 3),
            ("* * * * *", 24 * hour, 1440),
            ("* * * * *", 30 * 24 * hour, 45_000),
        ];
        for (schedule, seconds, expected) in table {
            assert_eq!(runs_within(schedule, seconds), Ok(expected), "{schedule} {seconds}");
        }
    }

    #[test]
    fn what_kubernetes_refuses_is_no_schedule() {
        for wrong in
            ["", "* * * *", "0 0 0 * * *", "61 * * * *", "TZ=UTC 0 3 * * *", "@sometimes", "@every soon"]
        {
            assert!(runs_within(wrong, 60).is_err(), "{wrong}");
        }
    }
}
