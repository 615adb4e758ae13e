//! Names derived from other names: a pod's from its ReplicaSet's, and that from its Deployment's.
//!
//! Parts that are users' names are replaced; parts that a controller added (a hash, an ordinal, a minute) stay.
//! Composing such a name again therefore gives the same name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifests::tree::Tree;

/// Labels whose value is the suffix of a ReplicaSet's name.
const HASHES: [&str; 2] = ["rollouts-pod-template-hash", "pod-template-hash"];

/// Minutes since 1970 have had eight digits since 1989; they end the name of a CronJob's Job.
const MINUTE_LENGTH_MIN: usize = 8;

/// Maximum nesting depth of derived names.
const DEPTH_MAX: usize = 6;

/// Kinds whose names, like those of their owners below, Kubernetes' own controllers derive; other suffixes may be
/// users' names.
const OWNED: [&str; 3] = ["Job", "Pod", "ReplicaSet"];
const OWNERS: [&str; 9] = [
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "Rollout",
    "ScaledJob",
    "StatefulSet",
];

/// A part of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// A user's name.
    Name(Arc<str>),
    /// A suffix or prefix added by a controller.
    Added(Arc<str>),
}

/// Composition of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    whole: BTreeMap<Arc<str>, Vec<Part>>,
    /// Prefixes before the ordinal in the names of a StatefulSet's pods and claims. Claims outlive pods, so the
    /// replicas do not bound the ordinal.
    before_ordinal: BTreeMap<Arc<str>, Vec<Part>>,
}

fn name(text: &str) -> Part {
    Part::Name(Arc::from(text))
}

fn added(text: &str) -> Part {
    Part::Added(Arc::from(text))
}

impl Made {
    /// Returns the parts of a name; only the name itself if nothing is known about it.
    pub(super) fn parts(&self, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        self.unfold(text, DEPTH_MAX, &mut parts);
        parts
    }

    fn unfold(&self, text: &str, depth: usize, parts: &mut Vec<Part>) {
        let Some(made) = self.made(text).filter(|_| depth > 0) else { return parts.push(name(text)) };
        for part in made {
            match part {
                Part::Name(inner) => self.unfold(&inner, depth - 1, parts),
                Part::Added(_) => parts.push(part),
            }
        }
    }

    fn made(&self, text: &str) -> Option<Vec<Part>> {
        if let Some(made) = self.whole.get(text) {
            return Some(made.clone());
        }
        let (before, ordinal) = text.rsplit_once('-')?;
        let made = self.before_ordinal.get(before).filter(|_| is_number(ordinal))?;
        Some(made.iter().cloned().chain([added(&format!("-{ordinal}"))]).collect())
    }

    /// Records the derived names that an object reveals.
    pub(super) fn read(&mut self, object: &Tree) {
        let Some(own) = object.at(&["metadata", "name"]).and_then(Tree::as_text) else { return };
        let kind = object.text("kind").unwrap_or_default();
        if OWNED.contains(&kind) {
            self.of_owners(object, own);
        }
        match kind {
            "Job" => self.job(own),
            "Pod" => self.pod(object, own),
            "StatefulSet" => self.stateful_set(object, own),
            "ScaledObject" => note(&mut self.whole, vec![added("keda-hpa-"), name(own)]),
            _ => {}
        }
    }

    fn of_owners(&mut self, object: &Tree, own: &str) {
        let label = |key: &str| object.at(&["metadata", "labels", key]).and_then(Tree::as_text);
        for owner in object.at(&["metadata", "ownerReferences"]).and_then(Tree::as_list).unwrap_or_default() {
            let (Some(kind), Some(of)) = (owner.text("kind"), owner.text("name")) else { continue };
            if !OWNERS.contains(&kind) {
                continue;
            }
            if let Some(rest) = own.strip_prefix(of).filter(|rest| rest.starts_with('-')) {
                note(&mut self.whole, vec![name(of), added(rest)]);
            }
            let hash = HASHES.iter().find_map(|key| label(key)).filter(|_| kind == "ReplicaSet");
            let deployment = hash.and_then(|hash| of.strip_suffix(&**hash)?.strip_suffix('-'));
            if let (Some(deployment), Some(hash)) = (deployment, hash) {
                note(&mut self.whole, vec![name(deployment), added(&format!("-{hash}"))]);
            }
            if kind == "Job" {
                self.job(of);
            }
        }
    }

    fn job(&mut self, own: &str) {
        let Some((cron, minute)) = own.rsplit_once('-') else { return };
        if minute.len() >= MINUTE_LENGTH_MIN && is_number(minute) {
            note(&mut self.whole, vec![name(cron), added(&format!("-{minute}"))]);
        }
    }

    /// Records the claims of a pod: of its ephemeral volumes, and of its StatefulSet's templates.
    fn pod(&mut self, object: &Tree, own: &str) {
        for volume in object.at(&["spec", "volumes"]).and_then(Tree::as_list).unwrap_or_default() {
            if let (Some(ephemeral), Some(_)) = (volume.text("name"), volume.get("ephemeral")) {
                note(&mut self.whole, vec![name(own), added("-"), name(ephemeral)]);
            }
            let claim = volume.at(&["persistentVolumeClaim", "claimName"]).and_then(Tree::as_text);
            let template = claim.and_then(|claim| claim.strip_suffix(own)?.strip_suffix('-'));
            if let Some(template) = template {
                note(&mut self.whole, vec![name(template), added("-"), name(own)]);
            }
        }
    }

    fn stateful_set(&mut self, object: &Tree, own: &str) {
        note(&mut self.before_ordinal, vec![name(own)]);
        let templates = object.at(&["spec", "volumeClaimTemplates"]).and_then(Tree::as_list);
        for template in templates.unwrap_or_default() {
            if let Some(claim) = template.at(&["metadata", "name"]).and_then(Tree::as_text) {
                note(&mut self.before_ordinal, vec![name(claim), added("-"), name(own)]);
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn note(known: &mut BTreeMap<Arc<str>, Vec<Part>>, parts: Vec<Part>) {
    let texts = parts.iter().map(|part| match part {
        Part::Name(text) | Part::Added(text) => &**text,
    });
    let whole: Arc<str> = Arc::from(texts.collect::<String>());
    // Of two compositions of a name, always choose the same one, regardless of order.
    known
        .entry(whole)
        .and_modify(|other| {
            if parts < *other {
                other.clone_from(&parts);
            }
        })
        .or_insert(parts);
}
