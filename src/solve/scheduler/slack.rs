//! Extra capacity in a small fleet, so kube-scheduler strands no pod that is planned there.
//!
//! Pods that it would strand are packed a second time beside the fleet and then removed again: what remains is a larger
//! size or one more node. If that does not help or costs too much, the fleet stays unchanged, and a stranded pod waits
//! for the next plan. A fleet found by looking further that needs extra capacity is compared with the plain one, which
//! may need none.

use crate::model::{LabelKey, MicroUsdPerHour, PodKey, Requirement, label};
use crate::snapshot::Snapshot;
use crate::solve::attempt::Approach;
use crate::solve::demand::{Demand, Shape};
use crate::solve::fleet;
use crate::solve::karpenter::{self, Refused, Settings};
use crate::solve::shrink::trial::Scene;
use crate::solve::shrink::whole;
use crate::solve::solution::{NewNode, Report, Slack, Solution};

use super::{count_stranded, stranded};

/// Maximum number of rounds that add capacity.
const ROUNDS_MAX: usize = 6;

/// Maximum cost increase of the fleet, in percent.
const DEARER_MAX: i64 = 10;

/// Returns the hourly amount that avoiding stranded pods is worth in a fleet of this cost. No extra capacity is bought
/// for more, and nodes are removed if that saves more, even if pods may then be stranded.
pub(in crate::solve) const fn worth(cost: MicroUsdPerHour) -> MicroUsdPerHour {
    MicroUsdPerHour(cost.0 / 100 * DEARER_MAX)
}

/// Returns this fleet with capacity for the pods that kube-scheduler would strand, or the plain fleet if that needs
/// less. Returns this fleet unchanged if it needs none or too much.
pub(in crate::solve) fn with_slack(scene: &Scene<'_>, snapshot: &Snapshot, tight: Solution) -> Solution {
    match roomy(scene, snapshot, tight) {
        (found, Some(lost)) if scene.looks_further => or_plain(scene, snapshot, (found, lost)),
        (found, _) => found,
    }
}

/// Like `with_slack`, without comparing with the plain fleet.
pub(in crate::solve) fn with_slack_alone(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    tight: Solution,
) -> Solution {
    roomy(scene, snapshot, tight).0
}

/// Returns this fleet with capacity for the pods that kube-scheduler would strand, and how many it still strands; the
/// number is `None` if no capacity is needed.
fn roomy(scene: &Scene<'_>, snapshot: &Snapshot, tight: Solution) -> (Solution, Option<usize>) {
    if tight.target.new.is_empty() {
        return (tight, None);
    }
    let lost = stranded(scene, snapshot, &tight.target);
    let pods: usize = lost.iter().map(|shape| shape.pods.len()).sum();
    if pods == 0 {
        return (tight, None);
    }
    match roomier(scene, snapshot, &tight, lost) {
        Some(mut roomy) => {
            let dearer = cost(&roomy) - cost(&tight);
            let is_estimate = tight.report.cost_after.is_estimate || roomy.report.cost_after.is_estimate;
            roomy.report.slack = (dearer.0 > 0).then_some(Slack { pods, cost: dearer, is_estimate });
            (roomy, Some(0))
        }
        None => (tight, Some(pods)),
    }
}

/// Returns the fleet that is found without looking further, with the extra capacity that it needs, if it places as many
/// pods and kube-scheduler strands fewer of them, or as many at a lower cost; else the given fleet, which strands
/// `lost` pods. Like extra capacity, it is worth at most a share of the fleet's cost, and nothing if Karpenter's own
/// fleet costs less.
fn or_plain(scene: &Scene<'_>, snapshot: &Snapshot, (found, lost): (Solution, usize)) -> Solution {
    let scene = &Scene { looks_further: false, ..*scene };
    let plain = with_slack(scene, snapshot, fleet::without(scene, snapshot));
    if plain.report.left_over() > found.report.left_over() {
        return found;
    }
    let lost_of_plain = count_stranded(scene, snapshot, &plain.target);
    let dearer = cost(&plain) - cost(&found);
    let is_worth_it = dearer <= worth(cost(&found));
    if !is_worth_it || (lost_of_plain, cost(&plain)) >= (lost, cost(&found)) {
        return found;
    }
    if dearer.0 > 0 && is_beaten(scene, snapshot, &plain) {
        return found;
    }
    let is_estimate = plain.report.cost_after.is_estimate || found.report.cost_after.is_estimate;
    let instead = Slack { pods: lost.saturating_sub(lost_of_plain), cost: dearer, is_estimate };
    let slack = dearest(plain.report.slack, instead);
    Solution { report: Report { slack, ..plain.report }, ..plain }
}

