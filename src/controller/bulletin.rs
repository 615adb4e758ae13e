//! Reports the state of the fleet: the NodeFleet's status, log and gauges. Everything is logged once, when it is new.
//!
//! Must never be used for decisions: it only reports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::flights::Flights;
use super::looks::{self, FLEETS, FoundFleet};
use super::metrics::Metrics;
use super::reports::Reports;
use super::round::{NoRound, Seen};
use super::run::Beside;
use crate::api::node_fleet::{FleetReview, FleetWaiting};
use crate::automatic::Awaiting;
use crate::automatic::status::News;
use crate::automatic::{self, BackOff, Fights, Known, WaitingPod};
use crate::azure::Trouble;
use crate::cluster::{Writer, lease};
use crate::manifests::Remark;
use crate::model::Mode;
use crate::observe::Unread;
use crate::offline::World;
use crate::plan::Plan;
use crate::review::NotApproved;

/// How long Azure may throttle or not answer before it is reported, by Azure's clock.
const PATIENCE: Duration = Duration::from_secs(30);

/// Current and already reported state.
pub(super) struct Bulletin {
    news: News,
    reports: Reports,
    metrics: Arc<Metrics>,
    clock_speed: u32,
    /// The pods that do not run; `None` if they could not be listed.
    pods: Option<Vec<WaitingPod>>,
    known: Known,
    /// NodePools and AKSNodeClasses that are ignored because they are invalid, and deleted ones that nodes still use.
    faulty: Vec<String>,
    /// What could not be read in the last round.
    unread: Vec<Unread>,
    /// Azure's troubles that were reported.
    troubled: BTreeSet<String>,
}

/// The current state besides the results of rounds.
pub(super) struct Standing<'s> {
    pub(super) found: &'s FoundFleet,
    pub(super) beside: Option<&'s Beside>,
    pub(super) flights: &'s Flights,
    /// Started changes that stay as they are while nothing is applied.
    pub(super) left: &'s [Awaiting],
    pub(super) back_off: &'s BackOff,
    pub(super) fights: &'s Fights,
    /// Plans under review.
    pub(super) reviews: Vec<FleetReview>,
    /// Obstacles to the review of plans.
    pub(super) review_troubles: Vec<String>,
    /// The nodes that approved plans change, each with what it waits for, if known.
    pub(super) approved: BTreeMap<String, Option<String>>,
    /// Azure services that throttle or do not answer.
    pub(super) troubles: Vec<Trouble>,
    pub(super) at: Timestamp,
}

impl Bulletin {
    pub(super) fn new(mode: Mode, writer: Writer, (metrics, clock_speed): (Arc<Metrics>, u32)) -> Self {
        Self {
            news: News { mode, ..News::default() },
            reports: Reports::begin(writer, "the NodeFleet's status"),
            metrics,
            clock_speed,
            pods: None,
            known: Known::default(),
            faulty: Vec::new(),
            unread: Vec::new(),
            troubled: BTreeSet::new(),
        }
    }

    /// Records the pods that do not run.
    pub(super) fn saw(&mut self, pods: Option<Vec<WaitingPod>>) {
        self.pods = pods;
    }

    /// Records that no plan could be made.
    pub(super) fn no_round(&mut self, NoRound { because, unread }: NoRound) {
        self.take_unread(unread);
        // Unread sources are reported separately.
        let unread: BTreeSet<String> = self.unread.iter().map(ToString::to_string).collect();
        let because: Vec<String> = because.into_iter().filter(|because| !unread.contains(because)).collect();
        if self.news.stops != because {
            because.iter().for_each(|because| tracing::warn!("no plan: {because}"));
        }
        self.news.stops = because;
    }

    /// Records that a round panicked.
    pub(super) fn round_panicked(&mut self, error: &tokio::task::JoinError) {
        let because = format!("the round failed with a bug in nodeform: {error}");
        self.metrics.panicked();
        tracing::error!(
            hint = "report it with the preceding log lines; the next round plans again",
            "{because}"
        );
        self.news.stops = vec![because];
    }

    /// Records what a round saw.
    pub(super) fn seen(&mut self, seen: &Seen) {
        let Seen { world, first, unread, warnings, .. } = seen;
        if first.is_none() {
            // No planning is needed because nothing has changed: earlier obstacles are gone.
            self.news.stops.clear();
        }
        self.take_unread(unread.clone());
        warnings.iter().for_each(|warning| tracing::debug!("{warning}"));
        self.news.take_tried(&world.evidence.tries.tried);
        self.news.take_learned(&world.evidence.nodes);
        self.note_faulty(world);
        for hold in first.iter().flat_map(|first| self.news.take_deletions(&first.waits)) {
            tracing::info!(node = hold.node, "deleted by hand, and waits: {}", hold.because);
        }
    }

    /// Records the plan of a round, and the plan that had all pending pods as its input.
    pub(super) fn planned(
        &mut self,
        (plan, with_waiting): (&Plan, &Plan),
        (at, took): (Timestamp, Duration),
    ) {
        self.news.stops.clear();
        self.metrics.planned(took);
        self.metrics.cost(plan);
        self.news.take(plan, with_waiting, at);
        self.known = Known::of(with_waiting, looks::without_node(with_waiting), (at, self.clock_speed));
    }

