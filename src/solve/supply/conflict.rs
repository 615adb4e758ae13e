//! Minimum conflict: the smallest set of requirements that nothing on sale meets together.
//!
//! Requirements are a list of clauses, and each offering either meets a clause or not. Never decides what a pool may
//! use, and never phrases messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Offered;
use crate::model::{InstanceType, LabelKey, Offering, Operator, Requirement, Requirements, label};

/// Maximum number of clauses for which the smallest set is searched exhaustively: larger sets tell a user little, and
/// are only reduced until no clause can be dropped.
const FULL_SEARCH_MAX: usize = 4;

/// Labels from a size's name to where it is bought. Among equally small sets, the first labels are blamed; within a
/// set, the first ones describe the sizes and the last one is what is missing.
const BROAD_TO_NARROW: [&str; 13] = [
    label::INSTANCE_TYPE,
    label::SKU_NAME,
    label::SKU_SERIES,
    label::SKU_FAMILY,
    label::SKU_GPU_MANUFACTURER,
    label::SKU_GPU_NAME,
    label::ARCH,
    label::SKU_VERSION,
    label::SKU_CPU,
    label::SKU_MEMORY,
    label::SKU_GPU_COUNT,
    label::CAPACITY_TYPE,
    label::ZONE,
];

/// Number of labels in [`BROAD_TO_NARROW`] that come before labels that are not in it.
const BEFORE_OTHERS: usize = 11;

/// Origin of a requirement on a new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    /// A pod, or a volume of it.
    Pod,
    /// The pool.
    Pool,
}

/// An indivisible requirement on a new node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// The required value of a label.
    Label {
        /// Origin of the requirement.
        by: By,
        /// The label.
        key: LabelKey,
        /// The required value.
        wanted: Requirement,
    },
    /// That the pool's AKSNodeClass can use the size.
    Class,
}

impl Clause {
    /// Returns the rank of the clause within a set, from those that describe the sizes to the one that is missing.
    pub(super) fn rank(&self) -> usize {
        let Self::Label { key, .. } = self else { return usize::MAX };
        match BROAD_TO_NARROW.iter().position(|known| *known == key.as_str()) {
            Some(place) if place < BEFORE_OTHERS => place,
            Some(place) => place + 1,
            None => BEFORE_OTHERS,
        }
    }

    /// Returns the origin of the requirement; `None` for the class.
    pub(super) const fn by(&self) -> Option<By> {
        match self {
            Self::Label { by, .. } => Some(*by),
            Self::Class => None,
        }
    }

    /// Returns the label of the clause with its required value.
    pub(super) const fn label(&self) -> Option<(&LabelKey, &Requirement)> {
        match self {
            Self::Label { key, wanted, .. } => Some((key, wanted)),
            Self::Class => None,
        }
    }

    /// Returns the label of the clause.
    pub(super) const fn key(&self) -> Option<&LabelKey> {
        match self {
            Self::Label { key, .. } => Some(key),
            Self::Class => None,
        }
    }
}

/// Splits requirements into clauses: the two ends of a range are separate clauses, because one of them may be to blame.
pub(super) fn clauses(by: By, requirements: &Requirements) -> Vec<Clause> {
    let of_label = |(key, wanted): (&LabelKey, &Requirement)| {
        let parts = parts(wanted).into_iter();
        parts.map(|wanted| Clause::Label { by, key: key.clone(), wanted }).collect::<Vec<_>>()
    };
    requirements.iter().flat_map(of_label).collect()
}

fn parts(wanted: &Requirement) -> Vec<Requirement> {
    let (least, most) = wanted.bounds();
    let bound =
        |operator, bound: Option<i64>| bound.map(|bound| Requirement::new(operator, [bound.to_string()]));
    let refused = wanted.refused().filter(|refused| !refused.is_empty());
    let refused = refused.map(|refused| Requirement::new(Operator::NotIn, refused.iter()));
    let ends = [refused, bound(Operator::Gte, least), bound(Operator::Lte, most)];
    let parts: Vec<Requirement> = ends.into_iter().flatten().collect();
    if parts.is_empty() { vec![wanted.clone()] } else { parts }
}