/// Returns the larger of a fleet's cost of extra capacity and its extra cost over a fleet that strands more pods. Both
/// are relative to fleets without extra capacity, so they do not add up.
fn dearest(own: Option<Slack>, instead: Slack) -> Option<Slack> {
    let own_cost = own.map_or(MicroUsdPerHour(0), |own| own.cost);
    if instead.cost > own_cost { Some(instead) } else { own }
}

/// Returns a fleet that strands no pod, where the given one strands these.
fn roomier(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    tight: &Solution,
    mut lost: Vec<Shape>,
) -> Option<Solution> {
    let mut slack = scene.slack.clone();
    let mut roomy: Option<Solution> = None;
    let mut approach: Option<Approach> = None;
    let is_right = |next: &Solution| is_fair(tight, next) && whole::is_right(scene, snapshot, next);
    for _ in 0..ROUNDS_MAX {
        if lost.is_empty() {
            break;
        }
        grow(&mut slack, lost, &roomy.as_ref().unwrap_or(tight).target.new);
        let with_room = &Scene { slack: &slack, ..*scene };
        // Trying all approaches is slow, and with a little more capacity the best one is usually the same.
        let (mut next, mut found) = fleet::approached(with_room, snapshot, approach);
        if approach.is_some() && scene.looks_further && !is_right(&next) {
            (next, found) = fleet::approached(with_room, snapshot, None);
        }
        if !is_right(&next) {
            return None;
        }
        approach = Some(found);
        lost = stranded(scene, snapshot, &next.target);
        roomy = Some(next);
    }
    let is_free = |roomy: &Solution| cost(roomy) <= cost(tight);
    roomy.filter(|roomy| lost.is_empty() && (is_free(roomy) || !is_beaten(scene, snapshot, roomy)))
}

/// Returns whether Karpenter's own fleet costs less: then a user would not want to pay for extra capacity.
fn is_beaten(scene: &Scene<'_>, snapshot: &Snapshot, roomy: &Solution) -> bool {
    let settings = Settings::of(scene.policy);
    let world = (snapshot, scene.policy);
    let other = karpenter::beside(scene.memos, world, settings, &Refused::default());
    cost(&other) < cost(roomy) && other.report.left_over() <= roomy.report.left_over()
}

/// Returns whether a fleet leaves no more pods unplaced than the tight one, and costs little more.
fn is_fair(tight: &Solution, with: &Solution) -> bool {
    let most = cost(tight) + worth(cost(tight));
    with.report.left_over() <= tight.report.left_over() && cost(with) <= most
}

fn cost(solution: &Solution) -> MicroUsdPerHour {
    solution.report.cost_after.effective
}

/// Adds capacity for these pods. If rules tie them to others, it must be in the zone where they are planned.
fn grow(slack: &mut Demand, lost: Vec<Shape>, new: &[NewNode]) {
    for Shape { mut ask, roles, pods, .. } in lost {
        let planned = pods.iter().find_map(|pod| new.iter().find(|node| node.pods.contains(pod)));
        if let Some(node) = planned.filter(|_| !roles.is_empty()) {
            for alternative in &mut ask.alternatives {
                alternative.add(LabelKey::new(label::ZONE), Requirement::one(node.zone.as_str()));
            }
        }
        (ask.company, ask.volumes, ask.host_ports) = Default::default();
        let number = slack.shapes.len();
        // Pod names contain no blank.
        let name = |pod: PodKey| PodKey::new(pod.namespace.as_str(), format!("{} room {number}", pod.name));
        let pods = pods.into_iter().map(name).collect();
        slack.shapes.push(Shape { priority: i32::MIN, ask, roles: Vec::new(), pods });
    }
}

#[cfg(test)]
mod tests {
    use super::{MicroUsdPerHour, Slack, dearest};

    #[test]
    fn a_fleet_that_is_dearer_than_one_that_leaves_pods_over_says_what_that_costs() {
        let slack = |pods, cost| Slack { pods, cost: MicroUsdPerHour(cost), is_estimate: false };
        assert_eq!(dearest(None, slack(2, 30)), Some(slack(2, 30)));
        assert_eq!(dearest(Some(slack(1, 20)), slack(2, 30)), Some(slack(2, 30)));
        assert_eq!(dearest(Some(slack(1, 50)), slack(2, 30)), Some(slack(1, 50)));
        assert_eq!(dearest(None, slack(2, -10)), None, "what is cheaper has no such cost");
    }
}
