//! Dollar amounts for people, per month of 730 hours. Integers only.

use crate::model::{Commitment, MicroUsd, MicroUsdPerHour, Prices};
use crate::solve::{Bound, Cost, Headroom, Honoring, Slack};

/// Micro-dollars per cent.
const CENT: i64 = 10_000;

/// Differences below this many cents (ten dollars) are shown with cents.
const CENTS_SHOWN_BELOW: i64 = 1000;

/// Whether a sum is exact or an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sureness {
    /// From a price list.
    Listed,
    /// Partly estimated by a documented rule; marked `~`.
    Estimated,
}

impl Sureness {
    /// Returns the variant for an estimate or for a listed price.
    #[must_use]
    pub const fn of(is_estimate: bool) -> Self {
        if is_estimate { Self::Estimated } else { Self::Listed }
    }

    const fn mark(self) -> &'static str {
        match self {
            Self::Listed => "",
            Self::Estimated => "~",
        }
    }
}

/// Formats an amount that is not a difference: with cents below ten dollars, else whole dollars.
#[must_use]
pub fn dollars(amount: MicroUsd, sureness: Sureness) -> String {
    let cents = cents(amount);
    let unit = Unit::of(cents);
    format!("{}{}", sureness.mark(), unit.show(unit.round(cents)))
}

/// Formats an amount to the cent, rounded up, without cents if they are 0: an amount less than a dollar above a limit
/// reads as above it.
#[must_use]
pub fn dollars_exact(amount: MicroUsd, sureness: Sureness) -> String {
    let cents = amount.0.saturating_add(CENT - 1).div_euclid(CENT);
    let unit = if cents % 100 == 0 { Unit::Dollars } else { Unit::Cents };
    format!("{}{}", sureness.mark(), unit.show(cents))
}

/// Formats the difference of two amounts with its sign; `=` if both are shown alike.
#[must_use]
pub fn dollars_by(old: MicroUsd, new: MicroUsd, sureness: Sureness) -> String {
    let [old, new] = [old, new].map(cents);
    let unit = Unit::of(new - old);
    let difference = unit.round(new) - unit.round(old);
    let sign = match difference.cmp(&0) {
        std::cmp::Ordering::Less => "-",
        std::cmp::Ordering::Equal => return "=".to_owned(),
        std::cmp::Ordering::Greater => "+",
    };
    format!("{}{sign}{}", sureness.mark(), unit.show(difference.abs()))
}

/// Formats the monthly difference with its percentage: `-$909/month (-35 %)`.
#[must_use]
pub fn by_month(before: Cost, after: Cost) -> String {
    let sureness = Sureness::of(before.is_estimate || after.is_estimate);
    let (old, new) = (before.effective.per_month(), after.effective.per_month());
    let by = dollars_by(old, new, sureness);
    if by == "=" {
        return format!("The cost stays at {}/month", dollars(new, sureness));
    }
    let (part, whole) = (i128::from(new.0) - i128::from(old.0), i128::from(old.0));
    let share = (whole > 0).then(|| (part.abs() * 100 + whole / 2) / whole);
    let sign = if part < 0 { '-' } else { '+' };
    let share = share.map_or(String::new(), |share| match share {
        0 => " (under 1 %)".to_owned(),
        share => format!(" ({sign}{share} %)"),
    });
    format!("{by}/month{share}")
}

/// Formats a rate per month.
#[must_use]
pub fn per_month(rate: MicroUsdPerHour, sureness: Sureness) -> String {
    dollars(rate.per_month(), sureness) + "/month"
}

/// Formats a rate per hour, in thousandths of a dollar.
#[must_use]
pub fn per_hour(rate: MicroUsdPerHour, sureness: Sureness) -> String {
    let thousandths = (rate.0.max(0) + 500) / 1000;
    let whole = super::words::grouped((thousandths / 1000).unsigned_abs());
    format!("{}${whole}.{:03}", sureness.mark(), thousandths % 1000)
}