/// A size with one of its offerings.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    /// The size.
    pub(super) kind: &'a InstanceType,
    /// How it is bought.
    pub(super) offering: &'a Offering,
    /// The index of its set of unmet clauses.
    set: usize,
}

/// Clauses that nothing meets together, although something meets them without any one of them.
#[derive(Clone, Debug)]
pub(super) struct Conflict<'a> {
    /// The clauses, by [`Clause::rank`].
    pub(super) clauses: Vec<Clause>,
    /// The indices of these among all given clauses, in the same order.
    places: Vec<usize>,
    rows: Vec<Row<'a>>,
    /// The sets of clauses, by index, that rows do not meet.
    sets: Vec<Vec<usize>>,
}

impl<'a> Conflict<'a> {
    /// Finds the smallest set of clauses that no available offering meets together; `None` if an offering meets all, or
    /// nothing is available at all.
    pub(super) fn of(clauses: Vec<Clause>, offered: &'a Offered) -> Option<Self> {
        let mut clauses = clauses;
        clauses.push(Clause::Class);
        clauses.sort_by_key(Clause::rank);
        let Table { rows, sets } = Table::of(&clauses, offered);
        if sets.is_empty() || sets.iter().any(Vec::is_empty) {
            return None;
        }
        let places = smallest(&least(sets.iter().collect()), clauses.len());
        let clauses = places.iter().map(|place| clauses[*place].clone()).collect();
        Some(Self { clauses, places, rows, sets })
    }

    /// Returns the rows that meet all clauses of the set but these, given by their indices in it.
    pub(super) fn without(&self, left_out: Vec<usize>) -> impl Iterator<Item = &Row<'a>> {
        let left_out: Vec<usize> = left_out.iter().map(|place| self.places[*place]).collect();
        let others = move |unmet: &&usize| self.places.contains(unmet) && !left_out.contains(unmet);
        self.rows.iter().filter(move |row| !self.sets[row.set].iter().any(|unmet| others(&unmet)))
    }
}

impl Row<'_> {
    /// Returns the values of a label that a node of this row may have.
    pub(super) fn values(&self, key: &LabelKey) -> Vec<Arc<str>> {
        let listed = |labels: &Requirements| labels.get(key.as_str())?.listed().cloned();
        match key.as_str() {
            label::ZONE => vec![Arc::from(self.offering.zone.as_str())],
            label::CAPACITY_TYPE => vec![Arc::from(self.offering.capacity_type.as_str())],
            _ => {
                let values = listed(&self.offering.requirements).or_else(|| listed(&self.kind.requirements));
                values.iter().flatten().cloned().collect()
            }
        }
    }
}

/// The sizes with their offerings, and the sets of clauses that they do not meet.
struct Table<'a> {
    rows: Vec<Row<'a>>,
    sets: Vec<Vec<usize>>,
}

impl<'a> Table<'a> {
    /// Reads the available offerings, including those that only the class rules out. Few offerings differ in their
    /// labels and few sizes in their unmet clauses, so each distinct one is checked once.
    fn of(clauses: &[Clause], offered: &'a Offered) -> Self {
        let class = clauses.iter().position(|clause| *clause == Clause::Class);
        let mut placements: Vec<(&Offering, Vec<usize>)> = Vec::new();
        let mut numbers: BTreeMap<(Vec<usize>, usize), usize> = BTreeMap::new();
        let mut table = Self { rows: Vec::new(), sets: Vec::new() };
        let suited = offered.types.iter().map(|kind| (kind, None));
        for (kind, class) in suited.chain(offered.unsuited.iter().map(|kind| (kind, class))) {
            let of_kind: Vec<usize> = unmet(clauses, &kind.requirements).into_iter().chain(class).collect();
            for offering in kind.offerings.iter().filter(|offering| offering.is_available) {
                let known = placements.iter().position(|(known, _)| is_placed_alike(known, offering));
                let placement = known.unwrap_or_else(|| {
                    placements.push((offering, unmet(clauses, &super::placement(offering))));
                    placements.len() - 1
                });
                let set = *numbers.entry((of_kind.clone(), placement)).or_insert_with(|| {
                    let both: BTreeSet<usize> =
                        of_kind.iter().chain(&placements[placement].1).copied().collect();
                    table.sets.push(both.into_iter().collect());
                    table.sets.len() - 1
                });
                table.rows.push(Row { kind, offering, set });
            }
        }
        table
    }
}

