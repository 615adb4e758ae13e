//! Marks on NodeClaims with what rounds find out, for later planning.
//!
//! Must never change the spec of a NodeClaim.

use serde_json::{Value, json};

use crate::automatic::LostMark;
use crate::cluster::Writer;
use crate::model::{ClaimName, label};

/// API path of NodeClaims.
const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// Records that the Node of a NodeClaim is gone for good, or is back. A failed write is retried by the next round.
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
