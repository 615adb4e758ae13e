//! Cron schedules of budgets and freezes. Must accept what Karpenter's cron parser accepts: five fields, or a word such
//! as `@daily`.

use croner::parser::{CronParser, Seconds, Year};

use crate::policy::fault::{Fault, shortened};
use crate::policy::place::Place;

/// Returns the fault of a window's schedule, if it has one.
pub(super) fn fault(window: &Place<'_>) -> Option<Fault> {
    let place = window.at("schedule")?;
    let text = place.value.as_str()?;
    let why = if text.starts_with('@') {
        const WORDS: [&str; 7] =
            ["@annually", "@yearly", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
        (!WORDS.contains(&text)).then(|| format!("it is one of {}", WORDS.join(", ")))
    } else {
        let fields = text.split_whitespace().count();
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        match parser.parse(text) {
            _ if fields != 5 => Some(format!("it needs five fields, not {fields}")),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    }?;
    let fault = place.fault(format!("{} is not a cron schedule: {why}", shortened(text)));
    Some(fault.hint("minute, hour, day of month, month, day of week: `0 9 * * 1-5` is 9:00 on working days"))
}
