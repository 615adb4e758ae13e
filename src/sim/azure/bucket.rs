//! Throttling: token buckets per subscription and per resource, with Azure's documented sizes.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{ArmError, Call};

/// Size of a bucket: its capacity in requests, and how many are refilled per minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    capacity: i64,
    refill: i64,
}

const fn size(capacity: i64, refill: i64) -> Size {
    Size { capacity, refill }
}

// Azure Resource Manager limits per principal and subscription; compute limits per operation, for the subscription and
// for each VM.
const READS: Size = size(250, 25 * 60);
const WRITES: Size = size(200, 10 * 60);
const DELETES: Size = size(200, 10 * 60);
const COMPUTE_WRITE: Size = size(1_500, 500);
const COMPUTE_WRITE_VM: Size = size(12, 4);
const COMPUTE_GET: Size = size(24_000, 8_000);
const COMPUTE_GET_VM: Size = size(36, 12);
const COMPUTE_LIST: Size = size(900, 300);
const COMPUTE_OPERATION: Size = size(15_000, 5_000);
const COMPUTE_OPERATION_ONE: Size = size(45, 15);
const NETWORK_WRITE: Size = size(1_000, 200);
const NETWORK_READ: Size = size(10_000, 2_000);

/// One request in bucket units: 60,000, so that the refill per millisecond is an integer.
const ONE: i64 = 60_000;

#[derive(Debug, Clone, Copy)]
struct Bucket {
    size: Size,
    level: i64,
    at: Timestamp,
}

impl Bucket {
    const fn full(size: Size, at: Timestamp) -> Self {
        Self { size, level: size.capacity * ONE, at }
    }

    /// Takes one request: returns the remaining requests, or the seconds to wait.
    fn take(&mut self, now: Timestamp, speed: u32) -> Result<i64, i64> {
        let millis = now.duration_since(self.at).as_millis();
        let passed = i64::try_from(millis).unwrap_or(i64::MAX).max(0).saturating_mul(i64::from(speed));
        self.level =
            self.level.saturating_add(passed.saturating_mul(self.size.refill)).min(self.size.capacity * ONE);
        self.at = now;
        if self.level >= ONE {
            self.level -= ONE;
            return Ok(self.level / ONE);
        }
        let millis = (ONE - self.level + self.size.refill - 1) / self.size.refill;
        Err((millis + 999) / 1_000)
    }
}

/// All buckets that have been used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    by_name: BTreeMap<String, Bucket>,
}

impl Buckets {
    /// Takes one request from each bucket of a call and reports the remaining requests in `headers`. A refused request
    /// takes nothing from the buckets after the one that refused it.
    pub(crate) fn take(
        &mut self,
        call: &Call<'_>,
        (now, speed): (Timestamp, u32),
        headers: &mut Vec<(String, String)>,
    ) -> Result<(), ArmError> {
        let (name, size) = match call.method {
            "GET" | "HEAD" => ("reads", READS),
            "DELETE" => ("deletes", DELETES),
            _ => ("writes", WRITES),
        };
        let left = self.take_one(&format!("arm {name}"), size, (now, speed)).map_err(|wait| {
            let message = format!("Number of '{name}' for the subscription exceeded the limit. Please try again after '{wait}' seconds.");
            ArmError::new(429, "SubscriptionRequestsThrottled", message).with_header("Retry-After", wait.to_string())
        })?;
        headers.push((format!("x-ms-ratelimit-remaining-subscription-{name}"), left.to_string()));
        let Some(policy) = policy(call) else { return Ok(()) };
        let mut remaining = Vec::new();
        for (bucket, size, label) in policy.buckets(call) {
            let left =
                self.take_one(&bucket, size, (now, speed)).map_err(|wait| too_many(&label, size, wait))?;
            remaining.push(format!("{label};{left}"));
        }
        if policy.is_shown {
            headers.push(("x-ms-ratelimit-remaining-resource".to_owned(), remaining.join(",")));
        }
        Ok(())
    }

    fn take_one(&mut self, name: &str, size: Size, (now, speed): (Timestamp, u32)) -> Result<i64, i64> {
        self.by_name.entry(name.to_owned()).or_insert_with(|| Bucket::full(size, now)).take(now, speed)
    }
}

