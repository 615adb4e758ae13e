//! The volumes of a Pod, as folders of this machine: those of Secrets hold what the cluster has, the others are empty.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use data_encoding::BASE64;
use serde_json::Value;

use super::bed::{Bed, name};
use super::deployed::NAMESPACE;

/// Where each is mounted, and its folder here.
pub(super) struct Volumes(Vec<(String, PathBuf)>);

impl Volumes {
    /// Makes them for a Pod's one container.
    pub(super) fn of(bed: &Bed, pod: &Value) -> Self {
        let mounts = pod["spec"]["containers"][0]["volumeMounts"].as_array().into_iter().flatten();
        let volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
        let made = mounts.filter_map(|mount| {
            let volume = volumes.iter().find(|volume| volume["name"] == mount["name"])?;
            // That of its service account's token is stood in for by a kubeconfig.
            if volume["projected"].is_object() {
                return None;
            }
            let folder = bed.path(&format!("{}-{}", name(pod), volume["name"].as_str()?));
            fs::create_dir_all(&folder).expect("it can be made");
            if volume["secret"].is_object() {
                write_secret(bed, &volume["secret"], &folder);
            }
            Some((mount["mountPath"].as_str()?.to_owned(), folder))
        });
        Self(made.collect())
    }

    /// A value of the container, with its paths into a volume as they are here.
    pub(super) fn here(&self, value: &str) -> String {
        let found =
            self.0.iter().find_map(|(mount, folder)| Some((value.strip_prefix(mount.as_str())?, folder)));
        found.map_or_else(|| value.to_owned(), |(rest, folder)| format!("{}{rest}", folder.display()))
    }
}

/// Writes the items of a Secret that a volume has.
fn write_secret(bed: &Bed, volume: &Value, folder: &std::path::Path) {
    let secret = volume["secretName"].as_str().expect("a name");
    let secret = bed.eyes().api.get(&format!("/api/v1/namespaces/{NAMESPACE}/secrets/{secret}"));
    for item in volume["items"].as_array().expect("the chart names them") {
        let key = item["key"].as_str().expect("a key");
        let value = secret["data"][key].as_str().expect("the Secret has it");
        let path = folder.join(item["path"].as_str().expect("a path"));
        fs::write(&path, BASE64.decode(value.as_bytes()).expect("it is encoded")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).expect("it is ours");
    }
}
