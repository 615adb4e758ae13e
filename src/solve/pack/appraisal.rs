//! Pod values for the case that all removable nodes are removed, computed once for all cases with fewer removals.
//!
//! They are a guess, like all pod values: they decide which patterns are used, and never what is allowed.

use std::collections::BTreeMap;

use crate::model::PodKey;
use crate::solve::demand::Demand;
use crate::solve::fit::limits::Ledger;
use crate::solve::memo::Memo;
use crate::solve::price::PriceBook;
use crate::solve::supply::Supply;

use super::dimension::Dimension;
use super::guess::Guess;
use super::problem::Class;
use super::room::Bench;
use super::{Effort, Problem, columns};

/// Pod values on nodes of each weight, the heaviest first, for the pods that those nodes can hold.
#[derive(Debug, Default)]
pub(in crate::solve) struct Appraisal {
    dimensions: Vec<Dimension>,
    /// Needs of each class, one amount per dimension; those of several pods if one represents others.
    needs: Vec<Vec<i64>>,
    /// Value of each pod, with its class.
    tiers: Vec<BTreeMap<PodKey, (i128, usize)>>,
}

impl Appraisal {
    /// Returns the values of the pods of each class on these columns, which have one weight. A class that has no pods
    /// left or does not fit keeps its value in `first`. Returns `None` if a class was not appraised.
    pub(super) fn values(
        &self,
        problem: &Problem,
        (columns, first): (&[usize], &[i128]),
        left: &[usize],
    ) -> Option<Vec<i128>> {
        let known = self.tiers.get(problem.columns[*columns.first()?].tier)?;
        let places: Vec<Option<usize>> = problem
            .dimensions
            .iter()
            .map(|name| self.dimensions.iter().position(|there| there == name))
            .collect();
        let needs_as_much = |need: &[i64], there: usize| {
            let there = |place: &Option<usize>| place.map_or(0, |place| self.needs[there][place]);
            need.iter().zip(&places).all(|(need, place)| *need == there(place))
        };
        let value = |class: usize| {
            if first[class] == 0 || left[class] == 0 {
                return Some(first[class]);
            }
            let Class { need, pods, .. } = &problem.classes[class];
            let (value, there) = known.get(&pods.first()?.1)?;
            needs_as_much(need, *there).then_some(*value)
        };
        (0..first.len()).map(value).collect()
    }
}

/// Computes the values of all these pods together; the ledger has no limits.
pub(in crate::solve) fn appraised(
    demand: &Demand,
    (supply, memo): (&Supply<'_>, &Memo),
    (ledger, book): (&Ledger, &PriceBook<'_>),
) -> Appraisal {
    let left: Vec<usize> = demand.shapes.iter().map(|shape| shape.pods.len()).collect();
    let problem = &Problem::of((demand, &left), (supply, memo), ledger, book);
    let bench = &Bench { problem, supply, effort: Effort::Plan, fills: false };
    let counts = problem.counts();
    let tiers = problem.tiers.iter().map(|columns| {
        let columns: Vec<usize> =
            columns.iter().copied().filter(|column| columns::is_priced(&problem.columns[*column])).collect();
        let guess = Guess::of(bench, &columns);
        let values = problem.classes.iter().zip(guess.worth(bench, &counts)).enumerate();
        let of_class = |(place, (class, value)): (usize, (&Class, &i128))| {
            let value = *value;
            class.pods.iter().map(move |(_, pod, _)| (pod.clone(), (value, place))).collect::<Vec<_>>()
        };
        values.filter(|(_, (_, value))| **value > 0).flat_map(of_class).collect()
    });
    Appraisal {
        tiers: tiers.collect(),
        dimensions: problem.dimensions.clone(),
        needs: problem.classes.iter().map(|class| class.need.clone()).collect(),
    }
}
