//! Draws lines on a screen, with styles as colours if enabled.

use ratatui::Frame;
use ratatui::style::{Color, Modifier, Style as Look};
use ratatui::text::{Line as Row, Span as Part};

use crate::render::{Line, Style};

/// Draws lines from the top.
pub(in super::super) fn lines(frame: &mut Frame<'_>, lines: &[Line], is_coloured: bool) {
    let area = frame.area();
    let rows = (area.top()..area.bottom()).zip(lines);
    for (y, line) in rows {
        let parts = line.spans.iter().map(|span| Part::styled(&*span.text, look(span.style, is_coloured)));
        let row: Row<'_> = parts.collect::<Vec<_>>().into();
        frame.buffer_mut().set_line(area.left(), y, &row, area.width);
    }
}

fn look(style: Style, is_coloured: bool) -> Look {
    let plain = Look::new();
    if !is_coloured {
        return plain;
    }
    match style {
        Style::Plain => plain,
        Style::Bold => plain.add_modifier(Modifier::BOLD),
        Style::Dim => plain.add_modifier(Modifier::DIM),
        Style::Add => plain.fg(Color::Green),
        Style::Remove => plain.fg(Color::Red),
        Style::Change | Style::Warning => plain.fg(Color::Yellow),
    }
}
