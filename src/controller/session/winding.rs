//! Winding down once the mode is `observe`: removals whose VM still exists are rolled back, everything else is
//! finished, and then nothing more is applied.
//!
//! The Lease is kept until then, but no longer than [`WINDING_MAX`]. Must never start a change.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{Session, reader};
use crate::automatic::Awaiting;
use crate::model::{Mode, Node};
use crate::offline::World;

/// How long started changes may take to end, by the cloud's clock.
const WINDING_MAX: Duration = Duration::from_secs(600);

impl Session<'_> {
    /// Returns whether this session applies changes, rather than only observing.
    pub(super) const fn leads(&self) -> bool {
        self.mode.acts() || self.winding.is_some()
    }

    /// Changes the mode; returns whether this session continues.
    pub(super) fn turns_to(&mut self, mode: Mode) -> bool {
        match mode {
            Mode::Observe if self.leads() && self.flights.has_begun() => {
                tracing::info!("the mode is `observe` now: started changes are rolled back or finished");
                self.winding = Some(Instant::now());
                self.flights.wind_down();
            }
            Mode::Auto | Mode::Review if self.winding.is_some() => {
                self.winding = None;
                // Plans that a person started were left alone until now.
                self.is_resumed = false;
                self.flights.go_on();
            }
            Mode::Auto | Mode::Review if self.mode.acts() => {}
            Mode::Observe | Mode::Auto | Mode::Review => return false,
        }
        self.mode = mode;
        self.bulletin.turns_to(mode);
        self.rest = None;
        // It was started for the previous mode.
        if let Some(planning) = self.planning.take() {
            planning.abort();
            self.rounds.ended(self.now());
        }
        true
    }

    /// Returns whether all started changes have ended, or the time for that is over.
    pub(super) fn is_wound_down(&self) -> bool {
        let Some(since) = self.winding else { return false };
        let has_ended = self.is_resumed && self.stepped.is_some() && !self.flights.has_begun();
        has_ended || since.elapsed() >= WINDING_MAX / self.clock_speed
    }

    /// Resumes the plans of earlier processes, once; returns whether they are known.
    pub(super) async fn takes_up(&mut self, world: &World) -> bool {
        if self.reader.is_none() {
            self.reader = reader(self.controller, world);
        }
        if !self.is_resumed {
            self.resume(world).await;
        }
        self.is_resumed
    }

    /// Reports started changes that stay as they are while nothing is applied.
    pub(super) fn tell_left(&mut self, world: &World) {
        let (now, left) = (self.now(), if self.leads() { Vec::new() } else { left(world) });
        let before = std::mem::take(&mut self.left);
        for (object, what) in left {
            let known = before.iter().find(|known| known.object == object && known.what == what);
            if known.is_none() {
                tracing::warn!(node = %object, "waits for {what}");
            }
            let since = known.map_or(now, |known| known.since);
            self.left.push(Awaiting { since, object, what });
        }
    }
}

/// Returns started changes that stay as they are while nothing is applied: the node, and what it waits for.
fn left(world: &World) -> Vec<(Arc<str>, String)> {
    let fleet = world.policy.fleet.name.as_deref().unwrap_or("NAME");
    let on =
        format!("`kubectl patch nodefleet {fleet} --type merge -p '{{\"spec\":{{\"mode\":\"auto\"}}}}'`");
    let own = world.snapshot.nodes.iter().filter(|node| node.claimed.is_own);
    let left = own.filter_map(|node| {
        let what = match &node.claimed.begun_by {
            Some(plan) => format!("removal by plan `{plan}`, in progress"),
            None if is_coming(node) => "creation, in progress".to_owned(),
            None => return None,
        };
        Some((node.name.as_str().into(), format!("mode `auto` or `review`, to continue its {what}: {on}")))
    });
    left.collect()
}

/// Returns whether a node has not joined yet, or is not initialized.
fn is_coming(node: &Node) -> bool {
    !node.claimed.is_deleted
        && (node.uid.is_none() && !node.claimed.is_lost || !node.claimed.lacks.is_empty())
}
