//! The documents of a world, taken apart: what Azure is like, what goes wrong, and the objects of the cluster.

use serde_json::Value;

use super::faults::FaultsFile;
use super::settings::{SettingsFault, SimulatedAzure};

/// The `apiVersion` of the simulator's own documents.
const API_VERSION: &str = "nodeform.dev/v1alpha1";

/// What documents say of a world.
#[derive(Debug, Clone, Default)]
pub struct WorldDocuments {
    /// What Azure is like.
    pub settings: SimulatedAzure,
    /// What goes wrong.
    pub faults: FaultsFile,
    /// The objects of the cluster.
    pub manifests: Vec<Value>,
}

impl WorldDocuments {
    /// Takes documents apart, in their order.
    ///
    /// # Errors
    /// Everything that is wrong with documents of kind `SimulatedAzure` and `SimulatedFaults`.
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
