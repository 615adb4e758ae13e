//! The proposer's problems and its account on the forge, as annotations of its Lease: it may write nothing else in the
//! cluster. The controller repeats the former in the NodeFleet's status, and counts no approval by the latter.
//!
//! Must never be treated as more than text: the writer has fewer permissions than the reader.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::once::Once;
use crate::cluster::lease::{NAMESPACE, PROPOSER, Record, path};
use crate::cluster::{Cluster, ClusterFailure, Writer};
use crate::model::shown::plain;

/// Annotation with the problems: a JSON list of texts.
const TROUBLES: &str = "nodeform.dev/troubles";

/// Annotation with the id of its account on the forge.
const ACCOUNT: &str = "nodeform.dev/forge-account";

/// Maximum number of lines that are written and read, and of characters in a line.
const LINES_MAX: usize = 10;
const LETTERS_MAX: usize = 600;

/// Time without a renewal after which no proposer is running.
const SILENT: Duration = Duration::from_secs(60);

/// Log message if it cannot be written.
const NOT_WRITTEN: &str = "cannot write the annotations of Lease `nodeform-proposer`";

/// Writes the problems when they change.
pub(super) struct Notice {
    /// Writes while the Lease is held.
    writer: Writer,
    said: Option<(Vec<String>, Option<String>)>,
    once: Once,
}

impl Notice {
    pub(super) fn new(writer: Writer) -> Self {
        Self { writer, said: None, once: Once::default() }
    }

    /// Writes the current problems, replacing those of an earlier holder.
    pub(super) async fn say(&mut self, troubles: &[String], account: Option<&str>) {
        let troubles: Vec<String> = troubles.iter().take(LINES_MAX).map(|line| short(line)).collect();
        let said = (troubles, account.map(str::to_owned));
        if self.said.as_ref() == Some(&said) {
            return;
        }
        let text = match said.0.is_empty() {
            true => Value::Null,
            false => json!(json!(said.0).to_string()),
        };
        let mut annotations = json!({TROUBLES: text});
        if let Some(account) = account {
            annotations[ACCOUNT] = json!(account);
        }
        let patch = json!({"metadata": {"annotations": annotations}});
        match self.writer.merge_patch(&path((NAMESPACE, PROPOSER)), &patch).await {
            Ok(_) => {
                self.once.works(NOT_WRITTEN);
                self.said = Some(said);
            }
            Err(failure) => self.once.failed(NOT_WRITTEN, &failure),
        }
    }
}

/// Reads the proposer's account on the forge; `None` if there is no proposer, or it has no account.
///
/// # Errors
/// Its Lease cannot be read: it is unknown whose approvals count.
pub async fn forge_account(cluster: &Cluster) -> Result<Option<String>, ClusterFailure> {
    let lease = cluster.get_optional(&path((NAMESPACE, PROPOSER))).await?.unwrap_or_default();
    Ok(lease["metadata"]["annotations"][ACCOUNT].as_str().map(str::to_owned))
}

/// State of a proposer in another process.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct Watched {
    record: Record,
    /// Since when the Lease is unchanged: its own times are from another machine's clock.
    since: Option<Instant>,
    troubles: Vec<String>,
    account: Option<String>,
}

impl Watched {
    /// Reads the proposer's Lease.
    pub(in crate::controller) async fn look(&mut self, cluster: &Cluster) {
        match cluster.get_optional(&path((NAMESPACE, PROPOSER))).await {
            Ok(lease) => self.saw(&lease.unwrap_or_default(), Instant::now()),
            Err(failure) => {
                self.troubles = vec![format!(
                    "cannot read Lease `{NAMESPACE}/{PROPOSER}`, so the state of the proposer is unknown: {}",
                    failure.what
                )];
            }
        }
    }