/// Returns the sentence about the change of the monthly cost, if this many of the new nodes have no known price.
#[must_use]
pub fn change(before: Cost, after: Cost, unpriced_new: usize) -> String {
    let known = known_change(before, after);
    let staying = after.unpriced_nodes.saturating_sub(unpriced_new);
    let leaving = before.unpriced_nodes.saturating_sub(staying);
    let nodes = |number: usize| super::words::count(number, "node");
    let bounds = |bound: &str, number: usize| {
        let text = known.replacen(" by ", &format!(" by {bound} "), 1);
        format!("{text}: the price of {} is not known", nodes(number))
    };
    let rises = before.effective < after.effective;
    let falls = after.effective < before.effective;
    let stays = !known.contains(" by ");
    match (unpriced_new, leaving) {
        (0, 0) if staying == 0 => known,
        (0, 0) => format!("{known}, without {} of unknown price", nodes(staying)),
        (coming, 0) if stays => {
            format!("Monthly cost will increase by at least $0: the price of {} is not known", nodes(coming))
        }
        (0, leaving) if stays => {
            format!("Monthly cost will decrease by at least $0: the price of {} is not known", nodes(leaving))
        }
        (coming, 0) => bounds(if rises { "at least" } else { "at most" }, coming),
        (0, leaving) => bounds(if falls { "at least" } else { "at most" }, leaving),
        (coming, leaving) => format!(
            "How the monthly cost changes is not known: the prices of {} to add and of {} to destroy are not",
            nodes(coming),
            nodes(leaving)
        ),
    }
}

/// Describes the maximum cost of the fleet; `None` if it is shown like the planned cost.
#[must_use]
pub fn up_to(after: Cost, most: Cost) -> Option<String> {
    let [planned, highest] =
        [after, most].map(|cost| dollars(cost.effective.per_month(), Sureness::of(cost.is_estimate)));
    (planned != highest).then(|| format!("{planned}/month, up to {highest} if Azure substitutes"))
}

/// Describes the change of the known prices' sums.
fn known_change(before: Cost, after: Cost) -> String {
    let [old, new] = [before, after].map(|cost| cents(cost.effective.per_month()));
    let unit = Unit::of(new - old);
    // The difference of the displayed amounts, so that the reader's own subtraction agrees.
    let (old, new) = (unit.round(old), unit.round(new));
    let old_mark = Sureness::of(before.is_estimate).mark();
    let new_mark = Sureness::of(after.is_estimate).mark();
    let mark = if old_mark.is_empty() { new_mark } else { old_mark };
    let way = match new.cmp(&old) {
        std::cmp::Ordering::Less => "decrease",
        std::cmp::Ordering::Equal => {
            return format!("Monthly cost will stay at {new_mark}{}", unit.show(new));
        }
        std::cmp::Ordering::Greater => "increase",
    };
    let (by, of) = (new - old, old);
    let (difference, old, new) = (unit.show(by.abs()), unit.show(old), unit.show(new));
    let sums = format!("{old_mark}{old} → {new_mark}{new}");
    let share = share(by, of).map_or(String::new(), |share| format!("{share} %, "));
    format!("Monthly cost will {way} by {mark}{difference} ({share}{sums})")
}

/// Returns the percentage of a part, with a decimal below ten; `None` if the whole is 0.
fn share(part: i64, whole: i64) -> Option<String> {
    const TENTHS: i128 = 1000;
    let whole = i128::from(whole.max(0));
    let tenths = (i128::from(part.abs()) * TENTHS + whole / 2).checked_div(whole)?;
    Some(match tenths {
        ..100 => format!("{}.{}", tenths / 10, tenths % 10),
        _ => super::words::grouped(u64::try_from((tenths + 5) / 10).unwrap_or(u64::MAX)),
    })
}

/// Describes the change by list prices, if they differ from what the user pays.
#[must_use]
pub fn list_change(before: Cost, after: Cost, prices: &Prices) -> Option<String> {
    let differs = before.list != before.effective || after.list != after.effective;
    differs.then(|| {
        let [old, new] =
            [before, after].map(|cost| dollars(cost.list.per_month(), Sureness::of(cost.is_estimate)));
        let parts = [
            (!prices.discounts.is_empty(), "discounts"),
            (!prices.commitments.is_empty(), "commitments"),
            (prices.cost_per_node != MicroUsdPerHour::default(), "costs per node"),
        ];
        let parts: Vec<&str> =
            parts.into_iter().filter_map(|(is_there, part)| is_there.then_some(part)).collect();
        format!("By the price list: {old} → {new}; the sums above have {}", parts.join(", "))
    })
}

