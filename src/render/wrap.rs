//! Wrapping of long lines at spaces: the rest is indented, and every part keeps its style.

use super::line::{Line, Span, Style};

/// Maximum number of columns if unknown: fits next to another window and in a review.
pub const COLUMNS_MAX: usize = 100;

/// Additional indentation of continuation lines.
const INDENT: usize = 4;

/// Splits the line into parts of at most this many columns. A longer word gets its own line.
#[must_use]
pub fn wrapped(line: &Line, columns: usize) -> Vec<Line> {
    if width(&line.text()) <= columns {
        return vec![line.clone()];
    }
    let text = line.text();
    let start = text.len() - text.trim_start_matches(' ').len();
    let mut lines = vec![Line::blank()];
    let mut used = 0;
    for (style, word) in words(line) {
        let is_full = used + width(word.trim_end()) > columns && used > start + INDENT;
        if is_full {
            lines.push(Line::new(Style::Plain, " ".repeat(start + INDENT)));
            used = start + INDENT;
        }
        used += width(&word);
        if let Some(last) = lines.last_mut() {
            append(last, style, word);
        }
    }
    lines.iter_mut().for_each(trim_end);
    lines
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Returns the words of a line, each with its trailing spaces.
fn words(line: &Line) -> Vec<(Style, String)> {
    line.spans
        .iter()
        .flat_map(|Span { style, text }| {
            text.split_inclusive(' ').map(|word| (*style, word.to_owned())).collect::<Vec<_>>()
        })
        .collect()
}

fn append(line: &mut Line, style: Style, word: String) {
    match line.spans.last_mut() {
        Some(last) if last.style == style => last.text.to_mut().push_str(&word),
        Some(_) | None => line.spans.push(Span { style, text: word.into() }),
    }
}

fn trim_end(line: &mut Line) {
    if let Some(last) = line.spans.last_mut() {
        let kept = last.text.trim_end().len();
        last.text.to_mut().truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS_MAX, Line, Style, wrapped};

    #[test]
    fn a_long_line_breaks_at_spaces_and_keeps_its_words() {
        let text = format!("  {}", "word ".repeat(60));
        let lines = wrapped(&Line::new(Style::Bold, text.trim_end().to_owned()), COLUMNS_MAX);
        assert!(lines.len() > 2 && lines.iter().all(|line| line.text().chars().count() <= COLUMNS_MAX));
        assert!(lines[1].text().starts_with("      word"));
        let words: usize = lines.iter().map(|line| line.text().split_whitespace().count()).sum();
        assert_eq!(words, 60);
    }

    #[test]
    fn a_word_that_is_longer_than_a_line_stays_whole() {
        let long = "x".repeat(300);
        let lines = wrapped(&Line::new(Style::Plain, format!("a {long} b")), COLUMNS_MAX);
        assert!(lines.iter().any(|line| line.text().contains(&long)));
    }
}
