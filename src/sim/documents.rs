//! Splits the documents of a world into Azure settings, faults and cluster objects.

use serde_json::Value;

use super::faults::FaultsFile;
use super::settings::{SettingsFault, SimulatedAzure};

/// The `apiVersion` of the simulator's own documents.
const API_VERSION: &str = "nodeform.dev/v1alpha1";

/// Parsed documents of a world.
#[derive(Debug, Clone, Default)]
pub struct WorldDocuments {
    /// Azure settings.
    pub settings: SimulatedAzure,
    /// Faults to inject.
    pub faults: FaultsFile,
    /// The objects of the cluster.
    pub manifests: Vec<Value>,
}

impl WorldDocuments {
    /// Parses documents in their order.
    ///
    /// # Errors
    /// All faults of the first invalid `SimulatedAzure` or `SimulatedFaults` document.
    pub fn read(documents: Vec<Value>) -> Result<Self, Vec<SettingsFault>> {
        let mut world = Self::default();
        for document in documents.into_iter().filter(|document| !document.is_null()) {
            let spec = || document.get("spec").unwrap_or(&Value::Null);
            match own_kind(&document) {
                Some("SimulatedAzure") => world.settings = SimulatedAzure::read(spec())?,
                Some("SimulatedFaults") => world.faults.faults.extend(FaultsFile::read(spec())?.faults),
                Some(_) | None => world.manifests.push(document),
            }
        }
        Ok(world)
    }
}

fn own_kind(document: &Value) -> Option<&str> {
    (document.get("apiVersion")?.as_str()? == API_VERSION).then_some(document.get("kind")?.as_str()?)
}

/// Returns the JSON Schemas of the simulator's own documents, by file name.
#[cfg(feature = "schema")]
#[must_use]
pub fn schemas() -> [(&'static str, Value); 2] {
    [
        ("simulatedazure", schema("SimulatedAzure", schemars::schema_for!(SimulatedAzure).to_value())),
        ("simulatedfaults", schema("SimulatedFaults", schemars::schema_for!(FaultsFile).to_value())),
    ]
}

/// Maximum entries of a list shown as a default. Longer lists are not readable; defaults of objects are documented by
/// their fields.
#[cfg(feature = "schema")]
const DEFAULT_ENTRIES_MAX: usize = 3;

/// Returns the schema of a document with this `spec`.
#[cfg(feature = "schema")]
fn schema(kind: &str, mut spec: Value) -> Value {
    let take = |spec: &mut Value, field: &str| spec.as_object_mut().and_then(|spec| spec.remove(field));
    let (version, defs) = (take(&mut spec, "$schema"), take(&mut spec, "$defs"));
    take(&mut spec, "title");
    let about = spec["description"].clone();
    for field in spec["properties"].as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
        let default = &field["default"];
        if default.as_array().is_some_and(|entries| entries.len() > DEFAULT_ENTRIES_MAX)
            || default.is_object()
        {
            take(field, "default");
        }
    }
    serde_json::json!({
        "$schema": version, "title": kind, "description": about, "type": "object", "required": ["apiVersion", "kind"],
        "properties": {
            "apiVersion": {"const": API_VERSION, "description": "The version of the document."},
            "kind": {"const": kind, "description": "What the document is."},
            "metadata": {"type": "object", "description": "A name, where it is to have one; nothing reads it."},
            "spec": spec,
        },
        "$defs": defs,
    })
}
