//! The full screen: keys, resizes and time, and a terminal that is always restored.

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

/// How long to wait for a key before redrawing: times are shown in seconds.
const TICK: Duration = Duration::from_millis(250);

/// Content of the screen.
#[derive(Debug, Default)]
pub(in super::super) struct View {
    fleet: Fleet,
    cursor: Cursor,
    fault: Option<String>,
    /// Number of rows on the last page.
    page: usize,
}

impl View {
    /// Processes a message.
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

    /// Processes a key.
    pub(in super::super) fn press(&mut self, key: Key) -> Step {
        self.cursor.press(key, &self.fleet, self.page)
    }

    /// Draws the view at a time.
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

/// A terminal in full-screen mode. However that ends, the terminal is restored; a panic message appears after it.
pub(super) struct Taken {
    terminal: DefaultTerminal,
}

impl Taken {
    /// Enters full-screen mode.
    ///
    /// # Errors
    /// There is no terminal.
    pub(super) fn take() -> io::Result<Self> {
        // Also installs a panic hook that restores the terminal first; otherwise the message would disappear with the
        // screen.
        Ok(Self { terminal: ratatui::try_init()? })
    }

    pub(super) const fn terminal(&mut self) -> &mut DefaultTerminal {
        &mut self.terminal
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // The hook has already restored it before the panic message; restoring it again would overwrite the message.
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
    /// Opens the full screen.
    ///
    /// # Errors
    /// There is no terminal.
    pub(in super::super) fn open(is_coloured: bool) -> Result<Self, Failure> {
        let taken = Taken::take().map_err(failure)?;
        Ok(Self { taken, view: View::default(), is_coloured })
    }

    /// Draws the view, waits this long for a key, and processes all keys pressed.
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

/// Shows messages until the user quits.
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

/// Returns the key of an event; `None` if it has no meaning here.
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
