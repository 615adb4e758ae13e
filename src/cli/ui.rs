//! The only place that prints: data to standard output, everything else to standard error.
#![expect(clippy::print_stderr, reason = "this module is where the program speaks to people")]

use std::io::{self, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Effects};

use super::exit::Failure;
use crate::model::shown::is_obeyed;
use crate::render::wrap::{COLUMNS_MAX, wrapped};
use crate::render::{Line, Style};

/// Minimum plausible width of a terminal; a lower reported width counts as unknown.
const COLUMNS_MIN: usize = 20;

/// Output settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ui {
    color: ColorChoice,
    /// The program name as the user typed it.
    name: &'static str,
}

impl Ui {
    /// Uses colours if the terminal supports them (respecting `NO_COLOR`, `CLICOLOR_FORCE` and pipes), or never.
    #[must_use]
    pub(super) const fn new(is_plain: bool) -> Self {
        let color = if is_plain { ColorChoice::Never } else { ColorChoice::Auto };
        Self { color, name: "nodeform" }
    }

    /// Uses the program name as the user typed it in hints.
    #[must_use]
    pub(super) const fn called(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Returns the maximum line width: that of the terminal, otherwise a default.
    #[must_use]
    pub(super) fn columns(self) -> usize {
        let width = rustix::termios::tcgetwinsize(io::stdout()).map(|size| usize::from(size.ws_col));
        // Some terminals report a width of 0.
        width.ok().filter(|width| *width >= COLUMNS_MIN).unwrap_or(COLUMNS_MAX)
    }

    /// Returns whether standard output is coloured.
    #[cfg(feature = "live")]
    #[must_use]
    pub(super) fn is_coloured(self) -> bool {
        match self.color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            ColorChoice::AlwaysAnsi | ColorChoice::Always => true,
            ColorChoice::Never => false,
        }
    }

    /// Writes styled lines to standard output.
    ///
    /// # Errors
    /// As for [`Ui::text`].
    pub(super) fn lines(self, lines: &[Line]) -> Result<(), Failure> {
        let mut text = String::new();
        for line in lines {
            for span in &line.spans {
                let style = ansi(span.style);
                text.push_str(&format!("{style}{}{style:#}", harmless(&self.named(&span.text))));
            }
            text.push('\n');
        }
        self.text(&text)
    }

    /// Writes styled lines to standard output, wrapping long ones.
    ///
    /// # Errors
    /// As for [`Ui::text`].
    pub(super) fn wrapped(self, lines: &[Line]) -> Result<(), Failure> {
        let columns = self.columns();
        self.lines(&lines.iter().flat_map(|line| wrapped(line, columns)).collect::<Vec<_>>())
    }

    /// Writes text to standard output unchanged. A closed pipe ends the output, not the program.
    ///
    /// # Errors
    /// Standard output cannot be written: the output would be cut off silently.
    pub(super) fn text(self, text: &str) -> Result<(), Failure> {
        let mut out = AutoStream::new(io::stdout(), self.color);
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::error(format!("standard output cannot be written: {error}")))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes text for people to standard output, without terminal control characters from external sources.
    ///
    /// # Errors
    /// As for [`Ui::text`].
    #[cfg(feature = "live")]
    pub(super) fn told(self, text: &str) -> Result<(), Failure> {
        self.text(&harmless(text))
    }

    /// Writes a failure to standard error.
    pub(super) fn failure(self, failure: &Failure) {
        self.aside(&failure.to_string());
    }

    /// Writes a message to standard error. Control characters, which names of files and objects may contain, become
    /// spaces.
    pub(super) fn aside(self, text: &str) {
        // There may be a progress line.
        let clear = if io::stderr().is_terminal() { "\r\u{1b}[K" } else { "" };
        eprint!("{clear}{}", harmless(&self.named(text)));
    }

    /// Uses the program name as the user typed it in the commands of a text.
    fn named(self, text: &str) -> String {
        let (named, piped) = (format!("`{} ", self.name), format!("| {} ", self.name));
        text.replace("`nodeform ", &named).replace("| nodeform ", &piped)
    }
}

/// Returns a multi-line text without control characters and invisible characters.
pub(super) fn harmless(text: &str) -> String {
    text.replace(|letter: char| is_obeyed(letter) && !matches!(letter, '\n' | '\t'), " ")
}

fn ansi(style: Style) -> anstyle::Style {
    let plain = anstyle::Style::new();
    match style {
        Style::Plain => plain,
        Style::Bold => plain.effects(Effects::BOLD),
        Style::Dim => plain.effects(Effects::DIMMED),
        Style::Add => plain.fg_color(Some(AnsiColor::Green.into())),
        Style::Remove => plain.fg_color(Some(AnsiColor::Red.into())),
        Style::Change | Style::Warning => plain.fg_color(Some(AnsiColor::Yellow.into())),
    }
}
