//! Pod affinity: which pods can be bound in some order if each requires others in its domain.
//!
//! A pod is bound if each of its terms matches a pod in the same domain. It is also bound as the first of its class, if
//! no pod matches its terms yet and it matches them itself. A bound pod only ever hinders pods that must be the first,
//! so first pods are bound first, and then all others greedily. The best choice of first pods is searched within
//! bounds. Other rules are ignored here.

use std::collections::BTreeSet;

/// Maximum number of choices of first pods that are searched before the next ones are taken greedily. Pods whose rules
/// interact in more ways are not known.
const TRIES_MAX: usize = 200;

/// Maximum number of batches visited in all tries: about a second of work.
const LOOKS_MAX: usize = 4_000_000;

/// A topology key of a class's terms, by number, and a domain of it.
pub(super) type Mark = (usize, usize);

/// Pods of one class to be bound on one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// Their class; `None` if they have no affinity terms.
    pub(super) class: Option<usize>,
    /// Domains in which they require a matching pod.
    pub(super) needs: Vec<Mark>,
    /// Classes whose terms they match, and in which domains.
    pub(super) shows: Vec<(usize, Mark)>,
    /// Whether they match all terms of their own class.
    pub(super) can_be_first: bool,
}

/// Domains with a pod that matches the terms of a class, by class.
pub(super) type Seen = Vec<BTreeSet<Mark>>;

/// Returns the numbers of the batches that cannot be bound, starting with these matches.
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

/// Binds all batches that need not be the first; returns those that are left.
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

/// Returns the class of a batch if one of its pods can be the first now.
fn first_of(batch: &Batch, seen: &Seen) -> Option<usize> {
    batch.class.filter(|class| batch.can_be_first && seen[*class].is_empty())
}

/// Lets one batch of each such class be the first, in order, if its class has no first pod yet.
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

/// Returns the classes whose choice of a first pod does not matter: no other class matches their terms, and they match
/// no terms of other classes that need a first pod.
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

/// A candidate for the first pod: its class, the domains it requires, and the terms it matches with their domains.
type First<'b> = (usize, &'b [Mark], &'b [(usize, Mark)]);

/// Search for the best first pods.
struct Search<'b> {
    batches: &'b [Batch],
    tries: usize,
    best: Vec<usize>,
}

impl Search<'_> {
    /// Returns whether all batches can be bound with some more first pods.
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

    /// Takes first pods greedily, without alternatives.
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

    /// Returns pods of a class in a domain that match the terms of some classes.
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
        // The second class needs its first pod before the first class has one.
        assert_eq!(left(&[batch(0, 1, &[0, 1]), batch(1, 2, &[1])], &nobody(2)), NOBODY);
        assert_eq!(left(&[batch(0, 1, &[0, 1]), batch(1, 2, &[0, 1])], &nobody(2)).len(), 1);
    }

    #[test]
    fn the_one_is_the_first_that_others_cannot_lead() {
        // A free pod leads those in domain 2, so those in domain 1 must be the first.
        let batches = [batch(0, 2, &[0]), free(2, &[0]), batch(0, 1, &[0])];
        assert_eq!(left(&batches, &nobody(1)), NOBODY);
    }

    #[test]
    fn of_a_class_in_one_domain_the_one_is_the_first_that_leaves_others_the_chance() {
        // The first batch matches the terms of the last one, which must be the first of its class elsewhere.
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
