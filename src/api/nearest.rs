//! The known name that a misspelt one was probably meant to be.
//! Must never guess far: a wrong hint is worse than none.

/// The nearest of the known names; ties go to the first by name. Nothing where none is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing is quadratic in the length; no known name comes near this one.
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
    // One slip in three letters is a misspelling; more is another word.
    let near = (plain.chars().count().max(candidate.chars().count()) / 3).max(1);
    (distance <= near).then_some(candidate)
}

/// A hint that names the nearest known name, if there is one.
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
