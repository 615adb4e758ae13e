//! What rounds find out about NodeClaims, written onto them so that whoever plans next knows it. Must never change what a
//! NodeClaim asks for.

use serde_json::{Value, json};

use crate::automatic::LostMark;
use crate::cluster::Writer;
use crate::model::{ClaimName, label};

/// Where NodeClaims are.
const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// Writes that the Node of a NodeClaim is gone for good, or is back. What cannot be written is tried again by the next round.
pub(super) async fn mark_lost(writer: &Writer, mark: &LostMark) {
    let (claim, value): (&ClaimName, Value) = match mark {
        LostMark::Set(claim, since) => {
            tracing::warn!(%claim, "its Node had joined and is gone since {since:.0}: it runs no pods, so its VM is deleted");
            (claim, json!(format!("{since:.0}")))
        }
        LostMark::Clear(claim) => {
            tracing::info!(%claim, "its Node is back");
            (claim, Value::Null)
        }
    };
    let patch = json!({"metadata": {"annotations": {label::NODE_LOST: value}}});
    if let Err(failure) = writer.merge_patch(&format!("{CLAIMS}/{claim}"), &patch).await {
        tracing::warn!(%claim, hint = failure.hint, "it cannot be marked: {}", failure.what);
    }
}
