//! The bound compared to an exhaustive search over a few pods, with correct and incorrect values.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, proptest};

use super::problem::{Bin, Class, Problem, Source};
use super::values::PARTS;
use super::{of, proof, tiny, values};
use crate::solve::intern::Bits;

/// Maximum number of pods for the exhaustive search.
const PODS_MAX: usize = 6;

/// Generates problems of at most six pods.
fn problems() -> impl Strategy<Value = Problem> {
    let bin = (vec(4_i64..20, 2), 1_i64..50).prop_map(|(room, price)| (room, price));
    let class = (vec(1_i64..9, 2), 1_i64..3, any::<bool>(), any::<u8>());
    let there = vec((vec(0_i64..12, 2), 0_i64..10), 0..3);
    (vec(bin, 1..5), there, vec(class, 1..4), 0_i64..3).prop_map(|(offered, there, classes, committed)| {
        let bought =
            offered.iter().cloned().map(|(room, price)| Bin { room, price, source: Source::Offered });
        let mut bins: Vec<Bin> = bought.collect();
        let (room, price) = offered[0].clone();
        bins.push(Bin { room, price: price / 4, source: Source::Committed(0) });
        bins.extend(there.into_iter().map(|(room, price)| Bin { room, price, source: Source::There(1) }));
        let classes = classes.into_iter().map(|(need, count, is_alone, open)| {
            let mut holding = Bits::none(bins.len());
            (0..bins.len())
                .filter(|place| *place == 0 || open >> place & 1 == 0)
                .for_each(|p| holding.insert(p));
            Class { need, count, most: if is_alone { 1 } else { 9 }, bins: holding }
        });
        let classes = classes.collect();
        Problem { classes, bins, uncommitted: vec![committed], fixed: 7 }.without_the_rest()
    })
}

/// A node with pods, by class.
struct Opened {
    bin: usize,
    load: Vec<i64>,
}

/// Exhaustive search that places one pod after the other.
struct Ways<'p> {
    problem: &'p Problem,
    pods: Vec<usize>,
    nodes: Vec<Opened>,
    least: Option<i64>,
}

impl Ways<'_> {
    fn holds(&self, opened: &Opened) -> bool {
        let Problem { classes, bins, .. } = self.problem;
        let bin = &bins[opened.bin];
        let pods = || classes.iter().zip(&opened.load).filter(|(_, count)| **count > 0);
        let need = |dimension: usize| pods().map(|(class, count)| class.need[dimension] * count).sum::<i64>();
        pods().all(|(class, count)| class.bins.has(opened.bin) && *count <= class.most)
            && (0..bin.room.len()).all(|dimension| need(dimension) <= bin.room[dimension])
    }

    fn left_of(&self, bin: usize) -> i64 {
        let used = self.nodes.iter().filter(|node| node.bin == bin).count();
        let all = match self.problem.bins[bin].source {
            Source::Offered => i64::MAX,
            Source::Committed(number) => self.problem.uncommitted[number],
            Source::There(count) => count,
        };
        all.saturating_sub(i64::try_from(used).expect("is small"))
    }

    fn place(&mut self, from: usize) {
        let Some(class) = self.pods.get(from).copied() else {
            let cost: i64 = self.nodes.iter().map(|node| self.problem.bins[node.bin].price).sum();
            self.least = Some(self.least.map_or(cost, |least| least.min(cost)));
            return;
        };
        for number in 0..self.nodes.len() {
            self.nodes[number].load[class] += 1;
            if self.holds(&self.nodes[number]) {
                self.place(from + 1);
            }
            self.nodes[number].load[class] -= 1;
        }
        for bin in 0..self.problem.bins.len() {
            let mut load = vec![0; self.problem.classes.len()];
            load[class] = 1;
            let opened = Opened { bin, load };
            if self.left_of(bin) > 0 && self.holds(&opened) {
                self.nodes.push(opened);
                self.place(from + 1);
                self.nodes.pop();
            }
        }
    }
}

