//! Names: each is valid, unique and derived from the item that it names.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use super::made::Made;
use crate::model::Digest;
use crate::plan::{ChangeId, ClaimSpecId};

/// Length of an item in characters: enough that two items of a cluster never collide.
const ITEM_LENGTH: usize = 10;

/// Maximum length of the pool's name within its claims' names, in characters.
const POOL_LENGTH_MAX: usize = 40;

/// How many counters are tried beyond those that can be explained, because two items may collide.
const SLACK: usize = 16;

/// Maximum length of a label value, in characters, and so of a name that identifies nodes.
const NAME_LENGTH_MAX: usize = 63;

/// Returns the wrong names.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = case.plan.spec.changes.keys().filter_map(wrong_item).collect();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    for node in case.snapshot.nodes_today() {
        taken.insert(node.name.as_str());
        taken.extend(node.claim.iter().map(|claim| claim.as_str()));
    }
    for made in &case.made {
        for name in [made.create.claim.as_str(), &made.create.vm] {
            let mut object = |why: String| {
                found.push(Finding::new(Rule::Names, format!("name `{name}`"), why));
            };
            if !taken.insert(name) {
                object("is given to two things".to_owned());
            }
            if !is_valid(name) {
                object(format!(
                    "is not a valid name: up to {NAME_LENGTH_MAX} lower-case letters, digits and `-`"
                ));
            }
        }
        found.extend(underived(made));
    }
    found.extend(made_up_items(case));
    found
}

fn wrong_item(id: &ChangeId) -> Option<Finding> {
    let is_base32 = |byte: u8| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte);
    let is_item = id.0.len() == ITEM_LENGTH && id.0.bytes().all(is_base32);
    let message = format!("is not {ITEM_LENGTH} characters of lower-case base32");
    (!is_item).then(|| Finding::new(Rule::Names, format!("change `{id}`"), message))
}

/// Checks that a claim is named after its pool and item, and a VM after its claim.
fn underived(made: &Made<'_>) -> Option<Finding> {
    let claim = format!("{}-{}", pool_part(made.pool.as_str()), made.id);
    let vm = format!("aks-{claim}");
    let (has_claim, has_vm) = (made.create.claim.as_str(), &*made.create.vm);
    (has_claim != claim || has_vm != vm).then(|| {
        let message = format!("does not follow from pool and item: `{claim}` and `{vm}` are expected");
        Finding::new(Rule::Names, made.title(), message)
    })
}

/// Returns the pool's part of its claims' names, without dots because VM names have none.
fn pool_part(pool: &str) -> String {
    let mut part = String::new();
    for letter in pool.chars().take(POOL_LENGTH_MAX) {
        let lower = letter.to_ascii_lowercase();
        part.push(if lower.is_ascii_alphanumeric() { lower } else { '-' });
    }
    let part = part.trim_matches('-');
    if part.is_empty() { "pool".to_owned() } else { part.to_owned() }
}

/// Returns the creates whose item is not derived from cluster, scope, parent, pool, claim spec and a counter among
/// equals: such a name could be used twice.
fn made_up_items(case: &Case<'_>) -> Vec<Finding> {
    let spec = &case.plan.spec;
    let lineage = serde_json::json!({"cluster": spec.cluster, "scope": spec.scope, "parent": spec.parent});
    let mut equals: BTreeMap<&ClaimSpecId, Vec<&Made<'_>>> = BTreeMap::new();
    for made in &case.made {
        equals.entry(&made.create.spec).or_default().push(made);
    }
    let mut found = Vec::new();
    for (id, equals) in equals {
        // Counters are skipped if earlier plans gave their names to nodes that exist. A narrowed plan may omit earlier
        // equals; each of them would hold at least one pod.
        let left_out = if spec.targets.is_empty() { 0 } else { case.snapshot.pods.len() };
        let counters = equals.len() + case.snapshot.nodes_today().count() + left_out + SLACK;
        let mut strangers: BTreeMap<&str, &Made<'_>> =
            equals.iter().map(|made| (&*made.id.0, *made)).collect();
        for counter in 0..counters {
            // Almost always only the first counters are used.
            if strangers.is_empty() {
                break;
            }
            if let Ok(digest) = Digest::of_json(&(&lineage, equals[0].pool, id, counter)) {
                strangers.remove(&*digest.base32(ITEM_LENGTH));
            }
        }
        found.extend(strangers.into_values().map(|made| {
            let message = format!("item `{}` does not follow from what it stands for", made.id);
            Finding::new(Rule::Names, made.title(), message)
        }));
    }
    found
}

/// Returns whether a name is an RFC 1123 label: lower-case letters, digits and inner hyphens.
fn is_valid(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [name.bytes().next(), name.bytes().next_back()];
    name.len() <= NAME_LENGTH_MAX
        && name.bytes().all(|byte| is_letter(byte) || byte == b'-')
        && ends.into_iter().all(|end| end.is_some_and(is_letter))
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn names_are_those_of_rfc_1123() {
        for name in ["a", "default-ab2", &"x".repeat(63)] {
            assert!(is_valid(name), "{name}");
        }
        for name in ["", "-a", "a-", "A", "a.b", "a_b", "ü", &"x".repeat(64)] {
            assert!(!is_valid(name), "{name}");
        }
    }
}
