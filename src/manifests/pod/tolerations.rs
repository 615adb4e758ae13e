//! Taints and tolerations, as written.

use std::sync::Arc;

use crate::model::{Effect, Taint, Toleration};

use crate::manifests::cursor::Cursor;

const EFFECTS: [(&str, Effect); 3] = [
    ("NoSchedule", Effect::NoSchedule),
    ("PreferNoSchedule", Effect::PreferNoSchedule),
    ("NoExecute", Effect::NoExecute),
];

fn effect(parent: Cursor<'_>) -> Option<Effect> {
    if parent.get("effect").and_then(Cursor::as_text).is_none_or(|text| text.is_empty()) {
        return None;
    }
    parent.choice("effect", &EFFECTS.map(|(name, _)| name)).map(|place| EFFECTS[place].1)
}

/// Reads the tolerations of a pod, sorted.
#[must_use]
pub fn read(spec: Cursor<'_>) -> Vec<Toleration> {
    let mut tolerations: Vec<Toleration> =
        spec.items("tolerations").into_iter().filter_map(toleration).collect();
    tolerations.sort();
    tolerations.dedup();
    tolerations
}

fn toleration(written: Cursor<'_>) -> Option<Toleration> {
    let operator = written.get("operator").and_then(Cursor::as_text).filter(|text| !text.is_empty());
    let is_exists = match operator {
        Some(_) => written.choice("operator", &["Exists", "Equal"])? == 0,
        None => false,
    };
    let key = written.text("key").filter(|key| !key.is_empty()).cloned();
    if key.is_none() && !is_exists {
        written.fault(
            "tolerates a taint without naming its key",
            Some("name a `key`, or write `operator: Exists` to tolerate every taint"),
        );
        return None;
    }
    let value = written.text("value").cloned().unwrap_or_else(|| Arc::from(""));
    if is_exists && !value.is_empty() {
        written.fault("has a value, which `operator: Exists` does not look at", Some("leave out `value`"));
    }
    let effect = effect(written);
    if let Some(seconds) = written.get("tolerationSeconds").filter(|_| effect != Some(Effect::NoExecute)) {
        seconds.fault(
            "is only for taints that put running pods out",
            Some("remove it, or write `effect: NoExecute`"),
        );
    }
    let seconds = written.integer("tolerationSeconds", i64::MIN..=i64::MAX);
    Some(Toleration { key, value: (!is_exists).then_some(value), effect, seconds })
}

/// Reads a field of taints, in the order written.
#[must_use]
pub fn taints(parent: Cursor<'_>, key: &str) -> Vec<Taint> {
    let one = |written: Cursor<'_>| {
        let Some(key) = written.text("key").filter(|key| !key.is_empty()) else {
            written.missing("key", "a taint needs a key and an effect");
            return None;
        };
        let value = written.text("value").map_or("", |value| &**value);
        let Some(effect) = effect(written) else {
            if written.get("effect").is_none() {
                written.missing("effect", "write `NoSchedule`, `PreferNoSchedule` or `NoExecute`");
            }
            return None;
        };
        Some(Taint::new(key, value, effect))
    };
    parent.items(key).into_iter().filter_map(one).collect()
}
