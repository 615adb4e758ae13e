//! Names derived from content: the same plan gets the same names on every machine.
//!
//! The item of a create is derived from cluster, scope, parent, pool, claim spec and its ordinal among equals. The
//! parent is the last settled plan, so a name is stable while planning and never used again afterwards. Names are
//! lower-case RFC 1123 labels of at most 63 characters.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::change::{ChangeId, ClaimSpec, ClaimSpecId, ExistingNode};
use super::execution::{Machine, MachineId};
use crate::model::{ClaimName, Digest, PoolName};

/// Length of an id in base32 characters: 50 bits. Two of ten thousand nodes collide in one of twenty million plans;
/// then the second takes the next ordinal.
const ID_LENGTH: usize = 10;

/// Maximum length of the pool's part of a claim name: with `aks-`, the item and `-2` the name stays below 63.
const POOL_LENGTH_MAX: usize = 40;

/// The common part of all items of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lineage {
    /// The cluster's identity; `None` offline.
    pub cluster: Option<Arc<str>>,
    /// The planned NodePools, sorted.
    pub scope: Vec<PoolName>,
    /// The digest of the last settled plan of this scope.
    pub parent: Option<Digest>,
}

/// Returns the digest of a value that always has a JSON form.
pub(super) fn digest_of(value: &impl Serialize) -> Digest {
    // Converted to a value first, so that keys that are not strings in Rust become strings.
    let value = serde_json::to_value(value).expect("plan values have text keys and no floats");
    Digest::of_json(&value).expect("a JSON value has a canonical form")
}

/// Returns the name of a claim spec within its plan.
#[must_use]
pub fn claim_spec_id(spec: &ClaimSpec) -> ClaimSpecId {
    ClaimSpecId(Arc::from(digest_of(spec).base32(ID_LENGTH)))
}

/// Returns the name of a machine within its plan.
#[must_use]
pub fn machine_id(machine: &Machine) -> MachineId {
    MachineId(Arc::from(digest_of(machine).base32(ID_LENGTH)))
}

/// Returns the id and the claim name of a new node, and marks both as used. `ordinal` counts equals; if its names are
/// in use, such as by a node of an earlier plan, later ordinals are tried.
pub fn next_item(
    lineage: &Lineage,
    spec: (&ClaimSpecId, &ClaimSpec),
    ordinal: &mut u64,
    taken: &mut BTreeSet<String>,
) -> (ChangeId, ClaimName) {
    let (id, claim_spec) = spec;
    loop {
        let parts = (lineage, &claim_spec.pool, id, *ordinal);
        let item = digest_of(&parts).base32(ID_LENGTH);
        *ordinal += 1;
        let claim = format!("{}-{item}", pool_part(&claim_spec.pool));
        if !taken.contains(&item) && !taken.contains(&claim) {
            taken.insert(item.clone());
            taken.insert(claim.clone());
            return (ChangeId(Arc::from(item)), ClaimName::new(claim));
        }
    }
}

/// Returns the id of a change to an existing node.
#[must_use]
pub fn target_id(kind: &str, target: &ExistingNode) -> ChangeId {
    let parts = (kind, &target.node, &target.provider_id);
    ChangeId(Arc::from(digest_of(&parts).base32(ID_LENGTH)))
}

/// Returns the name of a claim's VM at the first attempt.
#[must_use]
pub fn vm_name(claim: &ClaimName) -> Arc<str> {
    Arc::from(format!("aks-{claim}"))
}

/// Returns whether a VM or network interface has a name of one of the claim's attempts. Azure ignores case.
#[must_use]
pub fn is_named_after(name: &str, claim: &ClaimName) -> bool {
    let (name, of_claim) = (name.to_ascii_lowercase(), vm_name(claim).to_ascii_lowercase());
    let is_attempt = |rest: &str| {
        let number = rest.strip_prefix('-').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    name.strip_prefix(&of_claim).is_some_and(|rest| rest.is_empty() || is_attempt(rest))
}

/// Returns the claim name for an adopted node: the part of its VM's name after `aks-`, so that the name leads back to
/// the VM, or else a name of its own.
#[must_use]
pub fn adopted_claim(pool: &PoolName, target: &ExistingNode) -> ClaimName {
    match target.node.as_str().strip_prefix("aks-") {
        Some(claim) if is_label(claim) => ClaimName::new(claim),
        Some(_) | None => ClaimName::new(format!("{}-{}", pool_part(pool), target_id("claim", target).0)),
    }
}

/// Returns the start of a pool's name as used in VM names, which must not contain dots.
fn pool_part(pool: &PoolName) -> String {
    let plain = |letter: char| match letter.to_ascii_lowercase() {
        lower if lower.is_ascii_alphanumeric() => lower,
        _ => '-',
    };
    let cut: String = pool.as_str().chars().map(plain).take(POOL_LENGTH_MAX).collect();
    match cut.trim_matches('-') {
        "" => "pool".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

fn is_label(text: &str) -> bool {
    text.len() <= 59
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::{PoolName, pool_part};

    #[test]
    fn the_pool_in_a_name_is_cut_and_stays_a_label() {
        assert_eq!(pool_part(&PoolName::new("general-purpose")), "general-purpose");
        assert_eq!(pool_part(&PoolName::new("team.a")), "team-a");
        let long = format!("{}-tail", "x".repeat(39));
        assert_eq!(pool_part(&PoolName::new(long)), "x".repeat(39));
        assert_eq!(pool_part(&PoolName::new("…")), "pool");
    }
}