fn is_placed_alike(one: &Offering, other: &Offering) -> bool {
    one.capacity_type == other.capacity_type
        && one.zone == other.zone
        && one.requirements == other.requirements
}

/// Returns the clauses that these labels do not meet. A missing label is met, as when selecting the sizes that a pool
/// may use.
fn unmet(clauses: &[Clause], labels: &Requirements) -> Vec<usize> {
    let is_unmet = |clause: &Clause| match clause {
        Clause::Class => false,
        Clause::Label { key, wanted, .. } => labels.get(key.as_str()).is_some_and(|found| {
            let may_be_absent = wanted.accepts_absence() && found.accepts_absence();
            !may_be_absent && !wanted.intersects(found)
        }),
    };
    (0..clauses.len()).filter(|place| is_unmet(&clauses[*place])).collect()
}

/// Drops sets that contain another one: every hit of the smaller set hits them as well.
fn least(unmet: BTreeSet<&Vec<usize>>) -> Vec<&Vec<usize>> {
    let mut by_length: Vec<&Vec<usize>> = unmet.into_iter().collect();
    by_length.sort_by_key(|unmet| unmet.len());
    let mut least: Vec<&Vec<usize>> = Vec::new();
    for unmet in by_length {
        if !least.iter().any(|smaller| smaller.iter().all(|place| unmet.contains(place))) {
            least.push(unmet);
        }
    }
    least
}

/// Returns a minimum hitting set: the smallest set of clauses of which every row leaves one unmet. Beyond
/// [`FULL_SEARCH_MAX`], returns a hitting set from which no clause can be dropped.
fn smallest(unmet: &[&Vec<usize>], clauses: usize) -> Vec<usize> {
    for most in 1..=FULL_SEARCH_MAX {
        let mut chosen = Vec::new();
        if is_blocked(unmet, most, &mut chosen) {
            chosen.sort_unstable();
            return chosen;
        }
    }
    let mut kept: Vec<usize> = (0..clauses).collect();
    // Drops the narrowest first, because the broad ones describe the sizes.
    for place in (0..clauses).rev() {
        let others = |unmet: &&Vec<usize>| unmet.iter().any(|one| *one != place && kept.contains(one));
        if unmet.iter().all(others) {
            kept.retain(|one| *one != place);
        }
    }
    kept
}

/// Returns whether up to `more` further clauses exclude everything, and adds them to `chosen`.
fn is_blocked(unmet: &[&Vec<usize>], more: usize, chosen: &mut Vec<usize>) -> bool {
    let is_open = |unmet: &&&Vec<usize>| !unmet.iter().any(|place| chosen.contains(place));
    let Some(open) = unmet.iter().filter(is_open).min_by_key(|unmet| unmet.len()) else { return true };
    if more == 0 {
        return false;
    }
    for place in open.iter() {
        chosen.push(*place);
        if is_blocked(unmet, more - 1, chosen) {
            return true;
        }
        chosen.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{least, smallest};
    use std::collections::BTreeSet;

    fn found(unmet: &[&[usize]], clauses: usize) -> Vec<usize> {
        let unmet: Vec<Vec<usize>> = unmet.iter().map(|places| places.to_vec()).collect();
        smallest(&least(unmet.iter().collect::<BTreeSet<_>>()), clauses)
    }

    #[test]
    fn one_clause_that_nothing_meets_is_blamed_alone() {
        assert_eq!(found(&[&[0, 2], &[1, 2], &[2, 3]], 4), [2]);
    }

    #[test]
    fn a_pair_is_found_before_three() {
        // Clauses 1 and 3 together exclude everything, and so do 0, 2 and 4.
        assert_eq!(found(&[&[0, 1], &[1, 2], &[3, 4], &[2, 3], &[0, 3]], 5), [1, 3]);
    }

    #[test]
    fn beyond_the_full_search_no_clause_can_be_left_out() {
        let each: Vec<Vec<usize>> = (0..6).map(|place| vec![place]).collect();
        let unmet: Vec<&[usize]> = each.iter().map(Vec::as_slice).collect();
        assert_eq!(found(&unmet, 8), [0, 1, 2, 3, 4, 5]);
    }
}
