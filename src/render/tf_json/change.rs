//! Action for each node, in Terraform's terms. Searching for `delete` finds every node to delete.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::machine::{self, PROVIDER, TYPE, address, local_name};
use crate::model::{Node, NodeName, PoolName};
use crate::plan::{Change as Planned, OldNew, Update, World};
use crate::render::view::{NewNodeView, PlanView};

/// Terraform's reason for a deletion because of the keys of a `for_each`.
pub(super) const EACH_KEY: &str = "delete_because_each_key";

/// A node and its action.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) pool: Option<PoolName>,
    pub(super) name: String,
    pub(super) what: What,
    pub(super) before: Option<Map<String, Value>>,
    pub(super) after: Option<Map<String, Value>>,
    pub(super) reason: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Keep,
    Create,
    Delete,
    Update,
    Import,
    Forget,
    /// Already deleted by others.
    Drift,
}

/// Returns the action for every existing and new node, by pool and name.
pub(super) fn of_plan(view: &PlanView<'_>) -> Vec<Change> {
    let world = &view.plan.evidence.world;
    let changes = &view.plan.spec.changes;
    let planned: BTreeMap<&NodeName, &Planned> = changes
        .values()
        .filter_map(|planned| Some((&planned.change.target()?.node, &planned.change)))
        .collect();
    let of = |node: &Node| match planned.get(&node.name) {
        Some(planned) => of_existing(world, node, planned),
        None if node.is_deleting => of_node(node, world, What::Drift),
        None => of_node(node, world, What::Keep),
    };
    let mut all: Vec<Change> = world.nodes.iter().map(of).collect();
    let made = view.new_nodes().filter(|node| {
        let planned = changes.get(node.id).map(|planned| &planned.change);
        planned.is_some_and(|change| change.target().is_none())
    });
    all.extend(made.map(|node| of_new(&node, world)));
    all.sort_by(|one, other| (&one.pool, &one.name).cmp(&(&other.pool, &other.name)));
    all
}

fn of_new(node: &NewNodeView<'_>, world: &World) -> Change {
    Change {
        pool: Some(node.claim.pool.clone()),
        name: node.create.vm.to_string(),
        what: What::Create,
        before: None,
        after: Some(machine::new(node, world)),
        reason: None,
    }
}

fn of_node(node: &Node, world: &World, what: What) -> Change {
    let values = machine::existing(node, world);
    let after = match what {
        What::Delete | What::Forget | What::Drift => None,
        What::Keep | What::Create | What::Update | What::Import => Some(values.clone()),
    };
    Change {
        pool: node.pool.clone(),
        name: node.name.to_string(),
        what,
        before: Some(values),
        after,
        reason: None,
    }
}

fn of_existing(world: &World, node: &Node, planned: &Planned) -> Change {
    match planned {
        // The node's name is no longer among its pool's keys.
        Planned::Delete(_) => Change { reason: Some(EACH_KEY), ..of_node(node, world, What::Delete) },
        Planned::Update(update) => {
            let mut change = of_node(node, world, What::Update);
            change.after.iter_mut().for_each(|values| retag(values, update));
            change
        }
        Planned::Adopt(_) => of_node(node, world, What::Import),
        Planned::Forget(_) => of_node(node, world, What::Forget),
        Planned::Create(_) | Planned::NoOp(_) => of_node(node, world, What::Keep),
    }
}

fn retag(values: &mut Map<String, Value>, update: &Update) {
    let Some(Value::Object(tags)) = values.get_mut("tags") else { return };
    for (key, OldNew { old: _, new }) in &update.tags {
        match new {
            Some(value) => tags.insert(key.to_string(), json!(&**value)),
            None => tags.remove(&**key),
        };
    }
}

impl Change {
    /// Returns whether others have already done it.
    pub(super) fn is_drift(&self) -> bool {
        self.what == What::Drift
    }

    /// Returns the planned node; `None` if it will not exist or not be managed.
    pub(super) fn planned(&self) -> Option<Value> {
        self.after.as_ref().map(|values| self.resource(values))
    }

    /// Returns the current node; `None` if it does not exist or is already being deleted.
    pub(super) fn prior(&self) -> Option<Value> {
        self.before.as_ref().filter(|_| !self.is_drift()).map(|values| self.resource(values))
    }

    fn head(&self) -> Map<String, Value> {
        let head = [
            ("address", json!(address(self.pool.as_ref(), &self.name))),
            ("mode", json!("managed")),
            ("type", json!(TYPE)),
            ("name", json!(local_name(self.pool.as_ref()))),
            ("index", json!(self.name)),
            ("provider_name", json!(PROVIDER)),
        ];
        head.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn resource(&self, values: &Map<String, Value>) -> Value {
        let mut resource = self.head();
        resource.insert("schema_version".to_owned(), json!(0));
        resource.insert("values".to_owned(), json!(values));
        resource.insert("sensitive_values".to_owned(), machine::sensitive());
        Value::Object(resource)
    }

    /// Returns the change as an entry of `resource_changes`.
    pub(super) fn document(&self) -> Value {
        let is_new = self.what == What::Create;
        let sensitive = |values: &Option<_>| values.as_ref().map_or(json!(false), |_| machine::sensitive());
        let mut change = json!({
            "actions": self.actions(),
            "before": self.before,
            "after": self.after,
            "after_unknown": if is_new { machine::unknown() } else { Map::new() },
            "before_sensitive": sensitive(&self.before),
            "after_sensitive": sensitive(&self.after),
        });
        if self.what == What::Import {
            let id = self.before.as_ref().and_then(|values| values.get("id"));
            change["importing"] = json!({"id": id.cloned().unwrap_or_else(|| json!(self.name))});
        }
        let mut document = self.head();
        document.insert("change".to_owned(), change);
        if let Some(reason) = self.reason {
            document.insert("action_reason".to_owned(), json!(reason));
        }
        Value::Object(document)
    }

    const fn actions(&self) -> &'static [&'static str] {
        match self.what {
            What::Keep | What::Import => &["no-op"],
            What::Create => &["create"],
            What::Delete | What::Drift => &["delete"],
            What::Update => &["update"],
            What::Forget => &["forget"],
        }
    }
}
