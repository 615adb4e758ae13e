//! Label requirements: sets of values, their complements and bounds, and whether two of them are compatible.
//!
//! The algebra is Karpenter core's (v1.14): In is a set, NotIn the complement of one, Exists the complement of the
//! empty set, DoesNotExist the empty set; Gt, Lt, Gte, Lte bound integers. Callers normalize keys, such as zones,
//! beforehand.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{LabelKey, Values};

/// How a requirement's values are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// One of the values.
    In,
    /// None of the values; the label may be absent.
    NotIn,
    /// Any value.
    Exists,
    /// No such label.
    DoesNotExist,
    /// An integer above the value.
    Gt,
    /// An integer below the value.
    Lt,
    /// An integer at or above the value.
    Gte,
    /// An integer at or below the value.
    Lte,
}

impl Operator {
    /// Every operator, in the order of this enum.
    pub const ALL: [Self; 8] =
        [Self::In, Self::NotIn, Self::Exists, Self::DoesNotExist, Self::Gt, Self::Lt, Self::Gte, Self::Lte];

    /// Returns the operator's name in Kubernetes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
            Self::Gt => "Gt",
            Self::Lt => "Lt",
            Self::Gte => "Gte",
            Self::Lte => "Lte",
        }
    }

    /// Parses the operator's name in Kubernetes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.as_str() == text)
    }
}

/// The accepted values of one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    /// Whether `values` lists the values that are *not* accepted.
    complement: bool,
    values: Values,
    at_least: Option<i64>,
    at_most: Option<i64>,
    min_values: Option<u32>,
}

impl Requirement {
    /// Creates the requirement of an operator and its values. A bound that is not an integer accepts nothing, as in
    /// Karpenter.
    #[must_use]
    pub fn new<T: AsRef<str>>(operator: Operator, values: impl IntoIterator<Item = T>) -> Self {
        let values: Values = values.into_iter().map(|value| Arc::from(value.as_ref())).collect();
        let bound = || values.first().and_then(|value| value.parse::<i64>().ok());
        match operator {
            Operator::In => Self::of(false, values),
            Operator::NotIn => Self::of(true, values),
            Operator::Exists => Self::any(),
            Operator::DoesNotExist => Self::none(),
            Operator::Gt => Self::bounded(bound().and_then(|value| value.checked_add(1)), None),
            Operator::Lt => Self::bounded(None, bound().and_then(|value| value.checked_sub(1))),
            Operator::Gte => Self::bounded(bound(), None),
            Operator::Lte => Self::bounded(None, bound()),
        }
    }

    fn of(complement: bool, values: Values) -> Self {
        Self { complement, values, at_least: None, at_most: None, min_values: None }
    }

    fn bounded(at_least: Option<i64>, at_most: Option<i64>) -> Self {
        if at_least.is_none() && at_most.is_none() {
            return Self::none();
        }
        Self { at_least, at_most, ..Self::any() }
    }

    /// Creates a requirement that accepts every value (`Exists`).
    #[must_use]
    pub const fn any() -> Self {
        Self { complement: true, values: Values::NONE, at_least: None, at_most: None, min_values: None }
    }

    /// Creates a requirement that accepts no value (`DoesNotExist`).
    #[must_use]
    pub const fn none() -> Self {
        Self { complement: false, values: Values::NONE, at_least: None, at_most: None, min_values: None }
    }

    /// Creates a requirement that accepts only this value.
    #[must_use]
    pub fn one(value: &str) -> Self {
        Self::new(Operator::In, [value])
    }

    /// Sets `minValues`: how many distinct values the sizes to launch must offer at least.
    #[must_use]
    pub const fn with_min_values(mut self, min_values: Option<u32>) -> Self {
        self.min_values = min_values;
        self
    }

    /// Returns how many distinct values the sizes to launch must offer, if required.
    #[must_use]
    pub const fn min_values(&self) -> Option<u32> {
        self.min_values
    }

    /// Returns whether this value is accepted.
    #[must_use]
    pub fn accepts(&self, value: &str) -> bool {
        self.values.contains(value) != self.complement && self.within_bounds(value)
    }

    fn within_bounds(&self, value: &str) -> bool {
        if self.at_least.is_none() && self.at_most.is_none() {
            return true;
        }
        value.parse::<i64>().is_ok_and(|number| {
            self.at_least.is_none_or(|least| number >= least)
                && self.at_most.is_none_or(|most| number <= most)
        })
    }

    /// Returns whether no value is accepted: the label must not exist.
    #[must_use]
    pub fn is_none(&self) -> bool {
        !self.complement && self.values.is_empty()
    }

