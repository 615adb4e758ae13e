//! Labels that a node has or will have, and whether they meet a pod's requirements.
//!
//! Kubernetes uses the labels on the node, so a new node is checked against the labels that are settled before it is
//! created. A label with several possible values meets a requirement only if the pod accepts each of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::label::HOSTNAME;
use crate::model::{
    InstanceType, LabelKey, Node, NodeStage, Offering, PodSpec, Pool, Requirement, Requirements, label,
};

/// What is known of one label before the node exists.
#[derive(Clone, Debug)]
enum Value {
    /// It has this value.
    Settled(Arc<str>),
    /// It will have one of the values that this accepts.
    Open(Requirement),
    /// It is absent unless a value that this accepts is chosen: the requirement only excludes values (`NotIn`), or all
    /// of them (`DoesNotExist`).
    Optional(Requirement),
}

/// Labels of a node; a label that is not listed is absent.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    values: BTreeMap<LabelKey, Value>,
    /// Whether the node's own name is not known yet.
    is_unnamed: bool,
}

/// Domain of a node in the topology of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Domain<'l> {
    /// The domain of all nodes with this value.
    Value(&'l str),
    /// A domain of its own: the value is the node's name, which is not known yet.
    Own,
    /// Unknown: several values are possible.
    Open,
    /// None: the node does not have the label.
    Absent,
}

impl Labels {
    /// Returns the labels of an existing node.
    pub(super) fn of_node(node: &Node) -> Self {
        let mut values: BTreeMap<_, _> =
            node.labels.iter().map(|(key, value)| (key.clone(), Value::Settled(Arc::clone(value)))).collect();
        // A claim that has not joined is listed under the claim's name, which is not its node's.
        let is_unnamed = node.stage == NodeStage::Launching;
        if !is_unnamed {
            let name = || Value::Settled(Arc::from(node.name.as_str()));
            values.entry(LabelKey::new(HOSTNAME)).or_insert_with(name);
        }
        Self { values, is_unnamed }
    }

    /// Returns the labels of a new node of this pool with this offering.
    pub(super) fn of_offering(pool: &Pool, size: &InstanceType, offering: &Offering) -> Self {
        let mut all = size.requirements.clone();
        all.add_all(&offering.requirements);
        all.add_all(&pool.node_requirements());
        let chosen = [
            (label::INSTANCE_TYPE, size.name.as_str()),
            (label::ZONE, offering.zone.as_str()),
            (label::CAPACITY_TYPE, offering.capacity_type.as_str()),
        ];
        all.add_all(&Requirements::of_labels(chosen));
        let values = all
            .iter()
            .map(|(key, requirement)| {
                let value = match requirement.single() {
                    Some(value) => Value::Settled(Arc::clone(value)),
                    None if requirement.accepts_absence() => Value::Optional(requirement.clone()),
                    None => Value::Open(requirement.clone()),
                };
                (key.clone(), value)
            })
            .collect();
        let mut labels = Self { values, is_unnamed: true };
        // The pool's labels are set on its nodes, whatever its requirements say.
        for (key, value) in &pool.labels {
            labels.values.insert(key.clone(), Value::Settled(Arc::clone(value)));
        }
        labels
    }

    /// Settles a label that was open or not mentioned.
    ///
    /// # Errors
    /// What is wrong with the choice; the label then stays as it was.
    pub(super) fn choose(
        &mut self,
        key: &LabelKey,
        value: &Arc<str>,
        is_well_known: bool,
    ) -> Result<(), String> {
        match self.values.get(key) {
            Some(Value::Settled(present)) if present == value => return Ok(()),
            Some(Value::Settled(present)) => {
                return Err(format!("label `{key}` is `{present}`, not `{value}`"));
            }
            Some(Value::Open(open) | Value::Optional(open)) if !open.accepts(value) => {
                return Err(format!("label `{key}` is {open}, not `{value}`"));
            }
            None if !is_well_known => {
                return Err(format!("label `{key}` is given `{value}`, but neither pool nor size has it"));
            }
            Some(Value::Open(_) | Value::Optional(_)) | None => {}
        }
        self.values.insert(key.clone(), Value::Settled(Arc::clone(value)));
        Ok(())
    }

