//! The files that a client needs: an environment file for Azure and a kubeconfig.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;
use serde_json::json;

use super::certificate::Certificates;
use crate::sim::World;

/// Files in a folder that only this user can read; deleted when the value is dropped.
#[derive(Debug)]
pub struct Files {
    /// Printed when the simulator is ready.
    pub announcement: Announcement,
    _folder: tempfile::TempDir,
}

/// Connection data for clients.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Announcement {
    /// A file with the endpoints of the simulated cloud, for `AZURE_ENVIRONMENT_FILEPATH`.
    pub environment_file: PathBuf,
    /// A kubeconfig.
    pub kubeconfig: PathBuf,
    /// Environment variables for nodeform, including the client secret of the simulated identity.
    pub env: BTreeMap<String, String>,
    /// Variables that replace those above for an identity that may read everything, and write only the Lease of a
    /// proposer.
    pub reader: BTreeMap<String, String>,
}

impl std::fmt::Debug for Announcement {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} and {}", self.environment_file.display(), self.kubeconfig.display())
    }
}

impl Files {
    pub(crate) fn write(
        world: &World,
        certificates: &Certificates,
        (address, speed): (SocketAddr, u32),
        real: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("nodeform-azure-sim-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .context("failed to make a temporary folder")?;
        let write = |name: &str, text: &str| -> anyhow::Result<PathBuf> {
            let path = folder.path().join(name);
            fs::write(&path, text).with_context(|| format!("failed to write `{}`", path.display()))?;
            Ok(path)
        };
        let ca = write("ca.pem", &certificates.ca_pem)?;
        let environment_file = write("environment.json", &environment(address, &ca, speed))?;
        let kubeconfig = match real {
            Some(path) => path.to_owned(),
            None => write("kubeconfig", &kubeconfig_of(world, certificates, (address, Who::Admin)))?,
        };
        let env = variables(world, &environment_file, &kubeconfig);
        let secret = world.credentials().reader_secret.reveal().to_owned();
        let mut reader = BTreeMap::from([("AZURE_CLIENT_SECRET".to_owned(), secret)]);
        if real.is_none() {
            let text = kubeconfig_of(world, certificates, (address, Who::Reader));
            let path = write("kubeconfig-reader", &text)?;
            reader.insert("KUBECONFIG".to_owned(), path.display().to_string());
        }
        Ok(Self { announcement: Announcement { environment_file, kubeconfig, env, reader }, _folder: folder })
    }
}

/// Returns the environment file: Azure's names for the endpoints of a cloud, and our own for settings of simulated
/// clouds.
fn environment(address: SocketAddr, ca: &Path, speed: u32) -> String {
    let url = format!("https://{address}/");
    let file = json!({
        "name": "SimulatedCloud",
        "managementPortalURL": url,
        "serviceManagementEndpoint": url,
        "resourceManagerEndpoint": url,
        "activeDirectoryEndpoint": url,
        "tokenAudience": "https://management.azure.com/",
        "storageEndpointSuffix": "core.windows.net",
        "caFile": ca,
        "clockSpeed": speed,
    });
    format!("{file:#}\n")
}

/// User of a kubeconfig.
#[derive(Clone, Copy)]
enum Who {
    Admin,
    Reader,
}

fn kubeconfig_of(world: &World, certificates: &Certificates, (address, who): (SocketAddr, Who)) -> String {
    let credentials = world.credentials();
    let (suffix, token) = match who {
        Who::Admin => ("admin", &credentials.cluster_token),
        Who::Reader => ("reader", &credentials.reader_token),
    };
    let name = &world.settings().cluster.name;
    let ca = data_encoding::BASE64.encode(certificates.ca_pem.as_bytes());
    let user = format!("{name}-{suffix}");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": name, "preferences": {},
        "clusters": [{
            "name": name,
            "cluster": {"server": format!("https://{address}"), "certificate-authority-data": ca},
        }],
        "users": [{"name": user, "user": {"token": token.reveal()}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
    });
    // JSON is valid YAML.
    format!("{config:#}\n")
}

fn variables(world: &World, environment_file: &Path, kubeconfig: &Path) -> BTreeMap<String, String> {
    let settings = world.settings();
    [
        ("AZURE_TENANT_ID", settings.tenant.clone()),
        ("AZURE_CLIENT_ID", settings.client.clone()),
        ("AZURE_CLIENT_SECRET", world.credentials().client_secret.reveal().to_owned()),
        ("AZURE_SUBSCRIPTION_ID", settings.subscription.clone()),
        ("AZURE_ENVIRONMENT_FILEPATH", environment_file.display().to_string()),
        ("KUBECONFIG", kubeconfig.display().to_string()),
        ("CLUSTER_NAME", settings.cluster.name.clone()),
        ("ARM_RESOURCE_GROUP", settings.cluster.resource_group.clone()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
