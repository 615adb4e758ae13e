//! The annotations that reveal a node's drift: hashes of the objects that it was created from.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{NodeClass, Pool, label};
use crate::policy::CLASS_HASH_VERSION;

/// Returns the annotations of a claim of this pool and class.
pub(super) fn annotations(pool: &Pool, class: &NodeClass) -> BTreeMap<Arc<str>, Arc<str>> {
    let stamps: [(&str, Arc<str>); 5] = [
        ("karpenter.sh/nodepool-hash", pool.template_hash()),
        ("karpenter.sh/nodepool-hash-version", Arc::from(Pool::TEMPLATE_HASH_VERSION)),
        (label::REQUIREMENTS_HASH, pool.requirements_hash()),
        ("karpenter.azure.com/aksnodeclass-hash", class.hash.clone()),
        ("karpenter.azure.com/aksnodeclass-hash-version", Arc::from(CLASS_HASH_VERSION)),
    ];
    stamps.into_iter().map(|(key, value)| (Arc::from(key), value)).collect()
}