    /// Returns whether an absent label is accepted (`NotIn`, `DoesNotExist`).
    #[must_use]
    pub fn accepts_absence(&self) -> bool {
        self.is_none()
            || (self.complement
                && !self.values.is_empty()
                && self.at_least.is_none()
                && self.at_most.is_none())
    }

    /// Returns the accepted values if they can be listed, so not for complements and plain bounds.
    #[must_use]
    pub const fn listed(&self) -> Option<&Values> {
        if self.complement { None } else { Some(&self.values) }
    }

    /// Returns the refused values of a complement (`NotIn`).
    #[must_use]
    pub const fn refused(&self) -> Option<&Values> {
        if self.complement { Some(&self.values) } else { None }
    }

    /// Returns the smallest and the largest accepted integer, if bounded.
    #[must_use]
    pub const fn bounds(&self) -> (Option<i64>, Option<i64>) {
        (self.at_least, self.at_most)
    }

    /// Returns the only accepted value, if there is exactly one.
    #[must_use]
    pub fn single(&self) -> Option<&Arc<str>> {
        self.listed().filter(|values| values.len() == 1).and_then(|values| values.first())
    }

    /// Returns the intersection of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let at_least = self.at_least.max(other.at_least);
        let at_most = match (self.at_most, other.at_most) {
            (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        let min_values = self.min_values.max(other.min_values);
        if at_least.zip(at_most).is_some_and(|(least, most)| least > most) {
            return Self::none().with_min_values(min_values);
        }
        let (complement, values) = match (self.complement, other.complement) {
            (true, true) => (true, self.values.union(&other.values)),
            (true, false) => (false, other.values.keep(|value| !self.values.contains(value))),
            (false, true) => (false, self.values.keep(|value| !other.values.contains(value))),
            (false, false) => (false, self.values.keep(|value| other.values.contains(value))),
        };
        let mut both = Self { complement, values, at_least, at_most, min_values };
        if !both.complement {
            let within = both.values.keep(|value| both.within_bounds(value));
            both = Self { values: within, at_least: None, at_most: None, ..both };
        }
        both
    }

    /// Returns whether some value is accepted by both.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        match (self.complement, other.complement) {
            (false, false) if self.values.len() <= other.values.len() => {
                self.values.iter().any(|value| other.accepts(value))
            }
            (false, true) => self.values.iter().any(|value| other.accepts(value)),
            (true | false, false) => other.values.iter().any(|value| self.accepts(value)),
            (true, true) => !self.intersection(other).is_none(),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &Values| {
            let shown: Vec<&str> = values.iter().take(5).map(|value| &**value).collect();
            let more = values.len().saturating_sub(5);
            let dots = if more > 0 { format!(", … {more} more") } else { String::new() };
            format!("[{}{dots}]", shown.join(", "))
        };
        let mut parts = Vec::new();
        if self.is_none() {
            parts.push("DoesNotExist".to_owned());
        } else if !self.complement {
            parts.push(format!("In {}", list(&self.values)));
        } else if !self.values.is_empty() {
            parts.push(format!("NotIn {}", list(&self.values)));
        }
        if let Some(least) = self.at_least {
            parts.push(format!(">= {least}"));
        }
        if let Some(most) = self.at_most {
            parts.push(format!("<= {most}"));
        }
        if parts.is_empty() {
            parts.push("Exists".to_owned());
        }
        formatter.write_str(&parts.join(" and "))
    }
}

/// Two requirements on the same label that no value satisfies together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// The label.
    pub key: LabelKey,
    /// The requirement.
    pub wanted: Requirement,
    /// The present values; `None` if the label is not defined at all.
    pub found: Option<Requirement>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, wanted, found } = self;
        match found {
            Some(found) if !found.is_none() => {
                write!(formatter, "`{key}` {wanted} required, found {found}")
            }
            Some(_) | None => write!(formatter, "`{key}` {wanted} is required, the node has no such label"),
        }
    }
}

/// Requirements by label; a label that is not named accepts anything. Clones are copy-on-write because thousands of
/// offerings have equal labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirements(Arc<BTreeMap<LabelKey, Requirement>>);

