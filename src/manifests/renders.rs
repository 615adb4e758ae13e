//! Objects from which controllers render others: those of Flux and Argo CD, which name a chart or a folder.
//!
//! Never renders anything; reports the source, so that people know what to render.

use super::kind::group_and_version;
use super::tree::{Tree, Value, shortened};

/// An object whose objects a controller renders in the cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Renders {
    /// The kind.
    pub kind: String,
    /// The name as `namespace/name`, or the name alone where there is no namespace.
    pub name: String,
    /// What it renders, such as `chart ingress-nginx 4.x`; empty where it does not say.
    pub points_at: String,
}

/// Returns whether objects of this API version and kind are rendered into others. Sources alone
/// (`HelmRepository`, `GitRepository`, `AppProject`) are not.
#[must_use]
pub fn renders(api_version: &str, kind: &str) -> bool {
    let (group, _) = group_and_version(api_version);
    matches!(
        (group, kind),
        ("helm.toolkit.fluxcd.io" | "helm.fluxcd.io", "HelmRelease")
            | ("helm.cattle.io", "HelmChart")
            | ("kustomize.toolkit.fluxcd.io", "Kustomization")
            | ("fluxcd.controlplane.io", "ResourceSet")
            | ("argoproj.io", "Application" | "ApplicationSet")
    )
}

/// Returns whether a document is not for the cluster but for kustomize itself.
#[must_use]
pub fn is_of_kustomize(api_version: &str) -> bool {
    group_and_version(api_version).0 == "kustomize.config.k8s.io"
}

impl Renders {
    /// Reads an object that [`renders`].
    #[must_use]
    pub fn read(kind: &str, object: &Tree) -> Self {
        let text = |key| object.at(&["metadata", key]).and_then(scalar);
        let name = text("name").or_else(|| text("generateName")).unwrap_or_else(|| "without a name".into());
        let namespace = text("namespace");
        let spec = object.get("spec");
        let (mut parts, into) = match (kind, spec) {
            ("Application", Some(spec)) => argo(spec),
            ("ApplicationSet", Some(spec)) => spec.at(&["template", "spec"]).map(argo).unwrap_or_default(),
            (_, Some(spec)) => flux(spec),
            (_, None) => Default::default(),
        };
        let into = into.filter(|into| namespace.as_ref() != Some(into));
        parts.extend(into.map(|namespace| format!("into namespace {namespace}")));
        Self {
            kind: shortened(kind),
            name: shortened(
                &namespace.map_or_else(|| name.clone(), |namespace| format!("{namespace}/{name}")),
            ),
            points_at: parts.join(", "),
        }
    }
}

/// What a spec of Flux, or of the chart controllers like it, points at, and the namespace that it fills.
fn flux(spec: &Tree) -> (Vec<String>, Option<String>) {
    let chart = match spec.get("chart") {
        Some(chart) if chart.as_map().is_some() => Some(chart.get("spec").unwrap_or(chart)),
        Some(_) => Some(spec),
        None => None,
    };
    let name = chart.and_then(|chart| at(chart, "chart").or_else(|| at(chart, "name")));
    let version = chart.and_then(|chart| at(chart, "version"));
    let source = |tree: &Tree| Some(format!("{} {}", at(tree, "kind")?, at(tree, "name")?));
    let mut parts = Vec::new();
    parts.extend(name.map(|name| worded("chart", &name, version.as_deref())));
    parts.extend(spec.get("chartRef").and_then(source));
    if let Some(path) = at(spec, "path") {
        let source = spec.get("sourceRef").and_then(source);
        parts.push(format!("path {path}{}", source.map_or(String::new(), |source| format!(" of {source}"))));
    }
    (parts, at(spec, "targetNamespace"))
}

/// What a spec of an Argo CD Application points at, and the namespace that it fills.
fn argo(spec: &Tree) -> (Vec<String>, Option<String>) {
    let sources = spec.get("sources").and_then(Tree::as_list).unwrap_or_default();
    let parts = spec.get("source").into_iter().chain(sources).filter_map(|source| {
        let revision = at(source, "targetRevision");
        match (at(source, "chart"), at(source, "path")) {
            (Some(chart), _) => Some(worded("chart", &chart, revision.as_deref())),
            (None, Some(path)) => {
                let from =
                    at(source, "repoURL").map_or(String::new(), |url| format!(" of {}", without_user(&url)));
                let at = revision.map_or(String::new(), |revision| format!(" at {revision}"));
                Some(format!("path {path}{from}{at}"))
            }
            (None, None) => None,
        }
    });
    (parts.collect(), spec.at(&["destination", "namespace"]).and_then(scalar))
}

/// An address without the user and the password that may stand in it.
fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn worded(noun: &str, name: &str, version: Option<&str>) -> String {
    version.map_or_else(|| format!("{noun} {name}"), |version| format!("{noun} {name} {version}"))
}

fn at(tree: &Tree, key: &str) -> Option<String> {
    tree.get(key).and_then(scalar)
}

/// The text of a scalar, at a readable length; versions are often written as numbers.
fn scalar(tree: &Tree) -> Option<String> {
    match &tree.value {
        Value::Text(text) | Value::Decimal(text) if !text.is_empty() => Some(shortened(text)),
        Value::Integer(number) => Some(number.to_string()),
        Value::Text(_)
        | Value::Decimal(_)
        | Value::Null
        | Value::Bool(_)
        | Value::List(_)
        | Value::Map(_) => None,
    }
}
