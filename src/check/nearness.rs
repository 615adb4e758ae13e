//! Which pods can be bound in some order, where each must be near others.
//!
//! A pod is bound where each of its terms finds a pod in the same domain; or, as the first, where there is
//! nobody yet who meets its terms, and it meets them itself. Who is bound never hinders anybody but those who
//! want to be the first, so the first go first, and then whoever can go, goes. Which of them is best the first
//! is tried, within bounds. Other rules are not thought of here.

use std::collections::BTreeSet;

/// How many choices of firsts are tried before the next best are taken: pods whose rules cross in more ways
/// than this are not known.
const TRIES_MAX: usize = 200;

/// How many batches are looked at in all tries: about a second of work.
const LOOKS_MAX: usize = 4_000_000;

/// A label of the terms of a class, by number, and a domain of it.
pub(super) type Mark = (usize, usize);

/// Pods of one class on one place, to be bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// Their class; nothing for those that need nobody.
    pub(super) class: Option<usize>,
    /// Where they need somebody.
    pub(super) needs: Vec<Mark>,
    /// The classes whose terms they meet, and where.
    pub(super) shows: Vec<(usize, Mark)>,
    /// Whether they meet all terms of their own class.
    pub(super) can_be_first: bool,
}

/// For each class the domains in which somebody meets its terms.
pub(super) type Seen = Vec<BTreeSet<Mark>>;

/// Returns the batches that cannot be bound, by number, where this is seen before any is.
pub(super) fn left(batches: &[Batch], start: &Seen) -> Vec<usize> {
    let mut seen = start.clone();
    let left = bind(batches, seen.clone());
    if left.is_empty() {
        return left;
    }
    let alone = alone(batches, start);
    take_firsts(batches, &mut seen, &left, |class| alone.contains(&class));
    let mut search = Search { batches, tries: 0, best: left };
    search.try_from(&seen);
    search.best
}

/// Binds whoever can go without being the first; returns who is left.
fn bind(batches: &[Batch], mut seen: Seen) -> Vec<usize> {
    let mut waiting: Vec<usize> = (0..batches.len()).collect();
    loop {
        let before = waiting.len();
        waiting.retain(|number| {
            let batch = &batches[*number];
            let is_met = match batch.class {
                Some(class) => batch.needs.iter().all(|mark| seen[class].contains(mark)),
                None => true,
            };
            if is_met {
                show(batch, &mut seen);
            }
            !is_met
        });
        if waiting.len() == before {
            return waiting;
        }
    }
}

fn show(batch: &Batch, seen: &mut Seen) {
    for (class, mark) in &batch.shows {
        seen[*class].insert(*mark);
    }
}

/// Returns the class of a batch of which a pod may be the first now.
fn first_of(batch: &Batch, seen: &Seen) -> Option<usize> {
    batch.class.filter(|class| batch.can_be_first && seen[*class].is_empty())
}

/// Lets one batch of each such class be the first, in their order, as long as nobody was before.
fn take_firsts(batches: &[Batch], seen: &mut Seen, left: &[usize], is_meant: impl Fn(usize) -> bool) -> bool {
    let mut took = false;
    for batch in left.iter().map(|number| &batches[*number]) {
        if first_of(batch, seen).is_some_and(&is_meant) {
            show(batch, seen);
            took = true;
        }
    }
    took
}

/// Returns the classes of which it does not matter who is the first: nobody else meets their terms, and they
/// meet the terms of nobody who wants to be the first.
fn alone(batches: &[Batch], start: &Seen) -> BTreeSet<usize> {
    let firsts: BTreeSet<usize> = batches.iter().filter_map(|batch| first_of(batch, start)).collect();
    let mut alone = firsts.clone();
    for batch in batches {
        for class in batch.shows.iter().map(|(class, _)| *class).filter(|class| firsts.contains(class)) {
            if batch.class != Some(class) {
                alone.remove(&class);
                if let Some(own) = batch.class {
                    alone.remove(&own);
                }
            }
        }
    }
    alone
}

/// Pods that may be the first: their class, where they need somebody, and whose terms they meet where.
type First<'b> = (usize, &'b [Mark], &'b [(usize, Mark)]);

/// A search for those who are best the first.
struct Search<'b> {
    batches: &'b [Batch],
    tries: usize,
    best: Vec<usize>,
}

