//! API server paths: kind, objects, subresource.

use super::kinds::{Kind, KindId, Kinds};
use super::status::Refusal;
use super::store::Name;

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) kind: KindId,
    /// The version requested by the path.
    pub(crate) version: String,
    /// Empty for all namespaces and for cluster-scoped kinds.
    pub(crate) namespace: String,
    pub(crate) target: Target,
    pub(crate) subresource: Option<String>,
}

/// All objects, or one by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    All,
    One(String),
}

impl Route {
    /// Parses a path below `/api` or `/apis`.
    pub(crate) fn of(kinds: &Kinds, path: &str) -> Result<Self, Refusal> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Err(Refusal::no_such_path()),
        };
        // `namespaces/x/pods` means the pods in a namespace; `namespaces/x` and its subresources mean the namespace
        // itself.
        let (namespace, rest) = match rest {
            ["namespaces", namespace, plural, rest @ ..]
                if !(group.is_empty() && ["status", "finalize"].contains(plural)) =>
            {
                (*namespace, [&[*plural][..], rest].concat())
            }
            _ => ("", rest.to_vec()),
        };
        let Some((plural, rest)) = rest.split_first() else { return Err(Refusal::no_such_path()) };
        let kind = kinds.by_plural(group, version, plural).ok_or_else(Refusal::no_such_path)?;
        let (target, subresource) = match rest {
            [] => (Target::All, None),
            [name] => (Target::One((*name).to_owned()), None),
            [name, subresource] => (Target::One((*name).to_owned()), Some((*subresource).to_owned())),
            _ => return Err(Refusal::no_such_path()),
        };
        let found = kinds.get(kind);
        let misplaced = (!namespace.is_empty() && !found.is_namespaced)
            || (found.is_namespaced && namespace.is_empty() && target != Target::All);
        if misplaced || subresource.as_deref().is_some_and(|name| !has_subresource(found, name)) {
            return Err(Refusal::no_such_path());
        }
        Ok(Self { kind, version: version.to_owned(), namespace: namespace.to_owned(), target, subresource })
    }

    /// Returns the name of the single object that the path names.
    pub(crate) fn name(&self) -> Result<Name, Refusal> {
        match &self.target {
            Target::One(name) => Ok(Name::new(&self.namespace, name)),
            Target::All => Err(Refusal::method_not_allowed()),
        }
    }
}

/// Returns the subresources other than `status` and `scale`.
pub(crate) fn extra_subresources(kind: &Kind) -> &'static [(&'static str, &'static str)] {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod") => &[("eviction", "Eviction"), ("binding", "Binding")],
        ("", "Namespace") => &[("finalize", "Namespace")],
        _ => &[],
    }
}

fn has_subresource(kind: &Kind, name: &str) -> bool {
    match name {
        "status" => kind.has_status,
        "scale" => kind.has_scale,
        other => extra_subresources(kind).iter().any(|(extra, _)| *extra == other),
    }
}
