//! Sections of a page that must not grow beyond a screen: what does not fit is counted.

use super::line::{Line, Style};
use super::words;
use super::wrap::wrapped;

/// A headline and lines below it.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// The headline, if there is one.
    pub(super) title: Option<Line>,
    /// Items, the most important first; a long one takes several lines.
    pub(super) items: Vec<Line>,
    /// How many items are shown at most.
    pub(super) most: usize,
}

impl Section {
    /// How many lines the section takes, with a blank one before it.
    fn height(&self) -> usize {
        if self.items.is_empty() {
            return 0;
        }
        let shown: usize = self.items.iter().take(self.most).map(|item| wrapped(item).len()).sum();
        let more = usize::from(self.items.len() > self.most);
        1 + usize::from(self.title.is_some()) + shown + more
    }

    fn write(self, lines: &mut Vec<Line>) -> bool {
        let Self { title, items, most } = self;
        if items.is_empty() {
            return false;
        }
        lines.push(Line::blank());
        lines.extend(title);
        let hidden = items.len().saturating_sub(most);
        lines.extend(items.iter().take(most).flat_map(wrapped));
        if hidden > 0 {
            let more =
                format!("    … and {} more", words::grouped(u64::try_from(hidden).unwrap_or(u64::MAX)));
            lines.push(Line::new(Style::Dim, more));
        }
        hidden > 0
    }
}

/// Writes the sections within so many lines: the longest gives way first. Returns whether something is
/// left out.
pub(super) fn fit(mut sections: Vec<Section>, room: usize, lines: &mut Vec<Line>) -> bool {
    while sections.iter().map(Section::height).sum::<usize>() > room {
        let longest = sections
            .iter_mut()
            .map(|section| (section.items.len().min(section.most), section))
            .filter(|(shown, _)| *shown > 1)
            .max_by_key(|(shown, _)| *shown);
        let Some((shown, section)) = longest else { break };
        section.most = shown - 1;
    }
    let mut leaves_out = false;
    for section in sections {
        leaves_out |= section.write(lines);
    }
    leaves_out
}
