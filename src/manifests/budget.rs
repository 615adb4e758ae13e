//! Reads PodDisruptionBudgets.

use crate::model::disruption_budget::{BudgetCounts, DisruptionBudget, PodBound, PodShare, UnhealthyPods};

use super::cursor::Cursor;
use super::meta::Meta;
use super::pod::selector;
use super::tree::Value;

/// Range of pod counts in Kubernetes.
const COUNT: std::ops::RangeInclusive<i64> = 0..=2_147_483_647;

/// Reads a budget.
#[must_use]
pub fn read(object: Cursor<'_>) -> Option<DisruptionBudget> {
    let meta = Meta::read(object);
    let Some(spec) = object.get("spec") else {
        object.missing("spec", "a budget needs `spec.selector` and a bound");
        return None;
    };
    let least = share(spec, "minAvailable").map(PodBound::MinAvailable);
    let most = share(spec, "maxUnavailable").map(PodBound::MaxUnavailable);
    if let (Some(_), Some(_), Some(place)) = (least, most, spec.get("maxUnavailable")) {
        place.fault(
            "cannot be combined with `minAvailable`",
            Some("a budget has one of the two: remove the other"),
        );
    }
    let unhealthy = match spec.choice("unhealthyPodEvictionPolicy", &["IfHealthyBudget", "AlwaysAllow"]) {
        Some(1) => UnhealthyPods::AlwaysAllow,
        Some(_) | None => UnhealthyPods::IfHealthyBudget,
    };
    let meta = meta?;
    Some(DisruptionBudget {
        namespace: meta.namespace,
        name: meta.name,
        selector: selector::read(spec, "selector"),
        bound: least.or(most),
        unhealthy,
        counts: object.get("status").and_then(counts),
    })
}

/// Reads a count or a percentage.
fn share(spec: Cursor<'_>, key: &str) -> Option<PodShare> {
    let field = spec.get(key)?;
    if let Value::Text(text) = &field.tree.value {
        let percent =
            text.strip_suffix('%').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let percent = percent.and_then(|digits| digits.parse().ok()).filter(|percent| *percent <= 100);
        if percent.is_none() {
            field.fault(
                format!("must be a count or a percentage and is {}", field.tree.value.describe()),
                Some("write a number such as `1`, or a percentage from `0%` to `100%`"),
            );
        }
        return percent.map(PodShare::Percent);
    }
    spec.integer(key, COUNT).and_then(|count| u32::try_from(count).ok()).map(PodShare::Count)
}

/// Reads the counts in the status; `None` if the cluster has not counted yet.
fn counts(status: Cursor<'_>) -> Option<BudgetCounts> {
    let count = |key| status.integer(key, COUNT).and_then(|count| u32::try_from(count).ok());
    Some(BudgetCounts {
        disruptions_allowed: count("disruptionsAllowed")?,
        current_healthy: count("currentHealthy")?,
        desired_healthy: count("desiredHealthy")?,
        expected_pods: count("expectedPods")?,
    })
}
