//! PriorityClasses, and the priority and preemption policy of pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cursor::Cursor;
use super::meta::Meta;
use super::pod::{I32_RANGE, PodBody, never_preempts};

/// Built-in classes of every cluster, with their values.
const BUILT_IN: [(&str, i32); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// The classes of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priorities {
    values: BTreeMap<Arc<str>, i32>,
    default: Option<i32>,
    /// Classes whose pods never preempt.
    without_preemption: BTreeSet<Arc<str>>,
    /// The class of pods that name none.
    default_class: Option<Arc<str>>,
}

impl Priorities {
    /// Reads a PriorityClass.
    pub fn read(&mut self, object: Cursor<'_>) {
        if object.get("value").is_none() {
            object.missing("value", "a PriorityClass needs a whole number");
        }
        let value = object.integer("value", I32_RANGE).and_then(|value| i32::try_from(value).ok());
        let (Some(meta), Some(value)) = (Meta::read(object), value) else { return };
        if object.flag("globalDefault") {
            // Of several defaults, Kubernetes uses the lowest.
            if self.default.is_none_or(|present| value < present) {
                (self.default, self.default_class) = (Some(value), Some(Arc::clone(&meta.name)));
            }
        }
        if never_preempts(object) == Some(true) {
            self.without_preemption.insert(Arc::clone(&meta.name));
        }
        self.values.insert(meta.name, value);
    }

    /// Returns whether the input holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the priority of a pod; an unknown class counts as 0 and is added to `unknown`.
    #[must_use]
    pub fn of(&self, body: &PodBody, unknown: &mut BTreeSet<Arc<str>>) -> i32 {
        if let Some(priority) = body.priority {
            return priority;
        }
        let Some(class) = &body.priority_class else { return self.default.unwrap_or(0) };
        let built_in = BUILT_IN.iter().find(|(name, _)| **name == **class).map(|(_, value)| *value);
        built_in.or_else(|| self.values.get(class).copied()).unwrap_or_else(|| {
            unknown.insert(Arc::clone(class));
            0
        })
    }

    /// Returns whether a pod never preempts: by its own policy, else by that of its PriorityClass.
    #[must_use]
    pub fn never_preempts(&self, body: &PodBody) -> bool {
        let class = body.priority_class.as_ref().or(self.default_class.as_ref());
        let of_class = || class.is_some_and(|class| self.without_preemption.contains(class));
        body.never_preempts.unwrap_or_else(of_class)
    }
}
