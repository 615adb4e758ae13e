//! Text as markup: the only place where foreign names and sentences enter the page.
//!
//! `maud` escapes everything between its braces; [`harmless`] then replaces characters in the finished page that are
//! invisible or reverse the text around them. Nothing here is written unescaped.

use maud::{Markup, html};

use crate::model::shown::{HIDDEN, is_obeyed};
use crate::render::line::{Line, Style};

/// Returns the text with parts in backticks as code, if all backticks are paired.
pub(super) fn sentence(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    html! {
        @if is_paired {
            @for (place, part) in parts.iter().enumerate() {
                @if place % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}

/// Returns a line without surrounding spaces, each part in its style.
pub(super) fn line(line: &Line) -> Markup {
    let last = line.spans.len().saturating_sub(1);
    let texts = line.spans.iter().enumerate().map(|(place, span)| {
        let text = if place == 0 { span.text.trim_start() } else { &span.text };
        (span.style, if place == last { text.trim_end() } else { text })
    });
    html! {
        @for (style, text) in texts {
            @match class(style) {
                Some(class) => { span class=(class) { (sentence(text)) } },
                None => { (sentence(text)) },
            }
        }
    }
}

/// Returns a paragraph for each line that is not empty.
pub(super) fn paragraphs(lines: &[Line]) -> Markup {
    html! { @for said in lines.iter().filter(|said| !said.spans.is_empty()) { p { (line(said)) } } }
}

/// Returns a list of lines.
pub(super) fn list(lines: &[Line]) -> Markup {
    html! { ul { @for said in lines { li { (line(said)) } } } }
}

const fn class(style: Style) -> Option<&'static str> {
    match style {
        Style::Plain => None,
        Style::Add => Some("add"),
        Style::Remove => Some("remove"),
        Style::Change => Some("change"),
        Style::Dim => Some("dim"),
        Style::Bold => Some("bold"),
        Style::Warning => Some("warning"),
    }
}

/// Returns the page without invisible or misleading characters.
pub(super) fn harmless(page: String) -> String {
    let is_hidden = |letter: char| is_obeyed(letter) && letter != '\n';
    if page.contains(is_hidden) { page.replace(is_hidden, &HIDDEN.to_string()) } else { page }
}
