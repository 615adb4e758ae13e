//! All possible domains: the label values that pools and their sizes can have.
//!
//! A domain records the taints under which it is available. Never includes labels of existing nodes: callers add them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{InstanceType, LabelKey, Requirement, Requirements, Taint, Toleration};
use crate::solve::karpenter::meeting::Meetings;
use crate::solve::karpenter::nodes::tolerates;
use crate::solve::karpenter::template::{Shelves, Template};

/// Values of a label, each with the numbers of the sources that provide it.
type Domains = BTreeMap<Arc<str>, BTreeSet<usize>>;

/// Label values that pools can provide. A label is evaluated on demand, because rules use few of thirty.
pub(in crate::solve::karpenter) struct Universe<'a> {
    sources: Vec<Source<'a>>,
    known: RefCell<BTreeMap<LabelKey, Rc<Domains>>>,
}

/// Possible labels of one pool's nodes.
struct Source<'a> {
    /// Requirements and labels of the pool.
    own: Requirements,
    /// Requirements of its nodes.
    base: Requirements,
    kinds: Vec<&'a InstanceType>,
    taints: &'a [Taint],
}

impl<'a> Universe<'a> {
    /// Reads the possible labels of the pools.
    pub(in crate::solve::karpenter) fn of(
        templates: &[Template<'a>],
        shelves: &Shelves<'a>,
        meetings: &Meetings<'_>,
    ) -> Self {
        let source = |template: &Template<'a>| {
            let pool = template.pool;
            let mut own = pool.requirements.clone();
            let labels = pool.labels.iter().map(|(key, value)| (key.as_str(), &**value));
            own.add_all(&Requirements::of_labels(labels));
            let base = meetings.get(template.base).clone();
            let shelf = &shelves.all[template.shelf];
            let kinds = template.kinds.iter().map(|place| shelf.kinds[place]).collect();
            Source { own, base, kinds, taints: &pool.taints }
        };
        Self { sources: templates.iter().map(source).collect(), known: RefCell::default() }
    }

    fn known(&self, key: &LabelKey) -> Rc<Domains> {
        if let Some(known) = self.known.borrow().get(key) {
            return Rc::clone(known);
        }
        let mut domains = Domains::default();
        for (number, source) in self.sources.iter().enumerate() {
            for value in source.values(key.as_str()) {
                domains.entry(value).or_default().insert(number);
            }
        }
        let domains = Rc::new(domains);
        self.known.borrow_mut().insert(key.clone(), Rc::clone(&domains));
        domains
    }

    /// Returns the domains of a label; if tolerations are given, those that are available under tolerated taints.
    pub(super) fn domains(&self, key: &LabelKey, tolerations: Option<&[Toleration]>) -> BTreeSet<Arc<str>> {
        let is_open =
            |source: &Source<'_>| tolerations.is_none_or(|tolerations| tolerates(tolerations, source.taints));
        let open: Vec<bool> = self.sources.iter().map(is_open).collect();
        let reachable = |sources: &BTreeSet<usize>| sources.iter().any(|source| open[*source]);
        let all = self.known(key);
        let all = all.iter().filter(|(_, sources)| reachable(sources));
        all.map(|(domain, _)| Arc::clone(domain)).collect()
    }
}

impl Source<'_> {
    /// Returns the possible values of a label.
    fn values(&self, key: &str) -> BTreeSet<Arc<str>> {
        let of_kinds: BTreeSet<&Requirement> =
            self.kinds.iter().filter_map(|kind| kind.requirements.get(key)).collect();
        let mut values = BTreeSet::new();
        let mut add = |requirement: &Requirement| {
            values.extend(requirement.listed().into_iter().flatten().cloned());
        };
        self.own.get(key).into_iter().for_each(&mut add);
        for requirement in of_kinds {
            match self.base.get(key) {
                Some(there) => add(&there.intersection(requirement)),
                None => add(requirement),
            }
        }
        values
    }
}
