//! Resources: a pod's requests must be left on the node, including extended resources.

use crate::model::Resources;

use super::{Miss, Rule};

/// Checks whether there is enough free capacity.
///
/// # Errors
/// The resource with the largest shortfall, with the requested and available amounts.
pub fn why(requests: &Resources, room: &Resources) -> Result<(), Miss> {
    let lacking = requests.lacking_in(room);
    let misses = lacking.into_iter().map(|name| {
        let (wanted, there) = (requests.get(&name), room.get(&name).max(0));
        let short = i128::from(wanted - there) * 1_000_000 / i128::from(wanted.max(1));
        let because = format!("`{name}` {} requested, {} left", name.show(wanted), name.show(there));
        Miss { rule: Rule::Resource(name), because, short_by: i64::try_from(short).unwrap_or(i64::MAX) }
    });
    match misses.max_by(|a, b| a.short_by.cmp(&b.short_by).then(b.rule.cmp(&a.rule))) {
        None => Ok(()),
        Some(miss) => Err(miss),
    }
}
