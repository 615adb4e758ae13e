//! Template of a page: later rewording does not affect pages that are already open.
//!
//! A page names its template, and is compared with that template's output for its plan. Rewording a page after a
//! release requires a new template, and the previous one stays. Must never be guessed: a page without one is not
//! compared.

use super::fault::ProposalFault;
use crate::model::shown::{HIDDEN, is_obeyed};

/// Start of the line that names the template.
const LINE: &str = "- Template of this page: `";

/// Maximum length of a name in messages, in characters.
const TOLD_LETTERS_MAX: usize = 20;

/// Wording of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// The first.
    First,
}

impl Template {
    /// The template for new pages.
    pub const NEWEST: Self = Self::First;

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "1",
        }
    }

    /// Returns the line of a page that names it.
    #[must_use]
    pub fn line(self) -> String {
        format!("{LINE}{}`", self.as_str())
    }

    /// Reads the template that a page names, in its last such line: ids are at the end of the page.
    ///
    /// # Errors
    /// It names none, or an unknown one.
    pub fn of(page: &str) -> Result<Self, ProposalFault> {
        let named = page.rsplit('\n').find_map(|line| line.strip_prefix(LINE)?.strip_suffix('`'));
        if named == Some(Self::First.as_str()) {
            return Ok(Self::First);
        }
        let plain = |letter: char| if is_obeyed(letter) || letter == '`' { HIDDEN } else { letter };
        let template = named.unwrap_or("none").chars().map(plain).take(TOLD_LETTERS_MAX).collect();
        Err(ProposalFault::OtherTemplate { template })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_its_template_and_one_that_is_not_known_is_refused() {
        let page = format!("# Plan\n\n{}\n", Template::NEWEST.line());
        assert_eq!(Template::of(&page), Ok(Template::NEWEST));
        for (page, named) in [("# Plan\n", "none"), ("- Template of this page: `7\u{1b}`\n", "7\u{fffd}")] {
            let fault = Template::of(page).expect_err("it is not known");
            assert_eq!(fault, ProposalFault::OtherTemplate { template: named.to_owned() });
        }
    }
}
