//! Labels and tags that someone else keeps resetting: nodeform reapplies them with growing delays and names the other
//! writer.
//!
//! Never gives up: the user configured these values, and the other writer may have been fixed by now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::model::NodeName;
use crate::plan::Update;

/// Waits after each in-place update of a node, in the cloud's clock; the last one repeats.
const WAITS: [SignedDuration; 3] =
    [SignedDuration::from_mins(1), SignedDuration::from_mins(5), SignedDuration::from_mins(30)];

/// Time without a reset after which an update is no longer contested.
const FORGOTTEN: SignedDuration = SignedDuration::from_hours(1);

/// Field manager of nodeform's writes.
const OWN: &str = "nodeform";

/// A node whose labels or tags are reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fought {
    /// The node.
    pub node: NodeName,
    /// The labels and tags.
    pub keys: BTreeSet<Arc<str>>,
    /// Number of resets.
    pub times: u32,
    /// Time of the first update.
    pub since: Timestamp,
    /// Time of the next attempt.
    pub until: Timestamp,
    /// Field managers of the resets, if known.
    pub managers: BTreeSet<String>,
}

impl Fought {
    /// Describes the resets, the writer, and what to do.
    #[must_use]
    pub fn because(&self) -> String {
        let Self { keys, times, since, until, managers, .. } = self;
        let quoted = |names: Vec<String>| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ")
        };
        let keys = quoted(keys.iter().map(ToString::to_string).collect());
        let who = match managers.len() {
            0 => "somebody".to_owned(),
            1 => format!("field manager {}", quoted(managers.iter().cloned().collect())),
            _ => format!("field managers {}", quoted(managers.iter().cloned().collect())),
        };
        let often = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
        format!(
            "next attempt at {until:.0}; {who} reset {keys} {often} since {since:.0}: remove it from the NodePool or AKSNodeClass, or from what the other writes"
        )
    }
}

/// Recent in-place updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fights {
    known: BTreeMap<NodeName, Fought>,
    clock_speed: i32,
}

impl Fights {
    /// Creates an empty record.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        let clock_speed = i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX);
        Self { known: BTreeMap::new(), clock_speed }
    }

    fn wait(&self, wait: SignedDuration) -> SignedDuration {
        wait / self.clock_speed.max(1)
    }

    /// Records an in-place update of a node.
    pub fn changed(&mut self, node: &NodeName, keys: &BTreeSet<Arc<str>>, at: Timestamp) {
        let forgotten = self.wait(FORGOTTEN);
        let before = self
            .known
            .remove(node)
            .filter(|known| !known.keys.is_disjoint(keys) && at.duration_since(known.until) < forgotten);
        let (times, since, managers) =
            before.map_or((0, at, BTreeSet::new()), |known| (known.times + 1, known.since, known.managers));
        let wait = usize::try_from(times).unwrap_or(usize::MAX).min(WAITS.len() - 1);
        let until = at.saturating_add(self.wait(WAITS[wait])).unwrap_or(Timestamp::MAX);
        let fought = Fought { node: node.clone(), keys: keys.clone(), times, since, until, managers };
        self.known.insert(node.clone(), fought);
    }

    /// Returns the time of the next attempt if the node was updated a short while ago.
    #[must_use]
    pub fn until(&self, update: &Update, at: Timestamp) -> Option<Timestamp> {
        let known = self.of(update)?;
        Some(known.until).filter(|until| *until > at)
    }

    /// Returns whether an update was applied before and has been reset.
    #[must_use]
    pub fn is_set_back(&self, update: &Update, at: Timestamp) -> bool {
        let known = self.of(update);
        known.is_some_and(|known| at.duration_since(known.until) < self.wait(FORGOTTEN))
    }

    fn of(&self, update: &Update) -> Option<&Fought> {
        let known = self.known.get(&update.target.node)?;
        (!known.keys.is_disjoint(&keys(update))).then_some(known)
    }

    /// Records the writers that reset labels of a node.
    pub fn named(&mut self, node: &NodeName, managers: BTreeSet<String>) {
        if let Some(known) = self.known.get_mut(node) {
            known.managers.extend(managers);
        }
    }

    /// Returns the updates that keep being reset.
    pub fn fought(&self, at: Timestamp) -> impl Iterator<Item = &Fought> {
        let forgotten = self.wait(FORGOTTEN);
        self.known.values().filter(move |known| known.times > 0 && at.duration_since(known.until) < forgotten)
    }
}

