//! Volumes that may tie a pod to a zone or a node.

use std::sync::Arc;

use crate::manifests::cursor::Cursor;
use crate::manifests::storage::asked_class;
use crate::model::storage::{OwnClaim, PodVolume};

/// Returns the volumes that may tie the pod: claims, generic ephemeral volumes, and disks by name. Volumes that every
/// node can mount (config maps, secrets, projected ones, host paths, file shares, and CSI inline volumes) do not count.
#[must_use]
pub fn read(spec: Cursor<'_>) -> Vec<PodVolume> {
    let mut volumes: Vec<PodVolume> = spec.items("volumes").into_iter().filter_map(volume).collect();
    volumes.sort();
    volumes.dedup();
    volumes
}

fn volume(written: Cursor<'_>) -> Option<PodVolume> {
    if let Some(claim) = written.get("persistentVolumeClaim") {
        if claim.get("claimName").is_none() {
            claim.missing("claimName", "name the claim that the volume is of");
        }
        return claim.text("claimName").cloned().map(PodVolume::Claim);
    }
    if let Some(disk) = written.get("azureDisk") {
        let name = disk.text("diskName").cloned().unwrap_or_else(|| Arc::from(""));
        return Some(PodVolume::Disk(name));
    }
    let ephemeral = written.get("ephemeral")?;
    let spec = ephemeral.get("volumeClaimTemplate").and_then(|template| template.get("spec"));
    let class = spec.map(|spec| asked_class(spec, None)).unwrap_or_default();
    Some(PodVolume::Ephemeral(OwnClaim { name: name(written), class }))
}

/// Returns the claims that a StatefulSet creates for each of its pods.
#[must_use]
pub fn templates(spec: Cursor<'_>) -> Vec<PodVolume> {
    let template = |template: Cursor<'_>| {
        let name = template.get("metadata").map_or_else(|| Arc::from(""), name);
        let class = template.get("spec").map(|spec| asked_class(spec, None)).unwrap_or_default();
        PodVolume::Template(OwnClaim { name, class })
    };
    spec.items("volumeClaimTemplates").into_iter().map(template).collect()
}

/// Returns the name of a volume or template; one without a name still ties the pod.
fn name(named: Cursor<'_>) -> Arc<str> {
    named.text("name").cloned().unwrap_or_else(|| Arc::from(""))
}
