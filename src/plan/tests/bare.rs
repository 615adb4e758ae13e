//! Pods without a controller are reported if their node is removed.

use super::world::{node, planned, pod, policy, pool, snapshot, solution};
use crate::model::{Claimed, DisruptionReason, Drift, Node, NodeName, Pod, PodPlace, Workload};
use crate::solve::{Kept, Removal};

/// Plans the removal of the first of two nodes for drift, which moves its pods; returns the warnings.
fn warned(pods: Vec<Pod>) -> Vec<String> {
    let drift = Some(Drift { reason: "ImageDrift".into(), since: None });
    let claimed = Claimed { drift, ..Claimed::default() };
    let goes = Node { claimed, ..node("goes", "general") };
    let mut moving = solution(Vec::new(), &[]);
    let (reason, what) = (DisruptionReason::Drifted, Some("its NodeClaim says so".into()));
    moving.target.removed.push(Removal { node: goes.name.clone(), reason, what });
    let moves = |pod: &&Pod| !pod.is_daemon && !pod.is_terminating && pod.place == on("goes", "any").place;
    let moved = pods.iter().filter(moves).map(|pod| pod.key.clone()).collect();
    moving.target.kept.push(Kept { node: NodeName::new("stays"), pods: moved });
    let nodes = vec![goes, node("stays", "general")];
    let plan = planned(&snapshot(nodes, pods), &policy([pool("general")]), &moving);
    plan.evidence.report.warnings.iter().map(|it| format!("{} {}", it.object, it.what)).collect()
}

fn on(node: &str, name: &str) -> Pod {
    Pod { place: PodPlace::Bound(NodeName::new(node)), ..pod(name) }
}

#[test]
fn pods_without_a_controller_on_a_node_that_goes_are_warned_of() {
    assert_eq!(
        warned(vec![on("goes", "bare"), on("stays", "other")]),
        ["pod `default/bare` has no controller: once it is evicted it is gone, and nothing makes it again"]
    );
    assert_eq!(
        warned(vec![on("goes", "bare"), on("goes", "bare-too")]),
        [
            "pod `default/bare` and 1 more have no controller: once they are evicted they are gone, and nothing \
             makes them again"
        ]
    );
}

#[test]
fn pods_that_are_made_again_or_stay_are_not_warned_of() {
    let owner = Workload { kind: "Job".into(), namespace: "default".into(), name: "job".into() };
    let owned = Pod { workload: Some(owner), ..on("goes", "owned") };
    let daemon = Pod { is_daemon: true, ..on("goes", "daemon") };
    let terminating = Pod { is_terminating: true, ..on("goes", "terminating") };
    assert_eq!(warned(vec![owned, daemon, terminating, on("stays", "bare")]), [""; 0]);
}
