//! The full screen: keys, resizes and time, and a terminal that is left as it was found.

use std::io;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use jiff::Timestamp;
use ratatui::DefaultTerminal;
use ratatui::backend::Backend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::exit::Failure;
use super::draw;
use super::refresh::News;
use crate::clock::Clock;
use crate::render::fleet::page::{Moment, Size};
use crate::render::fleet::{Cursor, Fleet, Key, Step, fleet_page};

/// How long a key is waited for before the screen is looked at again: what is said of time is in seconds.
const TICK: Duration = Duration::from_millis(250);

/// What is on the screen.
#[derive(Debug, Default)]
pub(in super::super) struct View {
    fleet: Fleet,
    cursor: Cursor,
    fault: Option<String>,
    /// How many rows the last page had.
    page: usize,
}

impl View {
    /// Takes in what was read.
    pub(in super::super) fn take_in(&mut self, news: News) -> Step {
        match news {
            News::Seen(fleet) => {
                self.fleet = *fleet;
                self.fault = None;
                self.cursor.settle(&self.fleet);
            }
            News::Failed(why) => self.fault = Some(why),
            News::Quit => return Step::Quit,
        }
        Step::Stay
    }

    /// Does what a key says.
    pub(in super::super) fn press(&mut self, key: Key) -> Step {
        self.cursor.press(key, &self.fleet, self.page)
    }

    /// Draws what is seen at a time.
    ///
    /// # Errors
    /// The terminal fails.
    pub(in super::super) fn draw<B: Backend>(
        &mut self,
        terminal: &mut ratatui::Terminal<B>,
        now: Option<Timestamp>,
        is_coloured: bool,
    ) -> Result<(), B::Error> {
        terminal.draw(|frame| {
            let area = frame.area();
            let size = Size { columns: area.width.into(), lines: area.height.into() };
            let moment = Moment { now, fault: self.fault.as_deref() };
            let (lines, page) = fleet_page(&self.fleet, &mut self.cursor, size, moment);
            self.page = page;
            draw::lines(frame, &lines, is_coloured);
        })?;
        Ok(())
    }
}

/// A terminal whose screen is taken. Whatever ends that, the terminal is as it was: what a panic says stands behind it.
pub(super) struct Taken {
    terminal: DefaultTerminal,
}

impl Taken {
    /// Takes the screen.
    ///
    /// # Errors
    /// There is no terminal.
    pub(super) fn take() -> io::Result<Self> {
        // Also hooks in front of what says a panic: what is said on the screen would be gone with it.
        Ok(Self { terminal: ratatui::try_init()? })
    }

    pub(super) const fn terminal(&mut self) -> &mut DefaultTerminal {
        &mut self.terminal
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // The hook has restored it before the panic was said: once more would write over that.
        if !std::thread::panicking() {
            ratatui::restore();
        }
    }
}

/// The view in a terminal.
pub(in super::super) struct Screen {
    taken: Taken,
    view: View,
    is_coloured: bool,
}

impl Screen {
    /// Takes the screen of the terminal.
    ///
    /// # Errors
    /// There is no terminal.
    pub(in super::super) fn open(is_coloured: bool) -> Result<Self, Failure> {
        let taken = Taken::take().map_err(failure)?;
        Ok(Self { taken, view: View::default(), is_coloured })
    }

    /// Shows what is known at a time, waits so long for a key, and does what all keys say that were pressed.
    ///
    /// # Errors
    /// The terminal cannot be read or written.
    pub(in super::super) fn show(
        &mut self,
        news: impl IntoIterator<Item = News>,
        now: Timestamp,
        wait: Duration,
    ) -> Result<Step, Failure> {
        for news in news {
            if self.view.take_in(news) == Step::Quit {
                return Ok(Step::Quit);
            }
        }
        self.view.draw(self.taken.terminal(), Some(now), self.is_coloured).map_err(failure)?;
        let mut wait = wait;
        while event::poll(wait).map_err(failure)? {
            let key = key(&event::read().map_err(failure)?);
            if key.is_some_and(|key| self.view.press(key) == Step::Quit) {
                return Ok(Step::Quit);
            }
            wait = Duration::ZERO;
        }
        Ok(Step::Stay)
    }
}

/// Shows what comes until somebody quits.
///
/// # Errors
/// The terminal cannot be read or written.
pub(super) fn run(news: &Receiver<News>, clock: Clock, is_coloured: bool) -> Result<(), Failure> {
    let mut screen = Screen::open(is_coloured)?;
    while screen.show(news.try_iter(), clock.now(), TICK)? == Step::Stay {}
    Ok(())
}

fn failure(error: io::Error) -> Failure {
    Failure::error(format!("the terminal cannot be used: {error}"))
}

/// Returns the key of an event; none where it means nothing here.
#[expect(clippy::wildcard_enum_match_arm, reason = "a terminal has many more keys than mean something here")]
fn key(event: &Event) -> Option<Key> {
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press | KeyEventKind::Repeat, .. }) =
        event
    else {
        return None;
    };
    if modifiers.contains(KeyModifiers::CONTROL) {
        return (*code == KeyCode::Char('c')).then_some(Key::Interrupt);
    }
    Some(match code {
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Char(letter) => Key::Letter(*letter),
        _ => return None,
    })
}
