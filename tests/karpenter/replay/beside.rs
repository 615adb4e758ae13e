//! Our fleets beside those of Karpenter's strategy, in the recorded worlds: never worse.
//!
//! Worse is what leaves more pods over, or as many for more money, unless a scheduler that is not told the plan strands
//! fewer of its pods for that.

use std::io::{self, Write as _};

use nodeform::model::MicroUsdPerHour;
use nodeform::offline::{self, World};
use nodeform::sim;
use nodeform::solve::Strategy;

use super::Planned;
use super::scheduler::{Guidance, ORDERS};
use crate::karpenter_cases::{Case, cases};

/// What a fleet of a world comes to.
#[derive(Debug)]
struct Fleet {
    /// The pods that have no place in the plan.
    left_over: usize,
    price: MicroUsdPerHour,
    /// The most that are stranded of those that have one.
    stranded: usize,
}

impl Fleet {
    fn of(case: &Case, strategy: Strategy) -> Self {
        let world = World { strategy, ..case.world() };
        let planned = offline::plan(&world).unwrap_or_else(|refused| panic!("{}: {refused:#?}", case.name));
        let plan = planned.plan.plan();
        let report = &plan.evidence.report;
        let after = Planned { after: sim::after(&world.snapshot, plan), before: world.snapshot };
        let stranded = ORDERS.map(|order| after.stranded(order, Guidance::Alone).len());
        Self {
            left_over: report.unplaced.iter().map(|unplaced| unplaced.pods.len()).sum(),
            price: report.cost_after.effective,
            stranded: stranded.into_iter().max().unwrap_or(0),
        }
    }

    fn is_dearer_than(&self, other: &Self) -> bool {
        (self.left_over, self.price) > (other.left_over, other.price)
    }
}

#[test]
fn no_fleet_is_dearer_than_that_of_karpenter_unless_fewer_pods_are_stranded() {
    let (mut worse, mut pairs) = (Vec::new(), Vec::new());
    for folder in ["karpenter-cases", "karpenter-generated"] {
        for case in cases(folder).iter().filter(|case| case.command == "solve") {
            let fleets = [Strategy::Cheapest, Strategy::Karpenter].map(|strategy| Fleet::of(case, strategy));
            let [ours, theirs] = &fleets;
            let is_worse = ours.is_dearer_than(theirs) && ours.stranded >= theirs.stranded;
            if is_worse {
                worse.push(format!("{}: ours {ours:?}, Karpenter's {theirs:?}", case.name));
            }
            pairs.push(fleets);
        }
    }
    let better = pairs.iter().filter(|[ours, theirs]| theirs.is_dearer_than(ours)).count();
    let strands = |place: usize| pairs.iter().filter(|pair| pair[place].stranded > 0).count();
    let _ = writeln!(
        io::stderr(),
        "of {} worlds {better} cost less, or leave fewer over, than with `--strategy karpenter`; a scheduler that is not \
         told strands somebody in {}, with `--strategy karpenter` in {}",
        pairs.len(),
        strands(0),
        strands(1)
    );
    assert!(better > pairs.len() / 4, "{better} of {}", pairs.len());
    assert_eq!(worse, Vec::<String>::new());
}
