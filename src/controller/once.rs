//! Logs recurring failures once: a loop that fails every second must not fill the log.

use std::collections::BTreeMap;

use crate::cluster::ClusterFailure;

/// Last logged failure of each subject.
#[derive(Debug, Default)]
pub(super) struct Once(BTreeMap<&'static str, String>);

impl Once {
    /// Logs a failure, unless it equals the last one of this subject.
    pub(super) fn failed(&mut self, subject: &'static str, failure: &ClusterFailure) {
        if self.is_news(subject, &failure.what) {
            tracing::warn!(hint = failure.hint, "{subject}: {}", failure.what);
        }
    }

    /// Forgets the failure of a subject that works again.
    pub(super) fn works(&mut self, subject: &'static str) {
        self.0.remove(subject);
    }

    fn is_news(&mut self, subject: &'static str, what: &str) -> bool {
        self.0.insert(subject, what.to_owned()).is_none_or(|before| before != what)
    }
}

#[cfg(test)]
mod tests {
    use super::Once;

    #[test]
    fn what_fails_in_the_same_words_is_said_once_until_it_has_worked() {
        let mut once = Once::default();
        let mut said = |what: &str| once.is_news("pods cannot be listed", what);
        assert_eq!([said("403"), said("403"), said("500"), said("500")], [true, false, true, false]);
        once.works("pods cannot be listed");
        assert!(once.is_news("pods cannot be listed", "500"));
    }
}
