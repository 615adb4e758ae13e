//! Sections of a page that fits on a screen: items that do not fit are counted.

use super::line::{Line, Style};
use super::words;
use super::wrap::wrapped;

/// A headline and lines below it.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// The headline, if there is one.
    pub(super) title: Option<Line>,
    /// Items, the most important first; a long one spans several lines.
    pub(super) items: Vec<Line>,
    /// Maximum number of items shown.
    pub(super) most: usize,
    /// Line below the items, always shown.
    pub(super) foot: Option<Line>,
}

/// Maximum number of lines per item if space is limited.
const ITEM_LINES_MAX: usize = 3;

impl Section {
    /// Creates a section with a headline.
    pub(super) fn titled(title: &'static str, items: Vec<Line>, most: usize) -> Self {
        Self { title: Some(Line::new(Style::Bold, title)), items, most, foot: None }
    }

    /// Returns the section's height in lines, including a blank one before it.
    fn height(&self, item_lines_max: usize, columns: usize) -> usize {
        if self.items.is_empty() {
            return 0;
        }
        let shown: usize = {
            let items = self.items.iter().take(self.most);
            items.map(|item| wrapped(item, columns).len().min(item_lines_max)).sum()
        };
        let more = usize::from(self.items.len() > self.most);
        let foot = self.foot.as_ref().map_or(0, |foot| wrapped(foot, columns).len());
        1 + usize::from(self.title.is_some()) + shown + more + foot
    }

    fn write(self, item_lines_max: usize, columns: usize, lines: &mut Vec<Line>) -> bool {
        let Self { title, items, most, foot } = self;
        if items.is_empty() {
            return false;
        }
        lines.push(Line::blank());
        lines.extend(title);
        let hidden = items.len().saturating_sub(most);
        lines.extend(items.iter().take(most).flat_map(|item| cut(item, item_lines_max, columns)));
        if hidden > 0 {
            let more =
                format!("    … and {} more", words::grouped(u64::try_from(hidden).unwrap_or(u64::MAX)));
            lines.push(Line::new(Style::Dim, more));
        }
        lines.extend(foot.iter().flat_map(|foot| wrapped(foot, columns)));
        hidden > 0
    }
}

/// Returns the item in lines; if it exceeds the limit, the last one ends in `…`.
fn cut(item: &Line, lines_max: usize, columns: usize) -> Vec<Line> {
    let mut lines = wrapped(item, columns);
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = std::mem::take(last).with(Style::Dim, " …");
        }
    }
    lines
}

/// Size of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Maximum number of lines.
    pub(super) lines: usize,
    /// Maximum number of columns per line.
    pub(super) columns: usize,
}

/// Writes the sections within this size: the longest is shortened first, and long items are cut if that is not enough.
/// Returns whether something is left out.
pub(super) fn fit(mut sections: Vec<Section>, room: Room, lines: &mut Vec<Line>) -> bool {
    let Room { lines: lines_max, columns } = room;
    let height = |sections: &[Section], cut: usize| -> usize {
        sections.iter().map(|section| section.height(cut, columns)).sum()
    };
    let mut item_lines_max = usize::MAX;
    while height(&sections, item_lines_max) > lines_max {
        let longest = sections
            .iter_mut()
            .map(|section| (section.items.len().min(section.most), section))
            .filter(|(shown, _)| *shown > 1)
            .max_by_key(|(shown, _)| *shown);
        match longest {
            Some((shown, section)) => section.most = shown - 1,
            None if item_lines_max > ITEM_LINES_MAX => item_lines_max = ITEM_LINES_MAX,
            None => break,
        }
    }
    let mut leaves_out = item_lines_max == ITEM_LINES_MAX;
    for section in sections {
        leaves_out |= section.write(item_lines_max, columns, lines);
    }
    leaves_out
}
