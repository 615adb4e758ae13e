//! Counts of one spread constraint by domain, while the placed pods are bound one by one.
//!
//! Kubernetes binds a pod if the count of its domain, including itself if its constraint selects it, is at most
//! `maxSkew` above the lowest count of all domains. Counts only grow, so a pod that can be bound now can be bound later
//! unless its own domain has grown. Therefore in each domain the pods under the constraint are bound first, greedily.
//! Pods that are left cannot be bound in any order. Other rules are ignored here.

/// The domains of one constraint.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Maximum distance of a domain from the lowest count.
    pub(super) max_skew: usize,
    /// With fewer domains than this the lowest count is taken as 0.
    pub(super) domains_min: usize,
    /// Whether the constraint selects the pods that have it.
    pub(super) selects_own: bool,
    pub(super) domains: Vec<Count>,
}

/// The pods of one domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Whether any of its nodes counts.
    pub(super) is_counted: bool,
    /// Selected pods that are bound.
    pub(super) bound: usize,
    /// Pods under the constraint to bind that will be counted.
    pub(super) own: usize,
    /// Pods under the constraint to bind that will not be counted: not selected, or on a node that does not count.
    pub(super) uncounted: usize,
    /// Other selected pods to bind, which this constraint does not restrict.
    pub(super) others: usize,
}

impl Count {
    /// Returns the domain's count once all pods are bound.
    pub(super) const fn in_the_end(&self) -> usize {
        self.bound + self.own + self.others
    }

    const fn is_waiting(&self) -> bool {
        self.own > 0 || self.uncounted > 0
    }
}

impl Tally {
    /// Returns whether there are too few domains, so each is limited to `maxSkew` alone.
    pub(super) fn has_too_few_domains(&self) -> bool {
        self.domains.iter().filter(|count| count.is_counted).count() < self.domains_min
    }

    /// Returns the domain with the lowest count by this measure, and the count.
    pub(super) fn least(&self, measure: impl Fn(&Count) -> usize) -> Option<(usize, usize)> {
        let counted = self.domains.iter().enumerate().filter(|(_, count)| count.is_counted);
        let least = counted.map(|(domain, count)| (measure(count), domain)).min();
        least.map(|(count, domain)| (domain, count))
    }

    /// Binds all pods that can be bound; returns the domains with pods under the constraint that are left, and how
    /// many.
    pub(super) fn bind(mut self) -> Vec<(usize, usize)> {
        loop {
            let least = match self.least(|count| count.bound) {
                Some((_, least)) if !self.has_too_few_domains() => least,
                Some(_) | None => 0,
            };
            let most = self.max_skew.saturating_add(least);
            let (before, itself) = (self.domains.clone(), usize::from(self.selects_own));
            for count in &mut self.domains {
                if count.bound + itself <= most {
                    count.uncounted = 0;
                    let bound = count.own.min(most - count.bound);
                    (count.bound, count.own) = (count.bound + bound, count.own - bound);
                }
                if !count.is_waiting() {
                    (count.bound, count.others) = (count.bound + count.others, 0);
                }
            }
            if self.domains == before {
                break;
            }
        }
        let waiting = self.domains.iter().enumerate().filter(|(_, count)| count.is_waiting());
        waiting.map(|(domain, count)| (domain, count.own + count.uncounted)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Tally};

    const NOBODY: [(usize, usize); 0] = [];

    fn domain(bound: usize, own: usize) -> Count {
        Count { is_counted: true, bound, own, ..Count::default() }
    }

    fn left(domains: &[Count]) -> Vec<(usize, usize)> {
        tally(1, domains).bind()
    }

    fn tally(max_skew: usize, domains: &[Count]) -> Tally {
        Tally { max_skew, domains_min: 1, selects_own: true, domains: domains.to_vec() }
    }

    #[test]
    fn the_fullest_may_be_ahead_of_the_emptiest_by_the_skew_and_no_more() {
        assert_eq!(left(&[domain(0, 3), domain(0, 2)]), NOBODY);
        assert_eq!(left(&[domain(0, 3), domain(0, 1)]), [(0, 1)]);
        assert_eq!(tally(2, &[domain(0, 3), domain(0, 1)]).bind(), NOBODY);
        assert_eq!(left(&[domain(2, 1), domain(0, 1)]), [(0, 1)]);
    }

    #[test]
    fn what_runs_is_nobody_s_fault() {
        assert_eq!(left(&[domain(9, 0), domain(0, 3)]), NOBODY);
        assert_eq!(left(&[domain(9, 1), domain(0, 3)]), [(0, 1)]);
    }

    #[test]
    fn pods_without_the_constraint_come_after_those_that_have_it() {
        let mixed = Count { others: 7, ..domain(0, 1) };
        assert_eq!(left(&[mixed, domain(0, 1)]), NOBODY);
        let filled = Count { others: 2, ..domain(0, 0) };
        assert_eq!(left(&[domain(0, 3), filled]), NOBODY);
    }

    #[test]
    fn too_few_domains_leave_no_more_than_the_skew_in_each() {
        let few = |own| Tally { domains_min: 3, ..tally(1, &[domain(0, own), domain(0, 1)]) };
        assert_eq!(few(1).bind(), NOBODY);
        assert_eq!(few(3).bind(), [(0, 2)]);
    }

    #[test]
    fn a_pod_that_its_constraint_does_not_select_takes_no_place() {
        let unselected = |bound| Count { is_counted: true, bound, uncounted: 5, ..Count::default() };
        let tally = |bound| Tally { selects_own: false, ..tally(1, &[unselected(bound), domain(0, 0)]) };
        assert_eq!(tally(1).bind(), NOBODY);
        assert_eq!(tally(2).bind(), [(0, 5)]);
    }

    #[test]
    fn domains_of_nodes_that_do_not_count_are_none() {
        let uncounted = Count { is_counted: false, ..Count::default() };
        assert_eq!(left(&[domain(4, 2), uncounted]), NOBODY);
    }
}