    /// Records that a plan was not approved.
    pub(super) fn not_approved(&mut self, faults: &[NotApproved], is_new: bool) {
        if is_new {
            faults.iter().for_each(|fault| tracing::info!(hint = fault.hint(), "{fault}"));
        }
        self.news.stops = faults.iter().map(ToString::to_string).collect();
    }

    /// Records that a plan could not be started.
    pub(super) fn not_begun(&mut self, because: String) {
        self.news.stops = vec![because];
    }

    fn note_faulty(&mut self, world: &World) {
        let faulty = world.faulty.iter().map(|Remark { object, what, .. }| format!("{object}: {what}"));
        let faulty: Vec<String> = faulty.chain(automatic::gone(world)).collect();
        let is_new = |text: &&String| !self.faulty.contains(text);
        faulty.iter().filter(is_new).for_each(|text| tracing::warn!("{text}"));
        self.faulty = faulty;
    }

    fn take_unread(&mut self, unread: Vec<Unread>) {
        let is_known = |unread: &&Unread| !self.unread.iter().any(|known| known.source == unread.source);
        for unread in unread.iter().filter(is_known) {
            tracing::warn!(source = &*unread.source, hint = unread.hint.as_deref(), "{}", unread.what);
        }
        self.metrics.unread(unread.iter().map(|unread| unread.source.clone()).collect());
        self.unread = unread;
    }

    /// Sets the mode.
    pub(super) fn turns_to(&mut self, mode: Mode) {
        self.news.mode = mode;
    }

    /// Updates the status of the NodeFleets if it has changed.
    pub(super) fn publish(&mut self, standing: &Standing<'_>) {
        let Standing { found, beside, flights, left, back_off, fights, at, .. } = standing;
        self.news.in_flight = flights.listed();
        self.news.take_silent(back_off.silent(*at));
        self.news.take_failed(back_off.not_done(*at).chain(flights.troubles(*at)));
        self.news.take_fought(fights.fought(*at));
        self.news.take_kept(flights.kept().into_iter().chain(left.iter().cloned()).collect());
        self.news.take_paced(flights.paced());
        self.news.take_begun(flights.begun(*at));
        self.tell_waiting(flights, *at);
        self.news.reviews.clone_from(&standing.reviews);
        let mut news = self.news.clone();
        news.take_approved(&standing.approved);
        news.stops.extend(standing.review_troubles.iter().cloned());
        news.stops.extend(self.unread.iter().map(ToString::to_string));
        news.stops.extend(self.faulty.iter().cloned().chain(found.standing.because.clone()));
        news.stops.extend(flights.blind().map(|because| format!("paused: cannot read {because}")));
        news.stops.extend(flights.stop());
        let troubles = self.troubles(standing);
        let is_told_by_other = beside.is_some_and(|beside| beside.reports);
        let beside = beside.map(|Beside { namespace, holder, .. }| {
            format!(
                "`{holder}` holds Lease `{namespace}/{}` and is not a Pod of this Deployment: waiting until the Lease is free",
                lease::NAME
            )
        });
        news.stops.splice(0..0, beside.into_iter().chain(troubles));
        if is_told_by_other {
            return;
        }
        for (fleet, object) in found.standing.fleets.iter().zip(&found.objects) {
            if let Some(patch) = news.patch(fleet, object, *at) {
                self.reports.patch_status(format!("{FLEETS}/{}", fleet.name), patch);
            }
        }
    }

    fn tell_waiting(&mut self, flights: &Flights, at: Timestamp) {
        let waiting =
            automatic::waiting(&self.known, self.pods.as_deref(), &flights.coming(), (at, self.clock_speed));
        for FleetWaiting { pods, example, because, since } in self.news.take_waiting(&waiting) {
            tracing::warn!(pods, example, since, "pods are Pending: {because}");
        }
    }

    /// Reports which Azure services have throttled or not answered for long, since when and until when.
    fn troubles(&mut self, standing: &Standing<'_>) -> Vec<String> {
        let long = PATIENCE / self.clock_speed.max(1);
        let (mut said, mut lines) = (BTreeSet::new(), Vec::new());
        for Trouble { who, what, lasts, again } in &standing.troubles {
            if *lasts < long {
                continue;
            }
            let at = standing.at;
            let since = at.saturating_sub(SignedDuration::try_from(*lasts).unwrap_or(SignedDuration::MAX));
            let until = at.saturating_add(SignedDuration::try_from(*again).unwrap_or(SignedDuration::MAX));
            let (since, until) = (since.unwrap_or(at), until.unwrap_or(at));
            let next = match again.is_zero() {
                true => "still waiting for the response".to_owned(),
                false => format!("next request at {until:.0}"),
            };
            let line = format!("Azure: {who} {what} since {since:.0}; {next}");
            let subject = format!("{who} {what}");
            if !self.troubled.contains(&subject) {
                tracing::warn!("{line}");
            }
            said.insert(subject);
            lines.push(line);
        }
        for over in self.troubled.difference(&said) {
            tracing::info!("Azure: resolved: {over}");
        }
        self.troubled = said;
        lines
    }
}
