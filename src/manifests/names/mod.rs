//! Hides names: of namespaces, workloads, pods, claims and volumes, and the values of their labels.
//!
//! Equal texts stay equal and different ones different, so that owners, selectors and claims keep their meaning: a plan
//! with hidden names has the same nodes and the same cost. Names of nodes, pools, classes, sizes and zones, label keys,
//! and the labels of nodes stay as they are. In Azure IDs, the subscription and the resource group are hidden.

mod azure_ids;
mod made;
mod places;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::kept::{Identity, Kept, KeptObject};
use super::operated::Operated;
use super::{NotUnderstood, ReadOptions};
use crate::model::fleet::AKS_DAEMONSETS;
use crate::model::{Digest, Namespace, Workload};
pub use azure_ids::{azure_id, azure_name};
use made::{Made, Part};

/// What is done with names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Names {
    /// They are shown.
    #[default]
    Show,
    /// Each is replaced by a short digest, the same wherever and whenever it stands. Who guesses a name can test
    /// the guess.
    Hash,
    /// Each is replaced by a number, which means nothing outside of one input.
    Omit,
}

/// What a name is of; it decides what its number is called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Namespace,
    Workload,
    Claim,
    Pod,
    Volume,
    Container,
    Label,
}

impl Role {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::Workload => "workload",
            Self::Claim => "claim",
            Self::Pod => "pod",
            Self::Volume => "volume",
            Self::Container => "container",
            Self::Label => "label",
        }
    }
}

/// Names that every cluster has, and that say nothing about it.
const EVERYWHERE: [&str; 5] = ["", "default", "kube-node-lease", "kube-public", "kube-system"];

/// What names are replaced by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    names: Names,
    /// Numbers, where names are numbered.
    numbers: BTreeMap<Arc<str>, String>,
    made: Made,
}

impl Cover {
    /// Finds out what the names of these objects are replaced by.
    #[must_use]
    pub fn of(names: Names, all: &[&Kept], pruned: &BTreeSet<Identity>) -> Self {
        let mut made = Made::default();
        let mut roles: BTreeMap<Arc<str>, Role> = BTreeMap::new();
        if names == Names::Show {
            return Self::default();
        }
        let mut note = |text: &Arc<str>, role: Role| {
            let known = roles.entry(Arc::clone(text)).or_insert(role);
            *known = (*known).min(role);
        };
        for kept in all {
            for object in &kept.objects {
                places::each(&object.tree, &mut note);
                made.read(&object.tree);
            }
            let not_understood = kept.not_understood.values().flat_map(|found| found.names.keys());
            let others = kept.renders.iter().map(|renders| &renders.name);
            let others = others.chain(kept.operated.iter().map(|operated| &operated.name));
            for name in not_understood.chain(others) {
                name.split('/').for_each(|part| note(&Arc::from(part), Role::Workload));
            }
        }
        for Identity { namespace, name, .. } in pruned {
            note(namespace, Role::Namespace);
            note(name, Role::Workload);
        }
        let mut cover = Self { names, numbers: BTreeMap::new(), made };
        if names == Names::Omit {
            cover.number(roles);
        }
        cover
    }

    /// Numbers the names that others are made of, those of each role for themselves.
    fn number(&mut self, roles: BTreeMap<Arc<str>, Role>) {
        let mut roots: BTreeMap<Arc<str>, Role> = BTreeMap::new();
        for (text, role) in roles {
            for part in self.made.parts(&text) {
                if let Part::Name(name) = part
                    && !is_plain(&name)
                {
                    let known = roots.entry(name).or_insert(role);
                    *known = (*known).min(role);
                }
            }
        }
        let mut counts: BTreeMap<Role, usize> = BTreeMap::new();
        for (text, role) in roots {
            let count = counts.entry(role).or_default();
            *count += 1;
            self.numbers.insert(text, format!("{}-{count}", role.as_str()));
        }
    }

