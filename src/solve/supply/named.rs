//! Burstable (B) and HPC (H) sizes: used only if a requirement names them, because credits and interconnect cannot be
//! planned.

use crate::model::{InstanceType, Requirements, label};

/// The families, as in the family label.
const FAMILIES: [&str; 2] = ["B", "H"];

/// The labels that name a size.
const NAMING: [&str; 4] = [label::SKU_FAMILY, label::SKU_SERIES, label::SKU_NAME, label::INSTANCE_TYPE];

/// Returns whether a size is used only if a requirement names it.
#[must_use]
pub fn needs_name(kind: &InstanceType) -> bool {
    let family = kind.requirements.get(label::SKU_FAMILY).and_then(|family| family.single());
    family.is_some_and(|family| FAMILIES.contains(&&**family))
}

/// Returns whether these requirements name a size: they list its family, its series or its own name.
#[must_use]
pub fn names(requirements: &Requirements, kind: &InstanceType) -> bool {
    NAMING.iter().any(|key| {
        let listed = requirements.get(key).filter(|wanted| wanted.listed().is_some_and(|l| !l.is_empty()));
        let there = kind.requirements.get(key);
        listed.zip(there).is_some_and(|(wanted, there)| wanted.intersects(there))
    })
}
