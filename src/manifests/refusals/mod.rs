//! Azure's refusals, as reported in Events and NodeClaims.
//!
//! Karpenter's core writes the Event `InsufficientCapacityError` of a NodeClaim and the reason why a claim is not
//! `Launched`; its Azure provider writes the Event `AsyncProvisioningError`. All of them repeat the provider's
//! sentence, and only that is read: text that is not understood, or has no time, is not a refusal and never a fault.

mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::node::ClaimObject;
use super::tree::Tree;
use crate::model::{Refusal, RefusedBecause, RefusedPlace, SkuName, Zone, label};

use words::Words;

/// A reported refusal, with its NodeClaim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    words: Words,
    claim: Arc<str>,
    /// When it was last seen.
    at: Timestamp,
}

/// Returns the part of a message that reports a refusal; empty for any other message.
#[must_use]
pub fn part(message: &str) -> &str {
    words::part(message)
}

impl Told {
    /// Reads an Event of either API; `None` if it is about something else.
    #[must_use]
    pub fn of_event(event: &Tree) -> Option<Self> {
        let about = event.get("involvedObject").or_else(|| event.get("regarding"))?;
        if about.text("kind") != Some("NodeClaim") {
            return None;
        }
        let message = event.text("message").or_else(|| event.text("note"))?;
        Some(Self {
            words: words::read(message)?,
            claim: Arc::from(about.text("name").unwrap_or_default()),
            at: last_seen(event)?,
        })
    }

    /// Reads why a NodeClaim was not launched; `None` if it was, or if the reason is a different one.
    #[must_use]
    pub fn of_claim(claim: &Tree) -> Option<Self> {
        let conditions = claim.at(&["status", "conditions"])?.as_list()?;
        let launched = conditions.iter().find(|condition| condition.text("type") == Some("Launched"))?;
        if launched.text("status") == Some("True") {
            return None;
        }
        Some(Self {
            words: words::read(launched.text("message")?)?,
            claim: claim.at(&["metadata", "name"])?.as_text().map(Arc::clone)?,
            at: time(launched, &["lastTransitionTime"])?,
        })
    }

    /// Returns the refusal, completed from its NodeClaim if the input holds it.
    fn refusal(self, claim: Option<&ClaimObject>) -> Option<Refusal> {
        let Self { words, claim: _, at } = self;
        let until = at.checked_add(words.lasts).ok()?;
        let said = |key: &str| claim?.single(key);
        // The sentence about one zone does not name the size; the one about all zones does not name the zone that was
        // tried.
        let size = words.size.clone().or_else(|| match words.because {
            RefusedBecause::ZonalAllocationFailure => {
                said(label::INSTANCE_TYPE).map(|name| SkuName::new(&*name))
            }
            RefusedBecause::SubscriptionQuotaReached
            | RefusedBecause::SkuNotAvailable
            | RefusedBecause::AllocationFailure
            | RefusedBecause::OverconstrainedZonalAllocationFailure
            | RefusedBecause::OverconstrainedAllocationFailure
            | RefusedBecause::RequestDisallowedByPolicy
            | RefusedBecause::SpotEvicted => None,
        });
        let place = match words.because {
            RefusedBecause::AllocationFailure | RefusedBecause::OverconstrainedAllocationFailure => {
                said(label::ZONE).map_or(RefusedPlace::Everywhere, |zone| words::scope(&Zone::new(&*zone)))
            }
            RefusedBecause::SubscriptionQuotaReached
            | RefusedBecause::SkuNotAvailable
            | RefusedBecause::ZonalAllocationFailure
            | RefusedBecause::OverconstrainedZonalAllocationFailure
            | RefusedBecause::RequestDisallowedByPolicy
            | RefusedBecause::SpotEvicted => words.place,
        };
        let (capacity_type, because) = (words.capacity_type, words.because);
        Some(Refusal { size, place, capacity_type, because, said: None, until })
    }
}

/// Returns the refusals, sorted; of duplicates, the one that lasts longest.
#[must_use]
pub fn refusals(told: Vec<Told>, claims: &[ClaimObject]) -> Vec<Refusal> {
    let claims: BTreeMap<&Arc<str>, &ClaimObject> =
        claims.iter().map(|claim| (claim.name(), claim)).collect();
    let told = told.into_iter().filter_map(|told| {
        let claim = claims.get(&told.claim).copied();
        told.refusal(claim)
    });
    let mut all: Vec<Refusal> = told.collect();
    all.sort();
    // Equal ones are adjacent, with the longest-lasting one last.
    all.reverse();
    all.dedup_by(|later, earlier| Refusal { until: earlier.until, ..later.clone() } == *earlier);
    all.reverse();
    all
}

/// Returns when an Event was last seen.
fn last_seen(event: &Tree) -> Option<Timestamp> {
    const TIMES: [&[&str]; 6] = [
        &["series", "lastObservedTime"],
        &["lastTimestamp"],
        &["deprecatedLastTimestamp"],
        &["eventTime"],
        &["firstTimestamp"],
        &["metadata", "creationTimestamp"],
    ];
    TIMES.iter().filter_map(|keys| time(event, keys)).max()
}

fn time(tree: &Tree, keys: &[&str]) -> Option<Timestamp> {
    tree.at(keys)?.as_text()?.parse().ok()
}

#[cfg(test)]
mod tests;