    /// Returns the labels for counting nodes: a label with unlimited values gets one that no list contains.
    pub(super) fn in_the_end(&self) -> Cow<'_, Self> {
        let is_endless = |value: &Value| match value {
            Value::Open(open) => open.listed().is_none() && open.bounds() == (None, None),
            Value::Settled(_) | Value::Optional(_) => false,
        };
        if !self.values.values().any(is_endless) {
            return Cow::Borrowed(self);
        }
        let mut labels = self.clone();
        for value in labels.values.values_mut().filter(|value| is_endless(value)) {
            // Not a valid label value, so no list contains it.
            *value = Value::Settled(Arc::from("?"));
        }
        Cow::Owned(labels)
    }

    /// Returns whether these labels meet all requirements.
    ///
    /// # Errors
    /// The first label that does not, and why.
    pub(super) fn meet(&self, wanted: &Requirements) -> Result<(), String> {
        wanted.iter().try_for_each(|(key, requirement)| self.meets(key, requirement))
    }

    fn meets(&self, key: &LabelKey, wanted: &Requirement) -> Result<(), String> {
        let met = match self.values.get(key) {
            Some(Value::Settled(value)) => wanted.accepts(value),
            Some(Value::Open(open)) => takes_every(wanted, open),
            None if self.is_unnamed && key.as_str() == HOSTNAME => {
                wanted.listed().is_none() && wanted.bounds() == (None, None)
            }
            Some(Value::Optional(_)) | None => wanted.accepts_absence(),
        };
        if met {
            Ok(())
        } else {
            Err(format!("`{key}` {wanted} is asked for, the node has {}", self.show(key)))
        }
    }

    /// Returns whether the node may meet the requirements. Like [`Self::meet`], but an open label meets a requirement
    /// if one of its values does, and a label that is not mentioned if `may_be_given` accepts it.
    pub(super) fn may_meet(&self, wanted: &Requirements, may_be_given: impl Fn(&LabelKey) -> bool) -> bool {
        wanted.iter().all(|(key, requirement)| match self.values.get(key) {
            Some(Value::Open(open)) => open.intersects(requirement),
            Some(Value::Optional(open)) => {
                requirement.accepts_absence() || (may_be_given(key) && open.intersects(requirement))
            }
            None if may_be_given(key) => true,
            Some(Value::Settled(_)) | None => self.meets(key, requirement).is_ok(),
        })
    }

    /// Returns the node's domain in the topology of a label.
    pub(super) fn domain(&self, key: &LabelKey) -> Domain<'_> {
        match self.values.get(key) {
            Some(Value::Settled(value)) => Domain::Value(value),
            Some(Value::Open(_)) => Domain::Open,
            None if self.is_unnamed && key.as_str() == HOSTNAME => Domain::Own,
            Some(Value::Optional(_)) | None => Domain::Absent,
        }
    }

    /// Returns whether the node has, or may get, this value.
    pub(super) fn may_be(&self, key: &LabelKey, value: &str) -> bool {
        match self.values.get(key) {
            Some(Value::Settled(present)) => &**present == value,
            Some(Value::Open(open) | Value::Optional(open)) => open.accepts(value),
            None => false,
        }
    }

    fn show(&self, key: &LabelKey) -> String {
        match self.values.get(key) {
            Some(Value::Settled(value)) => format!("`{value}`"),
            Some(Value::Open(open)) => format!("not settled which of {open}"),
            None if self.is_unnamed && key.as_str() == HOSTNAME => "no name yet".to_owned(),
            Some(Value::Optional(_)) | None => "no such label".to_owned(),
        }
    }
}

/// Returns whether every value that is still possible is accepted; if they cannot be listed, whether nothing is
/// required of them.
fn takes_every(wanted: &Requirement, open: &Requirement) -> bool {
    match open.listed() {
        Some(values) => values.iter().all(|value| wanted.accepts(value)),
        None => *wanted == Requirement::any() || wanted.intersection(open) == *open,
    }
}

/// Checks that a pod may run on a node with these labels: its node selector and one term of its required node affinity
/// must be met.
pub(super) fn pod_meets(spec: &PodSpec, labels: &Labels) -> Result<(), String> {
    labels.meet(&spec.node_selector)?;
    let Some(terms) = &spec.node_affinity.required else { return Ok(()) };
    let mut nearest = Err("no term of its required node affinity can ever hold".to_owned());
    for term in terms {
        match labels.meet(term) {
            Ok(()) => return Ok(()),
            Err(why) => nearest = Err(why),
        }
    }
    nearest
}

/// Returns whether a daemonset's pod may come to such a node. Open labels, and labels that `may_be_given` says the node
/// can still get, count in its favour: its capacity must be reserved.
pub(super) fn daemon_may_come(
    spec: &PodSpec,
    labels: &Labels,
    may_be_given: impl Fn(&LabelKey) -> bool,
) -> bool {
    let may_meet = |wanted: &Requirements| labels.may_meet(wanted, &may_be_given);
    let terms = spec.node_affinity.required.as_ref();
    may_meet(&spec.node_selector) && terms.is_none_or(|terms| terms.iter().any(may_meet))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Labels, Value, pod_meets};
    use crate::model::{LabelKey, NodeAffinity, Operator, PodSpec, Requirement, Requirements};

    fn labels(values: &[(&str, Value)]) -> Labels {
        let values = values.iter().map(|(key, value)| (LabelKey::new(key), value.clone())).collect();
        Labels { values, is_unnamed: true }
    }

    #[test]
    fn an_open_label_is_met_only_where_each_value_would_do() {
        let open = Value::Open(Requirement::new(Operator::In, ["a", "b"]));
        let node = labels(&[("team", open)]);
        let asks = |requirement| node.meet(&Requirements::none().with("team", requirement));
        assert!(asks(Requirement::any()).is_ok());
        assert!(asks(Requirement::new(Operator::NotIn, ["c"])).is_ok());
        assert!(asks(Requirement::one("a")).is_err());
        assert!(asks(Requirement::new(Operator::DoesNotExist, [""])).is_err());
    }

    #[test]
    fn one_term_of_several_is_enough_and_none_of_none_is_not() {
        let node = labels(&[("zone", Value::Settled(Arc::from("1")))]);
        let term = |zone| Requirements::none().with("zone", Requirement::one(zone));
        let spec = |terms| PodSpec {
            node_affinity: NodeAffinity { required: Some(terms), preferred: Vec::new() },
            ..PodSpec::default()
        };
        assert!(pod_meets(&spec(vec![term("2"), term("1")]), &node).is_ok());
        assert!(pod_meets(&spec(vec![term("2"), term("3")]), &node).is_err());
        assert!(pod_meets(&spec(Vec::new()), &node).is_err());
    }

    #[test]
    fn a_new_node_has_a_name_that_nobody_knows_yet() {
        let node = labels(&[]);
        let asks = |requirement| {
            node.meet(&Requirements::none().with("kubernetes.io/hostname", requirement)).is_ok()
        };
        assert!(asks(Requirement::any()));
        assert!(asks(Requirement::new(Operator::NotIn, ["old-1"])));
        assert!(!asks(Requirement::one("old-1")));
    }
}