    fn saw(&mut self, lease: &Value, now: Instant) {
        let record = Record::of(lease);
        if self.since.is_none() || self.record != record {
            self.since = Some(now);
        }
        self.record = record;
        let is_silent = self.since.is_some_and(|since| now.duration_since(since) >= SILENT);
        let annotations = &lease["metadata"]["annotations"];
        self.account = annotations[ACCOUNT].as_str().map(str::to_owned).or(self.account.take());
        let text = annotations[TROUBLES].as_str().unwrap_or("[]");
        let lines = serde_json::from_str::<Vec<String>>(text)
            .unwrap_or_else(|_| vec![format!("annotation `{TROUBLES}` of its Lease cannot be read")]);
        self.troubles = match is_silent {
            true => vec![format!(
                "no proposer is running, so nothing is proposed: Lease `{NAMESPACE}/{PROPOSER}` has not been renewed for {} \
                 seconds; check the Pods of the proposer, or set `proposer.enabled: false` in the chart so that the controller \
                 proposes",
                SILENT.as_secs()
            )],
            false => lines.iter().take(LINES_MAX).map(|line| format!("proposer: {}", short(line))).collect(),
        };
    }

    /// Returns the proposer's problems, one line each.
    pub(in crate::controller) fn troubles(&self) -> impl Iterator<Item = String> {
        self.troubles.iter().cloned()
    }
}

impl Watched {
    /// Returns the id of the account by which it proposes, once it is known.
    pub(in crate::controller) fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }
}

/// Returns a line of limited length, without control characters.
fn short(line: &str) -> String {
    let mut letters = plain(line).chars().take(LETTERS_MAX + 1).collect::<Vec<char>>();
    if letters.len() > LETTERS_MAX {
        letters.truncate(LETTERS_MAX - 1);
        letters.push('…');
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(renewed: &str, troubles: &Value) -> Value {
        json!({
            "metadata": {"annotations": {TROUBLES: troubles}},
            "spec": {"holderIdentity": "nodeform-proposer-1_2", "renewTime": renewed},
        })
    }

    fn said(watched: &Watched) -> Vec<String> {
        watched.troubles().collect()
    }

    #[test]
    fn a_proposer_that_does_not_renew_its_lease_for_a_minute_is_told_and_one_that_does_is_not() {
        let (mut watched, start) = (Watched::default(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        watched.saw(&Value::Null, at(0));
        watched.saw(&Value::Null, at(59));
        assert_eq!(said(&watched), [""; 0], "it may be about to start");
        watched.saw(&Value::Null, at(60));
        assert!(said(&watched)[0].starts_with(
            "no proposer is running, so nothing is proposed: Lease `kube-system/nodeform-proposer`"
        ));
        watched.saw(&lease("1", &Value::Null), at(61));
        assert_eq!(said(&watched), [""; 0]);
        watched.saw(&lease("2", &Value::Null), at(120));
        watched.saw(&lease("2", &Value::Null), at(179));
        assert_eq!(said(&watched), [""; 0]);
        watched.saw(&lease("2", &Value::Null), at(180));
        assert_eq!(said(&watched).len(), 1);
    }

    #[test]
    fn what_hinders_it_is_read_as_text_of_bounded_length() {
        let (mut watched, now) = (Watched::default(), Instant::now());
        let many: Vec<String> =
            (0..20).map(|line| format!("{line} \u{1b}[2J {}", "x".repeat(2_000))).collect();
        watched.saw(&lease("1", &json!(json!(many).to_string())), now);
        let lines = said(&watched);
        assert_eq!(lines.len(), LINES_MAX);
        assert!(
            lines[0].starts_with("proposer: 0 \u{fffd}[2J xx") && lines[0].ends_with("x…"),
            "{}",
            lines[0]
        );
        assert!(lines.iter().all(|line| line.chars().count() <= LETTERS_MAX + 10));
        let mut known = lease("2", &json!("{"));
        known["metadata"]["annotations"][ACCOUNT] = json!("17");
        watched.saw(&known, now);
        watched.saw(&lease("3", &json!("{")), now);
        assert_eq!(watched.account(), Some("17"), "it has proposed, whatever its Lease says by now");
        assert_eq!(
            said(&watched),
            ["proposer: annotation `nodeform.dev/troubles` of its Lease cannot be read"]
        );
    }
}
