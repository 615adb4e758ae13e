//! Reads a live cluster's objects as a fleet.
//!
//! Failed reads become notes of the fleet, never empty lists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::node_plan::Phase;
use crate::clock::Clock;
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind};
use crate::ledger::{self, Ledger, Recorded};
use crate::manifests::Source;
use crate::observe::{self, Observation};
use crate::offline::Catalogs;
use crate::offline::standing::{Standing, standing};
use crate::plan::{Plan, file};
use crate::render::fleet::said::PlanSaid;
use crate::render::fleet::{Fleet, Said, Seen, fleet};

/// Why the cluster could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Unseen {
    /// The error.
    pub(in super::super) what: String,
    /// The next step.
    pub(in super::super) hint: Option<String>,
}

/// Reads a cluster repeatedly.
pub(in super::super) struct Reader {
    cluster: Cluster,
    catalogs: Catalogs,
    /// Plans already read: a plan never changes under its name.
    plans: BTreeMap<String, Plan>,
}

impl Reader {
    /// Creates a reader.
    pub(in super::super) fn of(cluster: Cluster) -> Self {
        Self { cluster, catalogs: Catalogs::default(), plans: BTreeMap::new() }
    }

    /// Returns the clock of the cluster.
    pub(super) const fn clock(&self) -> Clock {
        *self.cluster.clock()
    }

    /// Reads the cluster.
    ///
    /// # Errors
    /// Nodes cannot be listed, or the listed objects are invalid.
    pub(in super::super) async fn fleet(&mut self) -> Result<Fleet, Unseen> {
        let at = self.cluster.clock().now();
        let seen = observe::nodes(&self.cluster).await;
        let Observation { sources, unread, .. } =
            seen.map_err(|fault| Unseen { what: fault.what, hint: fault.hint })?;
        let mut notes: Vec<String> = unread.iter().map(ToString::to_string).collect();
        let unread: BTreeSet<String> = unread.iter().map(|unread| unread.source.to_string()).collect();
        let mut said = Said::default();
        said.of_fleets(&items(&sources, "<nodefleets>"));
        if let Err(failure) = self.plans(&mut said).await {
            notes.push(format!("nodeplans cannot be listed: {}; {}", failure.what, failure.hint));
        }
        said.of_claims(&items(&sources, "<nodeclaims>"));
        said.of_nodes(&items(&sources, "<nodes>"));
        let standing = standing(sources, &self.catalogs, at).map_err(|problems| {
            let problem = problems.into_iter().next();
            problem.map_or_else(
                || Unseen { what: "the cluster's objects cannot be read".to_owned(), hint: None },
                |problem| Unseen { what: problem.what, hint: problem.hint },
            )
        })?;
        let Standing { snapshot, prices, notes: left_out } = &standing;
        notes.extend(left_out.iter().cloned());
        Ok(fleet(Seen { snapshot, prices, unread, said, notes }))
    }

    /// Reads the plans that have not ended; none if the CRD is not installed.
    async fn plans(&mut self, said: &mut Said) -> Result<(), ClusterFailure> {
        let listed = match self.cluster.list(ledger::PLANS, "").await {
            Ok(listed) => listed.items(),
            Err(failure) if failure.kind == ClusterFailureKind::NotFound => return Ok(()),
            Err(failure) => return Err(failure),
        };
        let ledger: Ledger = ledger::read(&listed);
        let proposed = ledger.proposed.iter().filter(|plan| plan.phase() == Phase::Proposed);
        let going: Vec<&Recorded> = ledger.unfinished().chain(proposed).collect();
        self.plans.retain(|name, _| going.iter().any(|plan| plan.name == *name));
        for recorded in going {
            if !self.plans.contains_key(&recorded.name)
                && let Some(plan) = self.text(recorded).await?
            {
                self.plans.insert(recorded.name.clone(), plan);
            }
            said.of_plan(PlanSaid {
                name: &recorded.name,
                phase: recorded.phase(),
                status: recorded.status.as_ref(),
                plan: self.plans.get(&recorded.name),
            });
        }
        let faults = ledger.faults.iter().map(|fault| format!("{fault}; {}", fault.hint()));
        said.warnings.extend(faults);
        Ok(())
    }

    async fn text(&self, recorded: &Recorded) -> Result<Option<Plan>, ClusterFailure> {
        let chunks = self.cluster.list(ledger::CHUNKS, &ledger::chunks_of(&recorded.name)).await?.items();
        let text = ledger::text(recorded, &chunks).ok();
        Ok(text.and_then(|text| file::read_spec(&text).ok()))
    }
}

/// Returns the listed objects of a kind.
fn items(sources: &[Source], name: &str) -> Vec<Value> {
    let pages = sources.iter().filter(|source| source.name == name);
    let pages = pages.filter_map(|source| serde_json::from_slice::<Value>(&source.bytes).ok());
    pages
        .filter_map(|mut page| serde_json::from_value::<Vec<Value>>(page["items"].take()).ok())
        .flatten()
        .collect()
}