/// Describes the cost of commitments, used or not; `None` if there are none.
#[must_use]
pub fn commitments(prices: &Prices) -> Option<String> {
    let cost = |paid: &Commitment| paid.price.times(usize::try_from(paid.count).unwrap_or(usize::MAX));
    let total: MicroUsdPerHour = prices.commitments.iter().map(cost).sum();
    let each: Vec<String> =
        prices.commitments.iter().map(|paid| format!("{} × {}", paid.count, paid.size)).collect();
    (!each.is_empty()).then(|| {
        let total = per_month(total, Sureness::Listed);
        format!("In both sums, used or not: {total} for commitments ({})", each.join(", "))
    })
}

/// Describes how far the cost is above the lower bound of any fleet that places the same pods.
#[must_use]
pub fn bound(after: Cost, bound: Bound) -> String {
    let Bound { least, is_proven_cheapest, is_estimate } = bound;
    let estimates = if is_estimate || after.is_estimate { "some prices estimated" } else { "" };
    if is_proven_cheapest && after.effective <= least {
        let estimates = if estimates.is_empty() { String::new() } else { format!(" ({estimates})") };
        return format!("Optimal: no fleet for these pods costs less{estimates}");
    }
    let least_shown = per_month(least, Sureness::of(is_estimate));
    let gap = match least.0 {
        ..=0 => "Distance from the optimum not known".to_owned(),
        least => {
            // Rounded up, so that the gap is never understated.
            let above = i128::from(after.effective.0) - i128::from(least);
            let tenths = (above.max(0) * 1000 + i128::from(least) - 1) / i128::from(least);
            format!("Within {}.{} % of the optimum", tenths / 10, tenths % 10)
        }
    };
    let estimates = if estimates.is_empty() { String::new() } else { format!("; {estimates}") };
    format!("{gap} (lower bound {least_shown}{estimates})")
}

/// Describes the cost of CapacityBuffers' headroom.
#[must_use]
pub fn headroom(headroom: Headroom) -> String {
    let Headroom { pods, cost, is_estimate } = headroom;
    let cost = per_month(cost, Sureness::of(is_estimate));
    format!("Includes {cost} of headroom for {} (CapacityBuffers)", super::words::count(pods, "pod"))
}

/// Describes the cost of the headroom with which the scheduler can place all pods.
#[must_use]
pub fn slack(slack: Slack) -> String {
    let Slack { pods, cost, is_estimate } = slack;
    let cost = per_month(cost, Sureness::of(is_estimate));
    let pods = super::words::count(pods, "pod");
    format!("Includes {cost} of headroom: without it kube-scheduler may leave {pods} Pending")
}

/// Describes the saving if a workload's spread over hosts did not count tainted nodes.
#[must_use]
pub fn honoring(honoring: &Honoring) -> String {
    let Honoring { workload, nodes, instead_of, saves, is_estimate } = honoring;
    let (nodes, saves) = (super::words::count(*nodes, "node"), per_month(*saves, Sureness::of(*is_estimate)));
    format!(
        "`nodeTaintsPolicy: Honor` on {} {}/{} would need {nodes} instead of {instead_of} and save {saves}",
        workload.kind, workload.namespace, workload.name
    )
}

/// Rounding of amounts.
#[derive(Clone, Copy)]
enum Unit {
    Dollars,
    Cents,
}

impl Unit {
    const fn of(cents: i64) -> Self {
        if cents == 0 || cents.saturating_abs() >= CENTS_SHOWN_BELOW { Self::Dollars } else { Self::Cents }
    }

    /// Rounds cents half up to the unit; returns cents.
    const fn round(self, cents: i64) -> i64 {
        match self {
            Self::Dollars => cents.saturating_add(50).div_euclid(100).saturating_mul(100),
            Self::Cents => cents,
        }
    }

    fn show(self, cents: i64) -> String {
        let sign = if cents < 0 { "-" } else { "" };
        let whole = super::words::grouped((cents / 100).unsigned_abs());
        match self {
            Self::Cents if cents != 0 => format!("{sign}${whole}.{:02}", (cents % 100).abs()),
            Self::Cents | Self::Dollars => format!("{sign}${whole}"),
        }
    }
}

const fn cents(amount: MicroUsd) -> i64 {
    amount.0.saturating_add(CENT / 2).div_euclid(CENT)
}

#[cfg(test)]
mod tests {
    use super::{Bound, Cost, MicroUsd, MicroUsdPerHour, Sureness, dollars};

    fn change(before: Cost, after: Cost) -> String {
        super::change(before, after, 0)
    }

