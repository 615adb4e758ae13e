//! Plans against Kubernetes' own scheduler: in a real control plane, the planned nodes are created, and then the
//! pods, in three orders; every pod that a plan placed is bound.
//!
//! With `status.nominatedNodeName` set, as whoever carries a plan out sets it, that holds for every world; without it,
//! when the scheduler spreads pods over nodes as it likes, for every example. The control plane is built of Go modules once (`binary.rs`); without
//! Go this test says that it is left out, and with `NODEFORM_REQUIRE_CONTROL_PLANE` set it fails. With
//! `NODEFORM_WORLDS=examples/gpu` set, only worlds with that in their name are tried.
#![expect(clippy::disallowed_methods, reason = "tests read files, start programs and wait for them")]

#[path = "../support/karpenter_cases.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod karpenter_cases;
#[path = "../support/karpenter_commands.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod karpenter_commands;

mod binary;
mod control_plane;
mod counts;
mod documents;
mod fields;
mod http;
mod live;
mod round;
mod stage;
mod storage;
mod stories;
mod wire;

use std::env;
use std::io::{self, Write as _};

use control_plane::{ControlPlane, Parts};
use counts::Counts;
use round::{Guidance, Order, play};
use stage::Stage;

/// The fewest worlds that are tried.
const WORLDS_MIN: usize = 30;

const ORDERS: [Order; 3] = [Order::AsPlanned, Order::Reversed, Order::LargestFirst];

#[test]
fn the_scheduler_binds_every_pod_that_a_plan_placed() {
    let Some(program) = binary::built() else { return };
    let plane = ControlPlane::start(&program, Parts::Scheduling);
    let stage = Stage::new(plane.api());
    let mut stories = stories::all();
    assert!(stories.len() >= WORLDS_MIN, "the worlds are there");
    if let Some(part) = env::var_os("NODEFORM_WORLDS") {
        stories.retain(|story| story.name.contains(&*part.to_string_lossy()));
    }
    let mut counts = Counts::default();
    for story in &stories {
        let planned = story.planned();
        stage.clear();
        stage.name_spaces(&planned);
        for order in ORDERS {
            if story.is_bound_alone() {
                counts.alone(story, order, &play(&stage, &planned, order, Guidance::Alone));
            }
            counts.nominated(story, order, &play(&stage, &planned, order, Guidance::Nominated));
        }
        counts.end(story);
    }
    // Written to the stream itself: what a test that passes prints is not shown.
    let _ = writeln!(io::stderr(), "{counts}");
    assert!(counts.faults().is_empty(), "{}", counts.faults());
}
