//! Full-screen view of the demo's nodes while a plan is applied: the view of `nodeform top`.
//!
//! The rollout's output is kept and printed after the screen is closed, so it is the same as without the view.

use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use super::super::exit::Failure;
use super::super::top::read::Reader;
use super::super::top::refresh::News;
use super::super::top::screen::Screen;
use super::super::ui::Ui;
use super::stage::AT_ONCE;
use crate::azure_sim::InMemory;
use crate::render::fleet::Step;
use crate::rollout::Event;

/// Interval at which the nodes are read, in the world's time.
const INTERVAL: Duration = Duration::from_secs(5);

/// How long the last view stays visible.
const LAST: Duration = Duration::from_secs(1);

/// A screen, and the events collected behind it.
pub(super) struct Watched {
    /// `None` after the user has quit the view; the rollout continues.
    screen: Option<Screen>,
    speed: Option<u32>,
    events: Vec<(Timestamp, Event)>,
}

impl Watched {
    /// Opens the screen.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub(super) fn open(speed: Option<u32>, ui: Ui) -> Result<Self, Failure> {
        Ok(Self { screen: Some(Screen::open(ui.is_coloured())?), speed, events: Vec::new() })
    }

    /// Runs a rollout to its end and shows the nodes meanwhile.
    pub(super) async fn beside<'a, T, F: Future<Output = T>>(
        &'a mut self,
        memory: &'a InMemory,
        rollout: impl FnOnce(Box<dyn FnMut(Event) + 'a>) -> F,
    ) -> T {
        let Self { screen, speed, events } = self;
        let clock = memory.clock();
        let running = rollout(Box::new(move |event| events.push((clock.now(), event))));
        let watching = async {
            let Ok(cluster) = memory.line(|_| AT_ONCE).cluster() else { return };
            let mut reader = Reader::of(cluster);
            while let Some(shown) = screen {
                let news = match reader.fleet().await {
                    Ok(fleet) => News::Seen(Box::new(fleet)),
                    Err(unseen) => News::Failed(unseen.what),
                };
                // Quitting or a terminal failure ends the view, not the rollout.
                if !matches!(shown.show([news], clock.now(), Duration::ZERO), Ok(Step::Stay)) {
                    *screen = None;
                }
                if let Some(speed) = *speed {
                    thread::sleep(INTERVAL / speed);
                }
                tokio::time::sleep(INTERVAL).await;
            }
        };
        let (mut running, mut watching) = (Box::pin(running), Box::pin(watching));
        tokio::select! {
            ended = &mut running => return ended,
            () = &mut watching => {}
        }
        running.await
    }

    /// Closes the screen and returns the events.
    pub(super) fn close(self) -> Vec<(Timestamp, Event)> {
        if self.screen.is_some() && self.speed.is_some() {
            thread::sleep(LAST);
        }
        self.events
    }
}