/// Returns the labels and tags that an in-place update sets.
#[must_use]
pub fn keys(update: &Update) -> BTreeSet<Arc<str>> {
    let labels = update.new_labels();
    let labels = labels.keys().map(|key| Arc::from(*key));
    labels.chain(update.new_tags().into_keys()).collect()
}

/// Returns the field managers of these labels of a Node; if the labels were removed and have none, the last writer.
#[must_use]
pub fn managers(node: &Value, keys: &BTreeSet<Arc<str>>) -> BTreeSet<String> {
    let entries = || node["metadata"]["managedFields"].as_array().into_iter().flatten();
    let name = |entry: &Value| entry["manager"].as_str().unwrap_or_default().to_owned();
    let others = || entries().filter(|entry| entry["manager"] != OWN && entry["subresource"].is_null());
    let has = |entry: &&Value| {
        let labels = &entry["fieldsV1"]["f:metadata"]["f:labels"];
        keys.iter().any(|key| !labels[format!("f:{key}")].is_null())
    };
    let owners: BTreeSet<String> = others().filter(has).map(name).collect();
    if !owners.is_empty() {
        return owners;
    }
    let last = others().max_by_key(|entry| entry["time"].as_str().unwrap_or_default().to_owned());
    last.map(name).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(minute * 60).unwrap()
    }

    #[test]
    fn who_sets_a_label_back_is_answered_after_one_five_and_thirty_minutes_and_named() {
        let (mut fights, node) = (Fights::new(1), NodeName::new("n1"));
        let keys: BTreeSet<Arc<str>> = [Arc::from("team")].into();
        let mut now = 0;
        let mut waits = Vec::new();
        for _ in 0..4 {
            fights.changed(&node, &keys, at(now));
            let until = fights.known[&node].until.as_second() / 60;
            waits.push(until - now);
            now = until;
        }
        assert_eq!(waits, [1, 5, 30, 30]);
        fights.named(&node, ["kubectl-label".to_owned()].into());
        let fought: Vec<String> = fights.fought(at(now)).map(Fought::because).collect();
        assert_eq!(
            fought,
            [
                "next attempt at 1970-01-01T01:06:00Z; field manager `kubectl-label` reset `team` 3 times since 1970-01-01T00:00:00Z: remove it from the NodePool or AKSNodeClass, or from what the other writes"
            ]
        );
        let other: BTreeSet<Arc<str>> = [Arc::from("stage")].into();
        fights.changed(&node, &other, at(now));
        assert_eq!(fights.fought(at(now)).count(), 0, "another label is no fight");
        fights.changed(&node, &other, at(now + 200));
        assert_eq!(fights.fought(at(now + 200)).count(), 0, "hours later it is no fight any more");
    }

    #[test]
    fn the_field_manager_of_a_label_is_read_of_the_node() {
        let entry = |manager: &str, time: &str, labels: Value| json!({"manager": manager, "time": time, "fieldsV1": {"f:metadata": {"f:labels": labels}}});
        let node = json!({"metadata": {"managedFields": [
            entry("nodeform", "2026-01-01T00:00:00Z", json!({"f:team": {}})),
            entry("kubectl-label", "2026-01-01T00:01:00Z", json!({"f:team": {}})),
            entry("kubelet", "2026-01-01T00:02:00Z", json!({"f:other": {}})),
        ]}});
        let of = |key: &str| managers(&node, &[Arc::from(key)].into()).into_iter().collect::<Vec<_>>();
        assert_eq!(of("team"), ["kubectl-label"]);
        assert_eq!(of("gone"), ["kubelet"], "who took it off wrote last");
    }
}
