//! Confirmation prompt on the terminal.
//!
//! Must never accept silence, or anything but `yes`, as confirmation.

use std::io::{BufRead as _, IsTerminal as _};

use super::exit::Failure;
use super::ui::Ui;

/// Asks, and returns whether the answer is `yes`; `hints` say what to do without a terminal.
///
/// # Errors
/// There is no terminal.
pub(super) fn confirmed(question: &str, hints: &[&str], ui: Ui) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        let failure = Failure::error("no terminal to confirm on");
        return Err(hints.iter().fold(failure, |failure, hint| failure.hint(*hint)));
    }
    ui.aside(&format!("\n{question} Type `yes` to confirm:  "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok() && answer.trim() == "yes")
}