    /// Returns what a name is replaced by.
    #[must_use]
    pub fn text(&self, text: &str) -> Arc<str> {
        if self.names == Names::Show || is_plain(text) {
            return Arc::from(text);
        }
        let parts = self.made.parts(text).into_iter().map(|part| match part {
            Part::Name(name) => self.name(&name),
            Part::Added(text) => text.to_string(),
        });
        Arc::from(parts.collect::<String>())
    }

    fn name(&self, name: &str) -> String {
        if is_plain(name) {
            return name.to_owned();
        }
        match self.names {
            Names::Show => name.to_owned(),
            Names::Hash => digest(name),
            // The user may name something that the input does not hold.
            Names::Omit => self.numbers.get(name).cloned().unwrap_or_else(|| digest(name)),
        }
    }

    /// Returns the objects with their names replaced.
    #[must_use]
    pub fn kept(&self, mut kept: Kept) -> Kept {
        if self.names == Names::Show {
            return kept;
        }
        let hidden = |workload: Workload| Workload {
            namespace: Namespace::new(&*self.text(workload.namespace.as_str())),
            name: self.text(&workload.name),
            ..workload
        };
        kept.laid = kept.laid.into_iter().map(hidden).collect();
        for KeptObject { tree, file: _ } in &mut kept.objects {
            places::replace(tree, &|text| self.text(text));
        }
        for NotUnderstood { names, why: _ } in kept.not_understood.values_mut() {
            *names =
                std::mem::take(names).into_iter().map(|(name, count)| (self.path(&name), count)).collect();
        }
        kept.operated = std::mem::take(&mut kept.operated)
            .into_iter()
            .map(|operated| Operated { name: self.path(&operated.name), ..operated })
            .collect();
        kept.renders = std::mem::take(&mut kept.renders)
            .into_iter()
            .map(|mut renders| {
                // Its source is a path, a chart or a repository, which is also a user's name.
                (renders.name, renders.points_at) = (self.path(&renders.name), String::new());
                renders
            })
            .collect();
        kept
    }

    fn path(&self, path: &str) -> String {
        path.split('/').map(|part| self.text(part).to_string()).collect::<Vec<_>>().join("/")
    }

    /// Returns what objects are known by, with their names replaced.
    #[must_use]
    pub fn identities(&self, identities: BTreeSet<Identity>) -> BTreeSet<Identity> {
        let hidden = |identity: Identity| {
            let (namespace, name) = (self.text(&identity.namespace), self.text(&identity.name));
            Identity { namespace, name, ..identity }
        };
        identities.into_iter().map(hidden).collect()
    }

    /// Returns how an input is read, with the names that it speaks of replaced.
    #[must_use]
    pub fn options(&self, mut options: ReadOptions) -> ReadOptions {
        for scale in &mut options.scale {
            scale.rename(|name| self.text(name));
        }
        options
    }

    /// Returns a fault with nothing in it that names an object: its file and line lead there.
    #[must_use]
    pub fn fault(&self, mut fault: Fault) -> Fault {
        if self.names == Names::Show {
            return fault;
        }
        if let Some(object) = &mut fault.object {
            *object = object.split('/').next().unwrap_or_default().to_owned();
        }
        fault.message = unquoted(&fault.message);
        fault
    }
}

/// Takes away what a message quotes: it may be a name.
fn unquoted(message: &str) -> String {
    let parts: Vec<&str> = message.split('"').collect();
    if parts.len() < 3 {
        return message.to_owned();
    }
    let shown =
        |(place, part): (usize, &&str)| if place % 2 == 0 { (*part).to_owned() } else { "…".to_owned() };
    parts.iter().enumerate().map(shown).collect::<Vec<_>>().join("\"")
}

/// Returns whether a text names nothing: words that every cluster has, truth values, numbers.
fn is_plain(text: &str) -> bool {
    EVERYWHERE.contains(&text)
        || AKS_DAEMONSETS.contains(&text)
        || matches!(text, "true" | "false")
        || text.bytes().all(|byte| byte.is_ascii_digit())
}

fn digest(text: &str) -> String {
    // Fifty bits: no collisions among the names of the largest clusters.
    const LENGTH: usize = 10;
    Digest::of_bytes(format!("nodeform name {text}").as_bytes()).base32(LENGTH)
}
