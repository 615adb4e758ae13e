//! Which volumes may tie a pod to a zone or a node.

use crate::manifests::cursor::Cursor;

/// Returns whether a volume may tie the pod: a claim, a generic ephemeral volume, or a disk by its name.
/// Volumes that every node can mount (config maps, secrets, projected ones, host paths, file shares, and
/// volumes that a CSI driver makes on the spot) do not.
#[must_use]
pub fn may_tie(spec: Cursor<'_>) -> bool {
    let ties = ["persistentVolumeClaim", "ephemeral", "azureDisk"];
    spec.items("volumes").into_iter().any(|volume| ties.iter().any(|kind| volume.get(kind).is_some()))
}
