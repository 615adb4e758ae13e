//! Plan files: no text is taken for a plan but the one that would be written; and what has a plan's form, whoever wrote
//! it, is written, read and shown.

use nodeform::plan::{Plan, read, write};
use nodeform::render::{Detail, PlanView, plain_text, plan_text};
use serde_json::Value;

/// Panics where that does not hold of an input.
pub(crate) fn holds(text: &str) {
    if let Ok(plan) = read(text) {
        shown(&plan);
    }
    // A digest cannot be hit by chance: parts of the form are put together here.
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let part = |name: &str| value.get(name).cloned().unwrap_or_default();
    let (Ok(spec), Ok(evidence)) =
        (serde_json::from_value(part("spec")), serde_json::from_value(part("evidence")))
    else {
        return;
    };
    let plan = Plan { spec, evidence };
    let written = write(&plan);
    if let Ok(again) = read(&written) {
        assert_eq!(again, plan);
        assert_eq!(write(&again), written);
        shown(&again);
    }
}

fn shown(plan: &Plan) {
    for detail in [Detail::Brief, Detail::All] {
        assert!(!plain_text(&plan_text(&PlanView::new(plan, None), detail)).is_empty());
    }
}
