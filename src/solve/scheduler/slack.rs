//! More room in a small fleet, so that the scheduler strands nobody who is planned there.
//!
//! What it would leave over is packed once more beside what is there, and then taken off again: what remains is a larger
//! size, or one more node. Where that does not help, or costs too much, the fleet stays as it was: a pod that is left over
//! then waits for the next plan. A fleet that was found by looking further and needs such room is weighed against the plain
//! one, which may need none.

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

/// How often more room is asked for.
const ROUNDS_MAX: usize = 6;

/// How much dearer the fleet may become, in percent.
const DEARER_MAX: i64 = 10;

/// Returns what it is worth by the hour that the scheduler strands nobody of a fleet that costs so much: no room is
/// bought for more, and for more nodes go though it might strand somebody then.
pub(in crate::solve) const fn worth(cost: MicroUsdPerHour) -> MicroUsdPerHour {
    MicroUsdPerHour(cost.0 / 100 * DEARER_MAX)
}

/// Returns a fleet with room for whom the scheduler would leave over of this one, or the plain one that needs less; the same
/// where that needs none, or too much.
pub(in crate::solve) fn with_slack(scene: &Scene<'_>, snapshot: &Snapshot, tight: Solution) -> Solution {
    match roomy(scene, snapshot, tight) {
        (found, Some(lost)) if scene.looks_further => or_plain(scene, snapshot, (found, lost)),
        (found, _) => found,
    }
}

/// Returns the same without a look at the plain one.
pub(in crate::solve) fn with_slack_alone(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    tight: Solution,
) -> Solution {
    roomy(scene, snapshot, tight).0
}

/// Returns a fleet with room for whom the scheduler would leave over of this one, and how many are left over of it then;
/// nothing of that where this one needs no room.
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

/// Returns the fleet that is found without looking further, with the room that it needs, where it places as many pods and
/// the scheduler leaves over fewer of it or, of as many, it costs less; else this one, of which so many are left over. As room
/// is, it is worth no more than a part of what the fleet costs, and nothing where Karpenter's own fleet costs less.
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

/// Returns the larger of what room costs in a fleet and of what that fleet costs beside another that leaves more pods over:
/// both are counted from fleets without room, so that they do not add up.
fn dearest(own: Option<Slack>, instead: Slack) -> Option<Slack> {
    let own_cost = own.map_or(MicroUsdPerHour(0), |own| own.cost);
    if instead.cost > own_cost { Some(instead) } else { own }
}

/// Returns a fleet of which nobody is left over, where some pods are.
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
        // All approaches take long, and with a little more room the best is mostly the same.
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

/// Returns whether Karpenter's own fleet costs less: then room is not what a user would want to pay for.
fn is_beaten(scene: &Scene<'_>, snapshot: &Snapshot, roomy: &Solution) -> bool {
    let settings = Settings::of(scene.policy);
    let world = (snapshot, scene.policy);
    let other = karpenter::beside(scene.memos, world, settings, &Refused::default());
    cost(&other) < cost(roomy) && other.report.left_over() <= roomy.report.left_over()
}

/// Returns whether a fleet leaves nobody over whom the other places, and costs not much more.
fn is_fair(tight: &Solution, with: &Solution) -> bool {
    let most = cost(tight) + worth(cost(tight));
    with.report.left_over() <= tight.report.left_over() && cost(with) <= most
}

fn cost(solution: &Solution) -> MicroUsdPerHour {
    solution.report.cost_after.effective
}

/// Adds room for these pods. Those that rules tie to others want it in the domains where they are planned.
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
        // No pod has a blank in its name.
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
