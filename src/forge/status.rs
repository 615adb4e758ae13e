//! A commit status: one line on a pull request, which branch rules may require.

/// A commit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its name, by which branch rules require it; Azure DevOps splits it at the last `/` into genre and name.
    pub context: String,
    /// Its state.
    pub state: StatusState,
    /// A description in one line.
    pub description: String,
    /// The web page with details.
    pub url: Option<String>,
}

/// State of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusState {
    /// Not decided yet.
    Pending,
    /// Successful.
    Success,
    /// Failed: the change must not be merged.
    Failure,
    /// It could not be determined.
    Error,
}

impl Status {
    /// Returns this status with its description cut to a maximum length.
    pub(super) fn fitted(&self, letters_max: usize) -> Self {
        if self.description.chars().count() <= letters_max {
            return self.clone();
        }
        let kept: String = self.description.chars().take(letters_max.saturating_sub(1)).collect();
        Self { description: format!("{}…", kept.trim_end()), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_is_cut_and_says_so() {
        let description = "waiting for one approval".to_owned();
        let status =
            Status { context: "nodeform".to_owned(), state: StatusState::Pending, description, url: None };
        assert_eq!(status.fitted(24), status);
        assert_eq!(status.fitted(9).description, "waiting…");
    }
}
