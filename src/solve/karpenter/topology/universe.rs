//! The domains that there are at all: what pools and their sizes can have of each label.
//!
//! A domain remembers under which taints it can be had. Labels of nodes that exist are added by whoever counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{LabelKey, Requirement, Taint, Toleration};
use crate::solve::karpenter::meeting::Meetings;
use crate::solve::karpenter::nodes::tolerates;
use crate::solve::karpenter::template::{Shelves, Template};

/// The values of labels that pools can make, each with the taints of those pools.
#[derive(Clone, Debug, Default)]
pub(in crate::solve::karpenter) struct Universe<'a>(
    BTreeMap<LabelKey, BTreeMap<Arc<str>, BTreeSet<&'a [Taint]>>>,
);

impl<'a> Universe<'a> {
    /// Reads what pools can make.
    pub(in crate::solve::karpenter) fn of(
        templates: &[Template<'a>],
        shelves: &Shelves<'_>,
        meetings: &Meetings<'_>,
    ) -> Self {
        let mut universe = Self::default();
        for template in templates {
            let pool = template.pool;
            let mut own = pool.requirements.clone();
            own.add_all(&crate::model::Requirements::of_labels(
                pool.labels.iter().map(|(key, value)| (key.as_str(), &**value)),
            ));
            for (key, requirement) in own.iter() {
                universe.add(key, requirement, &pool.taints);
            }
            let base = meetings.get(template.base);
            let shelf = &shelves.all[template.shelf];
            let mut seen: BTreeSet<(&LabelKey, &Requirement)> = BTreeSet::new();
            for place in template.kinds.iter() {
                seen.extend(shelf.kinds[place].requirements.iter());
            }
            for (key, requirement) in seen {
                match base.get(key.as_str()) {
                    Some(there) => universe.add(key, &there.intersection(requirement), &pool.taints),
                    None => universe.add(key, requirement, &pool.taints),
                }
            }
        }
        universe
    }

    fn add(&mut self, key: &LabelKey, requirement: &Requirement, taints: &'a [Taint]) {
        let values = requirement.listed().into_iter().flatten();
        let domains = self.0.entry(key.clone()).or_default();
        for value in values {
            domains.entry(Arc::clone(value)).or_default().insert(taints);
        }
    }

    /// Returns the domains of a label; where tolerations are given, those that can be had under taints which they
    /// stand.
    pub(super) fn domains(&self, key: &LabelKey, tolerations: Option<&[Toleration]>) -> BTreeSet<Arc<str>> {
        let all = self.0.get(key).into_iter().flatten();
        let reachable = |taints: &BTreeSet<&[Taint]>| {
            tolerations.is_none_or(|tolerations| taints.iter().any(|taints| tolerates(tolerations, taints)))
        };
        all.filter(|(_, taints)| reachable(taints)).map(|(domain, _)| Arc::clone(domain)).collect()
    }
}