fn too_many(label: &str, size: Size, wait: i64) -> ArmError {
    let group = label.rsplit('/').next().unwrap_or_default();
    let message = format!(
        "The server rejected the request because too many requests have been received for this subscription. {{\"operationgroup\":\"{group}\",\"allowedrequestcount\":{},\"measuredrequestcount\":{}}}",
        size.capacity,
        size.capacity + 1
    );
    ArmError::new(429, "OperationNotAllowed", message).with_header("Retry-After", wait.max(1).to_string())
}

/// The resource provider's buckets for a request.
struct Policy {
    name: &'static str,
    all: Size,
    /// The bucket of the single resource.
    one: Option<Size>,
    is_shown: bool,
}

impl Policy {
    fn buckets(&self, call: &Call<'_>) -> Vec<(String, Size, String)> {
        let mut all = vec![(self.name.to_owned(), self.all, self.name.to_owned())];
        if let Some(size) = self.one {
            let lower = call.lower();
            // An extension counts towards its VM.
            let resource = lower.iter().take(8).copied().collect::<Vec<_>>().join("/");
            all.push((format!("{} {resource}", self.name), size, format!("{}Resource", self.name)));
        }
        all
    }
}

fn policy(call: &Call<'_>) -> Option<Policy> {
    let lower = call.lower();
    let provider = lower.iter().position(|segment| *segment == "providers").map(|at| &lower[at + 1..])?;
    let compute = |name, all, one| Some(Policy { name, all, one, is_shown: true });
    match (call.method, provider) {
        ("GET", ["microsoft.compute", "virtualmachines"]) => {
            compute("Microsoft.Compute/HighCostGet", COMPUTE_LIST, None)
        }
        ("GET", ["microsoft.compute", "locations", _, "operations", ..]) => {
            compute("Microsoft.Compute/GetOperation", COMPUTE_OPERATION, Some(COMPUTE_OPERATION_ONE))
        }
        ("GET", ["microsoft.compute", "virtualmachines", ..]) => {
            compute("Microsoft.Compute/LowCostGet", COMPUTE_GET, Some(COMPUTE_GET_VM))
        }
        ("DELETE", ["microsoft.compute", "virtualmachines", _]) => {
            compute("Microsoft.Compute/DeleteVM", COMPUTE_WRITE, Some(COMPUTE_WRITE_VM))
        }
        ("PUT", ["microsoft.compute", "virtualmachines", _]) => {
            compute("Microsoft.Compute/PutVM", COMPUTE_WRITE, Some(COMPUTE_WRITE_VM))
        }
        ("PUT" | "PATCH" | "POST" | "DELETE", ["microsoft.compute", "virtualmachines", ..]) => {
            compute("Microsoft.Compute/UpdateVM", COMPUTE_WRITE, Some(COMPUTE_WRITE_VM))
        }
        ("GET", ["microsoft.network", ..]) => {
            Some(Policy { name: "Microsoft.Network/read", all: NETWORK_READ, one: None, is_shown: false })
        }
        (_, ["microsoft.network", ..]) => {
            Some(Policy { name: "Microsoft.Network/write", all: NETWORK_WRITE, one: None, is_shown: false })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::http::Request;

    fn get(buckets: &mut Buckets, target: &str, now: Timestamp) -> Result<(), ArmError> {
        let request = Request::new("GET", target);
        buckets.take(&Call::of(&request), (now, 1), &mut Vec::new())
    }

    #[test]
    fn one_vm_is_read_36_times_and_then_every_5_seconds() {
        let mut buckets = Buckets::default();
        let vm = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/a?api-version=2024-07-01";
        let now = Timestamp::UNIX_EPOCH;
        for _ in 0..36 {
            get(&mut buckets, vm, now).expect("the bucket holds 36");
        }
        let refused = get(&mut buckets, vm, now).expect_err("the bucket is empty");
        assert_eq!(
            (refused.status, refused.headers),
            (429, vec![("Retry-After".to_owned(), "5".to_owned())])
        );
        let soon = now.checked_add(jiff::SignedDuration::from_secs(5)).expect("near the epoch");
        get(&mut buckets, vm, soon).expect("one has come back");
        get(&mut buckets, vm, soon).expect_err("only one has come back");
        get(&mut buckets, &vm.replace("/a?", "/b?"), soon).expect("another VM has a bucket of its own");
    }
}