impl Search<'_> {
    /// Returns whether everybody can be bound with some more firsts.
    fn try_from(&mut self, seen: &Seen) -> bool {
        self.tries += 1;
        let left = bind(self.batches, seen.clone());
        self.keep(&left);
        if left.is_empty() {
            return true;
        }
        if self.tries >= TRIES_MAX || self.tries * self.batches.len() >= LOOKS_MAX {
            return self.take_the_next(seen.clone(), left);
        }
        let mut choices: BTreeSet<First<'_>> = BTreeSet::new();
        for batch in left.iter().map(|number| &self.batches[*number]) {
            let Some(class) = first_of(batch, seen) else { continue };
            if choices.insert((class, &batch.needs, &batch.shows)) {
                let mut seen = seen.clone();
                show(batch, &mut seen);
                if self.try_from(&seen) {
                    return true;
                }
            }
        }
        false
    }

    /// Takes firsts as they come, without trying others.
    fn take_the_next(&mut self, mut seen: Seen, mut left: Vec<usize>) -> bool {
        while take_firsts(self.batches, &mut seen, &left, |_| true) {
            left = bind(self.batches, seen.clone());
            self.keep(&left);
        }
        left.is_empty()
    }

    fn keep(&mut self, left: &[usize]) {
        if left.len() < self.best.len() {
            self.best = left.to_vec();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, Seen, left};

    const NOBODY: [usize; 0] = [];

    /// Pods of a class in a domain that meet the terms of some classes.
    fn batch(class: usize, domain: usize, shows: &[usize]) -> Batch {
        Batch {
            class: Some(class),
            needs: vec![(0, domain)],
            shows: shows.iter().map(|class| (*class, (0, domain))).collect(),
            can_be_first: shows.contains(&class),
        }
    }

    fn free(domain: usize, shows: &[usize]) -> Batch {
        Batch { class: None, needs: Vec::new(), can_be_first: false, ..batch(0, domain, shows) }
    }

    fn nobody(classes: usize) -> Seen {
        vec![[].into(); classes]
    }

    #[test]
    fn only_one_can_be_the_first() {
        assert_eq!(left(&[batch(0, 1, &[0])], &nobody(1)), NOBODY);
        assert_eq!(left(&[batch(0, 1, &[0]), batch(0, 2, &[0])], &nobody(1)).len(), 1);
        assert_eq!(left(&[batch(0, 1, &[0])], &vec![[(0, 2)].into()]), [0]);
    }

    #[test]
    fn followers_follow_each_other() {
        let chain = [batch(2, 1, &[]), batch(1, 1, &[2]), batch(0, 1, &[0, 1])];
        assert_eq!(left(&chain, &nobody(3)), NOBODY);
        assert_eq!(left(&chain[..2], &nobody(3)), [0, 1]);
    }

    #[test]
    fn the_first_goes_before_those_that_would_be_in_its_way() {
        assert_eq!(left(&[free(2, &[0]), batch(0, 1, &[0])], &nobody(1)), NOBODY);
        // The second class must be the first before the first class is.
        assert_eq!(left(&[batch(0, 1, &[0, 1]), batch(1, 2, &[1])], &nobody(2)), NOBODY);
        assert_eq!(left(&[batch(0, 1, &[0, 1]), batch(1, 2, &[0, 1])], &nobody(2)).len(), 1);
    }

    #[test]
    fn the_one_is_the_first_that_others_cannot_lead() {
        // A free pod leads those in domain 2, so that those in domain 1 must be the first.
        let batches = [batch(0, 2, &[0]), free(2, &[0]), batch(0, 1, &[0])];
        assert_eq!(left(&batches, &nobody(1)), NOBODY);
    }

    #[test]
    fn of_a_class_in_one_domain_the_one_is_the_first_that_leaves_others_the_chance() {
        // The first batch meets what the last one needs, which must be the first of its class elsewhere.
        let batches = [batch(0, 1, &[0, 1]), batch(0, 2, &[0, 1]), batch(0, 1, &[0]), batch(1, 2, &[0, 1])];
        assert_eq!(left(&batches, &nobody(2)), NOBODY);
    }

    #[test]
    fn many_that_cross_end() {
        let all: Vec<usize> = (0..40).collect();
        let batches: Vec<Batch> = (0..40).map(|class| batch(class, class, &all)).collect();
        assert_eq!(left(&batches, &nobody(40)).len(), 39);
    }
}
