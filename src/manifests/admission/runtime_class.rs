//! RuntimeClasses: what a runtime takes beside the containers, and on which nodes it is.

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

    /// Returns whether the input holds a class of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Gives a pod what its class says, and returns why the API server would refuse it. A class that the input
    /// does not hold changes nothing: the pod keeps the rule that it names one.
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
