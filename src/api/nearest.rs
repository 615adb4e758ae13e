//! Suggests the known name that a misspelled one was probably meant to be.
//!
//! Must never suggest a distant name: a wrong hint is worse than none.

/// Returns the nearest of the known names; ties go to the first by name. `None` if none is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The comparison is quadratic in the length, and no known name is near a longer one.
    const LENGTH_MAX: usize = 100;
    if name.is_empty() || name.len() > LENGTH_MAX {
        return None;
    }
    let plain = name.to_lowercase();
    let (distance, candidate) = known
        .into_iter()
        .filter(|candidate| !candidate.is_empty() && candidate.len() <= LENGTH_MAX)
        .map(|candidate| (strsim::damerau_levenshtein(&plain, &candidate.to_lowercase()), candidate))
        .min()?;
    // One error in three characters is a misspelling; more is another word.
    let near = (plain.chars().count().max(candidate.chars().count()) / 3).max(1);
    (distance <= near).then_some(candidate)
}

/// Returns a hint with the nearest known name, if there is one.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).map(|candidate| format!("did you mean `{candidate}`?"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_corrected_and_another_word_is_not() {
        let known = ["consolidateAfter", "consolidationPolicy", "budgets"];
        assert_eq!(nearest("consolidateafter", known), Some("consolidateAfter"));
        assert_eq!(nearest("budget", known), Some("budgets"));
        assert_eq!(nearest("replicas", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"b".repeat(10_000), known), None);
    }
}