    fn cost(micro_usd_per_hour: i64, is_estimate: bool) -> Cost {
        let rate = MicroUsdPerHour(micro_usd_per_hour);
        Cost { list: rate, effective: rate, unpriced_nodes: 0, is_estimate }
    }

    #[test]
    fn the_cost_sentence_adds_up_for_its_reader() {
        let decrease = change(cost(12_753_425, false), cost(12_189_041, false));
        assert_eq!(decrease, "Monthly cost will decrease by $412 (4.4 %, $9,310 → $8,898)");
        let doubled = change(cost(1_000_000, false), cost(2_000_000, false));
        assert_eq!(doubled, "Monthly cost will increase by $730 (100 %, $730 → $1,460)");
        let small = change(cost(0, false), cost(7_534, true));
        assert_eq!(small, "Monthly cost will increase by ~$5.50 ($0 → ~$5.50)");
        assert_eq!(change(cost(0, false), cost(0, false)), "Monthly cost will stay at $0");
    }

    #[test]
    fn the_difference_of_a_month_has_its_sign_and_whole_percent() {
        let by = |before, after| super::by_month(cost(before, false), cost(after, after == 7_534));
        assert_eq!(by(12_753_425, 12_189_041), "-$412/month (-4 %)");
        assert_eq!(by(1_000_000, 2_000_000), "+$730/month (+100 %)");
        assert_eq!(by(12_753_425, 12_743_425), "-$7.30/month (under 1 %)");
        assert_eq!(by(0, 7_534), "~+$5.50/month");
        assert_eq!(by(1_000_000, 1_000_000), "The cost stays at $730/month");
    }

    #[test]
    fn the_bound_is_said_in_percent_and_never_nearer_than_it_is() {
        let bound = |least: i64, is_estimate: bool| {
            let is_proven_cheapest = least >= 1_000_000;
            let bound = Bound { least: MicroUsdPerHour(least), is_proven_cheapest, is_estimate };
            super::bound(cost(1_000_000, false), bound)
        };
        let lines = [bound(982_320, false), bound(1_000_000, false), bound(999_999, true), bound(0, false)];
        let expected = "\
Within 1.8 % of the optimum (lower bound $717/month)
Optimal: no fleet for these pods costs less
Within 0.1 % of the optimum (lower bound ~$730/month; some prices estimated)
Distance from the optimum not known (lower bound $0/month)";
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn what_is_not_known_bounds_the_change() {
        let cost = |dollars: i64, unpriced_nodes: usize| {
            let rate = MicroUsdPerHour(dollars * 1_000_000 / 730 + 1);
            Cost { list: rate, effective: rate, unpriced_nodes, is_estimate: false }
        };
        let nothing = Cost::default();
        let unpriced = Cost { unpriced_nodes: 1, ..nothing };
        let lines = [
            super::change(nothing, unpriced, 1),
            super::change(cost(100, 0), cost(200, 2), 2),
            super::change(cost(200, 0), cost(100, 1), 1),
            super::change(unpriced, nothing, 0),
            super::change(cost(100, 1), cost(200, 0), 0),
            super::change(cost(200, 1), cost(100, 0), 0),
            super::change(cost(200, 1), cost(200, 1), 0),
            super::change(cost(200, 1), cost(100, 2), 2),
        ];
        let expected = "\
Monthly cost will increase by at least $0: the price of 1 node is not known
Monthly cost will increase by at least $100 (100 %, $100 → $200): the price of 2 nodes is not known
Monthly cost will decrease by at most $100 (50 %, $200 → $100): the price of 1 node is not known
Monthly cost will decrease by at least $0: the price of 1 node is not known
Monthly cost will increase by at most $100 (100 %, $100 → $200): the price of 1 node is not known
Monthly cost will decrease by at least $100 (50 %, $200 → $100): the price of 1 node is not known
Monthly cost will stay at $200, without 1 node of unknown price
How the monthly cost changes is not known: the prices of 2 nodes to add and of 1 node to destroy are not";
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn amounts_have_separators_and_cents_where_they_matter() {
        assert_eq!(dollars(MicroUsd(1_234_567_890_000), Sureness::Listed), "$1,234,568");
        assert_eq!(dollars(MicroUsd(9_994_999), Sureness::Estimated), "~$9.99");
        assert_eq!(dollars(MicroUsd(-2_500_000), Sureness::Listed), "-$2.50");
    }
}
