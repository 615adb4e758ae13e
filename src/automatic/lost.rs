//! NodeClaims whose Node had joined and disappeared, from consecutive readings of the cluster, and when that counts as
//! permanent. Such a NodeClaim is marked, so that every plan knows it; the mark is removed once the Node is back.
//!
//! A new process starts counting again; existing marks remain. Never concludes anything from a single reading.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::model::ClaimName;
use crate::snapshot::Snapshot;

/// How long a Node must be gone, in the cloud's clock, before its VM is given up: a restarting kubelet recreates its
/// Node.
const PATIENCE: SignedDuration = SignedDuration::from_mins(15);

/// The NodeClaims whose Nodes are gone, with the time of the first such reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    since: BTreeMap<ClaimName, Timestamp>,
    patience: SignedDuration,
}

/// A change to a NodeClaim's mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostMark {
    /// Its Node is permanently gone since this time.
    Set(ClaimName, Timestamp),
    /// Its Node is back.
    Clear(ClaimName),
}

impl Lost {
    /// Creates an empty record.
    #[must_use]
    pub fn new(clock_speed: u32) -> Self {
        let speed = i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX);
        Self { since: BTreeMap::new(), patience: PATIENCE / speed }
    }

    /// Records a reading; returns the marks to write.
    pub fn note(&mut self, snapshot: &Snapshot, at: Timestamp) -> Vec<LostMark> {
        let claims = snapshot.nodes.iter().filter_map(|node| Some((node.claim.clone()?, &node.claimed)));
        let mut marks = Vec::new();
        let before = std::mem::take(&mut self.since);
        for (claim, claimed) in claims {
            match (claimed.is_lost, claimed.lost_since) {
                (true, None) => {
                    let since = before.get(&claim).copied().unwrap_or(at);
                    if at.duration_since(since) >= self.patience {
                        marks.push(LostMark::Set(claim.clone(), since));
                    }
                    self.since.insert(claim, since);
                }
                (false, Some(_)) => marks.push(LostMark::Clear(claim)),
                (true, Some(_)) | (false, None) => {}
            }
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::Source;
    use crate::offline::{self, Request};

    const OTHER: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: other}\n";
    const NODE: &str =
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: aks-c1}\nspec: {providerID: 'azure:///c1'}\n";

    fn claim(mark: &str) -> String {
        format!(
            "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: c1{mark}}}\nspec: {{requirements: [], \
             nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}}}\nstatus: {{providerID: \
             'azure:///c1', nodeName: aks-c1, conditions: [{{type: Registered, status: 'True', lastTransitionTime: \
             '2026-01-01T00:00:00Z'}}]}}\n"
        )
    }

    fn snapshot(text: String) -> Snapshot {
        let sources = vec![Source::new("all.yaml", text)];
        let location = Some(crate::model::Region::new("westeurope"));
        offline::world(Request { sources, location, ..Request::default() }).expect("it is right").snapshot
    }

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(minute * 60).unwrap()
    }

    #[test]
    fn a_claim_is_marked_when_its_node_is_gone_for_fifteen_minutes_and_not_for_one_reading() {
        let gone = snapshot(format!("{OTHER}{}", claim("")));
        let there = snapshot(format!("{OTHER}{}{NODE}", claim("")));
        let mut lost = Lost::new(1);
        assert_eq!(lost.note(&gone, at(0)), []);
        assert_eq!(lost.note(&there, at(1)), []);
        assert_eq!(lost.note(&gone, at(2)), []);
        assert_eq!(lost.note(&gone, at(16)), [], "it was there a moment ago");
        assert_eq!(lost.note(&gone, at(17)), [LostMark::Set("c1".into(), at(2))]);
    }

    #[test]
    fn a_node_that_is_back_clears_the_mark_and_an_input_without_nodes_says_nothing() {
        let mark = ", annotations: {nodeform.dev/node-lost-since: '2026-01-01T00:00:00Z'}";
        let mut lost = Lost::new(1);
        let back = snapshot(format!("{OTHER}{}{NODE}", claim(mark)));
        assert_eq!(lost.note(&back, at(0)), [LostMark::Clear("c1".into())]);
        let marked = snapshot(format!("{OTHER}{}", claim(mark)));
        assert_eq!(lost.note(&marked, at(0)), [], "it is marked already");
        let unknown = snapshot(claim("").replacen("---\n", "", 1));
        assert!(!unknown.nodes[0].claimed.is_lost, "no Node was read at all");
    }
}