impl Requirements {
    /// Creates an empty set of requirements.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Converts a node's labels into requirements.
    #[must_use]
    pub fn of_labels<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut requirements = Self::none();
        for (key, value) in labels {
            requirements.add(LabelKey::new(key), Requirement::one(value));
        }
        requirements
    }

    /// Adds a requirement; intersects it with an existing one of the same label.
    pub fn add(&mut self, key: LabelKey, requirement: Requirement) {
        let both = match self.0.get(&key) {
            Some(present) => present.intersection(&requirement),
            None => requirement,
        };
        Arc::make_mut(&mut self.0).insert(key, both);
    }

    /// Adds all requirements of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for (key, requirement) in other.0.iter() {
            self.add(key.clone(), requirement.clone());
        }
    }

    /// Returns these requirements with one more, builder style.
    #[must_use]
    pub fn with(mut self, key: &str, requirement: Requirement) -> Self {
        self.add(LabelKey::new(key), requirement);
        self
    }

    /// Replaces the requirement of a label.
    pub fn set(&mut self, key: LabelKey, requirement: Requirement) {
        Arc::make_mut(&mut self.0).insert(key, requirement);
    }

    /// Returns the requirement of a label.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Requirement> {
        self.0.get(key)
    }

    /// Iterates over the requirements in the order of their labels.
    pub fn iter(&self) -> impl Iterator<Item = (&LabelKey, &Requirement)> {
        self.0.iter()
    }

    /// Returns whether there are no requirements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that both can hold together: for every label that both name, some value is accepted by both, or both
    /// accept its absence.
    ///
    /// # Errors
    /// The first label, by name, on which they conflict; `wanted` is `self`'s side.
    pub fn intersects(&self, there: &Self) -> Result<(), Box<Conflict>> {
        for (key, wanted) in self.0.iter() {
            let Some(found) = there.0.get(key) else { continue };
            let absent = wanted.accepts_absence() && found.accepts_absence();
            if !absent && !wanted.intersects(found) {
                return Err(conflict(key, wanted, Some(found)));
            }
        }
        Ok(())
    }

    /// Checks that a node described by `there` can satisfy these requirements. A label that `there` does not name
    /// satisfies only a requirement that accepts its absence, unless `may_be_undefined` returns true: the node then
    /// gets some value of it.
    ///
    /// # Errors
    /// The first label, by name, that cannot be satisfied.
    pub fn satisfied_by(
        &self,
        there: &Self,
        may_be_undefined: impl Fn(&LabelKey) -> bool,
    ) -> Result<(), Box<Conflict>> {
        for (key, wanted) in self.0.iter() {
            if !there.0.contains_key(key) && !wanted.accepts_absence() && !may_be_undefined(key) {
                return Err(conflict(key, wanted, None));
            }
        }
        self.intersects(there)
    }
}

fn conflict(key: &LabelKey, wanted: &Requirement, found: Option<&Requirement>) -> Box<Conflict> {
    Box::new(Conflict { key: key.clone(), wanted: wanted.clone(), found: found.cloned() })
}

#[cfg(test)]
mod tests {
    use super::{LabelKey, Operator, Requirement, Requirements};

    fn requirement(operator: Operator, values: &[&str]) -> Requirement {
        Requirement::new(operator, values.iter().copied())
    }

    #[test]
    fn bounds_meet_in_integers() {
        let above = requirement(Operator::Gt, &["2"]);
        let below = requirement(Operator::Lt, &["4"]);
        let both = above.intersection(&below);
        assert!(both.accepts("3") && !both.accepts("2") && !both.accepts("4") && !both.accepts("x"));
        assert!(above.intersection(&requirement(Operator::Lt, &["3"])).is_none());
        assert!(requirement(Operator::Gt, &["9223372036854775807"]).is_none());
        assert_eq!(above.intersection(&requirement(Operator::In, &["2", "8", "x"])).to_string(), "In [8]");
    }

    #[test]
    fn complements_and_sets_meet() {
        let not_a = requirement(Operator::NotIn, &["a"]);
        assert!(not_a.accepts("b") && !not_a.accepts("a") && not_a.accepts_absence());
        assert!(!not_a.intersects(&requirement(Operator::In, &["a"])));
        assert!(not_a.intersects(&requirement(Operator::In, &["a", "b"])));
        assert!(not_a.intersects(&requirement(Operator::NotIn, &["b"])));
        assert!(!Requirement::any().accepts_absence());
    }

    #[test]
    fn an_undefined_label_satisfies_only_what_accepts_absence() {
        let node = Requirements::none();
        let asks = |operator, values: &[&str]| {
            Requirements::none().with("team", requirement(operator, values)).satisfied_by(&node, |_| false)
        };
        assert!(asks(Operator::In, &["blue"]).is_err());
        assert!(asks(Operator::Exists, &[]).is_err());
        assert!(asks(Operator::NotIn, &["blue"]).is_ok());
        assert!(asks(Operator::DoesNotExist, &[]).is_ok());
        let well_known = |key: &LabelKey| key.as_str() == "zone";
        let wants = Requirements::none().with("zone", Requirement::one("1"));
        assert!(wants.satisfied_by(&node, well_known).is_ok());
    }
}
