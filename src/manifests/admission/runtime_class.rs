//! RuntimeClasses: the overhead of a runtime, and the nodes that have it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifests::cursor::{Amounts, Cursor};
use crate::manifests::meta::Meta;
use crate::manifests::pod::requests::Written;
use crate::manifests::pod::{self, PodBody, tolerations};
use crate::model::{Requirements, Resources, SchedulingRule, Toleration};

/// A RuntimeClass.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RuntimeClass {
    overhead: Resources,
    node_selector: Requirements,
    tolerations: Vec<Toleration>,
}

/// The RuntimeClasses of the input, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeClasses(BTreeMap<Arc<str>, RuntimeClass>);

impl RuntimeClasses {
    /// Reads a RuntimeClass.
    pub fn read(&mut self, object: Cursor<'_>) {
        let Some(meta) = Meta::read(object) else { return };
        let overhead =
            object.get("overhead").map(|overhead| overhead.resources("podFixed", Amounts::Requests));
        let scheduling = object.get("scheduling");
        let class = RuntimeClass {
            overhead: overhead.unwrap_or_default(),
            node_selector: scheduling.map(pod::node_selector).unwrap_or_default(),
            tolerations: scheduling.map(tolerations::read).unwrap_or_default(),
        };
        self.0.insert(meta.name, class);
    }

    /// Returns whether the input holds a class with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Applies its class to a pod, and returns why the API server would reject it. A class missing from the input
    /// changes nothing: the pod is still marked as having one.
    pub fn apply(&self, name: &str, body: &mut PodBody, written: &mut Written) -> Option<String> {
        let RuntimeClass { overhead, node_selector, tolerations } = self.0.get(name)?;
        if written.overhead == Resources::none() {
            written.overhead = overhead.clone();
        }
        let spec = &mut body.spec;
        let refusal = node_selector.iter().find_map(|(key, wanted)| {
            let own = spec.node_selector.get(key.as_str())?;
            (!own.intersects(wanted))
                .then(|| format!("its node selector of `{key}` is not that of RuntimeClass `{name}`"))
        });
        spec.node_selector.add_all(node_selector);
        spec.tolerations.extend(tolerations.iter().cloned());
        spec.tolerations.sort();
        spec.tolerations.dedup();
        spec.other_rules.remove(&SchedulingRule::RuntimeClass);
        refusal
    }
}