/// Returns the cost of the cheapest fleet; existing nodes are paid only if they are used and have a price.
fn cheapest(problem: &Problem) -> i64 {
    let pods = problem.classes.iter().enumerate();
    let pods: Vec<usize> =
        pods.flat_map(|(class, pods)| vec![class; usize::try_from(pods.count).expect("is small")]).collect();
    assert!(pods.len() <= PODS_MAX);
    let mut ways = Ways { problem, pods, nodes: Vec::new(), least: None };
    ways.place(0);
    problem.fixed + ways.least.expect("every class has an offering")
}

proptest! {
    #[test]
    fn no_way_to_divide_a_few_pods_is_cheaper(problem in problems()) {
        let cheapest = cheapest(&problem);
        let guessed = proof::proven(&problem, &values::values(&problem));
        prop_assert!(guessed <= cheapest, "{guessed} > {cheapest}");
        prop_assert!(of(problem.clone()) <= cheapest);
        if let Some(exact) = tiny::exact(&problem) {
            prop_assert!(exact == cheapest, "{exact} is not {cheapest}");
        }
    }

    #[test]
    fn wrong_values_still_give_a_bound(problem in problems(), wrong in vec(0_i64..1_000_000_000, 6)) {
        let values: Vec<i128> =
            (0..problem.classes.len()).map(|class| i128::from(wrong[class]) * PARTS / 1_000_000).collect();
        let bound = proof::proven(&problem, &values);
        let cheapest = cheapest(&problem);
        prop_assert!(bound <= cheapest, "{bound} > {cheapest}");
    }
}

fn offered(room: [i64; 2], price: i64) -> Bin {
    Bin { room: room.to_vec(), price, source: Source::Offered }
}

fn class(need: [i64; 2], count: i64, bins: usize) -> Class {
    Class { need: need.to_vec(), count, most: i64::MAX, bins: Bits::all(bins) }
}

#[test]
fn values_that_are_too_high_are_caught() {
    let bins = vec![offered([10, 10], 100), offered([20, 20], 190)];
    let problem = Problem { classes: vec![class([5, 1], 40, 2)], bins, ..Problem::default() };
    assert_eq!(proof::proven(&problem, &[47 * PARTS]), 47 * 40);
    for planted in [48, 49, 50, 1_000, 1_000_000] {
        let bound = proof::proven(&problem, &[planted * PARTS]);
        assert!((1899..=1900).contains(&bound), "{planted}: {bound}");
    }
}

#[test]
fn what_is_paid_already_holds_pods_for_nothing() {
    let bins = vec![offered([10, 10], 100), Bin { source: Source::There(3), ..offered([10, 10], 0) }];
    let problem = Problem { classes: vec![class([5, 1], 10, 2)], bins, fixed: 300, ..Problem::default() };
    assert_eq!(of(problem), 300 + 200);
    let bins = vec![offered([10, 10], 100), Bin { source: Source::There(30), ..offered([10, 10], 0) }];
    let problem = Problem { classes: vec![class([5, 1], 10, 2)], bins, fixed: 300, ..Problem::default() };
    assert_eq!(of(problem), 300);
}

#[test]
fn mixed_pods_are_bounded_closely() {
    let needs = (0..16_i64).map(|number| [300 + number * 173 % 3_700, 400 + number * 977 % 12_000]);
    let sizes =
        [(2, 8, 96), (4, 16, 192), (8, 32, 384), (4, 32, 252), (8, 64, 504), (4, 8, 169), (8, 16, 338)];
    let bins: Vec<Bin> = sizes
        .iter()
        .map(|(cpu, gib, price)| offered([cpu * 1000 - 100, gib * 1024 - 1024], price * 1000))
        .collect();
    let classes: Vec<Class> = needs.map(|need| class(need, 30, bins.len())).collect();
    let whole: i64 = of(Problem { classes: classes.clone(), bins: bins.clone(), ..Problem::default() });
    let problem = Problem { classes, bins, ..Problem::default() };
    let guess = values::values(&problem);
    let guessed: i128 =
        guess.iter().zip(&problem.classes).map(|(value, class)| value * i128::from(class.count)).sum();
    // The loss between the unproven guess and the proof.
    let guessed = i64::try_from(guessed / PARTS).expect("is small");
    assert!(whole * 1000 >= guessed * 998, "{whole} of {guessed}");
}
