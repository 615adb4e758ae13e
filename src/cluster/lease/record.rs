//! A Lease as leader election reads and writes it.
//!
//! Must never compare its times: they come from other machines' clocks, and are for display only.

use jiff::Timestamp;
use serde_json::{Value, json};

/// Contents of a Lease, besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The holder; empty if there is none.
    pub holder: String,
    /// Seconds after its last observed change during which no other process may take it; 0 if not set.
    pub lease_seconds: u64,
    /// How often its holder has changed.
    pub transitions: u64,
    /// Since when it is held, as the holder wrote it.
    pub acquire_time: String,
    /// When it was last renewed, as the holder wrote it.
    pub renew_time: String,
}

impl Record {
    /// Reads a Lease; missing or invalid fields are empty.
    #[must_use]
    pub fn of(lease: &Value) -> Self {
        let text = |field: &str| {
            let found = lease.pointer(&format!("/spec/{field}")).and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let number = |field: &str| lease.pointer(&format!("/spec/{field}")).and_then(Value::as_u64);
        Self {
            holder: text("holderIdentity"),
            lease_seconds: number("leaseDurationSeconds").unwrap_or(0),
            transitions: number("leaseTransitions").unwrap_or(0),
            acquire_time: text("acquireTime"),
            renew_time: text("renewTime"),
        }
    }

    /// Writes the record into a Lease that was read: everything else in it is kept, above all its `resourceVersion`.
    #[must_use]
    pub fn written_into(&self, mut lease: Value) -> Value {
        let Self { holder, lease_seconds, transitions, acquire_time, renew_time } = self;
        if !lease["spec"].is_object() {
            lease["spec"] = json!({});
        }
        let spec = &mut lease["spec"];
        spec["holderIdentity"] = json!(holder);
        spec["leaseDurationSeconds"] = json!(lease_seconds);
        spec["leaseTransitions"] = json!(transitions);
        spec["acquireTime"] = json!(acquire_time);
        spec["renewTime"] = json!(renew_time);
        lease
    }
}

/// Formats a time as Kubernetes' `MicroTime`.
#[must_use]
pub fn micro_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_microseconds() {
        let time: Timestamp = "2026-02-03T04:05:06.5Z".parse().unwrap();
        assert_eq!(micro_time(time), "2026-02-03T04:05:06.500000Z");
    }

    #[test]
    fn what_others_wrote_into_a_lease_stays() {
        let lease = json!({
            "metadata": {"name": "x", "resourceVersion": "7", "labels": {"a": "b"}},
            "spec": {"holderIdentity": "old", "strategy": "OldestEmulationVersion"},
        });
        let record = Record { holder: "new".to_owned(), lease_seconds: 15, ..Record::of(&lease) };
        let written = record.written_into(lease);
        assert_eq!(written["metadata"]["resourceVersion"], "7");
        assert_eq!(written["spec"]["strategy"], "OldestEmulationVersion");
        assert_eq!(Record::of(&written), record);
    }

    #[test]
    fn a_lease_that_is_none_is_held_by_nobody() {
        for strange in [json!(null), json!({"spec": 5}), json!({"spec": {"leaseDurationSeconds": -3}})] {
            assert_eq!(Record::of(&strange), Record::default(), "{strange}");
        }
        let made = Record::default().written_into(json!({"spec": 5}));
        assert_eq!(made["spec"]["holderIdentity"], "");
    }
}
